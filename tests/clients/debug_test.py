"""The operator's tools: there only with --allow-debug; looks change nothing; edits are in the journal and replay exactly."""

import json
import os
import subprocess
import sys
import traceback

from harness import Checks, Server, Shapes, scratch

PROGRAM = sys.argv[1]
SEED = os.environ.get("NETHACK_LAB_TEST_SEED", "21")
check = Checks("debug")


class Operator(Server):
    """A server whose every result is held against its schema."""

    def begin(self):
        self.initialize()
        tools = self.request("tools/list")["result"]["tools"]
        self.names = {tool["name"] for tool in tools}
        self.shapes = Shapes({tool["name"]: tool["outputSchema"] for tool in tools})
        return self

    def call(self, tool, **arguments):
        content = super().call(tool, **arguments)
        if tool in self.names:
            faults = self.shapes.faults(tool, content)
            check(f"shape of {tool}'s result", not faults, (arguments, faults))
        return content


def digest(server):
    """What the machine is: where a verified movie of it ends."""
    report = server.call("movie_verify", source="main")
    check("the movie verifies", report["verdict"] == "exact", report)
    return {name: report[name] for name in report if "digest" in name or name in ("play", "state")}


def off_by_default():
    with Operator(PROGRAM) as server:
        server.begin()
        check("no operator's tools", not {"debug_read", "debug_edit"} & server.names, server.names)
        revision = server.call("new_game", seed=SEED)["revision"]
        before = digest(server)
        for tool, arguments in [
            ("debug_read", {"what": "hero"}),
            ("debug_edit", {"revision": revision, "map": True}),
        ]:
            answer = server.answer(server.start_call(tool, **arguments))
            check(f"{tool} is not there", answer.get("error", {}).get("code") == -32602, answer)
        check("nothing happened", (digest(server), server.call("observe")["revision"]) == (before, revision))
        check("info says so", server.call("info")["allow_debug"] is False)
        refused = server.call("new_game", seed=SEED, options="playmode:debug")
        check("no debug mode of the game's own", "error" in refused, refused)


