"""Scripts through the real server: hostile ones end in time and change nothing; the examples of lua/ are of use."""

import glob
import os
import re
import sys
import time

from harness import Checks, Server, Shapes, children, is_alive, scratch, wait_until

PROGRAM = sys.argv[1]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPT_S = 2.0  # of CPU time: how long that takes is a matter of what else runs
MEMORY_KIB = 400 << 10
check = Checks("lua")

LOOP = "while true do end"
# The ten kinds of hostile script, each with its variants: what may come of them is a limit, an error, or this value.
HOSTILE = {
    "1 a loop": [LOOP, f"coroutine.wrap(function() {LOOP} end)()"],
    "1 a loop in a coroutine of a coroutine": [
        f"coroutine.wrap(function() coroutine.wrap(function() {LOOP} end)() end)()",
        f"while true do coroutine.resume(coroutine.create(function() {LOOP} end)) end",
    ],
    "2 errors swallowed": [
        f"while true do pcall(function() {LOOP} end) end",
        f"while true do xpcall(function() {LOOP} end, function() end) end",
    ],
    "3 handlers that loop": [
        f"xpcall(error, function() {LOOP} end)",
        f"xpcall(function() {LOOP} end, function() {LOOP} end) return 1",
    ],
    "4 patterns": [
        "return (('a'):rep(30)):find(('.-'):rep(15) .. 'b')",
        "return (('a'):rep(30)):match(('a*'):rep(30) .. 'b')",
        f"return (('a'):rep(30)):gsub('a', function() {LOOP} end)",
        "return (('a'):rep(8000000)):find(('a'):rep(4000000) .. 'b', 1, true)",
    ],
    "5 much text": [
        "return ('x'):rep(1024):rep(1000000)",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end",
        "return buffer.create(1000000000)",
    ],
    "6 much in one call": [
        "return table.move({1}, 1, 1000000000, 1, {})",
        f"table.sort({{3, 1, 2, 5}}, function() {LOOP} end)",
        "local n = 0 table.sort(table.create(100000, 1), function() n += 1 return n % 2 == 0 end) " + LOOP,
        "local t = table.create(1000000, 1) while true do table.insert(t, 1, 1) end",
    ],
    "7 recursion": [
        "local function f() return 1 + f() end return f()",
        "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k .. 'x'] end return t.x",
        "local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) return tostring(t)",
        "local t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. t",
    ],
    "8 the host": [
        "getmetatable('').__index = {}", "getmetatable('').x = 1", "setmetatable('', {})", "string.format = nil",
        "setmetatable(_G, {})", "_G.print = nil", "loadstring('return 1')()", "load('return 1')()", "require('os')",
        "return os.time()", "return io.open('x')", "return debug.info(1, 'f')", "return collectgarbage('count')",
        "return newproxy(true)", "return getfenv(print)", "setfenv(1, {})", "return math.random()", "dofile('x')",
        "nh.press('h')", "nh.lab.press('h')",
    ],
    "10 values": [
        "local t = {} t.t = t return t", "return print", "local t = {} for i = 1, 1000000 do t[i] = i end return t",
        "return 0/0", "return {1/0}", "return nh", "return {[{}] = 1}", "return 1, 2",
    ],
}
HARMLESS = {
    "return (''):rep(1000000000)": "",
    "return type(getmetatable(''))": "table",
    "return '\\255\\xc3'": "\\xff\\xc3",
    "return getmetatable(_G)": None,
}


