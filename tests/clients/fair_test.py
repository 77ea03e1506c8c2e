"""A fair game: nothing shows the seeds before it is over, nothing looks ahead, and the commitment can be checked."""

import hashlib
import json
import os
import resource
import subprocess
import sys
import traceback

from harness import Checks, Server, has_null, scratch

PROGRAM = sys.argv[1]
SEED = "12297829382473034411"
check = Checks("fair")

# What a fair game may show before its end.
OPEN = {
    "info", "new_game", "observe", "history", "press", "run", "select_menu", "respond", "quit_game", "screenshot",
    "lua_eval", "breakpoint_add", "breakpoint_remove", "breakpoint_list",
}
AFTER_END = {"movie_export", "movie_verify"}
OFF = {
    "fork_create": {},
    "fork_run": {"fork": "f1", "revision": 1, "text": "s"},
    "fork_diff": {"a": "main", "b": "f1"},
    "fork_adopt": {"fork": "f1", "revision": 1},
    "fork_delete": {"fork": "f1"},
    "fork_list": {},
    "try_lines": {"lines": [{"text": "s"}]},
    "seek": {"revision": 1, "boundary": 0},
    "reset": {"revision": 1, "kind": "same"},
    "state_save": {"name": "x"},
    "state_load": {"name": "x"},
    "movie_open": {"name": "x"},
}


def names_no_seed(told, seeds):
    text = json.dumps(told)
    return not any(seed in text for seed in seeds)


def seeds_of(journal):
    with open(journal) as file:
        record = json.loads(file.readline())["power_on"]
    return [record["core_seed"], record["display_seed"]]


def journals(movies):
    return sorted(os.path.join(movies, name) for name in os.listdir(movies) if name.endswith(".movie"))


def revealed(fair):
    """The record of a commitment that holds, checked as anybody can check it."""
    text = fair["revealed"]
    digest = subprocess.run(["sha256sum"], input=text.encode(), capture_output=True, timeout=20).stdout.split()[0].decode()
    check("the commitment holds", digest == fair["commitment"] == hashlib.sha256(text.encode()).hexdigest(), fair)
    value = json.loads(text)
    check("its salt has 128 bits", len(value["salt"]) == 32, value)
    return value["power_on"]


