"""Cases that other projects ran into, tried here: long batches, prompts that come up, large results, long calls, and two
clients at one machine. Usage: cases_lines_test.py EXECUTABLE [SECONDS of the two clients]"""

import os
import random
import sys
import time
import traceback

from harness import Checks, Server, children, scratch, structured, wait_until

PROGRAM = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(os.environ.get("NETHACK_LAB_TEST_SEED", "20"))
# Bytes of an answer; three to a token.
ANSWER_BYTES = 30_000
# How long a call may take before it answers that the work goes on: a loaded host is no fault.
PATIENT = ("--wait-ms", "60000")
DEBUG = ("--allow-debug", "--options", "playmode:debug")
check = Checks("cases: lines")


class Main:
    """The main machine of a server."""

    def __init__(self, server, **game):
        self.server = server
        self.last = server.call("new_game", **game) if game else server.call("observe")
        self.revision = self.last["revision"]

    def __call__(self, tool, **arguments):
        result = self.server.call(tool, revision=self.revision, **arguments)
        if "error" not in result:
            self.revision, self.last = result["revision"], result
        return result

    def until_free(self):
        while self.last.get("pending", {}).get("kind") not in (None, "command"):
            self("press", key="ENTER" if self.last["pending"]["kind"] in ("more", "window") else "ESC")


def p58_travel_and_counts():
    """One travel key walks for hundreds of turns: the answer tells the turns, and a cap stops what follows."""
    with Server(PROGRAM, *PATIENT) as server:
        server.initialize()
        main = Main(server, seed="20", role="valkyrie")
        main.until_free()
        before = main.last["turn"]
        # Away from the stairs, and back to them by one key's work.
        away = main("run", text="".join(f"8{way}" for way in "lhjk") * 3, on_more="dismiss")
        check("P58 turns are told", away["turns"] == main.last["turn"] - before > 0, away)
        travel = [{"text": "_"}, {"text": "<.", "expect": "position"}]
        told = main("run", segments=travel, on_more="dismiss")
        check("P58 a travel tells its turns", told["turns"] == told["turn"] - away["turn"], (away, told))
        counted = main("run", text="20s20s20s20s", turns_max=25, on_more="dismiss")
        check("P58 a cap stops what follows", counted["stop"] == "turns" and counted["unsent"] > 0, counted)
        check("P58 a key that is under way is not cut", 25 <= counted["turns"] < 60, counted)
        check("P58 turns are the machine's", counted["turns"] == counted["turn"] - told["turn"], (told, counted))
        long = main("run", text="20s", turns_max=1, on_more="dismiss")
        check("P58 a count goes on past the cap, which the tool's text says", long["turns"] > 1, long)
        tools = {tool["name"]: tool for tool in server.request("tools/list")["result"]["tools"]}
        text = tools["run"]["inputSchema"]["properties"]["turns_max"]["description"]
        check("P58 and the text says so", "is not cut" in text, text)
        capped = main("run", text="_<." * 200, turns_max=40, force=True)
        check("P58 travel after travel is capped", capped["stop"] in ("turns", "done", "ended"), capped)


