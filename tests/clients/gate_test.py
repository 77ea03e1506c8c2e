"""The gate: forks and jumps whose movies replay elsewhere, and calls that come too late after every kind of jump."""

import asyncio
import base64
import hashlib
import json
import os
import struct
import subprocess
import sys
import traceback

from mcp import Client, StdioServerParameters

from harness import Checks, Shapes, scratch, structured, wait_until
from watched import Watched, changing

PROGRAM = sys.argv[1]
SEED = os.environ.get("NETHACK_LAB_TEST_SEED", "31")
check = Checks("gate")


class Game:
    """The server through the client of PyPI; each result is held against its schema."""

    def __init__(self, client, tools):
        self.client, self.revision = client, None
        self.shapes = Shapes({tool.name: tool.output_schema for tool in tools})

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        content = result.structured_content
        faults = self.shapes.faults(tool, content)
        if faults:
            check(f"shape of {tool}'s result", False, (arguments, faults))
        self.images = [block for block in result.content[1:] if block.type == "image"]
        return content

    async def main(self, tool, **arguments):
        """A call that changes main, on its newest revision."""
        content = await self.call(tool, revision=self.revision, **arguments)
        check(f"{tool} {arguments}", "error" not in content, content)
        self.revision = content.get("revision", self.revision)
        return content

    async def fork(self, text=None, **arguments):
        """A new fork that has run a text; gives what fork_create and fork_run tell of it."""
        made = (await self.call("fork_create", **arguments))["forks"][0]
        return await self.fork_run(made["id"], made["revision"], text) if text else made

    async def fork_run(self, fork, revision, text):
        ran = await self.call("fork_run", fork=fork, revision=revision, text=text, on_more="dismiss")
        check(f"{fork} runs {text}", ran.get("machine") == fork and ran["sent"] > 0, ran)
        return ran


def independent(path):
    """What another process says of a movie file."""
    command = [PROGRAM, "movie", "verify", path, "--json"]
    done = subprocess.run(command, capture_output=True, timeout=300)
    return {"status": done.returncode, **json.loads(done.stdout or b"{}")}


async def proven(game, directory, machine, name):
    """Exports a machine's movie and has it replayed, here and by another process."""
    there = await game.call("observe", machine=machine)
    exported = await game.call("movie_export", source=machine, name=name)
    data = open(exported["path"], "rb").read()
    check(f"{machine}'s file is what was told", hashlib.sha256(data).hexdigest() == exported["sha256"], exported)
    verified = await game.call("movie_verify", name=name)
    inputs = (verified.get("inputs"), verified.get("inputs_recorded"))
    exact = verified.get("verdict") == "exact" and inputs == (there["boundary"], there["boundary"])
    check(f"seed {SEED}: {machine} at boundary {there['boundary']} replays byte for byte", exact, verified)
    other = independent(os.path.join(directory, f"{name}.movie"))
    check(f"{machine} replays in another process", (other["status"], other.get("verdict")) == (0, "exact"), other)
    # Memory itself, of the machine that was played, not of one that was replayed.
    await game.call("state_save", machine=machine, name=name)
    loaded = await game.call("state_load", name=name)
    diff = await game.call("fork_diff", a=machine, b=loaded["machine"])
    check(f"{machine}'s saved state is it", diff["images_same"] and loaded["screen"] == there["screen"], diff)
    await game.call("fork_delete", fork=loaded["machine"])
    return verified["state_digest"]


