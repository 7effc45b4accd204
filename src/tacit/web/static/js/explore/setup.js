// Setting up a hold'em endgame: board, stakes, bets and both ranges.
// @ts-check

import { h, show } from "../dom.js";
import { addressOf, readGame, writeGame } from "./address.js";
import { BoardPicker } from "./board.js";
import { RangePainter } from "./painter.js";

const FIRST = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=6000,menu=standard,range0=top 45%,range1=top 30%)";
const CUSTOM = "own";

export class EndgameSetup {
  /**
   * @param {import("../socket.js").Connection} connection
   * @param {any} offers
   * @param {import("./address.js").Place} place The game to start from, if there is one.
   */
  constructor(connection, offers, place) {
    this.connection = connection;
    const { parameters } = readGame(place.game || FIRST);
    const kept = place.game ? {} : JSON.parse(sessionStorage.getItem("tacit.endgame") ?? "{}");
    const given = { ...parameters, ...kept };
    const pot = Number(given.pot || 2000);
    const change = () => this.changed();
    this.board = new BoardPicker(given.board ?? "", change);
    this.ranges = [0, 1].map(() => new Question((fields) => this.connection.send("explore", "range", fields)));
    this.sizes = new Question((fields) => this.connection.send("explore", "size", fields));
    this.questions = [...this.ranges, this.sizes];
    this.sides = [0, 1].map((side) => new RangePainter(side ? "Player 1, acts last" : "Player 0, acts first", (given[`range${side}`] ?? "").replace(/\|/g, ", "), (fields) => this.ranges[side].ask({ side, ...fields }), change));
    this.pot = number(pot, { min: 2, max: 1_000_000, step: 2 });
    this.behind = number(Number(given.stack || 20000) - pot / 2, { min: 1, max: 1_000_000, step: 1 });
    this.blind = number(Number(given.big_blind || 100), { min: 1, max: 100_000, step: 1 });
    const menu = given.menu || (given.bets || given.raises ? CUSTOM : "standard");
    this.menu = /** @type {HTMLSelectElement} */ (h("select", {}, offers.menus.map((/** @type {any} */ one) => h("option", { value: one.name, selected: one.name === menu }, one.name)), h("option", { value: CUSTOM, selected: menu === CUSTOM }, "custom sizes")));
    this.meaning = h("p.small.soft.meaning");
    this.bets = text(given.bets || "0.5|1|allin");
    this.raises = text(given.raises || "1|allin");
    this.own = h("div.pair.ownsizes", {}, field("Bets, in pots", this.bets), field("Raises, in pots", this.raises));
    this.offers = offers;
    this.solver = solverSelect(offers, place.solver || "dcfr");
    this.stop = text(place.stop || "0.2%pot");
    this.size = h("span.size.small", { role: "status" });
    this.go = /** @type {HTMLButtonElement} */ (h("button.btn.primary.solvebtn", { type: "button", onclick: () => this.solve() }, "Solve"));
    this.element = h("div.setup", {},
      h("div.pagehead", {}, h("h1", {}, "Hold'em endgame"), h("a.btn.quiet", { href: "#/explore" }, "Other games")),
      h("div.setuptop", {}, this.board.element, h("section.panel.stakes", { "aria-label": "Stakes" }, h("h2", {}, "Stakes"),
        h("div.trio", {}, field("Pot", this.pot), field("Stack behind, each", this.behind), field("Big blind", this.blind)),
        field("Bet sizes", this.menu), this.meaning, this.own,
        h("div.pair", {}, field("Solver", this.solver), field("Stop at", this.stop)))),
      h("div.setupranges", {}, this.sides.map((side) => side.element)),
      h("div.setupbar", {}, this.size, this.go));
    for (const input of [this.pot, this.behind, this.blind, this.bets, this.raises, this.menu]) input.addEventListener("input", change);
    this.changed();
  }

