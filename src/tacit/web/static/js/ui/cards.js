// Drawings of playing cards.
// @ts-check

import { h, s } from "../dom.js";

export const SUITS = {
  s: { name: "spades", path: "M12 2c3 4 9 6.500 9 11.500a4.500 4.500 0 0 1-7.700 3.200c.2 2 .9 3.400 2.200 4.800h-7c1.300-1.400 2-2.800 2.200-4.800A4.500 4.500 0 0 1 3 13.500C3 8.500 9 6 12 2z" },
  h: { name: "hearts", path: "M12 21.500C5 15.500 2.500 12 2.500 8.300A5 5 0 0 1 12 6.500a5 5 0 0 1 9.500 1.800c0 3.700-2.500 7.200-9.500 13.200z" },
  d: { name: "diamonds", path: "M12 2l7.500 10L12 22 4.500 12z" },
  c: { name: "clubs", path: "M12 2.300a4.300 4.300 0 0 1 3.300 7 4.400 4.400 0 1 1-2.200 7.700c.2 1.900.9 3.200 2.100 4.500H8.800c1.200-1.300 1.900-2.600 2.100-4.500a4.400 4.400 0 1 1-2.200-7.700A4.300 4.300 0 0 1 12 2.300z" },
};
const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };

/**
 * Returns a card's name in words: "king of hearts".
 * @param {string} card "Kh", or "K" if the deck has no suits.
 */
export function cardName(card) {
  const rank = /** @type {Record<string, string>} */ (RANKS)[card[0]] ?? card[0];
  const suit = /** @type {Record<string, {name: string}>} */ (SUITS)[card[1]];
  return suit ? `${rank} of ${suit.name}` : rank;
}

/**
 * Returns a card, face up.
 * @param {string} card "Kh", "K" or a number.
 * @param {{fresh?: boolean, dim?: boolean, win?: boolean}} [options] fresh: the card has just been dealt.
 */
export function faceCard(card, { fresh = false, dim = false, win = false } = {}) {
  const suit = /** @type {Record<string, {path: string}>} */ (SUITS)[card[1]];
  const rank = card[0] === "T" && suit ? "10" : suit ? card[0] : card;
  const colour = suit ? { s: "black", h: "red", d: "red", c: "black" }[card[1]] : "plain";
  const names = `card ${colour}${fresh ? " fresh" : ""}${dim ? " dim" : ""}${win ? " win" : ""}`;
  const corner = s("g", {}, s("text", { x: rank === "10" ? 10.5 : 9, y: 19, class: "rank", "text-anchor": "middle", textLength: rank === "10" ? 16 : null, lengthAdjust: "spacingAndGlyphs" }, rank),
    suit && s("path", { d: suit.path, transform: "translate(3.600 21.500) scale(.45)" }));
  return s("svg", { viewBox: "0 0 60 84", class: names, role: "img", "aria-label": cardName(card) },
    s("rect", { x: 1, y: 1, width: 58, height: 82, rx: 7, class: "paper" }),
    suit ? [corner, s("g", { transform: "rotate(180 30 42)" }, corner.cloneNode(true)), s("path", { d: suit.path, transform: "translate(15 27) scale(1.250)" })]
      : [s("rect", { x: 7, y: 7, width: 46, height: 70, rx: 4, class: "frame" }), s("text", { x: 30, y: 54, class: "big", "text-anchor": "middle" }, rank)]);
}

/**
 * Returns a card, face down.
 * @param {{fresh?: boolean}} [options]
 */
export function backCard({ fresh = false } = {}) {
  const lines = [];
  for (let place = -84; place < 60; place += 9) lines.push(s("path", { d: `M${place} 84l84 -84M${place} 0l84 84` }));
  return s("svg", { viewBox: "0 0 60 84", class: `card back${fresh ? " fresh" : ""}`, role: "img", "aria-label": "hidden card" },
    s("rect", { x: 1, y: 1, width: 58, height: 82, rx: 7, class: "paper" }),
    s("svg", { x: 5, y: 5, width: 50, height: 74, viewBox: "5 5 50 74" }, s("rect", { x: 5, y: 5, width: 50, height: 74, rx: 4, class: "ground" }), s("g", { class: "lines" }, lines)));
}

/** Returns an empty place for a card that is still to come. */
export function noCard() {
  return h("div.card.none", { "aria-hidden": "true" });
}
