/** Every word of the page, in English and Chinese. What Kubernetes and the operator say stays as they say it. */

import { english } from "./words_en.js";
import { chinese } from "./words_zh.js";
import { language } from "./prefs.js";

/** @typedef {keyof typeof english} Word */

/**
 * @param {Word} word
 * @param {Record<string, string | number>} [values] what stands in place of {name}
 */
export function t(word, values = {}) {
  const said = (language() === "zh" ? chinese : english)[word];
  return said.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * A word that may be none of ours, such as a phase of a later release.
 * @param {string} group
 * @param {string} name
 */
export function named(group, name) {
  const word = `${group}.${name}`;
  return word in english ? t(/** @type {Word} */ (word)) : name;
}
