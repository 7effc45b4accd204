// The solver panel: what is solved and how, its convergence curve as it runs, and its figures.
// @ts-check

import { h, show } from "../dom.js";
import { icon } from "../ui/icons.js";
import { Plot, short } from "../ui/plot.js";
import { toast } from "../ui/toast.js";
import { field, solverSelect, text } from "./setup.js";

export class SolverPanel {
  /**
   * @param {any} offers
   * @param {import("./address.js").Place} place
   * @param {{toggle: () => void, again: (solver: string, stop: string) => void}} actions
   */
  constructor(offers, place, actions) {
    this.actions = actions;
    /** @type {[number, number][]} */
    this.points = [];
    this.target = /** @type {number | null} */ (null);
    this.toggle = /** @type {HTMLButtonElement} */ (h("button.btn.primary.toggle", { type: "button", onclick: actions.toggle }, "Solve"));
    this.state = h("p.small.soft.state", { role: "status" }, "Opening…");
    this.plot = new Plot({ height: 210 });
    this.figures = h("dl.figures");
    this.solver = solverSelect(offers, place.solver || "dcfr");
    this.stop = text(place.stop);
    this.tools = h("div.tools2");
    const form = h("form.how", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); actions.again(this.solver.value, this.stop.value.trim()); } }, field("Solver", this.solver), field("Stop at", this.stop), h("button.btn", { type: "submit" }, "Solve again"));
    this.form = h("details.hownow", {}, h("summary", {}, "Solver and when it stops"), form, h("p.small.soft", {}, "A number of iterations such as 1000, or an exploitability such as 0.001; in hold'em 0.2%pot."));
    this.element = h("section.panel.solver", { "aria-label": "Solver" }, h("div.head", {}, h("h2", {}, "Convergence"), this.toggle), this.state, this.plot.element, this.figures, this.form, this.tools);
    this.draw();
  }

  /** @param {any} opened */
  opened(opened) {
    this.file = opened.file;
    this.name = opened.solver;
    if (!opened.file) this.stop.value = opened.stop;
    this.toggle.classList.toggle("hidden", Boolean(opened.file));
    this.form.classList.toggle("hidden", Boolean(opened.file));
    this.say(opened.file ? "A saved solve" : opened.size.text);
    const command = opened.file ? `tacit show ${quoted(opened.file)}` : `tacit solve ${quoted(opened.game)} --solver ${opened.solver}${opened.stop ? ` ${/^\d+$/.test(opened.stop) ? "--iterations" : "--target"} ${opened.stop}` : ""}`;
    show(this.tools, h("button.btn.quiet", { type: "button", onclick: () => copy(location.href, "The link to this position is copied") }, "Copy link"), h("button.btn.quiet", { type: "button", "data-command": command, onclick: () => copy(command, "The command is copied") }, "Copy command"));
  }

  clear() {
    this.points = [];
    show(this.figures);
    this.draw();
  }

  /** @param {any} point */
  add(point) {
    this.points.push([point.iteration, point.exploitability]);
    this.figure(point.iteration, point.seconds, point.exploitability, null, null);
    this.draw();
  }

  /** @param {any} frame */
  solved(frame) {
    const one = frame.summary;
    this.figure(one.iterations, one.seconds, one.exploitability, one, frame);
    this.say(`${this.file ? "A saved solve: " : one.interrupted ? "Stopped at the time limit: " : "Solved: "}${one.nodes.toLocaleString("en")} public states, ${one.infostates.toLocaleString("en")} infostates`);
  }

  /** @param {number} iterations @param {number} seconds @param {number} exploitability @param {any} summary @param {any} frame */
  figure(iterations, seconds, exploitability, summary, frame) {
    const units = Object.entries(frame?.units ?? {}).map(([name, value]) => `${short(/** @type {number} */ (value))} ${name.replace("percent_of_", "% of the ")}`).join(" · ");
    const known = frame?.known;
    show(this.figures,
      figure("Exploitability", h("b.num.exploitability", { "data-value": exploitability }, short(exploitability)), units),
      summary ? figure("Value of the first player", h("b.num.gamevalue", { "data-value": summary.value }, Math.abs(summary.value) < 1e-6 ? "0" : Number(summary.value.toPrecision(5)).toString().replace("-", "−")), known ? `known: ${Number(known.value.toPrecision(6)).toString().replace("-", "−")}, ${known.source}` : "") : null,
      figure("Iterations", h("b.num", {}, iterations.toLocaleString("en")), `${this.name ?? ""}, ${seconds.toFixed(seconds < 10 ? 2 : 0)} s`));
  }

  /** @param {string} words @param {boolean} [bad] */
  say(words, bad = false) {
    this.state.textContent = words;
    this.state.classList.toggle("bad", bad);
  }

  /** @param {"running" | "paused" | "done" | "broken"} state */
  setState(state) {
    this.element.classList.toggle("running", state === "running");
    this.toggle.disabled = state === "done" || state === "broken";
    show(this.toggle, state === "running" ? "Pause" : state === "done" ? "Solved" : "Continue");
    this.toggle.classList.toggle("primary", state !== "done");
  }

  draw() {
    this.plot.draw({ series: [{ name: "exploitability", colour: "var(--curve-1)", points: this.points }], x: { label: "iterations", log: true }, y: { label: "exploitability", log: true }, label: "Exploitability by iterations", empty: "The curve starts with the first iteration." });
  }
}

/** @param {string} name @param {Node} value @param {string} note */
function figure(name, value, note) {
  return h("div", {}, h("dt.small.soft", {}, name), h("dd", {}, value, note ? h("span.small.soft", {}, note) : null));
}

/** Returns a word quoted for a shell. @param {string} word */
function quoted(word) {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/** @param {string} words @param {string} told */
export async function copy(words, told) {
  try {
    await navigator.clipboard.writeText(words);
    toast(told);
  } catch {
    toast(words);
  }
}

/** Returns a button that copies a command. @param {string} name @param {string} command */
export function commandRow(name, command) {
  return h("div.command", {}, h("span.small.soft", {}, name), h("code", { tabindex: "0", "aria-label": `${name}: ${command}` }, command), h("button.btn.quiet", { type: "button", "aria-label": `Copy the command: ${name}`, onclick: () => copy(command, "The command is copied") }, icon("copy")));
}
