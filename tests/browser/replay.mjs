// Movies and journals from files: scrubbing, jumps, play, growth and tears.
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Checks, PROGRAM, Server, browse, cells, firstLine, open, record, scratch, shot, shows, start } from "./harness.mjs";

const checks = new Checks("replay");
const folder = scratch();
const browser = await browse();
const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: "dark" });

const watch = async (file) => {
  const watcher = start("watch", file);
  watcher.url = await firstLine(watcher.lines);
  return watcher;
};

/** The screen at a boundary as the command line has it. */
const shown = (file, at) => {
  const run = spawnSync(PROGRAM, ["movie", "show", file, "--at", String(at)], { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
  const lines = run.stdout.split("\n").slice(1);
  return Array.from({ length: 24 }, (_, row) => (lines[row] ?? "").padEnd(80));
};

const isShown = async (what, page, file, at) => {
  await shows(page, at);
  checks.same(`${what}: boundary ${at}`, (await cells(page)).rows, shown(file, at));
};

const indexed = (page) => page.waitForFunction(() => document.body.dataset.index === "complete", null, { timeout: 30000 });

// A short movie that ends with a death.
let healer = "";
let facts = {};
for (let seed = 1; seed <= 12 && facts.finish?.kind !== "died"; seed += 1) {
  healer = join(folder, `short-${seed}.movie`);
  facts = record(healer, seed, "tourist", 6000);
}
checks.that("one of twelve tourists dies", facts.finish?.kind === "died", facts);
const first = await watch(healer);
checks.that("the first line is the address", /^http:\/\/127\.0\.0\.1:\d+\/$/.test(first.url), first.url);
const page = await open(context, first.url);
await isShown("a movie begins at power-on", page, healer, 0);
await indexed(page);
const index = await page.evaluate(async () => (await fetch("/api/machines/main/index")).json());
const scrub = (at) => page.evaluate((at) => {
  const bar = document.getElementById("scrub");
  bar.value = String(at);
  bar.dispatchEvent(new Event("input"));
}, at);
for (const at of [1, 77, index.last >> 1, index.last - 1, index.last]) {
  await scrub(at);
  await isShown("scrubbed", page, healer, at);
}
checks.that("the end tells the death", (await page.textContent("#asks")).includes(facts.finish.text), facts.finish);
await page.locator("#first").click();
await shows(page, 0);
const level = index.levels.find((level) => level.boundary > 0);
if (level) {
  await page.locator("#level-forward").click();
  await isShown("a level", page, healer, level.boundary);
} else await scrub(index.last >> 1);
await shot(page, "spectator-replay");
await page.locator("#death").click();
await isShown("the end", page, healer, index.last);
const turn = Math.min(60, index.turns.turns.reduce((sum, more) => sum + more, 0) - 10);
await page.fill("#jump-to", String(turn));
await page.locator("#jump button").click();
await page.waitForFunction((turn) => Number(document.getElementById("turn").textContent) >= turn && Number(document.getElementById("turn").textContent) < turn + 10, turn);
await page.locator("#message-forward").click();
await page.waitForFunction(() => document.querySelectorAll("#log li.new").length > 0);
await page.locator("#terminal").focus();
await page.keyboard.press("Home");
await shows(page, 0);
await page.keyboard.press("ArrowRight");
await isShown("a step", page, healer, 1);
await page.waitForURL(/#m=main&b=1$/);

// Many jumps at once on a slow link: the last one counts.
await page.route("**/frames/**", async (route) => {
  const at = Number(route.request().url().match(/frames\/(\d+)/)[1]);
  await new Promise((resolve) => setTimeout(resolve, at % 50 === 0 ? 400 : 30));
  await route.continue();
});
for (const at of [150, 100, 83]) await scrub(at);
await shows(page, 83);
await page.waitForTimeout(600);
await isShown("the last of many jumps", page, healer, 83);
await page.unroute("**/frames/**");

// A position by its address, and play to the end.
const other = await open(context, `${first.url}#m=main&b=23`);
await isShown("a shared address", other, healer, 23);
await other.selectOption("#speed", "1000");
await other.locator("#play").click();
await isShown("played to the end", other, healer, index.last);
await other.selectOption("#speed", "15");
await other.locator("#play").click();
await other.waitForFunction(() => Number(document.getElementById("boundary").textContent) >= 5);
await other.locator("#play").click();
checks.that("play stops", (await other.textContent("#play")).includes("Play"));
await other.waitForURL(/&b=\d+$/);

// A long one: a jump takes well under a second.
const long = join(folder, "long.movie");
const length = record(long, 1, "valkyrie", 20000).inputs;
const second = await watch(long);
const far = await open(context, second.url);
await shows(far, 0);
await far.waitForFunction((length) => Number(document.getElementById("scrub").max) >= length, length, { timeout: 60000 });
await far.waitForFunction(async (length) => (await (await fetch("/api/machines/main/state")).json()).boundary >= length, length, { timeout: 60000, polling: 300 });
const times = [];
for (const at of [0.95, 0.2, 0.6, 0.99, 0.5].map((part) => Math.floor(part * length))) {
  const began = Date.now();
  await far.fill("#jump-to", String(at));
  await far.selectOption("#jump-kind", "boundary");
  await far.locator("#jump button").click();
  await shows(far, at);
  times.push(Date.now() - began);
}
console.log(`replay: seeks in a movie of ${length} inputs: ${times.join(", ")} ms`);
// One of them may have had to wait for a processor that others use.
checks.that("seeks are quick", times.sort((a, b) => a - b)[2] < 3000, times);
await isShown("a long movie", far, long, length >> 1);

// A journal that a server is writing.
const server = await Server.start("--viewer", "--movies", folder, "--seed", "3", "--role", "priest");
const journal = join(folder, readdirSync(folder).find((name) => /^\d.*\.movie$/.test(name)));
await server.keys([..."ssss"]);
const third = await watch(journal);
const follower = await open(context, third.url);
await shows(follower, 4);
for (const keys of ["s", "hjkl", "i"]) {
  await server.keys([...keys]);
  const told = await server.call("observe", { layers: ["screen"] });
  await shows(follower, told.boundary);
  const rows = told.screen.split("\n");
  checks.same(`the journal after ${keys}`, (await cells(follower)).rows.map((row) => row.trimEnd()), Array.from({ length: 24 }, (_, row) => rows[row] ?? ""));
}

// Its line is taken back, and goes another way: what was seen before of it is no more.
const bar = (page) => page.evaluate(() => [Number(document.getElementById("scrub").max), document.getElementById("notice").textContent]);
await follower.locator("#first").click();
await follower.locator("#last").click();
const made = await server.call("fork_create", { count: 1, boundary: 4 });
await server.keys([...".....20s"], made.forks[0].id);
const { revision } = await server.call("observe", { layers: ["status"] });
const adopted = await server.call("fork_adopt", { fork: made.forks[0].id, revision });
checks.that("it goes another way", adopted.common === 4, adopted);
const other_way = (await server.call("observe", { layers: ["screen"] })).boundary;
await follower.waitForFunction((last) => Number(document.getElementById("scrub").max) === last && document.body.dataset.index === "complete", other_way, { timeout: 15000 });
await follower.locator("#first").click();
for (const at of [6, 8, other_way]) {
  await follower.evaluate((at) => {
    const bar = document.getElementById("scrub");
    bar.value = String(at);
    bar.dispatchEvent(new Event("input"));
  }, at);
  await isShown("the other way", follower, journal, at);
}
await follower.locator("#live").click();

// Another movie in its place is another game, from its own power-on.
const written = join(folder, "written.movie");
copyFileSync(journal, written);
const fifth = await watch(written);
const reader = await open(context, `${fifth.url}#m=main&b=3`);
await isShown("before", reader, written, 3);
const gameBefore = await reader.evaluate(async () => (await (await fetch("/api/machines/main/state")).json()).game);
renameSync(written, join(folder, "gone.copy"));
await reader.waitForFunction(() => document.getElementById("notice").textContent.includes("can't be read") || document.getElementById("notice").textContent.includes("No such file"));
await isShown("what is gone stays", reader, join(folder, "gone.copy"), 3);
copyFileSync(healer, written);
await reader.waitForFunction(() => document.getElementById("notice").textContent.includes("replaced by another movie"));
await indexed(reader);
await isShown("another movie in its place", reader, healer, 0);
await reader.locator("#last").click();
await isShown("its end", reader, healer, index.last);
const stateAfter = await reader.evaluate(async () => (await fetch("/api/machines/main/state")).json());
checks.that("another game", stateAfter.game !== gameBefore && stateAfter.notice.includes("replaced"), [gameBefore, stateAfter.game, stateAfter.notice]);
checks.same("it is a movie now", stateAfter.kind, "movie");
// And a movie over a movie, written in place.
const short = join(folder, "short.movie");
record(short, 30, "priest", 40);
writeFileSync(written, readFileSync(short));
await reader.waitForFunction((wanted) => Number(document.getElementById("scrub").max) === wanted, 40, { timeout: 15000 });
await isShown("a movie over a movie", reader, short, 0);
checks.that("it is told", (await bar(reader))[1].includes("replaced by another movie"), await bar(reader));

// A torn one shows all but the tear.
const torn = join(folder, "torn.copy");
copyFileSync(journal, torn);
const bytes = readFileSync(torn);
writeFileSync(torn, bytes.subarray(0, bytes.length - 9));
const whole = JSON.parse(spawnSync(PROGRAM, ["movie", "info", torn, "--json"], { encoding: "utf8" }).stdout);
checks.that("the copy is torn", whole.torn_bytes > 0, whole);
const fourth = await watch(torn);
const tear = await open(context, fourth.url);
await shows(tear, whole.inputs);
await tear.waitForFunction(() => document.getElementById("notice").textContent.includes("torn"));
checks.same("all but the tear", (await cells(tear)).rows, shown(torn, whole.inputs));

for (const one of [page, other, far, follower, reader, tear]) checks.same("nothing went wrong in the page", one.faults, []);
await browser.close();
for (const watcher of [first, second, third, fourth, fifth]) {
  watcher.child.kill("SIGTERM");
  checks.same("a watcher ends well", await watcher.ended, 0);
}
await server.end();
checks.finish();
