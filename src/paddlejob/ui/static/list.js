/** The list of jobs: filters, search, sorting, live rows. */

import { stream } from "./api.js";
import { address, chosen, columns, filters } from "./columns.js";
import { h, redraw, replace, say } from "./dom.js";
import { notice } from "./notices.js";
import { named, t } from "./words.js";
import { Windowed } from "./windowed.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").News} News */
/** @typedef {import("./words.js").Word} Word */

const narrow = matchMedia("(max-width: 640px)");

/** Kept while the page is open: who comes back finds the list as it was. */
const choice = { filter: "all", text: "", namespace: "", place: "", sort: "age", down: false };

/** @param {{place: string, namespace: string, name: string}} at */
const keyOf = (at) => `${at.place}/${at.namespace}/${at.name}`;

export class List {
  search = h("input", {
    type: "search", id: "search", placeholder: t("search.hint"), "aria-label": t("search"), value: choice.text,
    autocomplete: "off", spellcheck: "false",
    oninput: () => {
      choice.text = this.search.value;
      this.refresh();
    },
  });
  chips = h("div", { class: "chips", role: "group", "aria-label": t("filter.status") });
  namespace = this.select("namespace", t("filter.namespace"));
  place = this.select("place", t("filter.place"));
  count = h("p", { class: "count", role: "status" });
  head = h("tr");
  body = h("tbody");
  table = h("table", { class: "jobs", "aria-label": t("jobs") }, h("thead", {}, this.head), this.body);
  empty = h("div", { class: "empty" });
  scroller = h("div", { class: "scroller", tabindex: "-1" }, this.table, this.empty);
  element = h("div", { class: "list" }, h("h1", { class: "unseen", tabindex: "-1" }, t("jobs")),
    h("div", { class: "tools" }, this.search, this.chips, this.place, this.namespace, this.count), this.scroller);
  /** @type {Windowed<Row>} */
  view = new Windowed(this.scroller, this.body, {
    height: () => (narrow.matches ? 68 : 38),
    key: (/** @type {Row} */ row) => keyOf(row),
    spacer: "tr",
    draw: (/** @type {Row} */ row, index, known) => this.draw(row, index, known),
  });

  constructor() {
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {Row[]} */
    this.shown = [];
    /** @type {import("./types.js").PlaceState[]} */
    this.places = [];
    this.at = -1;
    this.end = stream("api/jobs", {
      jobs: (/** @type {News} */ news) => this.take(news),
      open: () => notice("lost", ""),
      lost: () => notice("lost", t("lost")),
    });
    this.ages = setInterval(() => this.view.soon(), 1000);
  }

  /**
   * @param {"namespace" | "place"} name
   * @param {string} label
   */
  select(name, label) {
    const made = h("select", {
      "aria-label": label, hidden: true,
      onchange: () => {
        choice[name] = made.value;
        this.refresh();
      },
    });
    return made;
  }

  /** @param {News} news */
  take(news) {
    notice("trouble", "");
    if (news.whole) this.rows.clear();
    for (const row of news.jobs) this.rows.set(keyOf(row), row);
    for (const [place, namespace, name] of news.gone) this.rows.delete(keyOf({ place, namespace, name }));
    this.places = news.places;
    for (const one of news.places) {
      const word = /** @type {Word} */ (`trouble.${one.name}`);
      notice(one.name, one.trouble && t(word, { why: one.trouble }));
    }
    this.refresh();
  }

  refresh() {
    const rows = [...this.rows.values()];
    this.shown = chosen(rows, choice);
    this.columns = columns.filter((one) => one.needed?.(rows) ?? true);
    this.drawTools(rows);
    this.drawHead();
    this.table.hidden = !this.shown.length;
    this.table.setAttribute("aria-rowcount", String(this.shown.length + 1));
    this.drawEmpty(rows.length);
    this.view.set(this.shown);
  }

