// Reads the folder of runs regularly: the list, and the new epochs of the runs that are shown.
// @ts-check

/** @typedef {{folder: string, runs: any[], epochs: Map<string, Record<string, any>[]>}} RunsState */

const PAUSE = 2000; // milliseconds between two reads

export class RunReader {
  /** @param {(state: RunsState) => void} tell Called after every read that found something new. */
  constructor(tell) {
    this.tell = tell;
    /** @type {Map<string, {next: number, epochs: Record<string, any>[]}>} */
    this.read = new Map();
    /** @type {string[]} */
    this.names = [];
    this.last = "";
    this.stopped = false;
    this.look();
  }

  /** Reads the metrics of these runs from now on. @param {string[]} names */
  follow(names) {
    this.names = [...names];
    this.last = "";
    clearTimeout(this.timer);
    this.look();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  async look() {
    if (this.looking) { this.again = true; return; }
    this.looking = true;
    try {
      if (!document.hidden) await this.lookOnce();
    } catch {
      // The server cannot be reached; the next read may succeed.
    }
    this.looking = false;
    if (this.stopped) return;
    this.timer = setTimeout(() => this.look(), this.again ? 0 : PAUSE);
    this.again = false;
  }

  async lookOnce() {
    const list = await (await fetch("/api/runs")).json();
    await Promise.all(this.names.map((name) => this.readRun(name)));
    const epochs = new Map([...this.read].map(([name, one]) => [name, one.epochs]));
    const seen = JSON.stringify([list, [...this.read].map(([name, one]) => [name, one.next])]);
    if (seen === this.last || this.stopped) return;
    this.last = seen;
    this.tell({ ...list, epochs });
  }

  /** @param {string} name */
  async readRun(name) {
    const known = this.read.get(name) ?? { next: 0, epochs: [] };
    const answer = await (await fetch(`/api/runs/metrics?${new URLSearchParams({ run: name, after: String(known.next) })}`)).json();
    this.read.set(name, { next: answer.next, epochs: answer.anew ? answer.epochs : [...known.epochs, ...answer.epochs] });
  }
}
