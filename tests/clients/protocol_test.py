"""The protocol itself, by bare lines: what is malformed, too long, out of order, at once, cut off or killed."""

import json
import os
import sys
import traceback

from harness import Checks, Server, children, is_alive, scratch, structured, wait_until

PROGRAM = sys.argv[1]
check = Checks("protocol")


def versions():
    for asked, answered in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
    ]:
        with Server(PROGRAM) as server:
            check(f"version {asked}", server.initialize(asked)["protocolVersion"] == answered)
    with Server(PROGRAM) as server:
        result = server.initialize("1999-01-01")
        check("an unknown version is not echoed", result["protocolVersion"].startswith("202"), result)
        check("the server has its name", result["serverInfo"]["name"] == "nethack-lab", result)
        check("instructions", "revision" in result["instructions"], result)
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    }
    with Server(PROGRAM) as server:
        listed = server.request("tools/list", {"_meta": meta})
        check("2026-07-28 without a handshake", len(listed["result"]["tools"]) >= 16, listed)
        game = server.request("tools/call", {"name": "info", "arguments": {}, "_meta": meta})
        check("its calls", structured(game).get("nethack_version") == "3.6.7", game)
        wrong = {**meta, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        refused = server.request("tools/list", {"_meta": wrong})
        check("an unsupported version by request", refused["error"]["code"] == -32022, refused)


def ends():
    with Server(PROGRAM) as server:
        check("stdin at EOF", server.close() == 0, server.errors)
        check("nothing on stdout", server.next_message() is None)
    with Server(PROGRAM) as server:
        server.initialize()
        server.call("new_game", seed="1")
        workers = children(server.process.pid)
        check("there are workers", workers)
        pending = server.start_call("observe")
        check("a call at EOF is answered", "screen" in structured(server.answer(pending)))
        check("EOF ends the server", server.close() == 0, server.errors)
        check("and its workers", wait_until(lambda: not any(map(is_alive, workers)), 5), workers)
    with Server(PROGRAM) as server:
        server.initialize()
        revision = server.call("new_game", seed="2")["revision"]
        server.start_call("run", revision=revision, text="s" * 3600, force=True)
        check("EOF in a long call", server.close(20) == 0, server.errors)


def malformed_lines():
    with Server(PROGRAM) as server:
        early = server.request("tools/list")
        check("a request before the handshake", "error" in early, early)
        server.initialize()
        server.send_bytes(b"garbage\n")
        check("garbage", server.next_message()["error"]["code"] == -32700)
        server.send_bytes(b"\xff\xfe\x00\n\n   \n")
        check("bytes that are no text", server.next_message()["error"]["code"] == -32700)
        server.send_bytes(b'[1, 2]\n')
        check("no object", server.next_message()["error"]["code"] == -32600)
        server.send_bytes(b'{"jsonrpc":"2.0","id":700,"method":"tools/call"}\n')
        check("a call without parameters", "error" in server.answer(700))
        unknown = server.request("no/such/method")
        check("an unknown method", unknown["error"]["code"] == -32601, unknown)
        long = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "info", "arguments": {"x": "y" * (2 << 20)}}}
        server.send_bytes(json.dumps({**long, "id": 800}).encode() + b"\n")
        check("a line of 2 MiB", server.answer(800)["error"]["code"] == -32600)
        server.send_bytes(b"z" * (3 << 20) + b"\n")
        check("3 MiB of nothing", server.next_message()["error"]["code"] == -32600)
        fits = server.call("run", revision=1, text="s" * 900_000)
        check.code("a line of 0.9 MB goes through, its keys don't", fits, "LIMIT_EXCEEDED")
        check("the server goes on", server.call("info").get("nethack_version") == "3.6.7")
        check("ping", server.request("ping").get("result") == {})
        server.send_bytes(b'{"jsonrpc":"2.0","method":"notifications/unheard_of"}\n')
        server.send_bytes(b'{"jsonrpc":"2.0","id":9999,"result":{}}\n')
        check("what nobody asked for", server.call("info").get("nethack_version") == "3.6.7")
        server.send_bytes(b'{"jsonrpc":"2.0","id":900,"method":"too')
        check("half a line at the end", server.close() == 0)
        check("stdout is clean", server.next_message() is None and not server.noise, server.noise)


