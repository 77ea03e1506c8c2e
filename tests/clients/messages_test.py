"""Every message once and in order: by polling after each call, by the calls' own results, in one poll at the end, and
as NetHack's own history has them. A hero of each role plays random keys."""

import asyncio
import os
import random
import re
import sys
import traceback

from mcp import Client, StdioServerParameters

from harness import Checks

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("NETHACK_LAB_TEST_SEED", "20"))
KEYS = int(os.environ.get("NETHACK_LAB_TEST_KEYS", "400"))
ROLES = ("archeologist barbarian caveman healer knight monk priest rogue ranger samurai tourist valkyrie wizard").split()
# Whole, in order, and as long as the game keeps it.
OPTIONS = "msg_window:full,msghistory:60"
# What the history holds beside messages: prompts with what was answered.
PROMPT = re.compile(r"\?|^# |\[.*\]|^Count:|^Search for:|^Call |^Farvel|^\(For")
check = Checks("messages")


def choose_keys(rng):
    """A few keys of a player who mostly moves, now and then commands, and reads or leaves what comes up."""
    many = rng.random()
    if many < 0.55:
        return [rng.choice("hjklyubnHJKLs")]
    if many < 0.75:
        return rng.choice([["ENTER"], ["SPACE"], ["ESC"], ["y"], ["n"]])
    pools = ["eqrwWTPRdtzac:,iE;_o", "#", "CTRL_D"]
    pool = rng.choices(pools, [8, 1, 2])[0]
    if pool == "#":
        return [*rng.choice(["#pray", "#chat", "#sit", "#force", "#loot"]), "ENTER"]
    return ["CTRL_D", rng.choice("hjkl")] if pool == "CTRL_D" else [rng.choice(pool), rng.choice("abcdef*?-")]


class Game:
    def __init__(self, client):
        self.client, self.last = client, {}

    async def call(self, tool, **arguments):
        return (await self.client.call_tool(tool, arguments)).structured_content

    async def run(self, names):
        content = await self.call("run", revision=self.last["revision"], keys=names, force=True)
        if "error" not in content:
            self.last = content
        return content

    async def after(self, last, limit=2_000):
        return await self.call("observe", after_message_id=last, limit=limit, layers=["messages"])


async def play(game, rng, role):
    """Messages as polled after each call, and as the calls told them."""
    polled, told, sent = [], [], 0
    begun = await game.after(0)
    polled += begun["messages"]
    told += begun["messages"]
    while sent < KEYS and "pending" in game.last:
        names = choose_keys(rng)
        # Never out of the game: quitting and saving ask first, and are refused here.
        if game.last["pending"].get("prompt", "").startswith("Really"):
            names = ["ESC"]
        content = await game.run(names)
        sent += len(names)
        told += content.get("messages", [])
        check(f"{role}: a call's messages are all told", "messages_omitted" not in content, content)
        some = await game.after(polled[-1]["id"] if polled else 0)
        check(f"{role}: nothing is truncated", "messages_truncated" not in some, some)
        polled += some["messages"]
    return polled, told


async def back_to_command(game):
    for _ in range(60):
        if game.last.get("pending", {}).get("kind") in (None, "command"):
            break
        content = await game.run(["ESC"])
        yield content.get("messages", [])


async def history(game):
    """The game's own history, as one line of text, oldest first; ^P shows it as a text."""
    shown = await game.call("run", revision=game.last["revision"], keys=["CTRL_P"], force=True, layers=["window"])
    game.last = {**game.last, **{name: shown[name] for name in ("revision", "pending") if name in shown}}
    lines = list(shown.get("window", {}).get("lines", []))
    await game.run(["ESC"])
    return flat("  ".join(lines[2:]))


def flat(text):
    """Wrapped lines and runs of blanks as one blank; a newline stands as an escape."""
    return re.sub(r"\s+", " ", text.replace("\\x0a", " ")).strip()


def compare(role, past, messages):
    """Goes back through the history; between messages there are only prompts."""
    end, matched = len(past), 0
    for message in reversed(messages):
        text = flat(message["text"])
        at = past.rfind(text, 0, end)
        if at < 0:
            break
        between = past[at + len(text):end].strip()
        fits = not between or PROMPT.search(between)
        if not check(f"{role}: nothing in the history was left out", fits, (between, message, past[-600:])):
            return matched
        end, matched = at, matched + 1
    rest = past[:end].strip()
    # The oldest line that is kept may hold messages together with some that the history has dropped.
    check(f"{role}: the history's messages are ours", len(rest) < 80 or PROMPT.search(rest), (rest[:300], matched))
    return matched


async def one_role(game, role, number):
    seed = SEED * 1_000 + number
    rng = random.Random(seed)
    game.last = await game.call("new_game", seed=str(seed), role=role, options=OPTIONS)
    polled, told = await play(game, rng, f"{role} {seed}")
    async for more in back_to_command(game):
        told += more
    polled += (await game.after(polled[-1]["id"]))["messages"]
    at_once = (await game.after(0))["messages"]
    what = f"{role} {seed} boundary {game.last['boundary']}"
    ids = [message["id"] for message in polled]
    check(f"{what}: ids without gaps", ids == list(range(1, len(ids) + 1)), ids)
    check(f"{what}: polling gives what one poll gives", polled == at_once, (len(polled), len(at_once)))
    check(f"{what}: calls tell the same", told == at_once, (told[-3:], at_once[-3:]))
    paged, last = [], 0
    while page := (await game.after(last, limit=7))["messages"]:
        paged, last = paged + page, page[-1]["id"]
    check(f"{what}: so do pages", paged == at_once, (len(paged), len(at_once)))
    matched = 0
    if game.last.get("pending", {}).get("kind") == "command":
        matched = compare(what, await history(game), at_once)
    await game.call("quit_game")
    return len(ids), matched


async def too_many(game):
    """More messages than one answer holds, and then more than are kept: each is there, or it is said that some are not."""
    game.last = await game.call("new_game", seed="1", role="valkyrie")
    content = await game.run([":"] * 200)
    told = content["messages"]
    check("what one answer leaves out is counted", content["messages_omitted"] + len(told) == 200, content)
    some = await game.after(0)
    ids = [message["id"] for message in some["messages"]]
    check("and can be asked for", ids == list(range(1, 202)) and "messages_truncated" not in some, ids)
    end = ids[-1]
    for _ in range(30):
        await game.run([":"] * 3_600)
        end += 3_600
    some = await game.after(end - 100)
    ids = [message["id"] for message in some["messages"]]
    check("the newest are there", ids == list(range(end - 99, end + 1)) and "messages_truncated" not in some, ids)
    first = await game.after(0, limit=5)
    ids = [message["id"] for message in first["messages"]]
    check("older ones are there, or it is said that they are not",
          (ids[0] == 1) != first.get("messages_truncated", False), (ids, first.get("messages_truncated")))
    check("these are not", first.get("messages_truncated") is True, ids)
    await game.call("quit_game")


async def all_roles():
    parameters = StdioServerParameters(command=PROGRAM, args=["mcp"])
    async with Client(parameters) as client:
        game, said, matched = Game(client), 0, 0
        await too_many(game)
        for number, role in enumerate(ROLES):
            count, same = await one_role(game, role, number)
            said, matched = said + count, matched + same
        print(f"seed {SEED}: {said} messages, {matched} of them held against the game's history", flush=True)
        check("there was enough to hold against it", matched > 100, (said, matched))


try:
    asyncio.run(all_roles())
except Exception:
    check("the whole play", False, traceback.format_exc()[-3000:])
check.finish()