def a_fair_game():
    with scratch() as movies, scratch() as out:
        options = ["--movies", movies, "--out-dir", out, "--fair"]
        with Server(PROGRAM, *options, "--seed", SEED, "--role", "valkyrie") as server:
            instructions = server.initialize()["instructions"]
            check("agents are told", "fair" in instructions)
            named = [tool for tool in OFF if tool in instructions]
            check("and not to use what is off", not named and "fork" not in instructions, named)
            listed = {tool["name"] for tool in server.request("tools/list")["result"]["tools"]}
            check("what is off is not listed", not listed & set(OFF), listed & set(OFF))
            check("what is on is", AFTER_END <= listed and {"press", "observe", "new_game"} <= listed, listed)
            check("nothing else is listed", listed <= OPEN | AFTER_END, listed - OPEN - AFTER_END)
            seeds = [SEED, seeds_of(journals(movies)[0])[1], hex(int(SEED))[2:]]
            info = server.call("info")
            commitment = info["fair"]["commitment"]
            check("a commitment at once", len(commitment) == 64 and "revealed" not in info["fair"], info["fair"])
            check("info shows no seed", names_no_seed(info, seeds) and "seed" not in info["power_on"], info)
            check("nor where the journal is", movies not in json.dumps(info), info)
            look = server.call("observe")
            for tool, arguments in OFF.items():
                answer = server.call(tool, **arguments)
                check.code(f"{tool} in a fair game", answer, "DISABLED")
                check(f"{tool} says why", "fair" in answer["error"]["message"] and names_no_seed(answer, seeds), answer)
            for tool in ("debug_read", "debug_edit"):
                answer = server.request("tools/call", {"name": tool, "arguments": {}})
                off = "error" in answer or answer["result"]["structuredContent"]["error"]["code"] == "DISABLED"
                check(f"{tool} is off", off, answer)
            for tool, arguments in [("movie_export", {}), ("movie_export", {"format": "text"}), ("movie_verify", {}), ("movie_verify", {"name": "x"})]:
                answer = server.call(tool, **arguments)
                check.code(f"{tool} {arguments} before the end", answer, "DISABLED")
            for machine in ("f1", "f9"):
                check.code("there is only main", server.call("observe", machine=machine), "DISABLED")
            for seed in ("seed", "display_seed", "level_seed"):
                answer = server.call("new_game", **{seed: "5"})
                check(f"{seed} is not for those who play", answer.get("error", {}).get("code") in ("DISABLED", "GAME_ACTIVE") and answer["error"].get("field") == seed, answer)
            check("and nothing happened", server.call("observe") == look)
            played = server.call("run", revision=look["revision"], text="9s2h", on_more="dismiss")
            told = [played, server.call("history", **{"from": 0, "to": 3}), server.call("info"), server.call("press", revision=1, key="s")]
            check("no answer shows a seed", names_no_seed(told, seeds), told)
            movie = server.request("resources/read", {"uri": "nethack://main/movie"})
            check("no resource does", "error" in movie and names_no_seed(movie, seeds), movie)
            listed = server.request("resources/list")["result"]["resources"]
            check("the movie is not listed", all("movie" not in resource["uri"] for resource in listed), listed)
            templates = server.request("resources/templates/list")["result"]["resourceTemplates"]
            check("nor are forks", templates == [], templates)
            server.process.kill()
        with Server(PROGRAM, *options, "--resume", "latest") as server:
            server.initialize()
            info = server.call("info")
            check("a restart keeps the commitment", info["fair"] == {"commitment": commitment}, info["fair"])
            check("and shows no seed", names_no_seed(info, seeds), info)
            quit_game = server.call("quit_game")
            record = revealed(quit_game["fair"])
            check("it was the organiser's seed", record["core_seed"] == SEED and record["character"]["role"] == "valkyrie", record)
            check("the same commitment", quit_game["fair"]["commitment"] == commitment)
            info = server.call("info")
            check("info reveals it too", info["fair"] == quit_game["fair"] and info["power_on"]["seed"] == SEED, info)
            exported = server.call("movie_export", name="fair")
            check("the movie is there now", "sha256" in exported, exported)
            verified = server.call("movie_verify")
            check("and verifies", verified["verdict"] == "exact", verified)
            # A file may be of a game that is not over, on another server of the same directory.
            check.code("another's journal", server.call("movie_verify", name="0001-other"), "DISABLED")
            check.code("even its own", server.call("movie_verify", name="fair"), "DISABLED")
            again = server.call("new_game")
            check("a second game has its own commitment", again["fair"]["commitment"] != commitment and "revealed" not in again["fair"], again["fair"])
            own = seeds_of(journals(movies)[-1])
            check("and other seeds, not shown", own[0] != SEED and names_no_seed(again, own), again)
            check.code("the old game's movie is not to be had in it", server.call("movie_export"), "DISABLED")
            check("no nulls", not has_null(again), again)
            fair = server.call("quit_game")["fair"]
            check("revealed in its turn", revealed(fair)["core_seed"] == own[0], fair)


