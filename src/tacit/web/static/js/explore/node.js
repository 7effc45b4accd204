// One public state: how it was reached, what can happen, and the strategy of every private state.
// @ts-check

import { h, show } from "../dom.js";
import { bars, percent } from "../ui/bars.js";
import { faceCard } from "../ui/cards.js";
import { longer } from "./address.js";
import { deck } from "./board.js";
import { HandsView } from "./hands.js";
import { actionColours, mixBar, privateName, stepName, worth } from "./looks.js";

export class NodeView {
  /** @param {(line: string) => void} walk Shows the public state at the end of a line. */
  constructor(walk) {
    this.walk = walk;
    this.crumbs = h("nav.crumbs", { "aria-label": "Line" });
    this.head = h("div.nodehead");
    this.actions = h("div.nodeactions");
    this.body = h("div.nodebody");
    this.element = h("section.panel.node", { "aria-label": "Public state" }, this.crumbs, this.head, this.actions, this.body);
    this.hands = new HandsView();
    /** @type {any} */
    this.node = null;
    this.board = "";
    /** @type {number | null} The action whose cards are listed. */
    this.opened = null;
  }

  /** @param {any} node @param {string} board The board cards known from the start. */
  show(node, board) {
    if (node.line !== this.node?.line) this.opened = null;
    const focused = this.element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
    this.node = node;
    const dealt = node.path.map((/** @type {any} */ one) => one.step.match(/(?:[2-9TJQKA][shdc])+$/)?.[0] ?? "").join("");
    this.board = node.board || board + (board ? dealt : "");
    this.drawCrumbs();
    if (node.kind === "acts") this.drawDecision();
    else if (node.kind === "deals") this.drawDeal();
    else if (node.kind === "infostates") this.drawInfostates();
    else this.drawEnd();
    if (focused) /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
  }

  drawCrumbs() {
    const { node } = this;
    let line = "";
    const parts = node.path.map((/** @type {any} */ one, /** @type {number} */ place) => {
      line = longer(line, one.step);
      const here = line;
      const last = place === node.path.length - 1;
      return h("li", {}, h("button.crumb", { type: "button", "data-key": `crumb ${place}`, class: one.actor < 0 ? "chance" : `p${one.actor}`, "aria-current": last ? "step" : null, onclick: () => this.walk(here) }, stepName(one.step)));
    });
    show(this.crumbs, h("ol", {}, h("li", {}, h("button.crumb.start", { type: "button", "aria-current": parts.length ? null : "step", onclick: () => this.walk("") }, "Start")), parts));
  }

  drawDecision() {
    const { node } = this;
    const colours = actionColours(node.labels);
    const value = node.worth?.[node.actor];
    const cards = this.board ? (this.board.match(/../g) ?? []).map((card) => faceCard(card)) : [];
    show(this.head, h("div", {}, h("h2", {}, h("span.who", { class: `p${node.actor}` }, `Player ${node.actor}`), " to act"),
      h("p.soft.small", {}, "reached ", h("b.num", {}, node.probability === null ? "–" : percent(node.probability)), " of the time",
        value === undefined || value === null ? "" : [" · worth ", h("b.num", {}, worth(value)), ` to player ${node.actor}`])),
      cards.length ? h("div.cards.small", {}, cards) : null);
    const groups = node.labels.map((/** @type {string} */ label, /** @type {number} */ place) => ({ label, place, steps: node.next.filter((/** @type {any} */ one) => one.action === place) }));
    const hidden = node.next.filter((/** @type {any} */ one) => one.action === null);
    show(this.actions, h("div.actionrow", { role: "group", "aria-label": "Actions" }, groups.map((/** @type {any} */ one) => this.actionButton(one, node.frequencies[one.place], colours[one.place]))),
      hidden.length ? h("div.outcomes", {}, h("span.small.soft", {}, "What everyone sees next"), h("div.steps", {}, hidden.map((/** @type {any} */ one) => this.stepButton(one)))) : null);
    if (node.grid) {
      if (this.body.firstElementChild !== this.hands.element) show(this.body, this.hands.element);
      this.hands.show(node, colours);
    } else show(this.body, this.table(colours));
  }

  /** @param {{label: string, place: number, steps: any[]}} action @param {number | null} share @param {string} colour */
  actionButton(action, share, colour) {
    const [first] = action.steps;
    const open = this.opened === action.place;
    const chosen = h("div.cardsteps", {}, open ? action.steps.map((one) => this.stepButton(one, one.step.slice(action.label.length).trim() || one.step)) : null);
    const take = () => {
      if (action.steps.length === 1) { this.walk(longer(this.node.line, first.step)); return; }
      this.opened = open ? null : action.place;
      this.drawDecision();
      /** @type {HTMLElement | null} */ (this.actions.querySelector(open ? `[data-action="${action.place}"]` : ".cardsteps button"))?.focus();
    };
    const ends = action.steps.length > 0 && action.steps.every((one) => one.kind === "ends");
    const key = action.place < 9 ? h("kbd", { "aria-hidden": "true" }, action.place + 1) : null;
    const inside = [h("i.swatch", { style: { background: colour } }), h("span", {}, action.label), h("b.num", {}, percent(share)), ends ? h("span.small.soft", {}, "ends") : action.steps.length > 1 ? h("span.small.soft", {}, "then a card") : null, action.steps.length && !ends ? key : null];
    return h("div.actionbox", {}, action.steps.length && !ends ? h("button.btn.action", { type: "button", onclick: take, "data-action": action.place, "data-key": `action ${action.place}`, "aria-expanded": action.steps.length > 1 ? String(open) : null }, inside) : h("div.btn.action.still", {}, inside), chosen);
  }

