"""What is refused or fails leaves the machine as it was, byte for byte: each row of what is to be safe."""

import json
import os
import resource
import signal
import subprocess
import sys
import traceback

from harness import Checks, Server, children, scratch, structured
from watched import Watched, changing

PROGRAM = sys.argv[1]
SEED = os.environ.get("NETHACK_LAB_TEST_SEED", "31")
check = Checks("refusals")


def watched(directory, *options, **popen):
    watch = Watched(PROGRAM, check, directory, *options, **popen)
    return watch.server, watch


NAMES = ["", ".", "..", "../x", "a/b", "/etc/passwd", "a.b", "x" * 65, "a b", "é", "a\\b", "~", "a\x00", ".state"]


def refusals(revision):
    """Rows of the table of what is to be safe, as calls, each with its code."""
    rows = [
        ("press_harder", {"revision": revision}, -32602),
        ("eval", {"source": "1"}, -32602),
        ("press", {"revision": revision, "key": "s", "really": True}, "INVALID_ARGUMENT"),
        ("seek", {"revision": revision, "boundary": 1, "machine": "f1"}, "INVALID_ARGUMENT"),
        ("press", {"revision": revision, "key": 7}, "INVALID_ARGUMENT"),
        ("seek", {"revision": revision, "boundary": "1"}, "INVALID_ARGUMENT"),
        ("seek", {"revision": revision, "boundary": -1}, "INVALID_ARGUMENT"),
        ("seek", {"revision": revision, "boundary": 1.0}, "INVALID_ARGUMENT"),
        ("seek", {"revision": revision, "boundary": 10**6}, "INVALID_ARGUMENT"),
        ("seek", {"revision": revision}, "INVALID_ARGUMENT"),
        ("reset", {"revision": revision, "kind": "hard"}, "INVALID_ARGUMENT"),
        ("reset", {"kind": "same"}, "INVALID_ARGUMENT"),
        ("screenshot", {"scale": 2.0}, "INVALID_ARGUMENT"),
        ("state_load", {"name": "saved", "into": "f1"}, "INVALID_ARGUMENT"),
        ("state_load", {"name": "saved", "into": "main"}, "INVALID_ARGUMENT"),
        ("state_load", {"name": "saved", "into": "fork", "revision": revision}, "INVALID_ARGUMENT"),
        ("state_load", {"name": "missing", "into": "main", "revision": revision}, "REFUSED_PATH"),
        ("state_load", {"name": "saved.movie"}, "REFUSED_PATH"),
        ("state_save", {}, "INVALID_ARGUMENT"),
        ("state_save", {"name": "saved"}, "FILE_EXISTS"),
        ("state_save", {"name": "saved.state"}, "FILE_EXISTS"),
        ("state_save", {"name": "fresh", "machine": "f999"}, "UNKNOWN_MACHINE"),
        ("movie_export", {"name": "saved"}, "FILE_EXISTS"),
        ("movie_open", {"name": "saved"}, "GAME_ACTIVE"),
        ("movie_open", {}, "INVALID_ARGUMENT"),
        ("movie_open", {"name": "saved", "source": "main"}, "INVALID_ARGUMENT"),
        ("new_game", {"seed": "1"}, "GAME_ACTIVE"),
        ("respond", {"revision": revision, "text": "x"}, "WRONG_PENDING"),
        ("respond", {"revision": revision, "choice": "y"}, "WRONG_PENDING"),
        ("select_menu", {"revision": revision, "selections": []}, "WRONG_PENDING"),
    ]
    for tool, given in changing(revision).items():
        rows += [(tool, {**given, "revision": other}, "STALE") for other in (0, revision - 1, revision + 1, 2**63)]
    for name in NAMES:
        rows += [(tool, {"name": name}, "REFUSED_PATH") for tool in ("state_save", "state_load", "movie_export", "movie_verify")]
        rows.append(("movie_open", {"name": name}, "REFUSED_PATH"))
    for name in ("link", "pipe", "folder"):
        rows.append(("state_load", {"name": name}, "REFUSED_PATH"))
        rows.append(("movie_verify", {"name": name}, "REFUSED_PATH"))
        rows.append(("movie_open", {"name": name}, "REFUSED_PATH"))
    rows += [("state_save", {"name": "link"}, "FILE_EXISTS"), ("movie_export", {"name": "pipe"}, "FILE_EXISTS")]
    rows += [("state_load", {"name": name}, "INVALID_ARGUMENT") for name in ("flipped", "cut", "empty", "junk")]
    rows += [("state_load", {"name": "cut", "into": "main", "revision": revision}, "INVALID_ARGUMENT")]
    return rows