class Lab(Server):
    """A server with calls whose results are held against the listed schemas."""

    def begin(self, before_the_game=lambda: None):
        self.initialize()
        before_the_game()
        listed = self.request("tools/list")["result"]["tools"]
        self.shapes = Shapes({tool["name"]: tool["outputSchema"] for tool in listed})
        return self.checked("new_game", seed="11", role="valkyrie")

    def checked(self, tool, **arguments):
        content = self.call(tool, **arguments)
        faults = self.shapes.faults(tool, content)
        if faults:
            check(f"shape of {tool}'s result", False, (arguments, faults))
        return content

    def lua(self, source, **arguments):
        return self.checked("lua_eval", source=source, **arguments)

    def digest(self, machine="main"):
        """The machine's movie, which ends with the digest of its image."""
        movie = self.checked("movie_export", source=machine, inline=True)
        return movie.get("sha256") or movie


def script_processes(server):
    def is_script(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return file.read().split(b"\0")[1:2] == [b"script"]
        except OSError:
            return False

    return [pid for pid in children(server.process.pid) if is_script(pid)]


def script_cpu_s(server):
    """The CPU time of a server's script processes, those that have ended included."""
    def seconds(pid, first):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(map(int, fields[first : first + 2])) / os.sysconf("SC_CLK_TCK")

    return seconds(server.process.pid, 13) + sum(seconds(pid, 11) for pid in script_processes(server))


def peak_kib(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))
    except (OSError, AttributeError):
        return 0


def typed(text):
    return ["ENTER" if key == "\n" else key for key in text]


def play(server, keys, revision):
    report = server.checked("run", text=keys, revision=revision, force=True)
    return report["revision"]


def test_hostile(server):
    before, standing = server.digest(), server.checked("observe")
    peak = 0
    server.lua("1")
    for name, sources in HOSTILE.items():
        for source in sources:
            start, used = time.monotonic(), script_cpu_s(server)
            asked = server.start_call("lua_eval", source=source)
            # Other calls are answered meanwhile.
            look = server.call("observe", layers=[])
            waited = time.monotonic() - start
            peak = max([peak, *map(peak_kib, script_processes(server))])
            answer = server.answer(asked)
            took = script_cpu_s(server) - used
            error = answer["result"]["structuredContent"].get("error", {})
            check.code(f"{name}: {source}", {"error": error}, "SCRIPT_FAILED")
            check(f"{name}: {source} ends in time", took < SCRIPT_S, took)
            check(f"{name}: {source} keeps nobody waiting", waited < SCRIPT_S and look["revision"] == standing["revision"], waited)
            check(f"{name}: no address is told", "0x" not in str(error), error)
            peak = max([peak, *map(peak_kib, script_processes(server))])
    for source, value in HARMLESS.items():
        found = server.lua(source)
        check(f"{source} is harmless", "error" not in found and found.get("value") == value, found)
    check("the memory of script processes is bounded", 0 < peak < MEMORY_KIB, peak)
    check("at most two processes are kept", wait_until(lambda: len(script_processes(server)) <= 2, 10), script_processes(server))
    check("the machine is what it was", server.digest() == before)
    after = server.checked("observe")
    check("nothing that observe shows has changed", after == standing, (standing, after))


def test_writes(server):
    read = (
        "return {nh.status.hp, #nh.screen, nh.hero.row, type(nh.new), type(nh.at), type(mine), type(print), "
        "nh.frames(2)[1].turn, #nh.messages, #nh.inventory}"
    )
    write = (
        "nh.status.hp = 999 nh.screen = nil nh.hero.row = 0 nh.new = {1} nh.at = nil mine = 1 print = nil "
        "nh.frames(2)[1].turn = -5 table.clear(nh.inventory) return {nh.status.hp, nh.frames(2)[1].turn}"
    )
    digest, before = server.digest(), server.lua(read)
    written = server.lua(write)
    check("a script may write into its own copies", written.get("value") == [999, -5], written)
    check("9 nothing that was written stays", server.lua(read) == before and "value" in before, before)
    check("9 the machine is what it was", server.digest() == digest)


