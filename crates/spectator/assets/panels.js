// What stands beside the terminal: hero, question, messages, inventory.
import { byId, grouped, make, say } from "/assets/dom.js";

const DIRE = new Set(["stone", "slime", "strngl", "food_pois", "term_ill", "Fainting", "Fainted", "Starved"]);
const WORDS = {
  stone: "Stone", slime: "Slime", strngl: "Strngl", food_pois: "FoodPois", term_ill: "TermIll", blind: "Blind",
  deaf: "Deaf", stun: "Stun", conf: "Conf", hallu: "Hallu", lev: "Lev", fly: "Fly", ride: "Ride",
};
const ASKS = {
  command: "a command", count: "the rest of a count", direction: "a direction", item: "an item",
  choice: "a choice", text: "a line of text", menu: "a menu", more: "--More--", window: "a page of text",
  position: "a place", extended: "an extended command", key: "any key",
};

/** The hero's status lines as fields. */
export function showStatus(status) {
  const place = byId("status");
  if (!status) {
    place.replaceChildren(make("p", "quiet", "not drawn yet"));
    return;
  }
  const level = status.experience_level ?? status.hit_dice;
  const stats = make("dl", "stats", ...[
    ["St", status.strength_text], ["Dx", status.dexterity], ["Co", status.constitution],
    ["In", status.intelligence], ["Wi", status.wisdom], ["Ch", status.charisma],
  ].map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value))));
  const more = make("p", "more", ...[
    ["AC", status.armor_class], [status.hit_dice === null ? "Xp" : "HD", status.experience === null ? level : `${level}/${status.experience}`],
    ["Gold", grouped(status.gold)], ["", status.level_text], ["", status.alignment],
    ...(status.score === null ? [] : [["Score", grouped(status.score)]]),
  ].map(([name, value]) => make("span", "", name ? `${name} ` : "", make("b", "", value ?? "–"))));
  const chips = [status.hunger, status.burden, ...status.conditions].filter(Boolean).map((word) =>
    make("span", DIRE.has(word) ? "chip bad" : "chip", WORDS[word] ?? word));
  place.replaceChildren(
    make("p", "hero-name", status.title),
    bar("hp", "HP", "Hit points", status.hp, status.hp_max),
    bar("power", "Pw", "Energy", status.energy, status.energy_max),
    stats,
    more,
    ...(chips.length ? [make("div", "chips", ...chips)] : []),
  );
}

function bar(kind, name, label, value, most) {
  const part = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  const need = kind === "hp" && part < 1 / 7 ? " dire" : kind === "hp" && part < 0.4 ? " low" : "";
  const fill = make("div", "fill");
  fill.style.setProperty("--part", String(part));
  const element = make("div", `bar ${kind}${need}`, fill,
    make("div", "said", make("span", "", name), make("span", "", `${value}/${most}`)));
  element.setAttribute("role", "meter");
  element.setAttribute("aria-label", label);
  element.setAttribute("aria-valuemin", "0");
  element.setAttribute("aria-valuemax", String(most));
  element.setAttribute("aria-valuenow", String(value));
  element.setAttribute("aria-valuetext", `${value} of ${most}`);
  return element;
}

/** The prompt, menu or text that is open; or how the game ended. */
export function showQuestion(state) {
  const { pending, menu, window: open, ended, lifecycle } = state;
  const parts = [];
  const kind = byId("asks-kind");
  kind.dataset.state = "kind";
  if (ended) {
    say(byId("asks-heading"), "The game is over");
    say(kind, ended.kind);
    parts.push(make("p", "prompt", ended.text));
  } else if (!pending) {
    say(byId("asks-heading"), lifecycle === "aborted" ? "The game was closed" : "The game waits for");
    say(kind, "");
    parts.push(make("p", "quiet", lifecycle === "aborted" ? "Its last frame stays." : "nothing"));
  } else {
    say(byId("asks-heading"), "The game waits for");
    say(kind, ASKS[pending.kind] ?? pending.kind);
    if (pending.prompt) parts.push(make("p", "prompt", pending.prompt));
    if (pending.answers) parts.push(make("p", "quiet", "answers: ", make("span", "prompt", pending.answers)));
    if (pending.typed) parts.push(make("p", "quiet", "typed: ", make("span", "prompt", pending.typed)));
  }
  if (menu) parts.push(menuSheet(menu));
  if (open) parts.push(make("div", "sheet window", open.lines.join("\n")));
  byId("asks").replaceChildren(...parts);
}

function menuSheet(menu) {
  const lines = menu.entries.map((entry) => {
    const kind = entry.heading ? "heading" : entry.selected ? "picked" : "";
    const key = entry.heading || !entry.key ? "" : make("kbd", "", entry.key);
    const mark = entry.heading ? "" : entry.selected ? (entry.count ? ` # ` : " + ") : " - ";
    return make("div", kind, key, mark, entry.text);
  });
  const page = menu.pages > 1 ? make("p", "quiet", `page ${menu.page} of ${menu.pages}`) : null;
  const sheet = make("div", "sheet menu", ...(menu.title ? [make("div", "heading", menu.title)] : []), ...lines);
  return page ? make("div", "", sheet, page) : sheet;
}

/** The keys that led here, the newest last. */
export function showKeys(keys) {
  byId("keys").replaceChildren(...keys.slice(-14).map((key) => make("kbd", "", key)));
}

export function showInventory(inventory) {
  const list = byId("inventory");
  say(byId("inventory-age"), inventory ? (inventory.stale ? "stale: as last told" : "") : "");
  list.classList.toggle("stale", Boolean(inventory?.stale));
  if (!inventory) {
    list.replaceChildren(make("li", "quiet", make("span"), "not known"));
    return;
  }
  list.replaceChildren(...inventory.items.map((item) => make("li", "", make("kbd", "", item.letter), item.text)));
}

/** The message log. Only what is new is added, so that a screen reader reads it once. */
export class Log {
  constructor(onChoose) {
    this.list = byId("log");
    this.onChoose = onChoose;
    this.rows = new Map();
    this.find = byId("log-find");
    this.find.oninput = () => this.filter();
  }

  /** Shows these messages, oldest first; those of the newest boundary stand out. */
  show(messages, news) {
    const wanted = new Set(messages.map(key));
    for (const [id, row] of this.rows) {
      if (wanted.has(id)) continue;
      row.remove();
      this.rows.delete(id);
    }
    const atEnd = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - 8;
    const fresh = new Set(news.map((message) => message.id));
    let after = null;
    for (const message of messages) {
      const id = key(message);
      let row = this.rows.get(id);
      if (!row) {
        row = this.row(message);
        this.rows.set(id, row);
        if (after) after.after(row);
        else this.list.prepend(row);
      }
      row.classList.toggle("new", fresh.has(message.id));
      after = row;
    }
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
  }

  row(message) {
    const jump = make("button", "text", message.text);
    jump.type = "button";
    jump.tabIndex = -1;
    jump.onclick = () => this.onChoose(message);
    const row = make("li", message.shown === false ? "unshown" : "", make("span", "turn", message.turn), jump);
    row.hidden = !this.matches(message.text);
    return row;
  }

  matches(text) {
    const wanted = this.find.value.trim().toLowerCase();
    return !wanted || text.toLowerCase().includes(wanted);
  }

  filter() {
    for (const row of this.rows.values()) row.hidden = !this.matches(row.lastChild.textContent);
  }
}

const key = (message) => `${message.id}|${message.turn}|${message.text}`;