def arguments():
    with Server(PROGRAM) as server:
        server.initialize()
        revision = server.call("new_game", seed="3", role="valkyrie")["revision"]
        before = server.call("observe")
        for tool, given, code, word in [
            ("info", {"verbose": True}, "INVALID_ARGUMENT", "verbose"),
            ("quit_game", {"really": True}, "INVALID_ARGUMENT", "really"),
            ("quit_game", {"revision": revision - 1}, "STALE", str(revision)),
            ("quit_game", {"revision": revision + 1}, "STALE", str(revision)),
            ("quit_game", {"revision": "x"}, "INVALID_ARGUMENT", "an integer from 0"),
            ("press", {"key": "s"}, "INVALID_ARGUMENT", "revision"),
            ("press", {"revision": revision}, "INVALID_ARGUMENT", "key"),
            ("press", {"revision": str(revision), "key": "s"}, "INVALID_ARGUMENT", "revision"),
            ("press", {"revision": float(revision), "key": "s"}, "INVALID_ARGUMENT", "revision"),
            ("press", {"revision": -1, "key": "s"}, "INVALID_ARGUMENT", "-1"),
            ("press", {"revision": None, "key": "s"}, "INVALID_ARGUMENT", "null"),
            ("press", {"revision": revision, "key": "s", "fast": 1}, "INVALID_ARGUMENT", "fast"),
            ("press", {"revision": revision, "key": "enter"}, "INVALID_KEY", "enter"),
            ("press", {"revision": revision, "key": "s", "machine": "f1"}, "UNKNOWN_MACHINE", "f1"),
            ("press", {"revision": revision, "key": "s", "layers": ["smell"]}, "INVALID_ARGUMENT", "layers"),
            ("run", {"revision": revision, "text": "s", "keys": ["s"]}, "INVALID_ARGUMENT", "exactly one"),
            ("run", {"revision": revision, "text": "s" * 3601}, "LIMIT_EXCEEDED", "3600"),
            ("run", {"revision": revision, "keys": ["s", "no"]}, "INVALID_KEY", "no"),
            ("run", {"revision": revision, "text": "s", "turns_max": 0}, "INVALID_ARGUMENT", "turns_max"),
            ("observe", {"rectangle": {"top": 0, "left": 0, "bottom": 24, "right": 3}}, "INVALID_ARGUMENT", "24"),
            ("observe", {"limit": 2001}, "INVALID_ARGUMENT", "2001"),
            ("observe", {"wait_ms": 60001}, "INVALID_ARGUMENT", "60001"),
            ("observe", {"operation": "op7"}, "INVALID_ARGUMENT", "op7"),
            ("history", {"from": 5}, "INVALID_ARGUMENT", "from"),
            ("select_menu", {"revision": revision, "selections": []}, "WRONG_PENDING", "press"),
            ("respond", {"revision": revision, "acknowledge": True}, "WRONG_PENDING", "press"),
            ("respond", {"revision": revision, "text": "x"}, "WRONG_PENDING", "text"),
            ("respond", {"revision": revision, "cancel": True}, "WRONG_PENDING", "command"),
            ("respond", {"revision": revision}, "INVALID_ARGUMENT", "exactly one"),
            ("respond", {"revision": revision, "text": "x", "choice": "y"}, "INVALID_ARGUMENT", "exactly one"),
            ("fork_create", {"count": 257}, "INVALID_ARGUMENT", "257"),
            ("fork_create", {"boundary": 1}, "INVALID_ARGUMENT", "boundary"),
            ("fork_create", {"luck": "good"}, "INVALID_ARGUMENT", "good"),
            ("fork_create", {"luck": "reseed", "luck_seed": "-1"}, "INVALID_SEED", "-1"),
            ("fork_run", {"fork": "main", "revision": revision, "text": "s"}, "INVALID_ARGUMENT", "fork"),
            ("fork_delete", {"fork": "f9"}, "UNKNOWN_MACHINE", "f9"),
            ("movie_export", {"name": "x"}, "DISABLED", "out-dir"),
            ("movie_export", {"name": "../x"}, "REFUSED_PATH", "../x"),
            ("movie_verify", {"name": "/etc/passwd"}, "REFUSED_PATH", "/etc/passwd"),
            ("movie_verify", {"name": "x"}, "DISABLED", "directory"),
            ("movie_open", {"name": "x"}, "DISABLED", "directory"),
            ("movie_open", {}, "INVALID_ARGUMENT", "source"),
            ("movie_open", {"source": "main"}, "GAME_ACTIVE", "quit_game"),
            ("state_save", {"name": "x"}, "DISABLED", "out-dir"),
            ("state_save", {"name": "../x"}, "REFUSED_PATH", "../x"),
            ("state_load", {"name": "x"}, "DISABLED", "out-dir"),
            ("state_load", {"name": "x", "into": "main"}, "INVALID_ARGUMENT", "revision"),
            ("seek", {"revision": revision, "boundary": 1}, "INVALID_ARGUMENT", "boundary"),
            ("seek", {"revision": revision - 1, "boundary": 0}, "STALE", str(revision)),
            ("reset", {"revision": revision}, "INVALID_ARGUMENT", "kind"),
            ("reset", {"revision": revision + 1, "kind": "same"}, "STALE", str(revision)),
            ("screenshot", {"scale": 3}, "INVALID_ARGUMENT", "scale"),
            ("screenshot", {"boundary": 1}, "INVALID_ARGUMENT", "boundary"),
            ("new_game", {"seed": "1", "profile": "nle"}, "INVALID_ARGUMENT", "nle-1.3"),
            ("new_game", {"seed": "1"}, "GAME_ACTIVE", "quit_game"),
            ("new_game", {"seed": "1", "role": "samurai", "race": "orc"}, "INVALID_ARGUMENT", "human"),
            ("new_game", {"seed": "1", "options": "name:x"}, "INVALID_ARGUMENT", "name"),
            ("new_game", {"seed": "1", "clock": -1}, "INVALID_ARGUMENT", "clock"),
        ]:
            result = server.call(tool, **given)
            check.code(f"{tool} {str(given)[:80]}", result, code)
            message = result.get("error", {}).get("message", "")
            check(f"{tool} {str(given)[:80]} names it", word in message, message)
        unknown = server.call("press_harder", revision=revision)
        check("an undeclared tool", unknown["error"]["code"] == -32602, unknown)
        check("nothing has happened", server.call("observe") == before)


