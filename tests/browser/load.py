"""What hundreds of viewers cost whoever plays. Usage: load.py EXECUTABLE [VIEWERS] [SECONDS]

A game is played at 50 keys a second over MCP, first alone, then with viewers on its events. Told are the times of a
press as the player sees them, and the server's memory. Fails where the viewers more than double the player's p99 (and
make it longer than 20 ms), or where memory is not bounded. A tenth of the viewers take nothing at all.
"""

import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
import time

KEYS_PER_S = 50
RESIDENT_MIB_MAX = 400


class Player:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "mcp", "--viewer", "--seed", "4", "--role", "valkyrie"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        told = self.process.stderr.readline().decode()
        self.host, self.port = re.search(r"http://([0-9.]+):(\d+)/", told).groups()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.last = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
        self.request("initialize", client)
        self.write({"method": "notifications/initialized"})
        self.revision = self.call("observe")["revision"]

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.last += 1
        self.write({"id": self.last, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def call(self, tool, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})["structuredContent"]

    def press(self, key):
        result = self.call("run", revision=self.revision, keys=[key], force=True, layers=["status"])
        self.revision = result["revision"]

    def play(self, seconds):
        """Presses on the beat; gives the time that each press took, in ms."""
        times, begin = [], time.perf_counter()
        for beat in range(seconds * KEYS_PER_S):
            wait = begin + beat / KEYS_PER_S - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            before = time.perf_counter()
            self.press("sn20s"[beat % 5] if beat % 50 == 0 else "s")
            times.append((time.perf_counter() - before) * 1000)
        return times

    def resident_mib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Crowd(threading.Thread):
    """Viewers that take what they are sent and throw it away; every tenth takes nothing."""

    def __init__(self, player, count):
        super().__init__(daemon=True)
        self.poll, self.sockets, self.bytes, self.lost, self.runs = select.epoll(), {}, 0, 0, True
        self.idle = []
        request = b"GET /api/machines/main/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for number in range(count):
            viewer = socket.create_connection((player.host, int(player.port)))
            viewer.sendall(request)
            if number % 10 == 9:
                self.idle.append(viewer)
                continue
            viewer.setblocking(False)
            self.sockets[viewer.fileno()] = viewer
            self.poll.register(viewer, select.EPOLLIN)

    def run(self):
        buffer = bytearray(1 << 18)
        while self.runs:
            for fd, _ in self.poll.poll(0.2):
                try:
                    taken = self.sockets[fd].recv_into(buffer)
                except BlockingIOError:
                    continue
                except OSError:
                    taken = 0
                self.bytes += taken
                if taken == 0:
                    self.lost += 1
                    self.poll.unregister(fd)


def quantile(times, part):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def told(name, times):
    print(f"{name}: press p50 {quantile(times, 0.5):.2f} ms, p99 {quantile(times, 0.99):.2f} ms, worst {max(times):.2f} ms")
    return quantile(times, 0.99)


def main():
    # A busy host's clock proves nothing: --untimed tells the times and judges the rest.
    timed = "--untimed" not in sys.argv
    program, *numbers = [argument for argument in sys.argv[1:] if argument != "--untimed"]
    viewers, seconds = [int(number) for number in numbers] + [500, 10][len(numbers):]
    player = Player(program)
    player.play(2)
    rest, before = player.resident_mib(), player.cpu_s()
    time.sleep(3)
    idle = (player.cpu_s() - before) / 3
    alone = told("alone", player.play(seconds))
    crowd = Crowd(player, viewers)
    crowd.start()
    time.sleep(2)
    before, sent = player.cpu_s(), crowd.bytes
    watched = told(f"{viewers} viewers", player.play(seconds))
    cpu, sent = (player.cpu_s() - before) / seconds, crowd.bytes - sent
    first = player.resident_mib()
    player.play(seconds)
    last = player.resident_mib()
    before = player.cpu_s()
    time.sleep(3)
    quiet = (player.cpu_s() - before) / 3
    print(f"sent {sent / seconds / 1e6:.1f} MB/s; server's CPU {cpu:.2f} of a core; {crowd.lost} viewers lost")
    print(f"resident: {rest:.0f} MiB alone, {first:.0f} with viewers, {last:.0f} after as long again")
    print(f"nobody plays: {100 * idle:.2f} % of a core without viewers, {100 * quiet:.2f} % with {viewers}")
    lost, crowd.runs = crowd.lost, False
    player.process.stdin.close()
    status = player.process.wait(timeout=15)
    faults = []
    if timed and watched > max(2 * alone, 20):
        faults.append("viewers slow the player")
    if last > RESIDENT_MIB_MAX or last > first * 1.5:
        faults.append("memory grows")
    if lost or status:
        faults.append(f"{lost} viewers were lost; the server ended with {status}")
    print("; ".join(faults) or "good")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
