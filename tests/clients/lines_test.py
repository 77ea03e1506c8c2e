"""Breakpoints, conditions of one call, and lines tried at once."""

import json
import os
import random
import subprocess
import sys
import time
import traceback

from harness import Checks, Server, Shapes, scratch, structured

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("NETHACK_LAB_TEST_SEED", "20"))
# Bytes of an answer; three to a token.
ANSWER_BYTES = 30_000
check = Checks("lines")


# How long a call may take before it answers that the work goes on: a loaded host is no fault.
PATIENT = ("--wait-ms", "60000")
DEBUG = ("--allow-debug", "--options", "playmode:debug")


class Lab:
    """A server with a game, whose results are held against the schemas."""

    def __init__(self, server, **game):
        self.server = server
        server.initialize()
        tools = server.request("tools/list")["result"]["tools"]
        self.shapes = Shapes({tool["name"]: tool["outputSchema"] for tool in tools})
        self.revision = None
        if game:
            self.revision = self("new_game", **game)["revision"]

    def __call__(self, tool, **arguments):
        return self.held(tool, arguments, self.server.call(tool, **arguments))

    def held(self, tool, arguments, result):
        faults = self.shapes.faults(tool, result)
        if faults:
            check(f"shape of {tool}'s result", False, (arguments, faults))
        return result

    def main(self, tool, **arguments):
        result = self(tool, revision=self.revision, **arguments)
        self.revision = result.get("revision", self.revision)
        return result

    def refused(self, tool, code, field, **arguments):
        result = self(tool, **arguments)
        what = f"{tool} {str(arguments)[:90]}"
        check.code(what, result, code)
        check(f"{what} names {field}", field in (None, result.get("error", {}).get("field")), result)


def breakpoints():
    with Server(PROGRAM, *PATIENT, *DEBUG, "--seed", "5", "--role", "valkyrie") as server:
        lab = Lab(server)
        lab.revision = lab("observe")["revision"]
        while (pending := lab("observe")["pending"]["kind"]) != "command":
            lab.main("press", key="ENTER" if pending in ("more", "window") else "ESC")

        def stops(what, arguments, condition, sent, **told):
            found = lab.main("run", stop=[{"on": "turn", "n": 999_999}, condition], **arguments)
            reached = (found.get("stop"), found.get("sent"), found.get("breakpoint", {}).get("index"))
            check(f"{what} stops the batch", reached == ("breakpoint", sent, 1), found)
            hit = found.get("breakpoint", {})
            check(f"{what} is told", hit.get("on") == condition["on"] and told.items() <= hit.items(), found)
            return found

        turn = lab("observe")["turn"]
        found = stops("a turn", {"text": "2s2s2s"}, {"on": "turn", "n": turn + 3}, 4)
        check("what was not sent is told", found["unsent_keys"] == ["2", "s"], found)
        stops("a message", {"text": ":::"}, {"on": "message", "pattern": "staircase up"}, 1)
        stops("an expression", {"text": ":::"}, {"on": "message", "pattern": "^There .* here", "regex": True}, 1)
        stops("hit points", {"text": "2ss"}, {"on": "hp_below", "n": 999}, 2)
        asked = stops("a prompt", {"text": "sFh"}, {"on": "pending", "kind": "direction"}, 2, kind="direction")
        check("the prompt is open", asked["pending"]["kind"] == "direction", asked)
        lab.main("press", key="ESC")
        told = {"keys": ["\\", "s"], "on_more": "dismiss"}
        found = stops("a text before it is dismissed", told, {"on": "pending", "kind": "window"}, 1)
        check("nothing is dismissed", "dismissed" not in found and found["pending"]["kind"] == "window", found)
        lab.main("run", keys=["ESC"], force=True)
        dropped = [{"text": "d"}, {"text": "b", "expect": "item"}, {"text": ",s"}]
        found = stops("a thing picked up", {"segments": dropped}, {"on": "item_picked_up"}, 3)
        check("it is named", found["breakpoint"]["items"][0]["letter"] == "b", found)
        made = [{"keys": ["CTRL_G"]}, {"text": "newt", "expect": "text"}, {"keys": ["ENTER"], "expect": "text"}, {"text": "s"}]
        found = stops("a monster", {"segments": made}, {"on": "new_monster"}, 6)
        seen = found["breakpoint"]["monsters"][0]
        check("and where it is", found["screen"].split("\n")[seen["row"]][seen["column"]] == seen["char"] == ":", found)
        found = lab.main("run", text="::", force=True, stop=[{"on": "new_monster"}])
        check("one that is known stops nothing", (found["stop"], found["sent"]) == ("done", 2), found)
        down = [{"keys": ["CTRL_V"]}, {"text": "3", "expect": "text"}, {"keys": ["ENTER"], "expect": "text"}, {"text": "s"}]
        stops("another level", {"segments": down}, {"on": "level_change"}, 3, level_text="Dlvl:3", level_before="Dlvl:1")
        lab.main("run", keys=["ENTER"], on_more="dismiss", force=True)
        standing(lab)


