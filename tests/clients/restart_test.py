"""What a server brings back that was killed: main, forks under their names, breakpoints."""

import os
import random
import resource
import subprocess
import sys
import time
import traceback

from harness import Checks, Server, scratch, wait_until

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("NETHACK_LAB_TEST_SEED", "3"))
check = Checks("restart")


def started(movies, *more, resumed=False):
    server = Server(PROGRAM, "--movies", movies, *(["--resume", "latest"] if resumed else []), *more)
    server.initialize()
    return server


def kill(server):
    server.process.kill()
    server.process.wait()


def looks(server):
    """What every machine shows, by its name; none of them sleeps afterwards."""
    names = ["main"] + [fork["id"] for fork in server.call("fork_list", limit=1024)["forks"]]
    seen = {}
    for name in names:
        look = server.call("observe", machine=name)
        seen[name] = {field: look.get(field) for field in ("game", "boundary", "screen", "status", "pending", "state")}
    return seen


def fork_of(server, **arguments):
    return server.call("fork_create", **arguments)["forks"][0]


def point_of(server):
    return server.call("breakpoint_add", on="hp_below", n=3)["breakpoint"]["id"]


def forks_come_back():
    with scratch() as movies:
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED), role="valkyrie")
            played = server.call("run", revision=game["revision"], text="20s2h", on_more="dismiss")
            made = server.call("fork_create", count=3)["forks"]
            run = server.call("fork_run", fork="f1", revision=made[0]["revision"], text="9s3j", on_more="dismiss")
            lucky = fork_of(server, luck="reseed", luck_seed="77")
            server.call("fork_run", fork=lucky["id"], revision=lucky["revision"], text="5s", on_more="dismiss")
            inner = fork_of(server, **{"from": "f1", "boundary": run["boundary"] - 2})
            server.call("fork_delete", fork="f2")
            sought = server.call("seek", revision=played["revision"], boundary=2)
            early = fork_of(server)
            adopted = server.call("fork_adopt", fork=lucky["id"], revision=sought["revision"], luck="take")
            check("an adoption", adopted.get("old_tip") == "f7", adopted)
            last = server.call("run", revision=adopted["revision"], text="3s", on_more="dismiss")
            bound = server.call("breakpoint_add", on="hp_below", n=3, machine=inner["id"])
            server.call("breakpoint_add", on="message", pattern="You die")
            server.call("breakpoint_remove", id="b2")
            check("a breakpoint", bound.get("breakpoint", {}).get("machine") == inner["id"], bound)
            rows = server.call("fork_list")["forks"]
            expected = looks(server)
            stale = {name: server.call("observe", machine=name)["revision"] for name in expected}
            kill(server)
        for round in range(2):
            with started(movies, resumed=True) as server:
                note = server.call("info")
                told = note["resumed"]
                check("forks are told", told.get("forks") == len(expected) - 1, told)
                check("none is lost", "forks_lost" not in told and "dropped" not in note["ledger"], note)
                listed = server.call("fork_list")["forks"]
                same = [{k: row.get(k) for k in ("id", "from", "base", "luck", "luck_seed", "boundary", "game")} for row in listed]
                was = [{k: row.get(k) for k in ("id", "from", "base", "luck", "luck_seed", "boundary", "game")} for row in rows]
                check("the list is as it was", same == was, (same, was))
                awake = wait_until(lambda: "asleep" not in server.call("info").get("ledger", {}), 30)
                check("all forks wake", awake, server.call("info"))
                now = looks(server)
                for name in expected:
                    check(f"{name} is as it was", now.get(name) == expected[name], (now.get(name), expected[name]))
                for name, revision in stale.items():
                    late = server.call("press", machine=name, revision=revision, key="s")
                    check.code(f"a call on {name} from before the restart", late, "STALE")
                check("and nothing moved", looks(server) == expected)
                verified = server.call("movie_verify", source="f5")
                check("a fork's movie is exact", verified.get("verdict") == "exact", verified)
                points = server.call("breakpoint_list")["breakpoints"]
                check("breakpoints", [point["id"] for point in points] == ["b1"] and points[0]["machine"] == inner["id"], points)
                gone = server.call("observe", machine="f2")
                check.code("a deleted fork stays so", gone, "UNKNOWN_MACHINE")
                new = fork_of(server)
                check("ids are never used again", new["id"] == f"f{8 + round}", new)
                point = server.call("breakpoint_add", on="level_change")["breakpoint"]["id"]
                check("nor those of breakpoints", point == f"b{3 + round}", point)
                server.call("breakpoint_remove", id=point)
                server.call("fork_delete", fork=new["id"])
                ran = server.call("fork_run", fork=early["id"], revision=server.call("observe", machine=early["id"])["revision"], text="s", on_more="dismiss")
                expected = looks(server)
                stale = {name: server.call("observe", machine=name)["revision"] for name in expected}
                rows = server.call("fork_list")["forks"]
                check("a fork goes on", ran.get("sent") == 1, ran)
                kill(server)
        check("no file is left over", sorted(name.split(".", 1)[1] for name in os.listdir(movies)) == ["ledger", "movie"], os.listdir(movies))
    check("main went on", last["boundary"] > 0)


