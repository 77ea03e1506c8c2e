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
    // Answers to what was asked before count no more.
    this.generation = (this.generation ?? 0) + 1;
    this.machine = null;
    this.index = null;
    this.isStale = false;
    this.turns = [];
    this.messages = [];
    this.loading = false;
    this.again = false;
  }

  get isKnown() { return this.index !== null; }

  /** Whether all of the line is known, as far as it goes by now. */
  get isComplete() { return this.index !== null && this.index.complete && !this.isStale; }

  /** The last boundary, as far as that is known here. */
  get last() { return this.index && !this.isStale ? this.index.last : 0; }

  get levels() { return this.index?.levels.map((level) => level.boundary) ?? []; }

  get ends() { return this.index?.ends.map((end) => end.boundary) ?? []; }

  /** The boundaries that have messages, in order. */
  get told() { return [...new Set(this.messages.map((message) => message.boundary))]; }

  /** The line has come to a boundary, maybe on another way: what lies before it is asked for. */
  grew(boundary, isOther) {
    if (isOther) this.isStale = true;
    if (!isOther && boundary <= (this.index?.through ?? -1)) return;
    // What is on its way may have been answered before.
    if (this.loading) this.again = true;
    else this.load(this.machine);
  }

  async load(machine) {
    clearTimeout(this.timer);
    const { generation } = this;
    const isCurrent = () => generation === this.generation;
    Object.assign(this, { machine, loading: true, again: false });
    try {
      const index = await ask(`/api/machines/${machine}/index`);
      if (!isCurrent()) return;
      if (this.index && index.line !== this.index.line) this.messages = [];
      this.index = index;
      this.isStale = this.again && this.isStale;
      this.turns = turnsOf(index);
      await this.loadMessages(machine, isCurrent);
      if (!isCurrent()) return;
      this.onNews();
      if (!index.complete || this.again) this.loadAfter(AGAIN_MS);
    } catch {
      if (isCurrent()) this.loadAfter(FAILED_MS);
    } finally {
      if (isCurrent()) this.loading = false;
    }
  }

  loadAfter(pause) {
    this.timer = setTimeout(() => this.load(this.machine), pause);
  }

  async loadMessages(machine, isCurrent) {
    for (;;) {
      const after = this.messages.at(-1)?.id ?? 0;
      const answer = await ask(`/api/machines/${machine}/messages?after=${after}&limit=2000`);
      if (!isCurrent() || answer.messages.length === 0) return;
      this.messages.push(...answer.messages);
    }
  }

  /** The first boundary of a turn or a later one; null where there is none, undefined where that isn't known. */
  boundaryOfTurn(turn) {
    const found = this.turns.find(([, at]) => at >= turn);
    if (found) return found[0];
    return this.isComplete ? null : undefined;
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
