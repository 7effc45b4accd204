// Stacks of chips that show amounts.
// @ts-check

import { h, s } from "../dom.js";

/**
 * Returns an amount with commas between thousands.
 * @param {number} amount
 */
export function count(amount) {
  return Math.round(amount).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * Returns a stack of chips with its amount.
 * @param {number} amount
 * @param {number} unit The ante or big blind, which scales the height of the stack.
 * @param {string} label What the stack is, for screen readers.
 * @param {{fresh?: boolean}} [options]
 */
export function chips(amount, unit, label, { fresh = false } = {}) {
  const height = amount <= 0 ? 0 : Math.max(1, Math.min(9, Math.round(1 + 1.6 * Math.log2(1 + amount / unit))));
  const discs = [];
  for (let number = 0; number < height; number += 1) {
    const y = 40 - 4.5 * number;
    discs.push(s("ellipse", { cx: 18, cy: y + 3, rx: 15, ry: 6, class: "edge" }), s("ellipse", { cx: 18, cy: y, rx: 15, ry: 6, class: "top" }),
      s("path", { d: `M5 ${y + 3.6}l0 3M12 ${y + 6.4}l0 3M24 ${y + 6.4}l0 3M31 ${y + 3.6}l0 3`, class: "notch" }));
  }
  return h("div.chips", { class: fresh ? "fresh" : "", role: "img", "aria-label": `${label} ${count(amount)}` },
    height ? s("svg", { viewBox: `0 ${36 - 4.5 * height} 36 ${14 + 4.5 * height}`, class: "stack", "aria-hidden": "true" }, discs) : null,
    h("span.amount", { "aria-hidden": "true" }, count(amount)));
}
