"""Plays the sessions of docs/agents.md against a fresh server: what the guide shows is what a reader gets.

A session is a fenced block named `session`. In it `> tool {…}` is a call and `< {…}` a part of its result: objects hold
at least these fields, lists begin with these items where the last is "…", a text that ends with … begins so, and "…"
alone stands for anything.
"""

import json
import pathlib
import re
import subprocess
import sys

from harness import Checks, Server, scratch

PROGRAM = sys.argv[1]
GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "agents.md"
check = Checks("guide")


def fits(part, whole):
    """Whether a result holds what the guide shows of it."""
    if part == "…":
        return True
    if isinstance(part, str) and part.endswith("…"):
        return isinstance(whole, str) and whole.startswith(part[:-1])
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and fits(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        if part and part[-1] == "…":
            return isinstance(whole, list) and len(whole) >= len(part) - 1 and all(map(fits, part[:-1], whole))
        return isinstance(whole, list) and len(whole) == len(part) and all(map(fits, part, whole))
    return part == whole


def steps(session):
    """The calls of a session, each with what it gives; a JSON value may go on over several lines."""
    for entry in re.split(r"^(?=[<>] )", session, flags=re.MULTILINE):
        if entry.startswith("> "):
            tool, _, arguments = entry[2:].strip().partition(" ")
            yield tool, json.loads(arguments or "{}")
        elif entry.startswith("< "):
            yield None, json.loads(entry[2:])


def play(server, session):
    tool, result = None, None
    for name, value in steps(session):
        if name is None:
            check(f"{tool} gives what the guide shows", fits(value, result), f"{value} is not in {result}")
        else:
            tool, result = name, server.call(name, **value)


def run_python(server):
    """The guide's Python does what its session does."""
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), flags=re.MULTILINE | re.DOTALL)
    if not check("the guide has Python", len(blocks) == 1, len(blocks)):
        return
    source = blocks[0].replace('command="nethack-lab"', f"command={server!r}")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120)
    check("the guide's Python runs", done.stdout.strip() == "('done', 3, 'more')", done.stdout + done.stderr[-2000:])


BREAKPOINTS = [
    ({"on": "turn", "n": 3}, "20s"), ({"on": "new_monster"}, "20s20s20s20s"), ({"on": "message", "pattern": "You"}, "20s20s20s20s"),
    ({"on": "pending", "kind": "item"}, "d"), ({"on": "hp_below", "n": 1000}, "s"),
]  # fmt: skip


def records_of_breakpoints(server):
    """What stops a batch has the fields that the reference tells, a monster its name."""
    text = (GUIDE.parent / "tools.md").read_text().split("\n**`breakpoint`**", 1)[1].split("\n**`", 1)[0]
    told = {name.removesuffix("[]") for name in re.findall(r"^\| `([a-z_\[\]]+)`", text, flags=re.MULTILINE)}
    seen = set()
    for stop, keys in BREAKPOINTS:
        server.call("quit_game")
        game = server.call("new_game", seed="10", name="Ann", role="valkyrie", race="dwarf")
        found = server.call("run", revision=game["revision"], text=keys, stop=[stop], on_more="dismiss").get("breakpoint", {})
        check(f"{stop} stops {keys}", found.get("on") == stop["on"], found)
        seen |= set(found)
        for monster in found.get("monsters", []):
            check("a new monster has a name", isinstance(monster.get("description"), str), monster)
            at = {"top": monster["row"], "bottom": monster["row"], "left": monster["column"], "right": monster["column"]}
            cell = server.call("observe", layers=["cells"], rectangle=at)["cells"]["items"][0]
            check("as cells has it", cell["description"] == monster["description"], (cell, monster))
    check("all of it is in the reference", seen <= told and {"monsters", "hp", "kind"} <= seen, (seen, told))


def main():
    sessions = re.findall(r"^```session\n(.*?)^```$", GUIDE.read_text(), flags=re.MULTILINE | re.DOTALL)
    check("the guide has sessions", len(sessions) >= 1)
    with scratch() as movies, scratch() as out, Server(PROGRAM, "--movies", movies, "--out-dir", out) as server:
        server.initialize()
        for session in sessions:
            play(server, session)
        records_of_breakpoints(server)
        check("the server ends well", server.close() == 0)
    run_python(PROGRAM)
    for part, whole, holds in (
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": 2}, False),
        (["x…", "…"], ["xyz", 3], True),
        (["x"], ["x", "y"], False),
        ("…", {"a": 1}, True),
    ):
        check(f"{part} against {whole}", fits(part, whole) == holds)
    check.finish()


main()
