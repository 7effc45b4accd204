// The board cards, chosen by clicking or typing.
// @ts-check

import { h, show } from "../dom.js";
import { SUITS, cardName, faceCard, noCard } from "../ui/cards.js";
import { privateName } from "./looks.js";

const RANKS = "AKQJT98765432";

/** Returns the cards in a text. @param {string} text */
export function readCards(text) {
  const cards = (text.replace(/10/g, "T").match(/[2-9tjqka][shdc]/gi) ?? []).map((card) => card[0].toUpperCase() + card[1].toLowerCase());
  return [...new Set(cards)];
}

/**
 * Returns all 52 cards as buttons, one row per suit; arrow keys move between them.
 * @param {{label: string, chosen: string[], free?: string[], onpick: (card: string) => void}} options free: the cards that can be picked; all if it is missing.
 */
export function deck({ label, chosen, free, onpick }) {
  const buttons = Object.keys(SUITS).map((suit) => [...RANKS].map((rank) => {
    const card = rank + suit;
    return h("button.deckcard", { type: "button", class: suit, "aria-label": cardName(card), "data-card": card, "aria-pressed": free ? null : String(chosen.includes(card)), disabled: free ? !free.includes(card) : false, onclick: () => onpick(card) }, privateName(card));
  }));
  const element = h("div.deck", { role: "group", "aria-label": label }, buttons.map((row) => h("div.deckrow", {}, row)));
  element.addEventListener("keydown", (event) => {
    const row = buttons.findIndex((one) => one.includes(/** @type {HTMLElement} */ (event.target)));
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (row < 0 || !step) return;
    event.preventDefault();
    event.stopPropagation();
    const column = buttons[row].indexOf(/** @type {HTMLElement} */ (event.target));
    buttons[(row + step[0] + 4) % 4][(column + step[1] + 13) % 13].focus();
  });
  return element;
}

export class BoardPicker {
  /** @param {string} text @param {() => void} onchange */
  constructor(text, onchange) {
    this.cards = readCards(text).slice(0, 5);
    this.onchange = onchange;
    this.shown = h("div.cards.boardcards");
    this.deckPlace = h("div");
    this.field = /** @type {HTMLInputElement} */ (h("input", { type: "text", spellcheck: "false", autocomplete: "off", placeholder: "3s 7h Td Ks 2c" }));
    this.field.addEventListener("input", () => { this.cards = readCards(this.field.value).slice(0, 5); this.draw(false); onchange(); });
    this.hint = h("span.small.soft");
    this.element = h("section.panel.boardpicker", { "aria-label": "Board" },
      h("div.head", {}, h("h2", {}, "Board"), this.hint), h("div.boardtop", {}, this.shown, h("label.field", {}, h("span", {}, "Board as text"), this.field)), this.deckPlace);
    this.draw();
  }

  /** @param {string} card */
  toggle(card) {
    if (this.cards.includes(card)) this.cards = this.cards.filter((one) => one !== card);
    else if (this.cards.length < 5) this.cards = [...this.cards, card];
    else return;
    this.draw();
    /** @type {HTMLElement | null} */ (this.deckPlace.querySelector(`[data-card="${card}"]`))?.focus({ preventScroll: true });
    this.onchange();
  }

  draw(writes = true) {
    if (writes) this.field.value = this.cards.join(" ");
    const names = ["pick three cards or more", "", "", "flop", "turn", "river"];
    this.hint.textContent = this.cards.length < 3 ? names[0] : names[this.cards.length];
    show(this.shown, this.cards.map((card) => faceCard(card)), Array.from({ length: 5 - this.cards.length }, () => noCard()));
    show(this.deckPlace, deck({ label: "Cards of the board", chosen: this.cards, onpick: (card) => this.toggle(card) }));
  }

  get text() { return this.cards.join(""); }

  get ready() { return this.cards.length >= 3; }
}
