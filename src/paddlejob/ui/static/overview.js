/** How a job is: facts, time line, what failed, pods and events. */

import { h, redraw } from "./dom.js";
import { age, clock, fully } from "./format.js";
import { readable } from "./ansi.js";
import { ProgressCard } from "./progress.js";
import { drawTimeline } from "./timeline.js";
import { named, t } from "./words.js";

/** @typedef {import("./types.js").Details} Details */
/** @typedef {import("./types.js").Pod} Pod */

export class Overview {
  constructor() {
    this.facts = h("dl", { class: "facts" });
    this.failure = h("section", { class: "card failure", hidden: true });
    this.timeline = h("section", { class: "card" });
    this.pods = h("section", { class: "card" });
    this.events = h("section", { class: "card" });
    this.progress = new ProgressCard();
    this.element = h("div", { class: "overview" },
      this.failure, this.progress.element, this.timeline, this.pods, this.events, this.facts);
  }

  /** @param {Details} job */
  take(job) {
    this.takeFacts(job);
    this.takeFailure(job);
    this.progress.take(job);
    // While it runs, its end moves on.
    const moving = job.row.over ? 0 : Math.floor(Date.now() / 1000);
    redraw(this.timeline, [job.moments, job.pods, moving, job.row.phase], () => drawTimeline(job));
    redraw(this.pods, [job.pods, job.podsInAll, job.refused, job.pods.map(lasted)], () => drawPods(job));
    redraw(this.events, [job.events, job.refused, job.events.map((one) => age(one[0]))], () => drawEvents(job));
  }

  /** @param {Details} job */
  takeFacts(job) {
    const { row } = job;
    /** @type {[string, string, string?][]} */
    const facts = [
      [t("fact.created"), row.created && clock(row.created), row.created && fully(row.created)],
      [t("fact.ended"), row.ended && clock(row.ended), row.ended && fully(row.ended)],
      [t("fact.duration"), row.ended && age(row.created, row.ended)],
      [t("fact.mode"), row.mode],
      [t("fact.network"), job.network],
      [t("fact.attempt"), job.attempt ? String(job.attempt + 1) : ""],
      [t("fact.restarts"), job.backoffLimit || row.restarts
        ? t("fact.restarts.of", { restarts: row.restarts, limit: job.backoffLimit }) : ""],
      [t("fact.disruptions"), row.disruptions ? String(row.disruptions) : ""],
      ...job.about.map(([word, value]) => /** @type {[string, string]} */ (
        [named("about", word), value === "this machine" ? t("place.machine") : value])),
    ];
    redraw(this.facts, facts, () =>
      facts.filter(([, value]) => value).map(([word, value, whole]) =>
        h("div", {}, h("dt", {}, word), h("dd", { title: whole }, value))));
  }

  /** @param {Details} job */
  takeFailure(job) {
    const { failure } = job;
    this.failure.hidden = !failure;
    redraw(this.failure, failure, () => {
      if (!failure) return [];
      const { pod, exitCode, reason, message } = failure;
      const said = exitCode === undefined ? pod : t("failure.code", { pod, code: exitCode });
      return [
        h("h2", {}, t("failure")),
        h("p", {}, h("strong", {}, said), reason ? `, ${reason}` : ""),
        message ? h("pre", { tabindex: "0" }, message.split("\n").map(readable).join("\n")) : null,
      ];
    });
  }

  close() {}
}

/** @param {Pod} pod */
const lasted = (pod) => (pod.since ? age(pod.since, pod.until || Date.now()) : "");

/** @param {Details} job */
function drawPods(job) {
  const { pods, podsInAll } = job;
  if (!pods.length) return [h("h2", {}, t("pods")), h("p", { class: "quiet" }, job.refused.pods ?? t("pods.none"))];
  const some = pods.length < podsInAll ? t("pods.some", { n: pods.length, all: podsInAll }) : "";
  const heads = /** @type {const} */ (["name", "state", "node", "address", "restarts", "code", "age"]);
  const base = location.hash.split("/").slice(0, 5).join("/");
  return [
    h("h2", {}, t("pods"), " ", h("span", { class: "n" }, podsInAll)),
    some ? h("p", { class: "quiet" }, some) : null,
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("pods") }, h("table", { class: "plain pods" },
      h("thead", {}, h("tr", {}, heads.map((one) => h("th", { scope: "col", class: one }, t(`pod.${one}`))))),
      h("tbody", {}, pods.map((pod) => h("tr", {},
        h("td", { class: "name" }, h("a", {
          href: `${base}/logs/${pod.role}/${pod.index}`, "aria-label": t("pod.logs", { pod: pod.name }),
        }, pod.name)),
        h("td", {}, h("span", { class: `dot ${podTone(pod)}` }, pod.word)),
        h("td", {}, pod.node || "–"),
        h("td", {}, pod.address || "–"),
        h("td", { class: "number" }, pod.restarts || "–"),
        h("td", { class: "number" }, pod.exitCode ?? "–"),
        h("td", { title: pod.since && fully(pod.since) }, lasted(pod) || "–"),
      ))))),
  ];
}

/** @param {Pod} pod */
export function podTone(pod) {
  if (pod.state === "failed" || (pod.exitCode && pod.state !== "running")) return "bad";
  return pod.state === "running" ? "busy" : pod.state === "succeeded" ? "good" : "wait";
}

/** @param {Details} job */
function drawEvents(job) {
  const head = h("h2", {}, t("events"), " ", h("span", { class: "n" }, job.events.length));
  const none = job.refused.events ?? t("events.none");
  if (!job.events.length) return [h("h2", {}, t("events")), h("p", { class: "quiet" }, none)];
  return [head, h("ol", { class: "events", reversed: true }, [...job.events].reverse().map(([at, type, reason, message]) =>
    h("li", { class: type === "Warning" ? "warning" : "" },
      h("time", { datetime: at, title: fully(at) }, age(at)),
      h("strong", {}, reason),
      h("span", { class: "unseen" }, named("event", type)),
      h("span", { class: "text" }, readable(message)))))];
}