def wrong_calls(server, revision):
    """Each is refused, names what is wrong, and leaves the machine as it was."""
    before = digest(server)
    hero = server.call("debug_read", what="hero")["hero"]
    here = {"row": hero["row"], "column": hero["column"]}
    for what, tool, arguments, code, field in [
        ("no what", "debug_read", {}, "INVALID_ARGUMENT", "what"),
        ("another what", "debug_read", {"what": "gods"}, "INVALID_ARGUMENT", "what"),
        ("a page of the hero", "debug_read", {"what": "hero", "limit": 5}, "INVALID_ARGUMENT", "limit"),
        ("limit 0", "debug_read", {"what": "objects", "limit": 0}, "INVALID_ARGUMENT", "limit"),
        ("limit 501", "debug_read", {"what": "objects", "limit": 501}, "INVALID_ARGUMENT", "limit"),
        ("an offset beyond", "debug_read", {"what": "objects", "offset": 10**9}, "INVALID_ARGUMENT", "offset"),
        ("another machine", "debug_read", {"what": "hero", "machine": "f9"}, "UNKNOWN_MACHINE", None),
        ("no edit", "debug_edit", {"revision": revision}, "INVALID_ARGUMENT", "set"),
        ("two edits", "debug_edit", {"revision": revision, "map": True, "identify": True}, "INVALID_ARGUMENT", "map"),
        ("map false", "debug_edit", {"revision": revision, "map": False}, "INVALID_ARGUMENT", "map"),
        ("no revision", "debug_edit", {"map": True}, "INVALID_ARGUMENT", "revision"),
        ("a stale revision", "debug_edit", {"revision": revision - 1, "map": True}, "STALE", None),
        ("luck 11", "debug_edit", {"revision": revision, "set": {"luck": 11}}, "INVALID_ARGUMENT", "set.luck"),
        ("luck as text", "debug_edit", {"revision": revision, "set": {"luck": "9"}}, "INVALID_ARGUMENT", "set.luck"),
        ("mana", "debug_edit", {"revision": revision, "set": {"mana": 1}}, "INVALID_ARGUMENT", "set.mana"),
        ("an empty set", "debug_edit", {"revision": revision, "set": {}}, "INVALID_ARGUMENT", "set"),
        ("hp over its most", "debug_edit", {"revision": revision, "set": {"hp": 9999}}, "INVALID_ARGUMENT", "set"),
        ("row 22", "debug_edit", {"revision": revision, "hero": {"row": 22, "column": 1}}, "INVALID_ARGUMENT", "hero.row"),
        ("where the hero is", "debug_edit", {"revision": revision, "hero": here}, "INVALID_ARGUMENT", "hero"),
        ("level 99", "debug_edit", {"revision": revision, "level": {"level": 99}}, "INVALID_ARGUMENT", "level.level"),
        ("level 60", "debug_edit", {"revision": revision, "level": {"level": 60}}, "INVALID_ARGUMENT", "level"),
        ("a long wish", "debug_edit", {"revision": revision, "item": {"wish": "x" * 201}}, "INVALID_ARGUMENT", "item.wish"),
        ("no such wish", "debug_edit", {"revision": revision, "item": {"wish": "qqq"}}, "INVALID_ARGUMENT", "item"),
        ("half a place", "debug_edit", {"revision": revision, "item": {"wish": "dart", "row": 3}}, "INVALID_ARGUMENT", "item.column"),
        ("no such monster", "debug_edit", {"revision": revision, "monster": {"kind": "qqq", "row": 3, "column": 3}}, "INVALID_ARGUMENT", "monster"),
        ("an odd mood", "debug_edit", {"revision": revision, "monster": {"kind": "newt", "row": 3, "column": 3, "mood": "odd"}}, "INVALID_ARGUMENT", "monster.mood"),
        ("no such id", "debug_edit", {"revision": revision, "remove": 4294967295}, "INVALID_ARGUMENT", "remove"),
        ("an id too large", "debug_edit", {"revision": revision, "remove": 4294967296}, "INVALID_ARGUMENT", "remove"),
        ("more", "debug_edit", {"revision": revision, "map": True, "more": 1}, "INVALID_ARGUMENT", "more"),
        ("null", "debug_edit", {"revision": revision, "map": None}, "INVALID_ARGUMENT", "map"),
    ]:
        result = server.call(tool, **arguments)
        check.code(what, result, code)
        if field:
            check(f"{what} names {field}", result.get("error", {}).get("field") == field, result)
    check("nothing of it happened", (digest(server), server.call("observe")["revision"]) == (before, revision))


def at_a_prompt(server, revision):
    asked = server.call("press", revision=revision, key="d")
    check("a prompt", asked["pending"]["kind"] == "item", asked)
    refused = server.call("debug_edit", revision=asked["revision"], map=True)
    check.code("an edit at a prompt", refused, "WRONG_PENDING")
    hero = server.call("debug_read", what="hero")
    check("a look at a prompt", hero["revision"] == asked["revision"], hero)
    return server.call("press", revision=asked["revision"], key="ESC")["revision"]


def looks(server):
    before, standing = digest(server), server.call("observe")
    first = {what: server.call("debug_read", what=what) for what in ("hero", "level", "monsters", "objects")}
    again = {what: server.call("debug_read", what=what) for what in ("hero", "level", "monsters", "objects")}
    check("a look is the same again", first == again)
    check("looks change nothing", (digest(server), server.call("observe")) == (before, standing))
    level = first["level"]["level"]
    check("the level's rows", len(level["rows"]) == 21 and all(len(row) == 79 for row in level["rows"]), level)
    known = {line[0] for line in first["level"]["legend"]} | set(" -")
    check("every character is told", set("".join(level["rows"])) <= known, known)
    total, found, offset = first["objects"]["total"], [], 0
    while offset is not None:
        page = server.call("debug_read", what="objects", limit=7, offset=offset)
        found += page["objects"]
        offset = page.get("next")
    check("pages hold all", len(found) == total and len({entry["id"] for entry in found}) == total, total)
    for what, result in first.items():
        check(f"{what} is short", len(json.dumps(result)) < 30_000, len(json.dumps(result)))
    return first