def bad_files(server, directory):
    server.call("state_save", name="saved")
    server.call("movie_export", name="saved")
    data = open(os.path.join(directory, "saved.state"), "rb").read()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 4
    for name, content in [("flipped", flipped), ("cut", data[:-1]), ("empty", b""), ("junk", b"junk" * 99)]:
        with open(os.path.join(directory, f"{name}.state"), "wb") as file:
            file.write(content)
    for ending in ("state", "movie"):
        os.symlink(os.path.join(directory, f"saved.{ending}"), os.path.join(directory, f"link.{ending}"))
        os.mkfifo(os.path.join(directory, f"pipe.{ending}"))
        os.mkdir(os.path.join(directory, f"folder.{ending}"))


def security():
    """Point (c), as far as a call is refused."""
    with scratch() as directory:
        server, watch = watched(directory)
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            server.call("run", revision=game["revision"], text="5s4hj", on_more="dismiss")
            bad_files(server, directory)
            watch.begin()
            for tool, given, code in refusals(watch.view["revision"]):
                result = server.call(tool, **given)
                check.code(f"{tool} {str(given)[:80]}", result, code)
                diff = server.call("fork_diff", a="main", b=watch.twin)
                check(f"{tool} {str(given)[:80]} leaves the image", diff["images_same"], diff)
            watch.unchanged("a refused call")
            long = {"jsonrpc": "2.0", "id": 800, "method": "tools/call", "params": {"name": "press", "arguments": {"revision": watch.view["revision"], "key": "s", "x": "y" * (2 << 20)}}}
            server.send_bytes(json.dumps(long).encode() + b"\n")
            check("a message of 2 MiB is refused", server.answer(800)["error"]["code"] == -32600)
            watch.unchanged("an oversize message")
            tools = {tool["name"] for tool in server.request("tools/list")["result"]["tools"]}
            for source in LUA if "lua_eval" in tools else []:
                server.call("lua_eval", source=source)
                watch.unchanged(f"the script {source[:40]}")
            check("no noise", not server.noise, server.noise)
    with scratch() as directory, Server(PROGRAM) as server:
        server.initialize()
        server.call("new_game", seed="1")
        for tool in ("state_save", "state_load"):
            refused = server.call(tool, name="x")
            check.code(f"{tool} without a directory", refused, "DISABLED")
            check("says what to start with", "--out-dir" in refused["error"]["message"], refused)


LUA = [
    "while true do end",
    "nh.status.hp = 999 return nh.status.hp",
    "local t = {} while true do t[#t + 1] = string.rep('x', 1 << 20) end",
    "return os.execute('true')",
    "return require('io')",
    "while true do pcall(function() while true do end end) end",
]


