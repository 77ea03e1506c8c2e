// The tree of forks along the axis of boundaries.
import { byId, draw, grouped, say } from "/assets/dom.js";

const LANE = 24;
const TOP = 26;
const LEFT = 14;
/** Room for what is said of each, and less of it where the page is narrow. */
const LABELS = 250;
const LABELS_NARROW = 120;
const NARROW = 520;
/** More lines than can be looked at: of the others, the newest are drawn. */
const LANES_MAX = 240;

export class Tree {
  constructor(onChoose) {
    this.place = byId("tree");
    this.onChoose = onChoose;
    this.list = null;
    this.watched = null;
    this.position = null;
    this.drawn = "";
    this.focused = null;
    new ResizeObserver(() => this.redraw()).observe(this.place);
  }

  /** Takes a list of machines, which one is watched, and the boundary that is shown of it. */
  show(list, watched, position) {
    this.list = list ?? this.list;
    this.watched = watched;
    this.position = position;
    this.redraw();
  }

  redraw() {
    if (!this.list) return;
    const width = Math.max(320, this.place.clientWidth - 2);
    const key = JSON.stringify([this.list.machines, this.watched, this.position, width]);
    if (key === this.drawn) return;
    this.drawn = key;
    const machines = order(this.list.machines);
    const shown = choose(machines, this.watched);
    this.summarise(machines);
    const held = this.place.contains(document.activeElement) ? this.focused : null;
    const scroll = this.place.scrollTop;
    this.place.replaceChildren(this.picture(shown, width));
    this.place.scrollTop = scroll;
    if (held) this.place.querySelector(`[data-id="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  }

  summarise(machines) {
    const forks = machines.filter((machine) => machine.parent).length;
    const running = machines.filter((machine) => ["running", "waiting"].includes(machine.lifecycle)).length;
    const over = machines.filter((machine) => machine.ended).length;
    const words = [forks === 0 ? "none yet" : forks === 1 ? "one fork" : `${grouped(this.list.total - 1)} forks`];
    if (running) words.push(`${running} running`);
    if (over) words.push(`${over} over`);
    if (machines.length > LANES_MAX) words.push(`${LANES_MAX} drawn`);
    say(byId("tree-summary"), words.join(", "));
  }

  picture(machines, width) {
    this.labels = width < NARROW ? LABELS_NARROW : LABELS;
    const scale = scaleOf(machines, width, this.labels);
    const height = TOP + machines.length * LANE + 6;
    const lanes = new Map(machines.map((machine, lane) => [machine.id, TOP + lane * LANE + LANE / 2]));
    const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Machines" });
    picture.append(axis(scale, height));
    if (this.position !== null && scale.holds(this.position)) {
      const x = scale.x(this.position);
      picture.append(draw("line", { class: "here", x1: x, x2: x, y1: TOP - 6, y2: height }));
    }
    // All lines lie under all words; a parent's lies over where its forks leave it.
    for (const machine of [...machines].reverse()) picture.append(this.wire(machine, lanes, scale));
    const inOrder = machines.map((machine) => this.lane(machine, lanes, scale));
    picture.append(...inOrder);
    const first = inOrder.find((lane) => lane.dataset.id === this.watched) ?? inOrder[0];
    first?.setAttribute("tabindex", "0");
    return picture;
  }

  /** A machine's line, bent off its parent's. */
  wire(machine, lanes, scale) {
    const y = lanes.get(machine.id);
    const [from, to] = ends(machine, scale);
    const parent = machine.parent ? lanes.get(machine.parent.id) : undefined;
    const bend = Math.min(10, Math.max(4, (to - from) / 2));
    const path = parent === undefined
      ? `M${from} ${y} H${to}`
      : `M${from} ${parent} V${y - bend} Q${from} ${y} ${from + bend} ${y} H${to}`;
    return draw("path", { class: `wire ${this.classes(machine)}`, d: path });
  }

  classes(machine) {
    const isWatched = machine.id === this.watched;
    const names = [machine.parent ? "fork" : "main", isWatched ? "watched" : "", machine.parent?.reseeded ? "reseeded" : ""];
    return names.filter(Boolean).join(" ");
  }

  /** What can be chosen: where the machine is, and what is said of it. */
  lane(machine, lanes, scale) {
    const y = lanes.get(machine.id);
    const [from, to] = ends(machine, scale);
    const lane = draw("g", {
      class: `lane ${this.classes(machine)}`,
      "data-id": machine.id,
      "data-state": stateOf(machine),
      role: "button",
      tabindex: "-1",
      "aria-pressed": String(machine.id === this.watched),
      "aria-label": spoken(machine),
    });
    const width = to - from + this.labels - 4;
    lane.append(draw("rect", { class: "ring", x: from - 5, y: y - LANE / 2 + 1, width, height: LANE - 2, rx: 6 }));
    lane.append(draw("circle", { class: "dot", cx: to, cy: y, r: 5.5 }));
    lane.append(draw("text", { class: "name", x: to + 11, y: y + 4 }, machine.id));
    lane.append(draw("text", { class: "note", x: to + 18 + 8 * machine.id.length, y: y + 4 }, note(machine, this.labels < LABELS)));
    lane.addEventListener("click", () => this.onChoose(machine.id));
    lane.addEventListener("focus", () => { this.focused = machine.id; });
    lane.addEventListener("keydown", (event) => this.key(event, lane));
    return lane;
  }

  key(event, lane) {
    const move = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (move) {
      const next = lane[move];
      if (next?.classList.contains("lane")) next.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.onChoose(lane.dataset.id);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Where a machine's line begins and ends, in pixels. */
function ends(machine, scale) {
  const from = scale.x(machine.parent?.base ?? 0);
  return [from, Math.max(scale.x(machine.boundary), from + 5)];
}

/** Parents before their forks, forks where they leave. */
function order(machines) {
  const known = new Set(machines.map((machine) => machine.id));
  const children = new Map();
  for (const machine of machines) {
    const parent = machine.parent && known.has(machine.parent.id) ? machine.parent.id : null;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(machine);
  }
  const ordered = [];
  const stack = [...(children.get(null) ?? [])].reverse();
  while (stack.length) {
    const machine = stack.pop();
    ordered.push(machine);
    // What is pushed last comes next: the fork that left first, and of equals the oldest.
    const forks = [...(children.get(machine.id) ?? [])].reverse();
    stack.push(...forks.sort((a, b) => b.parent.base - a.parent.base));
  }
  return ordered;
}

function choose(machines, watched) {
  if (machines.length <= LANES_MAX) return machines;
  const kept = new Set(machines.slice(-LANES_MAX + 2));
  return machines.filter((machine, index) => index === 0 || machine.id === watched || kept.has(machine));
}

/** From boundaries to pixels: all of them, or, where forks lie close together far out, only those around them. */
function scaleOf(machines, width, labels) {
  const last = Math.max(1, ...machines.map((machine) => machine.boundary));
  const bases = machines.filter((machine) => machine.parent).map((machine) => machine.parent.base);
  const span = bases.length ? last - Math.min(...bases) : last;
  const first = bases.length && span * 4 < last ? Math.max(0, Math.min(...bases) - Math.ceil(span * 0.25) - 2) : 0;
  const room = width - LEFT - labels;
  const x = (boundary) => LEFT + (Math.max(0, boundary - first) / Math.max(1, last - first)) * room;
  return { first, last, room, x, holds: (boundary) => boundary >= first && boundary <= last };
}

function axis(scale, height) {
  const group = draw("g", { class: "axis", "aria-hidden": "true" });
  const step = nice((scale.last - scale.first) / Math.max(1, Math.floor(scale.room / 90)));
  for (let at = Math.ceil(scale.first / step) * step; at <= scale.last; at += step) {
    const x = scale.x(at);
    group.append(draw("line", { x1: x, x2: x, y1: 18, y2: height }));
    group.append(draw("text", { x: x + 3, y: 12 }, grouped(at)));
  }
  return group;
}

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, step)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= step) ?? 10);
}

function stateOf(machine) {
  if (machine.ended) {
    if (machine.ended.kind === "died") return "died";
    return ["ascended", "escaped"].includes(machine.ended.kind) ? "won" : "over";
  }
  return machine.lifecycle === "aborted" ? "over" : machine.lifecycle;
}

function note(machine, isShort) {
  const turn = `T${machine.turn}`;
  if (isShort) return cut(`${turn} ${machine.ended ? machine.ended.kind : machine.lifecycle}`, 16);
  if (machine.ended) return cut(`${turn}  ${machine.ended.text}`, 34);
  const hp = machine.hp === null ? "" : `  HP ${machine.hp}/${machine.hp_max}`;
  const where = machine.level ? `  ${machine.level}` : "";
  return cut(`${turn}${where}${hp}  ${machine.lifecycle === "idle" ? machine.pending ?? "" : machine.lifecycle}`, 38);
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function spoken(machine) {
  const from = machine.parent ? `fork ${machine.id} of ${machine.parent.id ?? "a machine that is gone"} at boundary ${machine.parent.base}` : machine.id;
  const end = machine.ended ? `over: ${machine.ended.text}` : machine.lifecycle;
  return `${from}, now at boundary ${machine.boundary}, turn ${machine.turn}, ${end}`;
}
