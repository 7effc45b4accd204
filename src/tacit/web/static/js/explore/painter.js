// A range painted on the 13 x 13 grid by mouse, touch or keyboard, or typed in the usual notation.
// @ts-check

import { h } from "../dom.js";
import { percent } from "../ui/bars.js";
import { cellName } from "../ui/grid.js";
import { CellGrid } from "./cellgrid.js";

const HANDS = 1326;
const COMBOS = Array.from({ length: 169 }, (_, cell) => (cell % 14 === 0 ? 6 : Math.floor(cell / 13) < cell % 13 ? 4 : 12));

/** Returns weights in the range notation, one item for each cell. @param {number[]} cells */
export function plainText(cells) {
  if (cells.every((weight) => weight === 1)) return "random";
  return cells.map((weight, cell) => (weight > 0 ? cellName(cell) + (weight < 1 ? `:${Number(weight.toFixed(4))}` : "") : "")).filter(Boolean).join(",");
}

export class RangePainter {
  /**
   * @param {string} title Whose range it is.
   * @param {string} text The range at the start; empty for all hands.
   * @param {(fields: {text?: string, cells?: number[]}) => void} ask Asks the server to turn one form of the range into the other.
   * @param {() => void} onchange
   */
  constructor(title, text, ask, onchange) {
    this.ask = ask;
    this.onchange = onchange;
    this.cells = new Array(169).fill(1);
    this.text = text || "random";
    /** @type {number[]} */
    this.mixed = [];
    this.brush = 1;
    /** @type {number | null} The weight that a stroke in progress paints. */
    this.stroke = null;
    this.grid = new CellGrid(`${title}: range. Space paints a cell, Shift with arrows paints along.`, { multi: true });
    this.field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, spellcheck: "false", autocomplete: "off", placeholder: "AA, AKs, TT-77, A9s+, top 20%" }));
    this.field.value = this.text;
    this.problem = h("p.problem.small", { role: "alert" });
    this.count = h("span.small.soft.num");
    this.top = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 1, max: 100, value: 100, "aria-label": `${title}: best hands, percent` }));
    this.topText = h("output.num.small");
    const brushes = [1, 0.75, 0.5, 0.25].map((weight) => h("button.btn.brush", { type: "button", "aria-pressed": String(weight === 1), onclick: () => this.setBrush(weight), "data-weight": weight }, percent(weight)));
    this.brushes = brushes;
    this.element = h("section.painter.panel", { "aria-label": title },
      h("div.head", {}, h("h2", {}, title), this.count),
      this.grid.element,
      h("div.brushes", { role: "group", "aria-label": "Weight to paint" }, h("span.small.soft", {}, "Paint"), brushes, h("span.grow"),
        h("button.btn.quiet", { type: "button", onclick: () => this.fill(1) }, "All"), h("button.btn.quiet", { type: "button", onclick: () => this.fill(0) }, "Clear")),
      h("label.topslide", {}, h("span.small.soft", {}, "Best"), this.top, this.topText),
      h("label.field", {}, h("span", {}, "Range as text"), this.field), this.problem);
    this.field.addEventListener("input", () => this.typed());
    this.top.addEventListener("input", () => { this.field.value = this.top.value === "100" ? "random" : `top ${this.top.value}%`; this.typed(); });
    this.listen();
    this.draw();
    this.later(() => this.ask({ text: this.text }), 0);
  }

  listen() {
    const { element } = this.grid;
    element.addEventListener("pointerdown", (event) => {
      const cell = this.grid.cellAt(event.target);
      if (cell === null || event.button > 0) return;
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      this.grid.setFocused(cell);
      this.stroke = this.cells[cell] === this.brush ? 0 : this.brush;
      this.set(cell, this.stroke);
    });
    element.addEventListener("pointermove", (event) => {
      if (this.stroke === null) return;
      const cell = this.grid.cellAt(document.elementFromPoint(event.clientX, event.clientY));
      if (cell !== null) this.set(cell, this.stroke);
    });
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => { this.stroke = null; });
    element.addEventListener("keydown", (event) => {
      const cell = this.grid.cellAt(event.target);
      if (cell === null) return;
      if (event.key === " " || event.key === "Enter") {
        event.preventDefault();
        this.set(cell, this.cells[cell] === this.brush ? 0 : this.brush);
      } else if (event.key === "Delete" || event.key === "Backspace") {
        event.preventDefault();
        this.set(cell, 0);
      } else if (event.shiftKey && event.key.startsWith("Arrow")) this.set(this.grid.focused, this.brush);
    });
  }

  /** @param {number} weight */
  setBrush(weight) {
    this.brush = weight;
    for (const one of this.brushes) one.setAttribute("aria-pressed", String(Number(one.dataset.weight) === weight));
  }

  /** @param {number} weight */
  fill(weight) {
    this.cells.fill(weight);
    this.painted();
  }

  /** @param {number} cell @param {number} weight */
  set(cell, weight) {
    if (this.cells[cell] === weight && !this.mixed.includes(cell)) return;
    this.cells[cell] = weight;
    this.painted();
  }

  painted() {
    this.mixed = [];
    this.text = plainText(this.cells);
    this.field.value = this.text;
    this.draw();
    this.onchange();
    this.later(() => this.ask({ cells: this.cells }), 250);
  }

  typed() {
    this.text = this.field.value;
    this.onchange();
    this.later(() => this.ask({ text: this.field.value }), 200);
  }

  /** @param {() => void} what @param {number} wait */
  later(what, wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(what, wait);
  }

  /** Takes over the server's answer about the range. @param {any} frame */
  hear(frame) {
    this.problem.textContent = frame.problem ?? "";
    this.field.setAttribute("aria-invalid", String(Boolean(frame.problem)));
    if (frame.problem) return;
    this.cells = frame.cells;
    this.mixed = frame.mixed;
    if (document.activeElement !== this.field) {
      this.text = frame.text;
      this.field.value = frame.text;
    }
    this.draw();
  }

  draw() {
    this.cells.forEach((weight, cell) => {
      this.grid.paint(cell, { height: weight, label: `${cellName(cell)}, ${percent(weight)}`, note: weight > 0 && weight < 1 ? percent(weight) : "" });
      this.grid.cells[cell].setAttribute("aria-selected", String(weight > 0));
    });
    const hands = this.cells.reduce((sum, weight, cell) => sum + weight * COMBOS[cell], 0);
    if (document.activeElement !== this.top) this.top.value = String(Math.round((100 * hands) / HANDS));
    this.topText.textContent = `${this.top.value}%`;
    this.count.textContent = `${Number(hands.toFixed(1)).toLocaleString("en")} hands · ${percent(hands / HANDS)}`;
  }

  /** The range as a game parameter: items separated by |, empty for all hands. */
  get parameter() {
    const text = this.text.trim().replace(/\s*[,\n]\s*/g, "|").replace(/\|+$/, "");
    return /^(random|any)$/i.test(text) ? "" : text;
  }
}