def seeds():
    with Server(PROGRAM) as server:
        server.initialize()
        drawn = set()
        for given, kept in [
            ("0", "0"),
            (0, "0"),
            (1, "1"),
            ("2147483647", "2147483647"),
            (2147483648, "2147483648"),
            ("4294967295", "4294967295"),
            ("9007199254740993", "9007199254740993"),
            ("9223372036854775807", "9223372036854775807"),
            ("18446744073709551615", "18446744073709551615"),
            ("0xff", "255"),
            ("42", "42"),
        ]:
            game = server.call("new_game", seed=given)
            check(f"seed {given!r}", game.get("power_on", {}).get("seed") == kept, game)
            server.call("quit_game")
        for given in [-1, "-1", 42.0, 1e3, "42.0", "1e3", "", " 1", "18446744073709551616", 9007199254740993, True, "x"]:
            check.code(f"seed {given!r}", server.call("new_game", seed=given), "INVALID_SEED")
        levels = server.call("new_game", seed="1", level_seed="18446744073709551615")
        kept = levels.get("power_on", {}).get("level_seed")
        check("a level seed", kept == "18446744073709551615", levels)
        server.call("quit_game")
        check.code("a level seed that is none", server.call("new_game", level_seed=-1), "INVALID_SEED")
        for _ in range(3):
            game = server.call("new_game")
            drawn.add(game["power_on"]["seed"])
            screen, record = game["screen"], game["power_on"]
            server.call("quit_game")
        check("games without a seed differ", len(drawn) == 3, drawn)
        again = server.call("new_game", **record)
        check("what is returned makes the game again", again.get("screen") == screen, (again, screen))
        played = server.call("press", revision=again["revision"], key="ESC")
        check.code("a late quit", server.call("quit_game", revision=again["revision"]), "STALE")
        unchanged = server.call("observe")
        check("ends nothing", unchanged["revision"] == played["revision"] and unchanged["state"] == "idle", unchanged)
        ended = server.call("quit_game", revision=played["revision"])
        check("quit on its revision", ended.get("state") == "aborted" and "pending" not in ended, ended)
        check.code("the same quit again", server.call("quit_game", revision=played["revision"]), "STALE")
        check("quit is harmless twice", server.call("quit_game") == {**server.call("quit_game")} == ended)
        old = server.call("press", revision=server.call("observe")["revision"], key="s")
        check.code("after the end", old, "GAME_OVER")
        message = old["error"]["message"]
        check("it names the ways out", "new_game" in message and "fork_adopt" in message, message)
        nle = server.call("new_game", seed="1", profile="nle-1.3", reseed=True)
        check.code("a quit of the game before", server.call("quit_game", revision=ended["revision"]), "STALE")
        check("the new game goes on", server.call("observe")["state"] == "idle", nle)
        record = nle.get("power_on", {})
        check("profile and reseed are kept", record.get("profile") == "nle-1.3" and record.get("reseed") is True, record)


