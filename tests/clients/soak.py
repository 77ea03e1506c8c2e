"""Two clients' worth of calls, right and wrong, at random, until enough inputs were pressed; then the proof.

Usage: soak.py EXECUTABLE [--inputs N] [--seconds N] [--seed N] [--mib N]
It ends at whichever comes first, tells what the server took of memory, files and processes on the way, and fails on a line
that is no JSON-RPC, a call without an answer, an internal error, a process that stays behind, memory that grows past
--mib (server and workers together), or a journal that isn't exact.
"""

import argparse
import glob
import json
import os
import random
import subprocess
import threading
import time

from harness import Checks, Server, children, is_alive, scratch, structured, wait_until

FORKS_KEPT = 40
# What a call may be refused with while another client plays too, or because it was made wrongly on purpose.
EXPECTED = {
    "NO_GAME", "GAME_ACTIVE", "GAME_OVER", "UNKNOWN_MACHINE", "STALE", "WRONG_PENDING", "INVALID_KEY", "INVALID_SELECTION",
    "INVALID_RESPONSE", "INVALID_ARGUMENT", "INVALID_SEED", "LIMIT_EXCEEDED", "BUSY", "REFUSED_PATH", "FILE_EXISTS",
    "DISABLED", "SCRIPT_FAILED", "CANCELLED", "ROM_MISMATCH", "NO_FILE", -32602,
}
KEYS = "hjklyubnHJKLYUBN" * 4 + "ssss.....,iodewWTPRqrztfaFm<>:;_^\\SD"
SCRIPTS = ("return nh.status.hp", "nh.turn", "while true do end", "error('no')", "return #nh.screen", "return {}", "syntax error")


class Talk:
    """One server, many threads: answers find whoever asked."""

    def __init__(self, server):
        self.server, self.lock, self.waiting = server, threading.Lock(), {}
        self.largest, self.slowest = 0, 0.0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while (message := self.server.next_message(seconds=3_600)) is not None:
            event = self.waiting.pop(message.get("id"), None) if "method" not in message else None
            if event:
                event.message = message
                event.set()
        for event in list(self.waiting.values()):
            event.set()

    def call(self, tool, arguments):
        event = threading.Event()
        event.message = None
        started = time.monotonic()
        with self.lock:
            self.waiting[self.server.last + 1] = event
            self.server.start_call(tool, **arguments)
        if not event.wait(300) or event.message is None:
            raise AssertionError(f"no answer to {tool} {str(arguments)[:300]}")
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.largest = max(self.largest, len(json.dumps(event.message)))
        return structured(event.message)