async def forks_and_jumps(game, directory):
    """Point (a): every fork and main prove themselves."""
    begun = await game.call("new_game", seed=SEED, role="valkyrie", race="human")
    game.revision = begun["revision"]
    await game.call("observe", layers=["screen", "map", "status", "inventory", "messages"])
    played = await game.main("run", text="2s4hjl10s", on_more="dismiss")
    texts = ["5s4lk", "8h3j5s", "2k2l9s", "20s"]
    ends = [
        await game.fork(texts[0]),
        await game.fork(texts[1]),
        await game.fork(texts[2], luck="reseed", luck_seed="5"),
        await game.fork(texts[3], boundary=2),
    ]
    one, two, lucky, early = ends
    appended = await game.fork_run(one["machine"], one["revision"], "7s3j")
    grand = await game.fork("4k6s", **{"from": one["machine"]})
    twin = await game.fork(texts[0])
    twin = await game.fork_run(twin["machine"], twin["revision"], "7s3j")
    diff = await game.call("fork_diff", a=one["machine"], b=twin["machine"])
    check("the same inputs are the same machine", diff["images_same"], diff)
    for fork in [one, two, lucky, early, grand]:
        diff = await game.call("fork_diff", a="main", b=fork["machine"])
        check(f"{fork['machine']} is another", not diff["images_same"] and not diff["play_same"], diff)
    check("main did not move", (await game.call("observe"))["revision"] == game.revision)
    check("the appended run", appended["boundary"] > one["boundary"], appended)
    adopted = await game.main("fork_adopt", fork=two["machine"])
    check("main is where f2 is", adopted["screen"] == two["screen"], adopted)
    tip = await game.call("observe", machine=adopted["old_tip"])
    check("its old tip stays", tip["screen"] == played["screen"], tip)
    taken = await game.main("fork_adopt", fork=lucky["machine"], luck="take")
    check("and where the lucky one is", taken["screen"] == lucky["screen"], taken)
    await game.main("run", text="3s", on_more="dismiss")
    there = played["boundary"] - 3
    past = await game.call("screenshot", boundary=there)
    sought = await game.main("seek", boundary=there)
    shown = await game.call("screenshot")
    check("seek goes to what was shown there", shown["sha256"] == past["sha256"], (past, shown))
    check("and tells what was left", sought["boundary"] == there and sought["left"] > 3, sought)
    await game.main("run", text="4s2l", on_more="dismiss")
    forks = [fork["id"] for fork in (await game.call("fork_list"))["forks"]]
    check("all forks are there", len(forks) == 8, forks)
    digests = {fork: await proven(game, directory, fork, f"a-{fork}") for fork in [*forks, "main"]}
    check("twins end alike", digests[one["machine"]] == digests[twin["machine"]], digests)
    check("so does the tip that main had from f2", digests[two["machine"]] == digests[taken["old_tip"]], digests)
    check("and nobody else", len(set(digests.values())) == len(digests) - 2, digests)


async def screenshots(game):
    for scale, size in [(1, (640, 384)), (2, (1280, 768)), (None, (1280, 768))]:
        told = await game.call("screenshot", **({"scale": scale} if scale else {}))
        data = base64.b64decode(game.images[0].data)
        found = struct.unpack(">II", data[16:24])
        check(f"a picture of scale {scale}", found == size == (told["width"], told["height"]), (found, told))
        whole = data.startswith(b"\x89PNG") and hashlib.sha256(data).hexdigest() == told["sha256"]
        check("is what was told", whole and game.images[0].mime_type == "image/png", told)
        check("and stands nowhere else", "data" not in told and len(json.dumps(told)) < 1_000, told)
    exported = await game.call("movie_export", format="png", inline=True)
    check("movie_export's is the same", exported["sha256"] == told["sha256"], exported)
    check.code("a third scale", await game.call("screenshot", scale=3), "INVALID_ARGUMENT")
    check.code("a later boundary", await game.call("screenshot", boundary=10**6), "INVALID_ARGUMENT")
    check.code("no machine", await game.call("screenshot", machine="f999"), "UNKNOWN_MACHINE")


