// The look of parts of the explorer: colours of actions, names of cards and hands, strategy bars.
// @ts-check

import { h } from "../dom.js";
import { percent } from "../ui/bars.js";

const SUIT_SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const BETS = ["var(--bet-1)", "var(--bet-2)", "var(--bet-3)", "var(--bet-4)", "var(--bet-5)", "var(--bet-6)"];
const SPREAD = /** @type {Record<number, number[]>} */ ({ 1: [2], 2: [1, 3], 3: [0, 2, 4], 4: [0, 1, 3, 5], 5: [0, 1, 2, 3, 5] });
const OTHERS = ["var(--act-1)", "var(--act-2)", "var(--act-3)", "var(--act-4)", "var(--act-5)", "var(--act-6)", "var(--act-7)", "var(--act-8)"];

/**
 * Returns a colour for each action: in poker folds are blue, calls green, and larger bets redder.
 * @param {string[]} labels
 */
export function actionColours(labels) {
  const poker = labels.some((label) => /^(check|call|fold|bet|raise|pass)\b/.test(label));
  const bets = labels.filter((label) => /^(bet|raise|all-in)/.test(label));
  return labels.map((label, place) => {
    if (!poker) return OTHERS[place % OTHERS.length];
    if (/^fold/.test(label)) return "var(--fold)";
    if (/^(check|call|pass)/.test(label)) return "var(--call)";
    const number = bets.indexOf(label);
    return number < 0 ? OTHERS[place % OTHERS.length] : BETS[(SPREAD[bets.length] ?? [0, 1, 2, 3, 4, 5])[Math.min(number, 5)]];
  });
}

/**
 * Returns a private state in the usual notation: cards with coloured suits, anything else unchanged.
 * @param {string} name
 */
export function privateName(name) {
  if (!/^([2-9TJQKA][shdc])+$/.test(name)) return name || "–";
  const cards = name.match(/../g) ?? [];
  return h("span.cardtext", {}, cards.map((card) => h(`span.${card[1]}`, {}, card[0], /** @type {Record<string, string>} */ (SUIT_SIGNS)[card[1]])));
}

/**
 * Returns a step with its cards drawn: "check Js".
 * @param {string} step
 */
export function stepName(step) {
  if (step === "-") return "hidden move";
  return h("span", {}, step.split(" ").map((word, place) => [place ? " " : "", /^([2-9TJQKA][shdc])+$/.test(word) ? privateName(word) : word]));
}

/**
 * Returns a bar of shares, with numbers if there is room.
 * @param {(number | null)[]} shares @param {string[]} labels @param {string[]} colours @param {boolean} [numbers]
 */
export function mixBar(shares, labels, colours, numbers = true) {
  const told = labels.map((label, place) => (shares[place] === null ? null : `${label} ${percent(shares[place])}`)).filter(Boolean).join(", ");
  return h("span.mixbar", { role: "img", "aria-label": told, title: told }, shares.map((share, place) => (share ? h("span", { style: { width: `${100 * share}%`, background: colours[place] } }, numbers && share > 0.13 ? percent(share) : "") : null)));
}

/**
 * Returns a short text of a game's value, with its sign.
 * @param {number | null | undefined} value
 */
export function worth(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size >= 1000 ? Math.round(size).toLocaleString("en") : size >= 100 ? size.toFixed(0) : size >= 10 ? size.toFixed(1) : size.toFixed(size >= 1 ? 2 : 3);
  return `${Number(text.replace(/,/g, "")) === 0 ? "" : value < 0 ? "−" : "+"}${text}`;
}
