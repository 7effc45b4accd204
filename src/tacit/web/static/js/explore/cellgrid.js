// The 13 x 13 grid with a focused cell: arrow keys move the focus; pointers and keys select a cell.
// @ts-check

import { h, show } from "../dom.js";
import { cellName } from "../ui/grid.js";

/** @typedef {{height: number, parts?: {share: number, colour: string}[], colour?: string, label: string, note?: string, none?: boolean}} CellLook */

export class CellGrid {
  /**
   * @param {string} label What the grid shows.
   * @param {{onpoint?: (cell: number) => void, onleave?: () => void, multi?: boolean}} [options]
   */
  constructor(label, { onpoint, onleave, multi = false } = {}) {
    this.onpoint = onpoint;
    this.focused = 0;
    this.cells = Array.from({ length: 169 }, (_, cell) => h("div.cell", { role: "gridcell", tabindex: cell ? "-1" : "0", "data-cell": cell, "data-hand": cellName(cell) }));
    this.element = h("div.handgrid.cellgrid", { role: "grid", "aria-label": label, "aria-multiselectable": multi ? "true" : null },
      Array.from({ length: 13 }, (_, row) => h("div.row", { role: "row" }, this.cells.slice(13 * row, 13 * row + 13))));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusin", (event) => { const cell = this.cellAt(event.target); if (cell !== null) { this.setFocused(cell); onpoint?.(cell); } });
    this.element.addEventListener("pointerover", (event) => { const cell = this.cellAt(event.target); if (cell !== null) onpoint?.(cell); });
    this.element.addEventListener("pointerleave", () => onleave?.());
  }

  /** Returns the cell that an element belongs to, or null. @param {EventTarget | null} target */
  cellAt(target) {
    const cell = target instanceof Element ? target.closest("[data-cell]") : null;
    return cell && this.element.contains(cell) ? Number(cell.getAttribute("data-cell")) : null;
  }

  /** @param {number} cell @param {CellLook} look */
  paint(cell, look) {
    const element = this.cells[cell];
    const key = JSON.stringify(look);
    if (element.dataset.look === key) return;
    element.dataset.look = key;
    element.classList.toggle("empty", !(look.height > 0));
    element.classList.toggle("none", Boolean(look.none));
    element.setAttribute("aria-label", look.label);
    const style = { height: `${100 * Math.max(0, Math.min(1, look.height))}%`, ...(look.colour ? { background: look.colour } : {}) };
    show(element, h("span.ink", { style }, (look.parts ?? []).map((part) => h("span", { style: { width: `${100 * part.share}%`, background: part.colour } }))),
      h("span.text", { "aria-hidden": "true" }, cellName(cell), look.note ? h("small", {}, look.note) : null));
  }

  /** @param {number | null} cell */
  mark(cell) {
    this.cells.forEach((one, number) => one.classList.toggle("mark", number === cell));
  }

  /** @param {number} cell */
  setFocused(cell) {
    this.cells[this.focused].setAttribute("tabindex", "-1");
    this.focused = cell;
    this.cells[cell].setAttribute("tabindex", "0");
  }

  /** Moves the focus. Returns the newly focused cell, or null if the key means nothing. @param {KeyboardEvent} event */
  key(event) {
    const [row, column] = [Math.floor(this.focused / 13), this.focused % 13];
    const to = {
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      Home: [row, 0], End: [row, 12], PageUp: [0, column], PageDown: [12, column],
    }[event.key];
    if (!to || event.ctrlKey || event.metaKey || event.altKey) return null;
    event.preventDefault();
    const cell = 13 * Math.max(0, Math.min(12, to[0])) + Math.max(0, Math.min(12, to[1]));
    this.setFocused(cell);
    this.cells[cell].focus();
    return cell;
  }
}