def p63_a_prompt_that_is_not_the_expected_one():
    """A helper's key went into a text question: looking sends nothing, and a batch stops at another prompt."""
    with Server(PROGRAM, *PATIENT) as server:
        server.initialize()
        main = Main(server, seed="20", role="valkyrie")
        main.until_free()
        asked = main("run", keys=[*"#name", "ENTER"])
        while main.last["pending"]["kind"] == "menu":
            entries = [entry for entry in main.last["menu"]["entries"] if entry["selectable"]]
            level = [entry for entry in entries if "level" in entry["text"]] or entries[-1:]
            asked = main("select_menu", selections=[{"entry_id": level[0]["id"]}])
        if not check("P63 a text is asked for", asked["pending"]["kind"] == "text", asked):
            return
        boundary = asked["boundary"]
        layers = ["screen", "map", "cells", "status", "messages", "inventory", "menu", "window", "pending"]
        looks = [
            ("observe", {"layers": layers}),
            ("history", {"from": 0, "layers": ["inventory"]}),
            ("info", {}),
            ("fork_list", {}),
            ("breakpoint_list", {}),
            ("try_lines", {"lines": [{"text": "i"}, {"keys": ["ESC"]}]}),
        ]
        for tool, arguments in looks:
            looked = server.call(tool, **arguments)
            check(f"P63 {tool} looks", "error" not in looked, looked)
        now = server.call("observe")
        check("P63 looking sends nothing", (now["boundary"], now["revision"]) == (boundary, main.revision), now)
        check("P63 nothing is typed", now["pending"].get("typed", "") == "", now)
        for batch in [{"text": "i"}, {"keys": ["i", "ESC"]}, {"segments": [{"text": "i", "expect": "command"}]}]:
            held = main("run", **batch)
            check(f"P63 {batch} stops", (held["stop"], held["sent"]) == ("not_accepted", 0), held)
            check("P63 and the text is as it was", held["pending"].get("typed", "") == "", held)
        segments = [{"text": "cellar", "expect": "text"}, {"keys": ["ENTER"], "expect": "text"}, {"text": "s", "expect": "command"}]
        done = main("run", segments=segments)
        check("P63 what is expected is answered", done["stop"] == "done" and done["unsent"] == 0, done)


def p64_blind_batches():
    """With number_pad on a count is a move; the argument of a zap that fizzles is an attack: what was not meant stays
    unsent and is told."""
    with Server(PROGRAM, *PATIENT) as server:
        server.initialize()
        main = Main(server, seed="20", role="valkyrie", options="number_pad:1")
        main.until_free()
        counted = [{"text": "n10"}, {"text": "s", "expect": "count"}]
        searched = main("run", segments=counted, on_more="dismiss")
        check("P64 a count is expected and comes", searched["sent"] == 4, searched)
        blind = [{"text": "1"}, {"text": "0s", "expect": "count"}]
        held = main("run", segments=blind, on_more="dismiss")
        check("P64 a digit that moves is no count", (held["stop"], held["sent"]) == ("not_accepted", 1), held)
        check("P64 the rest is told", held["unsent_keys"] == ["0", "s"], held)
        main("run", keys=["ESC"], force=True)
        boundary = main.last["boundary"]
        zap = [{"text": "z"}, {"text": "a", "expect": "item"}, {"text": "4", "expect": "direction"}]
        fizzled = main("run", segments=zap, on_more="dismiss")
        check("P64 nothing to zap", "don't have anything to zap" in str(fizzled["messages"]), fizzled)
        check("P64 its arguments are unsent", (fizzled["sent"], fizzled["unsent_keys"]) == (1, ["a", "4"]), fizzled)
        check("P64 one input and no more", fizzled["boundary"] == boundary + 1, fizzled)
        refused = main("run", segments=zap[1:])
        check("P64 nor are they sent later", refused["sent"] == 0 and refused["stop"] == "not_accepted", refused)


def size(server, tool, **arguments):
    """Bytes of an answer's text, and the answer."""
    response = server.answer(server.start_call(tool, **arguments))
    result = structured(response)
    if "error" in result:
        check(f"{tool} answers", False, result)
    return len(response["result"]["content"][0]["text"]), result


def p76_small_answers():
    """Some send 140 kB for each step."""
    with Server(PROGRAM, *PATIENT) as server:
        server.initialize()
        main = Main(server, seed="20", role="valkyrie")
        main.until_free()
        rng = random.Random(SEED)
        sizes = {"default": [], "changes": [], "status": []}
        for number in range(300):
            name = list(sizes)[number % 3]
            layers = {} if name == "default" else {"layers": [name]}
            key = rng.choice("hjklyubns:")
            response = server.answer(server.start_call("run", revision=main.revision, text=key, on_more="dismiss", **layers))
            result = structured(response)
            main.revision, main.last = result["revision"], result
            sizes[name].append(len(response["result"]["content"][0]["text"]))
            main.until_free()
        print({name: (sorted(found)[50], max(found)) for name, found in sizes.items()}, "bytes: median, most", flush=True)
        check("P76 a step is told in 4 kB", max(sizes["default"]) < 4_000, sizes["default"])
        check("P76 what changed in less", sorted(sizes["changes"])[50] < 1_500, sizes["changes"])
        check("P76 status alone in 1 kB", max(sizes["status"]) < 1_200, sizes["status"])


