/** The frame: head, the page that the address names, and the keyboard. */

import { ask, Refusal } from "./api.js";
import { h, replace } from "./dom.js";
import { JobPage } from "./job.js";
import { List } from "./list.js";
import { notice } from "./notices.js";
import { applyTheme, language, setLanguage, setTheme, theme } from "./prefs.js";
import { SubmitPage } from "./submit.js";
import { t } from "./words.js";

/** @typedef {import("./types.js").About} About */

const top = /** @type {HTMLElement} */ (document.getElementById("top"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {List | JobPage | SubmitPage | null} */
let page = null;
/** @type {About} */
let about = { readOnly: true, places: [] };

function drawTop() {
  document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
  const other = language() === "zh" ? "en" : "zh";
  const speak = h("button", { class: "icon text", lang: other === "zh" ? "zh-CN" : "en", id: "language", onclick: () => {
    setLanguage(other);
    draw();
    document.getElementById("language")?.focus();
  } }, other === "zh" ? "中文" : "English");
  const next = /** @type {const} */ ({ auto: "light", light: "dark", dark: "auto" })[theme()];
  const paint = h("button", { class: "icon", id: "theme", "aria-label": `${t("theme")}: ${t(`theme.${theme()}`)}`,
    title: `${t("theme")}: ${t(`theme.${theme()}`)}`, onclick: () => {
      setTheme(next);
      drawTop();
      document.getElementById("theme")?.focus();
    } }, { auto: "◐", light: "☀", dark: "☾" }[theme()]);
  const help = h("button", { class: "icon", "aria-label": t("help"), title: t("help"), onclick: showHelp }, "?");
  const make = about.readOnly ? null : h("a", { class: "button primary", href: "#/new" }, t("new"));
  replace(top, h("a", { class: "brand", href: "#/" }, t("app")), h("span", { class: "space" }), make, help, paint, speak);
  const skip = document.getElementById("skip");
  if (skip) skip.textContent = t("skip");
}

function showHelp() {
  const keys = /** @type {const} */ ([
    ["/", "key.search"], ["j k ↓ ↑", "key.move"], ["↵", "key.open"], ["Esc", "key.back"], ["1 2 3", "key.tabs"],
    ["n", "key.new"], ["t", "key.theme"], ["?", "key.help"],
  ]);
  const shown = keys.filter(([key]) => key !== "n" || !about.readOnly);
  const dialog = h("dialog", { "aria-labelledby": "keys", onclose: () => dialog.remove() },
    h("form", { method: "dialog" }, h("h2", { id: "keys" }, t("help")),
      h("dl", { class: "keys" }, shown.map(([key, word]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, t(word))))),
      h("div", { class: "actions" }, h("button", { class: "button" }, t("close")))));
  document.body.append(dialog);
  dialog.showModal();
}

/** The page that the address names. */
function draw() {
  drawTop();
  const [, kind, ...rest] = location.hash.split("/");
  const [place = "", namespace = "", name = "", tab = ""] = rest.map(decoded);
  const at = { place, namespace, name };
  if (kind === "job" && page instanceof JobPage && sameJob(page, at) && page.spoken === language()) {
    page.show(tab);
    return;
  }
  page?.close();
  notice("lost", "");
  if (kind === "job" && name) page = new JobPage(at, tab, about.readOnly);
  else if (kind === "new" && !about.readOnly) page = new SubmitPage(about);
  else page = new List();
  document.title = page instanceof JobPage ? `${name} · ${t("app")}` : t("app");
  replace(main, page.element);
  if (visited) /** @type {HTMLElement | null} */ (main.querySelector("h1"))?.focus({ preventScroll: true });
  visited = true;
}
let visited = false;

/**
 * Of an address that somebody wrote by hand, what can be read.
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {JobPage} shown
 * @param {import("./types.js").At} at
 */
function sameJob(shown, at) {
  return shown.at.place === at.place && shown.at.namespace === at.namespace && shown.at.name === at.name;
}

/** @param {KeyboardEvent} event */
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const on = /** @type {HTMLElement} */ (event.target);
  const writing = on.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape") {
    if (writing) on.blur();
    else if (!(page instanceof List)) location.hash = "#/";
    return;
  }
  if (writing && !(on.id === "search" && event.key === "ArrowDown" && page instanceof List)) return;
  const done = press(event.key);
  if (done) event.preventDefault();
}

/** @param {string} pressed */
function press(pressed) {
  if (page instanceof List && ["j", "ArrowDown", "k", "ArrowUp"].includes(pressed)) {
    page.move(pressed === "j" || pressed === "ArrowDown" ? 1 : -1);
    return true;
  }
  if (page instanceof JobPage && ["1", "2", "3"].includes(pressed)) {
    page.go(/** @type {const} */ (["overview", "logs", "yaml"])[Number(pressed) - 1] ?? "overview");
    return true;
  }
  if (pressed === "/") document.getElementById("search")?.focus();
  else if (pressed === "?") showHelp();
  else if (pressed === "t") document.getElementById("theme")?.click();
  else if (pressed === "n" && !about.readOnly) location.hash = "#/new";
  else return false;
  return true;
}

applyTheme();
document.getElementById("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
try {
  about = await ask("api/about");
  draw();
  addEventListener("hashchange", draw);
  addEventListener("keydown", key);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  notice("lost", error.message);
}
