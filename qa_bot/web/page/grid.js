// The topic map for hints: words in cells on a torus, shaded by the probability of a hint. Choosing a cell makes
// that place the hint; the words in the window around it name it.

import { byId, el, icon } from "./dom.js";

const SHOWN = 3; // words of a cell that are shown
const WORDS = 8; // of a window, in a hint
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Grid {
  #api;
  #chosen;
  #chart = null;
  #cells = [];
  #at = 0;
  #visit = 0;
  #dialog = byId("grid");
  #table = byId("grid-cells");

  /** `chosen(words, cell)` is called with a chosen cell and the words around it. */
  constructor(api, chosen) {
    [this.#api, this.#chosen] = [api, chosen];
    byId("grid-close").append(icon("close"));
    byId("grid-close").addEventListener("click", () => this.#dialog.close());
    byId("grid-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#load(byId("grid-hint").value.trim());
    });
    this.#table.addEventListener("click", (event) => this.#pick(event.target.closest("[role=gridcell]")));
    this.#table.addEventListener("keydown", (event) => this.#key(event));
    this.#table.addEventListener("focusin", (event) => this.#near(event.target));
    this.#table.addEventListener("mouseover", (event) => this.#near(event.target.closest("[role=gridcell]")));
  }

  show(hint) {
    byId("grid-hint").value = hint;
    this.#dialog.showModal();
    return this.#load(hint);
  }

  async #load(hint) {
    const visit = (this.#visit += 1);
    this.#say("Looking at the map…");
    try {
      const chart = await this.#api.grid(hint);
      if (visit !== this.#visit) return;
      this.#draw(chart);
      this.#say(chart.notice ?? "Choose a place: words around it are the hint of your next question.");
    } catch (error) {
      this.#table.replaceChildren();
      this.#chart = null;
      this.#say(error.message);
    }
  }

  #say(text) {
    byId("grid-note").textContent = text;
  }

  #draw(chart) {
    if (!same(chart, this.#chart)) this.#fill(chart);
    this.#chart = chart;
    const shares = chart.posterior ?? [];
    const most = Math.max(...shares, 1e-9);
    this.#cells.forEach((cell, i) => cell.style.setProperty("--share", String((shares[i] ?? 0) / most)));
    this.#go(shares.length ? shares.indexOf(most) : this.#at);
  }

  #fill(chart) {
    this.#cells = chart.cells.map((words, i) => {
      const place = { role: "gridcell", tabindex: "-1", "data-cell": i, "aria-label": words.slice(0, SHOWN).join(", ") };
      return el("div", place, words.slice(0, SHOWN).map((word) => el("span", {}, word)));
    });
    const rows = Array.from({ length: chart.height }, (_, row) =>
      el("div", { role: "row" }, this.#cells.slice(row * chart.width, (row + 1) * chart.width)));
    this.#table.replaceChildren(...rows);
    this.#at = 0;
  }

  /** Make a cell the tab stop, and scroll it into view. */
  #go(at, focus = false) {
    this.#cells[this.#at]?.setAttribute("tabindex", "-1");
    const cell = this.#cells[(this.#at = at)];
    cell?.setAttribute("tabindex", "0");
    const where = focus ? "nearest" : "center";
    cell?.scrollIntoView({ block: where, inline: where });
    if (focus) cell.focus();
  }

  #key(event) {
    if (event.key === "Enter" || event.key === " ") this.#pick(event.target);
    else if (STEPS[event.key]) this.#go(stepped(this.#chart, this.#at, STEPS[event.key]), true);
    else return;
    event.preventDefault();
  }

  #near(cell) {
    if (cell?.dataset.cell) byId("grid-near").textContent = windowWords(this.#chart, Number(cell.dataset.cell)).join(" ");
  }

  #pick(cell) {
    if (!cell) return;
    const place = Number(cell.dataset.cell);
    this.#dialog.close();
    this.#chosen(windowWords(this.#chart, place).join(" "), place);
  }
}

function same(chart, other) {
  return other !== null && JSON.stringify(chart.cells) === JSON.stringify(other.cells) && chart.width === other.width;
}

const wrap = (place, size) => ((place % size) + size) % size;

/** The next cell in a direction; edges wrap around. */
function stepped({ width, height }, at, [down, right]) {
  return wrap(Math.floor(at / width) + down, height) * width + wrap((at % width) + right, width);
}

/** Words of a cell and then of the others in its window, nearest first. */
function windowWords({ width, height, window: size, cells }, cell) {
  const before = Math.floor((size - 1) / 2);
  const reach = Array.from({ length: size }, (_, i) => i - before);
  const steps = reach.flatMap((down) => reach.map((right) => [down, right]));
  steps.sort((a, b) => a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2);
  return [...new Set(steps.flatMap((step) => cells[stepped({ width, height }, cell, step)]))].slice(0, WORDS);
}
