/** The columns of the list: what each shows, how it sorts, and when it is worth its room. */

import { h, say } from "./dom.js";
import { age, left } from "./format.js";
import { named, t } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./words.js").Word} Word */
/**
 * @typedef {object} Column
 * @property {string} name
 * @property {(row: Row) => string | number} by what it sorts by
 * @property {(cell: HTMLElement, row: Row) => void} show
 * @property {(rows: Row[]) => boolean} [needed] otherwise always
 */

/** In the order in which they need attention. */
const urgency = ["Failed", "Lost", "Unreadable", "Restarting", "Pending", "Starting", "Scaling", "Terminating"];
const later = [...urgency, "Running", "Suspended", "Stopped", "Completed"];

/** @param {string} phase */
export function tone(phase) {
  if (["Failed", "Lost", "Unreadable"].includes(phase)) return "bad";
  if (phase === "Completed") return "good";
  if (phase === "Running" || phase === "Scaling") return "busy";
  return ["Suspended", "Stopped", "Terminating"].includes(phase) ? "idle" : "wait";
}

/** @param {string} phase */
export function badge(phase) {
  return h("span", { class: `badge ${tone(phase)}` }, named("phase", phase));
}

/** @param {Row} row */
export function address(row) {
  return `#/job/${[row.place, row.namespace, row.name].map(encodeURIComponent).join("/")}`;
}

/** @param {(row: Row) => string} of */
const plainly = (of) => (/** @type {HTMLElement} */ cell, /** @type {Row} */ row) => {
  say(cell, of(row));
  cell.title = of(row);
};

/** @type {Column[]} */
export const columns = [
  {
    name: "name",
    by: (row) => row.name,
    show(cell, row) {
      if (cell.firstElementChild) return;
      cell.append(h("a", { href: address(row), class: "job", title: row.name }, row.name));
    },
  },
  {
    name: "phase",
    by: (row) => later.indexOf(row.phase),
    show(cell, row) {
      if (cell.dataset.phase === row.phase) return;
      cell.dataset.phase = row.phase;
      cell.replaceChildren(badge(row.phase));
    },
  },
  { name: "mode", by: (row) => row.mode, show: plainly((row) => row.mode) },
  { name: "ps", by: (row) => row.ps, show: plainly((row) => row.ps), needed: (rows) => rows.some((row) => row.ps) },
  { name: "worker", by: (row) => row.worker, show: plainly((row) => row.worker) },
  {
    name: "progress",
    by: (row) => Number.parseFloat(row.progress.replace(/^\D+/, "")) || 0,
    show(cell, row) {
      const time = row.over ? "" : left(row.eta);
      say(cell, row.progress && time ? `${row.progress} · ${time}` : row.progress);
      cell.title = row.progress && time ? t("progress.left", { time }) : row.progress;
    },
    needed: (rows) => rows.some((row) => row.progress),
  },
  {
    name: "restarts",
    by: (row) => row.restarts + row.disruptions,
    show(cell, row) {
      const { restarts, disruptions } = row;
      say(cell, restarts + disruptions ? `${restarts}${disruptions ? ` + ${disruptions}` : ""}` : "–");
      cell.toggleAttribute("data-none", !(restarts + disruptions));
      cell.title = t("disruptions", { restarts, disruptions });
    },
    needed: (rows) => rows.some((row) => row.restarts + row.disruptions),
  },
  { name: "reason", by: (row) => row.reason || "~", show: plainly((row) => row.reason) },
  {
    name: "namespace",
    by: (row) => row.namespace,
    show: plainly((row) => row.namespace),
    needed: (rows) => new Set(rows.map((row) => row.namespace)).size > 1,
  },
  {
    name: "place",
    by: (row) => row.place,
    show: plainly((row) => named("place", row.place)),
    needed: (rows) => new Set(rows.map((row) => row.place)).size > 1,
  },
  {
    name: "age",
    by: (row) => -Date.parse(row.created || "1970-01-01"),
    show(cell, row) {
      say(cell, age(row.created));
    },
  },
];

/** @type {Record<string, (row: Row) => boolean>} */
export const filters = {
  all: () => true,
  waiting: (row) => tone(row.phase) === "wait",
  running: (row) => tone(row.phase) === "busy",
  failed: (row) => tone(row.phase) === "bad",
  completed: (row) => row.phase === "Completed",
  suspended: (row) => tone(row.phase) === "idle",
};

/**
 * @typedef {object} Choice
 * @property {string} filter
 * @property {string} text
 * @property {string} namespace
 * @property {string} place
 * @property {string} sort
 * @property {boolean} down
 */

/**
 * @param {Row[]} rows
 * @param {Choice} choice
 */
export function chosen(rows, choice) {
  const words = choice.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => {
    if (!filters[choice.filter]?.(row)) return false;
    if (choice.namespace && row.namespace !== choice.namespace) return false;
    if (choice.place && row.place !== choice.place) return false;
    const all = `${row.name} ${row.namespace} ${row.reason} ${row.phase} ${row.mode} ${named("phase", row.phase)}`;
    return words.every((word) => all.toLowerCase().includes(word));
  });
  const by = columns.find((one) => one.name === choice.sort)?.by ?? ((row) => row.name);
  const sign = choice.down ? -1 : 1;
  return found.sort((a, b) => sign * compare(by(a), by(b)) || compare(a.name, b.name) || compare(a.uid, b.uid));
}

/**
 * @param {string | number} a
 * @param {string | number} b
 */
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return a < b ? -1 : a > b ? 1 : 0;
}
