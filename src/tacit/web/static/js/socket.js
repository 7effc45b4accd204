// The connection to the server: one websocket per tab, reopened when it breaks. docs/web.md describes the messages.
// @ts-check

/** @typedef {{type: string, desk?: string, [key: string]: any}} Frame */
/** @typedef {(frame: Frame) => void} Listener */

/** Returns the name that this browser's scores are kept under. */
function playerName() {
  let name = localStorage.getItem("tacit.player");
  if (!name) {
    name = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    localStorage.setItem("tacit.player", name);
  }
  return name;
}

export class Connection {
  constructor() {
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Set<{desk: string, listener: Listener}>} */
    this.listeners = new Set();
    /** @type {Record<string, any>[]} */
    this.waiting = [];
    this.ready = false;
    this.pause = 500;
    this.number = 0;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ do: "hello", player: playerName() }));
    socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.ready) this.tell({ type: "closed" });
      this.ready = false;
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(this.pause * 2, 8000);
    };
  }

  /** @param {Frame} frame */
  hear(frame) {
    if (frame.type === "welcome") {
      this.ready = true;
      this.pause = 500;
      for (const message of this.waiting.splice(0)) this.socket?.send(JSON.stringify(message));
    }
    this.tell(frame);
  }

  /** @param {Frame} frame */
  tell(frame) {
    for (const { desk, listener } of [...this.listeners]) if (!frame.desk || frame.desk === desk) listener(frame);
  }

  /**
   * Sends a message as soon as there is a connection. Returns its id, which an error frame repeats.
   * @param {string} desk
   * @param {string} what
   * @param {Record<string, any>} [fields]
   */
  send(desk, what, fields = {}) {
    this.number += 1;
    const message = { id: this.number, desk, do: what, ...fields };
    if (this.ready && this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else this.waiting.push(message);
    return this.number;
  }

  /**
   * Calls a listener with every frame of a desk, and with those of no desk. Returns a function that removes the listener.
   * @param {string} desk
   * @param {Listener} listener
   */
  listen(desk, listener) {
    const entry = { desk, listener };
    this.listeners.add(entry);
    return () => this.listeners.delete(entry);
  }
}
