"""A whole experiment through the `mcp` client of PyPI: play, menus, texts, forks, movies, a death, a second game."""

import asyncio
import base64
import hashlib
import os
import random
import subprocess
import sys
import traceback

from mcp import Client, StdioServerParameters

from harness import Checks, Shapes, scratch

PROGRAM = sys.argv[1]
SEED = os.environ.get("NETHACK_LAB_TEST_SEED", "20")
INPUTS_MIN = 2_000
check = Checks("play")


class Game:
    """The server through the client; each result is held against its schema, in shape and size."""

    def __init__(self, client, shapes):
        self.client, self.shapes, self.revision, self.last = client, shapes, None, {}
        self.largest = 0

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        content = result.structured_content
        faults = self.shapes.faults(tool, content)
        if faults:
            check(f"shape of {tool}'s result", False, (arguments, faults))
        self.largest = max(self.largest, len(result.content[0].text))
        self.resources = [block.resource for block in result.content[1:] if block.type == "resource"]
        self.images = [block for block in result.content[1:] if block.type == "image"]
        return content

    async def main(self, tool, **arguments):
        """A call that plays on main, on the newest revision."""
        content = await self.call(tool, revision=self.revision, **arguments)
        if "error" not in content:
            self.revision, self.last = content["revision"], content
        return content

    async def new_game(self, **arguments):
        self.last = await self.call("new_game", **arguments)
        self.revision = self.last["revision"]
        return self.last


def choose_command(rng, turn):
    """A tool and its arguments for a hero who is free to act."""
    moves = [("run", {"text": rng.choice("hjklyubn")}) for _ in range(12)]
    others = [
        ("run", {"text": f"{rng.randint(2, 9)}s", "turns_max": 20}),
        ("run", {"text": rng.choice("HJKLYUBN"), "on_more": "dismiss"}),
        ("press", {"key": "i"}),
        ("press", {"key": "D"}),
        ("press", {"key": ","}),
        ("press", {"key": ";"}),
        ("press", {"key": "E"}),
        ("press", {"key": "C"}),
        ("press", {"key": "e"}),
        ("press", {"key": "\\"}),
        ("press", {"key": "CTRL_X"}),
        ("respond", {"extended": rng.choice(["enhance", "conduct", "overview", "chat", "name"])}),
        ("respond", {"command": "s", "count": rng.randint(2, 5)}),
    ]
    return rng.choice(moves + others) if turn % 3 else rng.choice(others)


def choose_answer(rng, view):
    """A tool and its arguments for what the game waits for."""
    pending = view["pending"]
    kind = pending["kind"]
    if kind in ("more", "window"):
        return "respond", {"acknowledge": True}
    if kind == "menu":
        menu = view["menu"]
        entries = [entry for entry in menu["entries"] if entry["selectable"]]
        if menu["pick"] == "none":
            return "select_menu", {"selections": []}
        if menu["pick"] == "one":
            if not entries or rng.random() < 0.3:
                return "select_menu", {"cancel": True}
            return "select_menu", {"selections": [{"entry_id": rng.choice(entries)["id"]}]}
        picked = rng.sample(entries, min(len(entries), rng.randint(0, 2)))
        return "select_menu", {"selections": [{"entry_id": entry["id"]} for entry in picked]}
    if kind == "direction":
        return "respond", {"direction": rng.choice(["north", "southwest", "down", "l"])}
    if kind == "item":
        letters = [letter for letter in pending.get("answers", "") if letter.isalpha()]
        return "respond", {"item": rng.choice(letters)} if letters else {"cancel": True}
    if kind == "choice":
        answers = [answer for answer in pending.get("answers", "") if answer in "ynq"]
        return "respond", {"choice": rng.choice(answers)} if answers else {"cancel": True}
    if kind == "text":
        return "respond", {"text": rng.choice(["Elbereth", "a b c", "", "x" * 20])}
    if kind == "position":
        return "respond", {"position": {"row": rng.randint(1, 21), "column": rng.randint(0, 78)}}
    if kind == "extended":
        return "respond", {"extended": "chat"}
    return "press", {"key": "ESC"}


