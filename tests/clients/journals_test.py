"""What a journal holds is what was pressed, whatever key it was; a reset is the same game again; pages have no gap."""

import glob
import json
import random
import subprocess
import sys

from harness import Checks, Server, scratch

PROGRAM = sys.argv[1]
KEYS = "hjklyubnHJKLYUBN" + "sidewtrqzaoc,.:;^_FmDCM<>@+/\\=()[]\"$" + "0123456789"
check = Checks("journals")


def verdict(journal):
    told = subprocess.run([PROGRAM, "movie", "verify", journal], capture_output=True, text=True, check=False)
    return told.returncode, told.stdout.strip().splitlines()[0] if told.stdout.strip() else told.stderr


def claimed(server, name):
    """What an export says of the way, as another process reads it."""
    told = server.call("movie_export", name=name)
    verified = server.call("movie_verify", name=told["name"])
    check(f"{name}: exact", verified["verdict"] == "exact", verified)
    info = subprocess.run([PROGRAM, "movie", "info", "--json", told["path"]], capture_output=True, text=True, check=True)
    check(f"{name}: the same claims", json.loads(info.stdout)["claimed"] == verified["claimed"], (info.stdout, verified))
    return verified


def going_back():
    """Each way back leaves its trace in the account of every later movie."""
    with scratch() as movies, scratch() as out, Server(PROGRAM, "--movies", movies, "--out-dir", out) as server:
        server.initialize()
        view = server.call("new_game", seed="7", role="samurai")
        view = server.call("run", revision=view["revision"], text="5s", force=True)
        server.call("state_save", name="early")
        early = claimed(server, "early")
        check("plain play has no remarks", "remarks" not in early and early["edits"] == 0, early)
        view = server.call("run", revision=view["revision"], text="20s", force=True)
        seen = claimed(server, "ahead")["claimed"]["inputs"]
        view = server.call("state_load", name="early", into="main", revision=view["revision"])
        back = claimed(server, "loaded")
        check("a state loaded is a seek", back["claimed"] == {**early["claimed"], "inputs": seen, "seeks": 1}, back)
        check("and told in words", "claims: 1 seek" in back.get("remarks", ""), back)
        view = server.call("reset", revision=view["revision"], kind="same")
        again = claimed(server, "again")["claimed"]
        check("so is a reset", (again["inputs"], again["seeks"]) == (seen, 2), again)
        server.call("quit_game")
        other = server.call("new_game", seed="8")
        check("another game is another", "remarks" not in claimed(server, "other"))
        server.call("quit_game", game=other["game"])
        server.call("movie_open", name="early")
        opened = claimed(server, "opened")["claimed"]
        check("and a movie opened", (opened["inputs"], opened["seeks"]) == (seen, 3), opened)
        check("EOF", server.close() == 0)
        for journal in sorted(glob.glob(f"{movies}/*.movie")):
            status, line = verdict(journal)
            check("a journal is exact", status == 0 and "exact" in line, line)


def main():
    rng = random.Random(7)
    with scratch() as movies, Server(PROGRAM, "--movies", movies) as server:
        server.initialize()
        first = server.call("new_game", seed="7", role="samurai", name="Ann")
        view = first
        for _ in range(30):
            text = "".join(rng.choice(KEYS) for _ in range(40))
            view = server.call("run", revision=view["revision"], text=text, force=True)
            view = server.call("run", revision=view["revision"], keys=["ESC", "ESC", "CTRL_X", "ESC", "ESC"], force=True)
        # What was gone back over stays in the journal, and the line goes on from there.
        back = server.call("seek", revision=view["revision"], boundary=view["boundary"] - 25)
        view = server.call("run", revision=back["revision"], text="sjsksls", force=True)
        ends = [view["boundary"]]
        again = server.call("reset", revision=view["revision"], kind="same")
        for field in ("power_on", "screen", "status", "pending", "turn"):
            check(f"a reset of the same kind gives the same {field}", again[field] == first[field], (again, first))
        other = server.call("reset", revision=again["revision"], kind="new_seed")
        check("one with new seeds another", other["power_on"]["seed"] != first["power_on"]["seed"], other["power_on"])
        check("of the same hero", other["power_on"]["role"] == "samurai" and other["power_on"]["name"] == "Ann", other)

        names = [fork["id"] for fork in server.call("fork_create", count=7)["forks"]]
        pages = [server.call("fork_list", limit=3, offset=offset) for offset in (0, 3, 6)]
        check("pages have no gap", [row["id"] for page in pages for row in page["forks"]] == names, pages)
        check("and know their place", [page.get("next_offset") for page in pages] == [3, 6, None], pages)
        check("EOF", server.close() == 0)
        journals = sorted(glob.glob(f"{movies}/*.movie"))
        check("three games have three journals", len(journals) == 3, journals)
        for journal in journals:
            status, line = verdict(journal)
            check("a journal is exact", status == 0 and "exact" in line, line)
        told = subprocess.run([PROGRAM, "movie", "info", "--json", journals[0]], capture_output=True, text=True, check=True)
        check("and as long as its game's line", json.loads(told.stdout)["inputs"] == ends[0], (told.stdout, ends))
    going_back()
    check.finish()


main()
