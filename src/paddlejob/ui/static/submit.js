/** A new job: written, pasted or opened here, judged while it is written, each mistake beside its line. */

import { confirmed } from "./actions.js";
import { ask, Refusal } from "./api.js";
import { address } from "./columns.js";
import { h, replace, say } from "./dom.js";
import { tell } from "./notices.js";
import { named, t } from "./words.js";

/** @typedef {import("./types.js").About} About */
/** @typedef {import("./types.js").Judgement} Judgement */
/** @typedef {import("./types.js").Mistake} Mistake */

const lineHeight = 20;
const pause = 400;
const example = `apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: hello
spec:
  worker:
    replicas: 2
    template:
      spec:
        containers:
          - name: paddle
            image: python:3.11-slim
            command: ["sh", "-c", "echo hello from worker $PADDLE_TRAINER_ID"]
`;
/** Kept while the page is open: nothing that was written is lost by a look elsewhere. */
const draft = { text: "", place: "", namespace: "" };

export class SubmitPage {
  place = h("select", { id: "place", onchange: () => this.change() });
  namespace = h("input", {
    id: "namespace", value: draft.namespace, autocomplete: "off", spellcheck: "false", oninput: () => this.change(),
  });
  file = h("input", {
    type: "file", accept: ".yaml,.yml,.json", class: "unseen", tabindex: "-1", "aria-hidden": "true",
    onchange: () => this.read(this.file.files?.[0]),
  });
  area = h("textarea", {
    "aria-label": t("submit.text"), "aria-describedby": "verdict", wrap: "off", spellcheck: "false",
    placeholder: t("submit.empty"), value: draft.text, oninput: () => this.change(), onscroll: () => this.align(),
    ondragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
    ondrop: (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.read(event.dataTransfer?.files[0]);
    },
  });
  numbers = h("div", { class: "numbers", "aria-hidden": "true" });
  notes = h("ol", { class: "notes" });
  verdict = h("p", { id: "verdict", class: "verdict", role: "status" });
  go = h("button", { class: "button primary", disabled: true, onclick: () => this.submit() }, t("submit"));
  insert = h("button", { class: "button", onclick: () => this.fill(example) }, t("submit.example"));
  element = h("div", { class: "submit" },
    h("header", { class: "head" }, h("a", { href: "#/", class: "back" }, "← ", t("back")),
      h("h1", { tabindex: "-1" }, t("submit.title"))),
    h("div", { class: "tools" },
      h("label", { class: "field" }, t("submit.where"), this.place),
      h("label", { class: "field" }, t("submit.namespace"), this.namespace),
      h("button", { class: "button", onclick: () => this.file.click() }, t("submit.file")), this.file, this.insert),
    h("div", { class: "editor" }, this.numbers, this.area, h("div", { class: "margin" }, this.notes)),
    h("div", { class: "foot" }, this.verdict, this.go));

  /** @param {About} about */
  constructor(about) {
    this.about = about;
    draft.place ||= about.places.at(-1)?.name ?? "";
    this.round = 0;
    replace(this.place, about.places.map((one) => h("option", { value: one.name }, named("place", one.name))));
    this.place.value = draft.place;
    this.hint();
    this.number([]);
    this.check();
  }

  hint() {
    const own = this.about.places.find((one) => one.name === this.place.value)?.namespace ?? "";
    this.namespace.placeholder = own;
  }

  /** @param {File | undefined} file */
  async read(file) {
    if (file) this.fill(await file.text());
  }

  /** @param {string} text */
  fill(text) {
    this.area.value = text;
    this.change();
  }

  change() {
    Object.assign(draft, { text: this.area.value, place: this.place.value, namespace: this.namespace.value });
    this.hint();
    // What was said of the text, and what is still going to be said, is not of this text.
    this.round++;
    this.go.disabled = true;
    say(this.verdict, "");
    clearTimeout(this.timer);
    this.number([]);
    this.timer = setTimeout(() => this.check(), pause);
  }

