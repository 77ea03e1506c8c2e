"""The real game through each kind of prompt in its variants, by the `mcp` client of PyPI."""

import asyncio
import json
import pathlib
import re
import sys
import traceback

import jsonschema

import situations as of
from harness import Checks
from walk import walking

PROGRAM = sys.argv[1]
check = Checks("walk")
DEBUG = ["--allow-debug", "--seed", "7", "--role", "wizard", "--race", "human", "--gender", "female", "--alignment",
         "neutral", "--options", "!autopickup,playmode:debug"]


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


async def the_documents_examples():
    """Each kind has an example, of the shape that `observe` gives, and an answer of the shape that its tool takes."""
    docs = pathlib.Path(__file__).parents[2] / "docs" / "prompts.md"
    rows = [line.split(" | ") for line in docs.read_text().splitlines() if line.startswith('| `{"kind"')]
    async with walking(PROGRAM, check, *of.VALKYRIE) as walk:
        tools = {tool.name: tool for tool in (await walk.client.list_tools()).tools}
        for told, _, answers in rows:
            pending = json.loads(re.search(r"`(\{.*?\})`", told)[1])
            faults = walk.shapes.faults("observe", {**await walk.call("observe"), "pending": pending})
            check(f"docs: {told} is a pending", not faults, faults)
            for tool, arguments in re.findall(r"`(press|respond|select_menu) (\{.*?\})`", answers):
                given = {"revision": 1, **json.loads(arguments)}
                faults = [fault.message for fault in jsonschema.Draft202012Validator(tools[tool].input_schema).iter_errors(given)]
                check(f"docs: {tool} {arguments} can be called", not faults, faults)
        kinds = {json.loads(re.search(r"`(\{.*?\})`", row[0])[1])["kind"] for row in rows}
        check("docs: each kind has an example", len(kinds) == 12, kinds)


async def other_games():
    for arguments, situations in of.OTHERS:
        async with walking(PROGRAM, check, *arguments) as walk:
            for situation in situations:
                await walk.visit(situation)


async def all_walks():
    await debug_mode()
    await other_games()
    await the_documents_examples()


try:
    asyncio.run(all_walks())
except Exception:
    check("the whole walk", False, traceback.format_exc()[-3000:])
check.finish()
