/** The job as it is written, secrets as dots. */

import { pathOf, Refusal, text } from "./api.js";
import { h, replace } from "./dom.js";
import { t } from "./words.js";

/** @typedef {import("./types.js").At} At */

export class YamlView {
  /** @param {At} at */
  constructor(at) {
    this.at = at;
    this.seen = "";
    this.source = "";
    this.copy = h("button", { class: "button", onclick: () => this.toClipboard() }, t("yaml.copy"));
    const save = h("button", { class: "button", onclick: () => this.save() }, t("yaml.download"));
    this.code = h("pre", { class: "source", tabindex: "0", role: "region", "aria-label": "YAML" });
    const tools = h("div", { class: "tools" }, this.copy, save, h("span", { class: "quiet" }, t("yaml.masked")));
    this.element = h("div", { class: "yaml" }, tools, this.code);
  }

  /** @param {import("./types.js").Details} job */
  take(job) {
    const now = JSON.stringify([job.row, job.why]);
    if (now === this.seen) return;
    this.seen = now;
    this.read();
  }

  async read() {
    try {
      this.source = await text(pathOf("api/yaml", this.at));
      replace(this.code, this.source.split("\n").flatMap(line));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      replace(this.code, error.message);
    }
  }

  async toClipboard() {
    await navigator.clipboard.writeText(this.source);
    this.copy.textContent = t("yaml.copied");
    setTimeout(() => (this.copy.textContent = t("yaml.copy")), 2000);
  }

  save() {
    const url = URL.createObjectURL(new Blob([this.source], { type: "application/yaml" }));
    h("a", { href: url, download: `${this.at.name}.yaml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  close() {}
}

/** @param {string} text */
function line(text) {
  const found = /^(\s*(?:- )?)([\w./-]+)(:)(.*)$/.exec(text);
  if (!found) return [`${text}\n`];
  const [, before = "", key = "", colon = "", rest = ""] = found;
  return [before, h("span", { class: "key" }, key), colon, h("span", { class: "value" }, rest), "\n"];
}