async def journals(game, directory, movies):
    """Point (b): what main went through is in its journals, one for each power-on, each of which replays."""
    left = []

    async def next_journal(what):
        info = await game.call("info")
        left.append((info["journal"], info["main"]["boundary"]))
        begun = [name for name in os.listdir(movies) if name.endswith(".movie")]
        check(f"{what} begins a journal", len(begun) == len(left), begun)
        return info

    before = await next_journal("new_game")
    again = await game.main("reset", kind="same")
    check("reset is the same game", again["power_on"] == before["power_on"] and again["boundary"] == 0, again)
    check("in name another", again["game"] != before["main"]["game"], again)
    first = await game.main("run", text="2s4hjl10s", on_more="dismiss")
    replayed = await game.call("history", **{"from": 0}, limit=500)
    stray = await game.fork("9s")
    await game.call("state_save", machine=stray["machine"], name="stray")
    await game.main("run", text="2s", on_more="dismiss")
    await next_journal("reset")
    renewed = await game.main("reset", kind="new_seed")
    record, old = renewed["power_on"], again["power_on"]
    check("new seeds are new", record["seed"] != old["seed"] and record["display_seed"] != old["display_seed"], record)
    rest = {field: value for field, value in record.items() if not field.endswith("seed")}
    check("and all else is as it was", rest == {field: old[field] for field in rest}, (record, old))
    await game.main("run", text="5s", on_more="dismiss")
    # Another game's line is no line of this one.
    refused = await game.call("fork_adopt", fork=stray["machine"], revision=game.revision)
    check.code("a fork of another power-on", refused, "INVALID_ARGUMENT")
    check("it says what to do", "state_load" in refused["error"]["message"], refused)
    tip = await game.call("observe")
    await next_journal("reset with new seeds")
    loaded = await game.main("state_load", name="stray", into="main")
    check("main is what was saved", loaded["screen"] == stray["screen"] and loaded["machine"] == "main", loaded)
    check("and goes back to its own power-on", loaded["power_on"] == old, loaded)
    kept = await game.call("observe", machine=loaded["old_tip"])
    check("the old tip stays", kept["screen"] == tip["screen"] and kept["game"] == tip["game"], kept)
    ran = await game.fork_run(loaded["old_tip"], kept["revision"], "3s")
    check("and plays on", ran["boundary"] > kept["boundary"], ran)
    lucky = await game.fork("6s", luck="reseed", luck_seed="9")
    await game.main("fork_adopt", fork=lucky["machine"], luck="take")
    await game.main("run", text="4s", on_more="dismiss")
    await game.main("seek", boundary=first["boundary"])
    check("it came by the same inputs", (await game.call("history", **{"from": 0}))["inputs"] == replayed["inputs"])
    # A state of the same power-on is adopted though it is of another game.
    equal = await game.call("state_load", name="stray")
    adopted = await game.main("fork_adopt", fork=equal["machine"])
    check("an equal power-on is enough", adopted["screen"] == stray["screen"], adopted)
    await game.main("run", text="2s", on_more="dismiss")
    sought = await game.main("seek", boundary=3)
    check("back to the beginning", sought["boundary"] == 3, sought)
    await next_journal("state_load")
    check.code("a movie while a game runs", await game.call("movie_open", name="a-f1"), "GAME_ACTIVE")
    await game.call("quit_game")
    check.code("a quit game has no past", await game.call("seek", revision=(await game.call("observe"))["revision"], boundary=0), "GAME_OVER")
    opened = await game.call("movie_open", name="a-f1")
    game.revision = opened["revision"]
    fork = await game.call("observe", machine="f1")
    check("a movie goes on from its end", opened["screen"] == fork["screen"] and opened["inputs"] == fork["boundary"], opened)
    await game.main("run", text="3s", on_more="dismiss")
    await next_journal("movie_open")
    name = os.path.basename(left[0][0]).removesuffix(".movie")
    await game.call("quit_game")
    opened = await game.call("movie_open", name=name)
    check("a journal is a movie", opened.get("inputs") == left[0][1], (opened, left[0]))
    await game.call("quit_game")
    await next_journal("a journal opened")
    check("journals are numbered", [path for path, _ in left] == sorted(path for path, _ in left), left)
    for path, boundary in left:
        verified = await game.call("movie_verify", name=os.path.basename(path))
        exact = (verified.get("verdict"), verified.get("inputs")) == ("exact", boundary)
        check(f"seed {SEED}: journal {path} replays to boundary {boundary}", exact, verified)
        other = independent(path)
        check(f"{path} in another process", (other["status"], other.get("verdict")) == (0, "exact"), other)
        check("it has its last line", '"end"' in open(path).read().splitlines()[-1], path)


