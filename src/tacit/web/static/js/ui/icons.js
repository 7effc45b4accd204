// Small line drawings for buttons.
// @ts-check

import { s } from "../dom.js";

const PATHS = {
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  next: "M5 12h14M13 6l6 6-6 6",
  back: "M19 12H5M11 6l-6 6 6 6",
  mind: "M9 18h6M10 21h4M12 3a6 6 0 0 0-4 10.500c.8.8 1 1.500 1 2.500h6c0-1 .2-1.700 1-2.500A6 6 0 0 0 12 3z",
  history: "M12 8v4l3 2M3.500 12a8.500 8.500 0 1 0 2.500-6L3.500 8.500M3.500 4v4.500H8",
  sound: "M4 10v4h3l5 4V6L7 10zM16 9a4 4 0 0 1 0 6M18.500 6.500a8 8 0 0 1 0 11",
  mute: "M4 10v4h3l5 4V6L7 10zM17 9.500l4 5M21 9.500l-4 5",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  play: "M8 5l11 7-11 7z",
};

/**
 * Returns an icon.
 * @param {keyof typeof PATHS} name
 */
export function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, s("path", { d: PATHS[name] }));
}
