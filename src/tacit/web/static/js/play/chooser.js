// The dialog to choose game, opponent and seat.
// @ts-check

import { h } from "../dom.js";

/** @typedef {{game: string, opponent: string, seat: string}} Wanted */

/**
 * Opens the dialog.
 * @param {any} catalog
 * @param {Wanted & {opponents: {name: string, title: string}[]}} now
 * @param {(wanted: Wanted) => void} done
 */
export function openChooser(catalog, now, done) {
  const groups = [...new Set(catalog.games.map((/** @type {any} */ one) => one.group))];
  const other = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "other-game", placeholder: "openspiel:kuhn_poker or file.py:Class", autocomplete: "off", spellcheck: "false" }));
  const opponent = /** @type {HTMLSelectElement} */ (h("select", {}, now.opponents.map((one) => h("option", { value: one.name, selected: one.name === now.opponent }, one.title[0].toUpperCase() + one.title.slice(1))),
    h("option", { value: "", selected: !now.opponents.some((one) => one.name === now.opponent) && now.opponent !== "default" }, "Something else…")));
  const named = /** @type {HTMLInputElement} */ (h("input", { type: "text", placeholder: "pretrained:NAME, a run folder, a saved solve", "aria-label": "Opponent by name", value: opponent.value === "" ? now.opponent : "", autocomplete: "off", spellcheck: "false" }));
  const namedField = h("div", { class: opponent.value === "" ? "" : "hidden" }, named);
  opponent.addEventListener("change", () => namedField.classList.toggle("hidden", opponent.value !== ""));
  const seat = /** @type {HTMLSelectElement} */ (h("select", {}, [["random", "Random"], ["0", "First"], ["1", "Second"]].map(([value, text]) => h("option", { value, selected: value === now.seat }, text))));
  const finish = (/** @type {string} */ game) => {
    dialog.close();
    const same = game === now.game;
    done({ game, seat: seat.value, opponent: same ? opponent.value || named.value.trim() || "default" : "default" });
  };
  const tiles = groups.map((group) => h("section", {}, h("h3", {}, group), h("div.tiles", {}, catalog.games.filter((/** @type {any} */ one) => one.group === group).map((/** @type {any} */ one) => h("button.tile", {
    type: "button", "aria-current": one.game === now.game ? "true" : null, onclick: () => finish(one.game),
  }, h("b", {}, one.title), h("span.small.soft", {}, one.about))))));
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog.chooser", { "aria-label": "Choose a game" },
    h("div.head", {}, h("h2", {}, "Choose a game"), h("button.btn.quiet", { type: "button", onclick: () => dialog.close() }, "Close")),
    h("div.thistable", {}, h("h3", {}, "This table"), h("div.pair", {}, h("label.field", {}, h("span", {}, "Opponent"), opponent), h("label.field", {}, h("span", {}, "Your seat"), seat)), namedField,
      h("button.btn.primary", { type: "button", onclick: () => finish(now.game) }, "Sit down")),
    tiles,
    h("form.other", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); if (other.value.trim()) finish(other.value.trim()); } },
      h("label.field", {}, h("span", {}, "Any other game, by name"), other), h("button.btn", { type: "submit" }, "Open"))));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
}