def edits(server, revision):
    def edit(**arguments):
        nonlocal revision
        boundary = server.call("observe")["boundary"]
        result = server.call("debug_edit", revision=revision, **arguments)
        if check(f"{arguments} is made", "error" not in result, result):
            check("its boundary stays", result["boundary"] == boundary and result["revision"] > revision, result)
            revision = result["revision"]
        return result

    result = edit(set={"hp_max": 300, "hp": 250, "gold": 1234, "luck": 7, "prayer_timeout": 0})
    status = result["status"]
    check("the status is true", (status["hp"], status["hp_max"], status["gold"]) == (250, 300, 1234), status)
    check("and the screen", "HP:250(300)" in result["screen"] and "$:1234" in result["screen"], result["screen"])
    check("the edit is told", result["edit"] == "set hp_max 300 hp 250 luck 7 prayer_timeout 0 gold 1234", result)
    hero = server.call("debug_read", what="hero")["hero"]
    check("luck and prayer", (hero["luck"], hero["prayer_timeout"]) == (7, 0), hero)
    result = edit(item={"wish": "3 cursed scrolls of genocide"})
    check("its message", any("scroll" in message["text"] for message in result["messages"]), result)
    objects = server.call("debug_read", what="objects", limit=500)["objects"]
    scrolls = [entry for entry in objects if entry["kind"] == "genocide" and entry["where"] == "inventory"]
    check("the scrolls", scrolls and scrolls[0]["quantity"] == 3 and scrolls[0]["blessing"] == "cursed", scrolls)
    edit(identify=True)
    items = server.call("observe", layers=["inventory"])["inventory"]
    check("identified", any("3 cursed scrolls of genocide" in item["text"] for item in items["items"] if "text" in item)
          if isinstance(items, dict) else any("genocide" in item["text"] for item in items), items)
    edit(map=True)
    result = edit(level={"level": 4})
    check("on level 4", result["status"]["depth"] == 4 and "Dlvl:4" in result["screen"], result["screen"])
    hero = server.call("debug_read", what="hero")["hero"]
    level = server.call("debug_read", what="level")["level"]
    monsters = server.call("debug_read", what="monsters", limit=500)["monsters"]
    objects = server.call("debug_read", what="objects", limit=500)["objects"]
    taken = {(hero["row"], hero["column"])} | {(one["row"], one["column"]) for one in monsters}
    taken |= {(trap["row"], trap["column"]) for trap in level["traps"]}
    taken |= {(one["row"], one["column"]) for one in objects if one["kind"] == "boulder"}
    free = [
        (row + 1, column)
        for row, text in enumerate(level["rows"])
        for column, character in enumerate(text)
        if character == "." and (row + 1, column) not in taken
    ]
    (row, column), (other_row, other_column) = free[0], free[-1]
    edit(monster={"kind": "Woodland-elf", "row": row, "column": column, "mood": "asleep"})
    monsters = server.call("debug_read", what="monsters", limit=500)["monsters"]
    elf = [one for one in monsters if (one["row"], one["column"]) == (row, column)]
    check("the elf sleeps", elf and elf[0]["kind"] == "Woodland-elf" and elf[0]["asleep"], elf)
    edit(remove=elf[0]["id"])
    monsters = server.call("debug_read", what="monsters", limit=500)["monsters"]
    check("the elf is gone", not [one for one in monsters if one["id"] == elf[0]["id"]], monsters)
    edit(item={"wish": "chest", "row": other_row, "column": other_column})
    result = edit(hero={"row": other_row, "column": other_column}, layers=["map", "messages"])
    check("the hero is there", result["map"]["hero"] == {"row": other_row, "column": other_column}, result)
    again = server.call("debug_edit", revision=revision - 1, map=True)
    check.code("an edit on an old revision", again, "STALE")
    page = server.call("history", **{"from": 0, "to": server.call("observe")["boundary"]})
    check("history tells of them", len(page["edits"]) == 9, page.get("edits"))
    return revision


