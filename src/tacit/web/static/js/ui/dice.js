// Dice with pips, and a cup.
// @ts-check

import { s } from "../dom.js";

const PIPS = {
  1: [[2, 2]], 2: [[1, 1], [3, 3]], 3: [[1, 1], [2, 2], [3, 3]], 4: [[1, 1], [1, 3], [3, 1], [3, 3]],
  5: [[1, 1], [1, 3], [2, 2], [3, 1], [3, 3]], 6: [[1, 1], [1, 2], [1, 3], [3, 1], [3, 2], [3, 3]],
};

/**
 * Returns a die.
 * @param {number} face
 * @param {{fresh?: boolean, wild?: boolean, win?: boolean, label?: string}} [options] wild: it counts for every face; an empty
 *   label hides it from screen readers, for use inside a control with its own name.
 */
export function die(face, { fresh = false, wild = false, win = false, label } = {}) {
  const pips = /** @type {Record<number, number[][]>} */ (PIPS)[face];
  return s("svg", { viewBox: "0 0 40 40", class: `die${fresh ? " fresh" : ""}${wild ? " wild" : ""}${win ? " win" : ""}`, ...(label === "" ? { "aria-hidden": "true" } : { role: "img", "aria-label": label ?? `die showing ${face}${wild ? ", wild" : ""}` }) },
    s("rect", { x: 1.5, y: 1.5, width: 37, height: 37, rx: 8, class: "paper" }),
    pips ? pips.map(([row, column]) => s("circle", { cx: 10 * column, cy: 10 * row, r: 3.7, class: "pip" }))
      : s("text", { x: 20, y: 27, "text-anchor": "middle", class: "pip" }, face));
}

/** Returns a die that only its owner can see. */
export function hiddenDie() {
  return s("svg", { viewBox: "0 0 40 40", class: "die hiddendie", role: "img", "aria-label": "hidden die" },
    s("rect", { x: 1.5, y: 1.5, width: 37, height: 37, rx: 8, class: "paper" }),
    s("text", { x: 20, y: 28, "text-anchor": "middle", class: "pip" }, "?"));
}
