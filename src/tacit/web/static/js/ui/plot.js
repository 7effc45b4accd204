// Plots of curves as SVG, with linear or logarithmic axes and a cross-hair for pointers and arrow keys.
// @ts-check

import { h, s, show } from "../dom.js";

/** @typedef {{log?: boolean, label: string, format?: (value: number) => string}} Axis */
/** @typedef {{name: string, colour: string, points: [number, number][]}} Series */
/** @typedef {{value: number, label: string}} Mark A horizontal line to compare with. */
/** @typedef {{series: Series[], marks?: Mark[], x: Axis, y: Axis, label: string, empty?: string}} PlotData */

export const CURVE_COLOURS = ["var(--curve-1)", "var(--curve-2)", "var(--curve-3)", "var(--curve-4)", "var(--curve-5)", "var(--curve-6)", "var(--curve-7)", "var(--curve-8)"];
const EDGE = { left: 52, right: 14, top: 10, bottom: 34 };

/**
 * Returns a short text of a number: 0.0012, 1.5k, 3e-7.
 * @param {number} value
 */
export function short(value) {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size < 1e-4) return value.toExponential(Number(value.toPrecision(2)) === Number(value.toPrecision(1)) ? 0 : 1).replace("e-", "e−");
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

/**
 * Returns positions of ticks between two values.
 * @param {number} low @param {number} high @param {boolean} log @param {number} most
 */
export function ticks(low, high, log, most) {
  const found = [];
  if (log) {
    const decades = Math.log10(high / low);
    const factors = decades > 2.2 ? [1] : decades > 0.9 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
    const stride = Math.max(1, Math.ceil(decades / most));
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      if (factors.length === 1 && power % stride) continue;
      for (const factor of factors) found.push(Number((factor * 10 ** power).toPrecision(3)));
    }
  } else {
    const raw = (high - low) / most || 1;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * ([1, 2, 5, 10].find((one) => one * unit >= raw) ?? 10);
    for (let place = Math.ceil(low / step) * step; place <= high + step / 1e6; place += step) found.push(Number(place.toPrecision(10)));
  }
  return found.filter((place) => place >= low * (low > 0 ? 0.9999 : 1.0001) && place <= high * 1.0001);
}