def at_once():
    with Server(PROGRAM) as server:
        server.initialize()
        game = server.call("new_game", seed="7")
        first = server.start_call("run", revision=game["revision"], text="20s")
        second = server.start_call("run", revision=game["revision"], text="10s")
        results = [structured(server.answer(second)), structured(server.answer(first))]
        done = [result for result in results if "sent" in result]
        stale = [result["error"] for result in results if "error" in result]
        check("of two calls at once, one acts", len(done) == 1 and len(stale) == 1, results)
        check("the other is stale", stale and stale[0]["code"] == "STALE", stale)
        now = server.call("observe")
        check("three inputs and no more", now["boundary"] == 3, now)
        late = server.call("press", revision=game["revision"], key="s")
        check.code("a late call", late, "STALE")
        check("it tells what was pressed", late["error"].get("inputs_since_total") == 3, late)
        check("and where the machine is", late["error"]["revision"] == now["revision"], late)
        ahead = server.call("press", revision=now["revision"] + 1, key="s")
        check.code("a revision that never was", ahead, "STALE")
        forks = server.call("fork_create", count=8)["forks"]
        calls = [server.start_call("fork_run", fork=fork["id"], revision=fork["revision"], text="hjkl" * 50, on_more="dismiss") for fork in forks]
        screens = {structured(server.answer(call)).get("screen") for call in reversed(calls)}
        check("forks with the same luck and keys are the same", len(screens) == 1, screens)
        fork = server.call("fork_create")["forks"][0]
        same = {"machine": fork["id"], "revision": fork["revision"]}
        calls = [server.start_call("run", text="s" * 3000, force=True, **same)]
        calls += [server.start_call("press", key="s", **same) for _ in range(40)]
        results = [structured(server.answer(call)) for call in calls]
        acted = [result for result in results if "sent" in result]
        codes = {result["error"]["code"] for result in results if "error" in result}
        check("of many calls at once, one acts", len(acted) == 1 and codes <= {"STALE", "BUSY"}, (len(acted), codes))
        check("no other key was pressed", server.call("observe", machine=fork["id"])["boundary"] == game["boundary"] + 3 + acted[0]["sent"])
        new = [server.start_call("new_game", seed="8") for _ in range(4)]
        server.call("quit_game")
        results = [structured(server.answer(call)) for call in new]
        check("games begun at once", sum("power_on" in result for result in results) <= 1, results)
        check("stdout is clean", not server.noise, server.noise)


