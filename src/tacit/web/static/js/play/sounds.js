// Quiet clicks, made by the browser itself; off until the reader turns them on.
// @ts-check

export class Sounds {
  constructor() {
    this.on = false;
    /** @type {AudioContext | null} */
    this.context = null;
  }

  /** @param {any} frame */
  frame(frame) {
    if (!this.on) return;
    if (frame.turn === "over") this.tone(frame.over.payoff > 0 ? 660 : frame.over.payoff < 0 ? 220 : 440, 0.22);
    else this.tone(frame.turn === "you" ? 520 : 330, 0.06);
  }

  /** @param {number} pitch @param {number} seconds */
  tone(pitch, seconds) {
    this.context ??= new AudioContext();
    const { context } = this;
    const source = context.createOscillator();
    const volume = context.createGain();
    source.frequency.value = pitch;
    source.type = "triangle";
    volume.gain.setValueAtTime(0.08, context.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.0005, context.currentTime + seconds);
    source.connect(volume).connect(context.destination);
    source.start();
    source.stop(context.currentTime + seconds);
  }
}
