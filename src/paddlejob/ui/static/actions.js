/** What can be done with a job; each is asked back. */

import { ask, Refusal } from "./api.js";
import { h } from "./dom.js";
import { tell } from "./notices.js";
import { t } from "./words.js";

/** @typedef {import("./types.js").Details} Details */

/**
 * Asks in a dialog; the answer is whether to go on.
 * @param {{title: string, text: string, go: string, danger?: boolean, field?: HTMLElement}} how
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, go, danger = false, field }) {
  return new Promise((answer) => {
    const dialog = h("dialog", { "aria-labelledby": "asked", onclose: () => {
      answer(dialog.returnValue === "go");
      dialog.remove();
    } });
    const no = h("button", { class: "button", type: "button", onclick: () => dialog.close("") }, t("cancel"));
    const yes = h("button", { class: danger ? "button danger" : "button primary", value: "go" }, go);
    const form = h("form", { method: "dialog" }, h("h2", { id: "asked" }, title), h("p", {}, text), field,
      h("div", { class: "actions" }, no, yes));
    dialog.append(form);
    document.body.append(dialog);
    dialog.showModal();
    (danger ? no : field?.querySelector("input") ?? yes).focus();
  });
}

/**
 * @param {Details} job
 * @param {"suspend" | "resume" | "scale" | "delete"} what
 */
async function act(job, what) {
  const { place, namespace, name, uid } = job.row;
  const scale = job.possible.scale;
  const workers = h("input", { type: "number", min: scale?.least, max: scale?.most, value: scale?.now, id: "workers" });
  const words = what === "delete" && place === "machine" ? "ask.delete.machine"
    : /** @type {import("./words.js").Word} */ (`ask.${what}.text`);
  const sure = await confirmed({
    title: t(`ask.${what}`, { name }),
    text: t(words, { ...scale }),
    go: t(what),
    danger: what === "delete",
    ...(what === "scale" ? { field: h("label", { class: "field" }, t("ask.scale.field"), workers) } : {}),
  });
  if (!sure) return;
  const n = Number(workers.value);
  try {
    await ask("api/act", { place, namespace, name, uid, do: what, ...(what === "scale" ? { workers: n } : {}) });
    tell(t(`done.${what}`, { name, workers: n }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell(error.message, true);
  }
}

/** @param {Details} job */
export function actions(job) {
  const { possible } = job;
  /** @param {"suspend" | "resume" | "scale" | "delete"} what */
  const button = (what) =>
    h("button", { class: what === "delete" ? "button danger-quiet" : "button", onclick: () => act(job, what) }, t(what));
  return [
    possible.suspend ? button("suspend") : null,
    possible.resume ? button("resume") : null,
    possible.scale ? button("scale") : null,
    possible.delete ? button("delete") : null,
  ];
}