def crashes():
    """Point (c): an engine that dies, calls that interleave, a client that goes, a disk that is full. No key of the game
    takes long enough to run away; lab's tests have engines that do."""
    with scratch() as directory:
        server, watch = watched(directory)
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            keys = "20s" * 300
            fork = server.call("fork_create")["forks"][0]
            calm = server.call("fork_run", fork=fork["id"], revision=fork["revision"], text=keys, force=True)
            call = server.start_call("run", revision=game["revision"], text=keys, force=True)
            for worker in children(server.process.pid):
                os.kill(worker, signal.SIGKILL)
            stormy = structured(server.answer(call))
            check("killed workers cost no key", stormy.get("sent") == calm["sent"], stormy)
            diff = server.call("fork_diff", a="main", b=fork["id"])
            check("and leave the image that a calm run has", diff["images_same"], diff)
            revision = stormy["revision"]
            fork = server.call("fork_create")["forks"][0]
            calls = [server.start_call("run", revision=revision, text="3s", force=True) for _ in range(6)]
            results = [structured(server.answer(call)) for call in calls]
            check("of calls at once one acts", sum("sent" in result for result in results) == 1, results)
            server.call("fork_run", fork=fork["id"], revision=fork["revision"], text="3s", force=True)
            diff = server.call("fork_diff", a="main", b=fork["id"])
            check("as if it had come alone", diff["images_same"], diff)
            before = server.call("movie_verify")
            check("it verifies", before.get("verdict") == "exact", before)
            server.process.kill()
            server.process.wait()
        for ends in (lambda server: server.close(), lambda server: server.process.kill()):
            server, watch = watched(directory, "--resume", "latest")
            with server:
                after = server.call("movie_verify")
                same = after.get("verdict") == "exact" and after["state_digest"] == before["state_digest"]
                check("a client that goes leaves the image", same, (before, after))
                ends(server)
                server.process.wait(timeout=20)


def full_disk():
    """No file of the server may grow: to it, a disk without room."""
    with scratch() as directory:
        # Python ignores the signal that tells of this, and so does what it starts.
        server, watch = watched(directory, restore_signals=False)
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            server.call("run", revision=game["revision"], text="5s", on_more="dismiss")
            server.call("state_save", name="saved")
            watch.begin()
            revision = watch.view["revision"]
            pid = server.process.pid
            for tool, given in changing(revision).items():
                if tool in ("select_menu", "quit_game"):
                    continue
                given = {**given, "fork": watch.twin} if tool == "fork_adopt" else given
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
                result = server.call(tool, **given)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                code = result.get("error", {}).get("code")
                check(f"{tool} fails on a full disk", code in ("ENGINE_FAILURE", "LIMIT_EXCEEDED"), result)
                watch.unchanged(f"{tool} on a full disk")
            played = server.call("press", revision=revision, key="s")
            check("with room it goes on", played.get("sent") == 1, played)
            check("and verifies", server.call("movie_verify").get("verdict") == "exact")


def other_rom():
    """A state of another ROM is refused, and the movie inside still makes it."""
    with scratch() as directory:
        ours, theirs = os.path.join(directory, "ours.rom"), os.path.join(directory, "theirs.rom")
        subprocess.run([PROGRAM, "rom", "export", ours], check=True, capture_output=True)
        data = open(ours, "rb").read()
        check("a name that nobody meets on the first level", data.count(b"Croesus") > 0)
        with open(theirs, "wb") as file:
            file.write(data.replace(b"Croesus", b"Kroesus"))
        with Server(PROGRAM, "--out-dir", directory) as server:
            server.initialize()
            game = server.call("new_game", seed=SEED, role="samurai")
            saved = server.call("run", revision=game["revision"], text="5s4hj", on_more="dismiss")
            server.call("state_save", name="saved")
            ids = [server.call("info")["rom_id"]]
        movie = os.path.join(directory, "inside.movie")
        subprocess.run([PROGRAM, "state", "movie", os.path.join(directory, "saved.state"), "-o", movie], check=True, capture_output=True)
        server, watch = watched(directory, "--rom", theirs)
        with server:
            server.call("new_game", seed="1")
            ids.append(server.call("info")["rom_id"])
            watch.begin()
            revision = watch.view["revision"]
            for given in ({}, {"into": "main", "revision": revision}):
                refused = server.call("state_load", name="saved", **given)
                check.code(f"a state of another ROM {given}", refused, "ROM_MISMATCH")
                message = refused.get("error", {}).get("message", "")
                check("names both", ids[0] != ids[1] and all(rom in message for rom in ids), refused)
                check("and says what is left", "movie inside" in message, refused)
                watch.unchanged("a state of another ROM")
            server.call("quit_game")
            opened = server.call("movie_open", name="inside")
            check("the movie inside makes it", opened.get("screen") == saved["screen"], opened)


for part in [security, crashes, full_disk, other_rom]:
    try:
        part()
    except Exception:
        check(part.__name__, False, traceback.format_exc()[-3000:])
check.finish()
