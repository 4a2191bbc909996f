// A debate: two personas reply to each other in turn. Nothing of it is recorded or has sources.

import { byId, el } from "./dom.js";
import { slice } from "./text.js";
import { spoken } from "./voiced.js";

const ROUND = 8; // sentences until the user can continue
const PAUSE = 700; // milliseconds between two sentences
const HEARD = 2; // turns that a persona replies to
const HINT = 200; // limit of the topic in characters
const CHOICES = 10; // candidates, of which the first new one is used

export class Debate {
  #api;
  #names = [];
  #turns = [];
  #visit = 0;
  #running = false;
  #root = byId("debate");
  #go = byId("debate-go");

  constructor(api) {
    this.#api = api;
    byId("debate-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#begin();
    });
    this.#go.addEventListener("click", () => (this.#running ? this.stop() : this.#talk()));
  }

  get open() {
    return !this.#root.hidden;
  }

  /** Fill the pickers; returns whether there are enough personas for a debate. */
  offer(names) {
    ["debate-one", "debate-two"].forEach((id, index) => {
      const before = byId(id).value;
      byId(id).replaceChildren(...names.map((name) => el("option", { value: name }, name)));
      byId(id).value = names.includes(before) ? before : (names[index] ?? "");
    });
    return names.length > 1;
  }

  show(shown) {
    this.stop();
    this.#root.hidden = !shown;
    if (shown) byId("debate-topic").focus();
  }

  stop() {
    this.#visit += 1;
    this.#rest("Stopped.");
  }

  #begin() {
    const names = ["debate-one", "debate-two"].map((id) => byId(id).value);
    if (names[0] === names[1]) return this.#notify("Choose two different speakers.");
    [this.#names, this.#turns] = [names, [byId("debate-topic").value.trim()]];
    byId("debate-said").replaceChildren(el("li", { class: "topic" }, this.#turns[0]));
    return this.#talk();
  }

  async #talk() {
    const visit = (this.#visit += 1);
    this.#running = true;
    this.#button("Stop");
    try {
      for (let i = 0; i < ROUND && visit === this.#visit; i += 1) await this.#reply(visit);
      if (visit === this.#visit) this.#rest("");
    } catch (error) {
      if (visit === this.#visit) this.#rest(error.message);
    }
  }

  async #reply(visit) {
    const name = this.#names[(this.#turns.length - 1) % 2];
    this.#notify(`${name} is thinking…`);
    const { lines, notice } = await this.#api.speak(name, this.#turns.slice(-HEARD), slice(this.#turns[0], 0, HINT), CHOICES);
    if (visit !== this.#visit) return;
    if (!lines.length) throw new Error(notice || `${name} has nothing more to say.`);
    const before = new Set(this.#turns.map((text) => text.toLowerCase()));
    const line = lines.find(({ text }) => !before.has(text.toLowerCase())) ?? lines[0];
    const item = el("li", { class: this.#turns.length % 2 ? "one" : "two" }, spoken(name, line.text, line.kind));
    this.#turns.push(line.text);
    byId("debate-said").append(item);
    item.scrollIntoView({ block: "nearest" });
    this.#notify("");
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }

  #rest(why) {
    this.#running = false;
    this.#button("Go on");
    this.#notify(this.#turns.length ? why : "");
  }

  #button(label) {
    this.#go.textContent = label;
    this.#go.hidden = this.#turns.length === 0;
  }

  #notify(text) {
    byId("debate-state").textContent = text;
  }
}