def hunger():
    """A hero who waits becomes hungry, unless something comes first: of a few games, one is quiet enough."""
    found = None
    for seed in range(8):
        with Server(PROGRAM, *PATIENT) as server:
            lab = Lab(server, seed=str(seed), role="valkyrie")
            stop = [{"on": "hunger", "hunger": "hungry"}]
            found = lab.main("run", text="20s" * 100, on_more="dismiss", force=True, stop=stop)
            if found["stop"] == "breakpoint":
                again = lab.main("run", text="::", force=True, stop=[*stop, {"on": "hunger"}])
                check("hunger stops a batch once", again["stop"] == "done", again)
                break
    hit = found.get("breakpoint", {})
    check("hunger stops a batch", (hit.get("hunger"), hit.get("hunger_before")) == ("hungry", "not_hungry"), found)


def standing(lab):
    check("no breakpoint stands at first", lab("breakpoint_list")["breakpoints"] == [] and lab("info")["breakpoints"] == 0)
    added = lab("breakpoint_add", on="message", pattern=" here.")
    check("a breakpoint is told", added["breakpoint"] == {"id": "b1", "on": "message", "pattern": " here."}, added)
    fork = lab("fork_create")["forks"][0]
    only = lab("breakpoint_add", on="hp_below", n=999, machine=fork["id"])
    check("one machine's too", only["breakpoint"] == {"id": "b2", "on": "hp_below", "n": 999, "machine": fork["id"]}, only)
    check("both stand", lab("info")["breakpoints"] == 2 == len(lab("breakpoint_list")["breakpoints"]))
    found = lab.main("run", text="s:s", force=True)
    check("it stops main", (found["stop"], found["sent"], found["breakpoint"]["id"]) == ("breakpoint", 2, "b1"), found)
    found = lab("fork_run", fork=fork["id"], revision=fork["revision"], text="s:s", force=True)
    check("the other stops the fork", (found["sent"], found["breakpoint"]["id"]) == (1, "b2"), found)
    pressed = lab("press", machine=fork["id"], revision=found["revision"], key=":")
    check("a single key is no batch", pressed["stop"] == "done", pressed)
    check("one is removed", lab("breakpoint_remove", id="b1")["breakpoints"] == 1)
    check("and stops nothing any more", lab.main("run", text="s:s", force=True)["stop"] == "done")
    check("no id comes again", lab("breakpoint_add", on="level_change")["breakpoint"]["id"] == "b3")
    for _ in range(62):
        lab("breakpoint_add", on="turn", n=1)
    lab.refused("breakpoint_add", "LIMIT_EXCEEDED", None, on="turn", n=1)
    for code, field, arguments in [
        ("INVALID_ARGUMENT", "on", {}),
        ("INVALID_ARGUMENT", "on", {"on": "rain"}),
        ("INVALID_ARGUMENT", "n", {"on": "turn"}),
        ("INVALID_ARGUMENT", "n", {"on": "turn", "n": 0}),
        ("INVALID_ARGUMENT", "n", {"on": "level_change", "n": 3}),
        ("INVALID_ARGUMENT", "pattern", {"on": "message", "pattern": ""}),
        ("INVALID_ARGUMENT", "pattern", {"on": "message", "pattern": "(((", "regex": True}),
        ("INVALID_ARGUMENT", "pattern", {"on": "message", "pattern": "(a{99}){99}", "regex": True}),
        ("INVALID_ARGUMENT", "pattern", {"on": "message", "pattern": "x" * 201}),
        ("INVALID_ARGUMENT", "kind", {"on": "pending", "kind": "hat"}),
        ("UNKNOWN_MACHINE", None, {"on": "level_change", "machine": "f99"}),
    ]:
        lab.refused("breakpoint_add", code, field, **arguments)
    lab.refused("breakpoint_remove", "INVALID_ARGUMENT", "id", id="b1")
    lab.refused("run", "INVALID_ARGUMENT", "stop[1].n", revision=lab.revision, text="s", stop=[{"on": "new_monster"}, {"on": "turn"}])
    lab.refused("run", "LIMIT_EXCEEDED", "stop", revision=lab.revision, text="s", stop=[{"on": "new_monster"}] * 65)
    check("what is refused presses nothing", lab("observe")["revision"] == lab.revision)