class Player:
    """One client: it knows revisions as far as it was told, and so is often late."""

    def __init__(self, talk, tools, seed, stop):
        self.talk, self.tools, self.rng, self.stop = talk, tools, random.Random(seed), stop
        self.revisions, self.views, self.calls, self.refused, self.odd = {}, {}, 0, {}, []
        self.sent, self.files = 0, 0

    def call(self, tool, **arguments):
        if tool not in self.tools:
            return {}
        self.calls += 1
        content = self.talk.call(tool, arguments)
        code = content.get("error", {}).get("code")
        if code is not None:
            self.refused[code] = self.refused.get(code, 0) + 1
            if code not in EXPECTED:
                self.odd.append((tool, arguments, content))
        place = content.get("error", content)
        if "machine" in place and "revision" in place:
            self.revisions[place["machine"]] = place["revision"]
        if "machine" in content and "state" in content:
            self.views[content["machine"]] = content
        self.sent += content.get("sent", 0)
        return content

    def machine(self):
        forks = [name for name in self.revisions if name != "main"]
        return self.rng.choice(forks) if forks and self.rng.random() < 0.6 else "main"

    def revision(self, machine):
        known = self.revisions.get(machine, 1)
        return known if self.rng.random() < 0.97 else max(0, known - self.rng.randint(1, 50))

    def keys(self, most):
        return "".join(self.rng.choice(KEYS) for _ in range(self.rng.randint(1, most)))

    def step(self):
        rng = self.rng
        moves = [self.play] * 10 + [self.answer] * 6 + [self.look] * 4 + [self.fork] * 3 + [self.try_lines, self.wrong]
        moves += [self.wrong, self.script, self.file, self.jump, self.breakpoint]
        rng.choice(moves)()
        if self.views.get("main", {}).get("state") in ("ended", "aborted") or rng.random() < 0.000_5:
            self.call("quit_game")
            self.views.pop("main", None)
            self.call("new_game", seed=str(rng.getrandbits(64)))

    def play(self):
        machine = self.machine()
        batch = {"text": self.keys(80), "on_more": self.rng.choice(["stop", "dismiss"]), "turns_max": 3_000}
        if self.rng.random() < 0.5:
            batch = {"text": self.keys(600), "force": True, "turns_max": 20_000}
        if machine == "main":
            self.call("run", revision=self.revision(machine), **batch)
        else:
            self.call("fork_run", fork=machine, revision=self.revision(machine), **batch)

    def answer(self):
        machine = self.machine()
        pending = self.views.get(machine, {}).get("pending", {})
        place = {"machine": machine, "revision": self.revision(machine)}
        kind, rng = pending.get("kind"), self.rng
        if kind == "menu":
            menu = self.call("observe", machine=machine, layers=["menu"]).get("menu", {})
            entries = [entry["id"] for entry in menu.get("entries", []) if entry.get("selectable")]
            picked = [{"entry_id": entry} for entry in rng.sample(entries, min(len(entries), rng.randint(0, 2)))]
            self.call("select_menu", **place, **({"selections": picked} if picked else {"cancel": True}))
            return
        answers = {
            "more": {"acknowledge": True}, "window": {"acknowledge": True}, "direction": {"direction": rng.choice("hjklyubn.")},
            "item": {"item": rng.choice(pending.get("answers") or "a")}, "choice": {"choice": rng.choice(pending.get("answers") or "n")},
            "text": {"text": rng.choice(["", "Elbereth", "x" * 60, "0"])}, "position": {"cancel": True},
            "extended": {"cancel": True},
        }
        if kind in answers and rng.random() < 0.9:
            self.call("respond", **place, **answers[kind])
        else:
            self.call("press", **place, key=rng.choice(["ESC", "ENTER", "s", "h", "CTRL_P", "i"]))

    def look(self):
        machine, rng = self.machine(), self.rng
        layers = rng.sample(["screen", "map", "cells", "status", "messages", "inventory", "menu", "pending", "changes"], 3)
        boundary = self.views.get(machine, {}).get("boundary", 0)
        rng.choice([
            lambda: self.call("observe", machine=machine, layers=layers),
            lambda: self.call("observe", machine=machine, after_message_id=rng.randint(0, 500)),
            lambda: self.call("info"),
            lambda: self.call("fork_list", limit=rng.randint(1, 60)),
            lambda: self.call("screenshot", machine=machine),
            lambda: self.call("history", machine=machine, **{"from": rng.randint(0, boundary), "to": boundary}, limit=20),
            lambda: self.call("fork_diff", a="main", b=machine),
        ])()

    def fork(self):
        rng = self.rng
        forks = [name for name in self.revisions if name != "main"]
        if len(forks) > FORKS_KEPT:
            for name in rng.sample(forks, FORKS_KEPT // 2):
                self.call("fork_delete", fork=name)
                self.revisions.pop(name), self.views.pop(name, None)
            return
        if forks and rng.random() < 0.2:
            mode = {"mode": "replay"} if rng.random() < 0.3 else {"luck": "take"}
            adopted = self.call("fork_adopt", fork=rng.choice(forks), revision=self.revision("main"), **mode)
            if "old_tip" in adopted:
                self.call("observe", machine=adopted["old_tip"])
            return
        luck = {"luck": "reseed"} if rng.random() < 0.5 else {}
        made = self.call("fork_create", **{"from": self.machine()}, count=rng.randint(1, 4), **luck)
        for fork in made.get("forks", []):
            self.revisions[fork["id"]] = fork["revision"]

    def try_lines(self):
        lines = [{"text": self.keys(12)} for _ in range(self.rng.randint(1, 60))]
        self.call("try_lines", **{"from": self.machine()}, lines=lines, **self.rng.choice([{}, {"force": True}]))

    def script(self):
        self.call("lua_eval", machine=self.machine(), source=self.rng.choice(SCRIPTS))

    def file(self):
        self.files += 1
        name = f"soak-{self.rng.getrandbits(40)}" if self.rng.random() < 0.8 else "../soak"
        roll = self.rng.random()
        if self.files % 40 == 0:
            self.call("movie_verify")
        elif roll < 0.6:
            self.call("movie_export", source=self.machine(), name=name)
        elif self.call("state_save", machine=self.machine(), name=name) and roll < 0.9:
            loaded = self.call("state_load", name=name)
            if "machine" in loaded:
                self.call("fork_delete", fork=loaded["machine"])

    def jump(self):
        boundary = self.views.get("main", {}).get("boundary", 0)
        if self.rng.random() < 0.02:
            self.call("reset", revision=self.revision("main"), kind=self.rng.choice(["same", "new_seed"]))
        else:
            self.call("seek", revision=self.revision("main"), boundary=max(0, boundary - self.rng.randint(0, 400)))

    def breakpoint(self):
        if self.rng.random() < 0.5:
            self.call("breakpoint_add", on="hp_below", n=self.rng.randint(1, 6))
        for point in self.call("breakpoint_list").get("breakpoints", [])[4:]:
            self.call("breakpoint_remove", id=point["id"])

    def wrong(self):
        """A call that is wrong in one thing: a field too many, too few, of another type, out of bounds."""
        rng, name = self.rng, self.rng.choice(sorted(self.tools))
        if name in ("quit_game", "new_game", "reset"):
            return
        fields = self.tools[name]["properties"]
        given = {field: {"integer": 1, "boolean": True, "array": [], "string": "x"}.get(fields[field].get("type"), {})
                 for field in fields if rng.random() < 0.3}
        if fields and rng.random() < 0.7:
            given[rng.choice(sorted(fields))] = rng.choice([None, -1, 1e300, [[]], {"a": {}}, "\u0000", "x" * 70_000, 2**70])
        else:
            given[rng.choice(["extra", "Revision", "", "__proto__"])] = 1
        self.call(name, **given)

    def run(self):
        while not self.stop.is_set():
            self.step()


def processes(pid):
    """Of the server and its workers: how many, resident MiB, open files."""
    pids = [pid, *children(pid)]
    kib, files = 0, 0
    for each in pids:
        try:
            with open(f"/proc/{each}/smaps_rollup") as file:
                kib += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
            files += len(os.listdir(f"/proc/{each}/fd"))
        except (OSError, StopIteration):
            pass
    return len(pids), kib >> 10, files


def inputs_of(program, journal):
    told = subprocess.run([program, "movie", "info", "--json", journal], capture_output=True, text=True, check=False)
    return json.loads(told.stdout).get("inputs", 0) if told.returncode == 0 else 0


def soak(check, options, movies, out):
    with Server(options.program, "--movies", movies, "--out-dir", out, "--seed", str(options.seed)) as server:
        server.initialize()
        tools = {tool["name"]: tool["inputSchema"] for tool in server.request("tools/list")["result"]["tools"]}
        talk, stop = Talk(server), threading.Event()
        players = [Player(talk, tools, options.seed * 2 + number, stop) for number in (0, 1)]
        failures = []

        def guard(player):
            try:
                player.call("observe")
                player.run()
            except Exception as error:  # noqa: BLE001 - whatever ends a client early is a finding
                failures.append(repr(error))
                stop.set()

        threads = [threading.Thread(target=guard, args=(player,)) for player in players]
        for thread in threads:
            thread.start()
        start, most = time.monotonic(), [0, 0, 0]
        while not stop.wait(5) and time.monotonic() - start < options.seconds:
            seen, sent = processes(server.process.pid), sum(player.sent for player in players)
            most = [max(pair) for pair in zip(most, seen)]
            calls = sum(player.calls for player in players)
            print(f"{time.monotonic() - start:6.0f} s  {calls} calls  {sent} keys  processes, MiB, files: {seen}", flush=True)
            if sent >= options.inputs:
                break
        stop.set()
        for thread in threads:
            thread.join(330)
        workers = children(server.process.pid)
        refused = {}
        for player in players:
            for code, count in player.refused.items():
                refused[code] = refused.get(code, 0) + count
            check("no call is refused in an unforeseen way", not player.odd, player.odd[:3])
        print(f"refused: {refused}; largest answer {talk.largest} bytes; slowest {talk.slowest:.2f} s; most {most}")
        check("both clients went on to the end", not failures, failures)
        check("each line was JSON-RPC", not server.noise, server.noise[:3])
        check(f"server and workers stay below {options.mib} MiB", 0 < most[1] < options.mib, most)
        check("the server ends well", server.close(60) == 0, server.errors[-2000:])
        check("no process stays", wait_until(lambda: not any(map(is_alive, workers)), 5), workers)
        return sum(player.sent for player in players)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mib", type=int, default=3_000)
    options = parser.parse_args()
    check = Checks("soak")
    with scratch() as movies, scratch() as out:
        sent = soak(check, options, movies, out)
        journals = sorted(glob.glob(f"{movies}/*.movie"))
        check("there are journals", bool(journals))
        for journal in journals:
            told = subprocess.run([options.program, "movie", "verify", journal], capture_output=True, text=True, check=False)
            check(f"{os.path.basename(journal)} is exact", "exact" in told.stdout, told.stdout + told.stderr)
        lines = sum(inputs_of(options.program, journal) for journal in journals)
        print(f"{sent} keys sent, {lines} inputs in {len(journals)} journals")
    check.finish()


main()