async def experiment():
    with scratch() as directory:
        movies = os.path.join(directory, "journals")
        options = ["mcp", "--movies", movies, "--out-dir", directory]
        async with Client(StdioServerParameters(command=PROGRAM, args=options)) as client:
            game = Game(client, (await client.list_tools()).tools)
            check.code("nothing to be reset", await game.call("reset", revision=1, kind="same"), "NO_GAME")
            check.code("nothing to go back in", await game.call("seek", revision=1, boundary=0), "NO_GAME")
            await forks_and_jumps(game, directory)
            await screenshots(game)
            await journals(game, directory, movies)


def watched(directory, *options, **popen):
    watch = Watched(PROGRAM, check, directory, *options, **popen)
    return watch.server, watch


def late():
    """Point (e): after each kind of jump, what was decided before it changes nothing, nor does the jump again."""
    with scratch() as directory:
        server, watch = watched(directory)
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            played = server.call("run", revision=game["revision"], text="5s4hj", on_more="dismiss")
            fork = server.call("fork_create")["forks"][0]
            server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="3s", on_more="dismiss")
            server.call("state_save", name="saved")
            server.call("movie_export", name="saved")
            old = [game["revision"], played["revision"]]

            def jump(tool, code="STALE", **given):
                revision = server.call("observe")["revision"]
                if tool not in ("new_game", "movie_open"):
                    given = {**given, "revision": revision}
                # Twice at once: whichever comes second is late.
                results = [structured(server.answer(call)) for call in [server.start_call(tool, **given) for _ in range(2)]]
                done = [result for result in results if "error" not in result]
                check(f"{tool} twice at once is done once", len(done) == 1, results)
                codes = [result["error"]["code"] for result in results if "error" in result]
                check(f"the other {tool} is {code}", codes == [code], codes)
                late_calls(server, watch, f"{tool} {given}", [*old, revision], (tool, given, code))
                old.append(revision)

            jump("seek", boundary=played["boundary"] - 2)
            jump("fork_adopt", fork=fork["id"])
            jump("reset", kind="same")
            jump("reset", kind="new_seed")
            jump("state_load", name="saved", into="main")
            for tool, given in [("new_game", {"seed": "3"}), ("movie_open", {"name": "saved"})]:
                view = server.call("observe")
                revision, game = view["revision"], view["game"]
                check("a game ends by its id", server.call("quit_game", game=game).get("state") == "aborted")
                check("twice is once", server.call("quit_game", game=game).get("state") == "aborted")
                old.append(revision)
                jump(tool, code="GAME_ACTIVE", **given)
                watch.begin()
                check.code(f"a quit_game of the game before {tool}", server.call("quit_game", game=game), "STALE")
                calls = {"revision": watch.view["revision"], "game": game}
                check.code("also with the right revision", server.call("quit_game", **calls), "STALE")
                watch.unchanged("quit_game of another game")
            everything_at_once(server, watch)
            view = server.call("observe")
            waits = server.start_call("observe", since_revision=view["revision"], wait_ms=60_000)
            begun = server.call("reset", revision=view["revision"], kind="same")
            seen = structured(server.answer(waits))
            check("who waits for a change sees the next game", seen.get("revision") == begun["revision"], (seen, begun))
            old.append(server.call("observe")["revision"])
            check("EOF", server.close() == 0)
        server, watch = watched(directory, "--resume", "latest")
        with server:
            late_calls(server, watch, "a restart", old, None)


def late_calls(server, watch, what, revisions, again):
    """Calls of before a jump, and the jump again."""
    watch.begin()
    for revision in revisions:
        for tool, given in changing(revision).items():
            check.code(f"{tool} of {revision} after {what}", server.call(tool, **given), "STALE")
    if again:
        tool, given, code = again
        check.code(f"{tool} once more", server.call(tool, **given), code)
    watch.unchanged(f"what comes late after {what}")


