// Two personas answer each other in turn. What they say is no answer: nothing of it is recorded or has sources.

import { byId, el } from "./dom.js";
import { slice } from "./text.js";
import { spoken } from "./voiced.js";

const ROUND = 8; // sentences before people are asked whether they want more
const PAUSE = 700; // milliseconds between two, to read them
const HEARD = 2; // turns that a persona hears
const HINT = 200; // characters of what all of it should be about
const CHOICES = 10; // sentences that are looked at for one that was not said before

export class Debate {
  #api;
  #names = [];
  #said = [];
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

  /** Fill the pickers; whether there are enough voices for a debate. */
  offer(names) {
    ["debate-one", "debate-two"].forEach((id, place) => {
      const before = byId(id).value;
      byId(id).replaceChildren(...names.map((name) => el("option", { value: name }, name)));
      byId(id).value = names.includes(before) ? before : (names[place] ?? "");
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
    if (names[0] === names[1]) return this.#tell("Choose two different speakers.");
    [this.#names, this.#said] = [names, [byId("debate-topic").value.trim()]];
    byId("debate-said").replaceChildren(el("li", { class: "topic" }, this.#said[0]));
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
    const name = this.#names[(this.#said.length - 1) % 2];
    this.#tell(`${name} is thinking…`);
    const { lines, notice } = await this.#api.speak(name, this.#said.slice(-HEARD), slice(this.#said[0], 0, HINT), CHOICES);
    if (visit !== this.#visit) return;
    if (!lines.length) throw new Error(notice || `${name} has nothing more to say.`);
    const before = new Set(this.#said.map((text) => text.toLowerCase()));
    const line = lines.find(({ text }) => !before.has(text.toLowerCase())) ?? lines[0];
    const item = el("li", { class: this.#said.length % 2 ? "one" : "two" }, spoken(name, line.text, line.kind));
    this.#said.push(line.text);
    byId("debate-said").append(item);
    item.scrollIntoView({ block: "nearest" });
    this.#tell("");
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }

  #rest(why) {
    this.#running = false;
    this.#button("Go on");
    this.#tell(this.#said.length ? why : "");
  }

  #button(label) {
    this.#go.textContent = label;
    this.#go.hidden = this.#said.length === 0;
  }

  #tell(text) {
    byId("debate-state").textContent = text;
  }
}