def refused_to_resume(what, movies, reason, *more, resume="latest"):
    files = lambda: {name: open(os.path.join(movies, name), "rb").read() for name in sorted(os.listdir(movies))}
    before = files()
    ended = subprocess.run([PROGRAM, "mcp", "--movies", movies, "--fair", "--resume", resume, *more], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    told = ended.stderr.decode()
    check(f"{what} is not gone on with", ended.returncode not in (0, -9) and ended.stdout == b"", ended)
    check(f"{what}: what is wrong, and what would be right", reason in told and "Leave --fair out" in told, told)
    check(f"{what}: no file is changed", files() == before, sorted(os.listdir(movies)))


def begun(movies, *options):
    """A game that was killed; its info."""
    with Server(PROGRAM, "--movies", movies, *options) as server:
        server.initialize()
        game = server.call("new_game")
        server.call("run", revision=game["revision"], text="ss", on_more="dismiss")
        info = server.call("info")
        server.process.kill()
        server.process.wait()
    return info


def what_was_not_fair_is_not_shown_as_fair():
    with scratch() as movies:
        begun(movies)
        refused_to_resume("a game without --fair", movies, "not begun with --fair")
        check("no file comes of it", sorted(name.split(".", 1)[1] for name in os.listdir(movies)) == ["ledger", "movie"], os.listdir(movies))
    for what in ("missing", "empty", "cut"):
        with scratch() as movies:
            begun(movies, "--fair")
            ledger = journals(movies)[0].replace(".movie", ".ledger")
            if what == "missing":
                os.remove(ledger)
            else:
                os.truncate(ledger, 0 if what == "empty" else 700)
            with open(journals(movies)[0], "rb") as file:
                journal = file.read()
            damaged = what != "cut"
            refused_to_resume(f"a ledger that is {what}", movies, "damaged or gone" if damaged else "commitment")
            # The reason stays what it is.
            refused_to_resume(f"a ledger that was {what}", movies, "damaged or gone" if damaged else "commitment")
            with open(journals(movies)[0], "ab") as file:
                file.write(b"torn")
            refused_to_resume(f"a torn journal whose ledger is {what}", movies, "damaged or gone" if damaged else "commitment")
            os.truncate(journals(movies)[0], len(journal))
            with open(journals(movies)[0], "rb") as file:
                check("the journal is as it was", file.read() == journal)
    with scratch() as movies:
        commitment = begun(movies, "--fair")["fair"]["commitment"]
        with Server(PROGRAM, "--movies", movies, "--fair", "--resume", "latest") as server:
            server.initialize()
            check("a fair game goes on", server.call("info")["fair"] == {"commitment": commitment})
            server.process.kill()
            server.process.wait()
        for round in range(2):
            with Server(PROGRAM, "--movies", movies, "--resume", "latest") as server:
                server.initialize()
                info = server.call("info")
                check(f"round {round}: it is said that it is fair no more", "fair no more" in info["resumed"].get("fair", ""), info)
                check(f"round {round}: nor is it shown so", "fair" not in info, info)
                check("on stderr too", b"fair no more" in server.errors, server.errors)
                server.process.kill()
                server.process.wait()
            refused_to_resume("a fair game that was resumed without --fair", movies, "a server without --fair")
        with Server(PROGRAM, "--movies", movies, "--resume", "latest") as server:
            server.initialize()
            server.call("quit_game")
            server.call("new_game")
            server.process.kill()
            server.process.wait()
        refused_to_resume("the game after it", movies, "not begun with --fair")
        # Named, a game that was closed goes on in a new journal: whoever did so knows its seeds.
        first = os.path.basename(journals(movies)[0])
        refused_to_resume("a movie", movies, "a movie", resume=os.path.join(movies, first))
        check("no journal comes of it", len(journals(movies)) == 2, os.listdir(movies))
    # A ledger that says fair beside a journal that says otherwise.
    with scratch() as movies:
        begun(movies, "--fair")
        ledger = journals(movies)[0].replace(".movie", ".ledger")
        with open(ledger, "rb") as file:
            fair = file.read()
        with Server(PROGRAM, "--movies", movies, "--resume", "latest") as server:
            server.initialize()
            look = server.call("observe")
            sought = server.call("seek", revision=look["revision"], boundary=0)
            server.call("run", revision=sought["revision"], text="s", on_more="dismiss")
            server.process.kill()
            server.process.wait()
        with open(ledger, "wb") as file:
            file.write(fair)
        refused_to_resume("a game that went back", movies, "gone back")


def a_full_disk_reveals_nothing():
    with scratch() as movies:
        with Server(PROGRAM, "--movies", movies, "--fair") as server:
            server.initialize()
            server.call("new_game")
            fill = lambda bytes_max: resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (bytes_max, resource.RLIM_INFINITY))
            fill(64)
            check.code("quit_game on a full disk", server.call("quit_game"), "ENGINE_FAILURE")
            info = server.call("info")
            check("the game goes on, and nothing is revealed", "revealed" not in info["fair"] and info["main"]["state"] == "idle", info)
            fill(resource.RLIM_INFINITY)
            check("with room it ends", "revealed" in server.call("quit_game")["fair"])
            server.process.kill()
            server.process.wait()
        with Server(PROGRAM, "--movies", movies, "--fair", "--resume", "latest") as server:
            server.initialize()
            info = server.call("info")
            check("a game that is over can be shown again", "revealed" in info["fair"] and info["main"]["state"] == "aborted", info)


