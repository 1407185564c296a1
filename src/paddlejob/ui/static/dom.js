/**
 * Elements from JavaScript. Text is always text: nothing here, nor anywhere on the page, turns a string into markup,
 * and the server's policy (trusted types) would not let it.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Props */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} [props] attributes; `onclick` and the like are listeners, `css` holds styles, `class` may be a list
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name === "css") {
      for (const [key, one] of Object.entries(/** @type {Record<string, string>} */ (value))) {
        made.style.setProperty(key, one);
      }
    } else if (name === "value" && "value" in made) {
      /** @type {HTMLInputElement} */ (/** @type {unknown} */ (made)).value = String(value);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  put(made, ...children);
  return made;
}

/**
 * @param {Element} into
 * @param {...(Child | Child[])} children
 */
export function put(into, ...children) {
  for (const one of children.flat()) {
    if (one !== null && one !== undefined && one !== false) {
      into.append(one instanceof Node ? one : String(one));
    }
  }
}

/**
 * @param {Element} into
 * @param {...(Child | Child[])} children
 */
export function replace(into, ...children) {
  into.replaceChildren();
  put(into, ...children);
}

/**
 * Writes only what differs: what did not change keeps its selection, and costs no layout.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Puts children into an element only when what they are drawn from has changed.
 * @param {Element} into
 * @param {unknown} from
 * @param {() => (Child | Child[])[]} draw
 */
export function redraw(into, from, draw) {
  const key = JSON.stringify(from);
  const known = drawn.get(into);
  if (known === key) return;
  drawn.set(into, key);
  replace(into, ...draw());
}

/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap();
