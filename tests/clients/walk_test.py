"""The real game through each kind of prompt in its variants, by the `mcp` client of PyPI."""

import asyncio
import sys
import traceback

import situations as of
from harness import Checks
from walk import walking

PROGRAM = sys.argv[1]
check = Checks("walk")
DEBUG = ["--allow-debug", "--seed", "7", "--role", "wizard", "--race", "human", "--gender", "female", "--alignment",
         "neutral", "--options", "!autopickup"]


async def debug_mode():
    async with walking(PROGRAM, check, *DEBUG) as walk:
        for name, parts, before in of.BASES:
            await walk.base(name, *parts, of=before)
        for theme in (of.COMMANDS, of.ITEMS, of.QUESTIONS, of.TEXTS, of.MENUS, of.READING, of.PLACES, of.TRADE):
            for situation in theme:
                await walk.visit(situation)
        print(f"visited {sum(walk.kinds.values())} prompts in debug mode: {walk.kinds}", flush=True)
        for kind in ("command", "count", "direction", "item", "choice", "text", "menu", "more", "window", "position",
                     "extended", "key"):
            check(f"{kind} was visited", walk.kinds.get(kind, 0) > 0, walk.kinds)


async def other_games():
    for arguments, situations in of.OTHERS:
        async with walking(PROGRAM, check, *arguments) as walk:
            for situation in situations:
                await walk.visit(situation)


async def all_walks():
    await debug_mode()
    await other_games()


try:
    asyncio.run(all_walks())
except Exception:
    check("the whole walk", False, traceback.format_exc()[-3000:])
check.finish()
