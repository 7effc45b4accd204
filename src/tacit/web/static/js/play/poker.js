// The poker table: cards, board, bets, pot, and the buttons to act.
// @ts-check

import { h } from "../dom.js";
import { backCard, faceCard, noCard } from "../ui/cards.js";
import { chips, count } from "../ui/chips.js";

/** @typedef {import("./scene.js").SceneContext} SceneContext */

/**
 * Draws the table.
 * @param {SceneContext} context
 */
export function drawPoker({ scene, over, fresh, names }) {
  const its = over?.held?.length ? over.held.map((/** @type {string} */ card, /** @type {number} */ place) => faceCard(card, { fresh: fresh(`its${place}${card}`) }))
    : Array.from({ length: scene.its_cards }, (_, place) => backCard({ fresh: fresh(`back${place}`) }));
  const mine = scene.cards.map((/** @type {string} */ card, /** @type {number} */ place) => faceCard(card, { fresh: fresh(`own${place}${card}`) }));
  const board = Array.from({ length: scene.slots }, (_, place) => (scene.board[place] ? faceCard(scene.board[place], { fresh: fresh(`board${place}${scene.board[place]}`) }) : noCard()));
  return h("div.felt.poker", {},
    h("div.side.its", {}, seat(names.it, scene.stacks?.[1], scene.button === "it"),
      h("div.handline", {}, h("span.flank"), h("div.cards", {}, its), bet(scene.bets[1], scene.unit, `${names.it} bets`, fresh(`itbet${scene.bets[1]}`)))),
    h("div.middle", {}, h("div.pot", {}, h("span.potlabel", {}, "Pot"), chips(scene.pot, scene.unit, "pot")), scene.slots ? h("div.cards.community", { role: "group", "aria-label": "board" }, board) : null,
      h("span.potlabel.street", {}, scene.street)),
    h("div.side.yours", {}, h("div.handline", {}, h("span.flank"), h("div.cards.big", {}, mine), bet(scene.bets[0], scene.unit, "you bet", fresh(`youbet${scene.bets[0]}`))),
      seat("You", scene.stacks?.[0], scene.button === "you")));
}

/**
 * @param {string} name
 * @param {number | undefined} stack
 * @param {boolean} button
 */
function seat(name, stack, button) {
  return h("div.seat", {}, h("span.who", {}, name), stack === undefined ? null : h("span.left.num", {}, count(stack)),
    button ? h("span.button", { title: "the button: last to act after the flop" }, "D") : null);
}

/**
 * @param {number} amount
 * @param {number} unit
 * @param {string} label
 * @param {boolean} fresh
 */
function bet(amount, unit, label, fresh) {
  return h("div.bet", {}, amount > 0 ? chips(amount, unit, label, { fresh }) : null);
}

/**
 * Draws the buttons of a poker game: fold, call, and bets from the menu or of any size.
 * @param {SceneContext} context
 */
export function pokerChoices({ choices, sizes, scene, act, say }) {
  const plain = choices.filter((choice) => !sizes || !/^(bet|raise)/.test(choice.label));
  const bets = sizes ? choices.filter((choice) => /^(bet|raise)/.test(choice.label)) : [];
  const buttons = plain.map((choice, number) => h("button.btn.choice", {
    type: "button", class: /^(check|call)/.test(choice.label) ? "primary" : "", "data-key": keyOf(choice.label), onclick: () => act(choice.action),
  }, capital(choice.label), h("kbd", { "aria-hidden": "true" }, keyOf(choice.label) || number + 1)));
  if (!sizes) return h("div.choices", {}, buttons);
  const verb = bets[0]?.label.startsWith("bet") || !scene.bets.some((/** @type {number} */ part) => part) ? "Bet" : "Raise to";
  const number = /** @type {HTMLInputElement} */ (h("input.num", { type: "number", min: sizes.least, max: sizes.most, step: 1, value: sizes.pot, "aria-label": `${verb}: chips` }));
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: 1000, value: toSlide(sizes, sizes.pot), "aria-label": `${verb}: slide to choose a size` }));
  const amount = h("span.num", {}, count(sizes.pot));
  const set = (/** @type {number} */ value, /** @type {boolean} */ slide = true) => {
    const size = Math.max(sizes.least, Math.min(sizes.most, Math.round(value)));
    number.value = String(size);
    amount.textContent = count(size);
    if (slide) slider.value = String(toSlide(sizes, size));
  };
  slider.addEventListener("input", () => set(fromSlide(sizes, Number(slider.value), scene.unit), false));
  number.addEventListener("input", () => { const size = Number(number.value); if (size >= sizes.least && size <= sizes.most) set(size); });
  number.addEventListener("change", () => set(Number(number.value) || sizes.least));
  const go = h("button.btn.choice.bets", { type: "button", "data-key": "r", onclick: () => say(`raise ${number.value}`) }, `${verb} `, amount, h("kbd", { "aria-hidden": "true" }, "r"));
  const presets = bets.map((choice) => {
    const size = Number((choice.label.match(/[\d,]+/) ?? ["0"])[0].replaceAll(",", ""));
    return h("button.btn.quiet.preset", { type: "button", onclick: () => set(size), "aria-label": `set ${choice.label}` }, choice.label.includes("all-in") ? "All-in" : share(size, sizes) ?? count(size));
  });
  return h("div.choices.free", {}, h("div.sizes", {}, h("div.presets", {}, presets), h("div.slide", {}, slider, number)), h("div.row", {}, buttons, go));
}

/**
 * Returns a size as a share of the pot.
 * @param {number} size
 * @param {{pot: number, facing: number, after: number}} sizes
 */
function share(size, sizes) {
  if (!sizes.after) return null;
  const part = (size - sizes.facing) / sizes.after;
  return `${Math.round(100 * part)}%`;
}

/** @param {string} label */
function keyOf(label) {
  return { fold: "f", check: "c", call: "c", bet: "r", raise: "r" }[label.split(" ")[0]] ?? "";
}

/** @param {string} label */
function capital(label) {
  return label[0].toUpperCase() + label.slice(1);
}

// The slider is logarithmic: small bets need fine steps, large ones do not.
/** @param {{least: number, most: number}} sizes @param {number} size */
function toSlide(sizes, size) {
  if (sizes.most <= sizes.least) return 0;
  return Math.round((1000 * Math.log(size / sizes.least)) / Math.log(sizes.most / sizes.least));
}

/** @param {{least: number, most: number}} sizes @param {number} place @param {number} unit */
function fromSlide(sizes, place, unit) {
  const size = sizes.least * (sizes.most / sizes.least) ** (place / 1000);
  const step = Math.max(1, unit / 10);
  return place >= 1000 ? sizes.most : Math.round(size / step) * step;
}