def everything_at_once(server, watch):
    """Of calls that would each be right, one acts, and what comes of it is what it alone would have done."""
    view = server.call("observe")
    calls = changing(view["revision"])
    given = [(tool, calls[tool]) for tool in ("press", "run", "seek", "reset", "fork_adopt", "state_load", "respond")]
    sent = [(tool, server.start_call(tool, **arguments)) for tool, arguments in given * 2]
    results = [(tool, structured(server.answer(call))) for tool, call in sent]
    acted = [tool for tool, result in results if "error" not in result]
    codes = {result["error"]["code"] for _, result in results if "error" in result}
    check("of all changes at once one is made", len(acted) == 1, results)
    check("and all others are late", codes == {"STALE"}, results)
    check("main goes on", server.call("observe")["revision"] != view["revision"])
    check("and verifies", server.call("movie_verify").get("verdict") == "exact")


def long_jumps():
    """A long seek and a long movie_open report progress and are cancelled without effect; as operations they end."""
    with scratch() as directory:
        server, watch = watched(directory, "--wait-ms", "120000")
        with server:
            server.call("new_game", seed="11", role="valkyrie")
            fork = server.call("fork_create")["forks"][0]
            # Looking takes no time in the game, so that nobody starves.
            view = fork
            for _ in range(4):
                text = ":s" + ":" * 29_998
                view = server.call("fork_run", fork=fork["id"], revision=view["revision"], text=text, force=True)
            server.call("movie_export", source=fork["id"], name="long")
            ended = server.call("quit_game")

            def start():
                arguments, meta = {"name": "long"}, {"progressToken": "p"}
                return server.send("tools/call", {"name": "movie_open", "arguments": arguments, "_meta": meta})

            watch.begin()
            call = start()
            while server.next_message().get("method") != "notifications/progress":
                pass
            check("others are answered meanwhile", server.call("observe") == ended)
            # One that would begin a game waits for its turn, and can be told not to.
            waits = server.start_call("new_game", seed="1")
            server.send("notifications/cancelled", {"requestId": waits, "reason": "no"}, has_id=False)
            check("also while another waits", server.call("observe") == ended)
            server.send("notifications/cancelled", {"requestId": call, "reason": "enough"}, has_id=False)
            cancelled = wait_until(lambda: server.call("movie_open", name="missing").get("error"), 60)
            check("a cancelled one lets the next in", cancelled)
            watch.unchanged("a movie_open that is cancelled")
            opened = structured(server.answer(start()))
            check("a long movie is opened", opened.get("inputs") == 120_000, opened)
            check("it is saved", "error" not in server.call("state_save", name="longest"))
            watch.begin()
            for into in ({"into": "fork"}, {"into": "main", "revision": watch.view["revision"]}):
                # It may be done before it hears of it; half of it is never done.
                loads = server.start_call("state_load", name="longest", **into)
                server.send("notifications/cancelled", {"requestId": loads, "reason": "enough"}, has_id=False)
                looked = server.call("observe")
                check(f"others are answered while a state is loaded {into}", looked["boundary"] == 120_000, looked)
            check("a load is the whole of it", wait_until(lambda: server.call("info")["main"]["boundary"] == 120_000, 30))
            opened = server.call("observe")
            sought = server.call("seek", revision=opened["revision"], boundary=17_777)
            check("and gone back in", sought.get("boundary") == 17_777, sought)
            check("and verified", server.call("movie_verify").get("verdict") == "exact")
            check("EOF", server.close() == 0)
        server, watch = watched(directory, "--wait-ms", "1")
        with server:
            opened = server.call("movie_open", name="long")
            check("a long call becomes an operation", opened.get("running") is True, opened)
            look = server.call("observe", operation=opened["operation"], wait_ms=60_000, layers=[])
            while look["operation"]["state"] == "running":
                look = server.call("observe", operation=opened["operation"], wait_ms=60_000, layers=[])
            result = look["operation"].get("result", {})
            check("whose result comes", result.get("inputs") == 120_000, look)
            check("once", server.call("observe")["revision"] == result.get("revision"), look)


for part in [lambda: asyncio.run(experiment()), late, long_jumps]:
    try:
        part()
    except Exception:
        check("a part of the gate", False, traceback.format_exc()[-3000:])
check.finish()
