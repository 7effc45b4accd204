// The table: the scene, the choices below it, the result of a hand, and the opponent's thinking.
// @ts-check

import { h, show } from "../dom.js";
import { signed } from "../ui/bars.js";
import { drawChoices, drawScene } from "./scene.js";

/** @typedef {{act: (action: number) => void, say: (words: string) => void, next: () => void, now: () => void, back: () => void}} Moves */

export class TableView {
  /** @param {Moves} moves */
  constructor(moves) {
    this.moves = moves;
    this.scene = h("div.scene");
    this.status = h("div.status", { role: "status", "aria-live": "polite" });
    this.bar = h("div.bar-actions");
    this.log = h("ol.log", { "aria-label": "what happened" });
    this.element = h("section.table", { "aria-label": "Table" }, this.scene, this.status, this.bar, this.log);
    /** @type {Set<string>} */
    this.seen = new Set();
    this.number = -1;
    /** @type {any} */
    this.frame = null;
  }

  /**
   * Shows that something is being prepared.
   * @param {string} text
   * @param {number | null} [done] How much is done, 0 to 1.
   */
  wait(text, done = null) {
    this.frame = null;
    this.number = -1;
    show(this.scene, h("div.felt.waiting", {}, h("p", {}, text), progress(done)));
    show(this.status);
    show(this.bar);
    show(this.log);
  }

  /** @param {any} frame */
  show(frame) {
    if (frame.number !== this.number) this.seen = new Set();
    this.number = frame.number;
    this.frame = frame;
    if (this.isPast) this.moves.back();
    else this.draw(frame);
  }

  /** @param {any} frame @param {boolean} [replaying] */
  draw(frame, replaying = false) {
    const before = this.seen;
    const now = new Set();
    const context = {
      scene: frame.scene, choices: replaying ? [] : frame.choices, sizes: frame.sizes, over: frame.over, names: { it: "Opponent" },
      fresh: (/** @type {string} */ key) => { now.add(key); return !replaying && !before.has(key); },
      act: (/** @type {number} */ action) => this.moves.act(action), say: (/** @type {string} */ words) => this.moves.say(words),
    };
    show(this.scene, drawScene(context));
    if (!replaying) this.seen = now;
    show(this.log, frame.log.map((/** @type {any} */ line) => h("li", { class: line.who }, h("b", {}, { you: "You", it: "Opponent", deal: frame.scene.kind === "bids" ? "Prize" : "Dealt" }[/** @type {"you"} */ (line.who)]), " ", this.words(frame, line.text))));
    this.log.scrollTop = this.log.scrollHeight;
    if (replaying) {
      show(this.status, h("span", {}, "Replay"));
      return;
    }
    if (frame.turn === "you") {
      show(this.status, h("span.turn", {}, "Your move"));
      show(this.bar, drawChoices(context));
    } else if (frame.turn === "it") {
      show(this.status, h("span.turn.it", {}, "Opponent is thinking"), h("span.dots", { "aria-hidden": "true" }));
      show(this.bar);
    } else this.end(frame);
  }

  /**
   * Returns the text of a line of the log from the reader's point of view.
   * @param {any} frame
   * @param {string} text
   */
  words(frame, text) {
    if (frame.scene.kind !== "bids") return text.replace(/([2-9TJQKA])([shdc])/g, (_, rank, suit) => `${rank}${{ s: "♠", h: "♥", d: "♦", c: "♣" }[/** @type {"s"} */ (suit)]} `);
    return text.replace(/(first|second) wins/g, (_, who) => ((who === "first") === ((frame.seat ?? this.frame?.seat) === 0) ? "yours" : "theirs"));
  }