  /** The name of the game, with its parameters. */
  get game() {
    const own = this.menu.value === CUSTOM;
    return writeGame("no_limit_holdem", {
      board: this.board.text, pot: this.pot.value, stack: Number(this.behind.value) + Number(this.pot.value) / 2, big_blind: this.blind.value === "100" ? "" : this.blind.value,
      ...(Number(this.blind.value) < 50 ? { small_blind: 1 } : {}),
      ...(own ? { bets: this.bets.value.trim() || "none", raises: this.raises.value.trim() || "none" } : { menu: this.menu.value }),
      range0: this.sides[0].parameter, range1: this.sides[1].parameter,
    });
  }

  changed() {
    const preset = this.offers.menus.find((/** @type {any} */ one) => one.name === this.menu.value);
    this.meaning.textContent = preset ? `${preset.meaning[0].toUpperCase()}${preset.meaning.slice(1)}.` : "0.5 is half the pot, 3x is three times the bet, allin is everything; separate sizes with |.";
    this.own.classList.toggle("hidden", Boolean(preset));
    this.go.disabled = !this.board.ready;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 350);
  }

  ask() {
    if (!this.board.ready) { this.size.textContent = "Pick at least three cards for the board."; return; }
    sessionStorage.setItem("tacit.endgame", JSON.stringify(readGame(this.game).parameters));
    this.sizes.ask({ game: this.game });
  }

  /** @param {any} frame */
  hear(frame) {
    if (frame.type === "error" && !frame.id) setTimeout(() => this.questions.forEach((one) => one.repeat()), 1000); // the server is busy
    else if (frame.type === "welcome") this.questions.forEach((one) => one.repeat());
    else {
      const asked = this.questions.find((one) => one.id && one.id === frame.id);
      if (!asked?.answered()) return; // a later question is already waiting for its answer
      if (frame.type === "error") this.tell(frame.message, false);
      else if (frame.type === "range") this.sides[frame.side].hear(frame);
      else if (frame.type === "size") this.tell(frame.fits ? frame.text : `Too large: ${frame.text}, but a solve may take at most ${frame.limit}. Choose fewer bets or a later street.`, frame.fits);
    }
  }

  /** @param {string} words @param {boolean} fits */
  tell(words, fits) {
    show(this.size, words);
    this.size.classList.toggle("bad", !fits);
    this.go.disabled = !fits;
  }

  solve() {
    location.hash = addressOf({ game: this.game, file: "", solver: this.solver.value, stop: this.stop.value.trim(), line: "" });
  }
}

/** Asks one question at a time. While it waits for an answer, it keeps only the latest other question, so a slow server is not flooded. */
class Question {
  /** @param {(fields: Record<string, any>) => number} send Returns the message's id. */
  constructor(send) {
    this.send = send;
    this.id = 0;
    /** @type {Record<string, any>} */
    this.fields = {};
    /** @type {Record<string, any> | null} */
    this.next = null;
  }

  /** @param {Record<string, any>} fields */
  ask(fields) {
    if (this.id) this.next = fields;
    else { this.fields = fields; this.id = this.send(fields); }
  }

  /** Takes note of an answer. Returns whether it answers the latest question. */
  answered() {
    const { next } = this;
    this.id = 0;
    this.next = null;
    if (next) this.ask(next);
    return !next;
  }

  /** Asks the latest question again if it has no answer. */
  repeat() {
    if (!this.id) return;
    const fields = this.next ?? this.fields;
    this.id = 0;
    this.next = null;
    this.ask(fields);
  }
}

/** @param {any} offers @param {string} chosen */
export function solverSelect(offers, chosen) {
  return /** @type {HTMLSelectElement} */ (h("select", {}, offers.solvers.map((/** @type {string} */ name) => h("option", { value: name, selected: name === chosen }, name)), offers.solvers.includes(chosen) ? null : h("option", { value: chosen, selected: true }, chosen)));
}

/** @param {string} label @param {HTMLElement} input */
export function field(label, input) {
  return h("label.field", {}, h("span", {}, label), input);
}

/** @param {string} value */
export function text(value) {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", spellcheck: "false", autocomplete: "off" }));
  input.value = value;
  return input;
}

/** @param {number} value @param {{min: number, max: number, step: number}} limits */
function number(value, limits) {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "number", inputmode: "numeric", ...limits }));
  input.value = String(value);
  return input;
}