def test_answers(server, revision):
    told = server.lua("print('a', {}) return {hp = nh.status.hp, boundary = nh.boundary, kind = nh.pending.kind}")
    seen = server.checked("observe", layers=["status", "screen", "inventory", "map", "pending", "messages"])
    check("the value is there", told["value"] == {"hp": seen["status"]["hp"], "boundary": seen["boundary"], "kind": "command"}, told)
    check("what was printed is there", told["printed"] == "a\ttable\n", told)
    check("the machine's standing is there", told["revision"] == revision and told["machine"] == "main", told)
    same = {"return nh.inventory": seen["inventory"], "return nh.map": seen["map"], "return nh.status": seen["status"]}
    for source, value in same.items():
        check(f"{source} is what observe shows", server.lua(source)["value"] == value, source)
    rows = server.lua("return table.concat(nh.screen, '\\n')")["value"].rstrip()
    check("the screen is what observe shows", rows == seen["screen"], rows)
    log = server.lua("return nh.message_log(1000)")["value"]
    every = server.checked("observe", layers=["messages"], after_message_id=0, limit=1000)["messages"]
    check("the message log is what observe shows", log == every and log, (log[-2:], every[-2:]))
    frames = server.lua("local t = {} for _, f in nh.frames(40) do t[#t + 1] = {f.boundary, f.turn, f.screen[24]} end return t")
    frames = frames["value"]
    check("as many frames as asked for", [frame[0] for frame in frames] == list(range(seen["boundary"] - 39, seen["boundary"] + 1)), frames[:2])
    there = server.checked("history", **{"from": frames[3][0], "limit": 1, "layers": ["screen"]})["frame"]
    check("an earlier frame is history's", there["turn"] == frames[3][1] and there["screen"].endswith(frames[3][2]), there)
    big = server.lua("local t = {} for i = 1, 9000 do t[i] = 'x' .. i end return t")
    check("a large value is cut and says so", big.get("truncated") and 1_000 < len(big["value"]) < 9_000, len(big.get("value", [])))
    loud = server.lua("for i = 1, 100000 do print('0123456789') end return 7")
    check("10 much that is printed is cut", loud["value"] == 7 and loud["truncated"] and len(loud["printed"]) < 30_000)
    line = server.lua("local x = 1\n\nreturn x.y.z")["error"]
    check("an error names its line", (line["code"], line["kind"], line["line"]) == ("SCRIPT_FAILED", "runtime", 3), line)
    check("and where the machine stands", line["revision"] == revision, line)
    syntax = server.lua("return )")["error"]
    check("so does a text that is none", (syntax["kind"], syntax["line"]) == ("syntax", 1), syntax)
    for arguments, code in [
        ({"source": "x" * 65_537}, "LIMIT_EXCEEDED"),
        ({"source": "1", "machine": "f9"}, "UNKNOWN_MACHINE"),
        ({"source": 1}, "INVALID_ARGUMENT"),
        ({}, "INVALID_ARGUMENT"),
        ({"source": "1", "limits": {}}, "INVALID_ARGUMENT"),
    ]:
        check.code(f"{list(arguments)}", server.call("lua_eval", **arguments), code)


def test_prompts(server, revision):
    """Asking a machine that waits for text sends nothing into it."""
    for keys, kind in [("#name\nb", None), ("C", None), ("i", "menu"), ("Q", None), ("r", None), (";", "position")]:
        fork = server.checked("fork_create")["forks"][0]
        fork = server.checked("fork_run", fork=fork["id"], revision=fork["revision"], keys=typed(keys), force=True)
        name, digest = fork["machine"], server.digest(fork["machine"])
        told = server.lua("return {nh.pending.kind, nh.map.covered or false, #nh.inventory}", machine=name)
        waits = fork["pending"]["kind"]
        check(f"at {keys!r} the prompt is seen", told["value"][0] == waits and kind in (None, waits), (told, waits))
        after = server.checked("observe", machine=name)
        check(f"at {keys!r} nothing was sent", after["revision"] == fork["revision"] and server.digest(name) == digest)
        server.checked("fork_delete", fork=name)
    check("main has not moved", server.checked("observe")["revision"] == revision)


