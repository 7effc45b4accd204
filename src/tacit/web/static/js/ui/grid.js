// The 13 x 13 grid of hold'em hands: pairs on the diagonal, suited above, offsuit below, aces first.
// @ts-check

import { h } from "../dom.js";

const RANKS = "AKQJT98765432";

/**
 * Returns the name of a cell: "AA", "AKs" or "AKo".
 * @param {number} cell 13 times the row plus the column.
 */
export function cellName(cell) {
  const row = Math.floor(cell / 13);
  const column = cell % 13;
  const [high, low] = row < column ? [row, column] : [column, row];
  return RANKS[high] + RANKS[low] + (row === column ? "" : row < column ? "s" : "o");
}

/**
 * Returns the cell of two cards such as "Ah" and "Kd".
 * @param {string} first
 * @param {string} second
 */
export function cellOf(first, second) {
  const places = [RANKS.indexOf(first[0]), RANKS.indexOf(second[0])].sort((a, b) => a - b);
  const suited = first[1] === second[1];
  return suited ? 13 * places[0] + places[1] : 13 * places[1] + places[0];
}

/**
 * @typedef {object} Cell
 * @property {number} height How much of the cell is filled, 0 to 1.
 * @property {{share: number, colour: string}[]} [parts] Colours from left to right; the accent colour if missing.
 * @property {string} [title] The text shown when the reader points at the cell.
 */

/**
 * Returns a grid.
 * @param {(cell: number) => Cell} draw
 * @param {string} label What it shows, for screen readers.
 * @param {{mark?: number, onpick?: (cell: number) => void}} [options] mark: a cell with a frame; onpick makes cells buttons.
 */
export function handGrid(draw, label, { mark, onpick } = {}) {
  const rows = [];
  for (let row = 0; row < 13; row += 1) {
    const cells = [];
    for (let column = 0; column < 13; column += 1) {
      const cell = 13 * row + column;
      const { height, parts, title } = draw(cell);
      const fill = h("span.ink", { style: { height: `${100 * Math.max(0, Math.min(1, height))}%` } },
        (parts ?? []).map((part) => h("span", { style: { width: `${100 * part.share}%`, background: part.colour } })));
      const inside = [fill, h("span.text", {}, cellName(cell))];
      const names = `cell${cell === mark ? " mark" : ""}${height > 0 ? "" : " empty"}`;
      cells.push(h("div", { role: "gridcell", class: names, title: title ?? null },
        onpick ? h("button", { type: "button", tabindex: cell === 0 ? "0" : "-1", "aria-label": title ?? cellName(cell), onclick: () => onpick(cell) }, inside) : inside));
    }
    rows.push(h("div.row", { role: "row" }, cells));
  }
  return h("div.handgrid", { role: "grid", "aria-label": label, "aria-readonly": onpick ? null : "true" }, rows);
}
