// Draws beliefs, strategy and values at one public state.
// @ts-check

import { h } from "../dom.js";
import { bars, percent, signed } from "../ui/bars.js";
import { cellName, cellOf, handGrid } from "../ui/grid.js";

export const ACTION_COLOURS = ["#8a94a0", "#3f8f6b", "#c8742f", "#b3473a", "#8a3a78", "#5b4bb0", "#2f6fb3", "#1d8a9a", "#6b7a1f"];

/**
 * Draws what the opponent thinks at a public state.
 * @param {any} mind The server's data about it, or null.
 * @param {any} judged The judgement of the decision, or null.
 * @param {any} [step] The step of the replay.
 */
export function drawMind(mind, judged, step = null) {
  if (!mind) return h("p.soft", {}, step?.actor === "over" ? "The hand is over: step back through it." : "It has no beliefs here.");
  const who = mind.actor === "you" ? "Your move" : "The opponent's move";
  return h("div.thoughts", {},
    h("p.small.soft", {}, who, mind.value === null ? "" : [". It thinks this is worth ", h("b.num", {}, signed(mind.value)), " to you."]),
    h("h3", {}, "It believes you hold"), mind.grid ? rangeGrid(mind, "yours") : beliefBars(mind),
    h("h3", {}, mind.actor === "it" ? "What it plays here" : "What it expects of you"), mind.grid ? strategyGrid(mind) : strategyTable(mind),
    judged ? drawJudgement(judged) : null);
}

/**
 * Returns a private state in the usual notation: cards with their suits.
 * @param {string} name
 */
function pretty(name) {
  if (!/^([2-9TJQKA][shdc])+$/.test(name)) return name || "–";
  const signs = { s: "♠", h: "♥", d: "♦", c: "♣" };
  return h("span.cardname", {}, (name.match(/../g) ?? []).map((card) => h("span", { class: "hd".includes(card[1]) ? "redsuit" : "" }, `${card[0]}${signs[/** @type {"s"} */ (card[1])]}`)));
}

/** @param {any} mind */
function beliefBars(mind) {
  if (mind.yours.names.length < 2) return h("p.soft.small", {}, "Nothing is hidden here.");
  return bars(mind.yours.names.map((/** @type {string} */ name, /** @type {number} */ row) => ({ name: pretty(name), share: mind.yours.beliefs[row], mark: name === mind.mine?.name, colour: name === mind.mine?.name ? "var(--warm)" : undefined })), "its belief about your hand");
}

/** @param {any} mind */
function strategyTable(mind) {
  const side = mind.actor === "it" ? mind.its : mind.yours;
  const shares = side.strategy ?? [];
  return h("div", {}, legend(mind.actions), h("div.mixes", { role: "list", "aria-label": "strategy by hand" }, side.names.map((/** @type {string} */ name, /** @type {number} */ row) => {
    const likely = side.beliefs[row] > 1e-4;
    return h("div.mix", { role: "listitem", class: likely ? "" : "unlikely" }, h("span.name", {}, pretty(name)), h("span.track", { role: "img", "aria-label": mind.actions.map((/** @type {string} */ action, /** @type {number} */ place) => `${action} ${percent(shares[row]?.[place])}`).join(", ") },
      (shares[row] ?? []).map((/** @type {number} */ share, /** @type {number} */ place) => h("span", { style: { width: `${100 * share}%`, background: ACTION_COLOURS[place % ACTION_COLOURS.length] } }))),
    h("span.value.num", {}, signed(side.values[row])));
  })));
}

/** @param {string[]} actions */
function legend(actions) {
  return h("div.legend", {}, actions.map((action, place) => h("span", {}, h("i", { style: { background: ACTION_COLOURS[place % ACTION_COLOURS.length] } }), action)));
}

/** @param {any} mind @param {"yours" | "its"} whose */
function rangeGrid(mind, whose) {
  const side = mind[whose];
  const each = side.weights.map((/** @type {number} */ weight, /** @type {number} */ cell) => (side.combos[cell] ? weight / side.combos[cell] : 0));
  const most = Math.max(1e-12, ...each);
  return handGrid((cell) => ({ height: each[cell] / most, title: `${cellName(cell)}: ${percent(side.weights[cell])}` }), "range on the 13 by 13 grid", { mark: mark(mind) });
}

/** @param {any} mind */
function strategyGrid(mind) {
  const side = mind.actor === "it" ? mind.its : mind.yours;
  const each = side.weights.map((/** @type {number} */ weight, /** @type {number} */ cell) => (side.combos[cell] ? weight / side.combos[cell] : 0));
  const most = Math.max(1e-12, ...each);
  return h("div", {}, legend(mind.actions.map((/** @type {string} */ action, /** @type {number} */ place) => `${action} ${percent(mind.frequencies[place])}`)),
    handGrid((cell) => ({
      height: each[cell] / most > 0.002 ? Math.max(0.15, each[cell] / most) : 0,
      parts: side.strategy?.[cell].map((/** @type {number} */ share, /** @type {number} */ place) => ({ share, colour: ACTION_COLOURS[place % ACTION_COLOURS.length] })),
      title: `${cellName(cell)}: ${mind.actions.map((/** @type {string} */ action, /** @type {number} */ place) => `${action} ${percent(side.strategy?.[cell][place] ?? null)}`).join(", ")}`,
    }), "strategy on the 13 by 13 grid", { mark: mind.actor === "you" ? mark(mind) : undefined }));
}

/** @param {any} mind */
function mark(mind) {
  const name = mind.mine?.name;
  return name ? cellOf(name.slice(0, 2), name.slice(2, 4)) : undefined;
}

/** @param {any} judged */
function drawJudgement(judged) {
  return h("div.judgement", {}, h("h3", {}, judged.title),
    bars(judged.actions.map((/** @type {any} */ one) => ({ name: one.name, share: one.share, mark: one.taken, colour: one.taken ? "var(--warm)" : undefined, note: `${percent(one.share)}  ${signed(one.value)}` })), "how often each move is played, and its value"),
    judged.cost === null ? null : h("p.cost", { class: judged.cost > judged.small ? "bad" : "good" }, judged.cost > judged.small ? ["Your move cost ", h("b.num", {}, signed(judged.cost).slice(1))] : "Your move cost nothing"));
}