async def play(game, rng, inputs):
    """Plays until so many inputs lie behind main; gives how often each kind of prompt was answered."""
    kinds, refused, calls = {}, [], 0
    while game.last["boundary"] < inputs and "pending" in game.last:
        calls += 1
        kind = game.last["pending"]["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
        tool, arguments = choose_command(rng, calls) if kind == "command" else choose_answer(rng, game.last)
        before = game.last
        content = await game.main(tool, **arguments)
        if "error" in content:
            refused.append((kind, tool, arguments, content["error"]))
            content = await game.main("press", key="ESC")
        elif tool in ("respond", "select_menu") and not content["answered"]:
            unsent = content["unsent"]
            check("an answer that is cut short says so", unsent > 0 or content["stop"] != "done", (before, content))
        elif kind == "window":
            text = before["window"]
            check("what is closed is told", content["read"]["lines"] == text["total"], (text, content))
            gone = content.get("pending", {}).get("kind") != "window" or content["window"] != text
            check("and it is closed", gone or not text["whole"], content)
        if content.get("sent", 0) + content.get("dismissed", 0) != content["boundary"] - before["boundary"]:
            check("inputs are counted", False, (tool, arguments, before["boundary"], content))
    return kinds, refused, calls


async def long_game(game):
    rng = random.Random(int(SEED))
    begun = await game.new_game(seed=SEED, role="valkyrie", race="dwarf")
    check("a game begins", begun["pending"]["kind"] in ("command", "more"), begun)
    kinds, refused, calls = await play(game, rng, INPUTS_MIN)
    print(f"seed {SEED}: {game.last['boundary']} inputs in {calls} calls, prompts {kinds}", flush=True)
    check("inputs enough", game.last["boundary"] >= INPUTS_MIN or "pending" not in game.last, game.last)
    for kind in ("command", "menu", "text", "item", "position"):
        check(f"{kind} prompts were answered", kinds.get(kind, 0) > 0, kinds)
    check("answers fit their prompts", len(refused) * 50 <= calls, refused[:3])
    check("no answer over 10,000 tokens", game.largest < 30_000, game.largest)


async def refusals(game):
    while game.last.get("pending", {}).get("kind") not in (None, "command"):
        await game.main("press", key="ESC")
    stale = await game.call("press", revision=game.revision - 1, key="s")
    check.code("an old revision", stale, "STALE")
    quit_keys = [*"#quit", "ENTER"]
    question = await game.main("run", keys=quit_keys)
    check("quit asks", question["pending"]["kind"] == "choice", question)
    held = await game.main("run", text="y")
    check("a y that was a move answers no question", held["stop"] == "not_accepted" and held["sent"] == 0, held)
    check("what was not sent is told", held["unsent_keys"] == ["y"], held)
    wrong = await game.main("press", key="h")
    check.code("a key that is no answer", wrong, "WRONG_PENDING")
    check("it says what is asked", wrong["error"]["pending"]["kind"] == "choice", wrong)
    check.code("a text where a choice is asked", await game.main("respond", text="yes"), "WRONG_PENDING")
    check.code("a choice that isn't offered", await game.main("respond", choice="x"), "INVALID_RESPONSE")
    answered = await game.main("respond", choice="n")
    check("n goes on", answered["pending"]["kind"] == "command", answered)
    parts = [{"keys": quit_keys}, {"keys": ["n"], "expect": "choice"}, {"text": "s"}]
    whole = await game.main("run", segments=parts)
    check("segments answer what they expect", whole["stop"] == "done" and whole["unsent"] == 0, whole)
    other = [{"text": "s"}, {"keys": ["n"], "expect": "choice"}]
    cut = await game.main("run", segments=other)
    check("and stop where it doesn't come", cut["stop"] == "not_accepted" and cut["unsent"] == 1, cut)


async def menus(game):
    while game.last.get("pending", {}).get("kind") not in (None, "command"):
        await game.main("press", key="ESC")
    listed = await game.main("press", key="i", layers=["menu", "map", "inventory"])
    check("the inventory has nothing to pick", listed["menu"]["pick"] == "none", listed)
    check("a covered map gives no rows", listed["map"]["covered"] and "rows" not in listed["map"], listed)
    check("classes have names", all(isinstance(item["class"], str) for item in listed["inventory"]), listed)
    wrong = await game.main("respond", choice="y")
    check.code("an answer that a menu doesn't take", wrong, "WRONG_PENDING")
    check("it names what does", "`acknowledge`" in wrong["error"]["message"], wrong)
    closed = await game.main("respond", acknowledge=True)
    check("acknowledge closes it", closed["answered"] and closed["pending"]["kind"] == "command", closed)
    look = await game.main("press", key=";")
    check("a position is asked for in words", "Pick" in look["pending"]["prompt"], look)
    await game.main("press", key="ESC")
    opened = await game.main("run", text="D")
    menu = opened["menu"]
    check("D opens a menu", menu["pick"] == "any" and opened["pending"]["kind"] == "menu", opened)
    entries = [entry for entry in menu["entries"] if entry["selectable"]]
    heading = [entry for entry in menu["entries"] if not entry["selectable"]]
    for what, selections in [
        ("no such entry", [{"entry_id": 9_999}]),
        ("an entry twice", [{"entry_id": entries[0]["id"]}] * 2),
        ("a count of none", [{"entry_id": entries[0]["id"], "count": 0}]),
        *[("a heading", [{"entry_id": entry["id"]}]) for entry in heading[:1]],
    ]:
        check.code(what, await game.main("select_menu", selections=selections), "INVALID_SELECTION")
    check.code("a key that the menu doesn't know", await game.main("press", key="CTRL_F"), "WRONG_PENDING")
    unchanged = await game.call("observe", layers=["menu"])
    check("the menu is as it was", unchanged["menu"] == menu, unchanged)
    chosen = await game.main("select_menu", selections=[{"entry_id": entries[0]["id"]}])
    check("a menu is answered", chosen["answered"], chosen)
    while game.last["pending"]["kind"] == "menu":
        await game.main("select_menu", cancel=True)


async def forks(game):
    while game.last.get("pending", {}).get("kind") not in (None, "command"):
        await game.main("press", key="ESC")
    main = await game.call("observe")
    made = await game.call("fork_create", count=2)
    one, two = made["forks"]
    diff = await game.call("fork_diff", a="main", b=one["id"])
    check("a fork is its parent", diff["images_same"] and diff["visible_same"], diff)
    runs = [
        await game.call("fork_run", fork=fork["id"], revision=fork["revision"], text="9sjkjk", on_more="dismiss")
        for fork in (one, two)
    ]
    check("same luck, same keys", runs[0]["screen"] == runs[1]["screen"], runs)
    diff = await game.call("fork_diff", a=one["id"], b=two["id"])
    check("byte for byte", diff["images_same"], diff)
    diff = await game.call("fork_diff", a="main", b=one["id"])
    check("a fork that ran differs", not diff["images_same"] and diff["turns"]["delta"] > 0, diff)
    check("cells are counted", diff["cells"]["total"] > 0 and "items" not in diff["cells"] and diff["rows"], diff)
    whole = await game.call("fork_diff", a="main", b=one["id"], cells=True, glyphs=True, limit=3)
    check("and listed on request", 0 < len(whole["cells"]["items"]) <= 3 and "items" in whole["glyphs"], whole)
    check("main did not move", await game.call("observe") == main)
    lucky = (await game.call("fork_create", luck="reseed", luck_seed="77"))["forks"][0]
    diff = await game.call("fork_diff", a="main", b=lucky["id"])
    check("new luck shows in nothing visible", diff["only_random_state"] and not diff["play_same"], diff)
    early = (await game.call("fork_create", boundary=10))
    check("a fork of the past", early["boundary"] == 10, early)
    past = await game.call("observe", machine=early["forks"][0]["id"])
    check("stands there", past["boundary"] == 10, past)
    refused = await game.main("fork_adopt", fork=lucky["id"])
    check.code("luck is not taken unasked", refused, "INVALID_ARGUMENT")
    stale = await game.call("fork_adopt", fork=one["id"], revision=game.revision - 1)
    check.code("an old revision adopts nothing", stale, "STALE")
    adopted = await game.main("fork_adopt", fork=one["id"])
    check("main is where the fork is", adopted["screen"] == runs[0]["screen"], adopted)
    check("its inputs are taken over", adopted["inputs"] == runs[0]["boundary"] - main["boundary"], adopted)
    tip = await game.call("observe", machine=adopted["old_tip"])
    check("the old tip stays", tip["screen"] == main["screen"] and tip["boundary"] == main["boundary"], tip)
    replayed = await game.call("fork_run", fork=two["id"], revision=runs[1]["revision"], text="2s", on_more="dismiss")
    honest = await game.main("fork_adopt", fork=two["id"], mode="replay")
    check("replay presses the fork's keys", honest["screen"] == replayed["screen"], (honest, replayed))
    listed = await game.call("fork_list")
    check("forks are listed", {one["id"], two["id"], lucky["id"]} <= {fork["id"] for fork in listed["forks"]}, listed)
    for fork in listed["forks"]:
        await game.call("fork_delete", fork=fork["id"])
    check("and deleted", (await game.call("fork_list"))["total"] == 0)
    again = (await game.call("fork_create"))["forks"][0]["id"]
    check("names are not used again", again not in {fork["id"] for fork in listed["forks"]}, again)
    await game.call("fork_delete", fork=again)


async def movies(game, directory, name):
    exported = await game.call("movie_export", name=name)
    path = os.path.join(directory, f"{name}.movie")
    data = open(path, "rb").read()
    check("the digest is the file's", hashlib.sha256(data).hexdigest() == exported["sha256"], exported)
    check.code("never over a file that is there", await game.call("movie_export", name=name), "FILE_EXISTS")
    check("it is as it was", open(path, "rb").read() == data)
    inline = await game.call("movie_export", inline=True)
    blob = base64.b64decode(game.resources[0].blob)
    check("inline it is the same", blob == data and inline["sha256"] == exported["sha256"], inline)
    verified = await game.call("movie_verify", name=name)
    check("the movie is exact", verified.get("verdict") == "exact", verified)
    check("all of it was replayed", verified["inputs"] == verified["inputs_recorded"] == game.last["boundary"], verified)
    check("so is main's", (await game.call("movie_verify", source="main")).get("verdict") == "exact")
    lines = data.decode().splitlines(keepends=True)
    where = next(index for index, line in enumerate(lines) if line.startswith('{"inputs"'))
    keys_at = lines[where].index('"keys":"') + len('"keys":"')
    place = next(at for at in range(keys_at + 40, len(lines[where])) if lines[where][at] in "hjkl")
    swap = {"h": "l", "l": "h", "j": "k", "k": "j"}[lines[where][place]]
    lines[where] = lines[where][:place] + swap + lines[where][place + 1:]
    with open(os.path.join(directory, f"{name}-changed.movie"), "w") as file:
        file.writelines(lines)
    changed = await game.call("movie_verify", name=f"{name}-changed")
    check("a changed movie fails", changed.get("verdict") in ("desync", "altered"), changed)
    if changed.get("verdict") == "desync":
        check("and names the input", changed["first_difference"]["input"] >= 0, changed)
    with open(os.path.join(directory, f"{name}-torn.movie"), "wb") as file:
        file.write(data[: len(data) // 2])
    torn = await game.call("movie_verify", name=f"{name}-torn")
    check("a torn movie is judged as far as it goes", torn["verdict"] in ("exact", "cannot-judge"), torn)
    with open(os.path.join(directory, f"{name}-junk.movie"), "wb") as file:
        file.write(b"junk\n")
    check("junk can't be judged", (await game.call("movie_verify", name=f"{name}-junk"))["verdict"] == "cannot-judge")
    missing = await game.call("movie_verify", name="nothing")
    check.code("a name that is none", missing, "REFUSED_PATH")
    check("it names those there are", f"{name}-torn" in missing["error"]["message"], missing)


async def exports(game, directory, name):
    """What was seen, as files: byte for byte what the command makes of the exported movie."""
    end = game.last["boundary"]
    endings = {"ttyrec": "ttyrec", "cast": "cast", "png": "png", "text": "txt"}
    for number, (form, span) in enumerate([
        ("ttyrec", {}),
        ("ttyrec", {"from": end // 3, "to": end // 2}),
        ("cast", {"to": end // 2}),
        ("cast", {"from": end - end // 4}),
        ("png", {}),
        ("png", {"at": end // 2}),
        ("text", {}),
        ("text", {"at": 0}),
    ]):
        stem = f"{name}-{number}"
        exported = await game.call("movie_export", format=form, name=stem, **span)
        ours = os.path.join(directory, f"{stem}.{endings[form]}")
        if not check(f"{form} of {span} is a file", exported.get("path") == ours and os.path.exists(ours), exported):
            continue
        theirs = os.path.join(directory, f"{stem}-command")
        options = [text for field, value in span.items() for text in (f"--{field}", str(value))]
        movie = os.path.join(directory, f"{name}.movie")
        command = [PROGRAM, "movie", "export", movie, f"--{form}", theirs, *options]
        subprocess.run(command, check=True, capture_output=True)
        data = open(ours, "rb").read()
        check(f"{form} of {span} is what the command writes", data == open(theirs, "rb").read(), exported)
        told = (exported["bytes"], exported["sha256"])
        check(f"{form}'s size and digest are told", told == (len(data), hashlib.sha256(data).hexdigest()), exported)
        first, last = span.get("from", span.get("at", 0)), span.get("to", span.get("at", end))
        first = last if form in ("png", "text") else first
        found = (exported["format"], exported["from"], exported["to"], exported["frames"])
        check(f"what is in the {form} of {span}", found == (form, first, last, last - first + 1), exported)
        again = await game.call("movie_export", format=form, name=stem, **span)
        check.code(f"no {form} over a file that is there", again, "FILE_EXISTS")
        if form in ("png", "text"):
            inline = await game.call("movie_export", format=form, inline=True, **span)
            block = game.images[0].data if form == "png" else game.resources[0].blob
            check(f"inline the {form} is the same", base64.b64decode(block) == data, inline)
    lucky = (await game.call("fork_create", boundary=end // 2, luck="reseed", luck_seed="8"))["forks"][0]
    await game.call("fork_run", fork=lucky["id"], revision=lucky["revision"], text="20s10s", force=True)
    await game.call("movie_export", source=lucky["id"], name="lucky")
    exported = await game.call("movie_export", source=lucky["id"], format="cast", name="lucky")
    theirs = os.path.join(directory, "lucky-command")
    movie = os.path.join(directory, "lucky.movie")
    subprocess.run([PROGRAM, "movie", "export", movie, "--cast", theirs], check=True, capture_output=True)
    same = open(exported["path"], "rb").read() == open(theirs, "rb").read()
    check("new luck on the way is in it", same and exported["frames"] == end // 2 + 7, exported)
    await game.call("fork_delete", fork=lucky["id"])
    own = await game.call("movie_export", format="ttyrec", inline=False)
    check("without one it gets a name of its own", own.get("path", "").endswith(f"/{own.get('name')}.ttyrec"), own)
    for span, field in [
        ({"format": "png", "from": 1}, "from"),
        ({"format": "cast", "at": 1}, "at"),
        ({"to": 1}, "to"),
        ({"format": "ttyrec", "from": 9, "to": 8}, "from"),
        ({"format": "ttyrec", "to": end + 1}, "to"),
        ({"format": "text", "at": end + 1}, "at"),
        ({"format": "gif"}, "format"),
    ]:
        refused = await game.call("movie_export", name="refused", **span)
        check.code(f"an export of {span}", refused, "INVALID_ARGUMENT")
        check(f"names {field}", refused.get("error", {}).get("field") == field, refused)
    check.code("a path", await game.call("movie_export", format="png", name="../x"), "REFUSED_PATH")
    check.code("another's ending", await game.call("movie_export", format="png", name="x.movie"), "REFUSED_PATH")
    left = [file for file in os.listdir(directory) if file.startswith((".", "refused"))]
    check("nothing is left of what was refused", not left, left)


async def store(game):
    """What the save states take is counted, and forks give back what they took."""
    before = (await game.call("info"))["store"]
    check("states are whole or differences", before["states"] == before["keyframes"] + before["deltas"] > 0, before)
    check("they share files and keep to their budget", 0 < before["bytes"] <= before["bytes_max"], before)
    check("all is told", before["blobs"] >= 0 and before["spill_bytes"] == 0, before)
    made = await game.call("fork_create", luck="reseed", luck_seed="5", count=7)
    forked = (await game.call("info"))["store"]
    check("each fork is a state", forked["states"] >= before["states"] + 7, (before, forked))
    check("and takes room", before["bytes"] < forked["bytes"], (before, forked))
    for fork in made["forks"]:
        await game.call("fork_delete", fork=fork["id"])
    after = (await game.call("info"))["store"]
    check("which comes back", after == before, (before, after))


async def death(game):
    """Kicks walls until the hero dies of it."""
    await game.call("quit_game")
    await game.new_game(seed="3", role="tourist")
    for _ in range(400):
        pending = game.last.get("pending")
        if not pending:
            break
        if pending["kind"] == "command":
            if "Your" in str(game.last["messages"]) and "shape" in str(game.last["messages"]):
                await game.main("run", text="15s", on_more="dismiss")
                continue
            parts = [{"text": "H"}, {"keys": ["CTRL_D"]}, {"keys": ["h"], "expect": "direction"}]
            await game.main("run", segments=parts, on_more="dismiss")
        elif pending["kind"] in ("more", "window"):
            await game.main("respond", acknowledge=True)
        else:
            await game.main("press", key="ESC")
    check("the hero is dead", game.last.get("ended", {}).get("kind") == "died", game.last)
    check("and the state says so", game.last["state"] == "ended", game.last)
    check("of what", "kick" in game.last.get("ended", {}).get("text", ""), game.last.get("ended"))
    check("nothing is waited for", "pending" not in game.last, game.last)
    check.code("nothing can be pressed", await game.main("press", key="s"), "GAME_OVER")
    verified = await game.call("movie_verify")
    check("the death verifies", verified.get("verdict") == "exact" and verified["ended"]["kind"] == "died", verified)


async def second_game(game):
    first = game.last["game"]
    begun = await game.new_game(seed="0", role="wizard", name="Second")
    check("a second game begins", begun["boundary"] == 0 and begun["game"] != first, begun)
    check("under its name", "Second" in begun["screen"], begun)
    played = await game.main("run", text="10s", on_more="dismiss")
    check("and plays", played["boundary"] >= 3, played)
    check("it verifies", (await game.call("movie_verify")).get("verdict") == "exact")
    changes = await game.main("run", text="5s", layers=["changes"], on_more="dismiss")
    check("changes since the call before", changes["changes"]["turns"] == changes["turns"] > 0, changes)
    log = await game.call("observe", after_message_id=0, limit=1)
    check("messages are paged", [message["id"] for message in log["messages"]] == [1], log)
    history = await game.call("history", **{"from": 0}, layers=["screen"], limit=3)
    check("history", history["inputs"] == ["1", "0", "s"] and history["frame"]["screen"] == begun["screen"], history)


async def experiment(directory):
    parameters = StdioServerParameters(command=PROGRAM, args=["mcp", "--movies", f"{directory}/journals", "--out-dir", directory])
    async with Client(parameters) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for tool in tools.values():
            closed = tool.input_schema.get("additionalProperties") is False
            check(f"{tool.name} is closed and described", closed and tool.output_schema and 0 < len(tool.description) < 2_000)
        game = Game(client, Shapes({name: tool.output_schema for name, tool in tools.items()}))
        check.code("no game yet", await game.call("observe"), "NO_GAME")
        await long_game(game)
        if "pending" not in game.last:
            await game.call("quit_game")
            await game.new_game(seed="5", role="valkyrie")
            await game.main("run", text="20s" * 20, on_more="dismiss")
        await refusals(game)
        await menus(game)
        await forks(game)
        await movies(game, directory, "first")
        await exports(game, directory, "first")
        await store(game)
        await death(game)
        await second_game(game)
        ended = await game.call("quit_game")
        check("the game is quit", ended["state"] == "aborted", ended)
        last = await game.call("observe")
        check("its last frame stays", last["screen"] == ended["screen"], last)


with scratch() as directory:
    try:
        asyncio.run(experiment(directory))
    except Exception:
        check("the whole experiment", False, traceback.format_exc()[-3000:])
check.finish()
