"""Forks of one moment: the same luck is the same game, other luck another, and each layer's difference is told."""

import sys

from harness import Checks, Server, scratch

PROGRAM = sys.argv[1]
check = Checks("forks")


def main():
    with scratch() as out, Server(PROGRAM, "--out-dir", out) as server:
        server.initialize()
        server.call("new_game", seed="1", role="valkyrie", race="human", name="Ann")

        def made(**luck):
            forks = server.call("fork_create", count=2, **luck)["forks"]
            for fork in forks:
                server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="20s20s20s", force=True)
            return server.call("fork_diff", a=forks[0]["id"], b=forks[1]["id"])

        same = made(luck="same")
        check("two forks of the same luck are one game", same["images_same"] and same["play_same"], same)
        other = made(luck="reseed", luck_seed="7")
        check("two reseeded forks have each a luck of their own", not other["play_same"], other)
        again = made(luck="reseed", luck_seed="7")
        check("which the seed gives again", again["cells"] == other["cells"], (again["cells"], other["cells"]))

        before = server.call("observe", layers=["inventory", "status"])
        letters = {item["letter"] for item in before["inventory"]}
        fork = server.call("fork_create")["forks"][0]
        server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="da", force=True)
        diff = server.call("fork_diff", a="main", b=fork["id"])
        dropped = [row for row in diff["inventory"] if row["letter"] == "a"]
        check("what was dropped is told", "a" in letters and dropped and "a" in dropped[0] and "b" not in dropped[0], diff)
        check("and the message", any("drop" in row["text"] for row in diff["messages_b"]["items"]), diff)
        check("and the turn", diff["turns"]["delta"] == 1, diff["turns"])
        check("main has it still", server.call("observe", layers=["inventory", "status"]) == before)
        shots = [server.call("screenshot", machine=machine)["sha256"] for machine in ("main", fork["id"], "main")]
        check("a screenshot is of the machine that is named", shots[0] == shots[2] != shots[1], shots)

        # A key that means nothing at a menu is not pressed.
        view = server.call("press", revision=before["revision"], key="i")
        check("the inventory is a menu", view["pending"]["kind"] in ("menu", "window"), view["pending"])
        check.code("a key that it doesn't take", server.call("press", revision=view["revision"], key="Q"), "WRONG_PENDING")
        check("it is there still", server.call("observe")["revision"] == view["revision"])
        view = server.call("press", revision=view["revision"], key="ESC")

        # A state that is loaded takes main's place; what main was stays as a fork.
        server.call("state_save", name="here")
        view = server.call("run", revision=view["revision"], text="20s20s", force=True)
        loaded = server.call("state_load", name="here", into="main", revision=view["revision"])
        check("main stands where it was saved", loaded["turn"] < view["turn"], (loaded, view))
        old = server.call("observe", machine=loaded.get("old_tip", "none"))
        check("its old tip is a fork", old.get("screen") == view["screen"] and old.get("turn") == view["turn"], (old, view))
        check("EOF", server.close() == 0)
    check.finish()


main()