def forks_and_files(server, revision, folder):
    played = server.call("run", revision=revision, text="20s", force=True)
    fork = server.call("fork_create")["forks"][0]
    made = server.call("debug_edit", machine=fork["id"], revision=fork["revision"], set={"luck": -4})
    check("a fork is edited", "error" not in made, made)
    ran = server.call("fork_run", fork=fork["id"], revision=made["revision"], text="5s", force=True)
    check("and goes on", "error" not in ran, ran)
    adopted = server.call("fork_adopt", fork=fork["id"], revision=played["revision"])
    check("and is adopted", "error" not in adopted, adopted)
    digest(server)
    for machine in ("main", "f1"):
        verified = server.call("movie_verify", source=machine)
        check(f"{machine}'s movie", verified["verdict"] == "exact", verified)
        told = verified["edits"] > 0 and f"by hand {verified['edits']} time" in verified["remarks"]
        check(f"{machine}'s edits are told", told, verified)
    exported = server.call("movie_export", source="main", name="edited")
    check("exported", "error" not in exported, exported)
    path = os.path.join(folder, "out", "edited.movie")
    again = subprocess.run([PROGRAM, "movie", "verify", path], capture_output=True, text=True)
    check("and says what an operator did", "an operator changed this game by hand 10 times" in again.stdout, again)
    check("another process finds it exact", again.returncode == 0 and "exact" in again.stdout, again)
    told = subprocess.run([PROGRAM, "movie", "info", path, "--json"], capture_output=True, text=True)
    check("the movie says how many edits it holds", json.loads(told.stdout)["debug_edits"] == 10, told.stdout)
    told = subprocess.run([PROGRAM, "movie", "info", path], capture_output=True, text=True)
    check("and in words", "operator" in told.stdout, told.stdout)
    return adopted["revision"], path


def restarts(folder, end):
    journals = os.path.join(folder, "movies")
    with Operator(PROGRAM, "--movies", journals, "--resume", "latest") as server:
        code = server.process.wait(timeout=60)
        check("no going on without the flag", code != 0, code)
        check("which names it", b"--allow-debug" in server.errors, server.errors)
    with Operator(PROGRAM, "--movies", journals, "--resume", "latest", "--allow-debug") as server:
        server.begin()
        check("with it, as it was", digest(server) == end)
        revision = server.call("observe")["revision"]
        made = server.call("debug_edit", revision=revision, set={"luck": 1})
        check("and edits go on", "error" not in made, made)
        digest(server)
        fork = server.call("fork_create")["forks"][0]
        edited = server.call("debug_edit", machine=fork["id"], revision=fork["revision"], set={"gold": 77})
        check("a fork's too", edited.get("status", {}).get("gold") == 77, edited)
        server.process.kill()
        server.process.wait()
    with Operator(PROGRAM, "--movies", journals, "--resume", "latest", "--allow-debug") as server:
        server.begin()
        again = server.call("observe", machine=fork["id"], layers=["status"])
        check("which a restart finds in the ledger", again.get("status", {}).get("gold") == 77, again)
        verified = server.call("movie_verify", source=fork["id"])
        check("and in the fork's movie", verified.get("verdict") == "exact", verified)