def test_examples(server):
    results = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "lua", "*.lua"))):
        with open(path) as file:
            source = file.read()
        name = os.path.basename(path)[: -len(".lua")]
        told = server.lua(source)
        check(f"{name} runs", "error" not in told and not told.get("truncated"), told)
        results[name] = told.get("value")
    seen = server.checked("observe", layers=["status", "inventory", "map", "messages"])
    check("there are five examples", len(results) == 5, list(results))
    letters = {item["letter"] for items in results["inventory_by_class"].values() for item in items}
    check("inventory_by_class has all things", letters == {item["letter"] for item in seen["inventory"]}, letters)
    weapons = results["inventory_by_class"]["weapon"]
    check("and knows what is wielded", [item["use"] for item in weapons if "use" in item] and weapons[0]["count"] == 1, weapons)
    trend = results["hp_trend"]
    check("hp_trend ends where the hero is", trend["hp"] == seen["status"]["hp"] and trend["least"] <= trend["hp"], trend)
    exits = results["unexplored_exits"]
    check("unexplored_exits finds some, nearest first", exits and [e.get("steps", 1e9) for e in exits] == sorted(e.get("steps", 1e9) for e in exits), exits)
    threats = results["threat_map"]
    check("threat_map has a list", isinstance(threats["threats"], list) and 0 < threats["hp_part"] <= 1, threats)
    with open(os.path.join(ROOT, "lua", "message_search.lua")) as file:
        source = file.read()
    every = server.checked("observe", layers=["messages"], after_message_id=0, limit=1000)["messages"]
    wanted = every[0]["text"]
    pattern = re.sub(r"[^a-z ]", ".", wanted.lower())
    found = server.lua(f'PATTERN = "{pattern}"\n' + source)["value"]
    check("message_search finds", wanted in [hit["text"] for hit in found["found"]], (wanted, found))


# Maps as pictures: what the exits are, by their marks, from the hero's place `@` on. `+` is a door that is closed, `;` one
# without a door, `d` the pet, `f` an unknown monster, `0` a boulder, `(` a thing.
KINDS = {
    "@": "hero", "#": "corridor", ".": "floor", "+": "closed_door", ";": "doorway", "|": "wall", "-": "wall",
    "<": "stairs_up", "d": "pet", "f": "monster", "0": "boulder", "(": "object",
}  # fmt: skip
MAPS = {
    "a corridor under the nose of a hero in a doorway": ("---\n|.@#\n---", [(1, 3, "corridor", 1)]),
    "a doorway under the hero": ("---\n|.@\n---", [(1, 2, "doorway", 0)]),
    "and one seen from afar": ("----\n|@.;\n----", [(1, 3, "doorway", 2)]),
    "a doorway with a pet in it": ("----\n|@.d\n----", [(1, 3, "pet", 2)]),
    "a doorway that has been gone through": ("  ----\n##;.@|\n  ----", [(1, 0, "corridor", 4)]),
    "a room without a way out": ("----\n|@.|\n----", []),
    "the ends of a corridor": ("#@##", [(0, 0, "corridor", 1), (0, 3, "corridor", 2)]),
    "bends end nowhere": ("##  \n ## \n  ##\n   @", [(0, 0, "corridor", 3), (3, 3, "corridor", 0)]),
    "a branch": ("@###\n  # ", [(0, 0, "corridor", 0), (0, 3, "corridor", 3), (1, 2, "corridor", 2)]),
    "a broad corridor has no ends": ("##\n#@", []),
    "a dark room": ("...\n.@.\n...", [(0, 0, "floor", 1)]),
    "two dark stretches": ("-----\n.|@|.\n. . .\n-----", [(1, 0, "floor", None), (1, 4, "floor", None), (2, 2, "floor", 1)]),
    "a closed door, and stairs": ("-+--\n|@<|\n----", [(0, 1, "closed_door", 1), (1, 2, "stairs_up", 1)]),
    "a boulder in a corridor": ("@#0", [(0, 0, "corridor", 0), (0, 2, "boulder", 2)]),
    "a thing at the end of a corridor": ("@#(", [(0, 0, "corridor", 0), (0, 2, "object", 2)]),
}  # fmt: skip


