/** The lines of a log, and which of them are to be seen: sifted in small portions, so that the page never freezes. */

import { readable } from "./ansi.js";

/** @typedef {{key: number, pod: string, number: number, text: string, heading: boolean}} LogLine */

/** More than these stay on the server; and what is sifted at once. */
const most = 150000;
const drop = 30000;
const portion = 4000;

export class LogLines {
  /** @type {LogLine[]} */
  lines = [];
  next = 0;
  dropped = false;
  /** @type {Set<number>} */
  numbers = new Set();
  /** @type {LogLine[]} */
  shown = [];
  /** Of all lines, those that pods printed. */
  printed = 0;
  /** Places in `shown`. @type {number[]} */
  matches = [];
  done = 0;

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.onlyMatches = false;
    this.number = 0;
    /** @type {RegExp | null} */
    this.sought = null;
  }

  clear() {
    this.lines = [];
    this.printed = 0;
    this.dropped = false;
    this.numbers = new Set();
    this.sift();
  }

  /** @param {import("./types.js").LogEntry[]} entries */
  add(entries) {
    for (const [pod, number, text] of entries) {
      this.lines.push({ key: this.next++, pod, number, text: text ?? "", heading: text === undefined });
      this.numbers.add(number);
      if (text !== undefined) this.printed++;
    }
    if (this.lines.length > most) {
      const gone = this.lines.splice(0, this.lines.length - most + drop);
      this.printed -= gone.filter((line) => !line.heading).length;
      this.dropped = true;
      this.sift();
    }
    this.pump();
  }

  /**
   * @param {{text: string, onlyMatches: boolean, number: number}} choice
   */
  choose({ text, onlyMatches, number }) {
    this.sought = text ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi") : null;
    this.onlyMatches = onlyMatches;
    this.number = number;
    this.sift();
    this.pump();
  }

  /** From the beginning. */
  sift() {
    this.shown = [];
    this.matches = [];
    this.done = 0;
  }

  pump() {
    if (this.pumping) return;
    const end = Math.min(this.lines.length, this.done + portion);
    for (; this.done < end; this.done++) this.take(/** @type {LogLine} */ (this.lines[this.done]));
    this.changed();
    if (this.done < this.lines.length) {
      this.pumping = setTimeout(() => {
        this.pumping = undefined;
        this.pump();
      });
    }
  }

  /** @param {LogLine} line */
  take(line) {
    if (this.number && line.number !== this.number) return;
    let matches = false;
    if (this.sought && !line.heading) {
      this.sought.lastIndex = 0;
      matches = this.sought.test(readable(line.text));
    }
    if (this.sought && this.onlyMatches && !matches) return;
    if (matches) this.matches.push(this.shown.length);
    this.shown.push(line);
  }
}
