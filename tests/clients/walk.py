"""Situations of the real game, and what must hold in each: the prompt is told truthfully, wrong answers change nothing,
ESC backs out, right answers do what was meant, and the journal holds keys only."""

import base64
import contextlib
import json
import re

from mcp import Client, StdioServerParameters

from harness import Shapes

# One answer of each kind to `respond`, and the kinds of prompt that it is for.
ANSWERS = {
    "command": ({"command": "s"}, ("command",)),
    "extended": ({"extended": "pray"}, ("command", "extended")),
    "direction": ({"direction": "north"}, ("direction",)),
    "item": ({"item": "a"}, ("item",)),
    "choice": ({"choice": "y"}, ("choice",)),
    "text": ({"text": "x"}, ("text",)),
    "position": ({"position": {"row": 5, "column": 5}}, ("position",)),
    "acknowledge": ({"acknowledge": True}, ("more", "window")),
}
# A key that means nothing at a prompt of a kind.
NO_KEY = {"choice": "&", "more": "y", "window": "y", "menu": "CTRL_F"}
# Of these prompts an older ROM names no keys.
LATER_NAMED = ("direction", "position", "more")


def keys(text):
    """Keys as in `d{ESC}`: names in braces, a newline for ENTER, a blank for SPACE, else each character one key."""
    named = {"\n": "ENTER", " ": "SPACE"}
    parts = re.findall(r"\{(\w+[\\\]^]?)\}|(.)", text, re.S)
    return [name or named.get(character, character) for name, character in parts]


class Right:
    """An answer that is taken, and what shows that it did what was meant. Without `tool` it is one of `respond`.
    `later`: only where the ROM names the prompt's keys."""

    def __init__(self, proof, tool="respond", answered=True, later=False, **arguments):
        self.proof, self.tool, self.answered, self.arguments = proof, tool, answered, arguments
        self.later = later


class Wrong:
    """An answer that is refused."""

    def __init__(self, code, tool="respond", **arguments):
        self.code, self.tool, self.arguments = code, tool, arguments


def invalid(**arguments):
    return Wrong("INVALID_RESPONSE", **arguments)


def pick(proof, *texts, **counts):
    """The menu's entries whose texts hold these words; `count` is for the first."""
    return Right(proof, tool="select_menu", picks=texts, **counts)


class Situation:
    """Keys that lead from a base to a prompt; `after` is what the game waits for once it was left with ESC."""

    def __init__(self, keys, pending, *answers, base="main", after="command", leaves=True, menu=None,
                 screen=None):
        self.keys, self.base, self.after, self.leaves = keys, base, after, leaves
        self.menu, self.screen = menu, screen
        self.pending = pending if isinstance(pending, dict) else {"kind": pending}
        self.rights = [answer for answer in answers if isinstance(answer, Right)]
        self.wrongs = [answer for answer in answers if isinstance(answer, Wrong)]

    def __repr__(self):
        return f"{self.base} {self.keys!r}"


# Proofs: what an observation shows after an answer, against the one before.


def waits(kind):
    return lambda before, after: after.get("pending", {}).get("kind") == kind


def says(*texts):
    said = lambda view: " ".join(message["text"] for message in view["messages"])
    return lambda before, after: all(text in said(after) for text in texts)


def shows(text):
    return lambda before, after: text in after["screen"]


def letters(view):
    return {item["letter"]: item["text"] for item in view["inventory"]}


def carries(text):
    return lambda before, after: any(text in item for item in letters(after).values())


def gone(letter):
    return lambda before, after: letter in letters(before) and letter not in letters(after)


def turns(least):
    return lambda before, after: after["turn"] - before["turn"] >= least


def status(field, value):
    return lambda before, after: after["status"].get(field) == value


def both(*proofs):
    return lambda before, after: all(proof(before, after) for proof in proofs)