def on_picture(picture):
    """Has a script see a picture, whose upper left corner is at row 5, column 10."""
    cells, hero = [], None
    for row, line in enumerate(picture.split("\n"), 5):
        for column, mark in enumerate(line, 10):
            if mark != " ":
                cells.append(f'{{row = {row}, column = {column}, kind = "{KINDS[mark]}"}}')
            if mark == "@":
                hero = f"{{row = {row}, column = {column}}}"
    return f"nh.hero = {hero} nh.cells = function() return {{{', '.join(cells)}}} end\n"


def test_exits(program):
    """Ways that lead on, on pictures of maps and on real ones."""
    with open(os.path.join(ROOT, "lua", "unexplored_exits.lua")) as file:
        source = file.read()
    with Lab(program) as server:
        server.begin()
        for name, (picture, expected) in MAPS.items():
            found = server.lua(on_picture(picture) + source)
            exits = [(e["row"] - 5, e["column"] - 10, e["kind"], e.get("steps")) for e in found.get("value", [])]
            check(f"exits: {name}", sorted(exits, key=str) == sorted(expected, key=str), (exits, found.get("error")))
            here = [e.get("here", False) for e in found.get("value", [])]
            check(f"exits: {name}, the hero's own", here == [steps == 0 for *_, steps in exits], found)
    for seed, role, gain in (("2", "valkyrie", 8), ("11", "valkyrie", 31), ("5", "wizard", 31)):
        with Lab(program) as server:
            server.initialize()
            server.shapes = Shapes({tool["name"]: tool["outputSchema"] for tool in server.request("tools/list")["result"]["tools"]})
            explore(server, source, server.checked("new_game", seed=seed, role=role, options="!autopickup"), f"{role} {seed}", gain)


def explore(server, source, state, name, gain):
    """Goes to the nearest exit again and again: so many more cells of the level must be known after it."""
    seen = "local n = 0 for _, c in nh.cells() do if c.kind then n += 1 end end return n"
    first, corridors, tried = server.lua(seen)["value"], 0, []
    for _ in range(25):
        while state["pending"]["kind"] != "command":
            state = server.checked("press", key="ESC", revision=state["revision"])
        exits = server.lua(source)["value"]
        beside = server.lua(
            "local n = 0 for r = -1, 1 do for c = -1, 1 do local x = nh.at(nh.hero.row + r, nh.hero.column + c) "
            "if x and x.kind == 'corridor' then n += 1 end end end return n"
        )["value"]
        corridors += beside > 0
        check(f"{name}: a corridor beside the hero leads somewhere", exits or not beside, exits)
        # Doors that are closed are for somebody who kicks; a way that is interrupted is gone on with, but not for ever.
        ahead = [e for e in exits if e.get("steps") and e["kind"] != "closed_door" and not e["kind"].startswith("stairs")]
        ahead = [e for e in ahead if tried.count((e["row"], e["column"])) < 3]
        if not ahead:
            state = server.checked("run", revision=state["revision"], text="9s", on_more="dismiss")
            continue
        state = server.checked("press", key="_", revision=state["revision"])
        while state["pending"]["kind"] in ("more", "choice", "menu"):
            state = server.checked("press", key="ESC" if state["pending"]["kind"] == "menu" else ".", revision=state["revision"], force=True)
        if state["pending"]["kind"] == "position":
            place = {"row": ahead[0]["row"], "column": ahead[0]["column"]}
            tried.append((place["row"], place["column"]))
            state = server.checked("respond", revision=state["revision"], position=place)
    last = server.lua(seen)["value"]
    check(f"{name}: the level gets known", last >= first + gain and corridors, (first, last, corridors))


