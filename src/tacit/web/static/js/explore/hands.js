// Hold'em on the 13 x 13 grid: strategy, range, value or equity of every kind of hand, and the single hands of the chosen cell.
// @ts-check

import { h, show } from "../dom.js";
import { percent } from "../ui/bars.js";
import { cellName, cellOf } from "../ui/grid.js";
import { CellGrid } from "./cellgrid.js";
import { mixBar, privateName, worth } from "./looks.js";

const MODES = { strategy: "Strategy", weight: "Range", values: "Value", equity: "Equity" };
const HELP = /** @type {Record<string, string>} */ ({
  strategy: "How often each action is taken", weight: "How likely each hand is here", equity: "How often the hand wins if nobody bets any more",
  values: "Average chips won, counted from the start of the hand: chips already in the pot are lost unless the pot is won",
});

export class HandsView {
  constructor() {
    this.mode = "strategy";
    this.pointed = 0;
    this.pinned = false;
    this.tabs = h("div.segments", { role: "group", "aria-label": "What the grid shows" }, Object.entries(MODES).map(([mode, title]) => h("button", { type: "button", "aria-pressed": String(mode === "strategy"), "data-mode": mode, title: HELP[mode], onclick: () => this.setMode(mode) }, title)));
    this.grid = new CellGrid("Hands of the player to act", { onpoint: (cell) => this.point(cell) });
    this.grid.element.addEventListener("click", () => { this.pinned = true; });
    this.theirs = new CellGrid("Hands of the other player", { onpoint: (cell) => this.pointTheirs(cell), onleave: () => show(this.theirTold, this.theirUsual ?? "") });
    this.theirTitle = h("h3");
    this.theirTold = h("p.small.soft.num", { role: "status" });
    this.detail = h("div.handdetail", { "aria-live": "polite" });
    this.element = h("div.hands", {}, h("div.handsmain", {}, this.tabs, this.grid.element), h("div.handsaside", {}, this.detail, h("div.theirs", {}, this.theirTitle, this.theirs.element, this.theirTold)));
  }

  /** @param {any} node @param {string[]} colours */
  show(node, colours) {
    this.node = node;
    this.colours = colours;
    this.sides = node.players.map((/** @type {any} */ side) => byCell(side));
    const mine = this.sides[node.actor];
    if (!this.pinned && !mine[this.pointed].rows.length) this.pointed = mine.reduce((/** @type {number} */ best, /** @type {any} */ one, /** @type {number} */ cell) => (one.weight > mine[best].weight ? cell : best), 0);
    this.draw();
  }

  /** @param {string} mode */
  setMode(mode) {
    this.mode = mode;
    for (const tab of this.tabs.children) tab.setAttribute("aria-pressed", String(tab.getAttribute("data-mode") === mode));
    this.draw();
  }

  draw() {
    const { node, colours = [] } = this;
    if (!node || !this.sides) return;
    const [mine, theirs] = [this.sides[node.actor], this.sides[1 - node.actor]];
    const most = Math.max(1e-12, ...mine.map((/** @type {any} */ one) => one.each));
    const values = mine.filter((/** @type {any} */ one) => one.rows.length && one.values !== null).map((/** @type {any} */ one) => one.values);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    mine.forEach((/** @type {any} */ one, /** @type {number} */ cell) => {
      const shares = mean(one, (row) => node.strategy[row], node.labels.length);
      const seen = one.each / most;
      const height = seen > 0.002 ? Math.max(0.12, seen) : 0;
      const told = one.rows.length ? `${cellName(cell)}: ${node.labels.map((/** @type {string} */ label, /** @type {number} */ place) => `${label} ${percent(shares[place])}`).join(", ")}; range ${percent(one.weight)}, value ${worth(one.values)}, equity ${percent(one.equity)}` : `${cellName(cell)}: not in the range`;
      this.grid.paint(cell, {
        label: told, none: !one.rows.length,
        ...(this.mode === "strategy" ? { height, parts: shares.map((share, place) => ({ share, colour: colours[place] })) }
          : this.mode === "weight" ? { height: seen, note: one.rows.length ? percent(one.weight) : "" }
            : this.mode === "equity" ? { height: one.rows.length ? 1 : 0, colour: heat(one.equity, 0, 1), note: one.rows.length ? percent(one.equity) : "" }
              : { height: one.rows.length ? 1 : 0, colour: heat(one.values, low, high), note: one.rows.length ? worth(one.values) : "" }),
      });
    });
    const theirMost = Math.max(1e-12, ...theirs.map((/** @type {any} */ one) => one.each));
    theirs.forEach((/** @type {any} */ one, /** @type {number} */ cell) => this.theirs.paint(cell, { height: one.each / theirMost, none: !one.rows.length, label: `${cellName(cell)}: ${one.rows.length ? `range ${percent(one.weight)}, value ${worth(one.values)}, equity ${percent(one.equity)}` : "not in the range"}` }));
    this.theirTitle.textContent = `Range of player ${1 - node.actor}`;
    this.theirUsual = `${theirs.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.rows.length, 0)} hands, worth ${worth(node.worth?.[1 - node.actor])}`;
    show(this.theirTold, this.theirUsual);
    this.point(this.pointed);
  }

