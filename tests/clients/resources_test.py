"""Resources and prompts through the `mcp` client of PyPI: what is listed is read, and nothing changes by it."""

import asyncio
import base64
import json
import pathlib
import sys
import traceback

from mcp import Client, StdioServerParameters

from harness import Checks, Server

PROGRAM = sys.argv[1]
LUA = pathlib.Path(__file__).parents[2] / "lua"
SCRIPTS = {path.stem: path.read_text() for path in LUA.glob("*.lua")}
check = Checks("resources")


async def refused(what, awaited, word):
    try:
        result = await awaited
    except Exception as error:  # the clients have exceptions of their own
        return check(f"{what} is refused", word in str(error), error)
    return check(f"{what} is refused", False, result)


async def session(mode):
    async with Client(StdioServerParameters(command=PROGRAM, args=["mcp"]), mode=mode) as client:

        async def call(tool, **arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        scripts = [str(resource.uri) for resource in (await client.list_resources()).resources]
        check(f"{mode}: without a game there are the scripts", sorted(scripts) == sorted(f"nethack://lua/{name}" for name in SCRIPTS), scripts)
        await refused("a resource without a game", client.read_resource("nethack://main/screen"), "no game")
        game = await call("new_game", seed="21", role="wizard")
        fork = (await call("fork_create"))["forks"][0]
        ahead = await call("fork_run", fork=fork["id"], revision=fork["revision"], text="i")
        before = await call("info")
        listed = (await client.list_resources()).resources
        uris = [str(resource.uri) for resource in listed]
        check("main's resources", uris == [f"nethack://main/{view}" for view in ("screen", "screenshot", "movie")] + scripts, uris)
        for name, source in SCRIPTS.items():
            content = (await client.read_resource(f"nethack://lua/{name}")).contents[0]
            check(f"{name} is the script of lua/", content.text == source and content.mime_type == "text/x-lua", content)
            told = await call("lua_eval", source=content.text)
            check(f"{name} runs as it is", "error" not in told, told)
        templates = (await client.list_resource_templates()).resource_templates
        check("templates for forks", len(templates) == 3 and all("{machine}" in t.uri_template for t in templates), templates)
        for machine, look in (("main", game), (fork["id"], ahead)):
            for template in templates:
                uri = template.uri_template.replace("{machine}", machine)
                content = (await client.read_resource(uri)).contents[0]
                check(f"{uri} has its type", content.mime_type == template.mime_type and str(content.uri) == uri, content)
                if uri.endswith("/screen"):
                    rows = [row.rstrip() for row in content.text.rstrip().split("\n")]
                    check(f"{uri} is the screen", rows == look["screen"].split("\n"), (rows, look["screen"]))
                elif uri.endswith("/screenshot"):
                    check(f"{uri} is a PNG", base64.b64decode(content.blob).startswith(b"\x89PNG"))
                else:
                    lines = [json.loads(line) for line in content.text.splitlines()]
                    whole = lines[0]["power_on"]["core_seed"] == "21" and "end" in lines[-1]
                    check(f"{uri} is a whole movie", whole, lines[-1])
        for uri in [
            "nethack://f9/screen",
            "nethack://main/state",
            "nethack://lua/no_such",
            "nethack://lua/../threat_map",
            "nethack://lua/screen",
            "nethack://main/screen/x",
            "nethack://../screen",
            "file:///etc/passwd",
            "nethack://" + "x" * 5_000 + "/screen",
        ]:
            await refused(uri[:40], client.read_resource(uri), "there is no")
        prompts = (await client.list_prompts()).prompts
        check("prompts", [prompt.name for prompt in prompts] == ["play_carefully", "explain_position"], prompts)
        check("their arguments may be left out", not any(argument.required for prompt in prompts for argument in prompt.arguments))
        careful = (await client.get_prompt("play_carefully", {"goal": "reach the Gnomish Mines"})).messages
        check("a goal is put in", "reach the Gnomish Mines" in careful[0].content.text and "fork_create" in careful[0].content.text, careful)
        plain = (await client.get_prompt("play_carefully")).messages
        check("there is a goal without one", "stay alive" in plain[0].content.text, plain)
        explained = (await client.get_prompt("explain_position", {"machine": fork["id"]})).messages
        shown = explained[1].content.resource.text
        check("a position is explained with its screen", shown.split("\n")[0].rstrip() == ahead["screen"].split("\n")[0], explained)
        for name, arguments, word in [
            ("no_such", {}, "no prompt"),
            ("play_carefully", {"hat": "red"}, "no argument"),
            ("play_carefully", {"goal": "x" * 501}, "501"),
            ("play_carefully", {"goal": "a\x1b[2J"}, "control"),
            ("explain_position", {"machine": "f77"}, "no machine"),
        ]:
            await refused(f"{name} {str(arguments)[:40]}", client.get_prompt(name, arguments), word)
        check("nothing has changed", await call("info") == before)
        check("and the game goes on", (await call("press", revision=game["revision"], key="s")).get("turn") == 2)


def capabilities():
    with Server(PROGRAM) as server:
        told = server.initialize()["capabilities"]
        check("capabilities", {"tools", "resources", "prompts"} <= set(told), told)
        server.call("new_game", seed="1")
        missing = server.request("resources/read", {"uri": "nethack://main/none"})
        check("the code for a missing resource", missing["error"]["code"] == -32002, missing)
        wrong = server.request("prompts/get", {"name": "play_carefully", "arguments": {"goal": 5}})
        check("an argument that is no text", "error" in wrong, wrong)


try:
    capabilities()
    for mode in ("legacy", "2026-07-28"):
        asyncio.run(session(mode))
except Exception:
    check("runs to its end", False, traceback.format_exc())
check.finish()
