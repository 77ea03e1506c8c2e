// A game with many forks: they come, run, end, are adopted and deleted, and the tree tells it.
import { join } from "node:path";
import { Checks, Server, agree, browse, open, record, scratch, shot, waits } from "./harness.mjs";

const checks = new Checks("tree");
const folder = scratch();
const movie = join(folder, "samurai.movie");
checks.that("a game to begin with", record(movie, 11, "samurai", 500).inputs > 100);
const server = await Server.start("--viewer", "--movies", join(folder, "journals"), "--resume", movie);
const browser = await browse();
const context = await browser.newContext({ viewport: { width: 1360, height: 1000 }, colorScheme: "dark" });
const page = await open(context, server.url);
const start = await agree(checks, "a resumed game", page, server);
const lanes = (count) => page.waitForFunction((wanted) => document.querySelectorAll("#tree .lane").length === wanted, count, { timeout: 20000 });

// Forks from now and from earlier, some with luck of their own, one from a fork.
const at = start.boundary;
await server.call("fork_create", { count: 3 });
for (const [boundary, luck] of [[at - 12, "same"], [at - 40, "reseed"], [at - 40, "same"]]) {
  await server.call("fork_create", { boundary, luck });
}
const lines = { f1: "20s", f2: "hhhhyyyy", f3: "lllljjjj", f4: "kkkkkkkk", f5: "10s10s10s", f6: "jjjjllll" };
for (const [fork, keys] of Object.entries(lines)) await server.keys([...keys], fork);
await server.call("fork_create", { from: "f2", luck: "reseed", luck_seed: 1 });
await server.keys([..."ssssssssss"], "f7");
await lanes(8);
const told = (await server.call("fork_list", {})).forks;
const shown = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#tree .lane.fork")].map((lane) =>
  [lane.dataset.id, { label: lane.getAttribute("aria-label"), reseeded: lane.classList.contains("reseeded") }])));
checks.same("all forks are there", Object.keys(shown).sort(), told.map((fork) => fork.machine ?? fork.fork ?? fork.id).sort());
checks.that("a fork of a fork says so", shown.f7.label.includes("of f2"), shown.f7);
checks.that("own luck is told", shown.f5.reseeded && shown.f7.reseeded && !shown.f1.reseeded, shown);
checks.that("where it left", shown.f4.label.includes(`at boundary ${at - 12}`), shown.f4);
await page.waitForFunction((wanted) => document.querySelector('#tree .lane[data-id="f7"]').getAttribute("aria-label").includes(wanted), "turn");
await shot(page, "spectator-live", 920);

// A machine that runs for long is seen to run, and comes to rest.
const runner = await open(context, `${server.url}#m=f1`);
await agree(checks, "watching f1", runner, server, "f1");
await runner.evaluate(() => {
  const pill = document.getElementById("lifecycle");
  window.seen = [];
  new MutationObserver(() => window.seen.push(pill.dataset.state)).observe(pill, { attributes: true });
});
const { revision } = await server.call("observe", { machine: "f1" });
await server.call("fork_run", { fork: "f1", revision, keys: Array.from({ length: 20000 }, () => "s"), force: true });
await runner.waitForFunction(() => window.seen.includes("running") && !["running", "waiting"].includes(window.seen.at(-1)), null, { timeout: 20000 });
await agree(checks, "at rest again", runner, server, "f1");
await page.waitForFunction(() => !["running", "waiting"].includes(document.querySelector('#tree .lane[data-id="f1"]').dataset.state), null, { timeout: 20000 });
checks.same("nothing went wrong beside the run", runner.faults, []);
await runner.close();

// One is watched when it is adopted: the page says so and goes back to main.
const watcher = await open(context, `${server.url}#m=f3`);
await agree(checks, "watching f3", watcher, server, "f3");
const main = await server.call("observe", {});
const adopted = await server.call("fork_adopt", { fork: "f3", revision: main.revision });
checks.that("it is adopted", !adopted.error, adopted);
await agree(checks, "main goes on from it", page, server);
const gone = (await server.call("observe", { machine: "f3" })).error;
if (gone) {
  await waits(watcher, "#notice", "f3 is gone");
  await agree(checks, "back to main", watcher, server);
}
const left = (await server.call("fork_list", {})).forks.length + 1;
await lanes(left);

// Deleted ones go.
await server.call("fork_delete", { fork: "f6" });
await lanes(left - 1);

// Links that lead nowhere any more: what is shown instead is said, in a fresh tab and in one that is open.
const stray = await open(context, `${server.url}#m=f99&b=5`);
await waits(stray, "#notice", "There is no f99 any more: main is shown instead");
await agree(checks, "main in place of a fork that never was", stray, server);
checks.same("the address names main's newest", await stray.evaluate(() => location.hash), "#m=main");
await stray.close();
const beyond = await open(context, `${server.url}#m=main&b=999999`);
await waits(beyond, "#notice", "There is no boundary 999");
await agree(checks, "main's end in place of a boundary beyond it", beyond, server);
await beyond.evaluate(() => { location.hash = "#m=f98&b=3"; });
await waits(beyond, "#notice", "There is no f98 any more: main is shown instead");
await agree(checks, "and again main", beyond, server);
checks.same("nothing went wrong with stray links", beyond.faults.filter((fault) => !`${fault}`.includes("404")), []);
await beyond.close();

// Many more: all are counted, and what is drawn is bounded.
await server.call("fork_create", { count: 256 });
await page.waitForFunction((least) => document.querySelectorAll("#tree .lane").length >= least, 200, { timeout: 20000 });
const drawn = await page.locator("#tree .lane").count();
checks.that("few enough are drawn", drawn <= 240, drawn);
checks.that("all are counted", (await page.textContent("#tree-summary")).includes(`${left - 2 + 256} forks`), await page.textContent("#tree-summary"));

for (const one of [page, watcher]) checks.same("nothing went wrong in the page", one.faults, []);
await browser.close();
checks.same("the server ends well", await server.end(), 0);
checks.finish();