KEYS = ["h", "j", "k", "l", "y", "u", "b", "n", "H", "J", "K", "L", "s", "i", ":", "ESC", "ENTER", ",", "CTRL_X", "F", "d", "z", "\\"]


def random_line(rng):
    """Keys that open prompts of many kinds, some of them expected."""
    if rng.random() < 0.5:
        return {"keys": [rng.choice(KEYS) for _ in range(rng.randint(1, 12))]}
    kinds = ["command", "item", "direction", "menu", "window", "more"]
    parts = [{"keys": [rng.choice(KEYS) for _ in range(rng.randint(1, 3))]} for _ in range(rng.randint(1, 5))]
    for part in parts:
        if rng.random() < 0.4:
            part["expect"] = rng.choice(kinds)
    return {"segments": parts}


def tries():
    rng = random.Random(SEED)
    print(f"seed {SEED}", flush=True)
    with scratch() as directory, Server(PROGRAM, *PATIENT, "--out-dir", directory) as server:
        lab = Lab(server, seed=str(SEED), role="samurai")
        before = lab("observe")
        never = [{"on": "turn", "n": 999_999_999}]
        # Conditions are looked at in the worker: without one that holds, nothing is otherwise.
        for rules in [{}, {"on_more": "dismiss"}, {"force": True}, {"turns_max": 3, "on_more": "dismiss"}, {"turns_max": 1}]:
            lines = [random_line(rng) for _ in range(150)]
            plain = lab("try_lines", lines=lines, limit=150, **rules)
            watched = lab("try_lines", lines=lines, limit=150, stop=never, **rules)
            parted = [pair for pair in zip(plain["lines"], watched["lines"]) if pair[0] != pair[1]]
            check(f"conditions that never hold change nothing ({rules})", not parted, (parted[:1], lines[parted[0][0]["line"]] if parted else None))
        stops_seen = {row["stop"] for row in plain["lines"]}
        check("lines stop for several reasons", {"done", "not_accepted", "turns"} <= stops_seen, stops_seen)
        like_batches(lab, rng, never)
        like_forks(lab, rng)
        luck(lab)
        keeping(lab, directory)
        scored(lab)
        paging(lab)
        refusals(lab)
        after = lab("observe")
        check("the machine has not changed, nor its revision", after == before, (before, after))
        kept = lab("try_lines", lines=[{"text": "2s"}], keep=1)["kept"][0]
        adopted = lab.main("fork_adopt", fork=kept["id"])
        check("a kept line can be adopted", (adopted.get("inputs"), adopted.get("boundary")) == (2, before["boundary"] + 2), adopted)
        check("and main's movie verifies", lab("movie_verify")["verdict"] == "exact")


def like_batches(lab, rng, never):
    """A long batch goes to the worker in parts, with conditions as without."""
    quiet = [key for key in KEYS if key not in "dzF"]
    for rules in [{"force": True}, {"force": True, "on_more": "dismiss"}, {"on_more": "dismiss"}, {"on_more": "dismiss", "turns_max": 700}]:
        keys = [rng.choice(quiet if "force" in rules else "hjklyubns:") for _ in range(2_000)]
        runs, forks = [], lab("fork_create", count=3)["forks"]
        for fork, stop in zip(forks, [{}, {"stop": never}, {"stop": [*never, {"on": "turn", "n": 40}]}]):
            runs.append(lab("fork_run", fork=fork["id"], revision=fork["revision"], keys=keys, **rules, **stop))
        fields = ["sent", "dismissed", "stop", "turns", "boundary", "screen"]
        plain, watched, cut = ([run.get(field) for field in fields] for run in runs)
        check(f"a long batch with conditions is one without ({rules})", plain == watched, (plain, watched))
        same = lab("fork_diff", a=forks[0]["id"], b=forks[1]["id"])["images_same"]
        check("byte for byte", same, rules)
        print(f"{rules}: {plain[:4]}, cut {cut[:4]}", flush=True)
        if plain[3] > 40:
            check("one that is cut ends at its turn", runs[2]["turn"] >= 40 and cut[2] == "breakpoint", runs[2])
        for fork in forks:
            lab("fork_delete", fork=fork["id"])


