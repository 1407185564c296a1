/** The life of a job, drawn: a track of its stages with the moments that matter, and below it one bar per pod. */

import { h } from "./dom.js";
import { clock, ended, fully, span } from "./format.js";
import { readable } from "./ansi.js";
import { podTone } from "./overview.js";
import { named, t } from "./words.js";

/** @typedef {import("./types.js").Details} Details */
/** @typedef {import("./types.js").Moment} Moment */

const mostLanes = 12;
/** What a job does after each moment. @type {Record<string, string>} */
const stages = {
  created: "waiting", pods: "waiting", placed: "starting", started: "running", restarted: "waiting",
  suspended: "suspended",
};
/** Moments that are told but change no stage. */
const finals = ["completed", "failed"];

/** @param {Details} job */
export function drawTimeline(job) {
  const head = h("h2", {}, t("timeline"));
  const moments = job.moments.filter((one) => Date.parse(one.at) > 0);
  const first = moments[0];
  if (!first) return [head];
  const from = Date.parse(first.at);
  const last = Math.max(...moments.map((one) => Date.parse(one.at)));
  const to = Math.max(from + 1000, job.row.over ? Math.max(last, ended(job.row.ended || "") || last) : Date.now());
  const until = job.row.over && !job.row.ended ? Math.max(last, from + 1000) : to;
  const scale = (/** @type {number} */ at) => `${(100 * Math.max(0, Math.min(1, (at - from) / (until - from)))).toFixed(3)}%`;
  const track = h("div", { class: "track" }, segments(job, moments, until).map((one) => segment(one, scale)),
    moments.filter((one) => one.what !== "created" && one.what !== "pods").map((one) => h("span", {
      class: `pin ${one.what}`, css: { left: scale(Date.parse(one.at)) }, title: `${clock(one.at)} ${words(one)}`,
    })));
  const lanes = job.pods.slice(0, mostLanes).map((pod) => lane(pod, scale, from));
  const more = job.pods.length > mostLanes ? job.pods.length - mostLanes : 0;
  return [
    head,
    h("div", { class: "lanes", "aria-hidden": "true" },
      h("span", { class: "lane-name" }, t("timeline.job")), track, lanes.flat(),
      h("span", {}), axis(from, until)),
    more ? h("p", { class: "quiet" }, t("timeline.more", { n: more })) : null,
    h("ol", { class: "moments" }, moments.map((one) => h("li", { class: one.what },
      h("time", { datetime: one.at, title: fully(one.at) }, clock(one.at)),
      h("span", { class: "after" }, `+${span(Math.max(0, Math.round((Date.parse(one.at) - from) / 1000)))}`),
      h("span", { class: "what" }, words(one))))),
  ];
}

/** @param {Moment} one */
function words(one) {
  if (one.what === "placed") return one.text === "1" ? t("moment.placed.one") : t("moment.placed", { n: one.text });
  const said = named("moment", one.what);
  if (one.what === "pods" || one.what === "started" || !one.text) return said;
  const reason = one.what === "stalled" && !one.text.includes(one.reason) ? `${one.reason}: ` : "";
  return `${said}: ${reason}${readable(one.text)}`;
}

/** @typedef {{stage: string, from: number, to: number}} Segment */

/**
 * @param {Details} job
 * @param {Moment[]} moments
 * @param {number} until
 * @returns {Segment[]}
 */
function segments(job, moments, until) {
  /** @type {Segment[]} */
  const found = [];
  for (const one of moments) {
    const at = Date.parse(one.at);
    const open = found.at(-1);
    const stage = stages[one.what];
    if (!stage && !finals.includes(one.what)) continue;
    if (open && open.to === until) open.to = at;
    // Placed pods of a job that runs already, such as a replaced one, do not make it start again.
    if (stage && !(stage === "starting" && open?.stage === "running")) found.push({ stage, from: at, to: until });
    else if (stage && open) open.to = until;
  }
  const end = job.row.over ? job.row.ended && Date.parse(job.row.ended) : 0;
  return found.map((one) => ({ ...one, to: end && one.to > end ? Math.max(end, one.from) : one.to }));
}

/**
 * @param {Segment} one
 * @param {(at: number) => string} scale
 */
function segment({ stage, from, to }, scale) {
  const label = `${named("stage", stage)} ${span(Math.round((to - from) / 1000))}`;
  const width = `calc(${scale(to)} - ${scale(from)})`;
  return h("span", { class: `segment ${stage}`, css: { left: scale(from), width }, title: label });
}

/**
 * @param {import("./types.js").Pod} pod
 * @param {(at: number) => string} scale
 * @param {number} from
 */
function lane(pod, scale, from) {
  const since = Math.max(from, Date.parse(pod.since) || from);
  const until = pod.until ? Date.parse(pod.until) : Date.now();
  const width = `calc(${scale(until)} - ${scale(since)})`;
  return [
    h("span", { class: "lane-name", title: pod.name }, `${pod.role} ${pod.index}`),
    h("div", { class: "lane" }, h("span", {
      class: `bar ${podTone(pod)}`, css: { left: scale(since), width }, title: `${pod.name}: ${pod.word}`,
    })),
  ];
}

/**
 * @param {number} from
 * @param {number} until
 */
function axis(from, until) {
  const ticks = until - from < 8000 ? [0, 1] : [0, 0.25, 0.5, 0.75, 1];
  return h("div", { class: "axis" }, ticks.map((part) =>
    h("span", {}, `+${span(Math.round((part * (until - from)) / 1000))}`)));
}
