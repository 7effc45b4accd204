// The mind panel: what the opponent believes, and the replay of a finished hand.
// @ts-check

import { h, show } from "../dom.js";
import { signed } from "../ui/bars.js";
import { drawMind } from "./beliefs.js";

/**
 * @typedef {object} MindOptions
 * @property {(on: boolean) => void} onTraining
 * @property {(step: any, past: boolean) => void} onStep
 * @property {() => void} onHistory
 * @property {(hand: number) => void} onPast
 * @property {boolean} training
 */

export class MindPanel {
  /** @param {MindOptions} options */
  constructor(options) {
    this.options = options;
    this.box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", role: "switch", checked: options.training, onchange: () => options.onTraining(this.box.checked) }));
    this.body = h("div.mindbody");
    this.list = h("div.past");
    this.history = h("details.history", { ontoggle: () => this.kept() }, h("summary", {}, "Earlier hands"), this.list);
    this.isPast = false;
    /** @type {any[]} The steps of the replayed hand; empty while a hand is being played. */
    this.steps = [];
    /** @type {any[] | null} */
    this.judgements = null;
    /** @type {any} */
    this.over = null;
    /** @type {number | null} */
    this.number = null;
    this.seat = 0;
    this.place = 0;
    this.note = "";
    this.element = h("section.panel.mind", { "aria-label": "The opponent's mind" },
      h("div.head", {}, h("h2", {}, "Its mind"), h("label.switch", {}, this.box, h("span", {}, "Training"))), this.body, this.history);
    this.clear();
  }

  clear() {
    this.isPast = false;
    this.steps = [];
    this.place = 0;
    this.judgements = null;
    this.note = "";
    show(this.body, h("p.soft", {}, "Its beliefs about your hand are shown when the hand ends. Training shows them as you play."));
  }

  /** @param {boolean} on */
  setTraining(on) {
    this.box.checked = on;
    if (!on && !this.steps.length) this.clear();
  }

  /** @param {any} frame */
  table(frame) {
    if (this.isPast) return;
    this.seat = frame.seat;
    if (frame.turn !== "over" && this.steps.length) this.clear();
  }

  /** @param {any} mind */
  show(mind) {
    if (!this.steps.length) show(this.body, drawMind(mind, null));
  }

  /** @param {string} text */
  judging(text) {
    this.note = `${text[0].toUpperCase()}${text.slice(1)}…`;
    this.draw();
  }

  /** @param {any} frame */
  replay(frame) {
    if (this.isPast) return;
    this.steps = frame.steps;
    this.over = frame.over;
    this.place = this.steps.length - 1;
    this.number = frame.number;
    this.judgements = null;
    this.note = "";
    this.draw();
  }

  /** Asks for the list of earlier hands, if the list is open. */
  kept() {
    if (/** @type {HTMLDetailsElement} */ (this.history).open) this.options.onHistory();
  }

  /**
   * Lists earlier hands.
   * @param {any[]} hands
   * @param {any} catalog
   */
  hands(hands, catalog) {
    const title = (/** @type {string} */ game) => catalog.games.find((/** @type {any} */ one) => game === one.game || game.startsWith(`${one.game}(`))?.title ?? game.split("(")[0];
    show(this.list, hands.length ? hands.map((one) => h("button.btn.quiet", { type: "button", onclick: () => this.options.onPast(one.hand) },
      h("span", {}, title(one.game)), h("span.num", { class: one.payoff > 0 ? "good" : one.payoff < 0 ? "bad" : "" }, signed(one.payoff)))) : h("p.soft.small", {}, "None yet."));
  }

  /**
   * Shows an earlier hand.
   * @param {any} frame
   */
  past(frame) {
    this.isPast = true;
    this.steps = frame.steps;
    this.over = frame.over;
    this.seat = frame.seat;
    this.judgements = frame.steps.map((/** @type {any} */ step) => step.judgement);
    this.note = frame.note ? `Your moves are not judged: ${frame.note}.` : "";
    this.number = null;
    this.go(frame.steps.length - 1);
  }

  /** Goes back to the current table. */
  leavePast() {
    this.clear();
    this.options.onStep(null, false);
  }

  /** @param {any} frame */
  judged(frame) {
    if (!this.steps.length || frame.number !== this.number) return;
    this.judgements = frame.steps;
    this.note = frame.note ? `Your moves are not judged: ${frame.note}.` : "";
    this.draw();
  }

  /** @param {number} place */
  go(place) {
    if (!this.steps.length) return;
    this.place = Math.max(0, Math.min(this.steps.length - 1, place));
    const last = this.place === this.steps.length - 1;
    this.options.onStep(last && !this.isPast ? null : { ...this.steps[this.place], seat: this.seat, over: this.over }, this.isPast);
    this.draw();
  }

  /**
   * Returns a step in words.
   * @param {number} place
   */
  words(place) {
    const step = this.steps[place];
    if (step.actor === "over") return `Step ${place + 1} of ${this.steps.length}: the end.`;
    const who = step.actor === "you" ? "you" : "it";
    return `Step ${place + 1} of ${this.steps.length}: ${who} ${step.taken === null ? "moved" : `chose ${step.taken}`}.`;
  }

  /** Returns a summary of the hand: the cost of each of the reader's moves. */
  summary() {
    const judged = (this.judgements ?? []).map((one, place) => ({ one, place })).filter(({ one }) => one && one.cost !== null);
    if (!judged.length) return h("p.soft", {}, "Step back through the hand to see what it believed.");
    const total = judged.reduce((sum, { one }) => sum + (one.cost > one.small ? one.cost : 0), 0);
    const { source } = judged[0].one;
    return h("div.summary", {}, h("p", {}, total > 0 ? ["Your moves cost ", h("b.num.bad", {}, signed(total).slice(1)), ` ${source}.`] : `Your moves cost nothing ${source}.`),
      h("ol.moves", {}, judged.map(({ one, place }) => h("li", {}, h("button.btn.quiet", { type: "button", onclick: () => this.go(place) },
        h("span", {}, this.steps[place].taken ?? "moved"), h("span.num", { class: one.cost > one.small ? "bad" : "good" }, one.cost > one.small ? `−${signed(one.cost).slice(1)}` : "✓"))))),
      h("p.small.soft", {}, "Step back to see what it believed."));
  }

  draw() {
    const { steps, place } = this;
    if (!steps.length) return;
    const step = steps[place];
    const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: steps.length - 1, value: place, "aria-label": "step of the hand", oninput: () => this.go(Number(slider.value)) }));
    const hadFocus = this.body.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
    show(this.body,
      h("div.stepper", {}, h("button.btn.quiet", { type: "button", "aria-label": "step back", disabled: place === 0, onclick: () => this.go(place - 1) }, "‹"), slider,
        h("button.btn.quiet", { type: "button", "aria-label": "step forward", disabled: place === steps.length - 1, onclick: () => this.go(place + 1) }, "›")),
      h("p.small.soft", {}, this.words(place)),
      place === steps.length - 1 ? this.summary() : drawMind(step.mind, this.judgements?.[place] ?? null, step),
      this.note ? h("p.small.soft", {}, this.note) : null);
    if (hadFocus) /** @type {HTMLElement | null} */ (this.body.querySelector(`[aria-label="${hadFocus}"]`))?.focus();
  }
}
