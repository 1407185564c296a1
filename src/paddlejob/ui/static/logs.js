/** What pods print: following, searchable, in their colours, as many lines as there are. */

import { drawLine } from "./ansi.js";
import { pathOf, stream } from "./api.js";
import { h, redraw, say } from "./dom.js";
import { LogLines } from "./log_lines.js";
import { notice } from "./notices.js";
import { t } from "./words.js";
import { Windowed } from "./windowed.js";

/** @typedef {import("./types.js").At} At */
/** @typedef {import("./types.js").Details} Details */
/** @typedef {import("./log_lines.js").LogLine} LogLine */

const lineHeight = 20;
/** So many lines of each log to begin with. */
const tail = "100000";
const hues = 8;

export class LogView {
  of = h("select", { "aria-label": t("logs.of"), onchange: () => this.choose(this.of.value) });
  start = h("select", { "aria-label": t("logs.start"), hidden: true, onchange: () => this.sift() });
  search = h("input", {
    type: "search", id: "search", "aria-label": t("logs.search"), placeholder: t("logs.search"), autocomplete: "off",
    spellcheck: "false", oninput: () => this.sift(),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") this.go(event.shiftKey ? -1 : 1);
    },
  });
  found = h("span", { class: "quiet found", role: "status" });
  before = h("button", { class: "button small", "aria-label": t("logs.previous"), onclick: () => this.go(-1) }, "↑");
  next = h("button", { class: "button small", "aria-label": t("logs.next"), onclick: () => this.go(1) }, "↓");
  only = h("input", { type: "checkbox", onchange: () => this.sift() });
  follow = h("input", { type: "checkbox", checked: true, onchange: () => this.setFollowing(this.follow.checked) });
  download = h("a", { class: "button" }, t("logs.download"));
  count = h("span", { class: "quiet count", role: "status" });
  body = h("div", { class: "lines" });
  empty = h("p", { class: "quiet empty" }, t("logs.empty"));
  scroller = h("div", {
    class: "log", tabindex: "0", role: "log", "aria-live": "off", "aria-label": t("logs.view"),
    onscroll: () => this.scrolled(),
  }, this.body, this.empty);
  tools = h("div", { class: "tools" }, this.of, this.start, this.search, this.before, this.next, this.found,
    h("label", { class: "check" }, this.only, t("logs.only")),
    h("label", { class: "check" }, this.follow, t("logs.follow")), this.download, this.count);
  element = h("div", { class: "logs" }, this.tools, this.scroller);
  /** @type {Windowed<LogLine>} */
  view = new Windowed(this.scroller, this.body, {
    height: () => lineHeight,
    key: (/** @type {LogLine} */ line) => line.key,
    spacer: "div",
    draw: (/** @type {LogLine} */ line, index, known) => this.line(line, index, known),
  });

  /** @param {At} at */
  constructor(at) {
    this.at = at;
    this.download.download = `${at.name}.log`;
    this.lines = new LogLines(() => this.draw());
    this.match = -1;
    this.over = false;
    this.isFollowing = true;
    /** @type {Map<string, number>} */
    this.hues = new Map();
    const [, , , , , , role = "all", index = ""] = location.hash.split("/");
    this.wanted = `${role}/${index}`;
    this.open();
  }

  open() {
    this.end?.();
    this.over = false;
    this.isFresh = true;
    const [role = "all", index = ""] = this.wanted.split("/");
    /** @type {Record<string, string>} */
    const more = index ? { role, index } : { role };
    this.download.href = pathOf("api/download", this.at, more);
    this.end = stream(pathOf("api/logs", this.at, { ...more, tail }), {
      open: () => {
        notice("lost", "");
        this.isFresh = true;
      },
      lost: () => notice("lost", t("lost")),
      trouble: (why) => notice("trouble", why),
      lines: (entries) => {
        this.begin();
        this.lines.add(entries);
      },
      end: () => {
        this.begin();
        this.over = true;
        this.draw();
      },
      "error-told": (why) => notice("logs", why),
    });
  }

  /** A stream begins from the start: what an earlier one told is dropped when the new one has something to say. */
  begin() {
    if (!this.isFresh) return;
    this.isFresh = false;
    notice("trouble", "");
    this.lines.clear();
  }

  /** @param {string} wanted */
  choose(wanted) {
    this.wanted = wanted;
    this.lines.clear();
    this.draw();
    this.open();
  }

  /** @param {Details} job */
  take(job) {
    const pods = job.pods.map((pod) => `${pod.role}/${pod.index}`);
    const roles = job.roles.map((one) => one.name);
    const values = ["all/", ...roles.map((one) => `${one}/`), ...new Set([...pods, this.wanted])];
    const names = new Map(job.pods.map((pod) => [`${pod.role}/${pod.index}`, pod.name]));
    redraw(this.of, values, () => [...new Set(values)].map((value) => {
      const [role = "", index = ""] = value.split("/");
      const label = value === "all/" ? t("logs.all") : index ? names.get(value) ?? `${job.row.name}-${role}-${index}`
        : t("logs.role", { role });
      return h("option", { value }, label);
    }));
    this.of.value = this.wanted;
  }

  sift() {
    this.match = -1;
    const number = Number(this.start.value) || 0;
    this.lines.choose({ text: this.search.value, onlyMatches: this.only.checked, number });
  }

  draw() {
    const { lines } = this;
    const numbers = [...lines.numbers].sort((a, b) => a - b);
    this.start.hidden = numbers.length < 2;
    redraw(this.start, numbers, () => [
      h("option", { value: "" }, t("logs.start.all")),
      ...numbers.map((n) => h("option", { value: n }, t("logs.start.one", { n }))),
    ]);
    const n = lines.printed;
    say(this.count, t(this.over ? "logs.end" : lines.dropped ? "logs.dropped" : "logs.lines", { n: n.toLocaleString() }));
    say(this.found, !lines.sought ? "" : lines.matches.length
      ? t("logs.matches", { at: this.match + 1, n: lines.matches.length.toLocaleString() }) : t("logs.matches.none"));
    this.empty.hidden = n > 0;
    this.view.set(lines.shown);
    if (this.isFollowing) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /**
   * @param {LogLine} line
   * @param {number} index
   * @param {HTMLElement | undefined} known
   */
  line(line, index, known) {
    const { sought, matches } = this.lines;
    const current = this.match >= 0 && matches[this.match] === index;
    const look = `${sought?.source ?? ""}/${current}`;
    if (known?.dataset.look === look) return known;
    if (line.heading) {
      return h("div", { class: "line heading", "data-look": look }, t("logs.heading", { pod: line.pod, n: line.number }));
    }
    const hue = this.hues.get(line.pod) ?? this.hues.size;
    this.hues.set(line.pod, hue);
    const short = line.pod.startsWith(`${this.at.name}-`) ? line.pod.slice(this.at.name.length + 1) : line.pod;
    return h("div", { class: current ? "line current" : "line", "data-look": look },
      h("span", { class: `who hue${hue % hues}`, title: line.pod }, short),
      h("span", { class: "text" }, drawLine(line.text, sought)));
  }

  /**
   * To the next match, or the one before; around the ends.
   * @param {number} by
   */
  go(by) {
    const { matches } = this.lines;
    if (!matches.length) return;
    this.setFollowing(false);
    this.match = this.match < 0 && by < 0 ? matches.length - 1 : (this.match + by + matches.length) % matches.length;
    this.view.reveal(/** @type {number} */ (matches[this.match]));
    this.draw();
  }

  /** Who scrolls up wants to read; who is at the foot wants what comes. */
  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const atFoot = scrollTop + clientHeight >= scrollHeight - lineHeight * 2;
    if (atFoot !== this.isFollowing && (atFoot || scrollTop < (this.lastTop ?? 0))) this.setFollowing(atFoot);
    this.lastTop = scrollTop;
  }

  /** @param {boolean} value */
  setFollowing(value) {
    this.isFollowing = this.follow.checked = value;
    if (value) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  close() {
    this.end?.();
    this.view.end();
    notice("logs", "");
  }
}