def killed_at_any_moment():
    """What was acknowledged is there; of the call that was cut off, some of its keys or none."""
    rng = random.Random(SEED)
    with scratch() as movies:
        with started(movies) as server:
            server.call("new_game", seed=str(SEED), role="samurai")
            fork_of(server)
            kill(server)
        acknowledged, sent = 0, 0
        for trial in range(12):
            with started(movies, resumed=True) as server:
                now = server.call("observe", machine="f1")
                boundary = now["boundary"]
                check(f"trial {trial} of seed {SEED}: acknowledged keys are there", acknowledged <= boundary <= sent, (acknowledged, boundary, sent))
                acknowledged, revision = boundary, now["revision"]
                for _ in range(rng.randint(0, 3)):
                    ran = server.call("fork_run", fork="f1", revision=revision, text="s" * 40, force=True)
                    acknowledged, revision = ran["boundary"], ran["revision"]
                sent = acknowledged + 3_000
                server.start_call("fork_run", fork="f1", revision=revision, text="s" * 3_000, force=True)
                if rng.random() < 0.5:
                    server.start_call("fork_create", count=20)
                time.sleep(rng.random() * 0.1)
                kill(server)
                # What the cut call came to can't be known, but for its bounds.


def old_games_forks():
    with scratch() as movies:
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED))
            server.call("run", revision=game["revision"], text="9s", on_more="dismiss")
            fork_of(server)
            server.call("quit_game")
            second = server.call("new_game", seed=str(SEED + 1))
            fork_of(server)
            server.call("fork_run", fork="f1", revision=server.call("observe", machine="f1")["revision"], text="2s", on_more="dismiss")
            reset = server.call("reset", revision=second["revision"], kind="same")
            check("a reset", "error" not in reset, reset)
            expected = looks(server)
            check("three machines", len(expected) == 3, expected)
            kill(server)
        with started(movies, resumed=True) as server:
            now = looks(server)
            check("forks of old games come back", now == expected, (now, expected))
            refused = server.call("fork_adopt", fork="f1", revision=reset["revision"])
            check("and are not this game's", "error" in refused, refused)


def a_new_games_ledger():
    """What a server knows goes with it into the ledger of its next game: fork ids are never used again, breakpoints stay."""
    with scratch() as movies:
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED))
            for _ in range(3):
                fork_of(server)
            for _ in range(2):
                server.call("breakpoint_add", on="hp_below", n=3)
            server.call("fork_delete", fork="f2")
            server.call("fork_delete", fork="f3")
            server.call("breakpoint_remove", id="b2")
            reset = server.call("reset", revision=game["revision"], kind="same")
            check("a second game", "error" not in reset, reset)
            kill(server)
        with started(movies, resumed=True) as server:
            forks = [fork["id"] for fork in server.call("fork_list")["forks"]]
            check("the fork that was left is there", forks == ["f1"], forks)
            points = [point["id"] for point in server.call("breakpoint_list")["breakpoints"]]
            check("breakpoints outlive a game", points == ["b1"], points)
            made = fork_of(server)["id"]
            check("ids of deleted forks stay used in a new game's ledger", made == "f4", made)
            point = server.call("breakpoint_add", on="level_change")["breakpoint"]["id"]
            check("and those of breakpoints", point == "b3", point)