  /** @param {Row[]} rows */
  drawTools(rows) {
    const counts = Object.entries(filters).map(([name, takes]) => ({ name, n: rows.filter(takes).length }));
    redraw(this.chips, [counts, choice.filter], () =>
      counts
        .filter((one) => one.n || one.name === choice.filter || one.name === "all")
        .map(({ name, n }) => {
          const press = () => {
            choice.filter = name;
            this.refresh();
            this.chips.querySelector(`[data-name=${name}]`)?.dispatchEvent(new Event("refocus"));
          };
          const label = t(/** @type {Word} */ (`filter.${name}`));
          const pressed = String(choice.filter === name);
          const made = h("button", { class: "chip", "aria-pressed": pressed, "data-name": name, onclick: press },
            label, h("span", { class: "n" }, n));
          made.addEventListener("refocus", () => made.focus());
          return made;
        }),
    );
    this.options(this.namespace, "namespace", t("filter.namespace.all"), rows.map((row) => row.namespace));
    this.options(this.place, "place", t("filter.place.all"), rows.map((row) => row.place));
    say(this.count, t("shown", { n: this.shown.length, all: rows.length }));
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {"namespace" | "place"} name
   * @param {string} all
   * @param {string[]} values
   */
  options(select, name, all, values) {
    const found = [...new Set([...values, ...(choice[name] ? [choice[name]] : [])])].sort();
    select.hidden = found.length < 2 && !choice[name];
    redraw(select, found, () => [
      h("option", { value: "" }, all),
      ...found.map((one) => h("option", { value: one }, name === "place" ? named("place", one) : one)),
    ]);
    select.value = choice[name];
  }

  drawHead() {
    const names = (this.columns ?? []).map((one) => one.name);
    redraw(this.head, [names, choice.sort, choice.down], () =>
      names.map((name) => {
        const press = () => {
          choice.down = choice.sort === name ? !choice.down : false;
          choice.sort = name;
          this.refresh();
          /** @type {HTMLElement | null} */ (this.head.querySelector(`.${name} button`))?.focus();
        };
        const sorted = choice.sort === name ? (choice.down ? "descending" : "ascending") : null;
        const label = t(/** @type {Word} */ (`column.${name}`));
        return h("th", { class: name, scope: "col", "aria-sort": sorted }, h("button", { onclick: press }, label));
      }),
    );
  }

  /** @param {number} all */
  drawEmpty(all) {
    this.empty.hidden = this.shown.length > 0;
    const loading = !all && this.places.some((one) => !one.known && !one.trouble);
    redraw(this.empty, [loading, all > 0, this.shown.length > 0], () => {
      if (loading || !this.places.length) return [h("p", { class: "quiet" }, t("loading"))];
      if (!all) return [h("h2", {}, t("none")), h("p", {}, t("none.hint"))];
      const clear = () => {
        Object.assign(choice, { filter: "all", text: "", namespace: "", place: "" });
        this.search.value = "";
        this.refresh();
      };
      return [h("h2", {}, t("none.match")), h("p", {}, t("none.match.hint")),
        h("button", { class: "button", onclick: clear }, t("clear"))];
    });
  }

  /**
   * @param {Row} row
   * @param {number} index
   * @param {HTMLElement | undefined} known
   */
  draw(row, index, known) {
    const shown = this.columns ?? [];
    const shape = shown.map((one) => one.name).join();
    const made = known ?? h("tr", { onclick: (/** @type {MouseEvent} */ event) => open(event, row) });
    if (made.dataset.shape !== shape) {
      made.dataset.shape = shape;
      replace(made, shown.map((one) => h("td", { class: one.name })));
    }
    const number = String(index + 2);
    if (made.getAttribute("aria-rowindex") !== number) made.setAttribute("aria-rowindex", number);
    shown.forEach((one, at) => one.show(/** @type {HTMLElement} */ (made.children[at]), row));
    return made;
  }

  /**
   * By keyboard: the next job, or the one before.
   * @param {number} by
   */
  move(by) {
    if (!this.shown.length) return;
    const link = document.activeElement?.closest("tr")?.getAttribute("aria-rowindex");
    const from = link ? Number(link) - 2 : this.at;
    this.at = Math.max(0, Math.min(this.shown.length - 1, from + by));
    this.view.reveal(this.at);
    const row = this.view.drawn.get(keyOf(/** @type {Row} */ (this.shown[this.at])));
    row?.querySelector("a")?.focus({ preventScroll: true });
  }

  close() {
    this.end();
    this.view.end();
    clearInterval(this.ages);
  }
}

/**
 * A click anywhere in the row; a link in it, or text that is being selected, has its own way.
 * @param {MouseEvent} event
 * @param {Row} row
 */
function open(event, row) {
  const on = /** @type {Element} */ (event.target);
  if (on.closest("a") || getSelection()?.toString()) return;
  location.hash = address(row);
}
