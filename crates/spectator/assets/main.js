// Puts the parts together: which machine is watched, and whether its newest frame is shown or an earlier one.
import { byId, grouped, say } from "/assets/dom.js";
import { Feed } from "/assets/feed.js";
import { Log, showInventory, showKeys, showQuestion, showStatus } from "/assets/panels.js";
import { Replay } from "/assets/replay.js";
import { Terminal } from "/assets/terminal.js";
import { Tree } from "/assets/tree.js";

const terminal = new Terminal();
const log = new Log((message) => replay.toMessage(message));
const tree = new Tree((id) => watch(id));
let watched = null;
let newest = null;
let machines = null;
let updatedAt = null;
let arrivedAt = null;

const replay = new Replay({
  onFrame: (frame) => showPast(frame),
  onLive: () => showNewest(),
  onBeyond: (boundary) => beyond(boundary),
  onPosition: (boundary) => {
    setHash(boundary);
    writeHash();
  },
});

const feed = new Feed({
  onState: (state) => took(state),
  onMachines: (list) => tookList(list),
  onGone: (id) => isGone(id),
  onConnection: (state, text) => connection(state, text),
  onRestart: () => restarted(),
});

function took(state) {
  const before = newest;
  const isFirst = before === null;
  const isOtherGame = !isFirst && before.game !== state.game;
  newest = state;
  if (isFirst) arrivedAt = new Date();
  if (before?.revision !== state.revision) updatedAt = isFirst ? null : new Date();
  if (isFirst || isOtherGame) begin(state, isFirst ? readHash().boundary : null);
  else replay.grew(state.boundary, state.line);
  if (replay.isLive) showNewest();
  tell(state, before, isOtherGame);
}

/** What is wrong, or how the game came to be shown. What was wrong may have come right: a journal's torn end is whole a
 * moment later. */
function tell(state, before, isOtherGame) {
  if (state.failure) notice(state.failure);
  else if (isOtherGame) notice(sentence(state.notice ?? "a new game has begun"));
  else if (before?.failure || (!before && state.notice)) notice(sentence(state.notice ?? ""));
}

const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}.`;

/** The first state of a game tells what it is, and the address at which boundary it is to be shown. */
function begin(state, boundary) {
  replay.reset(watched, state.kind);
  replay.grew(state.boundary, state.line);
  document.body.dataset.kind = state.kind;
  if (boundary !== null) {
    replay.last = Math.max(replay.last, boundary);
    replay.go(boundary);
  } else if (state.kind === "movie") replay.go(0);
}

/** A link may be older than a line that went back since: its end is shown instead. */
function beyond(boundary) {
  const last = Math.min(boundary - 1, Math.max(newest?.boundary ?? 0, replay.timeline.last));
  replay.last = last;
  if (replay.kind === "movie") replay.go(last);
  else replay.live();
  notice(`There is no boundary ${grouped(boundary)} here: the last is ${grouped(last)}.`);
}

function showNewest() {
  if (!newest) return;
  byId("terminal").classList.remove("past");
  showFrame(newest, newest.log, newest.messages);
  showKeys(newest.keys);
  lifecycle(newest.lifecycle, newest.lifecycle);
  setHash(null);
}

/** An earlier frame, with what is known of its time. */
function showPast(frame) {
  byId("terminal").classList.add("past");
  const logged = replay.timeline.isKnown ? replay.timeline.messagesUntil(frame.boundary) : past(frame);
  showFrame(frame, logged, frame.messages);
  showKeys(replay.keysBefore(frame));
  lifecycle("past", frame.boundary === replay.last && frame.ended ? "the end" : "replay");
  if (!replay.playing) setHash(frame.boundary);
}

/** Where no index is kept: what the newest log holds of the time before, then the frame's own messages. */
function past(frame) {
  const first = frame.messages[0]?.id ?? null;
  const before = (newest?.log ?? []).filter((message) => (first === null ? message.turn < frame.turn : message.id < first));
  return [...before, ...frame.messages];
}

function showFrame(frame, messages, news) {
  terminal.show(frame.rows, frame.cursor);
  say(byId("turn"), grouped(frame.turn));
  say(byId("boundary"), grouped(frame.boundary));
  say(byId("level"), frame.status?.level_text ?? "–");
  showStatus(frame.status);
  showQuestion(frame);
  showInventory(frame.inventory);
  log.show(messages, news);
  tree.show(machines, watched, frame.boundary);
}

function lifecycle(state, text) {
  const pill = byId("lifecycle");
  pill.dataset.state = state;
  say(pill, text);
}

function tookList(list) {
  machines = list;
  const kinds = { live: list.title, movie: `${list.title}, a movie`, journal: `${list.title}, a journal` };
  say(byId("title"), kinds[list.kind] ?? list.title);
  byId("forks").hidden = list.kind !== "live";
  if (watched === null && list.machines.length) watch(readHash().machine ?? list.machines[0].id);
  const shown = replay.isLive ? newest?.boundary ?? null : replay.position;
  tree.show(list, watched, shown);
}

function watch(id) {
  if (id === watched) return;
  watched = id;
  newest = null;
  updatedAt = null;
  arrivedAt = null;
  replay.reset(id, "live");
  say(byId("stage-heading"), id);
  document.title = `${id} · NetHack Lab`;
  notice("");
  lifecycle("waits", "–");
  tree.show(machines, watched, null);
  feed.follow(id);
}

function isGone(id) {
  if (id === "main") {
    notice("There is no game yet.");
    waitForGame();
    return;
  }
  notice(`${id} is gone: it was adopted or deleted.`);
  setTimeout(() => watched === id && insteadOf(id), 2500);
}

/** Shows main where a fork is not to be had. The address named a boundary of the fork, so it counts no more. */
function insteadOf(id) {
  history.replaceState(null, "", "#m=main");
  watch("main");
  notice(`There is no ${id} any more: main is shown instead.`);
}

/** Asks now and then whether there is a game. */
function waitForGame() {
  connection("polls", "waiting for a game");
  watched = null;
  setTimeout(start, document.hidden ? 5000 : 1000);
}

function restarted() {
  notice("The server was started again: this is its game now.");
  newest = null;
  machines = null;
}

function connection(state, text) {
  const pill = byId("connection");
  pill.dataset.state = state;
  // A recording that is shown from a file is not live.
  say(pill, state === "live" && newest && newest.kind !== "live" ? "connected" : text);
  document.body.dataset.connection = state;
  if (state === "lost" && text === "no answer") {
    notice("The server does not answer. It may have ended; what is shown is the last that came. Asking again.");
  } else if (state !== "lost" && byId("notice").textContent.startsWith("The server does not answer")) {
    notice("");
  }
}

function notice(text) {
  say(byId("notice"), text);
  byId("notice").hidden = !text;
}

// The address: `#m=f3&b=120` is fork f3 at boundary 120; without `b`, its newest.