def other_files():
    """A ledger that is cut or changed costs forks, never the game."""
    with scratch() as movies:
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED))
            for _ in range(3):
                fork_of(server)
            kill(server)
        path = next(os.path.join(movies, name) for name in os.listdir(movies) if name.endswith(".ledger"))
        with open(path, "rb") as file:
            whole = file.read()
        lines = whole.splitlines(keepends=True)
        with open(path, "wb") as file:
            file.write(b"".join(lines[:-1]) + lines[-1].replace(b'"common":0', b'"common":1'))
        with started(movies, resumed=True) as server:
            told = server.call("info")["resumed"]
            check("damage is told", f"line {len(lines)}" in told.get("ledger_damage", ""), told)
            check("what stood before it is there", told["forks"] == 2, told)
            check("main is there", server.call("observe")["game"] == game["game"])
            kill(server)
        check("the damaged file is kept", os.path.exists(path + ".damaged"), os.listdir(movies))
        os.remove(path)
        with started(movies, resumed=True) as server:
            told = server.call("info")["resumed"]
            check("without a ledger there is main", told["forks"] == 0 and "not there" in told["ledger_damage"], told)
            again = Server(PROGRAM, "--movies", movies, "--resume", "latest")
            check("two servers can't have one journal", again.process.wait(timeout=30) == 1, again.errors)


def no_id_is_used_again():
    """A ledger that is gone, empty or damaged is told, kept aside, and no id of its forks is another's."""
    ruins = {
        "gone": os.remove,
        "empty": lambda path: open(path, "wb").close(),
        "cut in its first line": lambda path: os.truncate(path, 40),
        "zeros": lambda path: os.truncate(path, 0) or os.truncate(path, 3_000),
        "a foreign line": lambda path: open(path, "ab").write(b"{}\n"),
    }
    with scratch() as movies:
        given, ruined = set(), []
        with started(movies) as server:
            server.call("new_game", seed=str(SEED))
            given |= {fork["id"] for fork in server.call("fork_create", count=5)["forks"]}
            given |= {point_of(server) for _ in range(2)}
            kill(server)
        path = next(os.path.join(movies, name) for name in os.listdir(movies) if name.endswith(".ledger"))
        for what, ruin in ruins.items():
            ruin(path)
            aside = sum(".damaged" in name for name in os.listdir(movies))
            with started(movies, resumed=True) as server:
                told = server.call("info")["resumed"]
                check(f"{what}: it is told", told.get("ledger_damage") and told.get("fork_ids_from"), told)
                check(f"{what}: so it is on stderr", wait_until(lambda: b"not as it was written" in server.errors, 5), server.errors)
                kept = sum(".damaged" in name for name in os.listdir(movies)) - aside
                check(f"{what}: it is kept aside", kept == (0 if what == "gone" else 1), os.listdir(movies))
                made = {fork["id"] for fork in server.call("fork_create", count=3)["forks"]}
                check(f"{what}: no id is used again", not made & given and len(made) == 3, (made, given))
                check(f"{what}: they go on from there", told["fork_ids_from"] in made, (told, made))
                given |= made
                # Odd ones only after one more restart: what was skipped is written down at once.
                if len(ruined) % 2:
                    points = {point_of(server), point_of(server)}
                    check(f"{what}: nor is one of a breakpoint", not points & given and len(points) == 2, (points, given))
                    given |= points
                ruined.append(what)
                kill(server)
            with started(movies, resumed=True) as server:
                told = server.call("info")["resumed"]
                check(f"{what}: what is written then is whole", "ledger_damage" not in told and told["forks"] >= 3, told)
                point = point_of(server)
                check(f"{what}: nor is one of a breakpoint after a restart", point not in given, (point, given))
                given.add(point)
                kill(server)


