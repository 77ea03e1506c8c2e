// A session through npm's MCP client, by handshake and without one; every schema and every result through Ajv, strictly.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Ajv2020 } from "ajv/dist/2020.js";

const program = process.argv[2];
let passed = 0;
let failed = 0;

function check(what, holds, detail = "") {
  if (holds) return void passed++;
  failed++;
  console.log(`FAILED npm client: ${what}: ${JSON.stringify(detail).slice(0, 2000)}`);
}

/** Compiles the schemas of all tools; whatever Ajv has to say about one is a fault. */
function validators(tools) {
  const said = [];
  const say = (...words) => said.push(words.join(" "));
  const ajv = new Ajv2020({ strict: true, allErrors: true, logger: { log: say, warn: say, error: say } });
  const compiled = new Map();
  for (const tool of tools) {
    for (const kind of ["inputSchema", "outputSchema"]) {
      try {
        compiled.set(`${tool.name}.${kind}`, ajv.compile(tool[kind]));
      } catch (error) {
        said.push(`${tool.name}.${kind}: ${error.message}`);
      }
    }
  }
  check("Ajv takes every schema without a word", said.length === 0, said);
  return compiled;
}

/** Plays a game with a fork, an adoption and a proof; gives the tools that were seen. */
async function session(mode, directory) {
  const versionNegotiation = mode === "legacy" ? undefined : { mode };
  const client = new Client({ name: "npm-tests", version: "1" }, { versionNegotiation });
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp", "--movies", directory], stderr: "ignore" }));
  const { tools } = await client.listTools();
  const compiled = validators(tools);
  const call = async (name, given = {}, isError = false) => {
    const validInput = compiled.get(`${name}.inputSchema`)(given);
    const result = await client.callTool({ name, arguments: given });
    const content = result.structuredContent;
    const validate = compiled.get(`${name}.outputSchema`);
    check(`${mode}: ${name}'s result fits its schema`, validate(content), [content, validate.errors]);
    check(`${mode}: ${name} ${isError ? "is refused" : "works"}`, (result.isError ?? false) === isError, content);
    check(`${mode}: ${name}'s arguments are of its schema`, validInput || isError, given);
    check(`${mode}: ${name}'s text is its structure`, result.content[0].text === JSON.stringify(content), name);
    return content;
  };

  const game = await call("new_game", { seed: "42", role: "valkyrie", race: "human" });
  check(`${mode}: the hero is what was asked for`, game.power_on.role === "valkyrie", game.power_on);
  const stale = await call("press", { revision: game.revision + 1, key: "s" }, true);
  check(`${mode}: a revision that never was is stale`, stale.error.code === "STALE", stale);
  const unknown = await call("info", { verbose: true }, true);
  check(`${mode}: an undeclared argument is refused`, unknown.error.code === "INVALID_ARGUMENT", unknown);
  const pressed = await call("press", { revision: game.revision, key: "s" });
  const made = await call("fork_create", { count: 2 });
  const fork = made.forks[0];
  const ahead = await call("fork_run", { fork: fork.id, revision: fork.revision, text: "10s", on_more: "dismiss" });
  check(`${mode}: the fork went ahead`, ahead.boundary > pressed.boundary, ahead);
  const diff = await call("fork_diff", { a: "main", b: fork.id });
  check(`${mode}: they differ`, diff.identical !== true, diff);
  const adopted = await call("fork_adopt", { fork: fork.id, revision: pressed.revision });
  check(`${mode}: main is where the fork is`, adopted.boundary === ahead.boundary, adopted);
  const verdict = await call("movie_verify", {});
  check(`${mode}: the movie proves it`, verdict.verdict === "exact", verdict);
  await call("quit_game");
  try {
    await client.callTool({ name: "no_such_tool", arguments: {} });
    check(`${mode}: an undeclared tool is an error`, false);
  } catch (error) {
    check(`${mode}: an undeclared tool is -32602`, error.code === -32602, String(error));
  }
  await client.close();
}

for (const mode of ["legacy", "auto"]) {
  const directory = mkdtempSync(join(tmpdir(), "nethack-lab-npm-"));
  try {
    await session(mode, directory);
  } catch (error) {
    check(`${mode}: the session`, false, String(error.stack ?? error));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
console.log(`npm client: ${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
