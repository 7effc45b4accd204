// Tic-tac-toe and connect four: a board whose cells are buttons.
// @ts-check

import { h, s } from "../dom.js";

/** @typedef {import("./scene.js").SceneContext} SceneContext */

/**
 * Draws the board; cells or columns where the reader may move are buttons.
 * @param {SceneContext} context
 */
export function drawBoard({ scene, choices, act, fresh, names }) {
  const legal = new Map(choices.map((choice) => [choice.action, choice.label]));
  const rows = [];
  for (let row = 0; row < scene.rows; row += 1) {
    const cells = [];
    for (let column = 0; column < scene.columns; column += 1) {
      const cell = row * scene.columns + column;
      const owner = scene.cells[cell];
      const action = scene.drops ? column : cell;
      const free = owner === null && legal.has(action) && (!scene.drops || isLowest(scene, cell));
      const line = scene.line.includes(cell);
      const content = owner ? piece(scene, owner === "you", fresh(`cell${cell}`)) : null;
      const label = `${place(scene, row, column)}: ${owner === "you" ? "yours" : owner === "it" ? names.it : "empty"}`;
      const look = `cell${line ? " line" : ""}${cell === scene.last ? " last" : ""}`;
      cells.push(free ? h("button", { type: "button", class: `${look} free choice`, "aria-label": scene.drops ? `drop into column ${legal.get(action)}` : `mark ${place(scene, row, column)}`, onclick: () => act(action) }, content)
        : h("div", { class: look, role: "img", "aria-label": label, onclick: scene.drops && legal.has(action) ? () => act(action) : null }, content));
    }
    rows.push(cells);
  }
  return h("div.felt.boardfelt", {},
    h("div.seat", {}, h("span.who", {}, names.it), mark(scene, false)),
    h("div.board", { class: scene.drops ? "drops" : "marks", style: { "--columns": scene.columns } }, rows),
    h("div.seat", {}, h("span.who", {}, "You"), mark(scene, true)));
}

/** @param {any} scene @param {number} cell */
function isLowest(scene, cell) {
  const below = cell + scene.columns;
  return below >= scene.cells.length || scene.cells[below] !== null;
}

/** @param {any} scene @param {number} row @param {number} column */
function place(scene, row, column) {
  return `${"abcdefghijklmnop"[column]}${scene.rows - row}`;
}

/** @param {any} scene @param {boolean} own */
function mark(scene, own) {
  return h("span.mark", { "aria-hidden": "true" }, piece(scene, own, false));
}

/**
 * @param {any} scene
 * @param {boolean} own
 * @param {boolean} fresh
 */
function piece(scene, own, fresh) {
  const first = own === scene.first;
  const look = `piece ${own ? "own" : "its"}${fresh ? " fresh" : ""}`;
  if (scene.drops) return s("svg", { viewBox: "0 0 40 40", class: `${look} disc ${first ? "one" : "two"}`, "aria-hidden": "true" }, s("circle", { cx: 20, cy: 20, r: 17 }), s("circle", { cx: 20, cy: 20, r: 11, class: "inner" }));
  return s("svg", { viewBox: "0 0 40 40", class: `${look} sign`, "aria-hidden": "true" }, first ? s("path", { d: "M9 9l22 22M31 9L9 31" }) : s("circle", { cx: 20, cy: 20, r: 12 }));
}
