// A game is played over MCP, and the page follows it.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Checks, PROGRAM, SHOTS, Server, agree, browse, frame, open, scratch, shot, shows, waits } from "./harness.mjs";
import { packed } from "./png.mjs";

const checks = new Checks("live");
const MARKUP = "<img src=x onerror=alert(1)>";
const movies = scratch();
const server = await Server.start("--viewer", "--movies", movies);
const browser = await browse();
const context = await browser.newContext({ viewport: { width: 1360, height: 1010 }, colorScheme: "dark" });

// Before there is a game.
const page = await open(context, server.url);
await waits(page, "#notice", "There is no game yet");
checks.same("info tells the address", (await server.call("info")).viewer, server.url);
checks.that("the address is loopback", new URL(server.url).hostname === "127.0.0.1");

// The game, with markup for names. The hero's own name has no room for signs: the record takes letters only.
const refused = await server.call("new_game", { seed: 7, name: "<b>x</b>" });
checks.same("a hero's name holds no markup", refused.error?.code, "INVALID_ARGUMENT");
await server.call("new_game", {
  seed: 42, name: "Ann", role: "wizard", race: "elf", gender: "female", alignment: "chaotic",
  options: `pettype:cat,catname:${MARKUP},fruit:<b onclick=x>plum</b>`,
});
await shows(page, 0);
await agree(checks, "power-on", page, server);
checks.that("the notice is gone", await page.isHidden("#notice"));

// Keys, one by one and many.
for (const key of ["s", "s", "l", "h"]) {
  await server.keys([key]);
  await agree(checks, `key ${key}`, page, server);
}
await server.keys(Array.from({ length: 20 }, () => "s"));
await agree(checks, "twenty keys", page, server);
checks.same("the last keys are shown", await page.locator("#keys kbd").last().textContent(), "s");
const status = (await frame(server)).told.status;
checks.same("hit points", await page.getAttribute(".bar.hp", "aria-valuenow"), String(status.hp));
checks.that("the hero's title", (await page.textContent("#status")).includes(status.title));

// A menu.
await server.keys(["i"]);
const menu = await agree(checks, "menu", page, server);
checks.same("the menu's entries", await page.locator(".sheet.menu > div:not(.heading)").count(),
  menu.menu.entries.filter((entry) => entry.accelerator).length);
checks.that("the question names it", (await page.textContent("#asks-kind")).includes("menu"));
await shot(page, "menu");
await server.keys(["ESC"]);

// Markup in an engraving: a text prompt, then --More-- as it is read.
await server.keys(["E", "-"]);
for (let tries = 0; tries < 6 && (await frame(server)).told.pending.kind !== "text"; tries += 1) {
  const { kind } = (await frame(server)).told.pending;
  await server.keys([kind === "more" ? "ENTER" : "y"]);
}
await server.keys([...MARKUP].map((sign) => (sign === " " ? "SPACE" : sign)));
await agree(checks, "text prompt", page, server);
checks.that("what is typed is shown as it is", (await page.textContent("#asks")).includes(MARKUP.slice(0, 12)));
await server.keys(["ENTER", ":"]);
await page.waitForFunction((boundary) => Number(document.getElementById("boundary").textContent.replace(/\D/g, "")) >= boundary,
  (await frame(server)).told.boundary);
for (let tries = 0; tries < 5; tries += 1) {
  const told = await agree(checks, "engraving", page, server);
  if (told.pending.kind === "more") {
    checks.that("--More-- is asked for", (await page.textContent("#asks-kind")).includes("More"));
    await server.keys(["ENTER"]);
  } else if (told.pending.kind === "window") await server.keys(["ESC"]);
  else break;
}
checks.that("the engraving is text", (await page.textContent("#log")).includes("<img src=x onerror="));

// A pet's name: look at it from far.
await server.keys(["C", "a"]);
await server.keys(["ESC", "ESC", "ESC"]);
const pet = await server.call("observe", { layers: ["map", "screen"] });
const petRow = pet.screen.split("\n").findIndex((row, at) => at > 0 && at < 22 && row.includes("f"));
if (petRow > 0) {
  const column = pet.screen.split("\n")[petRow].indexOf("f");
  const { cursor } = pet;
  const steps = (from, to, less, more) => Array.from({ length: Math.abs(to - from) }, () => (to < from ? less : more));
  await server.keys([";", ...steps(cursor.row, petRow, "k", "j"), ...steps(cursor.column, column, "h", "l"), "."]);
  await agree(checks, "farlook", page, server);
  checks.that("the pet's name is text", (await page.textContent("#screen-text")).includes("<img src=x"), await page.textContent("#screen-text"));
  await server.keys(["ESC", "ESC"]);
}
checks.same("no element was made from text", await page.locator("main img, main b[onclick], main script").count(), 0);

// --More--, as it stands in the question.
await server.keys(["?"]);
await agree(checks, "help menu", page, server);
await server.keys(["ESC"]);