  /** @param {any} step @param {string} [label] */
  stepButton(step, label) {
    const name = stepName(label ?? step.step);
    if (step.kind === "ends") return h("span.btn.step.still", {}, name, h("span.small.soft", {}, "ends"));
    return h("button.btn.step", { type: "button", "data-key": `step ${step.step}`, onclick: () => this.walk(longer(this.node.line, step.step)), "aria-label": step.step === "-" ? "hidden move" : step.step }, name);
  }

  /** @param {string[]} colours */
  table(colours) {
    const { node } = this;
    const [mine, theirs] = [node.players[node.actor], node.players[1 - node.actor]];
    const withEquity = mine.equity !== null;
    const heads = ["Private state", "Plays", "Range", "Reach", "Value", ...(withEquity ? ["Equity"] : [])];
    return [
      h("div.tablewrap", { tabindex: "0", role: "region", "aria-label": "Strategy by private state" }, h("table.states", {}, h("thead", {}, h("tr", {}, heads.map((one) => h("th", { scope: "col", class: one.toLowerCase(), title: HELP[one] ?? null }, one)))),
        h("tbody", {}, mine.names.map((/** @type {string} */ name, /** @type {number} */ row) => h("tr", { class: mine.weight[row] < 1e-4 ? "unlikely" : "", "data-private": name },
          h("th", { scope: "row" }, privateName(name)),
          h("td.mixcell", {}, mixBar(node.strategy[row], node.labels, colours, false), h("span.exact.small", {}, node.labels.map((/** @type {string} */ label, /** @type {number} */ place) => (node.strategy[row][place] === null ? null : h("span", { class: node.labels.length > 3 && node.strategy[row][place] < 0.0005 ? "hidden" : "", "data-value": node.strategy[row][place] }, h("i.swatch", { style: { background: colours[place] } }), `${label} `, h("b.num", {}, exact(node.strategy[row][place]))))))),
          h("td.num", {}, percent(mine.weight[row])), h("td.num.reach", {}, percent(mine.reach[row])),
          h("td.num", {}, worth(mine.values?.[row])),
          withEquity ? h("td.num", {}, percent(mine.equity[row])) : null))))),
      mine.more ? h("p.small.soft", {}, `and ${mine.more.toLocaleString("en")} more that are less likely`) : null,
      theirs.names.length > 1 ? h("div.otherrange", {}, h("h3", {}, `What player ${1 - node.actor} may hold`), bars(theirs.names.map((/** @type {string} */ name, /** @type {number} */ row) => ({ name: privateName(name), share: theirs.weight[row], colour: `var(--${node.actor ? "you" : "it"})`, note: `${percent(theirs.weight[row])} · ${worth(theirs.values?.[row])}` })), `range of player ${1 - node.actor}`, { relative: true })) : null,
    ];
  }

  drawDeal() {
    const { node } = this;
    const cards = node.next.map((/** @type {any} */ one) => one.step);
    const lies = this.board ? (this.board.match(/../g) ?? []).map((card) => faceCard(card)) : [];
    show(this.head, h("div", {}, h("h2", {}, "A card is dealt"), h("p.soft.small", {}, "Choose it.")), lies.length ? h("div.cards.small", {}, lies) : null);
    show(this.actions);
    const all = cards.every((/** @type {string} */ card) => /^[2-9TJQKA][shdc]$/.test(card));
    show(this.body, all ? deck({ label: "Cards that can come", chosen: [], free: cards, onpick: (card) => this.walk(longer(node.line, card)) }) : h("div.steps", {}, node.next.map((/** @type {any} */ one) => this.stepButton(one))));
  }

  drawEnd() {
    show(this.head, h("div", {}, h("h2", {}, "The game ends here")));
    show(this.actions);
    show(this.body);
  }

  drawInfostates() {
    show(this.head, h("div", {}, h("h2", {}, "Infostates"), h("p.soft.small", {}, "In this game the player to act is not public, so there are no public states to walk. These are its first infostates.")));
    show(this.actions);
    show(this.body, h("div.tablewrap", { tabindex: "0", role: "region", "aria-label": "Infostates" }, h("table.states", {}, h("thead", {}, h("tr", {}, ["Player", "Infostate", "Plays", "Reach"].map((one) => h("th", { scope: "col" }, one)))), h("tbody", {}, this.node.infostates.map((/** @type {any} */ one) => h("tr", {}, h("td", {}, one.player), h("th", { scope: "row" }, one.name), h("td.mixcell", {}, mixBar(one.played, one.actions, actionColours(one.actions))), h("td.num", {}, percent(one.reach))))))));
  }

  /** Takes the action of a digit key, or goes back. Returns whether the key meant something. @param {KeyboardEvent} event */
  key(event) {
    if (!this.node) return false;
    if (event.key === "Backspace" && this.node.path.length) {
      this.walk(this.node.path.slice(0, -1).map((/** @type {any} */ one) => one.step).join(" / "));
      return true;
    }
    const button = /^[1-9]$/.test(event.key) ? this.actions.querySelector(`[data-action="${Number(event.key) - 1}"]`) : null;
    if (button) /** @type {HTMLElement} */ (button).click();
    return Boolean(button);
  }
}

const HELP = /** @type {Record<string, string>} */ ({
  Range: "How likely this private state is here", Reach: "How often the player's own actions lead here with it",
  Value: "What it wins on average from here, counted from the start of the game", Equity: "How often it wins if nobody bets any more",
});

/** @param {number} share */
function exact(share) {
  return `${(100 * share).toFixed(1)}%`;
}