def a_death_reveals():
    with Server(PROGRAM, "--fair", "--seed", "7") as server:
        server.initialize()
        look = server.call("observe")
        keys = list("#quit") + ["ENTER", "y"] + ["ESC"] * 8
        ended = server.call("run", revision=look["revision"], keys=keys, force=True)
        check("the game has ended", ended["state"] == "ended", ended)
        check("its record is revealed", revealed(server.call("info")["fair"])["core_seed"] == "7")


def options():
    for arguments in (["--fair", "--allow-debug"],):
        ended = subprocess.run([PROGRAM, "mcp", *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        check(f"{arguments} don't go together", ended.returncode == 2 and ended.stdout == b"", ended)
    with Server(PROGRAM) as server:
        server.initialize()
        game = server.call("new_game", seed="5")
        check("other servers promise nothing", "fair" not in game and game["power_on"]["seed"] == "5", game)


def power_on_defaults():
    """Character and options given at the start are those of every game that is drawn; seeds are the first game's."""
    with Server(PROGRAM, "--seed", "9", "--role", "samurai", "--options", "fruit:melon") as server:
        server.initialize()
        first = server.call("info")["power_on"]
        check("the first game", (first["seed"], first["role"]) == ("9", "samurai"), first)
        server.call("quit_game")
        second = server.call("new_game")["power_on"]
        check("a drawn game", second["role"] == "samurai" and second["options"] == "fruit:melon" and second["seed"] != "9", second)
        server.call("quit_game")
        third = server.call("new_game", role="wizard", race="elf")["power_on"]
        check("what is given comes first", third["role"] == "wizard" and third["options"] == "fruit:melon", third)
        server.call("quit_game")
        exact = server.call("new_game", seed="9")["power_on"]
        check("a given seed is a game of its own", "role" not in exact and exact["seed"] == "9" and exact["options"] == "", exact)


def print_config():
    for client, path in [
        ("claude-desktop", ["mcpServers", "nethack"]),
        ("claude-code", ["mcpServers", "nethack"]),
        ("vscode", ["servers", "nethack"]),
        ("cursor", ["mcpServers", "nethack"]),
        ("generic", []),
    ]:
        with scratch() as here:
            printed = subprocess.run([PROGRAM, "mcp", "--movies", "m", "--print-config", client, "--fair"], capture_output=True, cwd=here, timeout=20)
            check(f"{client} is printed", printed.returncode == 0 and printed.stderr == b"", printed)
            server = json.loads(printed.stdout)
            for step in path:
                server = server[step]
            check(f"{client} has an absolute path", os.path.isabs(server["command"]) and os.path.samefile(server["command"], PROGRAM), server)
            check(f"{client} has the options", server["args"] == ["mcp", "--movies", os.path.join(os.path.realpath(here), "m"), "--fair"], server)
            check("and no directory is made", os.listdir(here) == [])
            with Server(server["command"]) as direct:
                direct.process.kill()
    printed = subprocess.run([PROGRAM, "mcp", "--print-config"], capture_output=True, timeout=20)
    check("all at once", len(json.loads(printed.stdout)) == 5, printed)
    wrong = subprocess.run([PROGRAM, "mcp", "--print-config=emacs"], capture_output=True, timeout=20)
    check("an unknown client", wrong.returncode == 2 and wrong.stdout == b"", wrong)


for test in [a_fair_game, what_was_not_fair_is_not_shown_as_fair, a_full_disk_reveals_nothing, a_death_reveals, options, power_on_defaults, print_config]:
    try:
        test()
    except Exception:
        check(f"{test.__name__} runs to its end", False, traceback.format_exc())
check.finish()
