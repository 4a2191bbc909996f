// A question asked on the owner's page, with the bot's current answer.

import { el } from "./dom.js";
import { markdown } from "./markdown.js";
import { named } from "./text.js";

export class Trial {
  #api;
  #input;
  #state = el("p", { class: "fine", role: "status" });
  #said = el("div", { class: "said" });

  constructor(api, question) {
    this.#api = api;
    this.#input = el("input", { "aria-label": "Ask the bot", maxlength: 20000, autocomplete: "off", required: true });
    this.#input.value = question;
    const form = el("form", { class: "trial-form", on: { submit: (event) => this.#submit(event) } },
      this.#input, el("button", { type: "submit", class: "primary" }, "Ask"));
    this.root = el("section", { class: "trial", "aria-label": "Try it" },
      el("h3", {}, "Live: try it"), form, this.#state, this.#said);
  }

  /** Ask the written question, and show the answer. */
  async run() {
    this.#state.textContent = "Asking…";
    this.#said.replaceChildren();
    try {
      this.#show(await this.#api.ask(this.#input.value.trim()));
    } catch (error) {
      this.#state.textContent = error.message;
    }
  }

  #submit(event) {
    event.preventDefault();
    if (this.#input.value.trim()) this.run();
  }

  #show({ answered, answer, reason, sources, conversation }) {
    this.#state.textContent = answered ? "The bot now says:" : "The bot still does not answer this:";
    this.#said.replaceChildren(answered ? el("div", { class: "text" }, markdown(answer)) : el("p", { class: "text" }, reason), ...from(sources));
    // Delete the conversation of the trial, unless the question is still unanswered and belongs to the list again.
    if (answered) this.#api.remove(conversation).catch(() => {});
  }
}

function from(sources) {
  const used = sources.filter((source) => source.span);
  return used.length ? [el("p", { class: "fine" }, `From ${used.map(named).join(", ")}`)] : [];
}
