// Making elements: h("div.panel", {onclick}, children...) for HTML and s("circle", {...}) for SVG.
// @ts-check

/** @typedef {Node | string | number | null | undefined | false | Children} Child */
/** @typedef {{length: number, [place: number]: Child}} Children A list; it has its own name because an alias may not contain itself. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Returns an HTML element.
 * @param {string} what The tag, with classes after dots: "div.panel.wide".
 * @param {Record<string, any>} [attributes] Functions become listeners; null and false are left out.
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(what, attributes = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return /** @type {HTMLElement} */ (fill(element, attributes, children));
}

/**
 * Returns an SVG element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  return /** @type {SVGElement} */ (fill(element, attributes, children));
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.replace(/^on/, ""), value);
    else if (key === "style") for (const [name, part] of Object.entries(value)) /** @type {any} */ (element).style.setProperty(name, String(part));
    else if (key === "class") element.setAttribute("class", [element.getAttribute("class"), value].filter(Boolean).join(" "));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * Adds children to an element.
 * @param {Element} element
 * @param {Child[]} children
 */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces all children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
}
