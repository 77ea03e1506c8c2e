"""Plays the sessions of docs/agents.md against a fresh server: what the guide shows is what a reader gets.

A session is a fenced block named `session`. In it `> tool {…}` is a call and `< {…}` a part of its result: objects hold
at least these fields, lists begin with these items where the last is "…", a text that ends with … begins so, and "…"
alone stands for anything.
"""

import json
import pathlib
import re
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


def main():
    sessions = re.findall(r"^```session\n(.*?)^```$", GUIDE.read_text(), flags=re.MULTILINE | re.DOTALL)
    check("the guide has sessions", len(sessions) >= 1)
    with scratch() as movies, scratch() as out, Server(PROGRAM, "--movies", movies, "--out-dir", out) as server:
        server.initialize()
        for session in sessions:
            play(server, session)
        check("the server ends well", server.close() == 0)
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
