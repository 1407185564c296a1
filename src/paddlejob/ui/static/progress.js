/** How far a job is: a bar, what its output says, and how loss and speed went. */

import { ask, pathOf } from "./api.js";
import { h, redraw } from "./dom.js";
import { left } from "./format.js";
import { t } from "./words.js";

/** @typedef {import("./types.js").Details} Details */
/** @typedef {import("./types.js").Point} Point */

const width = 600;
const height = 120;
/** Milliseconds between two readings of the log. */
const pause = 10_000;

export class ProgressCard {
  constructor() {
    this.element = h("section", { class: "card progress", hidden: true });
    this.now = h("div", {});
    this.curves = h("div", { class: "curves" });
    this.element.append(h("h2", {}, t("progress")), this.now, this.curves);
    /** @type {string | null} of which reading the curves are */
    this.read = null;
    this.asked = 0;
  }

  /** @param {Details} job */
  take(job) {
    const { progress, row } = job;
    this.element.hidden = !progress;
    if (!progress) return;
    const time = row.over ? "" : left(row.eta);
    const facts = [
      progress.step === null ? "" : progress.total === null ? t("progress.step", { step: progress.step })
        : t("progress.steps", { step: progress.step, total: progress.total }),
      progress.epoch === null ? "" : t("progress.epoch", { epoch: progress.epoch }),
      progress.loss === null ? "" : t("progress.loss", { loss: short(progress.loss) }),
      ...Object.entries(progress.metrics).map(([name, value]) => `${name} ${short(value)}`),
      progress.pace,
      time ? t("progress.left", { time }) : "",
    ].filter(Boolean);
    redraw(this.now, [progress.percent, row.progress, facts], () => [
      progress.percent === null ? null
        : h("progress", { max: "100", value: progress.percent, "aria-label": t("progress") }),
      h("p", {}, progress.percent === null ? null : h("strong", {}, row.progress, " · "), facts.join(" · ")),
    ]);
    if (this.read !== progress.at && Date.now() >= this.asked + pause) this.look(job, progress.at);
  }

  /**
   * @param {Details} job
   * @param {string} at
   */
  async look(job, at) {
    this.asked = Date.now();
    this.read = at;
    try {
      const points = /** @type {Point[]} */ (await ask(pathOf("api/curve", job.row)));
      redraw(this.curves, points, () => [
        curve(t("curve.loss"), points.map((one) => [one.step, one.loss])),
        curve(t("curve.speed"), points.map((one) => [one.step, one.speed]), 0),
      ]);
    } catch {
      this.read = null; // the server cannot be reached, which the page says elsewhere
    }
  }
}

/** @param {number} value */
const short = (value) => String(Number(value.toPrecision(4)));

/**
 * @param {string} title
 * @param {[number, number | null][]} all
 * @param {number} [ground] where the scale begins; otherwise at the least value
 */
function curve(title, all, ground) {
  const points = /** @type {[number, number][]} */ (all.filter(([, value]) => value !== null));
  if (points.length < 2) return null;
  const values = points.map(([, value]) => value);
  const steps = points.map(([step]) => step);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [from, to] = [Math.min(...steps), Math.max(...steps)];
  const x = (/** @type {number} */ step) => (width * (step - from)) / (to - from || 1);
  const foot = Math.min(low, ground ?? low);
  const y = (/** @type {number} */ value) => height - (height * (value - foot)) / (high - foot || 1);
  const path = points.map(([step, value], at) => `${at ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const last = short(values.at(-1) ?? 0);
  const said = t("curve.said", { title, from, to, low: short(low), high: short(high), last });
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": said });
  drawn.append(svg("path", { d: path, "vector-effect": "non-scaling-stroke" }));
  return h("figure", {}, h("figcaption", {}, `${title} ${last}`), drawn,
    h("div", { class: "quiet scale", "aria-hidden": "true" },
      h("span", {}, from), h("span", {}, `${short(low)} – ${short(high)}`), h("span", {}, to)));
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
