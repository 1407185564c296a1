/** What a person prefers, kept in the browser: language and theme. Storage may be forbidden; then it lasts a visit. */

/** @typedef {"en" | "zh"} Language */
/** @typedef {"auto" | "light" | "dark"} Theme */

const kept = "paddlejob.";
const system = matchMedia("(prefers-color-scheme: dark)");
const chosen = { language: read("language"), theme: read("theme") };

/** @param {string} name */
function read(name) {
  try {
    return localStorage.getItem(kept + name);
  } catch {
    return null;
  }
}

/**
 * @param {"language" | "theme"} name
 * @param {string} value
 */
function write(name, value) {
  chosen[name] = value;
  try {
    localStorage.setItem(kept + name, value);
  } catch {
    // Nobody is hurt.
  }
}

/** @returns {Language} */
export function language() {
  if (chosen.language === "en" || chosen.language === "zh") return chosen.language;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** @param {Language} value */
export function setLanguage(value) {
  write("language", value);
}

/** @returns {Theme} */
export function theme() {
  return chosen.theme === "light" || chosen.theme === "dark" ? chosen.theme : "auto";
}

/** @param {Theme} value */
export function setTheme(value) {
  write("theme", value);
  applyTheme();
}

/** The style sheets know two: what the system prefers is one of them, and may change. */
export function applyTheme() {
  const dark = theme() === "dark" || (theme() === "auto" && system.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
system.addEventListener("change", applyTheme);
