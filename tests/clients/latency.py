"""How long calls take over standard input and output. Usage: latency.py EXECUTABLE [--untimed] [--json]

One server, one client, one call at a time. Told are p50, p99 and the worst of each kind of call in milliseconds, and
beside them the time of a key itself: the same keys, pressed by one call after the other and by a single call, whose time
is divided by their number; and a tenth of what a line of ten random keys takes in a process without any server
(`bench --alone`). A press should take less than a millisecond more than its key; the exit status says whether it
does. --untimed makes few calls and judges nothing.
"""

import json
import subprocess
import sys
import time

from harness import Server

ARGUMENTS = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
PROGRAM = ARGUMENTS[0]
UNTIMED = "--untimed" in sys.argv
CALLS = 20 if UNTIMED else 1_000
ROUNDS = 2 if UNTIMED else 7
PRESS_BEYOND_KEY_MS = 1.0


def measure(calls, call):
    """The times of so many calls, in milliseconds."""
    times = []
    for number in range(calls):
        began = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - began) * 1_000)
    return times


def told(name, times):
    ordered = sorted(times)
    at = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 3)
    return {"call": name, "calls": len(times), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1)}


class Player:
    def __init__(self, server):
        self.server, self.revision, self.forks, self.is_free = server, None, [], True

    def call(self, tool, **arguments):
        result = self.server.call(tool, **arguments)
        assert "error" not in result, (tool, arguments, result)
        return result

    def observe(self, _):
        self.call("observe")

    def press(self, number):
        # What the game asks for meanwhile is escaped.
        key = ("s" if number % 2 else ":") if self.is_free else "ESC"
        result = self.call("press", revision=self.revision, key=key)
        self.revision, self.is_free = result["revision"], result["pending"]["kind"] == "command"

    def create(self, _):
        self.forks += self.call("fork_create")["forks"]

    def run_fork(self, number):
        fork = self.forks[number % len(self.forks)]
        result = self.call("fork_run", fork=fork["id"], revision=fork["revision"], text="s:" * 5, force=True)
        fork["revision"] = result["revision"]

    def try_lines(self, number):
        starts = ("hjklyubns:"[(index + number) % 10 :] for index in range(100))
        self.call("try_lines", lines=[{"text": (start * 10)[:10]} for start in starts], force=True)


def one_key_ms(player, keys):
    """The time of a key where one call presses many, frames looked at and not: the best of some rounds, in turns."""
    times = {}
    conditions = [{"on": "hp_below", "n": 1}, {"on": "message", "pattern": "no such"}, {"on": "new_monster"}]
    for name, stop in [("key", {}), ("key_with_conditions", {"stop": conditions})] * ROUNDS:
        fork = player.call("fork_create")["forks"][0]
        began = time.perf_counter()
        result = player.call("fork_run", fork=fork["id"], revision=fork["revision"], text=":::::::::s" * (keys // 10), force=True, **stop)
        spent = (time.perf_counter() - began) * 1_000 / keys
        times[name] = min(spent, times.get(name, spent))
        assert UNTIMED or result["sent"] == keys, result
        player.call("fork_delete", fork=fork["id"])
    return times


def main():
    with Server(PROGRAM, "--wait-ms", "60000") as server:
        server.initialize()
        player = Player(server)
        player.revision = player.call("new_game", seed="20", role="valkyrie")["revision"]
        keys = one_key_ms(player, CALLS * 10)
        rows = [told("observe", measure(CALLS, player.observe))]
        rows.append(told("press", measure(CALLS, player.press)))
        rows.append(told("fork_create", measure(min(CALLS, 500), player.create)))
        rows.append(told("fork_run, 10 keys", measure(CALLS, player.run_fork)))
        rows.append(told("try_lines, 100 x 10 keys", measure(max(CALLS // 5, 5), player.try_lines)))
        server.close()
    lines = 200 if UNTIMED else 5_000
    alone = subprocess.run([PROGRAM, "bench", "--alone", str(lines)], input="\n", check=True, capture_output=True, text=True)
    # It says that it is ready, then how many lines a second it did.
    random_key_ms = 100 / float(alone.stdout.split()[1])
    beyond = rows[1]["p50_ms"] - keys["key"]
    result = {
        "calls": rows,
        "key_ms": round(keys["key"], 4),
        "key_with_conditions_ms": round(keys["key_with_conditions"], 4),
        "random_key_alone_ms": round(random_key_ms, 4),
        "press_p50_beyond_key_ms": round(beyond, 3),
        "bound_ms": PRESS_BEYOND_KEY_MS,
    }
    if "--json" not in sys.argv:
        print(f"{'call':28}{'calls':>7}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}")
        for row in rows:
            print(f"{row['call']:28}{row['calls']:>7}{row['p50_ms']:>9.3f}{row['p99_ms']:>9.3f}{row['max_ms']:>9.3f}")
        print(f"a key in a long call {keys['key'] * 1_000:.1f} us, with conditions {keys['key_with_conditions'] * 1_000:.1f} us;", end=" ")
        print(f"a random key without a server {random_key_ms * 1_000:.1f} us")
        print(f"p50 of a press beyond its key: {beyond:.3f} ms (bound {PRESS_BEYOND_KEY_MS} ms)")
    print(json.dumps(result))
    return 0 if UNTIMED or beyond < PRESS_BEYOND_KEY_MS else 1


sys.exit(main())
