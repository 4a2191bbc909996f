import { el, iconButton } from "./dom.js";

const ASKED = { up: "What was good about it? (if you like)", down: "What is wrong or missing? (if you like)" };

/** Thumbs up and down, and a comment for those who like: `buttons` and `form` are to be put on the page. */
export class Voting {
  #save;
  #votes = {
    up: iconButton("up", "Good answer", () => this.#vote("up"), { "aria-pressed": "false" }),
    down: iconButton("down", "Bad answer", () => this.#vote("down"), { "aria-pressed": "false" }),
  };

  /** `save(vote, comment)` keeps a vote and tells what went wrong, or null. */
  constructor(save) {
    this.#save = save;
    this.buttons = Object.values(this.#votes);
    this.form = el("form", { class: "comment", hidden: true });
  }

  show(given) {
    for (const [vote, button] of Object.entries(this.#votes)) button.setAttribute("aria-pressed", String(vote === given));
  }

  /** A vote counts at once: many who vote write nothing. */
  async #vote(vote) {
    this.show(vote);
    const problem = await this.#save(vote);
    this.form.hidden = false;
    if (problem) {
      this.show(null);
      this.#say(problem);
    } else this.#ask(vote);
    this.form.scrollIntoView({ block: "nearest" });
  }

  #ask(vote) {
    const asked = { "aria-label": ASKED[vote], placeholder: ASKED[vote] };
    const input = el("input", { ...asked, maxlength: 2000, autocomplete: "off" });
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.#comment(vote, input.value.trim());
    };
    this.form.replaceChildren(input, el("button", { type: "submit", class: "primary" }, "Send"));
    input.focus({ preventScroll: true });
  }

  async #comment(vote, comment) {
    const problem = comment ? await this.#save(vote, comment) : null;
    this.#say(problem, "Thank you.");
  }

  #say(problem, otherwise) {
    this.form.replaceChildren(el("p", { role: problem ? "alert" : "status" }, problem || otherwise));
  }
}
