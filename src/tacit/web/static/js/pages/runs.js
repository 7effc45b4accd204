// The Runs page: live training curves of the runs in a folder, with several to compare.
// @ts-check

import { h, show } from "../dom.js";
import { commandRow } from "../explore/solver.js";
import { RunReader } from "../runs/reader.js";
import { CURVE_COLOURS, Plot, short } from "../ui/plot.js";

const FIRST_SHOWN = 1;
const HIDDEN = ["epoch", "playthroughs"];
const ACROSS = { seconds: "seconds", epoch: "epoch", steps: "steps", examples: "examples", games: "games" };

/** @type {import("../main.js").Page} */
export default function runs(context) {
  const page = new RunsPage(context);
  return page.leave;
}

class RunsPage {
  /** @param {import("../main.js").PageContext} context */
  constructor({ root, query }) {
    this.metric = query.get("metric") ?? "exploitability";
    this.across = query.get("by") ?? "seconds";
    this.chosen = query.getAll("run");
    this.listKey = this.cardsKey = ""; // what the list and the cards show now
    this.list = h("section.panel.runlist", { "aria-label": "Runs" });
    this.plot = new Plot({ height: 340 });
    this.metricSelect = /** @type {HTMLSelectElement} */ (h("select", { onchange: () => { this.metric = this.metricSelect.value; this.changed(); } }));
    this.acrossSelect = /** @type {HTMLSelectElement} */ (h("select", { onchange: () => { this.across = this.acrossSelect.value; this.changed(); } }));
    this.legend = h("div.runlegend");
    this.cards = h("div.runcards");
    this.head = h("p.soft.small");
    this.body = h("div.runs", {}, this.list, h("div.runmain", {}, h("section.panel", { "aria-label": "Training curves" },
      h("div.plothead", {}, h("label.field", {}, h("span", {}, "Curve"), this.metricSelect), h("label.field", {}, h("span", {}, "Against"), this.acrossSelect)), this.plot.element, this.legend), this.cards));
    show(root, h("div", {}, h("div.pagehead", {}, h("div", {}, h("h1", {}, "Runs"), this.head)), this.body));
    this.reader = new RunReader((state) => this.hear(state));
    this.reader.follow(this.chosen);
    this.leave = () => this.reader.stop();
  }

  /** @param {import("../runs/reader.js").RunsState} state */
  hear(state) {
    this.state = state;
    if (!state.runs.length) {
      show(this.body, h("section.panel.runsempty", {}, h("h2", {}, "No runs yet"), h("p.soft", {}, "Train something, and its curve grows here while it runs:"),
        commandRow("Train", `tacit train rebel 'liars_dice(dice=1,faces=4)' --run ${state.folder}/dice`), h("p.soft.small", {}, `This page watches the folder ${state.folder}. `, h("code", {}, "tacit serve --runs FOLDER"), " watches another.")));
      return;
    }
    if (!this.body.contains(this.list)) { location.reload(); return; }
    this.head.textContent = `${state.runs.length} in ${state.folder}`;
    if (!this.chosen.length) {
      this.chosen = state.runs.slice(0, FIRST_SHOWN).map((run) => run.name);
      this.reader.follow(this.chosen);
    }
    this.draw();
  }

  /** @param {string} name @param {boolean} on */
  choose(name, on) {
    this.chosen = on ? [...this.chosen, name] : this.chosen.filter((one) => one !== name);
    this.reader.follow(this.chosen);
    this.changed();
  }

  /** Puts the current choices into the address and draws them. */
  changed() {
    const query = new URLSearchParams({ metric: this.metric, by: this.across });
    for (const name of this.chosen) query.append("run", name);
    history.replaceState(null, "", `#/runs?${query}`);
    this.draw();
  }

  /** @param {string} name */
  colour(name) {
    return CURVE_COLOURS[Math.max(0, this.chosen.indexOf(name)) % CURVE_COLOURS.length];
  }

  draw() {
    if (!this.state) return;
    const { runs, epochs } = this.state;
    const shown = runs.filter((run) => this.chosen.includes(run.name)).sort((a, b) => this.chosen.indexOf(a.name) - this.chosen.indexOf(b.name));
    this.drawList(runs);
    const columns = [...new Set(shown.flatMap((run) => numbersOf(epochs.get(run.name) ?? [])))];
    const metrics = columns.filter((name) => !HIDDEN.includes(name) && !(name in ACROSS));
    if (!metrics.includes(this.metric) && metrics.length) this.metric = metrics.includes("exploitability") ? "exploitability" : metrics[0];
    options(this.metricSelect, metrics, this.metric);
    options(this.acrossSelect, Object.keys(ACROSS).filter((name) => columns.includes(name)), this.across);
    this.drawPlot(shown);
    this.drawCards(shown);
  }