def p82_results_of_a_long_game():
    """What is above 25,000 tokens is cut by clients: every default answer of a game of 20,000 inputs is under 10,000."""
    rng = random.Random(SEED)
    with Server(PROGRAM, *DEBUG, "--seed", "20", "--role", "valkyrie", *PATIENT) as server:
        server.initialize()
        main = Main(server)
        main.until_free()
        while main.last["boundary"] < 20_000 and "pending" in main.last:
            keys = [rng.choice("hjklyubn:::i") for _ in range(1_800)]
            main("run", keys=[key for pair in zip(keys, ["ESC"] * len(keys)) for key in pair], force=True)
        check("P82 a game of 20,000 inputs", main.last["boundary"] >= 20_000, main.last)
        fork = server.call("fork_create")["forks"][0]
        ended = main.last["state"] == "ended"
        deep = server.call("fork_run", fork=fork["id"], revision=fork["revision"], force=True, keys=["ESC", "CTRL_V", "8", "ENTER", "ESC"])
        check("P82 a fork on another level", ended or deep["status"]["depth"] == 8, deep)
        everything = ["screen", "map", "status", "messages", "inventory", "menu", "window"]
        large = {
            "observe": ("observe", {}),
            "observe, all layers": ("observe", {"layers": everything}),
            "observe, cells": ("observe", {"layers": ["cells"]}),
            "messages": ("observe", {"after_message_id": 0, "layers": ["messages"]}),
            "history": ("history", {"from": 0}),
            "history, frame": ("history", {"from": 10_000, "layers": everything}),
            "fork_diff": ("fork_diff", {"a": "main", "b": fork["id"]}),
            "fork_diff, lists": ("fork_diff", {"a": "main", "b": fork["id"], "cells": True, "glyphs": True}),
            "info": ("info", {}),
            "movie_verify": ("movie_verify", {}),
            "movie_export": ("movie_export", {"inline": False}),
        }
        found = {}
        for what, (tool, arguments) in large.items():
            if tool == "movie_export":
                refused = server.call(tool, **arguments)
                check("P82 no directory, no file", "error" in refused, refused)
                continue
            found[what], result = size(server, tool, **arguments)
            check(f"P82 {what} is under 10,000 tokens", found[what] < ANSWER_BYTES, found[what])
        print({what: bytes // 3 for what, bytes in found.items()}, "tokens", flush=True)
        inputs, boundary = [], 0
        while boundary is not None:
            page = server.call("history", **{"from": boundary}, limit=2_000)
            inputs += page["inputs"]
            boundary = page.get("next")
        check("P82 the pages are the whole journal", len(inputs) == server.call("observe")["boundary"], len(inputs))
        ids, after = [], 0
        while True:
            page = server.call("observe", layers=["messages"], after_message_id=after, limit=500)
            if not page["messages"]:
                break
            ids += [message["id"] for message in page["messages"]]
            after = ids[-1]
        check("P82 the log's pages have no gap", ids == list(range(ids[0], ids[-1] + 1)), (ids[:1], ids[-1:], len(ids)))


def p83_a_long_verify():
    """A call of minutes meets a client's limit of 60 seconds: progress is told, it can be cancelled, others are answered,
    and its result can be had later."""
    with Server(PROGRAM, "--inputs-max", "400000", "--wait-ms", "50") as server:
        server.initialize()
        server.call("new_game", seed="20", role="valkyrie")
        fork = server.call("fork_create")["forks"][0]
        view = server.call("observe", machine=fork["id"], layers=[])
        while view["boundary"] < 200_000:
            started = server.call("fork_run", fork=fork["id"], revision=view["revision"], text=":" * 36_000, force=True, layers=[])
            if started.get("running"):
                server.call("observe", operation=started["operation"], wait_ms=60_000, layers=[])
            view = server.call("observe", machine=fork["id"], layers=[])
        check("P83 a line of 200,000 inputs", view["boundary"] >= 200_000, view)

        def start():
            arguments = {"name": "movie_verify", "arguments": {"source": fork["id"]}, "_meta": {"progressToken": "v"}}
            return server.send("tools/call", arguments)

        call = start()
        answer = structured(server.answer(call))
        check("P83 it goes on as an operation", answer.get("running") is True, answer)
        progress = [message["params"] for message in server.kept if message.get("method") == "notifications/progress"]
        done = [step["progress"] for step in progress]
        check("P83 progress rises", done and done == sorted(set(done)), progress)
        check("P83 and knows where it ends", progress and progress[0]["total"] >= 200_000, progress[:1])
        began, slowest, looks, told = time.monotonic(), 0.0, 0, []
        while True:
            asked = time.monotonic()
            server.call("observe")
            slowest, looks = max(slowest, time.monotonic() - asked), looks + 1
            state = server.call("observe", operation=answer["operation"], layers=[])["operation"]
            told += [state["progress"]["done"]] if "progress" in state else []
            if state["state"] != "running" or time.monotonic() - began > 300:
                break
        print(f"P83: {looks} looks meanwhile, the slowest {slowest * 1_000:.0f} ms", flush=True)
        check("P83 others are answered meanwhile", slowest < 10, slowest)
        check("P83 an operation tells how far it is", told and told == sorted(told), told[-5:])
        check("P83 its verdict comes", state.get("result", {}).get("verdict") == "exact", state)
        check("P83 of all inputs", state.get("result", {}).get("inputs") == view["boundary"], state)
        server.kept.clear()
        call = start()
        while server.next_message().get("method") != "notifications/progress":
            pass
        server.send("notifications/cancelled", {"requestId": call, "reason": "enough"}, has_id=False)
        # A call that was answered already is stopped as an operation.
        long = structured(server.answer(start()))
        running = server.call("observe", operation=long["operation"], cancel=True, wait_ms=20_000, layers=[])["operation"]
        stopped = running["state"] == "failed" and running["error"]["code"] == "CANCELLED"
        check("P83 an operation can be stopped", stopped, running)
        # A machine that is deleted meanwhile would hang on a verify that is not over.
        asked = time.monotonic()
        again = server.call("movie_verify", source="main")
        check("P83 a cancelled one makes room", again.get("verdict") == "exact" or again.get("running"), again)
        check("P83 soon", time.monotonic() - asked < 20, time.monotonic() - asked)


class Client:
    """One of those at the same machine: what it knows, and the call that it waits for."""

    def __init__(self, server, seed):
        self.server, self.rng = server, random.Random(seed)
        self.revision, self.forks, self.newest = 0, {}, 1
        self.waits, self.tool, self.is_over = None, None, False

    def next_call(self):
        rng, on_main = self.rng, {"revision": self.revision}
        if rng.random() < 0.02:
            on_main["revision"] -= 1
        # Also forks of the other's, and such as are gone.
        fork = f"f{rng.randint(max(1, self.newest - 30), self.newest)}"
        on_fork = {"fork": fork, "revision": self.forks.get(fork, 1)}
        kinds = [
            (30, "press", {"key": rng.choice([*"hjklyubns", "ESC", "ESC"]), **on_main}),
            (15, "run", {"text": rng.choice(["5s", "hjkl", "20s", "yubn"]), "on_more": "dismiss", **on_main}),
            (12, "fork_create", {"count": rng.randint(1, 3)}),
            (12, "fork_run", {"text": "hjklyubn" * rng.randint(1, 20), "force": True, **on_fork}),
            (15, "fork_delete", {"fork": fork}),
            (4, "fork_adopt", {"fork": fork, **on_main}),
            (5, "try_lines", {"lines": [{"text": "hjkl"}, {"text": "20s"}], "keep": 2}),
            (5, "fork_diff", {"a": "main", "b": fork}),
            (10, "observe", {}),
            (1, "quit_game", {}),
            (40 if self.is_over else 1, "new_game", {"seed": str(rng.randint(0, 9)), "role": "valkyrie"}),
        ]
        _, self.tool, arguments = rng.choices(kinds, [weight for weight, *_ in kinds])[0]
        self.waits = self.server.start_call(self.tool, **arguments)

    def hears(self, result):
        error = result.get("error")
        if error:
            if error.get("machine") == "main":
                self.revision = error.get("revision", self.revision)
                self.is_over = error["code"] == "GAME_OVER"
            elif error["code"] == "STALE":
                self.forks[error["machine"]] = error["revision"]
            return error["code"]
        if result.get("machine") == "main":
            self.revision = result["revision"]
            self.is_over = result["state"] in ("ended", "aborted")
        made = result["forks"] if self.tool == "fork_create" else result.get("kept", [])
        for fork in made:
            self.forks[fork["id"]], self.newest = fork["revision"], int(fork["id"][1:])
        if self.tool == "fork_run":
            self.forks[result["machine"]] = result["revision"]
        return "ok"


def p34_two_clients_at_one_machine():
    """Two threads at one engine crash it: two clients step, fork and close the same machine at once."""
    allowed = {"ok", "STALE", "BUSY", "UNKNOWN_MACHINE", "GAME_OVER", "GAME_ACTIVE", "LIMIT_EXCEEDED", "CANCELLED", "INVALID_ARGUMENT", "WRONG_PENDING"}
    with scratch() as movies, Server(PROGRAM, *PATIENT, "--movies", movies, "--forks-max", "40") as server:
        server.initialize()
        server.call("new_game", seed="1", role="valkyrie")
        workers = len(children(server.process.pid))
        clients = [Client(server, SEED), Client(server, SEED + 1)]
        counts, faults, calls = {}, [], 0
        until = time.monotonic() + SECONDS
        for client in clients:
            client.next_call()
        while any(client.waits for client in clients):
            message = server.next_message()
            if message is None:
                check("P34 the server lives", False, server.errors[-2000:])
                return
            client = next((client for client in clients if client.waits and client.waits == message.get("id")), None)
            if client is None:
                continue
            calls += 1
            code = client.hears(structured(message))
            counts[f"{client.tool} {code}"] = counts.get(f"{client.tool} {code}", 0) + 1
            if code not in allowed:
                faults.append((client.tool, message))
            client.waits = None
            if time.monotonic() < until:
                client.next_call()
        print(f"P34: seed {SEED}, {calls} calls: {dict(sorted(counts.items()))}", flush=True)
        check("P34 every call is answered as it should be", not faults, faults[:2])
        for tool in ["press", "fork_run", "fork_create", "fork_delete", "new_game", "quit_game", "fork_adopt", "try_lines"]:
            check(f"P34 {tool} was served", counts.get(f"{tool} ok", 0) > 0, counts)
        check("P34 some calls came late", any("STALE" in name for name in counts), counts)
        verified = server.call("movie_verify")
        check("P34 the movie verifies", verified.get("verdict") == "exact", verified)
        settled = wait_until(lambda: len(children(server.process.pid)) <= workers + 3, 10)
        check("P34 no worker is left over", settled, (workers, children(server.process.pid)))
        check("P34 none was lost", server.call("info")["workers"]["lost"] == 0, server.call("info")["workers"])
        check("P34 stdout is clean", not server.noise, server.noise)
        check("P34 EOF", server.close() == 0, server.errors)


for part in [
    p58_travel_and_counts,
    p63_a_prompt_that_is_not_the_expected_one,
    p64_blind_batches,
    p76_small_answers,
    p82_results_of_a_long_game,
    p83_a_long_verify,
    p34_two_clients_at_one_machine,
]:
    try:
        part()
    except Exception:
        check(part.__name__, False, traceback.format_exc()[-2000:])
check.finish()
