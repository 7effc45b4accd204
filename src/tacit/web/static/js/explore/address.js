// Addresses of the explorer: #/explore/GAME?solver=...&stop=...&line=..., or ?file=... for a saved solve.
// @ts-check

/** @typedef {{game: string, file: string, solver: string, stop: string, line: string}} Place */

/**
 * Returns the place that an address names.
 * @param {string[]} path @param {URLSearchParams} query
 * @returns {Place}
 */
export function readPlace(path, query) {
  const get = (/** @type {string} */ name) => query.get(name) ?? "";
  return { game: path.join("/"), file: get("file"), solver: get("solver"), stop: get("stop"), line: get("line") };
}

/**
 * Returns the address of a place.
 * @param {Place} place
 */
export function addressOf(place) {
  const query = new URLSearchParams();
  for (const name of /** @type {const} */ (["file", "solver", "stop", "line"])) if (place[name]) query.set(name, place[name]);
  return `#/explore/${encodeURIComponent(place.file ? "" : place.game)}${query.size ? `?${query}` : ""}`;
}

/**
 * Returns the name and the parameters of a game: "leduc_poker(ranks=3)".
 * @param {string} text
 * @returns {{name: string, parameters: Record<string, string>}}
 */
export function readGame(text) {
  const match = /^\s*([\w.:/]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  /** @type {Record<string, string>} */
  const parameters = {};
  for (const part of match?.[2]?.split(",") ?? []) {
    const [key, ...value] = part.split("=");
    if (value.length) parameters[key.trim()] = value.join("=").trim();
  }
  return { name: match?.[1] ?? text, parameters };
}

/** @param {string} name @param {Record<string, string | number>} parameters */
export function writeGame(name, parameters) {
  const parts = Object.entries(parameters).filter(([, value]) => value !== "").map(([key, value]) => `${key}=${value}`);
  return parts.length ? `${name}(${parts.join(",")})` : name;
}

/** @param {string} line @param {string} step */
export function longer(line, step) {
  return line ? `${line} / ${step}` : step;
}
