// The app's shell: navigation, routes and the theme. A route is #/PAGE/rest; every page is a module in js/pages.
// @ts-check

import { h, show } from "./dom.js";
import { Connection } from "./socket.js";
import { icon } from "./ui/icons.js";

/**
 * The arguments of a page. It draws into `root` and returns a function that is called when the reader leaves it.
 * @typedef {object} PageContext
 * @property {HTMLElement} root
 * @property {string[]} path The parts of the address after the page's name, decoded.
 * @property {URLSearchParams} query
 * @property {Connection} connection
 * @property {any} catalog The answer of /api/catalog.
 */
/**
 * Called when the reader leaves a page; `stay` shows another address of the same page in place and returns whether it could.
 * @typedef {(() => void) & {stay?: (path: string[], query: URLSearchParams) => boolean}} Leave
 */
/** @typedef {(context: PageContext) => Leave | void} Page */

const PAGES = [
  { name: "play", title: "Play", load: () => import("./pages/play.js") },
  { name: "explore", title: "Explore", load: () => import("./pages/explore.js") },
  { name: "runs", title: "Runs", load: () => import("./pages/runs.js") },
];

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
const connection = new Connection();
const catalog = fetch("/api/catalog").then((answer) => answer.json());
/** @type {Leave | void} */
let leave;
let shown = "";
let visits = 0;

/** Draws the page that the address names. */
async function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  const page = PAGES.find((one) => one.name === name) ?? PAGES[0];
  const visit = ++visits;
  for (const link of document.querySelectorAll(".pages a")) {
    if (link.getAttribute("href") === `#/${page.name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${page.title} · tacit`;
  const [module, offers] = await Promise.all([page.load(), catalog]);
  if (visit !== visits) return;
  if (shown === page.name && leave?.stay?.(rest, new URLSearchParams(query ?? ""))) return;
  shown = page.name;
  leave?.();
  show(root);
  leave = module.default({ root, path: rest, query: new URLSearchParams(query ?? ""), connection, catalog: offers });
}

/** @param {string} theme */
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function drawShell() {
  show(/** @type {Element} */ (document.querySelector(".pages")), PAGES.map((page) => h("a", { href: `#/${page.name}` }, page.title)));
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = localStorage.getItem("tacit.theme");
  setTheme(chosen ?? (system.matches ? "dark" : "light"));
  system.addEventListener("change", () => localStorage.getItem("tacit.theme") ?? setTheme(system.matches ? "dark" : "light"));
  const theme = h("button.btn.quiet.icon", { type: "button", "aria-label": "Light or dark", title: "Light or dark", onclick: () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem("tacit.theme", next);
    setTheme(next);
  } }, icon("theme"));
  show(/** @type {Element} */ (document.querySelector(".tools")), theme);
}

drawShell();
addEventListener("hashchange", route);
route();
