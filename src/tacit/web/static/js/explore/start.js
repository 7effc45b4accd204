// The explorer's start page: games to solve, hold'em endgames, saved solves.
// @ts-check

import { h } from "../dom.js";
import { addressOf } from "./address.js";

const TOO_LARGE = ["no_limit_holdem", "limit_holdem", "connect_four"];

/** @param {any} catalog @param {any} offers */
export function startView(catalog, offers) {
  const other = /** @type {HTMLInputElement} */ (h("input", { type: "text", placeholder: "goofspiel(cards=5), openspiel:kuhn_poker, file.py:Class", autocomplete: "off", spellcheck: "false" }));
  const link = (/** @type {Partial<import("./address.js").Place>} */ place) => addressOf({ game: "", file: "", solver: "", stop: "", line: "", ...place });
  const games = catalog.games.filter((/** @type {any} */ one) => !TOO_LARGE.includes(one.game));
  return h("div.explorestart", {},
    h("div.pagehead", {}, h("div", {}, h("h1", {}, "Explore"), h("p.soft", {}, "Solve a game and watch it converge, then walk its tree: see the strategy at every point, how often it is reached, and its value."))),
    h("div.startgrid", {},
      h("a.panel.bigtile", { href: "#/explore/holdem" }, pictogram(), h("div", {}, h("h2", {}, "Hold'em endgame"), h("p.soft", {}, "Paint both ranges, pick the board, choose bets: a flop, turn or river, solved."))),
      h("section.panel", { "aria-label": "Games" }, h("h2", {}, "Games"), h("div.tiles", {}, games.map((/** @type {any} */ one) => h("a.tile", { href: link({ game: one.game }) }, h("b", {}, one.title), h("span.small.soft", {}, one.about)))),
        h("form.other", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); if (other.value.trim()) location.hash = link({ game: other.value.trim() }); } },
          h("label.field", {}, h("span", {}, "Any other game, by name"), other), h("button.btn", { type: "submit" }, "Open"))),
      h("section.panel", { "aria-label": "Saved solves" }, h("h2", {}, "Saved solves"), offers.saved.length
        ? h("div.tiles", {}, offers.saved.map((/** @type {any} */ one) => h("a.tile", { href: link({ file: one.file }) }, h("b", {}, one.file), h("span.small.soft", {}, one.game))))
        : h("p.soft.small", {}, "Start ", h("code", {}, "tacit serve FILE…"), " with files from ", h("code", {}, "tacit solve --save"), ", or a folder of them, to list them here."))));
}

/** Returns a small painted grid. */
function pictogram() {
  const cells = [];
  for (let cell = 0; cell < 25; cell += 1) {
    const [row, column] = [Math.floor(cell / 5), cell % 5];
    cells.push(h("i", { class: row + column < 3 ? "bets" : row + column < 5 && row <= column ? "calls" : row === column ? "calls" : "" }));
  }
  return h("div.pictogram", { "aria-hidden": "true" }, cells);
}
