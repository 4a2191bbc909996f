// A question without a good answer: its frequency, the comments on it, and the form to answer it.

import { el } from "./dom.js";
import { markdown } from "./markdown.js";
import { named, safeUrl, when } from "./text.js";
import { Trial } from "./trial.js";

const LONGEST = { question: 2000, answer: 20000, url: 2000 }; // limits of the service, in characters

export class Gap {
  #gap;
  #api;
  #settled;
  #form = null;
  #problem = el("p", { class: "danger", role: "alert" });

  /** `settled(gap, message)` is called when the question is answered, or dismissed with a message. */
  constructor(gap, api, settled) {
    [this.#gap, this.#api, this.#settled] = [gap, api, settled];
    this.heading = el("h2", { id: `gap-${gap.key}`, tabindex: "-1" }, gap.question || "(an empty question)");
    this.answer = this.#button("add", "Add an answer", "primary", () => this.#write());
    this.dismiss = this.#button("dismiss", "Dismiss", "link", () => this.#dismiss());
    this.buttons = el("p", { class: "buttons" }, this.answer, this.dismiss);
    this.root = el("li", { class: "gap", "aria-labelledby": this.heading.id },
      frequency(gap.asked),
      el("div", { class: "about" }, this.heading, history(gap), comments(gap.comments), nearest(gap.nearest),
        answered(gap.answer), this.buttons, this.#problem));
  }

  #button(name, label, kind, click) {
    const id = `${name}-${this.#gap.key}`;
    const named = { id, "aria-labelledby": `${id} ${this.heading.id}` };
    return el("button", { type: "button", class: kind, ...named, on: { click } }, label);
  }

  // --- answering ---

  #write() {
    const { key, question } = this.#gap;
    this.#form = el("form", { class: "answer-form", on: { submit: (event) => this.#submit(event) } },
      field("Question", "question", key, { set: { value: question }, rows: 2, required: true }),
      field("Answer", "answer", key, { rows: 5, required: true }),
      field("Link, if there is more to read", "url", key, { type: "url", pattern: "https?://\\S+", placeholder: "https://" }),
      el("p", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Save"),
        el("button", { type: "button", class: "link", on: { click: () => this.#cancel() } }, "Cancel")));
    this.#form.addEventListener("keydown", (event) => event.key === "Escape" && this.#cancel());
    this.buttons.hidden = true;
    this.buttons.after(this.#form);
    this.#form.elements.answer.focus();
  }

  #cancel() {
    this.#form.remove();
    this.#say("");
    this.buttons.hidden = false;
    this.answer.focus();
  }

  async #submit(event) {
    event.preventDefault();
    const { question, answer, url } = this.#form.elements;
    const values = [question.value.trim(), answer.value.trim(), url.value.trim()];
    await this.#try(() => this.#api.addAnswer(...values, this.#gap.key), () => this.#live(values[0]));
  }

  /** The bot's new answer in place of the form. */
  #live(question) {
    this.#form.remove();
    this.buttons.remove();
    const trial = new Trial(this.#api, this.#gap.question.trim() ? this.#gap.question : question);
    this.#problem.before(trial.root);
    this.root.classList.add("live");
    this.#settled(this, "");
    this.heading.focus();
    trial.run();
  }

  // --- dismissing ---

  async #dismiss() {
    await this.#try(() => this.#api.dismiss(this.#gap.key), () => this.#settled(this, "Dismissed."));
  }

  /** Run one action at a time, then `then`; errors are shown. */
  async #try(work, then) {
    if (this.root.inert) return;
    this.root.inert = true;
    const focused = document.activeElement;
    try {
      await work();
    } catch (error) {
      if (error.status !== 404) return this.#say(error.message);
    } finally {
      this.root.inert = false;
      focused?.focus();
    }
    this.#say("");
    return then();
  }

  #say(problem) {
    this.#problem.textContent = problem;
  }
}

function frequency(count) {
  return el("p", { class: "asked" }, el("strong", {}, String(count)), ` ${count === 1 ? "time" : "times"}`);
}

function history({ unanswered, downvoted, last }) {
  const counts = [unanswered && `${unanswered} unanswered`, downvoted && `${downvoted} voted down`];
  return el("p", { class: "fine" }, [...counts, `last asked ${when(last)}`].filter(Boolean).join(" · "));
}

function comments(said) {
  if (!said.length) return null;
  return el("ul", { class: "comments", "aria-label": "Comments" }, said.map((each) => el("li", {}, `“${each}”`)));
}

function nearest(document) {
  if (!document) return null;
  const url = safeUrl(document.url);
  const away = { target: "_blank", rel: "noopener noreferrer", class: "link" };
  const name = url ? el("a", { href: url, ...away }, named(document)) : named(document);
  const where = el("span", { class: "where" }, [document.collection, document.document].filter(Boolean).join(" / "));
  return el("p", { class: "nearest" }, "Nearest document: ", name, " ", where);
}

function answered(text) {
  if (!text) return null;
  return el("details", { class: "further" }, el("summary", {}, "What was answered"), el("div", { class: "text" }, markdown(text)));
}

/** A labelled field; one with rows is a text area. */
function field(label, name, key, { rows = null, ...attributes }) {
  const id = `${name}-${key}`;
  const given = { id, name, maxlength: LONGEST[name], autocomplete: "off", rows, ...attributes };
  return [el("label", { for: id }, label), el(rows ? "textarea" : "input", given)];
}
