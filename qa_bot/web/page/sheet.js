// The panel with the passage behind a citation: at the side, or at the bottom of a phone.

import { badges } from "./about.js";
import { passageNodes } from "./answer_text.js";
import { copyButton } from "./copy.js";
import { byId, el, iconButton, icon } from "./dom.js";
import { named, placeUrl, placed, slice, states } from "./text.js";

export class Sheet {
  #root = byId("sheet");
  #opener = null;
  #sources = [];
  #cited = 0;
  #changed;

  /** `changed()` is called when the panel opens or closes. */
  constructor(changed) {
    this.#changed = changed;
  }

  get open() {
    return !this.#root.hidden;
  }

  /** Show one of `sources`, of which the first `cited` are numbered in the answer. `opener` gets the focus back. */
  show(sources, place, opener, cited) {
    [this.#sources, this.#opener, this.#cited] = [sources, opener, cited];
    this.#root.hidden = false;
    document.body.classList.add("sheet-open");
    this.#fill(place);
    this.#changed();
    this.#root.focus({ preventScroll: true });
  }

  close() {
    if (!this.open) return;
    this.#root.hidden = true;
    document.body.classList.remove("sheet-open");
    this.#changed();
    if (this.#opener?.isConnected) this.#opener.focus({ preventScroll: true });
  }

  #fill(place) {
    const source = this.#sources[place];
    const content = el("div", { class: "page" }, this.#heading(source, place), passage(source));
    this.#root.replaceChildren(this.#bar(place), content);
    const mark = this.#root.querySelector("mark");
    if (mark) mark.scrollIntoView({ block: "nearest" });
  }

  #bar(place) {
    const step = (by, name, label) => {
      const attributes = { disabled: !(place + by in this.#sources), "data-step": by };
      return iconButton(name, label, () => this.#step(place + by, by), attributes);
    };
    return el("div", { class: "sheet-bar" },
      el("span", { class: "count" }, `${place + 1} of ${this.#sources.length}`),
      step(-1, "back", "Document before"),
      step(1, "next", "Next document"),
      iconButton("close", "Close the passage", () => this.close()));
  }

  #step(place, by) {
    this.#fill(place);
    const same = this.#root.querySelector(`[data-step="${by}"]`);
    (same.disabled ? this.#root : same).focus({ preventScroll: true });
  }

  #heading(source, place) {
    const used = place < this.#cited ? `Source ${place + 1}` : "Considered, not used in the answer";
    const url = placeUrl(source, firstWords(source));
    return [
      el("p", { class: "label" }, used),
      el("h2", { id: "sheet-title" }, named(source)),
      source.heading?.length ? el("p", { class: "where" }, source.heading.join(" › ")) : null,
      placed(source) || states(source).length ? el("p", { class: "where" }, placed(source), badges(source)) : null,
      el("p", { class: "where" }, [source.collection, source.document].filter(Boolean).join(" / ")),
      url ? link(url) : source.path ? copyable(source.path) : null,
    ].filter(Boolean);
  }
}

function link(url) {
  const away = { target: "_blank", rel: "noopener noreferrer" };
  return el("a", { class: "out", href: url, ...away }, new URL(url).hostname, icon("out"));
}

/** The path of a local file: a page of the web cannot open it. */
function copyable(path) {
  return el("p", { class: "copyable" }, el("code", {}, path), copyButton(() => path, "Copy the path"));
}

/** The visible words where the used part of a passage begins. */
function firstWords({ text, source_span: span }) {
  const [first] = passageNodes(span ? slice(text, ...span) : text);
  return (first?.querySelector("td, li p") ?? first)?.textContent ?? "";
}

function passage({ text, source_span: span }) {
  return el("blockquote", { class: "text" }, passageNodes(text, span));
}