  /** @param {number} cell */
  pointTheirs(cell) {
    show(this.theirTold, this.theirs.cells[cell].getAttribute("aria-label"));
  }

  /** @param {number} cell */
  point(cell) {
    const { node, colours = [] } = this;
    if (!node || !this.sides) return;
    this.pointed = cell;
    this.grid.mark(cell);
    const one = this.sides[node.actor][cell];
    const side = node.players[node.actor];
    const rows = [...one.rows].sort((a, b) => side.weight[b] - side.weight[a]);
    show(this.detail, h("div.head", {}, h("h3", {}, cellName(cell)), one.rows.length ? h("span.small.soft.num", {}, `${percent(one.weight)} of the range`) : null),
      one.rows.length ? [
        h("div.meanrow", {}, mixBar(mean(one, (row) => node.strategy[row], node.labels.length), node.labels, colours), h("span.small.num", {}, "value ", h("b", {}, worth(one.values)), " · equity ", h("b", {}, percent(one.equity)))),
        h("ul.combos", { "aria-label": `hands of ${cellName(cell)}` }, rows.map((row) => h("li", { "data-private": side.names[row] }, privateName(side.names[row]), mixBar(node.strategy[row], node.labels, colours), h("span.num.small", {}, worth(side.values?.[row]))))),
      ] : h("p.soft.small", {}, "Not in the range."));
  }
}

/** Returns each cell's rows, with their weight and means. @param {any} side */
function byCell(side) {
  const cells = Array.from({ length: 169 }, () => ({ rows: /** @type {number[]} */ ([]), shares: /** @type {number[]} */ ([]), weight: 0, each: 0, values: /** @type {number | null} */ (null), equity: /** @type {number | null} */ (null) }));
  side.names.forEach((/** @type {string} */ name, /** @type {number} */ row) => cells[cellOf(name.slice(0, 2), name.slice(2, 4))].rows.push(row));
  for (const cell of cells) {
    if (!cell.rows.length) continue;
    cell.weight = cell.rows.reduce((sum, row) => sum + (side.weight[row] ?? 0), 0);
    cell.each = cell.weight / cell.rows.length;
    cell.shares = cell.rows.map((row) => (cell.weight > 0 ? (side.weight[row] ?? 0) / cell.weight : 1 / cell.rows.length));
    for (const name of /** @type {const} */ (["values", "equity"])) {
      const known = cell.rows.map((row, place) => [side[name]?.[row], cell.shares[place]]).filter(([value]) => value !== null && value !== undefined);
      const total = known.reduce((sum, [, share]) => sum + share, 0);
      cell[name] = total > 0 ? known.reduce((sum, [value, share]) => sum + value * share, 0) / total : null;
    }
  }
  return cells;
}

/** Returns the mean of each hand's list over a cell's hands. @param {any} cell @param {(row: number) => number[]} of @param {number} length */
function mean(cell, of, length) {
  const sums = new Array(length).fill(0);
  cell.rows.forEach((/** @type {number} */ row, /** @type {number} */ place) => of(row).forEach((share, action) => { sums[action] += (share ?? 0) * cell.shares[place]; }));
  return sums;
}

/** Returns a colour for a number between two bounds: warm below zero (or the middle), green above. @param {number | null} value @param {number} low @param {number} high */
function heat(value, low, high) {
  if (value === null) return "transparent";
  const middle = low < 0 && high > 0 ? 0 : (low + high) / 2;
  const share = value >= middle ? (value - middle) / (high - middle || 1) : (middle - value) / (middle - low || 1);
  return `color-mix(in srgb, var(${value >= middle ? "--call" : "--bet-2"}) ${Math.round(12 + 78 * Math.min(1, share))}%, var(--surface))`;
}
