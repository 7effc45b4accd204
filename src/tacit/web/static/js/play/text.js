// Any other game: its observations or drawing as text, and a button for each action.
// @ts-check

import { h } from "../dom.js";

/** @typedef {import("./scene.js").SceneContext} SceneContext */

/**
 * Draws what the reader knows.
 * @param {SceneContext} context
 */
export function drawText({ scene, over, names }) {
  return h("div.felt.textfelt", {},
    scene.drawing || scene.known || scene.public.length ? null : h("p.hint", {}, "Nothing has happened yet."),
    scene.drawing ? h("pre.drawing", {}, scene.drawing) : null,
    scene.known ? [h("h3", {}, "You know"), h("pre", {}, scene.known)] : null,
    scene.public.length && !scene.drawing ? [h("h3", {}, "Everyone saw"), h("p", {}, scene.public.join("  ·  "))] : null,
    over?.held ? [h("h3", {}, `${names.it} knew`), h("pre", {}, over.held)] : null);
}

/**
 * Draws a button for each action.
 * @param {SceneContext} context
 */
export function textChoices({ choices, act }) {
  return h("div.choices", {}, choices.map((choice, number) => h("button.btn.choice", { type: "button", onclick: () => act(choice.action) },
    choice.label, number < 9 ? h("kbd", { "aria-hidden": "true" }, number + 1) : null)));
}
