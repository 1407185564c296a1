/** Times and ages as kubectl writes them. */

import { language } from "./prefs.js";

/**
 * @param {string} since
 * @param {string | number} [until]
 */
export function age(since, until = Date.now()) {
  if (!since) return "";
  const end = typeof until === "number" ? until : Date.parse(until);
  return span(Math.max(0, Math.floor((end - Date.parse(since)) / 1000)));
}

/** @param {number} seconds */
export function span(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(seconds / 3600);
  const days = Math.floor(seconds / 86400);
  if (minutes < 2) return `${seconds}s`;
  if (hours < 3) return minutes < 10 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  return days < 2 ? `${hours}h${minutes % 60}m` : `${days}d${hours % 24}h`;
}

/**
 * How long until then.
 * @param {string} at
 */
export function left(at) {
  return at ? span(Math.max(0, Math.round((Date.parse(at) - Date.now()) / 1000))) : "";
}

/** @param {string} at */
export function clock(at) {
  const when = new Date(at);
  const today = new Date().toDateString() === when.toDateString();
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
  const date = today ? {} : { month: "short", day: "numeric" };
  const how = /** @type {Intl.DateTimeFormatOptions} */ ({ ...date, ...time });
  return when.toLocaleString(language() === "zh" ? "zh-CN" : "en-GB", how);
}

/** @param {string} at */
export function fully(at) {
  return new Date(at).toLocaleString(language() === "zh" ? "zh-CN" : "en-GB");
}

/** @param {string} text */
export function ended(text) {
  return text ? Date.parse(text) : Date.now();
}
