"""A short experiment through the `fastmcp` client of PyPI, and its command line."""

import asyncio
import json
import os
import subprocess
import sys
import traceback

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError

from harness import Checks

PROGRAM = sys.argv[1]
check = Checks("fastmcp")


async def experiment():
    async with Client(StdioTransport(PROGRAM, ["mcp"])) as client:
        tools = {tool.name for tool in await client.list_tools()}
        check("the tools are listed", {"new_game", "observe", "run", "fork_diff", "movie_verify"} <= tools, tools)

        async def call(tool, **arguments):
            return (await client.call_tool(tool, arguments, raise_on_error=False)).structured_content

        game = await call("new_game", seed="42", role="valkyrie")
        check("a game begins", game["pending"]["kind"] == "command", game)
        played = await call("run", revision=game["revision"], text="10s", on_more="dismiss")
        check("it plays", played["sent"] == 3 and played["stop"] == "done", played)
        fork = (await call("fork_create"))["forks"][0]
        ahead = await call("fork_run", fork=fork["id"], revision=fork["revision"], text="5s", on_more="dismiss")
        diff = await call("fork_diff", a="main", b=fork["id"])
        check("a fork differs", diff["turns"]["delta"] == ahead["turns"] > 0, diff)
        adopted = await call("fork_adopt", fork=fork["id"], revision=played["revision"])
        check("it is adopted", adopted["screen"] == ahead["screen"], adopted)
        verified = await call("movie_verify")
        check("the movie is exact", verified["verdict"] == "exact", verified)
        stale = await call("press", revision=game["revision"], key="s")
        check.code("a late call", stale, "STALE")
        refused = False
        try:
            await client.call_tool("press", {"revision": adopted["revision"], "key": "s", "extra": 1})
        except ToolError as error:
            refused = "INVALID_ARGUMENT" in str(error) and "extra" in str(error)
        check("an unknown field is an error", refused)


def command_line():
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    fastmcp = os.path.join(os.path.dirname(sys.executable), "fastmcp")
    line = f"{PROGRAM} mcp"
    listed = subprocess.run([fastmcp, "list", "--command", line, "--json"], capture_output=True, text=True, env=environment, timeout=120)
    check("fastmcp list", listed.returncode == 0 and "fork_adopt" in listed.stdout, listed.stderr[-500:])
    called = subprocess.run([fastmcp, "call", "--command", line, "--target", "info", "--json"], capture_output=True, text=True, env=environment, timeout=120)
    told = called.returncode == 0 and "3.6.7" in json.dumps(json.loads(called.stdout))
    check("fastmcp call", told, called.stdout[-500:] + called.stderr[-500:])


try:
    asyncio.run(experiment())
    command_line()
except Exception:
    check("the whole experiment", False, traceback.format_exc()[-3000:])
check.finish()
