/** What the page has to tell beside its content: lasting trouble above it, and a word after something was done. */

import { h, say } from "./dom.js";
import { t } from "./words.js";

const bar = /** @type {HTMLElement} */ (document.getElementById("notices"));
const toast = /** @type {HTMLElement} */ (document.getElementById("toast"));
/** @type {Map<string, HTMLElement>} */
const shown = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Stays until it is empty.
 * @param {string} about
 * @param {string | false} text
 */
export function notice(about, text) {
  const known = shown.get(about);
  if (!text) {
    known?.remove();
    shown.delete(about);
  } else if (known) {
    say(known, text);
  } else {
    const made = h("p", { class: "notice", role: "alert" }, text);
    shown.set(about, made);
    bar.append(made);
  }
}

/**
 * @param {string} text
 * @param {boolean} [bad]
 */
export function tell(text, bad = false) {
  clearTimeout(timer);
  toast.replaceChildren(
    h("p", { class: bad ? "bad" : "" }, text),
    h("button", { "aria-label": t("close"), onclick: () => toast.replaceChildren() }, "×"),
  );
  if (!bad) timer = setTimeout(() => toast.replaceChildren(), 6000);
}