def long_calls():
    with Server(PROGRAM) as server:
        server.initialize()
        game = server.call("new_game", seed="11", role="valkyrie")
        fork = server.call("fork_create")["forks"][0]
        call = server.send(
            "tools/call",
            {
                "name": "fork_run",
                "arguments": {"fork": fork["id"], "revision": fork["revision"], "text": "s" * 36000, "force": True},
                "_meta": {"progressToken": "p"},
            },
        )
        check("others are answered meanwhile", server.call("observe")["revision"] == game["revision"])
        server.send("notifications/cancelled", {"requestId": call, "reason": "enough"}, has_id=False)
        stopped = wait_until(lambda: server.call("observe", machine=fork["id"], layers=[])["state"] in ("idle", "ended"), 30)
        check("a cancelled call stops", stopped)
        after = server.call("observe", machine=fork["id"], layers=[])
        again = server.call("observe", machine=fork["id"], layers=[])
        check("and stays where it stopped", after["boundary"] == again["boundary"] < 36000, (after, again))
        sent = server.call("history", machine=fork["id"], **{"from": 0}, limit=5)
        check("what it had sent is told", sent["inputs"] == ["s"] * min(5, after["boundary"]), sent)
        server.kept.clear()
        fork = server.call("fork_create")["forks"][0]
        told = server.send(
            "tools/call",
            {
                "name": "fork_run",
                "arguments": {"fork": fork["id"], "revision": fork["revision"], "text": "s" * 5000, "force": True},
                "_meta": {"progressToken": "q"},
            },
        )
        check("a long call ends", structured(server.answer(told)).get("sent") == 5000)
        progress = [message["params"] for message in server.kept if message.get("method") == "notifications/progress"]
        check("progress was told", progress and progress[0]["progressToken"] == "q", server.kept)
        done = [step["progress"] for step in progress]
        check("and rises", done == sorted(set(done)) and progress[0]["total"] == 5000, progress)
        doomed = server.call("fork_create")["forks"][0]
        running = server.start_call("fork_run", fork=doomed["id"], revision=doomed["revision"], text="s" * 36000, force=True)
        gone = server.call("fork_delete", fork=doomed["id"])
        check("deleting a fork ends its call", gone.get("deleted") == doomed["id"], gone)
        check("the call is answered", server.answer(running) is not None)
        check.code("the fork is gone", server.call("observe", machine=doomed["id"]), "UNKNOWN_MACHINE")


def exports():
    with scratch() as directory, Server(PROGRAM, "--out-dir", directory, "--wait-ms", "60000") as server:
        server.initialize()
        server.call("new_game", seed="11", role="valkyrie")
        fork = server.call("fork_create")["forks"][0]
        # Looking takes no time in the game, so that nobody starves.
        played = server.call("fork_run", fork=fork["id"], revision=fork["revision"], text=":s" + ":" * 29998, force=True)
        end = played["boundary"]
        check("a long line to be shown", end == 30000, played)

        def start(name):
            arguments = {"source": fork["id"], "format": "ttyrec", "name": name}
            meta = {"progressToken": name}
            return server.send("tools/call", {"name": "movie_export", "arguments": arguments, "_meta": meta})

        def is_progress(message):
            return message.get("method") == "notifications/progress"

        call = start("first")
        while not is_progress(server.next_message()):
            pass
        check("an export under way has no name yet", [file[0] for file in os.listdir(directory)] == ["."])
        check("others are answered meanwhile", server.call("observe")["boundary"] == 0)
        server.send("notifications/cancelled", {"requestId": call, "reason": "enough"}, has_id=False)
        check("nothing is left of one that is cancelled", wait_until(lambda: not os.listdir(directory), 30))
        server.kept.clear()
        exported = structured(server.answer(start("second")))
        check("a long one ends", exported.get("frames") == end + 1 and os.listdir(directory) == ["second.ttyrec"], exported)
        check("its size is told", exported["bytes"] == os.path.getsize(exported["path"]), exported)
        progress = [message["params"] for message in server.kept if is_progress(message)]
        done = [step["progress"] for step in progress]
        check("progress rises", done and done == sorted(set(done)) and progress[0]["total"] == end, progress)


