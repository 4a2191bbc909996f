// Blind comparison: two answers side by side in random order, judged by buttons or keys, then the table of results.
// The service sends no names of sides, so nothing on this page can reveal one.

import { el } from "./dom.js";
import { markdown } from "./markdown.js";
import { keep, recall } from "./token.js";

const JUDGE = "qa-bot:judge";
const KEYS = { 1: "first", 2: "second", 0: "tie", s: "skip" };
const GRADES = ["bad", "fair", "good", "excellent"];
const COLUMNS = ["", "Questions", "Judgements", "A preferred", "Tie", "B preferred", "A − B", "p"];
const NAME = { maxlength: 64, pattern: "\\S+( \\S+)*", title: "Words with single blanks between them" };

/** Build the comparison in `root`, an empty section of the page. */
export function mount(root, api) {
  new Comparing(root, api).refresh();
}

class Comparing {
  #root;
  #api;
  #judge = "";
  #name = "";
  #pair = null;
  #shownAt = 0;
  #skipped = false;
  #busy = false;
  #pick = el("select", { id: "compare-name" });
  #who = el("input", { id: "compare-judge", required: true, autocomplete: "off", ...NAME });
  #form = el("form", { class: "compare-form", hidden: true, on: { submit: (event) => this.#begin(event) } });
  #empty = el("p", { class: "fine", hidden: true });
  #state = el("p", { class: "fine", role: "status" });
  #arena = el("div", { class: "compare-arena" });

