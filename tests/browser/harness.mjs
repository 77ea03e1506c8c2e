// What the tests share: counting checks, a server spoken to over MCP, a browser, and reading the page's cells.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { packed } from "./png.mjs";

export const [, , PROGRAM, ROOT, SHOTS] = process.argv;
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** Counts what holds; prints what doesn't. */
export class Checks {
  constructor(name) {
    Object.assign(this, { name, passed: 0, failed: 0, began: Date.now() });
  }

  that(what, holds, detail = "") {
    if (holds) this.passed += 1;
    else {
      this.failed += 1;
      console.log(`FAILED ${this.name}: ${what}: ${String(typeof detail === "string" ? detail : JSON.stringify(detail)).slice(0, 1500)}`);
    }
    return holds;
  }

  same(what, found, wanted) {
    const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
    return this.that(what, a === b, `found ${a}, wanted ${b}`);
  }

  finish() {
    const seconds = ((Date.now() - this.began) / 1000).toFixed(1);
    console.log(`${this.name}: ${this.passed} passed, ${this.failed} failed (${seconds} s)`);
    process.exit(this.failed || !this.passed ? 1 : 0);
  }
}

/** Directories and processes that go away. */
const leavings = [];
process.on("exit", () => leavings.forEach((leave) => leave()));

export function scratch() {
  const path = mkdtempSync(join(tmpdir(), "nethack-lab-browser-"));
  leavings.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A child process whose lines are kept. */
export function start(...parameters) {
  const child = spawn(PROGRAM, parameters, { stdio: ["pipe", "pipe", "pipe"] });
  leavings.push(() => child.kill("SIGKILL"));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  return { child, ended, lines: createInterface({ input: child.stdout }), errors: createInterface({ input: child.stderr }) };
}

/** Records a game of the explorer's, and tells what it holds. */
export function record(file, seed, role, keys) {
  spawnSync(PROGRAM, ["movie", "record", "--seed", String(seed), "--role", role, "--keys", String(keys), "-o", file]);
  return JSON.parse(spawnSync(PROGRAM, ["movie", "info", file, "--json"], { encoding: "utf8" }).stdout);
}

export const firstLine = (lines, wanted = /./) => new Promise((resolve, reject) => {
  lines.on("line", (line) => wanted.test(line) && resolve(line));
  lines.on("close", () => reject(new Error("it ended without a word")));
});

/** An MCP server and its viewer. */
export class Server {
  static async start(...parameters) {
    const server = new Server();
    Object.assign(server, start("mcp", ...parameters));
    server.waiting = new Map();
    server.last = 0;
    server.lines.on("line", (line) => {
      const message = JSON.parse(line);
      server.waiting.get(message.id)?.(message);
      server.waiting.delete(message.id);
    });
    const told = await firstLine(server.errors, /watched at http/);
    server.url = told.match(/http:\S+/)[0];
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "browser-tests", version: "1" } };
    await server.request("initialize", client);
    server.send({ method: "notifications/initialized" });
    return server;
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method, params) {
    this.last += 1;
    const id = this.last;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.send({ id, method, params });
    return answer;
  }

  /** A tool's structured result. */
  async call(name, parameters = {}) {
    const answer = await this.request("tools/call", { name, arguments: parameters });
    return answer.result?.structuredContent ?? answer;
  }

  /** Keys on a machine, whatever it waits for. */
  async keys(keys, machine = "main") {
    const { revision } = await this.call("observe", { machine, layers: ["status"] });
    const name = machine === "main" ? "run" : "fork_run";
    const where = machine === "main" ? {} : { fork: machine };
    return this.call(name, { ...where, revision, keys, force: true, layers: ["screen", "status"] });
  }

  async end() {
    this.child.stdin.end();
    return this.ended;
  }
}

/** A browser, and pages that note what goes wrong in them and where they ask. */
export async function browse() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  leavings.push(() => browser.close().catch(() => {}));
  return browser;
}

export async function open(context, url, prepare = () => {}) {
  const page = await context.newPage();
  page.faults = [];
  page.asked = [];
  page.on("pageerror", (error) => page.faults.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    page.faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("console", (message) => {
    // A connection that is cut on purpose is told there too.
    const isCut = /Failed to load resource|ERR_/.test(message.text());
    if (message.type() === "error" && !isCut) page.faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => page.asked.push(request.url()));
  await prepare(page);
  await page.goto(url);
  return page;
}

/** Waits for the page to show a boundary. */
export const shows = (page, boundary) =>
  page.waitForFunction((wanted) => document.getElementById("boundary").textContent.replace(/\D/g, "") === wanted, String(boundary), { timeout: 15000 });

export const waits = (page, selector, text) =>
  page.waitForFunction(([where, wanted]) => document.querySelector(where)?.textContent.includes(wanted), [selector, text], { timeout: 15000 });

/** The page's cells: rows of text, and what is coloured or marked. */
export const cells = (page) => page.evaluate(() => {
  const lines = [...document.querySelectorAll("#terminal .line")];
  const marked = [];
  const rows = lines.map((line, row) => [...line.querySelectorAll(".cell")].map((cell, column) => {
    const color = [...cell.classList].find((name) => /^c\d+$/.test(name));
    if (cell.textContent !== " ") marked.push([row, column, cell.textContent, color ? Number(color.slice(1)) : 8]);
    return cell.textContent;
  }).join(""));
  const cursor = document.querySelector("#terminal .cursor");
  const at = cursor && [...cursor.parentElement.querySelectorAll(".cell")].indexOf(cursor);
  const row = cursor && lines.indexOf(cursor.parentElement);
  return { rows, marked, cursor: cursor && [row, at], widths: [...new Set(rows.map((row) => row.length))] };
});

/** The same of a machine, as its server tells it. */
export async function frame(server, machine = "main") {
  const told = await server.call("observe", { machine, layers: ["screen", "cells", "status", "menu"], limit: 2000 });
  const lines = told.screen.split("\n");
  const rows = Array.from({ length: 24 }, (_, row) => (lines[row] ?? "").padEnd(80));
  const marked = told.cells.items.map((cell) => [cell.row, cell.column, cell.char, cell.color]);
  return { told, rows, marked, cursor: [told.cursor.row, told.cursor.column] };
}

/** That a page shows what a machine's frame holds, cell by cell. */
export async function agree(checks, what, page, server, machine = "main") {
  const wanted = await frame(server, machine);
  await shows(page, wanted.told.boundary);
  const found = await cells(page);
  checks.same(`${what}: rows`, found.rows, wanted.rows);
  checks.same(`${what}: symbols and colours`, found.marked, wanted.marked);
  checks.same(`${what}: cursor`, found.cursor, wanted.cursor);
  return wanted.told;
}

/** A picture for the documents: no wider than their text, so that it stays small. */
export async function shot(page, name, height = 880) {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 1100, height });
  await page.evaluate(() => document.activeElement?.blur());
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  writeFileSync(join(SHOTS, `${name}.png`), packed(await page.screenshot({ animations: "disabled" })));
  await page.setViewportSize(before);
}
