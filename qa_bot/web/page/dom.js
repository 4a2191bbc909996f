// Builds elements. Strings always become text nodes, so no text of a document or a user is interpreted as markup.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  send: "M12 19V5M5.5 11.5 12 5l6.5 6.5",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v10H9zM15 9V5H5v10h4",
  done: "M5 12.5l4.5 4.5L19 7.5",
  up: "M8 11v8H5v-8h3l4-7c1.5 0 2.5 1 2.2 2.6L13.5 10H18a1.8 1.8 0 0 1 1.8 2.2l-1.3 5.5A1.7 1.7 0 0 1 16.9 19H8",
  down: "M16 13V5h3v8h-3l-4 7c-1.5 0-2.5-1-2.2-2.6l.7-3.4H6a1.8 1.8 0 0 1-1.8-2.2l1.3-5.5A1.7 1.7 0 0 1 7.1 5H16",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h10",
  pencil: "M5 19l.8-3.6L16 5.2l2.8 2.8L8.6 18.2zM14 7.2l2.8 2.8",
  save: "M12 4v10.5M7.5 10.5l4.5 4.5 4.5-4.5M5 19h14",
  bin: "M5 7h14M9.5 7V4.8h5V7M7 7l.8 12h8.4L17 7",
  light: "M12 8.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4",
  dark: "M19.5 14A8 8 0 0 1 10 4.5a8 8 0 1 0 9.5 9.5z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  back: "M14 6l-6 6 6 6",
  next: "M10 6l6 6-6 6",
  map: "M4 4h16v16H4zM4 9.3h16M4 14.7h16M9.3 4v16M14.7 4v16",
  talk: "M4 5h11v8H9l-3 3v-3H4zM17 9h3v8h-2v3l-3-3h-5v-2",
  out: "M14 5h5v5M19 5l-8 8M17 13v6H5V7h6",
};

/** An element; `on` holds listeners by event, `set` properties, others are attributes (false omits one). */
export function el(tag, { on = {}, set = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) attribute(element, name, value);
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  Object.assign(element, set);
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

function attribute(element, name, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon and an accessible `label`. */
export function iconButton(name, label, click, attributes = {}) {
  const options = { type: "button", class: "icon", "aria-label": label, title: label, on: { click } };
  return el("button", { ...options, ...attributes }, icon(name));
}

/** Change icon and label of a button. */
export function relabel(button, name, label) {
  button.replaceChildren(icon(name));
  button.setAttribute("aria-label", label);
  button.title = label;
}

/** A bar whose filled part is `share` of its width, from 0 to 1; a number beside it shows the same value. */
export function bar(share) {
  const element = el("span", { class: "meter", "aria-hidden": "true" });
  element.style.setProperty("--share", String(Math.min(1, Math.max(0, share || 0))));
  return element;
}

export const byId = (id) => document.getElementById(id);