def a_damaged_latest_journal():
    """It is refused by name, and no file is changed: the game before it is not this one."""
    with scratch() as movies:
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED))
            fork_of(server)
            again = server.call("reset", revision=game["revision"], kind="same")
            server.call("fork_create", count=4)
            kill(server)
        files = lambda: {name: open(os.path.join(movies, name), "rb").read() for name in sorted(os.listdir(movies))}
        latest = max(name for name in os.listdir(movies) if name.endswith(".movie"))
        path = os.path.join(movies, latest)
        for length in (200, 1, 0):
            os.truncate(path, length)
            before = files()
            for _ in range(2):
                ended = subprocess.run([PROGRAM, "mcp", "--movies", movies, "--resume", "latest"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
                check(f"a latest journal of {length} bytes is refused", ended.returncode == 1 and ended.stdout == b"", ended)
                check("by its name", latest.encode() in ended.stderr and b"first line" in ended.stderr, ended.stderr)
                check("and nothing is changed", files() == before, os.listdir(movies))
        os.remove(path)
        os.remove(path.replace(".movie", ".ledger"))
        with started(movies, resumed=True) as server:
            check("without it, the game before is there", server.call("info")["resumed"]["closed"] is True and "error" not in again)
            kill(server)


def killed_while_a_game_begins():
    """Whichever game is there afterwards, all forks and breakpoints are, and no id is used again."""
    rng = random.Random(SEED)
    for kind in ("reset", "new_game", "state_load", "movie_open"):
        for trial in range(8):
            with scratch() as movies, scratch() as out:
                with started(movies, "--out-dir", out) as server:
                    game = server.call("new_game", seed=str(SEED), role="valkyrie")
                    played = server.call("run", revision=game["revision"], text="sss", force=True)
                    given = {fork["id"] for fork in server.call("fork_create", count=20)["forks"]}
                    server.call("breakpoint_add", on="hp_below", n=3)
                    arguments = {
                        "reset": {"revision": played["revision"], "kind": "new_seed"},
                        "new_game": {"seed": "4"},
                        "state_load": {"name": "a", "into": "main", "revision": played["revision"]},
                        "movie_open": {"name": "a"},
                    }[kind]
                    if kind == "state_load":
                        server.call("state_save", name="a")
                    if kind == "movie_open":
                        server.call("movie_export", name="a")
                    if kind in ("new_game", "movie_open"):
                        server.call("quit_game")
                    journals = lambda: sum(name.endswith(".movie") for name in os.listdir(movies))
                    server.start_call(kind, **arguments)
                    if trial % 2:
                        # As near to the moment as a test comes: the new journal has just got its name.
                        wait_until(lambda: journals() > 1, 10)
                    else:
                        time.sleep(rng.random() * 0.02)
                    kill(server)
                with started(movies, resumed=True) as server:
                    what = f"{kind}, trial {trial} of seed {SEED}"
                    forks = {fork["id"] for fork in server.call("fork_list", limit=1024)["forks"]}
                    check(f"{what}: all forks are there", given <= forks, (len(forks), server.call("info")["resumed"]))
                    stops = server.call("breakpoint_list")["breakpoints"]
                    check(f"{what}: and the breakpoint", [stop["id"] for stop in stops] == ["b1"], stops)
                    check(f"{what}: nothing is damaged", "ledger_damage" not in server.call("info")["resumed"])
                    new = fork_of(server)["id"]
                    check(f"{what}: a new id", new not in given | forks, new)
                    check(f"{what}: a fork plays", "error" not in server.call("observe", machine="f20"))


def what_is_no_file():
    """A server neither waits for a pipe nor reads what is too large: it says what is wrong and ends."""
    makes = {
        "pipe": os.mkfifo,
        "device": lambda path: os.symlink("/dev/zero", path),
        "directory": os.mkdir,
        "link to itself": lambda path: os.symlink(os.path.basename(path), path),
        "huge file": lambda path: open(path, "wb").close() or os.truncate(path, 100 << 30),
    }
    with scratch() as movies, scratch() as out:
        with started(movies) as server:
            server.call("new_game", seed=str(SEED))
            fork_of(server)
            kill(server)
        files = sorted(os.path.join(movies, name) for name in os.listdir(movies))
        for what, make in makes.items():
            for path in files:
                os.rename(path, path + ".real")
                make(path)
                began = time.monotonic()
                ended = subprocess.run([PROGRAM, "mcp", "--movies", movies, "--resume", "latest"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
                named = os.path.basename(path).encode() in ended.stderr
                check(f"a {what} as {path}", ended.returncode not in (0, -9) and named and ended.stdout == b"", ended)
                check(f"a {what} is told at once", time.monotonic() - began < 10)
                (os.rmdir if what == "directory" else os.remove)(path)
                os.rename(path + ".real", path)
            for ending, tool, arguments in [("state", "state_load", {}), ("movie", "movie_open", {}), ("movie", "movie_verify", {})]:
                path = os.path.join(out, f"x.{ending}")
                make(path)
                with started(movies, "--out-dir", out) as server:
                    answer = server.call(tool, name="x", **arguments)
                    code = answer.get("error", {}).get("code")
                    check(f"{tool} of a {what}", code in ("REFUSED_PATH", "LIMIT_EXCEEDED"), answer)
                (os.rmdir if what == "directory" else os.remove)(path)
            path = os.path.join(out, "x")
            make(path)
            for command in (["movie", "verify", path], ["--rom", path, "rom"], ["state", "load", path]):
                ended = subprocess.run([PROGRAM, *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
                check(f"{command[:2]} of a {what}", ended.returncode in (2, 3), ended)
            (os.rmdir if what == "directory" else os.remove)(path)
        with started(movies, resumed=True) as server:
            check("nothing came of it", server.call("info")["resumed"]["forks"] == 1)


def full_disks():
    """What can't be written is told in the answer, and made good once there is room."""

    def fill(server, bytes_max):
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (bytes_max, resource.RLIM_INFINITY))

    with scratch() as movies:
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED))
            played = server.call("run", revision=game["revision"], text="s" * 40, force=True)
            given = [fork_of(server)["id"] for _ in range(3)]
            sizes = {name.split(".", 1)[1]: os.path.getsize(os.path.join(movies, name)) for name in os.listdir(movies)}
            # A game that can't be written as over is not over.
            before = server.call("observe")
            fill(server, 64)
            check.code("quit_game on a full disk", server.call("quit_game"), "ENGINE_FAILURE")
            check("the game goes on", server.call("observe") == before)
            refused = server.call("fork_create")
            check.code("fork_create on a full disk", refused, "ENGINE_FAILURE")
            check.code("fork_adopt on a full disk", server.call("fork_adopt", fork="f1", revision=before["revision"]), "ENGINE_FAILURE")
            check("nothing happened", server.call("observe") == before and server.call("fork_list")["total"] == 3)
            check.code("reset on a full disk", server.call("reset", revision=before["revision"], kind="same"), "ENGINE_FAILURE")
            check("nothing happened at all", server.call("observe") == before and server.call("fork_list")["total"] == 3)
            fill(server, resource.RLIM_INFINITY)
            # Room for the journal's lines and for the number, not for the fork that it is of.
            run = server.call("fork_run", fork="f1", revision=server.call("observe", machine="f1")["revision"], text="s" * 9, force=True)
            ledger = next(os.path.join(movies, name) for name in os.listdir(movies) if name.endswith(".ledger"))
            journal = ledger.replace(".ledger", ".movie")
            while os.path.getsize(ledger) < os.path.getsize(journal) + 20_000:
                given.append(fork_of(server)["id"])
            fill(server, os.path.getsize(ledger) + 120)
            now = server.call("observe")
            adopted = server.call("fork_adopt", fork="f1", revision=now["revision"])
            tip = adopted.get("old_tip")
            check("an old tip that is not kept is told", tip and tip in adopted.get("not_kept", ""), adopted)
            told = server.call("info").get("ledger", {})
            check("info tells it too", tip in told.get("not_kept", ""), told)
            look = server.call("observe", machine=tip)
            # Calls that need a new worker can't be made here: its memory is a file too.
            told = server.call("fork_list", limit=1)
            check("fork_list says that a fork is not kept", tip in told.get("not_kept", ""), told)
            more = server.call("fork_create")
            check("a fork whose number can't be written down is not made", "error" in more, more)
            check("it can't be for the disk", "ledger" in more.get("error", {}).get("message", ""), more)
            fill(server, resource.RLIM_INFINITY)
            again = server.call("fork_list", limit=1)
            check("with room it is kept", "not_kept" not in again and "not_kept" not in server.call("info").get("ledger", {}), again)
            ran = server.call("fork_run", fork=tip, revision=look["revision"], text="ss", force=True)
            check("and goes on", ran.get("sent") == 2 and "not_kept" not in ran, ran)
            kill(server)
        with started(movies, resumed=True) as server:
            back = server.call("observe", machine=tip)
            check("and comes back", back.get("boundary") == ran["boundary"], back)
            check("under an id of its own", fork_of(server)["id"] not in {*given, tip})
            quit_game = server.call("quit_game")
            check("with room a game is ended", quit_game["state"] == "aborted", quit_game)
            kill(server)
        # Killed while the disk is full: the id of what could not be kept is nobody else's.
        with started(movies) as server:
            game = server.call("new_game", seed=str(SEED))
            fork = fork_of(server)
            server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="ss", force=True)
            ledger = max(os.path.join(movies, name) for name in os.listdir(movies) if name.endswith(".ledger"))
            journal = ledger.replace(".ledger", ".movie")
            given = [fork["id"]]
            while os.path.getsize(ledger) < os.path.getsize(journal) + 20_000:
                given.append(fork_of(server)["id"])
            fill(server, os.path.getsize(ledger) + 120)
            tip = server.call("fork_adopt", fork=fork["id"], revision=game["revision"])["old_tip"]
            kill(server)
        with started(movies, resumed=True) as server:
            new = fork_of(server)["id"]
            check("an id that was told is not given again", new not in [*given, tip], (new, tip))


for test in [
    forks_come_back,
    killed_at_any_moment,
    old_games_forks,
    a_new_games_ledger,
    other_files,
    no_id_is_used_again,
    a_damaged_latest_journal,
    killed_while_a_game_begins,
    what_is_no_file,
    full_disks,
]:
    try:
        test()
    except Exception:
        check(f"{test.__name__} runs to its end", False, traceback.format_exc())
check.finish()
