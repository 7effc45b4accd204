// The Explore page: open a game, solve it, walk its public tree.
// @ts-check

import { h, show } from "../dom.js";
import { addressOf, readGame, readPlace } from "../explore/address.js";
import { NodeView } from "../explore/node.js";
import { EndgameSetup } from "../explore/setup.js";
import { SolverPanel } from "../explore/solver.js";
import { startView } from "../explore/start.js";
import { toast } from "../ui/toast.js";

const SETUP = "holdem";

/** @type {import("../main.js").Page} */
export default function explore(context) {
  const page = new ExplorePage(context);
  return Object.assign(page.leave, { stay: (/** @type {string[]} */ path, /** @type {URLSearchParams} */ query) => page.stay(path, query) });
}

class ExplorePage {
  /** @param {import("../main.js").PageContext} context */
  constructor({ root, path, query, connection, catalog }) {
    this.root = root;
    this.connection = connection;
    this.catalog = catalog;
    this.place = readPlace(path, query);
    this.edits = query.get("edit") ?? "";
    this.running = false;
    this.over = false;
    this.solving = false;
    this.started = false;
    show(root, h("p.soft", { role: "status" }, "Opening…"));
    const stop = connection.listen("explore", (frame) => this.hear(frame));
    const onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    addEventListener("keydown", onKey);
    this.leave = () => {
      stop();
      clearTimeout(this.patience);
      removeEventListener("keydown", onKey);
      if (this.running) connection.send("explore", "now");
      this.running = false;
    };
    connection.send("explore", "offers");
  }

  /** @param {any} offers */
  begin(offers) {
    this.offers = offers;
    if (this.place.game === SETUP) {
      this.setup = new EndgameSetup(this.connection, offers, { ...this.place, game: this.edits });
      show(this.root, this.setup.element);
    } else if (!this.place.game && !this.place.file) show(this.root, startView(this.catalog, offers));
    else this.drawSolve();
  }

  drawSolve() {
    const offer = this.catalog.games.find((/** @type {any} */ one) => one.game === this.place.game);
    this.title = h("h1", {}, offer?.title ?? (this.place.file || readGame(this.place.game).name));
    this.about = h("p.soft.small.gamename");
    this.node = new NodeView((line) => this.walk(line));
    this.waiting = h("section.panel.node.waiting", {}, h("p.soft", {}, "The strategy appears here as soon as there is one."), h("div.progress.unknown", { "aria-hidden": "true" }, h("div")));
    this.main = h("div.exploremain", {}, this.waiting);
    this.solver = new SolverPanel(this.offers, this.place, { toggle: () => this.toggle(), again: (solver, stop) => this.again(solver, stop) });
    this.links = h("div.headlinks", {}, offer ? h("a.btn.quiet", { href: `#/play/${encodeURIComponent(offer.game)}` }, "Play it") : null, h("a.btn.quiet", { href: "#/explore" }, "Other games"));
    show(this.root, h("div.explore", {}, h("div.pagehead", {}, h("div", {}, this.title, this.about), this.links), this.main, h("aside.aside", { "aria-label": "Solver" }, this.solver.element)));
    this.open();
  }

  open() {
    this.over = this.running = this.solving = false;
    this.solver?.clear();
    const { game, file, solver, stop } = this.place;
    this.openId = this.connection.send("explore", "open", file ? { file } : { game, solver, stop });
  }

  /** @param {any} frame */
  hear(frame) {
    this.setup?.hear(frame);
    if (frame.type === "offers" && !this.started) { this.started = true; this.begin(frame); return; }
    if (frame.type === "welcome" && this.started && this.solver) { this.open(); return; }
    if (!this.solver) {
      if (frame.type === "error" && !this.setup) toast(frame.message, "bad");
      return;
    }
    switch (frame.type) {
      case "opened": this.opened(frame); break;
      case "queued": if (!this.solver.points.length) this.solver.say("Waiting for other visitors…"); break;
      case "compiling": this.solver.say(`Compiling the game: ${frame.histories.toLocaleString("en")} histories`); break;
      case "point": if (!this.solver.points.length && !this.file) this.solver.say("Solving"); this.solver.add(frame); break;
      case "solved": this.over = true; this.running = false; this.solver.solved(frame); this.solver.setState("done"); this.view(); break;
      case "slice": this.solving = false; if (!frame.over) { if (this.running) this.goOn(); else this.view(); } break;
      case "node": this.shown(frame); break;
      case "error": this.failed(frame); break;
      case "lost": this.running = false; this.solver.say("The solver's process ended. Perhaps it ran out of memory.", true); this.solver.setState("broken"); break;
      default:
    }
  }