def test_names(server):
    """Scripts have the words that `cells` has, and so have scores and threats."""
    every, offset = [], 0
    while offset is not None:
        page = server.checked("observe", layers=["cells"], limit=2000, offset=offset)["cells"]
        every += page["items"]
        offset = page.get("next_offset")
    words = {(c["row"], c["column"]): c["description"] for c in every if "description" in c}
    told = server.lua("local t = {} for _, c in nh.cells() do if c.description and c.char ~= ' ' then t[#t + 1] = {c.row, c.column, c.description} end end return t")
    found = {(row, column): text for row, column, text in told["value"]}
    check("nh.cells has the words of cells", found == words and len(words) > 20, (found.items() ^ words.items()))
    (row, column), text = next((place, text) for place, text in words.items() if text.startswith("you ("))
    check("so has nh.at", server.lua(f"nh.at({row}, {column}).description")["value"] == text, text)
    score = f'nh.at(nh.hero.row, nh.hero.column).description == "{text}"'
    lines = server.checked("try_lines", lines=[{"text": "s"}, {"text": "2s"}], score=score)
    check("and a score", [line.get("score") for line in lines["lines"]] == [1, 1], lines)


def test_many_at_once(program):
    """Many scripts, some hanging: all are answered, and with the server all its processes end."""
    with Lab(program) as server:
        server.begin()
        calls = [server.start_call("lua_eval", source=source) for source in [LOOP, "nh.turn"] * 6]
        answers = [server.answer(call)["result"]["structuredContent"] for call in calls]
        check("each has its own answer", [("error" in answer) for answer in answers] == [True, False] * 6, answers)
        slow = server.start_call("lua_eval", source="return (('a'):rep(8000000)):find(('a'):rep(4000000) .. 'b', 1, true)")
        check("a process runs it", wait_until(lambda: script_processes(server), 10))
        left = script_processes(server)
        server.process.kill()
        server.process.wait()
        check("killed, it leaves no orphan", left and wait_until(lambda: not any(map(is_alive, left)), 10), left)
        del slow
    with Lab(program) as server:
        server.begin()
        server.lua("1")
        left = script_processes(server)
        check("it ends well", server.close() == 0)
        check("ended, it leaves no orphan", left and wait_until(lambda: not any(map(is_alive, left)), 10), left)


def test_over(program):
    """A game that has ended can be looked at, and there is nothing to look at before there is one."""
    with Lab(program) as server:
        game = server.begin(lambda: check.code("without a game", server.call("lua_eval", source="1"), "NO_GAME"))
        report = server.checked("run", revision=game["revision"], keys=typed("#quit\ny") + ["ESC"] * 9, force=True)
        over = server.lua("return nh.ended")
        check("an end is seen", report["state"] == "ended" and over.get("value", {}).get("kind") == "quit", (report, over))
        check("and what led to it", server.lua("nh.frames(200)[1].pending.kind").get("value") == "command")


def main():
    with scratch() as directory, Lab(PROGRAM, "--movies", directory) as server:
        game = server.begin()
        revision = play(server, "20s", game["revision"])
        revision = play(server, "hjklyubn" * 12 + "10s", revision)
        while server.checked("observe", layers=[])["pending"]["kind"] != "command":
            revision = server.checked("press", key="ESC", revision=revision)["revision"]
        test_answers(server, revision)
        test_examples(server)
        test_names(server)
        test_writes(server)
        test_prompts(server, revision)
        test_hostile(server)
        check("nothing but the protocol was written", not server.noise, server.noise)
        check("no call failed inside", b"internal error" not in server.errors, server.errors[-500:])
    test_exits(PROGRAM)
    test_many_at_once(PROGRAM)
    test_over(PROGRAM)
    check.finish()


main()
