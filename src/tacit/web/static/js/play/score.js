// The running score, beside the luck-adjusted one.
// @ts-check

import { h, show } from "../dom.js";
import { signed } from "../ui/bars.js";

export class ScoreBox {
  constructor() {
    this.total = h("b.num", {}, "0");
    this.adjusted = h("b.num", {}, "–");
    this.note = h("p.small.soft");
    this.hands = h("span.small.soft", {}, "no hands yet");
    this.element = h("section.panel.score", { "aria-label": "Score" },
      h("div.figures", {}, h("div", {}, h("span.small.soft", {}, "You are"), this.total, this.hands),
        h("div", {}, h("span.small.soft", { title: "what the same decisions win on average: AIVAT removes the luck of the deal" }, "Luck removed"), this.adjusted, h("span.small.soft", {}, "AIVAT"))),
      this.note);
  }

  clear() {
    this.total.textContent = "0";
    this.adjusted.textContent = "–";
    this.hands.textContent = "no hands yet";
    show(this.note);
  }

  /** @param {string | null | undefined} reason Why luck cannot be removed in this game. */
  luck(reason) {
    this.note.textContent = reason ? `No luck-adjusted score: ${reason}.` : "";
  }

  /** @param {any} score */
  show(score) {
    this.total.textContent = signed(score.total);
    this.total.className = `num ${score.total > 0 ? "good" : score.total < 0 ? "bad" : ""}`;
    this.adjusted.textContent = score.adjusted_hands ? signed(score.adjusted_total) : "–";
    this.hands.textContent = `after ${score.hands} hand${score.hands === 1 ? "" : "s"}`;
  }
}
