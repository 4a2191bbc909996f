// The list of conversations: open, rename, download, delete.

import { byId, el, iconButton } from "./dom.js";
import { when } from "./text.js";

export class Sidebar {
  #api;
  #open;
  #gone;
  #renamed;
  #list = byId("conversations");
  #current = null;

  /** `open(id)` is called for a chosen conversation, `gone(id)` for a deleted one, `renamed()` after a new name. */
  constructor(api, { open, gone, renamed }) {
    this.#api = api;
    this.#open = open;
    this.#gone = gone;
    this.#renamed = renamed;
    this.#list.addEventListener("keydown", (event) => this.#move(event));
  }

  async refresh() {
    try {
      this.#fill(await this.#api.conversations());
    } catch (error) {
      this.#list.replaceChildren(el("li", { class: "fine" }, error.message));
    }
  }

  mark(current) {
    this.#current = current;
    for (const item of this.#list.children) this.#markItem(item);
  }

  #fill(conversations) {
    const focused = document.activeElement?.closest("#conversations li")?.dataset.id;
    const items = conversations.filter((each) => each.turns !== 0).map((each) => this.#item(each));
    this.#list.replaceChildren(...(items.length ? items : [el("li", { class: "fine" }, "Nothing asked yet.")]));
    if (focused) this.#list.querySelector(`[data-id="${CSS.escape(focused)}"] .open`)?.focus();
  }

  #item({ id, title, updated }) {
    const name = title || "Untitled";
    const open = el("button", { type: "button", class: "open", title: name, on: { click: () => this.#open(id) } },
      el("span", { class: "name" }, name), el("span", { class: "where" }, when(updated)));
    const item = el("li", { "data-id": id }, open,
      el("span", { class: "buttons" },
        iconButton("pencil", `Rename “${name}”`, () => this.#rename(item, id, name)),
        iconButton("save", `Download “${name}”`, () => this.#try(() => this.#download(id, name))),
        iconButton("bin", `Delete “${name}”`, () => this.#confirm(item, id, name))));
    this.#markItem(item);
    return item;
  }

  #markItem(item) {
    const button = item.querySelector(".open");
    if (item.dataset.id === this.#current) button?.setAttribute("aria-current", "true");
    else button?.removeAttribute("aria-current");
  }

  #rename(item, id, name) {
    const input = el("input", { "aria-label": "New name", maxlength: 200, set: { value: name } });
    const done = async (save) => {
      input.onblur = null;
      const title = input.value.trim();
      if (save && title && title !== name) await this.#try(() => this.#api.rename(id, title));
      await this.refresh();
      this.#renamed();
      this.#focus(id);
    };
    input.onblur = () => done(true);
    input.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      done(event.key === "Enter");
    };
    item.replaceChildren(input);
    input.select();
  }

  #confirm(item, id, name) {
    const back = () => this.refresh().then(() => this.#focus(id));
    const no = el("button", { type: "button", class: "link", on: { click: back } }, "Keep");
    const yes = el("button", { type: "button", class: "link danger", on: { click: () => this.#delete(id) } }, "Delete");
    yes.setAttribute("aria-label", `Delete “${name}” for good`);
    item.replaceChildren(el("span", { class: "sure" }, "Delete for good?"), yes, no);
    no.focus();
  }

  /** Download as Markdown; a plain link could not send the token. */
  async #download(id, name) {
    const file = new Blob([await this.#api.transcript(id)], { type: "text/markdown" });
    const href = URL.createObjectURL(file);
    el("a", { href, download: `${name}.md` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  async #delete(id) {
    await this.#try(() => this.#api.remove(id));
    this.#gone(id);
    await this.refresh();
  }

  async #try(work) {
    try {
      await work();
    } catch (error) {
      if (error.status !== 404) byId("state").textContent = error.message;
    }
  }

  #focus(id) {
    this.#list.querySelector(`[data-id="${CSS.escape(id)}"] .open`)?.focus();
  }

  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.tagName === "INPUT") return;
    event.preventDefault();
    const buttons = [...this.#list.querySelectorAll(".open")];
    const at = buttons.indexOf(event.target.closest("li")?.querySelector(".open"));
    buttons[Math.min(buttons.length - 1, Math.max(0, at + step))]?.focus();
  }
}
