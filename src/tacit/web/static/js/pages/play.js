// The Play page: a table ready to play, the score, and what the opponent believes.
// @ts-check

import { h, show } from "../dom.js";
import { TableView } from "../play/table.js";
import { openChooser } from "../play/chooser.js";
import { MindPanel } from "../play/mind.js";
import { ScoreBox } from "../play/score.js";
import { Sounds } from "../play/sounds.js";
import { icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

const CALM = 420; // the least time in milliseconds between two frames, so that moves can be followed

/** @type {import("../main.js").Page} */
export default function play(context) {
  return new PlayPage(context).leave;
}

class PlayPage {
  /** @param {import("../main.js").PageContext} context */
  constructor({ root, path, query, connection, catalog }) {
    this.connection = connection;
    this.catalog = catalog;
    this.wanted = {
      game: path[0] || localStorage.getItem("tacit.game") || catalog.default,
      opponent: query.get("opponent") ?? "default",
      seat: query.get("seat") ?? "random",
      training: localStorage.getItem("tacit.training") === "yes",
    };
    /** @type {any[]} */
    this.frames = [];
    this.timer = 0;
    this.lastShown = 0;
    this.sounds = new Sounds();
    this.title = h("span.title", {}, "…");
    this.against = h("span.against.soft", {});
    this.score = new ScoreBox();
    this.mind = new MindPanel({
      onTraining: (on) => this.setTraining(on),
      onStep: (step, past) => this.table.replay(step, past),
      onHistory: () => connection.send("play", "hands"),
      onPast: (hand) => connection.send("play", "replay", { hand }),
      training: this.wanted.training,
    });
    this.table = new TableView({
      act: (action) => this.send("act", { action }),
      say: (words) => this.send("act", { say: words }),
      next: () => this.send("next"),
      back: () => this.mind.leavePast(),
      now: () => connection.send("play", "now"),
    });
    const choose = h("button.btn.choosegame", { type: "button", onclick: () => this.choose() }, this.title, h("span.soft.small", {}, "change"));
    this.soundButton = h("button.btn.quiet.icon", { type: "button", "aria-pressed": "false", "aria-label": "Sound", title: "Sound", onclick: () => this.toggleSound() }, icon("mute"));
    show(root, h("div.play", {},
      h("div.playbar", {}, h("h1.visually-hidden", {}, "Play"), choose, this.against, h("span.grow"), this.soundButton),
      this.table.element,
      h("aside.aside", { "aria-label": "Score and the opponent's mind" }, this.score.element, this.mind.element)));
    const stop = connection.listen("play", (frame) => this.hear(frame));
    const onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    addEventListener("keydown", onKey);
    this.leave = () => {
      stop();
      clearTimeout(this.timer);
      removeEventListener("keydown", onKey);
    };
    this.open();
  }

  open() {
    this.frames = [];
    this.table.wait("Setting the table…");
    this.mind.clear();
    this.score.clear();
    this.connection.send("play", "open", this.wanted);
  }

  choose() {
    openChooser(this.catalog, { ...this.wanted, opponents: this.opponents ?? [] }, (wanted) => {
      this.wanted = { ...this.wanted, ...wanted };
      localStorage.setItem("tacit.game", wanted.game);
      const rest = new URLSearchParams();
      if (wanted.opponent !== "default") rest.set("opponent", wanted.opponent);
      if (wanted.seat !== "random") rest.set("seat", wanted.seat);
      history.replaceState(null, "", `#/play/${encodeURIComponent(wanted.game)}${rest.size ? `?${rest}` : ""}`);
      this.open();
    });
  }

  /** @param {string} what @param {Record<string, any>} [fields] */
  send(what, fields) {
    this.table.freeze();
    this.connection.send("play", what, fields);
  }

  /** @param {boolean} on */
  setTraining(on) {
    this.wanted.training = on;
    localStorage.setItem("tacit.training", on ? "yes" : "no");
    this.connection.send("play", "train", { on });
  }

  toggleSound() {
    this.sounds.on = !this.sounds.on;
    this.soundButton.setAttribute("aria-pressed", String(this.sounds.on));
    show(this.soundButton, icon(this.sounds.on ? "sound" : "mute"));
  }

  /** @param {any} frame */
  hear(frame) {
    if (["table", "replay", "judged", "mind", "score"].includes(frame.type)) {
      this.frames.push(frame);
      this.drain();
    } else this.take(frame);
  }

  /** Shows the waiting frames, each for a moment. */
  drain() {
    clearTimeout(this.timer);
    while (this.frames.length) {
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : CALM;
      const rest = this.frames[0].type === "table" ? this.lastShown + calm - performance.now() : 0;
      if (rest > 0) {
        this.timer = setTimeout(() => this.drain(), rest);
        return;
      }
      const frame = this.frames.shift();
      this.take(frame);
      if (frame.type === "table") this.lastShown = performance.now();
    }
  }

  /** @param {any} frame */
  take(frame) {
    switch (frame.type) {
      case "opening": this.table.wait(frame.text, frame.done); break;
      case "opened": this.opened(frame); break;
      case "table":
        this.table.show(frame);
        this.mind.table(frame);
        this.sounds.frame(frame);
        break;
      case "thinking": this.table.thinking(frame); break;
      case "queued": this.table.thinking({ ...frame, text: `${frame.ahead} ahead in the queue` }); break;
      case "mind": this.mind.show(frame.mind); break;
      case "training": this.mind.setTraining(frame.on); break;
      case "replay": this.mind.replay(frame); break;
      case "judging": this.mind.judging(frame.text); break;
      case "judged": this.mind.judged(frame); this.score.luck(frame.luck); break;
      case "score": this.score.show(frame); this.mind.kept(); break;
      case "hands": this.mind.hands(frame.hands, this.catalog); break;
      case "past": this.mind.past(frame); break;
      case "error": toast(frame.message, "bad"); this.table.thaw(); break;
      case "lost": toast(frame.message, "bad"); this.open(); break;
      case "closed": this.table.wait("Connecting…"); break;
      case "welcome": if (this.welcomed) this.open(); this.welcomed = true; break;
      default:
    }
  }

  /** @param {any} frame */
  opened(frame) {
    const offer = this.catalog.games.find((/** @type {any} */ one) => one.game === frame.asked);
    this.opponents = frame.opponents;
    this.title.textContent = offer?.title ?? frame.game;
    const known = frame.opponents.find((/** @type {any} */ one) => one.name === this.wanted.opponent);
    this.against.textContent = `against ${known?.title ?? frame.opponent}`;
    this.against.title = frame.opponent;
    this.score.luck(frame.luck);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    if (this.table.key(event)) event.preventDefault();
  }
}
