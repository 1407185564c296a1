/** A line that a pod printed: its colours become classes, whatever else is no text is dropped, the rest is text. */

import { h } from "./dom.js";

const colour = /\x1b\[([0-9;:]*)m/y;
// As src/paddlejob/terminal.py has it: other control sequences, strings for a terminal itself, control characters.
const other =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^]*?(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]?|[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/y;
const special = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/g;

/** @typedef {{text: string, look: string}} Piece */

/**
 * Text and classes; together the text is all that there is to read.
 * @param {string} line
 * @returns {Piece[]}
 */
export function pieces(line) {
  /** @type {Piece[]} */
  const found = [];
  /** @type {Map<string, string>} */
  const look = new Map();
  let at = 0;
  const add = (/** @type {string} */ text) => text && found.push({ text, look: [...look.values()].join(" ") });
  while (at < line.length) {
    special.lastIndex = at;
    const next = special.exec(line);
    if (!next) break;
    add(line.slice(at, next.index));
    colour.lastIndex = other.lastIndex = next.index;
    const painted = colour.exec(line);
    if (painted) {
      paint(look, painted[1] ?? "");
      at = colour.lastIndex;
    } else {
      other.exec(line);
      at = Math.max(other.lastIndex, next.index + 1);
    }
  }
  add(line.slice(at));
  return found;
}

/** @param {string} line */
export function readable(line) {
  return line.search(special) < 0 ? line : pieces(line).map((one) => one.text).join("");
}

/**
 * @param {Map<string, string>} look
 * @param {string} codes
 */
function paint(look, codes) {
  const numbers = (codes || "0").split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at++) {
    const n = numbers[at] ?? 0;
    if (n === 0) look.clear();
    else if (n === 1) look.set("weight", "b");
    else if (n === 2) look.set("weight", "dim");
    else if (n === 3) look.set("slant", "i");
    else if (n === 4) look.set("line", "u");
    else if (n === 22) look.delete("weight");
    else if (n === 23) look.delete("slant");
    else if (n === 24) look.delete("line");
    else if (n === 39) look.delete("fg");
    else if (n === 49) look.delete("bg");
    else if (n >= 30 && n <= 37) look.set("fg", `f${n - 30}`);
    else if (n >= 90 && n <= 97) look.set("fg", `f${n - 90} bright`);
    else if (n >= 40 && n <= 47) look.set("bg", `k${n - 40}`);
    else if (n >= 100 && n <= 107) look.set("bg", `k${n - 100}`);
    else if (n === 38 || n === 48) at += palette(look, n === 38 ? "fg" : "bg", numbers.slice(at + 1));
  }
}

/**
 * Of 256 colours the first 16 have names; others are left to the text's own, which can be read on every ground.
 * @param {Map<string, string>} look
 * @param {"fg" | "bg"} which
 * @param {number[]} rest
 * @returns {number} how many numbers belonged to it
 */
function palette(look, which, rest) {
  const [kind, n = 0] = rest;
  if (kind === 5 && n < 16) look.set(which, `${which === "fg" ? "f" : "k"}${n % 8}`);
  return kind === 5 ? 2 : kind === 2 ? 4 : 1;
}

/**
 * @param {string} line
 * @param {RegExp | null} sought what to mark
 */
export function drawLine(line, sought) {
  const made = document.createDocumentFragment();
  for (const { text, look } of pieces(line)) {
    const into = look ? h("span", { class: look }) : made;
    mark(into, text, sought);
    if (into !== made) made.append(into);
  }
  return made;
}

/**
 * @param {Node} into
 * @param {string} text
 * @param {RegExp | null} sought
 */
function mark(into, text, sought) {
  let at = 0;
  if (sought) {
    sought.lastIndex = 0; // it was left where the last line that was looked through has its match
    for (const found of text.matchAll(sought)) {
      if (!found[0]) break;
      into.appendChild(document.createTextNode(text.slice(at, found.index)));
      into.appendChild(h("mark", {}, found[0]));
      at = found.index + found[0].length;
    }
  }
  into.appendChild(document.createTextNode(text.slice(at)));
}