class Machine:
    """A machine of the server and the newest revision that is known of it."""

    LAYERS = ["screen", "status", "messages", "inventory", "menu", "window", "pending"]

    def __init__(self, walk, name, revision):
        self.walk, self.name, self.revision, self.last = walk, name, revision, {}

    async def call(self, tool, **arguments):
        content = await self.walk.call(tool, machine=self.name, revision=self.revision, **arguments)
        if "error" not in content:
            self.revision, self.last = content["revision"], content
        return content

    async def press(self, names):
        """Raw keys, whatever is asked."""
        return await self.call("run", keys=names, force=True) if names else None

    async def look(self):
        return await self.walk.call("observe", machine=self.name, layers=self.LAYERS, limit=500)

    async def fork(self):
        made = await self.walk.call("fork_create", **{"from": self.name})
        fork = made["forks"][0]
        return Machine(self.walk, fork["id"], fork["revision"])

    async def drop(self):
        await self.walk.call("fork_delete", fork=self.name)


class Walk:
    """Leads through situations and checks them."""

    def __init__(self, client, shapes, check):
        self.client, self.shapes, self.check = client, shapes, check
        self.kinds, self.bases = {}, {}

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        content = result.structured_content
        faults = self.shapes.faults(tool, content)
        if faults:
            self.check(f"shape of {tool}'s result", False, (arguments, faults))
        self.resources = [block.resource for block in result.content[1:] if block.type == "resource"]
        return content

    async def begin(self):
        seen = await self.call("observe")
        self.bases["main"] = Machine(self, "main", seen["revision"])
        return self.bases["main"]

    async def base(self, name, *parts, of="main"):
        """A fork to start from, some keys after another one."""
        machine = await self.bases[of].fork()
        for part in parts:
            await (machine.press(keys(part)) if isinstance(part, str) else machine.call("respond", **part))
        kind = machine.last.get("pending", {}).get("kind")
        self.check(f"base {name} is at a command", kind == "command", machine.last)
        self.bases[name] = machine

    async def visit(self, situation):
        """All checks of one situation."""
        here = await self.bases[situation.base].fork()
        await here.press(keys(situation.keys))
        seen = await here.look()
        self.told(situation, seen)
        kind = seen.get("pending", {}).get("kind")
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        await self.refused(situation, here, seen)
        await self.left(situation, here, seen)
        named = "answers" in seen["pending"]
        for right in [right for right in situation.rights if named or not right.later]:
            await self.answered(situation, here, seen, right)
        await here.drop()

    def told(self, situation, seen):
        pending = dict(seen.get("pending", {}))
        expected = situation.pending
        if pending.get("kind") in LATER_NAMED and "answers" not in pending:
            expected = {name: value for name, value in expected.items() if name != "answers"}
        self.check(f"{situation}: pending", pending == expected, (pending, expected, seen["screen"]))
        kind = pending.get("kind")
        self.check(f"{situation}: a menu is shown when it is waited for", ("menu" in seen) == (kind == "menu"), seen)
        self.check(f"{situation}: so is a text", ("window" in seen) == (kind == "window"), seen)
        if situation.menu:
            menu = seen.get("menu", {})
            told = {name: menu.get(name) for name in situation.menu}
            self.check(f"{situation}: menu", told == situation.menu, (told, menu))
        if situation.screen:
            self.check(f"{situation}: screen", situation.screen in seen["screen"], seen["screen"])

    def unfit(self, seen):
        """Answers for other kinds of prompt, and a key that means nothing here."""
        pending = seen["pending"]
        kind = pending["kind"]
        for name, (arguments, kinds) in ANSWERS.items():
            reads = name == "acknowledge" and kind == "menu" and seen["menu"]["pick"] == "none"
            picks = name == "item" and kind == "more" and "answers" in pending
            if kind not in kinds and not reads and not picks:
                yield Wrong("WRONG_PENDING", **arguments)
        if kind != "menu":
            yield Wrong("WRONG_PENDING", tool="select_menu", cancel=True)
        if kind == "command":
            yield Wrong("WRONG_PENDING", cancel=True)
        if kind not in ("command", "count", "key") and (kind != "direction" or "prompt" in pending):
            yield Wrong("WRONG_PENDING", tool="press", key=NO_KEY.get(kind, "CTRL_A"))

    async def refused(self, situation, here, seen):
        twin = await here.fork()
        wrongs = [*self.unfit(seen), *situation.wrongs]
        for wrong in wrongs:
            content = await here.call(wrong.tool, **self.arguments(wrong, seen))
            self.check.code(f"{situation}: {wrong.tool} {wrong.arguments}", content, wrong.code)
        if seen["pending"]["kind"] in ("choice", "text"):
            held = await here.call("run", text="y")
            unsent = (held.get("stop"), held.get("sent")) == ("not_accepted", 0)
            self.check(f"{situation}: a y that was a move answers nothing", unsent, held)
        again = await here.look()
        unmoved = again["boundary"] == seen["boundary"] and again["pending"] == seen["pending"]
        self.check(f"{situation}: refusals move nothing", unmoved, again)
        diff = await self.call("fork_diff", a=here.name, b=twin.name)
        self.check(f"{situation}: refusals leave the image", diff.get("images_same"), diff)
        await twin.drop()

    async def left(self, situation, here, seen):
        kind = seen["pending"]["kind"]
        if kind == "command":
            return
        fork = await here.fork()
        tool = "select_menu" if kind == "menu" else "respond"
        content = await fork.call(tool, cancel=True)
        gone_to = content.get("pending", {}).get("kind", "end")
        fits = content.get("answered") is situation.leaves and gone_to == situation.after
        self.check(f"{situation}: ESC leads to {situation.after}", fits, content)
        await fork.drop()

    async def answered(self, situation, here, seen, right):
        fork = await here.fork()
        content = await fork.call(right.tool, **self.arguments(right, seen))
        what = f"{situation}: {right.tool} {right.arguments}"
        if right.tool != "press":
            self.check(f"{what} is taken", content.get("answered") is right.answered, content)
        after = await fork.look()
        # What was said on the way is in the call's own messages.
        after["messages"] = content.get("messages", [])
        self.check(f"{what} does it", "error" not in content and right.proof(seen, after), (content, after))
        await self.verified(what, fork)
        await fork.drop()

    def arguments(self, answer, seen):
        """Of a menu, the entries that are meant by their texts."""
        arguments = dict(answer.arguments)
        if "picks" not in arguments:
            return arguments
        count = arguments.pop("count", None)
        selections = []
        for text in arguments.pop("picks"):
            found = [entry for entry in seen.get("menu", {}).get("entries", []) if text in entry["text"]]
            found.sort(key=lambda entry: not entry["selectable"])
            selections.append({"entry_id": found[0]["id"] if found else 9_999})
        if count is not None:
            selections[0]["count"] = count
        return {**arguments, "selections": selections}

    async def verified(self, what, machine):
        """The line replays, and its journal holds nothing but keys."""
        verified = await self.call("movie_verify", source=machine.name)
        self.check(f"{what}: verifies", verified.get("verdict") == "exact", verified)
        await self.call("movie_export", source=machine.name, inline=True)
        records = [json.loads(line) for line in base64.b64decode(self.resources[0].blob).splitlines()]
        events = {name for record in records[1:] for name in record} - {"digests", "inputs", "end", "chain"}
        inputs = {name for record in records for name in record.get("inputs", {})} - {"at", "keys", "checks"}
        self.check(f"{what}: keys only", not events and not inputs, (events, inputs))


@contextlib.asynccontextmanager
async def walking(program, check, *arguments):
    """A walk through a server's game."""
    parameters = StdioServerParameters(command=program, args=["mcp", *arguments])
    async with Client(parameters) as client:
        tools = (await client.list_tools()).tools
        walk = Walk(client, Shapes({tool.name: tool.output_schema for tool in tools}), check)
        await walk.begin()
        yield walk
