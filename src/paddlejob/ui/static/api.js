/** Questions to the server: one answer, or a stream of them for as long as somebody looks. */

import { t } from "./words.js";

/** @typedef {import("./types.js").At} At */

/** Milliseconds until a server that refused us is asked again. */
const again = 5000;

/** What the server says is wrong, in words for a person. */
export class Refusal extends Error {}

/**
 * @template T
 * @param {string} path
 * @param {object} [body] with it, something is done
 * @returns {Promise<T>}
 */
export async function ask(path, body) {
  const json = { "Content-Type": "application/json" };
  const how = body === undefined ? {} : { method: "POST", headers: json, body: JSON.stringify(body) };
  const answer = await answered(path, how);
  if (answer.ok) return answer.json();
  throw new Refusal(await told(answer));
}

/**
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function text(path) {
  const answer = await answered(path);
  if (answer.ok) return answer.text();
  throw new Refusal(await told(answer));
}

/**
 * @param {string} path
 * @param {RequestInit} [how]
 */
async function answered(path, how) {
  try {
    return await fetch(path, how);
  } catch {
    throw new Refusal(t("lost"));
  }
}

/** @param {Response} answer */
async function told(answer) {
  const said = await answer.text();
  try {
    return JSON.parse(said).error;
  } catch {
    return said || answer.statusText;
  }
}

/**
 * @param {string} path
 * @param {At} at
 * @param {Record<string, string>} [more]
 */
export function pathOf(path, at, more = {}) {
  const { place, namespace, name } = at;
  return `${path}?${new URLSearchParams({ place, namespace, name, ...more })}`;
}

/**
 * Messages of a stream by kind. `open`: it begins, from the start; `lost`: the server does not answer; `trouble`: it does,
 * and cannot say more for now, so it is asked again in a while.
 * While nobody looks (the tab is hidden) nothing is open: browsers allow few connections.
 * @param {string} path
 * @param {Record<string, (data: any) => void>} on
 * @returns {() => void} ends it
 */
export function stream(path, on) {
  /** @type {EventSource | null} */
  let source = null;
  let over = false;
  let troubled = false;

  function open() {
    if (source || over || document.hidden) return;
    source = new EventSource(path);
    source.addEventListener("open", () => on.open?.(null));
    source.addEventListener("error", () => {
      if (!troubled) on.lost?.(null);
      troubled = false;
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null; // a refusal, perhaps of something between us: the browser itself would not come back
      setTimeout(open, again);
    });
    source.addEventListener("trouble", () => (troubled = true));
    for (const kind of Object.keys(on)) {
      if (kind === "open" || kind === "lost") continue;
      source.addEventListener(kind, (message) => {
        if (kind === "end" || kind === "gone" || kind === "error-told") end();
        on[kind]?.(JSON.parse(message.data));
      });
    }
  }

  function look() {
    if (document.hidden) {
      source?.close();
      source = null;
    } else {
      open();
    }
  }

  function end() {
    over = true;
    source?.close();
    source = null;
    document.removeEventListener("visibilitychange", look);
  }

  document.addEventListener("visibilitychange", look);
  open();
  return end;
}
