// Horizontal bars of named shares, such as beliefs over hands or action frequencies.
// @ts-check

import { h } from "../dom.js";

/**
 * Returns a share in percent.
 * @param {number | null} share
 */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  if (value > 0 && value < 0.05) return "<0.1%";
  return `${value > 0 && value < 0.95 ? value.toFixed(1) : value.toFixed(0)}%`;
}

/**
 * Returns a number with its sign.
 * @param {number | null | undefined} value
 */
export function signed(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size >= 100 ? size.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",") : Number(size.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3)).toString();
  return `${value < 0 && Number(text) !== 0 ? "−" : "+"}${text}`;
}

/**
 * Returns bars.
 * @param {{name: string | Node, share: number | null, mark?: boolean, colour?: string, note?: string}[]} rows
 * @param {string} label What the bars show, for screen readers.
 * @param {{relative?: boolean}} [options] relative: the longest bar fills the track.
 */
export function bars(rows, label, { relative = false } = {}) {
  const most = relative ? Math.max(1e-9, ...rows.map((row) => row.share ?? 0)) : 1;
  return h("div.bars", { role: "list", "aria-label": label }, rows.map((row) => h("div.bar", { role: "listitem", class: row.mark ? "mark" : "" },
    h("span.name", {}, row.name),
    h("span.track", { "aria-hidden": "true" }, h("span.fill", { style: { width: `${(100 * (row.share ?? 0)) / most}%`, ...(row.colour ? { background: row.colour } : {}) } })),
    h("span.value", {}, row.note ?? percent(row.share)))));
}
