// Goofspiel: prizes, their winners, and the reader's cards to bid.
// @ts-check

import { h } from "../dom.js";
import { backCard, faceCard } from "../ui/cards.js";

/** @typedef {import("./scene.js").SceneContext} SceneContext */

/**
 * Draws the table.
 * @param {SceneContext} context
 */
export function drawBids({ scene, over, fresh, names }) {
  const now = scene.won.length;
  const prizes = scene.prizes.map((/** @type {number} */ prize, /** @type {number} */ place) => h("div.prize", { class: `${scene.won[place] ?? (place === now && !over ? "now" : "open")}` },
    h("span.prizeface", {}, prize), h("span.small", {}, scene.won[place] === "you" ? "yours" : scene.won[place] === "it" ? names.it : scene.won[place] === "tie" ? "tie" : place === now ? "up now" : "")));
  const its = over?.held ?? Array.from({ length: scene.won.length });
  return h("div.felt.bidsfelt", {},
    h("div.side.its", {}, h("div.seat", {}, h("span.who", {}, names.it)),
      h("div.cards.small", {}, its.map((/** @type {number | undefined} */ card) => (card ? faceCard(String(card)) : backCard())))),
    h("div.middle", {}, h("div.prizes", { role: "group", "aria-label": "prizes, worth their number" }, prizes)),
    h("div.side.yours", {}, h("div.cards.small", {}, scene.played.map((/** @type {number} */ card) => faceCard(String(card), { fresh: fresh(`bid${card}`) }))), h("div.seat", {}, h("span.who", {}, "Your bids"))));
}

/**
 * Draws the reader's cards.
 * @param {SceneContext} context
 */
export function bidChoices({ choices, act }) {
  return h("div.choices.handrow", {}, choices.map((choice, number) => h("button.cardbtn.choice", { type: "button", "aria-label": choice.label, onclick: () => act(choice.action), "data-key": number + 1 },
    faceCard((choice.label.match(/\d+/) ?? ["?"])[0]))));
}