  /** @param {any} frame */
  end(frame) {
    const won = frame.over.payoff;
    const text = won > 0 ? `You win ${signed(won).slice(1)}` : won < 0 ? `You lose ${signed(won).slice(1)}` : "A draw";
    show(this.status, h("span.result", { class: won > 0 ? "good" : won < 0 ? "bad" : "" }, text));
    const next = h("button.btn.primary.nextbtn", { type: "button", "data-key": "n", onclick: () => this.moves.next() }, frame.scene.kind === "board" ? "Next game" : "Next hand", h("kbd", { "aria-hidden": "true" }, "↵"));
    show(this.bar, h("div.choices", {}, next));
  }

  /**
   * Shows how far a search is.
   * @param {{done?: number, text?: string}} frame
   */
  thinking(frame) {
    if (this.frame?.turn !== "it" && this.frame) return;
    show(this.status, h("span.turn.it", {}, frame.text ?? "Opponent is thinking"), progress(frame.done ?? null));
    if (frame.done !== undefined && !this.bar.querySelector(".nowbtn")) {
      show(this.bar, h("div.choices", {}, h("button.btn.nowbtn", { type: "button", onclick: () => this.moves.now() }, "Play now")));
    }
  }

  /** Disables the choices until the server answers. */
  freeze() {
    for (const button of this.element.querySelectorAll("button.choice, .nextbtn, .bar-actions input")) /** @type {HTMLButtonElement} */ (button).disabled = true;
  }

  /** Enables the choices again, after an error. */
  thaw() {
    if (this.frame) this.draw(this.frame);
  }

  /**
   * Shows a step of a finished hand; null goes back to the current table.
   * @param {any} step
   * @param {boolean} [past] Whether the step belongs to an earlier hand.
   */
  replay(step, past = false) {
    this.isPast = Boolean(step && past);
    if (step) this.draw({ ...step, choices: [], sizes: null }, true);
    else if (this.frame) this.draw({ ...this.frame }, false);
    if (this.isPast) show(this.bar, h("div.choices", {}, h("button.btn.primary.backbtn", { type: "button", onclick: () => this.moves.back() }, "Back to the table")));
  }

  /**
   * Acts on a key. Returns whether the key meant something.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const buttons = /** @type {HTMLButtonElement[]} */ ([...this.element.querySelectorAll("button.choice:not(:disabled)")]);
    const named = /** @type {HTMLButtonElement | null} */ (this.element.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]:not(:disabled)`));
    if (named) { named.click(); return true; }
    const next = /** @type {HTMLButtonElement | null} */ (this.element.querySelector(".nextbtn:not(:disabled)"));
    const onControl = /** @type {HTMLElement} */ (event.target).closest("button, a, input");
    if (next && event.key === "Enter" && !onControl) { next.click(); return true; }
    const number = Number(event.key);
    if (Number.isInteger(number) && number >= 1 && number <= buttons.length) { buttons[number - 1].click(); return true; }
    return moveFocus(buttons, event.key);
  }
}

/**
 * Moves the focus between buttons with arrow keys, by their position on the screen. Returns whether the key meant something.
 * @param {HTMLButtonElement[]} buttons
 * @param {string} key
 */
function moveFocus(buttons, key) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (!step || !buttons.length) return false;
  const from = buttons.find((button) => button === document.activeElement);
  if (!from) { buttons[0].focus(); return true; }
  const here = from.getBoundingClientRect();
  let best = null;
  let least = Infinity;
  for (const button of buttons) {
    const there = button.getBoundingClientRect();
    const [right, down] = [there.x + there.width / 2 - here.x - here.width / 2, there.y + there.height / 2 - here.y - here.height / 2];
    const along = right * step[0] + down * step[1];
    const aside = Math.abs(right * step[1]) + Math.abs(down * step[0]);
    if (along > 2 && along + 3 * aside < least) [best, least] = [button, along + 3 * aside];
  }
  best?.focus();
  return true;
}

/** @param {number | null} done */
function progress(done) {
  return h("div.progress", { class: done === null ? "unknown" : "", "aria-hidden": "true" }, h("div", { style: done === null ? {} : { width: `${100 * done}%` } }));
}