def like_forks(lab, rng):
    """Each row is what a fork would have told."""
    lab("breakpoint_add", on="message", pattern=" here")
    stop = [{"on": "pending", "kind": "item"}, {"on": "new_monster"}, {"on": "hp_below", "n": 4}, {"on": "item_picked_up"}]
    lines = [random_line(rng) for _ in range(40)] + [{"text": "s::"}, {"text": "sd"}]
    rules = {"on_more": "dismiss", "stop": stop}
    rows = lab("try_lines", lines=lines, limit=60, **rules)["lines"]
    for fork, line, row in zip(lab("fork_create", count=len(lines))["forks"], lines, rows):
        run = lab("fork_run", fork=fork["id"], revision=fork["revision"], layers=["status", "messages"], **line, **rules)
        fields = ["sent", "unsent", "stop", "turns", "dismissed", "breakpoint"]
        ours, theirs = ([found.get(field) for field in fields] for found in ({"unsent": 0, **row}, run))
        check("a line is what a fork would do", ours == theirs, (line, row, run))
        last = [message["text"][:100] for message in run["messages"]][-3:]
        check("its last messages are told", row.get("messages_tail", []) == last, (row, run["messages"]))
        lab("fork_delete", fork=fork["id"])
    springs = {row.get("breakpoint", {}).get("id", row.get("breakpoint", {}).get("index")) for row in rows}
    check("standing breakpoints and the call's", {"b1", 0} <= springs, springs)
    lab("breakpoint_remove", id="b1")


def luck(lab):
    lines = [{"text": "20s"}, {"text": "10h"}, {"text": "2s"}]
    same = lab("try_lines", lines=lines)
    check("luck is the machine's own", same["luck"] == "same" and "luck_seed" not in same, same)
    again = lab("try_lines", lines=lines)
    check("the same again", again["lines"] == same["lines"] and again["tried"] != same["tried"], (same, again))
    drawn = lab("try_lines", lines=lines, samples=20)
    check("a seed is drawn and told", drawn["luck"] == "reseed" and drawn["luck_seed"].isdigit(), drawn)
    check("each line has its samples", [row["n"] for row in drawn["lines"]] == [20] * 3, drawn)
    check("and their stops", all(sum(row["stops"].values()) == 20 for row in drawn["lines"]), drawn)
    repeated = lab("try_lines", lines=lines, samples=20, luck_seed=drawn["luck_seed"])
    check("the seed makes it again", repeated["lines"] == drawn["lines"], (drawn, repeated))
    alone = lab("try_lines", lines=lines[1:2], samples=20, luck_seed=drawn["luck_seed"])
    check("samples don't depend on the other lines", {**alone["lines"][0], "line": 1} == drawn["lines"][1], (alone, drawn))
    seeded = lab("try_lines", lines=lines, luck="reseed", luck_seed="7")
    fork = lab("fork_create", luck="reseed", luck_seed="7")["forks"][0]
    run = lab("fork_run", fork=fork["id"], revision=fork["revision"], **lines[0])
    check("a seed means what it means to a fork", seeded["lines"][0]["turns"] == run["turns"], (seeded, run))
    lab("fork_delete", fork=fork["id"])


def keeping(lab, directory):
    lines = [{"text": "s" * (index + 1)} for index in range(3)]
    found = lab("try_lines", lines=lines, keep=3)
    check("all are kept", [kept["line"] for kept in found["kept"]] == [0, 1, 2], found)
    check("rows name their forks", [row["fork"] for row in found["lines"]] == [kept["id"] for kept in found["kept"]], found)
    for kept, line in zip(found["kept"], lines):
        view = lab("observe", machine=kept["id"])
        check("a fork stands where its line ended", view["boundary"] == found["boundary"] + len(line["text"]), view)
        check("on its revision", view["revision"] == kept["revision"], (view, kept))
        check("its movie verifies", lab("movie_verify", source=kept["id"])["verdict"] == "exact")
        played = lab("fork_run", fork=kept["id"], revision=kept["revision"], text="s")
        check("and it plays on", played.get("sent") == 1, played)
        lab("fork_delete", fork=kept["id"])
    looked = []
    for name in ["before", "after"]:
        path = lab("movie_export", name=name)["path"]
        told = subprocess.run([PROGRAM, "movie", "info", "--json", path], check=True, capture_output=True, text=True).stdout
        looked.append(json.loads(told)["claimed"]["lines"])
        if name == "before":
            lab("try_lines", lines=lines * 100)
    check("movies count the lines that were tried", looked[1] == looked[0] + 300 > 900, looked)


