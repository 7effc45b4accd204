// Short messages at the foot of the page.
// @ts-check

import { h } from "../dom.js";

/**
 * Shows a message for a few seconds.
 * @param {string} text
 * @param {"" | "bad"} [mood]
 */
export function toast(text, mood = "") {
  const place = /** @type {HTMLElement} */ (document.getElementById("toasts"));
  const element = h("div.toast", { class: mood }, text);
  while (place.children.length > 2) place.firstElementChild?.remove();
  place.append(element);
  setTimeout(() => element.remove(), mood ? 6000 : 3500);
}