def operations():
    with Server(PROGRAM, "--wait-ms", "1") as server:
        server.initialize()

        def finished(result):
            while result.get("running"):
                look = server.call("observe", operation=result["operation"], wait_ms=60000, layers=[])
                state = look["operation"]
                check("an operation ends", state["state"] in ("done", "failed"), state)
                result = state.get("result", {"error": state.get("error")})
            return result

        game = finished(server.call("new_game", seed="12"))
        run = server.call("run", revision=game["revision"], text="s" * 3600, force=True)
        check("a call that takes long goes on", run.get("running") is True, run)
        first = server.call("observe", operation=run["operation"], layers=[])
        check("it can be looked at meanwhile", first["operation"]["tool"] == "run", first)
        report = finished(run)
        check("its result comes", report.get("boundary") == report.get("sent") == 3600, report)
        verified = finished(server.call("movie_verify"))
        check("verify goes on too", verified.get("verdict") == "exact", verified)
        export = server.call("movie_export", format="cast", inline=True)
        check("an export goes on too", export.get("running") is True, export)
        exported = finished(export)
        check("and its result comes", exported.get("frames") == 3601 and exported["uri"].startswith("nethack-lab://cast/"), exported)
        stale = finished(server.call("run", revision=game["revision"], text="s"))
        check.code("a late call", stale, "STALE")


def killed():
    with scratch() as movies:
        with Server(PROGRAM, "--movies", movies) as server:
            server.initialize()
            game = server.call("new_game", seed="21", role="samurai")
            played = server.call("run", revision=game["revision"], text="20s10s5s", on_more="dismiss")
            workers = children(server.process.pid)
            check("there are workers to be left", workers)
            server.process.kill()
            server.process.wait()
            check("no worker is left", wait_until(lambda: not any(map(is_alive, workers)), 5), workers)
        files = sorted(os.listdir(movies))
        endings = [os.path.splitext(name)[1] for name in files]
        check("one journal, its ledger, and nothing else", endings == [".ledger", ".movie"], files)
        with Server(PROGRAM, "--movies", movies, "--resume", "latest") as server:
            server.initialize()
            now = server.call("observe")
            same = all(now.get(field) == played.get(field) for field in ["boundary", "screen", "status", "turn"])
            check("it goes on where it was", same, (now, played))
            check("info tells", server.call("info")["resumed"]["inputs"] == played["boundary"])
            more = server.call("run", revision=now["revision"], text="3s", on_more="dismiss")
            check("and further", more.get("sent") == 2, more)
            verified = server.call("movie_verify")
            check("its movie is exact", verified.get("verdict") == "exact", verified)
            name = os.path.basename(server.call("info")["journal"])
            by_name = server.call("movie_verify", name=name)
            check("its journal too", by_name.get("verdict") == "exact", by_name)
            busy = Server(PROGRAM, "--movies", movies, "--resume", "latest")
            with busy:
                check("a journal in use is refused", busy.process.wait(timeout=10) != 0, busy.errors)
            check("EOF", server.close() == 0)
        path = os.path.join(movies, files[1])
        with Server(PROGRAM, "--movies", movies, "--resume", path) as server:
            server.initialize()
            check("resumed by name", server.call("observe")["boundary"] == more["boundary"])
    with scratch() as movies:
        with Server(PROGRAM, "--movies", movies, "--resume", "latest") as server:
            server.initialize()
            check("nothing to resume, no game to begin with", "power_on" not in server.call("info"))
        both = Server(PROGRAM, "--movies", movies, "--resume", "latest", "--seed", "5")
        with both:
            check("a journal has its own seeds", both.process.wait(timeout=10) != 0, both.errors)


for part in [versions, ends, malformed_lines, arguments, seeds, at_once, long_calls, exports, operations, killed]:
    try:
        part()
    except Exception:
        check(part.__name__, False, traceback.format_exc()[-2000:])
check.finish()
