// The persona of the next answer and its hint, typed or chosen on the map.

import { byId, el, icon } from "./dom.js";
import { Grid } from "./grid.js";

export class Voice {
  #picker = byId("persona");
  #hint = byId("topic");
  #cell = null; // chosen on the map, until the hint is edited

  constructor(api) {
    const grid = new Grid(api, (words, cell) => this.#choose(words, cell));
    byId("grid-open").append(icon("map"));
    byId("grid-open").addEventListener("click", () => grid.show(this.hint));
    this.#picker.addEventListener("change", () => this.#reveal());
    this.#hint.addEventListener("input", () => (this.#cell = null));
  }

  get persona() {
    return this.#picker.value;
  }

  get hint() {
    return this.persona && this.#hint.value.trim();
  }

  /** Place on the map that the hint was chosen at, or null. */
  get cell() {
    return this.hint ? this.#cell : null;
  }

  /** Clear the hint, which is for one question only. */
  spend() {
    this.#hint.value = "";
    this.#cell = null;
  }

  offer(names) {
    const before = this.persona;
    const choices = [["", "Plain"], ...names.map((name) => [name, name])];
    this.#picker.replaceChildren(...choices.map(([value, name]) => el("option", { value }, name)));
    this.#picker.value = names.includes(before) ? before : "";
    byId("persona-label").hidden = names.length === 0;
    this.#reveal();
  }

  #reveal() {
    for (const id of ["topic-label", "grid-open"]) byId(id).hidden = !this.persona;
  }

  #choose(words, cell) {
    this.#hint.value = words;
    this.#cell = cell;
    byId("question").focus();
  }
}