def forks_with_edits_come_back():
    """Main holds no edit, a fork does: without the flag nothing is gone on with and nothing is lost."""
    with scratch() as movies:
        with Operator(PROGRAM, "--allow-debug", "--movies", movies) as server:
            server.begin()
            server.call("new_game", seed=SEED, role="valkyrie", race="human")
            fork = server.call("fork_create")["forks"][0]
            edited = server.call("debug_edit", machine=fork["id"], revision=fork["revision"], set={"luck": 3})
            ran = server.call("fork_run", fork=fork["id"], revision=edited["revision"], text="2s", on_more="dismiss")
            check("a fork is edited and goes on", ran.get("sent") == 2, ran)
            server.process.kill()
            server.process.wait()
        files = lambda: {name: open(os.path.join(movies, name), "rb").read() for name in sorted(os.listdir(movies))}
        before = files()
        for _ in range(2):
            ended = subprocess.run([PROGRAM, "mcp", "--movies", movies, "--resume", "latest"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            check("no going on without the flag", ended.returncode not in (0, -9) and ended.stdout == b"", ended)
            check("which names the file and the flag", b".ledger" in ended.stderr and b"--allow-debug" in ended.stderr, ended.stderr)
            check("and loses nothing", files() == before)
        with Operator(PROGRAM, "--allow-debug", "--movies", movies, "--resume", "latest") as server:
            server.begin()
            back = server.call("observe", machine=fork["id"])
            check("with it the fork is as it was", (back.get("boundary"), back.get("screen")) == (ran["boundary"], ran["screen"]), back)
            check("edits and all", server.call("debug_read", machine=fork["id"], what="hero")["hero"]["luck"] == 3)
            movie = server.call("movie_verify", source=fork["id"])
            check("its movie verifies", movie["verdict"] == "exact", movie)


def log_of(server, machine="main"):
    look = server.call("observe", machine=machine, layers=["messages"], after_message_id=0, limit=2000)
    return [(one["id"], one["text"]) for one in look["messages"]], look.get("messages_truncated")


def what_edits_say_is_in_the_log():
    """Whoever replays a line has its messages as the one who played it."""
    with scratch() as folder:
        options = ["--allow-debug", "--movies", os.path.join(folder, "movies"), "--out-dir", os.path.join(folder, "out")]
        with Operator(PROGRAM, *options) as server:
            server.begin()
            revision = server.call("new_game", seed=SEED, role="valkyrie", race="human")["revision"]
            for text, wish in (("::", "dart"), (":", "apple"), ("::", None)):
                revision = server.call("run", revision=revision, text=text, on_more="dismiss")["revision"]
                for one in (wish, f"2 {wish}s") if wish else ():
                    made = server.call("debug_edit", revision=revision, item={"wish": one})
                    check("an edit that says something", made.get("messages"), made)
                    revision = made["revision"]
            live, boundary = log_of(server), server.call("observe")["boundary"]
            check("the live log is whole", len(live[0]) >= 9 and not live[1], live)
            ids = [one for one, _ in live[0]]
            check("and has no gap", ids == list(range(1, len(ids) + 1)), ids)
            now = server.call("fork_create")["forks"][0]["id"]
            early = server.call("fork_create", boundary=boundary - 1)["forks"][0]["id"]
            before = log_of(server, early)
            check("a fork at an earlier boundary", before[0] == live[0][: len(before[0])] and len(before[0]) >= 8 and not before[1], before)
            server.process.kill()
            server.process.wait()
        with Operator(PROGRAM, *options, "--resume", "latest") as server:
            server.begin()
            check("the log after a restart", log_of(server) == live, (log_of(server), live))
            check("a fork's", log_of(server, now) == live, (log_of(server, now), live))
            check("an earlier fork's", log_of(server, early) == before, (log_of(server, early), before))
            server.call("movie_export", name="told")
            server.call("quit_game")
            opened = server.call("movie_open", name="told")
            check("a movie's", log_of(server) == live, (log_of(server), live))
            server.call("seek", revision=opened["revision"], boundary=boundary - 1)
            check("after a seek", log_of(server) == before, (log_of(server), before))


def edits_come_in_pages():
    with Operator(PROGRAM, "--allow-debug") as server:
        server.begin()
        legacy = server.call("new_game", seed=SEED, role="valkyrie", options="legacy")
        read = server.call("debug_read", what="hero")
        if legacy["pending"]["kind"] != "command" and "error" in read:
            check("there is nothing to read yet, which is no edit", "edit" not in read["error"]["message"], read)
        server.call("quit_game")
        revision = server.call("new_game", seed=SEED, role="valkyrie", race="human")["revision"]
        made = []

        def edit(count):
            nonlocal revision
            for _ in range(count):
                result = server.call("debug_edit", revision=revision, set={"luck": len(made) % 9, "gold": len(made)}, layers=["pending"])
                made.append((result["boundary"], result["edit"]))
                revision = result["revision"]

        edit(400)
        revision = server.call("run", revision=revision, text="s", on_more="dismiss")["revision"]
        edit(3)
        found, at, pages = [], None, 0
        while True:
            page = server.call("history", **{"from": 0}, **({} if at is None else {"edits_from": at}))
            check("a page is small", len(json.dumps(page)) < 30_000, len(json.dumps(page)))
            found += [(one["at"], one["edit"]) for one in page["edits"]]
            at, pages = page.get("edits_next"), pages + 1
            if at is None or pages > 100:
                break
        check("all edits in their order", found == made and pages > 1, (len(found), len(made), pages))
        for wrong in (len(made) + 1, -1, "x"):
            refused = server.call("history", **{"from": 0}, edits_from=wrong)
            check("out of bounds", refused.get("error", {}).get("field") == "edits_from", refused)
        last = server.call("history", **{"from": 0}, edits_from=len(made))
        check("beyond the last there are none", "edits" not in last and "edits_next" not in last, last)


def own_debug_mode():
    with Operator(PROGRAM, "--allow-debug", "--seed", SEED) as server:
        server.begin()
        check("a plain game all the same", "wizard" not in server.call("info")["power_on"]["options"])
        pressed = server.call("press", revision=server.call("observe")["revision"], key="CTRL_V")
        check("no level teleport", "To what level" not in pressed["screen"], pressed["screen"])
    options = ["--allow-debug", "--seed", SEED, "--options", "playmode:debug"]
    with Operator(PROGRAM, *options) as server:
        server.begin()
        pressed = server.call("press", revision=server.call("observe")["revision"], key="CTRL_V")
        check("NetHack's own debug mode", "To what level" in pressed["screen"], pressed["screen"])
        check("its record says so", "playmode:debug" in server.call("info")["power_on"]["options"])


def all_of_it():
    with scratch() as folder:
        movies, out = os.path.join(folder, "movies"), os.path.join(folder, "out")
        with Operator(PROGRAM, "--allow-debug", "--movies", movies, "--out-dir", out) as server:
            server.begin()
            check("the operator's tools", {"debug_read", "debug_edit"} <= server.names, server.names)
            check("info says so", server.call("info")["allow_debug"] is True)
            check.code("no game", server.call("debug_read", what="hero"), "NO_GAME")
            game = server.call("new_game", seed=SEED, role="valkyrie", race="human")
            revision = server.call("press", revision=game["revision"], key="ESC")["revision"]
            wrong_calls(server, revision)
            revision = at_a_prompt(server, revision)
            looks(server)
            revision = edits(server, revision)
            revision, _ = forks_and_files(server, revision, folder)
            looks(server)
            end = digest(server)
            check("the server ends well", server.close() == 0, server.errors)
        restarts(folder, end)


for part in (off_by_default, own_debug_mode, forks_with_edits_come_back, what_edits_say_is_in_the_log, edits_come_in_pages, all_of_it):
    try:
        part()
    except Exception:
        check(part.__name__, False, traceback.format_exc())
check.finish()