// Forks appear, run, and can be watched.
const { revision } = await server.call("observe", {});
const forks = [
  await server.call("fork_create", { count: 2 }),
  await server.call("fork_create", { boundary: 10, luck: "reseed", luck_seed: 5 }),
];
checks.that("forks were made", forks.every((made) => !made.error), forks);
await page.waitForFunction(() => document.querySelectorAll("#tree .lane").length === 4, null, { timeout: 10000 });
await server.keys(Array.from({ length: 30 }, () => "s"), "f1");
await server.keys([..."hhhjjjlllkkk"], "f2");
await server.keys([..."ssssssss"], "f3");
const second = await open(context, `${server.url}#m=f1`);
await agree(checks, "second tab on f1", second, server, "f1");
await page.locator('#tree .lane[data-id="f2"]').dispatchEvent("click");
await agree(checks, "a click watches f2", page, server, "f2");
await page.locator('#tree .lane[data-id="f3"]').focus();
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await agree(checks, "keys watch the next line", page, server, "f1");
await page.waitForURL(/#m=f1$/);
checks.that("lanes say what they are", /fork f2 of main at boundary/.test(await page.getAttribute('#tree .lane[data-id="f2"]', "aria-label")));

// A fork's death, by praying until a god has had enough.
for (let tries = 0; tries < 40; tries += 1) {
  const seen = await server.call("observe", { machine: "f1" });
  if (seen.ended || seen.error) break;
  const prayer = ["#", ..."pray", "ENTER", "y", ...Array.from({ length: 12 }, () => "ENTER")];
  const done = await server.keys(seen.pending?.kind === "command" ? prayer : ["ENTER", "ESC", "y"], "f1");
  if (done.ended || done.error) break;
}
const end = await server.call("observe", { machine: "f1" });
checks.that("a fork has died", end.ended?.kind === "died", end.ended ?? end);
await agree(checks, "death", second, server, "f1");
checks.that("the death is told", (await second.textContent("#asks")).includes(end.ended?.text ?? "?"));
await page.waitForFunction(() => document.querySelector('#tree .lane[data-id="f1"]')?.dataset.state === "died");
await shot(second, "spectator-death");
await page.locator('#tree .lane[data-id="main"]').dispatchEvent("click");
await agree(checks, "back to main", page, server);
await shot(page, "live");

// Looking changes nothing: neither machine, nor revision, nor journal.
const journal = () => readdirSync(movies).map((name) => {
  const bytes = readFileSync(join(movies, name));
  return `${name} ${createHash("sha256").update(bytes).digest("hex")}`;
}).sort();
const before = [await server.call("observe", {}), (await server.call("info")).main, journal()];
const paths = ["", "health", "api/machines", "api/machines/main/state", "api/machines/f1/state", "api/machines/main/messages",
  "api/machines/main/frames/0", "api/machines/main/frames/12?count=8", "api/machines/main/index", "g/main", "api/games/x/state"];
const asked = await page.evaluate(async (paths) => {
  const found = [];
  for (let round = 0; round < 5; round += 1) {
    for (const path of paths) found.push((await fetch(`/${path}`)).status);
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) found.push((await fetch("/api/machines/main/state", { method, body: "{}" })).status);
  }
  return found;
}, paths);
checks.same("only reads are answered", [...new Set(asked)].sort(), [200, 404, 405]);
checks.same("nothing changed", [await server.call("observe", {}), (await server.call("info")).main, journal()], before);

// Back in time on a live game, and to the present again.
await page.locator("#first").click();
await shows(page, 0);
await page.waitForURL(/&b=0$/);
await page.fill("#jump-to", "10");
await page.locator("#jump button").click();
await page.waitForFunction(() => Number(document.getElementById("turn").textContent) >= 10 && location.hash.includes("&b=") && !location.hash.endsWith("&b=0"));
await server.keys(["s"]);
checks.that("the past stays while the game goes on", (await page.textContent("#lifecycle")) === "replay");
await page.locator("#live").click();
await agree(checks, "live again", page, server);

// Other looks of it.
const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5, colorScheme: "dark", isMobile: true });
const small = await open(phone, server.url);
await agree(checks, "phone", small, server);
const inSight = await small.evaluate(() => {
  const [cursor, terminal] = [document.querySelector("#terminal .cursor"), document.getElementById("terminal")].map((one) => one.getBoundingClientRect());
  return cursor.left >= terminal.left && cursor.right <= terminal.right && cursor.width >= 6;
});
checks.that("the cursor is in sight and large enough on a phone", inSight);
checks.that("the page itself does not scroll sideways", await small.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1));
writeFileSync(join(SHOTS, "spectator-phone.png"), packed(await small.screenshot()));
const bright = await browser.newContext({ viewport: { width: 1360, height: 1010 }, colorScheme: "light" });
const light = await open(bright, server.url);
await agree(checks, "light", light, server);
await shot(light, "light");

// Many messages, and a reload.
await page.reload();
await agree(checks, "reload", page, server);
const rules = await page.evaluate(() => ({
  log: document.getElementById("log").getAttribute("aria-live"),
  names: [...document.querySelectorAll("button, input, select")].filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.closest("label"))).length,
}));
checks.same("messages are read out politely, and all controls have names", rules, { log: "polite", names: 0 });

for (const one of [page, second, small, light]) {
  checks.same("nothing went wrong in the page", one.faults, []);
  const elsewhere = one.asked.filter((url) => !url.startsWith(server.url));
  checks.same("nothing was asked of others", elsewhere, []);
}
checks.that("a revision was seen", revision > 0);
await browser.close();
checks.same("the server ends well", await server.end(), 0);
const recorded = readdirSync(movies).filter((name) => name.endsWith(".movie"));
checks.that("something was recorded", recorded.length > 0);
for (const name of recorded) {
  const verified = spawnSync(PROGRAM, ["movie", "verify", join(movies, name)], { encoding: "utf8" });
  checks.that("what was watched verifies as exact", verified.status === 0 && verified.stdout.includes("exact"), verified.stdout + verified.stderr);
}
checks.finish();
