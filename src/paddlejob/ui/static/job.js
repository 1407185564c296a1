/** One job: its head with what can be done, and three views of it. */

import { actions } from "./actions.js";
import { pathOf, stream } from "./api.js";
import { badge } from "./columns.js";
import { h, redraw, replace } from "./dom.js";
import { age } from "./format.js";
import { LogView } from "./logs.js";
import { notice } from "./notices.js";
import { Overview } from "./overview.js";
import { language } from "./prefs.js";
import { named, t } from "./words.js";
import { YamlView } from "./yaml.js";

/** @typedef {import("./types.js").At} At */
/** @typedef {import("./types.js").Details} Details */
/** @typedef {{element: HTMLElement, take: (job: Details) => void, close: () => void}} View */

const tabs = /** @type {const} */ (["overview", "logs", "yaml"]);
/** @typedef {typeof tabs[number]} Tab */

export class JobPage {
  title = h("h1", { tabindex: "-1" });
  state = h("span", { class: "state" });
  meta = h("p", { class: "meta" });
  buttons = h("div", { class: "actions" });
  why = h("div", { class: "why" });
  tabs = h("div", { class: "tabs", role: "tablist", "aria-label": t("tabs"), onkeydown: (
    /** @type {KeyboardEvent} */ event) => this.arrow(event) });
  panel = h("div", { class: "panel", role: "tabpanel", id: "panel", tabindex: "0" });
  head = h("header", { class: "head" }, h("a", { href: "#/", class: "back" }, "← ", t("back")),
    h("div", { class: "titles" }, this.title, this.state, this.buttons), this.meta, this.why, this.tabs);
  element = h("div", { class: "page" }, this.head, this.panel);

  /**
   * @param {At} at
   * @param {string} tab
   * @param {boolean} readOnly
   */
  constructor(at, tab, readOnly) {
    this.at = at;
    this.title.textContent = at.name;
    this.readOnly = readOnly;
    this.spoken = language();
    /** @type {Details | null} */
    this.job = null;
    /** @type {Tab | null} */
    this.tab = null;
    /** @type {View | null} */
    this.view = null;
    this.show(tab);
    this.end = stream(pathOf("api/job", at), {
      job: (/** @type {Details} */ job) => {
        notice("trouble", "");
        this.take(job);
      },
      gone: () => this.over(t("gone")),
      "error-told": (/** @type {string} */ why) => this.over(why),
      trouble: (/** @type {string} */ why) => notice("trouble", why),
      open: () => notice("lost", ""),
      lost: () => notice("lost", t("lost")),
    });
    this.ages = setInterval(() => this.job && this.take(this.job), 1000);
  }

  /** @param {string} wanted */
  show(wanted) {
    const name = tabs.find((one) => one === wanted) ?? "overview";
    if (name === this.tab) return;
    this.tab = name;
    this.view?.close();
    const view = name === "logs" ? new LogView(this.at) : name === "yaml" ? new YamlView(this.at) : new Overview();
    this.view = view;
    replace(this.tabs, tabs.map((one) => this.button(one, one === name)));
    this.panel.setAttribute("aria-labelledby", `tab-${name}`);
    this.panel.dataset.tab = name;
    replace(this.panel, view.element);
    if (this.job) view.take(this.job);
  }

  /**
   * @param {Tab} name
   * @param {boolean} selected
   */
  button(name, selected) {
    return h("button", {
      role: "tab", id: `tab-${name}`, "aria-selected": String(selected), "aria-controls": "panel",
      tabindex: selected ? "0" : "-1", onclick: () => this.go(name),
    }, t(`tab.${name}`));
  }

  /** @param {Tab} name */
  go(name) {
    const address = location.hash.split("/").slice(0, 5).join("/");
    history.replaceState(null, "", name === "overview" ? address : `${address}/${name}`);
    this.show(name);
  }

  /** @param {KeyboardEvent} event */
  arrow(event) {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    const at = tabs.findIndex((one) => one === this.tab);
    this.go(/** @type {Tab} */ (tabs[(at + by + tabs.length) % tabs.length]));
    document.getElementById(`tab-${this.tab}`)?.focus();
  }

  /** @param {Details} job */
  take(job) {
    this.job = job;
    const { row } = job;
    redraw(this.state, row.phase, () => [badge(row.phase)]);
    const ages = row.ended ? `${t("fact.duration")} ${age(row.created, row.ended)}` : age(row.created);
    const roles = job.roles.map((one) => `${one.name} ${one.ready || one.replicas}`).join(" · ");
    const said = [named("place", row.place), row.namespace, row.mode, roles, ages];
    redraw(this.meta, said, () => said.filter(Boolean).map((one) => h("span", {}, one)));
    redraw(this.why, [job.why, row.phase], () => (job.why ? [h("h2", { class: "unseen" }, t("why")), h("p", {}, job.why)] : []));
    this.why.className = `why ${row.phase === "Failed" || row.phase === "Lost" ? "bad" : row.over ? "" : "wait"}`;
    this.why.hidden = !job.why;
    if (!this.readOnly) redraw(this.buttons, [job.possible, row.uid], () => actions(job));
    this.view?.take(job);
  }

  /** @param {string} why */
  over(why) {
    notice("lost", "");
    notice("trouble", "");
    replace(this.buttons);
    this.why.hidden = false;
    replace(this.why, h("p", { role: "alert" }, why));
    clearInterval(this.ages);
  }

  close() {
    this.end();
    notice("trouble", "");
    this.view?.close();
    clearInterval(this.ages);
  }
}
