// The part below an answer: sources, confidence, reasons, and a button to ask again.

import { bar, el } from "./dom.js";
import { states } from "./text.js";

export function section(title, cards) {
  return el("section", { class: "sources" }, el("h3", { class: "label" }, title), el("div", { class: "cards" }, cards));
}

/** A badge for each state of a source's document. */
export function badges(source) {
  return states(source).flatMap((state) => [" ", el("span", { class: "badge" }, state)]);
}

/** A button that shows and hides `panel`, which is filled when it is first shown. */
export function opener(panel, content) {
  const attributes = { type: "button", class: "link", "aria-expanded": "false", "aria-controls": panel.id };
  const button = el("button", attributes, "Why this answer");
  button.addEventListener("click", () => {
    if (!panel.childElementCount) panel.append(...content());
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
  });
  return button;
}

export function confidence(value) {
  const word = value >= 0.8 ? "High" : value >= 0.5 ? "Fair" : "Low";
  const share = `${Math.round(value * 100)} %`;
  const title = `${share} of answers as sure as this one are right`;
  return el("span", { class: "confidence", title }, bar(value), `${word} confidence, ${share}`);
}

export function countDown(button, label, wait) {
  button.disabled = wait > 0;
  button.textContent = wait > 0 ? `${label} in ${wait} s` : label;
  if (wait > 0) setTimeout(() => countDown(button, label, wait - 1), 1000);
}
