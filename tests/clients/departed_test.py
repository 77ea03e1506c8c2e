"""What is left of a server and its workers when a client goes away, writes without reading, or the engine panics."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

from harness import Checks, Server, children, is_alive, scratch, wait_until

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("NETHACK_LAB_TEST_SEED", "3"))
check = Checks("departed")


def started(movies, *more, resumed=False):
    server = Server(PROGRAM, "--movies", movies, *(["--resume", "latest"] if resumed else []), *more)
    server.initialize()
    return server


def memory_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) // 1024


def a_client_that_does_not_read():
    """It writes 6 MB of requests, or as much as is taken; then it reads, and each is answered."""
    for what, fields in (("pings", '"method":"ping"'), ("refusals", '"method":5')):
        server = subprocess.Popen([PROGRAM, "mcp", "--workers", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        ask = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}
        server.stdin.write(json.dumps(ask).encode() + b'\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        server.stdin.flush()
        server.stdout.readline()
        before = memory_mb(server.pid)
        count = 6_000_000 // len('{"jsonrpc":"2.0","id":100000,%s}\n' % fields)
        sent = "".join('{"jsonrpc":"2.0","id":%d,%s}\n' % (number, fields) for number in range(1, count + 1)).encode()

        def write():
            server.stdin.write(sent)
            server.stdin.close()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        writer.join(4)
        check(f"{what}: no more is taken than is read", writer.is_alive())
        now = memory_mb(server.pid)
        check(f"{what}: memory is bounded", now < min(150, before + 60), (before, now))
        answers = {json.loads(line)["id"] for line in server.stdout}
        check(f"{what}: each is answered", answers == set(range(1, count + 1)), (len(answers), count))
        check(f"{what}: it ends well", server.wait(timeout=20) == 0)
        writer.join(20)


def p71_a_wish_is_kept_over_a_disconnect():
    with scratch() as movies:
        with started(movies, "--allow-debug", "--seed", str(SEED), "--options", "playmode:debug") as server:
            look = server.call("observe")
            asked = server.call("run", revision=look["revision"], keys=["CTRL_W"], on_more="dismiss")
            for _ in range(5):
                if asked["pending"]["kind"] == "text":
                    break
                asked = server.call("run", revision=asked["revision"], keys=["ENTER"], force=True)
            check("a wish is asked for", asked["pending"]["kind"] == "text" and "wish" in asked["pending"]["prompt"], asked["pending"])
            check("the client goes in good order", server.close() == 0, server.errors)
        time.sleep(1)
        with started(movies, "--allow-debug", resumed=True) as server:
            again = server.call("observe")
            check("the prompt is intact", again["pending"] == asked["pending"] and again["screen"] == asked["screen"], again)
            given = server.call("respond", revision=again["revision"], text="3 food rations")
            seen = json.dumps(given)
            check("the wish is granted", "3 food rations" in seen, given)


# How to come from a command to a prompt of each kind; the last key is the one that brings it up.
PROMPTS = {
    "command": [],
    "count": ["2"],
    "direction": ["F"],
    "item": ["w"],
    "choice": list("#pray") + ["ENTER"],
    "menu": ["D"],
    "position": [";"],
    "extended": ["#"],
    "text": list("#name") + ["ENTER", "i", "a"],
    "window": ["CTRL_O"],
    "more": list("#pray") + ["ENTER", "y"],
}


def cpu_seconds(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


# A client of its own: it plays to a prompt, tells the server's process and the prompt, and waits to be killed.
CLIENT = """
import json, subprocess, sys
server = subprocess.Popen([sys.argv[1], "mcp", "--workers", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    server.stdin.flush()
def ask(number, method, params):
    send({"id": number, "method": method, "params": params})
    return json.loads(server.stdout.readline())["result"]
def call(number, tool, **arguments):
    return ask(number, "tools/call", {"name": tool, "arguments": arguments})["structuredContent"]
ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
send({"method": "notifications/initialized"})
look = call(2, "new_game", seed="3", role="valkyrie")
keys = json.loads(sys.argv[2])
if keys:
    look = call(3, "run", revision=look["revision"], keys=keys, force=True)
if len(sys.argv) > 3:
    long = {"revision": look["revision"], "text": "s" * 3600, "force": True}
    send({"id": 4, "method": "tools/call", "params": {"name": "run", "arguments": long}})
print(json.dumps({"server": server.pid, "pending": look["pending"]["kind"]}), flush=True)
server.wait()
"""


def client(keys, *more):
    """The client, its server, that one's workers, and the prompt."""
    command = [sys.executable, "-c", CLIENT, PROGRAM, json.dumps(keys), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    told = json.loads(process.stdout.readline())
    return process, told["server"], children(told["server"]), told["pending"]


def all_gone(pids):
    """Nothing of a server is there any more, 5 seconds from now at the latest."""
    return wait_until(lambda: not any(map(is_alive, pids)), 5)


def p60_a_client_dropped_in_each_prompt_kind():
    for kind, keys in PROMPTS.items():
        process, server, workers, reached = client(keys)
        check(f"a {kind} prompt", reached == kind, reached)
        check("there are workers", workers)
        before = cpu_seconds([server, *workers])
        time.sleep(0.3)
        idle = cpu_seconds([server, *workers]) - before
        check(f"waiting at {kind} takes no CPU", idle < 0.1, idle)
        process.kill()
        process.wait()
        check(f"dropped at {kind}, nothing is left", all_gone([server, *workers]), (server, workers))


def p84_no_server_outlives_its_client():
    with open(os.devnull) as nothing:
        ended = subprocess.run([PROGRAM, "mcp"], stdin=nothing, capture_output=True, timeout=20)
    check("stdin at EOF", ended.returncode == 0 and ended.stdout == b"", ended)
    for name in (signal.SIGKILL, signal.SIGTERM):
        process, server, workers, _ = client([], "and a long call")
        check("there are workers", workers)
        process.send_signal(name)
        process.wait()
        gone = all_gone([server, *workers])
        check(f"the client is gone by {name.name}, and so is all of its server", gone, (server, workers))


def p80_every_line_on_stdout_is_json_rpc():
    refused = subprocess.run([PROGRAM, "mcp", "--no-such-option"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    check("usage goes elsewhere", refused.returncode == 2 and refused.stdout == b"" and refused.stderr, refused)
    with Server(PROGRAM, "--allow-debug", "--seed", str(SEED), "--options", "playmode:debug", "--workers", "1") as server:
        server.initialize()
        look = server.call("observe")
        for pid in children(server.process.pid):
            os.kill(pid, signal.SIGABRT)
        survived = server.call("press", revision=look["revision"], key="s")
        check("a worker that aborts is replaced", "error" not in survived, survived)
        fork = server.call("fork_create")["forks"][0]
        keys = list("#panic") + ["ENTER", "y", "ENTER", "ENTER", "ENTER"]
        ended = server.call("fork_run", fork=fork["id"], revision=fork["revision"], keys=keys, force=True)
        check("the engine's panic is told", "Crash test" in json.dumps(ended) and ended["state"] == "ended", ended)
        garbage = server.call("press", revision=0, key="s")
        check.code("the server still answers", garbage, "STALE")
        server.send_bytes(b"\x00garbage\n")
        check("garbage is answered", server.next_message().get("error", {}).get("code") == -32700)
        check("in good order", server.close() == 0, server.errors)
        check("nothing else was on stdout", not server.noise, server.noise)
        while not server.lines.empty():
            line = server.lines.get()
            check("a line is JSON-RPC", line is None or json.loads(line).get("jsonrpc") == "2.0", line)


for test in [
    a_client_that_does_not_read,
    p71_a_wish_is_kept_over_a_disconnect,
    p84_no_server_outlives_its_client,
    p80_every_line_on_stdout_is_json_rpc,
]:
    try:
        test()
    except Exception:
        check(f"{test.__name__} runs to its end", False, traceback.format_exc())
check.finish()
