// Where states come from: server-sent events, or asking now and then where those fail or the tab is hidden.
import { ask } from "/assets/dom.js";

const POLL_MS = 1000;
const POLL_HIDDEN_MS = 15000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
/** Without a word for so long (the server says something every 15 s), a connection is taken for dead. */
const SILENCE_MS = 40000;

/** Follows one machine. Calls `onState`, `onMachines`, `onGone` and `onConnection(state, text)`. */
export class Feed {
  constructor(handlers) {
    this.handlers = handlers;
    this.machine = null;
    this.source = null;
    this.timer = 0;
    this.failures = 0;
    this.generation = 0;
    this.etag = null;
    this.server = null;
    this.heard = 0;
    document.addEventListener("visibilitychange", () => this.restart());
    window.addEventListener("pageshow", (event) => event.persisted && this.restart());
    window.addEventListener("online", () => this.restart());
    setInterval(() => this.watchdog(), 5000);
  }

  /** Follows a machine from now on. */
  follow(machine) {
    this.machine = machine;
    this.etag = null;
    this.restart();
  }

  /** Begins anew in the way that fits: answers of an earlier beginning count no more. */
  restart() {
    this.stop();
    if (this.machine === null) return;
    if (document.hidden) this.poll(POLL_HIDDEN_MS);
    else if (this.failures >= 2 || !("EventSource" in window)) this.poll(POLL_MS);
    else this.listen();
  }

  stop() {
    this.generation += 1;
    clearTimeout(this.timer);
    if (this.source) this.source.close();
    this.source = null;
  }

  listen() {
    const generation = this.generation;
    const source = new EventSource(`/api/machines/${this.machine}/events`);
    this.source = source;
    this.heard = Date.now();
    const on = (name, act) => source.addEventListener(name, (event) => {
      if (generation !== this.generation) return;
      this.heard = Date.now();
      this.failures = 0;
      this.handlers.onConnection("live", "live");
      act(JSON.parse(event.data));
    });
    on("state", (state) => this.took(state));
    on("machines", (list) => this.tookList(list));
    on("gone", () => {
      this.stop();
      this.handlers.onGone(this.machine);
    });
    source.onerror = () => {
      if (generation !== this.generation) return;
      const isRefused = source.readyState === EventSource.CLOSED;
      this.stop();
      if (!isRefused) {
        this.failed(this.generation);
        return;
      }
      // Events don't tell why they were refused; asking does.
      this.failures += 1;
      this.poll(POLL_MS);
    };
  }

  watchdog() {
    if (this.source && Date.now() - this.heard > SILENCE_MS) this.checkAlive(this.generation);
  }

  /** An idle game is silent, and so is a connection that is cut. */
  async checkAlive(generation) {
    this.heard = Date.now();
    try {
      await ask("/health");
    } catch {
      if (generation === this.generation) this.failed(generation);
    }
  }

  async poll(every) {
    const generation = this.generation;
    try {
      const answer = await fetch(`/api/machines/${this.machine}/state`, {
        cache: "no-store",
        headers: this.etag ? { "If-None-Match": this.etag } : {},
      });
      if (generation !== this.generation) return;
      if (answer.status === 404) {
        this.stop();
        this.handlers.onGone(this.machine);
        return;
      }
      if (!answer.ok && answer.status !== 304) throw new Error(String(answer.status));
      if (answer.status === 200) {
        const state = await answer.json();
        if (generation !== this.generation) return;
        this.etag = answer.headers.get("ETag");
        this.took(state);
      }
      const list = await ask("/api/machines");
      if (generation !== this.generation) return;
      this.tookList(list);
      this.handlers.onConnection("polls", document.hidden ? "resting" : "asking every second");
      this.timer = setTimeout(() => {
        // Events are tried again now and then: what was in their way may be gone.
        this.failures = Math.max(0, this.failures - 0.2);
        this.restart();
      }, every);
    } catch {
      if (generation === this.generation) this.failed(generation);
    }
  }

  failed(generation) {
    this.stop();
    const wait = RETRY_MS[Math.min(Math.floor(this.failures), RETRY_MS.length - 1)];
    this.failures += 1;
    this.etag = null;
    this.handlers.onConnection("lost", this.failures > 1 ? "no answer" : "reconnecting");
    this.timer = setTimeout(() => this.restart(), wait);
    return generation;
  }

  took(state) {
    this.know(state.server);
    if (state.machine === this.machine) this.handlers.onState(state);
  }

  tookList(list) {
    this.know(list.server);
    this.handlers.onMachines(list);
  }

  /** Another run of the server has other games under the same names. */
  know(server) {
    const before = this.server;
    this.server = server;
    if (before !== null && before !== server) this.handlers.onRestart();
  }
}
