// Liar's dice: dice, bids so far, and the ladder of bids to choose from.
// @ts-check

import { h } from "../dom.js";
import { die, hiddenDie } from "../ui/dice.js";

/** @typedef {import("./scene.js").SceneContext} SceneContext */

/**
 * Draws the table.
 * @param {SceneContext} context
 */
export function drawDice({ scene, over, fresh, names }) {
  const last = scene.bids[scene.bids.length - 1];
  const counts = (/** @type {number} */ face) => Boolean(scene.liar && last && (face === last.face || face === scene.faces));
  const own = scene.dice.map((/** @type {number} */ face, /** @type {number} */ place) => die(face, { fresh: fresh(`own${place}${face}`), wild: face === scene.faces, win: counts(face) }));
  const its = over?.held?.length ? over.held.map((/** @type {number} */ face, /** @type {number} */ place) => die(face, { fresh: fresh(`its${place}${face}`), wild: face === scene.faces, win: counts(face) }))
    : Array.from({ length: scene.its_dice }, () => hiddenDie());
  const bids = scene.bids.map((/** @type {any} */ bid, /** @type {number} */ place) => h("li", { class: `bid ${bid.who}${place === scene.bids.length - 1 ? " last" : ""}${fresh(`bid${place}`) ? " fresh" : ""}` },
    h("span.who", {}, bid.who === "you" ? "You" : names.it), h("span.what", {}, h("b", {}, bid.quantity), " × ", die(bid.face, { wild: bid.face === scene.faces }))));
  const liar = scene.liar ? h("li.bid.liar", { class: `${scene.liar}${fresh("liar") ? " fresh" : ""}` }, h("span.who", {}, scene.liar === "you" ? "You" : names.it), h("b.what", {}, "Liar!")) : null;
  return h("div.felt.dice", {},
    h("div.side.its", {}, h("div.seat", {}, h("span.who", {}, names.it)), h("div.rolls", {}, its)),
    h("div.middle", {}, bids.length || liar ? h("ol.bids", { "aria-label": "bids" }, bids, liar) : h("p.hint", {}, "No bid yet")),
    h("div.side.yours", {}, h("div.rolls.big", {}, own), h("div.seat", {}, h("span.who", {}, "You"))));
}

/**
 * Draws the bids to choose from: a row for each quantity, a column for each face.
 * @param {SceneContext} context
 */
export function diceChoices({ choices, scene, act }) {
  const byName = new Map(choices.map((choice) => [choice.label, choice.action]));
  const rows = [];
  for (let quantity = 1; quantity <= scene.total; quantity += 1) {
    const cells = [];
    for (let face = 1; face <= scene.faces; face += 1) {
      const action = byName.get(`${quantity}x${face}`);
      const wild = face === scene.faces;
      cells.push(h("button.btn.choice.bidbtn", {
        type: "button", disabled: action === undefined, onclick: () => act(/** @type {number} */ (action)),
        "aria-label": `bid ${quantity} times ${face}${wild ? ", the wild face" : ""}`,
      }, h("b", {}, quantity), h("span", { "aria-hidden": "true" }, "×"), die(face, { wild, label: "" })));
    }
    rows.push(h("div.ladder-row", { style: { "grid-template-columns": `repeat(${scene.faces}, 1fr)` } }, cells));
  }
  const liar = byName.get("liar");
  return h("div.choices.dicechoices", {}, h("div.ladder", { role: "group", "aria-label": "bids" }, rows),
    liar === undefined ? null : h("button.btn.choice.primary.liarbtn", { type: "button", "data-key": "l", onclick: () => act(liar) }, "Call liar", h("kbd", { "aria-hidden": "true" }, "l")));
}
