// Connections that fail, servers that end, and addresses that are taken.
import { Checks, PROGRAM, Server, agree, browse, open, shows, start, waits } from "./harness.mjs";
import { spawnSync } from "node:child_process";

const checks = new Checks("lost");
const server = await Server.start("--viewer", "127.0.0.1:0", "--seed", "5", "--role", "samurai");
const browser = await browse();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await open(context, server.url);
await agree(checks, "first", page, server);

// Events don't get through: the page asks every second.
const asking = await open(context, server.url, (page) => page.route("**/events", (route) => route.abort()));
await asking.waitForFunction(() => document.body.dataset.connection === "polls", null, { timeout: 15000 });
await server.keys(["s", "s"]);
await agree(checks, "by asking", asking, server);
const unchanged = asking.waitForResponse((response) => response.url().endsWith("/state") && response.status() === 304, { timeout: 10000 });
checks.that("what is unchanged is not sent again", (await unchanged).status() === 304);
await asking.close();

// The network goes and comes.
await context.setOffline(true);
await server.keys(["s"]);
await context.setOffline(false);
await agree(checks, "after the network was gone", page, server);

// A hidden tab holds no connection.
const hidden = await page.evaluate(async () => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const state = document.body.dataset.connection;
  delete document.hidden;
  document.dispatchEvent(new Event("visibilitychange"));
  return state;
});
checks.same("a hidden tab rests", hidden, "polls");
await page.waitForFunction(() => document.body.dataset.connection === "live", null, { timeout: 10000 });

// A busy port, addresses that others could reach, addresses that are none.
const run = (...parameters) => spawnSync(PROGRAM, parameters, { input: "", encoding: "utf8", timeout: 20000 });
const port = new URL(server.url).port;
const busy = run("mcp", "--viewer", `127.0.0.1:${port}`);
checks.that("a busy port fails at once and says so", busy.status === 1 && busy.stderr.includes("is in use"), busy.stderr);
const reachable = run("mcp", "--viewer", "0.0.0.0:0");
checks.that("others' reach is refused", reachable.status === 1 && reachable.stderr.includes("other machines"), reachable.stderr);
const wrong = run("watch", "no-such.movie");
checks.that("a missing file is a mistake", wrong.status === 2 && wrong.stdout === "", wrong);

// The server ends; another begins at the same address.
await server.end();
await waits(page, "#notice", "The server does not answer");
checks.same("it says that it is lost", await page.getAttribute("#connection", "data-state"), "lost");
checks.that("what came last stays", (await page.textContent("#screen-text")).trim().length > 50);
const again = await Server.start("--viewer", `127.0.0.1:${port}`, "--seed", "6", "--role", "valkyrie");
await waits(page, "#notice", "started again");
await agree(checks, "the new server's game", page, again);
await again.keys(["s"]);
await agree(checks, "and its keys", page, again);

// A new game under the old name.
await again.call("quit_game", {});
await page.waitForFunction(() => document.getElementById("lifecycle").textContent === "aborted");
checks.that("a closed game says so", (await page.textContent("#asks-heading")).includes("closed"));
await again.call("new_game", { seed: 9, role: "tourist" });
await shows(page, 0);
await agree(checks, "a new game", page, again);

// Killed, not ended.
again.child.kill("SIGKILL");
await waits(page, "#notice", "The server does not answer");
checks.same("nothing went wrong in the page", page.faults, []);
await browser.close();
const help = start("watch", "--help");
checks.same("watch has help", await help.ended, 0);
checks.finish();
