"""What is refused or fails leaves the machine as it was, byte for byte: each row of what is to be safe."""

import contextlib
import json
import os
import queue
import resource
import signal
import struct
import subprocess
import sys
import threading
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
    """Point (c): an engine that dies, calls that interleave, a client that goes."""
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


class Broken:
    """A ROM whose machine code was changed: the bytes at a symbol of the ELF file are other ones."""

    def __init__(self, path):
        subprocess.run([PROGRAM, "rom", "export", path], check=True, capture_output=True)
        self.path, self.data = path, bytearray(open(path, "rb").read())
        sections_at, size, count = *struct.unpack_from("<Q", self.data, 40), *struct.unpack_from("<HH", self.data, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, sections_at + at * size) for at in range(count)]
        symbols = next(section for section in sections if section[1] == 2)
        names = sections[symbols[6]]
        self.symbols = {}
        for at in range(symbols[4], symbols[4] + symbols[5], 24):
            name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
            begins = names[4] + name
            self.symbols[self.data[begins : self.data.index(0, begins)].decode().partition(".")[0]] = value
        headers_at, size, count = *struct.unpack_from("<Q", self.data, 32), *struct.unpack_from("<HH", self.data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", self.data, headers_at + at * size) for at in range(count)]
        self.segments = [(header[3], header[2], header[5]) for header in headers if header[0] == 1]

    def address(self, data):
        """Where some bytes come to lie."""
        offset = self.data.index(data)
        return next(offset - start + base for base, start, size in self.segments if start <= offset < start + size)

    def put(self, symbol, code):
        place = self.symbols[symbol]
        offset = next(place - base + start for base, start, size in self.segments if base <= place < base + size)
        self.data[offset : offset + len(code)] = code

    def call(self, symbol, function, argument):
        """Has one function be nothing but the call of another."""
        load = b"\x31\xc0\xbf" + struct.pack("<I", argument)
        place = self.symbols[symbol] + len(load) + 5
        self.put(symbol, load + b"\xe9" + struct.pack("<i", self.symbols[function] - place))

    def write(self):
        with open(self.path, "wb") as file:
            file.write(self.data)


def broken_engines():
    """An engine that runs away loses the key, and the machine stays as it was; one that crashes or panics ends its game,
    in every replay at the same key. Other machines and calls go on."""
    with scratch() as directory:
        rom = Broken(os.path.join(directory, "broken.rom"))
        rom.put("doengrave", b"\xeb\xfe")  # jumps to itself
        rom.put("dosit", b"\x0f\x0b")  # no instruction
        rom.put("dohistory", b"\x8b\x04\x25\x00\x00\x00\x00")  # reads at 0
        rom.call("doturn", "panic", rom.address(b"Croesus"))
        rom.write()
        server, watch = watched(directory, "--rom", rom.path, "--key-cpu-ms", "400", "--workers", "2")
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            server.call("run", revision=game["revision"], text="2s", on_more="dismiss")
            runs_away(server, watch)
            for key, what in {"META_s": "SIGILL", "V": "SIGSEGV", "META_t": "Croesus"}.items():
                ends_badly(server, watch, key, what)
            check("no noise", not server.noise, server.noise)


def same_as_before(server, watch, what):
    diff, now = server.call("fork_diff", a="main", b=watch.twin), server.call("observe")
    check(f"{what} on a fork leaves main's image", diff["images_same"], diff)
    check(f"{what} on a fork leaves main", now == watch.view, (now, watch.view))


def same_as_calm(server, what, boundary):
    """Main after two turns of searching from a boundary is what a fork is that knows of nothing else."""
    calm = server.call("fork_create", boundary=boundary)["forks"][0]
    server.call("fork_run", fork=calm["id"], revision=calm["revision"], text="ss", force=True)
    diff = server.call("fork_diff", a="main", b=calm["id"])
    check(f"{what} leaves the image of before", diff["images_same"], diff)


def runs_away(server, watch):
    watch.begin()
    fork = server.call("fork_create")["forks"][0]
    call = server.start_call("press", machine=fork["id"], revision=fork["revision"], key="E")
    others = [server.call("observe"), server.call("info")["main"]["revision"]]
    check("others are answered while a key runs away", others == [watch.view, watch.view["revision"]], others)
    lost = structured(server.answer(call))
    check("a key that runs away is lost", lost.get("stop") == "lost" and lost["sent"] == 0 and "lost" in lost, lost)
    check.code("a retry comes too late", server.call("press", machine=fork["id"], revision=fork["revision"], key="E"), "STALE")
    diff = server.call("fork_diff", a=fork["id"], b=watch.twin)
    check("and changed nothing", diff["images_same"], diff)
    same_as_before(server, watch, "a key that runs away")
    lost = server.call("run", revision=watch.view["revision"], keys=["s", "s", "E", "s"], force=True)
    check("on main it ends a run", lost.get("stop") == "lost" and lost.get("sent") == 2, lost)
    same_as_calm(server, "a key that ran away", watch.view["boundary"])
    tried = server.call("try_lines", lines=[{"keys": ["s"]}, {"keys": ["E"]}, {"keys": ["s"]}], force=True)
    stops = [line["stop"] for line in tried["lines"]]
    check("of lines it is one", stops == ["done", "lost", "done"], tried)
    played = server.call("press", revision=lost["revision"], key="s")
    check("main goes on", played.get("sent") == 1, played)
    check("and verifies", server.call("movie_verify").get("verdict") == "exact")


def ends_badly(server, watch, key, word):
    watch.begin()
    view, keys = watch.view, [key, *["SPACE"] * 30]
    fork = server.call("fork_create")["forks"][0]
    ended = server.call("fork_run", fork=fork["id"], revision=fork["revision"], keys=keys, force=True)
    # Where NetHack finds out itself, it says so.
    kind = "panicked" if word == "Croesus" else "crashed"
    check(f"{word} ends a fork's game", ended.get("stop") == "ended" and ended["ended"]["kind"] == kind, ended)
    check(f"{word} is told", word in ended["ended"]["text"] + ended["screen"], ended)
    same_as_before(server, watch, word)
    ended = server.call("run", revision=view["revision"], keys=["s", "s", *keys], force=True)
    check(f"{word} ends main's", ended.get("stop") == "ended" and ended["state"] == "ended", ended)
    check(f"{word} in every replay", server.call("movie_verify").get("verdict") == "exact")
    back = server.call("seek", revision=ended["revision"], boundary=view["boundary"] + 2)
    same_as_calm(server, word, view["boundary"])
    played = server.call("press", revision=back["revision"], key="ESC")
    check(f"and main goes on after {word}", played.get("sent") == 1, played)
    check(f"and verifies after {word}", server.call("movie_verify").get("verdict") == "exact")


def blows():
    """Whatever a worker dies of, in the middle of a run: no key is lost or doubled."""
    with scratch() as directory:
        server, watch = watched(directory, "--workers", "2")
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            keys = "20s" * 200
            for blow in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGTERM, signal.SIGKILL):
                fork = server.call("fork_create")["forks"][0]
                calm = server.call("fork_run", fork=fork["id"], revision=fork["revision"], text=keys, force=True)
                call = server.start_call("run", revision=game["revision"], text=keys, force=True)
                for worker in children(server.process.pid):
                    os.kill(worker, blow)
                game = structured(server.answer(call))
                check(f"{blow.name} costs no key", game.get("sent") == calm["sent"], game)
                diff = server.call("fork_diff", a="main", b=fork["id"])
                check(f"{blow.name} leaves the image that a calm run has", diff["images_same"], diff)
            # More blows than any call is tried again: it is said, and nothing is half done.
            watch.begin()
            call = server.start_call("run", revision=game["revision"], text=keys, force=True)
            answered = queue.Queue()
            threading.Thread(target=lambda: answered.put(structured(server.answer(call))), daemon=True).start()
            while answered.empty():
                for worker in children(server.process.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
            stormy = answered.get()
            code = stormy.get("error", {}).get("code")
            said = code == "ENGINE_FAILURE" or stormy.get("stop") in ("lost", "done")
            check("a storm is survived or told", said, stormy)
            after = server.call("observe")
            done = after["boundary"] - watch.view["boundary"]
            check("what was pressed is what is said", code or done == stormy.get("sent"), (done, stormy))
            fork = server.call("fork_create", boundary=watch.view["boundary"])["forks"][0]
            server.call("fork_run", fork=fork["id"], revision=fork["revision"], text=keys[:done], force=True) if done else None
            diff = server.call("fork_diff", a="main", b=fork["id"])
            check("and is what a calm run gives", diff["images_same"], diff)
            check("it verifies", server.call("movie_verify").get("verdict") == "exact")


def stopped():
    """Workers and scripts that somebody has stopped are given up after ten seconds, and others do their work."""
    with scratch() as directory:
        server, watch = watched(directory, "--workers", "2")
        with server:
            game = server.call("new_game", seed=SEED, role="samurai")
            tools = {tool["name"] for tool in server.request("tools/list")["result"]["tools"]}
            server.call("lua_eval", source="nh.turn")
            watch.begin()
            stilled = children(server.process.pid)
            for worker in stilled:
                os.kill(worker, signal.SIGSTOP)
            call = server.start_call("lua_eval", source="nh.status.hp")
            check("others are answered meanwhile", server.call("observe") == watch.view)
            scored = structured(server.answer(call))
            check("a script over stopped processes has its value", scored.get("value") == watch.view["status"]["hp"], scored)
            for worker in stilled:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGSTOP)
            played = server.call("run", revision=game["revision"], text="5s", on_more="dismiss")
            check("a run too", played.get("sent") == 2, played)
            check("and all is as it would be", server.call("movie_verify").get("verdict") == "exact", tools)


def log():
    """A client that sends nonsense without end does not fill the log."""
    with scratch() as directory, Server(PROGRAM, "--out-dir", directory) as server:
        server.initialize()
        for at in range(3_000):
            server.send_bytes(b'{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "no%s"}}\n' % (10_000 + at, b"x" * 3_000))
        server.send_bytes(b"nonsense\n" * 3_000)
        check("it is told so itself", server.answer(12_999)["error"]["code"] == -32602)
        again = server.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
        check("a second handshake is refused", again.get("error", {}).get("code") == -32600, again)
        check("and the connection goes on", "error" not in server.call("info"))
        check("EOF", server.close() == 0)
        lines = server.errors.count(b"\n")
        check("the log stays short", lines <= 130 and len(server.errors) < 300_000, (lines, len(server.errors)))


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


for part in [security, crashes, broken_engines, blows, stopped, log, full_disk, other_rom]:
    try:
        part()
    except Exception:
        check(part.__name__, False, traceback.format_exc()[-3000:])
check.finish()
