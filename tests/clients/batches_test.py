"""What batches must not do: answer a question with keys that were meant for something else, or swallow a text. And what
every call shows of what is waited for."""

import sys
import traceback

from harness import Checks, Server

PROGRAM = sys.argv[1]
SEED = "42"
check = Checks("batches")


class Game:
    def __init__(self, server):
        self.server = server
        self.revision = server.call("observe")["revision"]

    def call(self, tool, **arguments):
        result = self.server.call(tool, revision=self.revision, **arguments)
        self.revision = result.get("revision", self.revision)
        return result

    def run(self, text=None, **arguments):
        if text is not None:
            arguments["text"] = text
        return self.call("run", **{"on_more": "dismiss", **arguments})

    def leave(self):
        for _ in range(5):
            if self.server.call("observe")["pending"]["kind"] == "command":
                return
            self.call("press", key="ESC")


def texts(result):
    return [message["text"] for message in result.get("messages", [])]


def refused_answers(game):
    # As it was found: a prompt that was taken to be closed is open.
    game.run("d20s", on_more="stop")
    game.call("press", key="ESC")
    game.run("20s")
    held = game.run("tbFnFn")
    check("a drop prompt that stands again keeps the rest", (held["stop"], held["sent"]) == ("not_accepted", 1), held)
    check("which is told", held["unsent_keys"] == list("bFnFn"), held)
    check("with what the game said", texts(held) == ["You don't have that object."], held)
    check("and nothing is dropped", held["pending"]["kind"] == "item" and held["turns"] == 0, held)
    game.leave()
    watched = [{"on": "turn", "n": 1_000_000}]
    for what, keys, sent, arguments in [
        ("a letter of nothing", "wzFhFh", 2, {}),
        ("with conditions", "wzFhFh", 2, {"stop": watched}),
        ("in segments", None, 2, {"segments": [{"text": "w"}, {"text": "z", "expect": "item"}, {"text": "FhFh"}]}),
        ("in answers", None, 2, {"segments": [{"text": "w"}, {"text": "z", "expect": "item"}, {"text": "a", "expect": "item"}]}),
        ("read by its own keys", None, 3, {"keys": ["w", "z", "ENTER", "F", "h"], "on_more": "stop"}),
        ("after a count", "d2zFh", 3, {}),
        ("at the batch's end", "wz", 2, {}),
        ("a place that isn't there", "_{.", 2, {}),
        ("the same with conditions", "_{.", 2, {"stop": watched}),
    ]:
        held = game.run(keys, **arguments)
        check(f"refused: {what}", (held["stop"], held["sent"]) == ("not_accepted", sent), held)
        game.leave()
    for what, keys, stop in [
        ("a command in between", ["d", "ESC", "d", "ESC"], "done"),
        ("a cursor that moves", ["_", "h", "h", "l", "ESC"], "done"),
        ("keys of a menu", ["D", "ESC"], "done"),
    ]:
        done = game.run(keys=keys)
        check(f"not refused: {what}", done["stop"] == stop and done["unsent"] == 0, done)
        game.leave()
    forced = game.run("wzs", force=True)
    check("force sends all", (forced["stop"], forced["sent"]) == ("done", 3), forced)
    game.leave()


def texts_that_come_and_go(game):
    items = game.server.call("observe", layers=["inventory"])["inventory"]
    for item in items[:4]:
        game.run("d" + item["letter"])
    fork = game.server.call("fork_create")["forks"][0]
    here = game.run(":")
    lines = here.get("windows", [{"lines": [""]}])[0]["lines"]
    check("a pile that was dismissed is told", "Things that are here:" in lines and len(lines) > 3, here)
    check("once", len(here["windows"]) == 1 and here["dismissed"] == 1, here)
    on_fork = game.server.call("fork_run", fork=fork["id"], revision=fork["revision"], text=":", on_more="dismiss")
    check("on a fork too", on_fork.get("windows") == here["windows"], on_fork)
    watched = game.run(":", stop=[{"on": "turn", "n": 1_000_000}])
    check("with conditions too", watched.get("windows") == here["windows"], watched)
    tried = game.server.call("try_lines", lines=[{"text": ":"}], on_more="dismiss")
    check("a tried line tells how it began", tried["lines"][0].get("window_head") == lines[:4], tried)
    open_now = game.call("press", key=":", layers=["status"])
    check("a text that is waited for is shown", open_now.get("window", {}).get("lines") == lines, open_now)
    read = game.call("respond", acknowledge=True, layers=["status"])
    check("what was shown is not told again", read["answered"] and "windows" not in read, read)
    pressed = game.call("press", key=":", on_more="dismiss")
    check("press dismisses what comes up", pressed["pending"]["kind"] == "command", pressed)
    check("and tells it", pressed.get("windows") == here["windows"], pressed)
    history = game.call("press", key="?")
    long = game.call("respond", cancel=True)
    check("other menus are left alone", history["pending"]["kind"] == "menu" and long["answered"], history)


def what_is_waited_for(game):
    menu = game.call("press", key="i", layers=["changes"])
    check("a menu is shown unasked", menu["pending"]["kind"] == "menu" and menu["menu"]["entries"], menu)
    seen = game.server.call("observe", layers=[])
    check("by observe too", seen["menu"] == menu["menu"], seen)
    game.leave()
    closed = game.call("press", key=":", layers=["status"], on_more="dismiss")
    check("what is not open is not there", "menu" not in closed and "window" not in closed, closed)
    changed = game.run("wz", layers=["changes"])
    check("changes come with messages", texts(changed) == ["You don't have that object."], changed)
    game.leave()


def calls_that_dismiss(game):
    asked = game.call("respond", extended="pray", on_more="dismiss")
    check("a prayer asks", asked["pending"]["kind"] == "choice" and asked["answered"], asked)
    prayed = game.call("respond", choice="y", on_more="dismiss")
    check("and is done in the second call", prayed["pending"]["kind"] == "command", prayed)
    check("with all that was said", prayed["dismissed"] > 0 and texts(prayed)[0].startswith("You begin praying"), prayed)
    game.call("respond", command="w")
    wrong = game.call("respond", item="z", on_more="dismiss")
    check.code("an item that nobody carries is refused before", wrong, "INVALID_RESPONSE")
    game.leave()
    menu = game.call("respond", command="D", on_more="dismiss")
    check("menus are not dismissed", menu["pending"]["kind"] == "menu", menu)
    left = game.call("select_menu", cancel=True, on_more="dismiss")
    check("select_menu takes it", left["pending"]["kind"] == "command", left)
    stuck = game.server.call("respond", revision=game.revision, command="s", on_more="no")
    check.code("other words are refused", stuck, "INVALID_ARGUMENT")


def refusals(game):
    for arguments, field in [({"text": ""}, "text"), ({"keys": []}, "keys"), ({"segments": []}, "segments")]:
        nothing = game.call("run", on_more="dismiss", **arguments)
        check.code(f"nothing in {field}", nothing, "INVALID_ARGUMENT")
        error = nothing["error"]
        check(f"{field} is named", error["field"] == field and "acknowledge" in error["message"], error)


def main():
    with Server(PROGRAM, "--seed", SEED) as server:
        server.initialize()
        game = Game(server)
        for part in (refused_answers, texts_that_come_and_go, what_is_waited_for, calls_that_dismiss, refusals):
            try:
                part(game)
            except Exception:
                check(f"{part.__name__} runs (seed {SEED})", False, traceback.format_exc())
            game.leave()


main()
sys.exit(check.finish())
