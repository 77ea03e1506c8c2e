// The terminal: 24 rows of 80 cells that are made once and changed where the frame is another.
import { byId, make, say } from "/assets/dom.js";

export const ROWS = 24;
export const COLUMNS = 80;
const ATTRIBUTES = ["bold", "dim", "underline", "blink", "inverse"];
const CELL_MIN = 4;
const CELL_MAX = 24;
/** Narrower cells can't be read: the terminal then scrolls after the cursor. */
const CELL_READABLE = 7;

export class Terminal {
  constructor() {
    this.element = byId("terminal");
    this.text = byId("screen-text");
    this.cells = [];
    this.lines = [];
    this.shown = [];
    this.cursor = null;
    this.zoom = 0;
    this.build();
    byId("smaller").onclick = () => this.setZoom(this.zoom - 1);
    byId("larger").onclick = () => this.setZoom(this.zoom + 1);
    byId("fit").onclick = () => this.setZoom(0);
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.resize();
  }

  build() {
    const ruler = make("div", "ruler", make("span", "row-number"));
    for (let column = 0; column < COLUMNS; column += 10) ruler.append(make("span", "tick", String(column)));
    ruler.setAttribute("aria-hidden", "true");
    this.element.append(ruler);
    for (let row = 0; row < ROWS; row += 1) {
      const line = make("div", "line", make("span", "row-number", String(row)));
      line.setAttribute("aria-hidden", "true");
      for (let column = 0; column < COLUMNS; column += 1) {
        const cell = make("span", "cell", " ");
        this.cells.push(cell);
        this.shown.push(" |cell");
        line.append(cell);
      }
      this.lines.push(line);
      this.element.append(line);
    }
  }

  /** Shows a frame's rows, each a list of `[text, colour, attributes]`, and its cursor. */
  show(rows, [cursorRow, cursorColumn]) {
    const text = [];
    for (let row = 0; row < ROWS; row += 1) {
      let column = 0;
      let line = "";
      const put = (symbol, look) => {
        const isCursor = row === cursorRow && column === cursorColumn;
        this.set(row * COLUMNS + column, symbol, isCursor ? `${look} cursor` : look);
        column += 1;
      };
      for (const [run, color, attributes] of rows[row] ?? []) {
        const look = looks(color, attributes);
        for (const symbol of run) if (column < COLUMNS) put(symbol, look);
        line += run;
      }
      while (column < COLUMNS) put(" ", "cell");
      text.push(line.trimEnd());
    }
    say(this.text, text.join("\n"));
    const [before] = this.cursor ?? [cursorRow];
    this.lines[before]?.classList.remove("here");
    this.lines[cursorRow]?.classList.add("here");
    this.cursor = [cursorRow, cursorColumn];
    this.follow();
  }

  set(index, symbol, className) {
    const key = `${symbol}|${className}`;
    if (this.shown[index] === key) return;
    this.shown[index] = key;
    const cell = this.cells[index];
    cell.firstChild.data = symbol;
    cell.className = className;
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.resize();
  }

  /** Cells have whole pixels, so that they are crisp, and fill the width where that can be read. */
  resize() {
    const style = getComputedStyle(this.element);
    const width = this.element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const ratio = window.devicePixelRatio || 1;
    const fitting = Math.floor((width / (COLUMNS + 3)) * ratio) / ratio;
    const wanted = Math.max(fitting, Math.min(CELL_READABLE, CELL_MAX)) + this.zoom;
    const cell = Math.min(CELL_MAX, Math.max(CELL_MIN, wanted));
    this.element.style.setProperty("--cell", `${cell}px`);
    this.cell = cell;
    this.follow();
  }

  /** Keeps the cursor in sight where the terminal is wider than its place. */
  follow() {
    if (!this.cursor || this.element.scrollWidth <= this.element.clientWidth) return;
    const at = (this.cursor[1] + 3) * this.cell;
    const { scrollLeft, clientWidth } = this.element;
    const margin = clientWidth / 5;
    if (at < scrollLeft + margin || at > scrollLeft + clientWidth - margin) {
      this.element.scrollLeft = Math.max(0, at - clientWidth / 2);
    }
  }
}

const known = new Map();

/** The classes of a colour and attributes. */
function looks(color, attributes) {
  const key = color * 32 + attributes;
  if (!known.has(key)) {
    const names = ATTRIBUTES.filter((_, bit) => (attributes >> bit) & 1);
    known.set(key, ["cell", ...(color === 8 ? [] : [`c${color}`]), ...names].join(" "));
  }
  return known.get(key);
}
