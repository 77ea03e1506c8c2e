"""What the client tests share: counting checks, a bare JSON-RPC connection, and schemas held against results."""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import jsonschema

ANSWER_S = 60


class Checks:
    """Counts what holds; prints what doesn't."""

    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0

    def __call__(self, what, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {self.name}: {what}: {str(detail)[:2000]}", flush=True)
        return holds

    def code(self, what, result, code):
        """A tool result that is an error with this code."""
        found = result.get("error", {}).get("code")
        return self(f"{what} gives {code}", found == code, result)

    def finish(self):
        print(f"{self.name}: {self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed or not self.passed else 0)


@contextlib.contextmanager
def scratch():
    """A directory that goes away."""
    path = tempfile.mkdtemp(prefix="nethack-lab-clients-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def wait_until(holds, seconds):
    """Whether something comes to hold in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return holds()


def children(pid):
    """The process ids of a process's children."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                after_name = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after_name[1]) == pid and after_name[0] != "Z":
            found.append(int(entry))
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Server:
    """A server process and its two streams, line by line, with nothing between."""

    def __init__(self, program, *arguments, **popen):
        self.process = subprocess.Popen(
            [program, "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **popen,
        )
        self.lines, self.kept, self.last, self.noise = queue.Queue(), [], 0, []
        self.schemas = {}
        self.errors = b""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method, params=None, has_id=True):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if has_id:
            self.last += 1
            message["id"] = self.last
        self.send_bytes(json.dumps(message).encode() + b"\n")
        return self.last

    def next_message(self, seconds=ANSWER_S):
        """The next line as JSON; a line that is none is kept as noise and fails a check."""
        line = self.lines.get(timeout=seconds)
        if line is None:
            return None
        try:
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
        except (ValueError, KeyError, AssertionError):
            self.noise.append(line)
            return {}
        return message

    def answer(self, wanted, seconds=ANSWER_S):
        """The response to a request; others are kept for whoever asks."""
        for message in self.kept:
            if message.get("id") == wanted and "method" not in message:
                self.kept.remove(message)
                return message
        while True:
            message = self.next_message(seconds)
            if message is None:
                raise AssertionError(f"the server ended: {self.errors[-2000:]!r}")
            if message.get("id") == wanted and "method" not in message:
                return message
            self.kept.append(message)

    def request(self, method, params=None, seconds=ANSWER_S):
        return self.answer(self.send(method, params), seconds)

    def initialize(self, version="2025-06-18"):
        result = self.request(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
        )
        self.send("notifications/initialized", has_id=False)
        return result["result"]

    def start_call(self, tool, **arguments):
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        """The structured content of a call."""
        return structured(self.answer(self.start_call(tool, **arguments)))

    def close(self, seconds=10):
        """Ends the stream; gives the exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout=seconds)


def structured(response):
    if "result" not in response:
        return {"error": {"code": response["error"]["code"], "message": response["error"]["message"]}}
    content = response["result"]["structuredContent"]
    assert json.loads(response["result"]["content"][0]["text"]) == content, "text and structure differ"
    assert response["result"].get("isError", False) == ("error" in content), response
    return content


def has_null(value):
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    if isinstance(value, list):
        return any(map(has_null, value))
    return value is None


class Shapes:
    """Holds results against the schemas that the server lists; undeclared fields count as faults too. Of fields that
    many results have, `observe` and `run` tell for all tools; another tool's own word comes first."""

    def __init__(self, schemas):
        shared = {**schemas["run"]["properties"], **schemas["observe"]["properties"]}
        self.validators = {
            name: jsonschema.Draft202012Validator(
                {**schema, "properties": {**shared, **schema["properties"]}, "additionalProperties": False}
            )
            for name, schema in schemas.items()
        }

    def faults(self, tool, content):
        faults = [error.message for error in self.validators[tool].iter_errors(content)]
        return faults + (["a field is null"] if has_null(content) else [])
