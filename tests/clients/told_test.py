"""What is told is so: which messages were shown, where the cursor is, which limit was reached, which script was stopped."""

import sys
import traceback

from harness import Checks, Server, children

PROGRAM = sys.argv[1]
check = Checks("told")


def messages_that_esc_hides():
    """ESC at a --More-- keeps the rest of the turn from the screen: those messages are told, and that they were not shown."""
    with Server(PROGRAM) as server:
        server.initialize()
        game = server.call("new_game", seed="3", role="samurai", race="human")
        # Everything is dropped in one turn, an item a message.
        asked = server.call("run", revision=game["revision"], keys=["D", "A", "ENTER"], force=True)
        check("the messages don't fit on a line", asked["pending"]["kind"] == "more", asked)
        read = server.call("fork_create")["forks"][0]
        read = server.call("fork_run", fork=read["id"], revision=read["revision"], keys=["ENTER"] * 20, force=True)
        left = server.call("press", revision=asked["revision"], key="ESC")
        told = [message for message in left["messages"] if message["turn"] == asked["turn"]]
        hidden = [message["text"] for message in told if message.get("shown") is False]
        check("what ESC kept from the screen is told", len(hidden) >= 2, left)
        check("none of it was on the screen", not any(text in left["screen"] for text in hidden), left)
        check("what was on the screen is not among it", not any("shown" in message for message in asked["messages"]), asked)
        texts = [message["text"] for message in read["messages"]]
        check("who reads on sees the same messages", all(text in texts for text in hidden), (hidden, texts))
        shown = [message for message in read["messages"] if message["text"] in hidden]
        check("and they were shown", shown and not any("shown" in message for message in shown), shown)
        later = server.call("observe", after_message_id=asked["messages"][-1]["id"], layers=["messages"])["messages"]
        same = [message["text"] for message in later if message.get("shown") is False]
        check("later it is told again", same == hidden, (same, hidden))


def a_cursor_on_a_picture():
    with Server(PROGRAM) as server:
        server.initialize()
        # Else the top line says what the cursor is on.
        game = server.call("new_game", seed="3", role="samurai", options="!autodescribe")
        first = server.call("press", revision=game["revision"], key=";")
        for _ in range(2):
            if first["pending"]["kind"] == "more":
                first = server.call("press", revision=first["revision"], key="ENTER")
        check("a place is asked for", first["pending"]["kind"] == "position", first)
        # Once moved, the question is as it was and only the cursor differs.
        seen = [server.call("press", revision=first["revision"], key="h")]
        pictures = [server.call("screenshot")["sha256"]]
        for key in ("h", "l"):
            seen.append(server.call("press", revision=seen[-1]["revision"], key=key))
            pictures.append(server.call("screenshot")["sha256"])
        check("the terminal's text is the same", seen[0]["screen"] == seen[1]["screen"] == seen[2]["screen"], seen)
        check("the cursor moves on the terminal", seen[0]["cursor"] == seen[2]["cursor"] != seen[1]["cursor"], seen)
        check("and on the picture", pictures[0] == pictures[2] != pictures[1], pictures)


def the_bound_of_forks():
    with Server(PROGRAM, "--forks-max", "2") as server:
        server.initialize()
        game = server.call("new_game", seed="3")
        line = {"text": "s"}

        def refused(tool, **arguments):
            result = server.call(tool, **arguments)
            check.code(f"{tool} {arguments}", result, "LIMIT_EXCEEDED")
            check(f"{tool} names the bound", result.get("error", {}).get("limit") == 2, result)

        refused("fork_create", count=3)
        refused("try_lines", lines=[line] * 3, keep=3)
        made = server.call("fork_create", count=2)
        check("as many as that may be", len(made.get("forks", [])) == 2, made)
        refused("fork_create")
        refused("try_lines", lines=[line], keep=1)
        check("nothing was made", [fork["id"] for fork in server.call("fork_list")["forks"]] == ["f1", "f2"])
        server.call("fork_delete", fork="f1")
        check("one that goes makes room", "forks" in server.call("fork_create"))
        check("main has not moved", server.call("observe")["revision"] == game["revision"])


def the_number_itself():
    """Under a number is not the number."""
    with Server(PROGRAM) as server:
        server.initialize()
        game = server.call("new_game", seed="3", role="valkyrie")
        hp, turn = game["status"]["hp"], game["turn"]
        for stop, sent in (
            ({"on": "hp_below", "n": hp}, 2),
            ({"on": "hp_below", "n": hp + 1}, 1),
            ({"on": "turn", "n": turn}, 2),
            ({"on": "turn", "n": turn + 1}, 1),
            ({"on": "turn", "n": turn + 2}, 2),
        ):
            fork = server.call("fork_create")["forks"][0]
            run = server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="ss", stop=[stop])
            check(f"{stop} after {sent} of two turns", run.get("sent") == sent, run)
            check("which is told", (run.get("stop") == "breakpoint") == (stop["n"] != hp and stop["n"] != turn), run)


def case_of_a_pattern():
    """A text is a text: its capitals count, and an expression may say that they don't."""
    with Server(PROGRAM) as server:
        server.initialize()
        game = server.call("new_game", seed="3", role="valkyrie")
        for pattern, regex, holds in (("staircase up", False, True), ("Staircase Up", False, False), ("(?i)Staircase Up", True, True)):
            fork = server.call("fork_create")["forks"][0]
            run = server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="::", force=True,
                              stop=[{"on": "message", "pattern": pattern, "regex": regex}])
            check(f"{pattern!r} {'holds' if holds else 'does not hold'}", (run.get("stop") == "breakpoint") == holds, run)
        check("main has not moved", server.call("observe")["revision"] == game["revision"])


def how_a_script_is_shut_in():
    with Server(PROGRAM) as server:
        server.initialize()
        server.call("new_game", seed="3")
        ended = server.call("lua_eval", source="while true do end")["error"]
        # By its steps; where the host is busy, by its time.
        check("a loop ends at a limit", ended.get("kind") == "limit", ended)
        ended = server.call("lua_eval", source="local t = {} while true do t[#t + 1] = ('x'):rep(1000000) .. #t end")["error"]
        check("what takes memory by that", (ended.get("kind"), ended.get("limit")) == ("limit", "memory_bytes"), ended)
        status = {}
        for pid in children(server.process.pid):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[1:2] != [b"script"]:
                    continue
            with open(f"/proc/{pid}/status") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            check("a script's process may not call the system as it likes", status["Seccomp"].strip() == "2", status)
            check("nor gain rights", status["NoNewPrivs"].strip() == "1", status)
            peak = int(status["VmHWM"].split()[0])
            check("64 MiB were the most that its scripts had", peak < 200 << 10, peak)
        check("there is such a process", status)


for part in [
    messages_that_esc_hides,
    a_cursor_on_a_picture,
    the_bound_of_forks,
    the_number_itself,
    case_of_a_pattern,
    how_a_script_is_shut_in,
]:
    try:
        part()
    except Exception:
        check(f"{part.__name__} runs to its end", False, traceback.format_exc()[-2000:])
check.finish()