  /** @param {any} frame */
  opened(frame) {
    this.file = frame.file;
    this.holdem = frame.holdem;
    const shown = /** @type {HTMLElement} */ (this.about);
    shown.textContent = this.holdem ? stakes(frame) : frame.game;
    shown.title = frame.game;
    if (this.holdem && readGame(frame.game).name === "no_limit_holdem") {
      if (this.title) this.title.textContent = this.file ?? "Hold'em endgame";
      const query = new URLSearchParams({ edit: this.file ? frame.game : this.place.game, ...(this.place.solver ? { solver: this.place.solver } : {}), ...(this.place.stop ? { stop: this.place.stop } : {}) });
      show(/** @type {HTMLElement} */ (this.links), h("a.btn", { href: `#/explore/${SETUP}?${query}` }, "Edit ranges and bets"), h("a.btn.quiet", { href: "#/explore" }, "Other games"));
    }
    this.solver?.opened(frame);
    if (frame.file) return;
    this.toggle();
    clearTimeout(this.patience);
    this.patience = setTimeout(() => { if (this.running && !this.solver?.points.length) this.solver?.say("Preparing the solver. The first time takes a minute or two: it is compiled for this machine."); }, 4000);
  }

  /** Starts, pauses or continues the solve. */
  toggle() {
    if (this.over) return;
    this.running = !this.running;
    this.solver?.setState(this.running ? "running" : "paused");
    if (!this.running) this.connection.send("explore", "now");
    else if (!this.solving) this.goOn();
  }

  goOn() {
    this.solving = true;
    this.connection.send("explore", "solve", { line: this.place.line });
  }

  view() {
    if (this.solver?.points.length || this.over) this.viewId = this.connection.send("explore", "view", { line: this.place.line });
  }

  /** @param {any} frame */
  shown(frame) {
    if (this.waiting) { show(/** @type {HTMLElement} */ (this.main), this.node?.element); this.waiting = null; }
    this.node?.show(frame, this.holdem?.board ?? "");
  }

  /** @param {any} frame */
  failed(frame) {
    if (frame.id === this.viewId && this.place.line) {
      toast(frame.message, "bad");
      this.walk("");
      return;
    }
    this.running = this.solving = false;
    this.solver?.say(frame.message, true);
    this.solver?.setState("broken");
    if (this.waiting) show(this.waiting, h("p.bad", { role: "alert" }, frame.message), h("a.btn", { href: "#/explore" }, "Other games"));
  }

  /** @param {string} line */
  walk(line) {
    if (line !== this.place.line) history.pushState(null, "", addressOf({ ...this.place, line }));
    this.place = { ...this.place, line };
    this.view();
  }

  /** Shows another line of the same solve. Returns false if the address names a different solve. @param {string[]} path @param {URLSearchParams} query */
  stay(path, query) {
    const place = readPlace(path, query);
    if (!this.solver || ["game", "file", "solver", "stop"].some((key) => /** @type {any} */ (place)[key] !== /** @type {any} */ (this.place)[key])) return false;
    this.place = place;
    this.view();
    return true;
  }

  /** @param {string} solver @param {string} stop */
  again(solver, stop) {
    const next = addressOf({ ...this.place, solver, stop });
    if (location.hash === next) this.open();
    else location.hash = next;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (/** @type {HTMLElement} */ (event.target).matches("input, select, textarea")) return;
    if (this.node?.key(event)) event.preventDefault();
  }
}

/** @param {any} frame */
function stakes(frame) {
  const { pot, stack } = frame.holdem;
  return `${readGame(frame.game).name}${pot ? `, pot ${pot.toLocaleString("en")}, ${(stack - pot / 2).toLocaleString("en")} behind` : ""}`;
}