function readHash() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const machine = fields.get("m");
  const boundary = fields.get("b");
  return {
    machine: /^[A-Za-z0-9]{1,24}$/.test(machine ?? "") ? machine : null,
    boundary: /^[0-9]{1,15}$/.test(boundary ?? "") ? Number(boundary) : null,
  };
}

const hash = { wanted: "", timer: 0 };

/** Browsers refuse pages that change their address too often: at once, and then at most every half second. */
function setHash(boundary) {
  hash.wanted = boundary === null ? `#m=${watched}` : `#m=${watched}&b=${boundary}`;
  if (hash.timer) return;
  writeHash();
  hash.timer = setTimeout(() => {
    hash.timer = 0;
    writeHash();
  }, 500);
}

function writeHash() {
  if (hash.wanted && location.hash !== hash.wanted) history.replaceState(null, "", hash.wanted);
}

window.addEventListener("hashchange", () => {
  hash.wanted = "";
  const { machine, boundary } = readHash();
  if (machine && machine !== watched) watch(machine);
  else if (boundary !== null) replay.go(boundary);
  else replay.live();
});

setInterval(() => {
  const age = updatedAt === null ? null : Math.round((Date.now() - updatedAt) / 1000);
  const before = arrivedAt === null ? "–" : `before ${clock(arrivedAt)}`;
  say(byId("updated"), age === null ? before : age < 2 ? "now" : age < 90 ? `${age} s ago` : clock(updatedAt));
}, 1000);

function clock(date) {
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

async function start() {
  try {
    const answer = await fetch("/api/machines", { cache: "no-store" });
    const list = await answer.json();
    feed.know(list.server);
    if (list.machines.length === 0) {
      tookList(list);
      notice("There is no game yet.");
      waitForGame();
      return;
    }
    notice("");
    const wanted = readHash().machine;
    const known = list.machines.some((machine) => machine.id === wanted);
    machines = list;
    if (wanted && !known) insteadOf(wanted);
    else watch(known ? wanted : list.machines[0].id);
    tookList(list);
  } catch {
    connection("lost", "no answer");
    setTimeout(start, 1500);
  }
}

start();