  async check() {
    const round = ++this.round;
    if (!draft.text.trim()) {
      this.judge({ mistakes: [], jobs: [], beside: [] });
      say(this.verdict, "");
      return;
    }
    say(this.verdict, t("submit.checking"));
    try {
      const judgement = await ask("api/check", { ...draft });
      if (round === this.round) this.judge(judgement);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (round === this.round) this.judge({ mistakes: [{ line: 0, column: 0, text: error.message }], jobs: [], beside: [] });
    }
  }

  /** @param {Judgement} judgement */
  judge({ mistakes, jobs, beside }) {
    this.jobs = jobs;
    this.beside = beside;
    this.go.disabled = !jobs.length;
    this.verdict.className = mistakes.length ? "verdict bad" : "verdict good";
    say(this.verdict, mistakes.length ? t("submit.wrong", { n: mistakes.length }) : t("submit.fine"));
    this.number(mistakes);
    replace(this.notes, mistakes.map((one) => h("li", { "data-line": one.line }, one.line
      ? h("button", { onclick: () => this.jump(one) }, t("submit.line", { line: one.line, text: one.text }))
      : h("p", {}, one.text))));
    this.align();
  }

  /** @param {Mistake[]} mistakes */
  number(mistakes) {
    const wrong = new Set(mistakes.map((one) => one.line));
    const lines = this.area.value.split("\n").length;
    replace(this.numbers, h("div", {}, Array.from({ length: lines }, (_, at) =>
      h("span", { class: wrong.has(at + 1) ? "wrong" : "" }, at + 1))));
    this.align();
  }

  /** Numbers and notes scroll with the text; a note moves down where the one before it needs the room. */
  align() {
    const top = this.area.scrollTop;
    const inner = /** @type {HTMLElement | null} */ (this.numbers.firstElementChild);
    inner?.style.setProperty("transform", `translateY(${-top}px)`);
    let free = -top;
    for (const note of /** @type {Iterable<HTMLElement>} */ (this.notes.children)) {
      const line = Math.max(1, Number(note.dataset.line));
      const at = Math.max(free, (line - 1) * lineHeight - top);
      note.style.setProperty("--top", `${at}px`);
      free = at + note.offsetHeight + 4;
    }
  }

  /** @param {Mistake} mistake */
  jump(mistake) {
    const before = this.area.value.split("\n").slice(0, mistake.line - 1).join("\n").length;
    const at = before + (mistake.line > 1 ? 1 : 0) + Math.max(0, mistake.column - 1);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (mistake.line - 4) * lineHeight);
  }

  async submit() {
    const [first] = this.jobs ?? [];
    if (!first) return;
    const [place, namespace, name] = first;
    if (!(await confirmed({ title: t("ask.submit", { name: this.names() }), text: this.question(), go: t("submit") }))) return;
    try {
      const judgement = /** @type {Judgement} */ (await ask("api/submit", { ...draft }));
      if (judgement.mistakes.length) return this.judge(judgement);
      draft.text = "";
      tell(t("done.submit", { name: this.names() }));
      location.hash = address(/** @type {import("./types.js").Row} */ ({ place, namespace, name }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      tell(error.message, true);
    }
  }

  names() {
    return (this.jobs ?? []).map(([, , name]) => name).join(", ");
  }

  /** All that is going to be made, none of it between the lines. */
  question() {
    const where = [...new Set((this.jobs ?? []).map(([, namespace]) => namespace))].join(", ");
    const [first] = this.jobs ?? [];
    const text = t("ask.submit.text", { namespace: where, place: named("place", first?.[0] ?? "") });
    return this.beside?.length ? `${text} ${t("ask.submit.beside", { beside: this.beside.join(", ") })}` : text;
  }

  close() {
    clearTimeout(this.timer);
  }
}
