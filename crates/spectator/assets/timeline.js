// What is known of a whole line, where its source keeps it: turns, levels, ends and messages by boundary.
import { ask } from "/assets/dom.js";

const AGAIN_MS = 700;
const FAILED_MS = 3000;
/** Messages of the past that are shown at once. */
const SHOWN = 120;

export class Timeline {
  /** `onNews` is called when more has become known. */
  constructor(onNews) {
    this.onNews = onNews;
    this.timer = 0;
    this.forget();
  }

  forget() {
    clearTimeout(this.timer);
    this.machine = null;
    this.index = null;
    this.turns = [];
    this.messages = [];
    this.loading = false;
  }

  get isKnown() { return this.index !== null; }

  get levels() { return this.index?.levels.map((level) => level.boundary) ?? []; }

  get ends() { return this.index?.ends.map((end) => end.boundary) ?? []; }

  /** The boundaries that have messages, in order. */
  get told() { return [...new Set(this.messages.map((message) => message.boundary))]; }

  /** The line has come to a boundary: what lies before it is asked for. */
  grew(boundary) {
    if (this.index && boundary > this.index.through && !this.loading) this.load(this.machine);
  }

  async load(machine) {
    clearTimeout(this.timer);
    this.machine = machine;
    this.loading = true;
    const isCurrent = () => machine === this.machine;
    try {
      const index = await ask(`/api/machines/${machine}/index`);
      if (!isCurrent()) return;
      if (this.index && index.through < this.index.through) this.messages = [];
      this.index = index;
      this.turns = turnsOf(index);
      await this.loadMessages(machine);
      if (!isCurrent()) return;
      this.onNews();
      if (!index.complete) this.timer = setTimeout(() => this.load(machine), AGAIN_MS);
    } catch {
      if (isCurrent()) this.timer = setTimeout(() => this.load(machine), FAILED_MS);
    } finally {
      if (isCurrent()) this.loading = false;
    }
  }

  async loadMessages(machine) {
    for (;;) {
      const after = this.messages.at(-1)?.id ?? 0;
      const answer = await ask(`/api/machines/${machine}/messages?after=${after}&limit=2000`);
      if (machine !== this.machine || answer.messages.length === 0) return;
      this.messages.push(...answer.messages);
    }
  }

  /** The first boundary of a turn or a later one; null where there is none, undefined where that isn't known. */
  boundaryOfTurn(turn) {
    const found = this.turns.find(([, at]) => at >= turn);
    if (found) return found[0];
    return this.index?.complete ? null : undefined;
  }

  boundaryOfMessage(id) {
    return this.messages.find((message) => message.id === id)?.boundary;
  }

  /** The newest messages up to a boundary. */
  messagesUntil(boundary) {
    let [low, high] = [0, this.messages.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.messages[middle].boundary <= boundary) low = middle + 1;
      else high = middle;
    }
    return this.messages.slice(Math.max(0, low - SHOWN), low);
  }

  /** Ticks above a scrub bar: levels and ends, and how far the line is known. */
  draw(canvas, last) {
    const width = canvas.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(14 * ratio);
    if (!this.index) return;
    const paint = canvas.getContext("2d");
    paint.scale(ratio, ratio);
    const colors = getComputedStyle(document.documentElement);
    const x = (boundary) => (boundary / Math.max(1, last)) * (width - 2) + 1;
    const tick = (boundary, color, height) => {
      paint.fillStyle = colors.getPropertyValue(color);
      paint.fillRect(x(boundary) - 1, 14 - height, 2, height);
    };
    if (!this.index.complete) {
      paint.fillStyle = colors.getPropertyValue("--edge");
      paint.fillRect(0, 12, x(this.index.through), 2);
    }
    for (const boundary of this.levels) tick(boundary, "--calm", 8);
    for (const boundary of this.ends) tick(boundary, "--bad", 13);
  }
}

/** Turns come as differences: boundary and turn of each change. */
function turnsOf(index) {
  let [boundary, turn] = [0, 0];
  return index.turns.boundaries.map((more, at) => {
    boundary += more;
    turn += index.turns.turns[at];
    return [boundary, turn];
  });
}