export class Plot {
  /** @param {{height?: number}} [options] */
  constructor({ height = 220 } = {}) {
    this.height = height;
    this.width = 0;
    /** @type {PlotData | null} */
    this.data = null;
    /** @type {number | null} */
    this.at = null;
    this.tip = h("div.plottip", { "aria-live": "polite" });
    this.frame = h("div.plotframe", { tabindex: "0", role: "group", "aria-label": "Curves. Nothing to draw yet" });
    this.element = h("div.plot", {}, this.frame, this.tip);
    this.frame.addEventListener("pointermove", (event) => this.point(event.clientX - this.frame.getBoundingClientRect().left));
    this.frame.addEventListener("pointerdown", (event) => this.point(event.clientX - this.frame.getBoundingClientRect().left));
    this.frame.addEventListener("pointerleave", () => this.unpoint());
    this.frame.addEventListener("blur", () => this.unpoint());
    this.frame.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => { if (this.frame.clientWidth !== this.width) this.redraw(); }).observe(this.frame);
  }

  /** @param {PlotData} data */
  draw(data) {
    this.data = data;
    this.frame.setAttribute("aria-label", `${data.label}. ${describe(data, data.series.map((one) => ({ ...one, points: this.visible(one) })))}`);
    this.redraw();
  }

  /** Returns the values that can be drawn. @param {Series} one */
  visible(one) {
    const { x, y } = /** @type {PlotData} */ (this.data);
    return one.points.filter(([across, up]) => Number.isFinite(across) && Number.isFinite(up) && (!x.log || across > 0) && (!y.log || up > 0));
  }

  redraw() {
    const { data, height } = this;
    const width = this.width = this.frame.clientWidth;
    if (!data || !width) return;
    const curves = data.series.map((one) => ({ ...one, points: this.visible(one) }));
    const all = curves.flatMap((one) => one.points);
    if (!all.length) {
      show(this.frame, h("p.soft.small.plotempty", { style: { height: `${height}px` } }, data.empty ?? "Nothing to draw yet."));
      return;
    }
    const marks = (data.marks ?? []).filter((mark) => !data.y.log || mark.value > 0);
    const [first, right] = span(all.map((point) => point[0]), data.x.log ?? false, 0);
    const left = !data.x.log && first > 0 ? 0 : first;
    const [low, high] = span([...all.map((point) => point[1]), ...marks.map((mark) => mark.value)], data.y.log ?? false, 0.06);
    const across = (/** @type {number} */ value) => EDGE.left + scale(value, left, right, data.x.log ?? false) * (width - EDGE.left - EDGE.right);
    const up = (/** @type {number} */ value) => height - EDGE.bottom - scale(value, low, high, data.y.log ?? false) * (height - EDGE.top - EDGE.bottom);
    this.places = { curves, across, up, xs: [...new Set(all.map((point) => point[0]))].sort((a, b) => a - b) };
    this.guide = s("g", { class: "guide" });
    show(this.frame, s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
      ticks(low, high, data.y.log ?? false, 5).map((place) => s("g", {}, s("line", { class: "gridline", x1: EDGE.left, x2: width - EDGE.right, y1: up(place), y2: up(place) }),
        s("text", { class: "tick", x: EDGE.left - 7, y: up(place) + 4, "text-anchor": "end" }, (data.y.format ?? short)(place)))),
      ticks(left, right, data.x.log ?? false, Math.max(3, Math.floor(width / 110))).map((place) => s("text", { class: "tick", x: across(place), y: height - EDGE.bottom + 16, "text-anchor": "middle" }, (data.x.format ?? short)(place))),
      s("text", { class: "axis", x: width - EDGE.right, y: height - 3, "text-anchor": "end" }, data.x.label),
      s("line", { class: "axisline", x1: EDGE.left, x2: width - EDGE.right, y1: height - EDGE.bottom, y2: height - EDGE.bottom }),
      marks.map((mark) => s("g", { class: "mark" }, s("line", { x1: EDGE.left, x2: width - EDGE.right, y1: up(mark.value), y2: up(mark.value) }),
        s("text", { x: width - EDGE.right - 2, y: up(mark.value) - 5, "text-anchor": "end" }, mark.label))),
      curves.map((one) => s("g", { class: "curve" }, s("path", { d: one.points.map((point, place) => `${place ? "L" : "M"}${across(point[0]).toFixed(1)} ${up(point[1]).toFixed(1)}`).join(""), stroke: one.colour }),
        one.points.length <= 60 ? one.points.map((point) => s("circle", { cx: across(point[0]), cy: up(point[1]), r: one.points.length > 30 ? 1.8 : 2.4, fill: one.colour })) : null)),
      this.guide));
    if (this.at !== null) this.showAt(this.at);
  }

  /** @param {number} left In pixels. */
  point(left) {
    const { places } = this;
    if (!places?.xs.length) return;
    let best = 0;
    places.xs.forEach((value, number) => { if (Math.abs(places.across(value) - left) < Math.abs(places.across(places.xs[best]) - left)) best = number; });
    this.showAt(best);
  }

  unpoint() {
    this.at = null;
    if (this.guide) show(this.guide);
    this.tip.classList.remove("on");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const last = (this.places?.xs.length ?? 0) - 1;
    const to = { ArrowLeft: (this.at ?? last + 1) - 1, ArrowRight: (this.at ?? -1) + 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.showAt(Math.max(0, Math.min(last, to)));
  }

  /** @param {number} number The index of a place on the x axis. */
  showAt(number) {
    const { places, data, guide } = this;
    if (!places || !data || !guide) return;
    this.at = Math.min(number, places.xs.length - 1);
    const value = places.xs[this.at];
    const near = places.curves.map((one) => ({ one, point: closest(one.points, value, (where) => places.across(where)) })).filter(({ point }) => point);
    show(guide, s("line", { x1: places.across(value), x2: places.across(value), y1: EDGE.top, y2: this.height - EDGE.bottom }),
      near.map(({ one, point }) => s("circle", { cx: places.across(/** @type {any} */ (point)[0]), cy: places.up(/** @type {any} */ (point)[1]), r: 4.5, fill: one.colour })));
    show(this.tip, h("span.soft", {}, `${data.x.label} ${(data.x.format ?? short)(value)}`),
      near.map(({ one, point }) => h("span", {}, h("i", { style: { background: one.colour } }), data.series.length > 1 ? `${one.name} ` : "", h("b.num", {}, (data.y.format ?? short)(/** @type {any} */ (point)[1])))));
    this.tip.classList.add("on");
    const left = places.across(value);
    this.tip.style.setProperty("left", `${Math.max(4, Math.min(this.width - this.tip.offsetWidth - 4, left > this.width / 2 ? left - this.tip.offsetWidth - 12 : left + 12))}px`);
  }
}

/** Returns the point nearest to a place, or null if all are far away. @param {[number, number][]} points @param {number} value @param {(where: number) => number} across */
function closest(points, value, across) {
  let best = null;
  let least = 30;
  for (const point of points) {
    const off = Math.abs(across(point[0]) - across(value));
    if (off < least) [best, least] = [point, off];
  }
  return best;
}

/** @param {number[]} values @param {boolean} log @param {number} margin */
function span(values, log, margin) {
  let low = values.reduce((a, b) => Math.min(a, b));
  let high = values.reduce((a, b) => Math.max(a, b));
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  if (!margin) return [low, high];
  if (log) { const room = (high / low) ** margin; return [low / room, high * room]; }
  return [low >= 0 && low < (high - low) / 2 ? 0 : low - margin * (high - low), high + margin * (high - low)];
}

/** @param {number} value @param {number} low @param {number} high @param {boolean} log */
function scale(value, low, high, log) {
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** Returns a description of a plot in words. @param {PlotData} data @param {Series[]} curves */
function describe(data, curves) {
  return curves.filter((one) => one.points.length).map((one) => {
    const [first, last] = [one.points[0], one.points[one.points.length - 1]];
    return `${one.name}: from ${(data.y.format ?? short)(first[1])} to ${(data.y.format ?? short)(last[1])} at ${data.x.label} ${(data.x.format ?? short)(last[0])}`;
  }).join("; ") || "No points yet";
}