def scored(lab):
    lines = [{"text": "s" * (index + 1)} for index in range(6)]
    start = lab("observe")["boundary"]
    found = lab("try_lines", lines=lines, score="nh.boundary % 4", keep=2)
    scores = [(start + index + 1) % 4 for index in range(6)]
    check("each line has its score", [row["score"] for row in found["lines"]] == scores, found)
    order = sorted(range(6), key=lambda index: (-scores[index], index))
    check("the best are told, equal ones in order", [best["line"] for best in found["best"]] == order, found)
    check("with their scores", [best["score"] for best in found["best"]] == [scores[index] for index in order], found)
    check("the best are kept", [kept["line"] for kept in found["kept"]] == order[:2], found)
    for kept in found["kept"]:
        check("where they ended", lab("observe", machine=kept["id"])["boundary"] == start + kept["line"] + 1, kept)
        check("rows name them", found["lines"][kept["line"]]["fork"] == kept["id"], found)
        lab("fork_delete", fork=kept["id"])
    chunk = lab("try_lines", lines=lines, score="if nh.boundary % 2 == 0 then return 'x' end return nh.status.hp")
    spoilt = ["score_error" in row for row in chunk["lines"]]
    check("a line without a number says so", spoilt == [(start + index + 1) % 2 == 0 for index in range(6)], chunk)
    check("and is none of the best", len(chunk["best"]) == 3, chunk)
    sampled = lab("try_lines", lines=lines[-1:], samples=10, luck_seed="3", score="nh.boundary")
    spread = sampled["lines"][0]["score"]
    check("samples are spread", spread["min"] <= spread["q10"] <= spread["q50"] <= spread["q90"] <= spread["max"] <= start + 6, sampled)
    many = lab("try_lines", lines=[{"text": "s"}] * 2_000, score="nh.turn")
    check("2,000 lines are scored", len(many["best"]) == 10 and "score_error" not in many["lines"][0], many)
    before = lab("info")["store"]
    for source in ["nh.", "while true do end", "local t = {} while true do t[#t + 1] = ('x'):rep(9e6) end"]:
        began = time.monotonic()
        lab.refused("try_lines", "SCRIPT_FAILED", None, lines=lines * 600, score=source, keep=3)
        check("a script that is none is refused soon", time.monotonic() - began < 10, time.monotonic() - began)
    check("and nothing is kept", lab("info")["store"] == before)


def paging(lab):
    lines = [{"text": "hjklyubnss"[index % 10 :] + "s2s"} for index in range(4_096)]
    call = lab.server.send("tools/call", {"name": "try_lines", "arguments": {"lines": lines}, "_meta": {"progressToken": "p"}})
    answer = lab.server.answer(call)
    size = len(answer["result"]["content"][0]["text"])
    first = lab.held("try_lines", {}, structured(answer))
    check("4,096 lines are told in a page", first["total"] == 4_096 and first["next_offset"] == len(first["lines"]), first)
    check("of under 10,000 tokens", size < ANSWER_BYTES, size)
    done = [message["params"]["progress"] for message in lab.server.kept if message.get("method") == "notifications/progress"]
    check("progress rises", done and done == sorted(set(done)) and done[-1] <= 4_096, done)
    began = time.monotonic()
    pages, told, offset = [], [], 0
    # Pages that skip a line would have no last one.
    while offset is not None and len(told) < 9:
        page = lab("try_lines", tried=first["tried"], limit=1000, offset=offset)
        told.append(offset)
        pages += page["lines"]
        offset = page.get("next_offset")
    print(f"4,096 lines: first page {size} bytes; five pages in {time.monotonic() - began:.2f} s", flush=True)
    check("the pages are all lines in order", [row["line"] for row in pages] == list(range(4_096)), len(pages))
    check("the first page is the same", pages[: len(first["lines"])] == first["lines"])
    beyond = lab("try_lines", tried=first["tried"], offset=9_999)
    check("beyond the last there is none", beyond["lines"] == [] and "next_offset" not in beyond, beyond)
    for _ in range(8):
        lab("try_lines", lines=[{"text": "s"}])
    rng = random.Random(SEED)
    wordy = [{"keys": [rng.choice("hjklyubn:sss") for _ in range(60)]} for _ in range(2_000)]
    answer = lab.server.answer(lab.server.start_call("try_lines", lines=wordy, force=True, stop=[{"on": "hp_below", "n": 8}, {"on": "new_monster"}]))
    size, page = len(answer["result"]["content"][0]["text"]), structured(answer)
    print(f"2,000 wordy lines: {len(page['lines'])} of them in {size} bytes", flush=True)
    check("rows with much to tell make a page of under 10,000 tokens", size < ANSWER_BYTES and page["next_offset"] == len(page["lines"]), size)
    lab.refused("try_lines", "INVALID_ARGUMENT", "tried", tried=first["tried"])


