// Earlier frames of a line: stepping, playing, jumping. The newest question counts; answers to others are dropped.
import { ask, byId, say } from "/assets/dom.js";
import { Timeline } from "/assets/timeline.js";

const BATCH = 64;
const KEPT = 512;
/** How often a frame is asked for that the server has not come to yet, every half second. */
const TRIES = 60;
/** Frames a second that are drawn at most; faster play passes some over. */
const DRAWN_PER_S = 30;

export class Replay {
  /** `onFrame(frame)` shows an earlier frame, `onLive()` goes back to the newest, `onBeyond(boundary)` is for one that
   * the line does not have. */
  constructor(handlers) {
    this.handlers = handlers;
    this.machine = null;
    this.kind = "live";
    this.line = null;
    this.last = 0;
    this.position = null;
    this.frames = new Map();
    this.loading = new Map();
    this.epoch = 0;
    this.token = 0;
    this.playing = false;
    this.timeline = new Timeline(() => this.learnt());
    this.bind();
  }

  bind() {
    const on = (id, act) => { byId(id).onclick = act; };
    on("first", () => this.go(0));
    on("back", () => this.step(-1));
    on("forward", () => this.step(1));
    on("last", () => this.go(this.last));
    on("play", () => this.toggle());
    on("live", () => this.live());
    on("level-back", () => this.jumpAmong(this.timeline.levels, -1, "level"));
    on("level-forward", () => this.jumpAmong(this.timeline.levels, 1, "level"));
    on("message-back", () => this.jumpMessage(-1));
    on("message-forward", () => this.jumpMessage(1));
    on("death", () => this.go(this.timeline.ends.at(-1) ?? this.last));
    on("share", () => this.share());
    byId("scrub").oninput = () => this.go(Number(byId("scrub").value));
    byId("jump").onsubmit = (event) => {
      event.preventDefault();
      this.jump(byId("jump-kind").value, Number(byId("jump-to").value));
    };
    byId("terminal").addEventListener("keydown", (event) => this.key(event));
    document.body.addEventListener("keydown", (event) => {
      if (event.target === document.body) this.key(event);
    });
    new ResizeObserver(() => this.timeline.draw(byId("marks"), this.last)).observe(byId("scrub"));
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.timeline.draw(byId("marks"), this.last));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      " ": () => this.toggle(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      Home: () => this.go(0), End: () => this.go(this.last), l: () => this.live(),
      "[": () => this.jumpAmong(this.timeline.levels, -1, "level"), "]": () => this.jumpAmong(this.timeline.levels, 1, "level"),
      p: () => this.jumpMessage(-1), n: () => this.jumpMessage(1),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Another machine, another game, or another run of the server: nothing that was kept is its. */
  reset(machine, kind) {
    this.token += 1;
    this.machine = machine;
    this.kind = kind;
    this.line = null;
    this.last = 0;
    this.position = null;
    this.playing = false;
    this.forgetFrames();
    this.timeline.forget();
    if (kind !== "live") this.timeline.load(machine);
    this.draw();
  }

  /** What is on its way was asked of the line as it was, so it counts no more either. */
  forgetFrames() {
    this.epoch += 1;
    this.frames.clear();
    this.loading.clear();
  }

  /** The line has come to a boundary: it has grown, or it is another than before. */
  grew(boundary, line) {
    const isOther = this.line !== null && this.line !== line;
    this.line = line;
    if (isOther) this.forgetFrames();
    if (this.kind === "journal") this.timeline.grew(boundary, isOther);
    const known = Math.max(this.timeline.last, boundary);
    this.last = isOther ? known : Math.max(this.last, known);
    if (isOther && this.position !== null && !this.playing) this.go(this.position);
    this.draw();
  }

  /** More is known of the line. */
  learnt() {
    this.last = Math.max(this.last, this.timeline.last);
    this.draw();
  }

  get isLive() { return this.position === null; }

  live() {
    this.token += 1;
    this.playing = false;
    this.position = null;
    this.handlers.onLive();
    this.draw();
  }

  step(by) {
    this.playing = false;
    this.go((this.position ?? this.last) + by);
  }

  /** Shows a boundary. */
  async go(boundary) {
    const wanted = Math.min(this.last, Math.max(0, Math.round(boundary)));
    this.token += 1;
    const token = this.token;
    this.playing = false;
    this.position = wanted;
    this.draw();
    try {
      const frame = await this.frame(wanted, 1, token);
      if (frame) this.handlers.onFrame(frame);
    } catch (error) {
      if (token !== this.token) return;
      if (error.code === "NO_BOUNDARY") this.handlers.onBeyond(wanted);
      else say(byId("jump-said"), error.message);
    }
  }

  /** A frame, from what is kept or from the server, which may not have come so far. Nothing once another is asked for. */
  async frame(boundary, count, token) {
    for (let tries = 0; token === this.token && tries < TRIES; tries += 1) {
      const kept = this.frames.get(boundary);
      if (kept) {
        say(byId("jump-said"), "");
        return kept;
      }
      try {
        await this.load(boundary, count);
      } catch (error) {
        if (error.status !== 503 || tries + 1 === TRIES) throw error;
        if (token === this.token) say(byId("jump-said"), "not there yet");
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
    return null;
  }

  load(boundary, count) {
    const key = `${boundary}+${count}`;
    if (!this.loading.has(key)) {
      const { epoch, loading } = this;
      const answer = ask(`/api/machines/${this.machine}/frames/${boundary}?count=${count}`).then((answer) => {
        if (epoch !== this.epoch) return;
        for (const frame of answer.frames) this.frames.set(frame.boundary, frame);
        while (this.frames.size > KEPT) this.frames.delete(this.frames.keys().next().value);
      }).finally(() => {
        if (epoch === this.epoch) loading.delete(key);
      });
      loading.set(key, answer);
    }
    return this.loading.get(key);
  }

  /** The keys that led to a frame, as far as the frames before it are kept. */
  keysBefore(frame) {
    const keys = [];
    for (let at = frame; at?.key && keys.length < 14; at = this.frames.get(at.boundary - 1)) keys.unshift(at.key);
    return keys;
  }

  toggle() {
    if (this.playing) {
      this.playing = false;
      this.handlers.onPosition(this.position);
      this.draw();
      return;
    }
    const from = this.position === null || this.position >= this.last ? 0 : this.position;
    this.playing = true;
    this.play(from);
  }

  /** Plays on by the clock: frames that come late are passed over. */
  async play(from) {
    this.token += 1;
    const token = this.token;
    let at = from;
    let before = performance.now();
    while (this.playing && token === this.token && at <= this.last) {
      this.position = Math.floor(at);
      this.draw();
      const speed = Number(byId("speed").value);
      const stride = Math.max(1, Math.round(speed / DRAWN_PER_S));
      const ahead = stride === 1 ? BATCH : 1;
      try {
        const frame = await this.frame(this.position, Math.min(ahead, this.last - this.position + 1), token);
        if (!frame) return;
        this.handlers.onFrame(frame);
      } catch (error) {
        if (token === this.token) say(byId("jump-said"), error.message);
        break;
      }
      if (ahead > 1 && !this.frames.has(this.position + 16) && this.position + 16 <= this.last) {
        this.load(this.position + 16, Math.min(BATCH, this.last - this.position - 15)).catch(() => {});
      }
      if (at >= this.last) break;
      const wait = Math.max(0, (stride * 1000) / speed - (performance.now() - before));
      await new Promise((resolve) => setTimeout(resolve, wait));
      const now = performance.now();
      const passed = Math.max(1, Math.round(((now - before) * speed) / 1000));
      before = now;
      at = Math.min(this.last, at + (stride === 1 ? 1 : passed));
    }
    if (token === this.token) {
      this.playing = false;
      this.handlers.onPosition(this.position);
      this.draw();
    }
  }

  // Jumps

  async jump(kind, number) {
    if (!Number.isFinite(number)) return;
    if (kind === "boundary") {
      this.go(number);
      return;
    }
    this.token += 1;
    const token = this.token;
    this.playing = false;
    try {
      const boundary = await this.boundaryOfTurn(number, token);
      if (token !== this.token) return;
      if (boundary === null) say(byId("jump-said"), `there is no turn ${number} yet`);
      else this.go(boundary);
    } catch (error) {
      if (token === this.token) say(byId("jump-said"), error.message);
    }
  }

  /** The first boundary of a turn or a later one: from the index, or by halving the line. */
  async boundaryOfTurn(turn, token) {
    const known = this.timeline.boundaryOfTurn(turn);
    if (known !== undefined) return known;
    let [low, high] = [0, this.last];
    const isBefore = async (boundary) => (await this.frame(boundary, 1, token))?.turn < turn;
    if (await isBefore(high)) return null;
    while (low < high && token === this.token) {
      const middle = Math.floor((low + high) / 2);
      if (await isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  jumpAmong(boundaries, direction, word) {
    const now = this.position ?? this.last;
    const found = direction > 0
      ? boundaries.find((boundary) => boundary > now)
      : boundaries.filter((boundary) => boundary < now).at(-1);
    if (found !== undefined) this.go(found);
    else if (this.kind === "live") say(byId("jump-said"), `${word}s are not kept for a live game`);
    else if (!this.timeline.isComplete) say(byId("jump-said"), `no such ${word} was found yet: the recording is being read`);
    else say(byId("jump-said"), `no ${direction > 0 ? "later" : "earlier"} ${word}`);
  }

  jumpMessage(direction) {
    this.jumpAmong(this.timeline.told, direction, "message");
  }

  /** Goes to where a message was given. */
  async toMessage(message) {
    const known = message.boundary ?? this.timeline.boundaryOfMessage(message.id);
    if (known !== undefined) this.go(known);
    else this.jump("turn", message.turn);
  }

  // What is to be seen of it

  async share() {
    this.handlers.onPosition(this.position ?? this.last);
    try {
      await navigator.clipboard.writeText(location.href);
      say(byId("jump-said"), "copied");
    } catch {
      say(byId("jump-said"), "the address above leads here");
    }
  }

  draw() {
    const at = this.position ?? this.last;
    const scrub = byId("scrub");
    scrub.max = String(this.last);
    if (Number(scrub.value) !== at) scrub.value = String(at);
    scrub.setAttribute("aria-valuetext", `boundary ${at} of ${this.last}`);
    byId("live").setAttribute("aria-pressed", String(this.isLive));
    byId("live").hidden = this.kind === "movie";
    const play = byId("play");
    play.setAttribute("aria-pressed", String(this.playing));
    // A replay in motion is too quick to be read out.
    byId("log").setAttribute("aria-live", this.playing ? "off" : "polite");
    say(play, this.playing ? "❚❚ Pause" : "▶ Play");
    byId("back").disabled = byId("first").disabled = at <= 0;
    byId("forward").disabled = byId("last").disabled = this.position !== null && at >= this.last;
    for (const id of ["level-back", "level-forward", "message-back", "message-forward"]) byId(id).disabled = !this.timeline.isKnown;
    document.body.dataset.index = this.timeline.isComplete ? "complete" : this.timeline.isKnown ? "partial" : "none";
    this.timeline.draw(byId("marks"), this.last);
  }
}