  /** @param {any[]} runs */
  drawList(runs) {
    const key = JSON.stringify([this.chosen, runs.map((run) => [run.name, run.epoch, run.live, run.exploitability])]);
    if (key === this.listKey) return;
    this.listKey = key;
    const focused = document.activeElement?.getAttribute("data-run");
    show(this.list, runs.map((run) => h("label.run", { style: { "--run-colour": this.chosen.includes(run.name) ? this.colour(run.name) : "var(--accent)" } },
      h("input", { type: "checkbox", checked: this.chosen.includes(run.name), "data-run": run.name, onchange: (/** @type {any} */ event) => this.choose(run.name, event.target.checked) }),
      h("span.name", {}, run.name, run.live ? h("span.livebadge", {}, "live") : null),
      h("span.facts", {}, `${run.system} · ${run.game}`, h("br"), `epoch ${run.epoch}${run.epochs ? ` of ${run.epochs}` : ""}${run.exploitability === null ? "" : ` · exploitability ${short(run.exploitability)}`}`))));
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-run="${CSS.escape(focused)}"]`))?.focus();
  }

  /** @param {any[]} shown */
  drawPlot(shown) {
    const series = shown.map((run) => ({ name: run.name, colour: this.colour(run.name), points: /** @type {[number, number][]} */ ((this.state?.epochs.get(run.name) ?? []).filter((one) => typeof one[this.metric] === "number" && typeof one[this.across] === "number").map((one) => [one[this.across], one[this.metric]])) }));
    const values = series.flatMap((one) => one.points.map((point) => point[1]));
    const log = values.length > 0 && values.every((value) => value > 0) && (this.metric.includes("exploitability") || Math.max(...values) / Math.min(...values) > 30);
    const marks = this.metric === "exploitability" ? distinct(shown.map((run) => run.published).filter(Boolean)).map((one) => ({ value: one.exploitability, label: `${one.source}: ${one.exploitability}` })) : [];
    this.plot.draw({ series, marks, x: { label: this.across }, y: { label: this.metric, log }, label: `${this.metric} by ${this.across}`, empty: shown.length ? `No ${this.metric} yet.` : "Choose a run." });
    show(this.legend, series.map((one) => h("span", {}, h("i", { style: { background: one.colour } }), one.name)));
  }

  /** @param {any[]} shown */
  drawCards(shown) {
    const key = JSON.stringify(shown.map((run) => [run, this.colour(run.name)]));
    if (key === this.cardsKey || this.cards.contains(document.activeElement)) return;
    this.cardsKey = key;
    show(this.cards, shown.map((run) => h("section.panel.runcard", { "aria-label": run.name, style: { "--run-colour": this.colour(run.name) } },
      h("div.head", {}, h("div", {}, h("h2", {}, run.name), h("p.soft.small", {}, `${run.system} on ${run.game}`)),
        run.playable ? h("a.btn.primary", { href: `#/play/${encodeURIComponent(run.game)}?${new URLSearchParams({ opponent: run.path })}`, "aria-label": `Play against ${run.name}` }, "Play") : null),
      h("dl.figures", {}, fact("Exploitability", run.exploitability === null ? "–" : short(run.exploitability), run.kind ?? ""), run.published ? fact("Published", short(run.published.exploitability), run.published.source) : null,
        fact("Epoch", `${run.epoch}${run.epochs ? ` / ${run.epochs}` : ""}`, ""), run.seconds ? fact("Trained", duration(run.seconds), "") : null),
      Object.entries(run.commands).map(([name, command]) => commandRow(name, /** @type {string} */ (command))),
      h("details", {}, h("summary.small.soft", {}, "Settings"), h("div.settingslist", {}, Object.entries(run.settings).map(([name, value]) => h("span", {}, `${name} `, h("b", {}, String(value)))))))));
  }
}

/** @param {Record<string, any>[]} epochs */
function numbersOf(epochs) {
  return [...new Set(epochs.flatMap((one) => Object.entries(one).filter(([, value]) => typeof value === "number").map(([name]) => name)))];
}

/** @param {HTMLSelectElement} select @param {string[]} names @param {string} chosen */
function options(select, names, chosen) {
  if (select.dataset.names !== names.join()) {
    select.dataset.names = names.join();
    show(select, names.map((name) => h("option", { value: name }, name.replace(/_/g, " "))));
  }
  select.value = chosen;
}

/** @param {any[]} figures */
function distinct(figures) {
  return figures.filter((one, place) => figures.findIndex((other) => other.exploitability === one.exploitability && other.source === one.source) === place);
}

/** @param {string} name @param {string} value @param {string} note */
function fact(name, value, note) {
  return h("div", {}, h("dt.small.soft", {}, name), h("dd", {}, h("b.num", {}, value), note ? h("span.small.soft", {}, note) : null));
}

/** @param {number} seconds */
function duration(seconds) {
  return seconds < 120 ? `${seconds.toFixed(0)} s` : seconds < 7200 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