def refusals(lab):
    line = {"text": "s"}
    for code, field, arguments in [
        ("INVALID_ARGUMENT", "lines", {}),
        ("INVALID_ARGUMENT", "lines", {"lines": []}),
        ("LIMIT_EXCEEDED", "lines", {"lines": [line] * 4_097}),
        ("LIMIT_EXCEEDED", "samples", {"lines": [line] * 4_096, "samples": 9}),
        ("INVALID_ARGUMENT", "samples", {"lines": [line], "samples": 1_001}),
        ("INVALID_ARGUMENT", "lines[1].keys", {"lines": [line, {}]}),
        ("INVALID_KEY", "lines[1].keys[0]", {"lines": [line, {"keys": ["no"]}]}),
        ("INVALID_ARGUMENT", "lines[0].more", {"lines": [{**line, "more": 1}]}),
        ("LIMIT_EXCEEDED", "lines[0].text", {"lines": [{"text": "s" * 3_601}]}),
        ("INVALID_ARGUMENT", "turns_max", {"lines": [line], "turns_max": 0}),
        ("INVALID_ARGUMENT", "stop[0].n", {"lines": [line], "stop": [{"on": "turn"}]}),
        ("INVALID_ARGUMENT", "luck", {"lines": [line], "luck": "same", "samples": 3}),
        ("INVALID_ARGUMENT", "luck_seed", {"lines": [line], "luck_seed": "3"}),
        ("INVALID_SEED", "luck_seed", {"lines": [line], "luck": "reseed", "luck_seed": "-3"}),
        ("INVALID_ARGUMENT", "keep", {"lines": [line] * 3, "keep": 2}),
        ("INVALID_ARGUMENT", "keep", {"lines": [line], "keep": 257}),
        ("INVALID_ARGUMENT", "keep", {"lines": [line], "keep": 1, "samples": 2}),
        ("INVALID_ARGUMENT", "score", {"lines": [line], "score": ""}),
        ("LIMIT_EXCEEDED", "score", {"lines": [line], "score": "-" * 65_537}),
        ("INVALID_ARGUMENT", "limit", {"lines": [line], "limit": 1_001}),
        ("INVALID_ARGUMENT", "tried", {"tried": "t999"}),
        ("INVALID_ARGUMENT", "lines", {"tried": "t1", "lines": [line]}),
        ("UNKNOWN_MACHINE", None, {"lines": [line], "from": "f999"}),
    ]:
        lab.refused("try_lines", code, field, **arguments)