  constructor(root, api) {
    [this.#root, this.#api] = [root, api];
    this.#who.value = recall(JUDGE) ?? "";
    this.#form.append(
      el("label", {}, "Comparison ", this.#pick),
      el("label", {}, "Your name ", this.#who),
      el("button", { type: "submit", class: "primary" }, "Judge"),
      el("button", { type: "button", class: "link", on: { click: () => this.#table(this.#pick.value, false) } }, "Show the table"),
    );
    const title = el("h2", { id: "compare-title" }, "Blind comparison");
    root.append(title, this.#form, this.#empty, this.#state, this.#arena, this.#files());
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The comparisons to judge. */
  async refresh(chosen) {
    try {
      const comparisons = await this.#api.comparisons();
      this.#pick.replaceChildren(...comparisons.map(option));
      if (chosen) this.#pick.value = chosen;
      this.#form.hidden = !comparisons.length;
      this.#empty.hidden = comparisons.length > 0;
      this.#empty.textContent = "Nothing is prepared yet. Give two files of answers, or run: qa-bot compare A B --prepare";
    } catch (error) {
      this.#form.hidden = true;
      this.#say(error.message);
    }
  }

  /** Make a comparison from two files with a JSON object {"question", "answer"} a line. */
  #files() {
    const [one, other] = ["A", "B"].map((side) => [`Answers of ${side}`, el("input", { type: "file", required: true })]);
    const pattern = "[A-Za-z0-9][A-Za-z0-9_.\\-]*";
    const name = el("input", { required: true, maxlength: 64, pattern, title: "Letters, digits, dots and hyphens" });
    const fields = [["Name", name], one, other].map(([label, input]) => el("label", {}, `${label} `, input));
    const prepare = async () => {
      const [a, b] = await Promise.all([one, other].map(([, input]) => readFile(input.files[0])));
      const made = await this.#api.prepare(name.value, a, b);
      await this.refresh(made.name);
      this.#say(`${made.name}: ${made.questions} to judge. ${made.wrong.join(" ")}`);
    };
    const on = { submit: (event) => (event.preventDefault(), this.#work(prepare)) };
    const form = el("form", { class: "compare-form", on }, fields, el("button", { type: "submit", class: "primary" }, "Prepare"));
    return el("details", { class: "further" }, el("summary", {}, "Compare two files of answers"), form);
  }

  #begin(event) {
    event.preventDefault();
    [this.#judge, this.#name] = [this.#who.value.trim(), this.#pick.value];
    keep(JUDGE, this.#judge);
    this.#skipped = false;
    return this.#next(0);
  }

  #next(start) {
    return this.#work(async () => {
      let reply = await this.#api.nextPair(this.#name, this.#judge, start);
      if (!reply.pair && this.#skipped) {
        this.#skipped = false;
        reply = await this.#api.nextPair(this.#name, this.#judge, 0);
      }
      if (reply.pair) this.#show(reply);
      else await this.#end(`${reply.done} of ${reply.questions} judged. Thank you.`);
    });
  }

  /** Run one action at a time, so that a key pressed twice judges once. */
  async #work(task) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      await task();
    } catch (error) {
      this.#say(error.message);
    } finally {
      this.#busy = false;
    }
  }

  #show({ pair, done, questions }) {
    [this.#pair, this.#shownAt] = [pair, performance.now()];
    this.#say(`${done + 1} of ${questions}`);
    const question = el("h3", { tabindex: "-1" }, pair.question || pair.body);
    const body = pair.question && pair.body ? [el("p", { class: "compare-body" }, pair.body)] : [];
    const sides = [side("first", "Answer 1", pair.first), side("second", "Answer 2", pair.second)];
    const buttons = [
      this.#button("first", "1", "Answer 1 is better"),
      this.#button("tie", "0", "Tie"),
      this.#button("second", "2", "Answer 2 is better"),
      this.#button("skip", "s", "Skip"),
    ];
    this.#arena.replaceChildren(
      question,
      ...body,
      el("div", { class: "compare-sides" }, sides),
      el("div", { class: "compare-buttons" }, buttons),
    );
    question.focus({ preventScroll: true });
  }

  #button(choice, key, label) {
    const options = { type: "button", class: "wide", on: { click: () => this.#choose(choice) }, "aria-keyshortcuts": key };
    return el("button", options, label, el("kbd", { "aria-hidden": "true" }, key));
  }

  #key(event) {
    const choice = KEYS[event.key.toLowerCase()];
    const [at, other] = [event.target, event.ctrlKey || event.metaKey || event.altKey || event.repeat];
    if (!choice || !this.#pair || other || at.closest("input, select, textarea, dialog")) return;
    if (at !== document.body && !this.#root.contains(at)) return;
    event.preventDefault();
    this.#choose(choice);
  }

  #choose(choice) {
    const pair = this.#pair;
    if (!pair || this.#busy) return undefined;
    if (choice === "skip") {
      this.#skipped = true;
      return this.#next(pair.place + 1);
    }
    const seconds = Math.min(86400, (performance.now() - this.#shownAt) / 1000);
    return this.#work(async () => {
      await this.#api.judge(this.#name, { judge: this.#judge, qid: pair.qid, choice, grades: this.#grades(), seconds });
      this.#pair = null;
    }).then(() => this.#pair === null && this.#next(pair.place + 1));
  }

  #grades() {
    const chosen = [...this.#arena.querySelectorAll("select")].map(({ name, value }) => [name, value]);
    return Object.fromEntries(chosen.filter(([, value]) => value).map(([name, value]) => [name, Number(value)]));
  }

  async #end(thanks) {
    this.#pair = null;
    await this.#draw(this.#name, false);
    this.#say(thanks);
    this.refresh(this.#name);
  }

  #table(name, reveal) {
    this.#pair = null;
    return this.#work(() => this.#draw(name, reveal));
  }

  async #draw(name, reveal) {
    const reply = await this.#api.comparison(name, reveal);
    const hidden = el("button", { type: "button", class: "link", on: { click: () => this.#table(name, true) } }, "Show what A and B are");
    const sides = el("p", {}, `A is ${reply.a}, B is ${reply.b}.`);
    const heading = el("h3", { tabindex: "-1" }, reply.conclusion);
    this.#say("");
    this.#arena.replaceChildren(heading, el("div", { class: "wide-table" }, table(reply.rows)), reveal ? sides : hidden, el("p", { class: "fine" }, about(reply)));
    heading.focus({ preventScroll: true });
  }

  #say(text) {
    this.#state.textContent = text;
  }
}

async function readFile(file) {
  return { name: file.name, answers: await file.text() };
}

function option({ name, questions, judges }) {
  return el("option", { value: name }, `${name} (${questions} questions, ${counted(judges)})`);
}

function counted(judges) {
  const count = Object.keys(judges).length;
  return `${count} ${count === 1 ? "judge" : "judges"}`;
}

function side(name, label, text) {
  const levels = GRADES.map((grade, level) => el("option", { value: level }, grade));
  return el(
    "article",
    { "aria-label": label },
    el("h4", {}, label),
    text ? el("div", { class: "text" }, markdown(text)) : el("p", { class: "text fine" }, "No answer."),
    el("label", { class: "fine" }, "How good is it? ", el("select", { name }, el("option", { value: "" }, "–"), levels)),
  );
}

function table(rows) {
  const head = el("tr", {}, COLUMNS.map((name) => el("th", { scope: "col" }, name)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, rows.map(line)));
}

function line(row) {
  const shares = [row.prefer_a, row.tie, row.prefer_b].map((share) => `${Math.round(100 * share)} %`);
  const spread = `${signed(row.difference)} (${signed(row.low)} to ${signed(row.high)})`;
  const cells = [row.questions, row.judgements, ...shares, spread, row.p < 0.001 ? "< .001" : row.p.toFixed(3).replace(/^0/, "")];
  return el("tr", {}, el("th", { scope: "row" }, row.grade), cells.map((cell) => el("td", { class: "count" }, String(cell))));
}

function signed(share) {
  const percent = Math.round(100 * share);
  return `${percent > 0 ? "+" : ""}${percent} %`.replace("-", "−");
}

function about(reply) {
  const parts = [
    counted(reply.judges),
    reply.alpha === null ? "" : `agreement α = ${reply.alpha.toFixed(2).replace("-", "−")}`,
    reply.identical ? `${reply.identical} identical answers are ties` : "",
    reply.waiting ? `${reply.waiting} questions not judged yet` : "",
    "p is how often chance alone would make a difference as clear",
  ];
  return `${parts.filter(Boolean).join("; ")}.`;
}
