// A persona's sentence beside a sourced answer: its speaker, its kind, and the other candidates.

import { el } from "./dom.js";

const KINDS = { generated: "generated", quotation: "quotation", edited: "edited by hand" };
const LONGEST = 400; // limit of a sentence that a user writes, in characters

/** A sentence of a persona with its kind; quotations have quotation marks. */
export function spoken(name, text, kind) {
  const said = el(kind === "quotation" ? "q" : "span", { class: "said" }, text);
  const label = kind ? el("span", { class: "kind" }, KINDS[kind] ?? kind) : null;
  return el("figure", { class: "voiced", "data-kind": kind || false },
    el("figcaption", {}, el("span", { class: "speaker" }, name), label), el("blockquote", {}, said));
}

export class Voiced {
  #choose;
  #said = el("div", { "aria-live": "polite" });
  #ways = el("details", { class: "ways", hidden: true });
  #problem = el("p", { class: "danger", role: "alert" });
  #form = el("form", { class: "edit", hidden: true });

  /** `choose(choice)` takes another sentence, by index or text, and returns an error or null. */
  constructor(choose) {
    this.#choose = choose;
    this.root = el("div", { class: "voice", hidden: true }, this.#said, this.#ways);
  }

  /** A sentence that is still coming. */
  grow(name, text) {
    this.root.hidden = false;
    this.#said.replaceChildren(spoken(name, text));
  }

  /** What the persona says to an answer, `styled` of its object; nothing where none was asked for. */
  show(styled) {
    this.root.hidden = !styled;
    if (!styled) return;
    const [first] = styled.lines;
    const notice = styled.notice ? el("p", { class: "fine" }, styled.notice) : null;
    const none = el("p", { class: "fine" }, `${styled.persona} says nothing to this.`);
    this.#said.replaceChildren(...[first ? spoken(first.persona, first.text, first.kind) : none, notice].filter(Boolean));
    this.#offer(styled.lines);
  }

  #offer([first, ...others]) {
    const had = this.#ways.contains(document.activeElement);
    const summary = el("summary", {}, "Other ways to say it");
    const items = others.map((line, i) => this.#way(line, i + 1));
    const own = first ? "Edit the sentence above" : "Write a sentence";
    this.#close();
    this.#ways.replaceChildren(summary, el("ol", {}, items), this.#link(own, () => this.#edit(first?.text ?? "")),
      this.#form, this.#problem);
    this.#ways.hidden = this.#ways.open = false;
    if (had) summary.focus();
  }

  #way({ text, kind, persona }, place) {
    return el("li", {},
      spoken(persona, text, kind),
      el("span", { class: "acts" },
        this.#link("Use", () => this.#take(place), `Use: ${text}`), this.#link("Edit", () => this.#edit(text), `Edit: ${text}`)));
  }

  #link(label, click, name = label) {
    return el("button", { type: "button", class: "link", "aria-label": name, on: { click } }, label);
  }

  #edit(text) {
    const input = el("textarea", { "aria-label": "Your sentence", maxlength: LONGEST, rows: 2, required: true, set: { value: text } });
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      if (input.value.trim()) this.#take(input.value);
    };
    const buttons = el("span", { class: "acts" },
      el("button", { type: "submit", class: "primary" }, "Send"), this.#link("Cancel", () => this.#close()));
    this.#form.replaceChildren(input, buttons);
    this.#form.hidden = false;
    input.focus();
  }

  #close() {
    this.#form.replaceChildren();
    this.#form.hidden = true;
    this.#problem.textContent = "";
  }

  async #take(choice) {
    this.#problem.textContent = (await this.#choose(choice)) ?? "";
  }
}