def histories():
    """The frames of earlier boundaries are those that were shown, over all pages."""
    with Server(PROGRAM, *PATIENT) as server:
        lab = Lab(server, seed=str(SEED), role="samurai")
        shown = [lab("observe", layers=["screen", "status", "messages"])]
        for key in "s:hjklis\x1bnnyy":
            key = "ESC" if key == "\x1b" else key
            shown.append(lab.main("run", keys=[key], force=True, layers=["screen", "status", "messages"]))
        told, at = [], 0
        while at is not None:
            page = lab("history", **{"from": at}, frames=True, limit=5, layers=["screen", "status", "messages"])
            check("a page of frames is as long as its inputs", len(page["frames"]) - len(page["inputs"]) in (0, 1), page)
            told += page["frames"]
            at = page.get("next")
        check("every boundary has its frame", [frame["boundary"] for frame in told] == list(range(len(shown))), told)
        for then, frame in zip(shown, told):
            same = all(frame.get(field) == then.get(field) for field in ["screen", "status", "turn", "pending"])
            check("a frame is what was shown", same, (then, frame))
        check("with its messages", [frame["messages"] for frame in told[1:]] == [then["messages"] for then in shown[1:]], told)
        default = lab("history", **{"from": 0}, frames=True)
        check("ten frames without a limit", len(default["frames"]) == 10 and default["next"] == 10, default)
        one = lab("history", **{"from": 3, "to": 3}, frames=True)
        check("one boundary alone", [frame["boundary"] for frame in one["frames"]] == [3] and one["inputs"] == [], one)
        lab.main("run", text="s:" * 60, force=True)
        told, at, pages, inputs = [], 0, 0, []
        while at is not None:
            page = lab("history", **{"from": at}, frames=True, limit=100, layers=["cells", "inventory", "screen"])
            check("a page is bounded in bytes", len(json.dumps(page)) < 150_000, len(json.dumps(page)))
            told += [frame["boundary"] for frame in page["frames"]]
            inputs += page["inputs"]
            at, pages = page.get("next"), pages + 1
        end = lab("observe")["boundary"]
        check("and nothing is lost over pages", pages > 2 and told == list(range(end + 1)), (pages, told))
        check("nor an input", inputs == lab("history", **{"from": 0}, limit=2000)["inputs"], inputs)
        lab.refused("history", "INVALID_ARGUMENT", "limit", **{"from": 0}, frames=True, limit=101)
        lab.refused("observe", "INVALID_ARGUMENT", "cancel", cancel=True)
        lab.refused("observe", "INVALID_ARGUMENT", "operation", cancel=True, operation="op99")


def cancelled():
    with Server(PROGRAM, *PATIENT) as server:
        lab = Lab(server, seed="11", role="valkyrie")
        lines = [{"text": "20s" * 60}] * 4_000
        call = server.send("tools/call", {"name": "try_lines", "arguments": {"lines": lines, "samples": 8, "force": True}, "_meta": {"progressToken": "c"}})
        began = time.monotonic()
        while server.next_message().get("method") != "notifications/progress":
            pass
        check("others are answered meanwhile", lab("observe")["revision"] == lab.revision)
        server.send("notifications/cancelled", {"requestId": call, "reason": "enough"}, has_id=False)
        # The workers are free again once it has stopped.
        found = lab("try_lines", lines=[{"text": "s"}])
        check("a cancelled call stops", found["total"] == 1 and time.monotonic() - began < 30, found)


def pages():
    """However many items are asked for, an answer is bounded in bytes, and the next pages have the rest."""
    with Server(PROGRAM, *PATIENT) as server:
        lab = Lab(server, seed=str(SEED), role="samurai")
        for _ in range(3):
            lab("fork_create", count=256)
        found, offset = [], 0
        while offset is not None:
            page = lab("fork_list", limit=1024, offset=offset)
            check("a page of forks is bounded in bytes", len(json.dumps(page)) < 120_000, len(json.dumps(page)))
            check("its total is true", page["total"] == 768, page["total"])
            found += [fork["id"] for fork in page["forks"]]
            offset = page.get("next_offset")
        check("all forks are there", found == [f"f{at}" for at in range(1, 769)], found)
        lab("try_lines", lines=[{"text": ":"}] * 1_500)
        found, offset = [], 0
        while offset is not None:
            page = lab("try_lines", tried="t1", limit=1000, offset=offset)
            check("a page of lines is bounded in bytes", len(json.dumps(page)) < 150_000, len(json.dumps(page)))
            found += [line["line"] for line in page["lines"]]
            offset = page.get("next_offset")
        check("all lines are there", found == list(range(1_500)), len(found))
        # Each accepted call gives a new revision, also one that changes nothing.
        before = lab("observe")
        for tool, given in [("seek", {"boundary": before["boundary"]}), ("run", {"text": "y", "turns_max": 1, "stop": []})]:
            given = {**given, "revision": lab("observe")["revision"]}
            first, again = lab(tool, **given), lab(tool, **given)
            check(f"{tool} gives a new revision", first["revision"] > given["revision"], first)
            check.code(f"a duplicate of {tool}", again, "STALE")


for part in [breakpoints, hunger, tries, histories, pages, cancelled]:
    try:
        part()
    except Exception:
        check(part.__name__, False, traceback.format_exc()[-2000:])
check.finish()
