/** Of many rows of one height, the few that are in sight: whatever their number, the browser holds some dozens. */

/** Rows beyond the edges, so that a short scroll finds them there. */
const margin = 8;

/**
 * @template Item
 */
export class Windowed {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} body holds the rows, between two spacers
   * @param {{height: () => number, key: (item: Item) => string | number, spacer: keyof HTMLElementTagNameMap,
   *   draw: (item: Item, index: number, known: HTMLElement | undefined) => HTMLElement}} how
   */
  constructor(scroller, body, how) {
    this.scroller = scroller;
    this.how = how;
    /** @type {ArrayLike<Item>} */
    this.items = [];
    /** @type {Map<string | number, HTMLElement>} */
    this.drawn = new Map();
    this.body = body;
    this.above = document.createElement(how.spacer);
    this.below = document.createElement(how.spacer);
    for (const one of [this.above, this.below]) one.setAttribute("aria-hidden", "true");
    body.replaceChildren(this.above, this.below);
    this.waiting = false;
    scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    this.observer = new ResizeObserver(() => this.soon());
    this.observer.observe(scroller);
  }

  /** @param {ArrayLike<Item>} items */
  set(items) {
    this.items = items;
    this.draw();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    const height = this.how.height();
    const top = Math.max(0, this.scroller.scrollTop - this.offset());
    const first = Math.max(0, Math.floor(top / height) - margin);
    const last = Math.min(this.items.length, Math.ceil((top + this.scroller.clientHeight) / height) + margin);
    this.stretch(this.above, first * height);
    this.stretch(this.below, (this.items.length - last) * height);
    const now = new Map();
    /** @type {Element} */
    let before = this.above;
    for (let index = first; index < last; index++) {
      const item = /** @type {Item} */ (this.items[index]);
      const key = this.how.key(item);
      const element = this.how.draw(item, index, this.drawn.get(key));
      if (before.nextElementSibling !== element) before.after(element);
      before = element;
      now.set(key, element);
    }
    for (const [key, element] of this.drawn) if (now.get(key) !== element) element.remove();
    this.drawn = now;
  }

  /** How far the rows begin below the scroller's own beginning. */
  offset() {
    return this.body.offsetTop - (this.body.offsetParent === this.scroller ? 0 : this.scroller.offsetTop);
  }

  /**
   * @param {HTMLElement} spacer
   * @param {number} height
   */
  stretch(spacer, height) {
    const text = `${Math.max(0, height)}px`;
    if (spacer.style.height !== text) spacer.style.height = text;
  }

  /** @param {number} index */
  reveal(index) {
    const height = this.how.height();
    const top = this.offset() + index * height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop + height) this.scroller.scrollTop = top - height * 2;
    if (top > scrollTop + clientHeight - 2 * height) this.scroller.scrollTop = top - clientHeight + 3 * height;
    this.draw();
  }

  end() {
    this.observer.disconnect();
  }
}
