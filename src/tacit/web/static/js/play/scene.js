// Chooses the drawing that suits a scene.
// @ts-check

import { bidChoices, drawBids } from "./bids.js";
import { drawBoard } from "./boards.js";
import { diceChoices, drawDice } from "./dice.js";
import { drawPoker, pokerChoices } from "./poker.js";
import { drawText, textChoices } from "./text.js";

/** @typedef {{action: number, label: string}} Choice */
/**
 * The arguments of a drawing.
 * @typedef {object} SceneContext
 * @property {any} scene What the seat sees (docs/web.md).
 * @property {Choice[]} choices The reader's legal moves; empty if there are none.
 * @property {any} sizes The range of free bet sizes, or null.
 * @property {{payoff: number, held: any} | null} over How the hand ended.
 * @property {{it: string}} names The opponent's name.
 * @property {(key: string) => boolean} fresh Returns whether a thing is new in this frame.
 * @property {(action: number) => void} act
 * @property {(words: string) => void} say
 */

/** @type {Record<string, {draw: (context: SceneContext) => HTMLElement, choices: ((context: SceneContext) => HTMLElement) | null}>} */
const DRAWINGS = {
  poker: { draw: drawPoker, choices: pokerChoices },
  dice: { draw: drawDice, choices: diceChoices },
  board: { draw: drawBoard, choices: null },
  bids: { draw: drawBids, choices: bidChoices },
  text: { draw: drawText, choices: textChoices },
};

/** @param {SceneContext} context */
export function drawScene(context) {
  return (DRAWINGS[context.scene.kind] ?? DRAWINGS.text).draw(context);
}

/** @param {SceneContext} context */
export function drawChoices(context) {
  return (DRAWINGS[context.scene.kind] ?? DRAWINGS.text).choices?.(context) ?? null;
}
