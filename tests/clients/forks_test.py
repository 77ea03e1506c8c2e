"""Forks of one moment: the same luck is the same game, other luck another, and each layer's difference is told."""

import sys

from harness import Checks, Server

PROGRAM = sys.argv[1]
check = Checks("forks")


def main():
    with Server(PROGRAM) as server:
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
        check("EOF", server.close() == 0)
    check.finish()


main()
