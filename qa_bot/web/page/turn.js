// One turn on the page: a question and its answer.

import { answerNodes } from "./answer_text.js";
import { badges, confidence, countDown, opener, section } from "./about.js";
import { copyButton } from "./copy.js";
import { el } from "./dom.js";
import { length, named, placed, plain, safeUrl, seconds, slice, titled } from "./text.js";
import { Voiced } from "./voiced.js";
import { Voting } from "./voting.js";
import { why } from "./why.js";

const STAGES = {
  queued: "Waiting for the question before",
  retrieve: "Searching your documents",
  rank: "Weighing what was found",
  decide: "Checking whether it answers",
  compose: "Putting the answer together",
  style: "Finding words for it",
};
const TAKES = {
  status: "stage",
  query: "understood",
  sources: "found",
  delta: "grow",
  clarify: "clarify",
  final: "answer",
  error: "fail",
};
const UNSURE = "I am not sure, this comes nearest:";
const WHICH = "Which of these do you mean?";
const INSTEAD = "Your documents answer these:";
const CLOSEST = 3; // documents shown without an answer

/** Whether the choices are meanings of the question, and not other questions. */
const asksBack = ({ choices, suggested }) => Boolean(choices) && !suggested;

/**
 * `actions` holds the actions of the user: `cite(sources, place, opener)`, `vote(answerId, vote, comment)`, `again(question)`,
 * `choose(turn, choice)`, `raw(turn)` and `pick(turn, choice)`, which takes another styled sentence.
 */
export class Turn {
  #actions;
  #sources = [];
  #text = "";
  #lead = null;
  #parts = {};
  #styled = null; // of the answer object; {} while a styled answer arrives
  #answer = null;

  constructor(id, question, actions, persona = "") {
    this.id = id;
    this.persona = persona;
    this.seq = 0;
    this.done = false;
    this.#actions = actions;
    this.root = el("article", { class: "turn", "data-turn": id }, this.#heading(), this.#working());
    this.ask(question);
  }

  /** Show the question, which arrives late if the turn began in another tab. */
  ask(question) {
    this.question = question;
    this.#parts.question.textContent = question;
    this.#parts.question.classList.toggle("long", question.length > 160);
  }

  /** Handle one frame of the service. */
  take(frame) {
    const takes = TAKES[frame.type];
    if (takes) this[takes](frame);
  }

  /** Discard the received text, which comes again; it stays visible until then. */
  rewind() {
    this.seq = 0;
    [this.#text, this.#lead] = ["", null];
  }

  stage({ stage }) {
    if (stage === "style") this.#styled = {};
    this.#parts.stage.textContent = `${STAGES[stage] ?? stage}…`;
  }

  /** Show how a follow-up was understood, with a button that asks the written question. */
  understood({ text }) {
    this.#parts.understood.replaceChildren();
    if (!text || text === this.question) return;
    const undo = el("button", { type: "button", class: "link", on: { click: () => this.#actions.raw(this) } }, "Undo");
    undo.setAttribute("aria-label", "Undo: ask it as it was written");
    this.#parts.understood.replaceChildren("Understood as ", el("q", {}, text), " ", undo);
  }

  found({ sources }) {
    this.#sources = sources;
  }

  grow({ text }) {
    const before = length(this.#text);
    this.#parts.progress.hidden = true; // the text replaces it, so that it does not move at the end
    this.#text += text;
    if (this.#begins) this.#parts.voice.grow(this.persona, slice(this.#text, 0, this.#begins).trim());
    this.#compose(before);
  }

  clarify({ choices, suggested }) {
    const buttons = choices.map(({ text }, place) =>
      el("button", { type: "button", class: "choice", on: { click: () => this.#actions.choose(this, place) } }, text));
    this.#parts.choices.replaceChildren(el("p", {}, suggested ? INSTEAD : WHICH), ...buttons);
    this.#idle();
  }

  /** Show the final answer object. */
  answer(answer) {
    this.#finish();
    this.answerId = answer.turn ?? answer.id;
    if (answer.question && !this.question) this.ask(answer.question);
    this.understood({ text: answer.understood });
    this.#say(answer);
    if (answer.choices) this.clarify(answer);
    this.#parts.foot.replaceChildren(...this.#about(answer));
  }

  /** Ask again with another meaning; the old answer stays until new text arrives. */
  reopen() {
    this.done = false;
    this.rewind();
    this.#styled = null;
    this.#parts.choices.replaceChildren();
    this.#parts.understood.replaceChildren();
    this.#parts.foot.replaceChildren();
    this.#parts.notice.hidden = true;
    this.#parts.former.hidden = true;
    this.#parts.voice.show(null);
    this.#parts.stage.textContent = "Sending…";
    this.#parts.progress.hidden = false;
  }

  /** Show the same answer with another sentence of the persona. */
  renew(answer) {
    if (JSON.stringify(answer.styled) !== JSON.stringify(this.#styled ?? undefined)) this.#say(answer);
  }

  /** The user stopped the question. */
  stopped() {
    if (this.done) return;
    this.#finish();
    this.#parts.foot.replaceChildren(this.#again("Stopped.", "Ask again"));
  }

  fail({ code, message, retry_after: wait }) {
    if (code === "cancelled") return this.stopped();
    this.#finish();
    const busy = ["overloaded", "too_many_requests"].includes(code);
    const note = busy ? `The service is busy just now. ${message}` : message;
    const again = this.#again(note, "Ask again", busy ? Math.ceil(wait ?? 5) : 0);
    this.#parts.foot.replaceChildren(el("div", { class: "notice", role: "alert" }, again));
  }

  /** Show an earlier vote. */
  vote(given) {
    this.#parts.voting?.show(given);
  }

  #heading() {
    this.#parts.question = el("h2", { class: "question" });
    this.#parts.understood = el("p", { class: "understood" });
    return el("header", {}, this.#parts.question, this.#parts.understood);
  }

  #working() {
    const parts = this.#parts;
    parts.stage = el("span", {}, "Sending…");
    parts.progress = el("p", { class: "stage" }, el("span", { class: "pulse", "aria-hidden": "true" }), parts.stage);
    parts.skeleton = el("div", { class: "skeleton", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
    parts.body = el("div", { class: "answer", "aria-live": "polite", "aria-busy": "true" }, parts.skeleton);
    parts.notice = el("p", { class: "remark", role: "note", hidden: true });
    parts.former = el("p", { class: "remark", role: "note", hidden: true });
    parts.voice = new Voiced((choice) => this.#actions.pick(this, choice));
    parts.choices = el("div", { class: "choices" });
    parts.foot = el("footer", {});
    return el("div", { class: "reply" }, parts.progress, parts.voice.root, parts.notice, parts.body, parts.former,
      parts.choices, parts.foot);
  }

  #say(answer) {
    [this.#answer, this.#styled] = [answer, answer.styled ?? null];
    this.#sources = answer.sources ?? [];
    [this.#text, this.#lead] = [answer.answer, answer.lead ?? null];
    this.#parts.voice.show(this.#styled);
    const notice = answer.answered ? answer.reason || (answer.unsure ? UNSURE : "") : "";
    this.#parts.notice.replaceChildren(notice);
    this.#parts.notice.hidden = !notice;
    this.#parts.notice.classList.toggle("unsure", Boolean(answer.unsure));
    this.#parts.former.replaceChildren(answer.former ?? "");
    this.#parts.former.hidden = !answer.former;
    if (answer.answered) this.#compose();
    else if (asksBack(answer)) this.#body();
    else this.#body(this.#abstention(answer));
  }

  /** Start of the sourced text, after the persona's sentence and the blank line. */
  get #begins() {
    if (!this.#styled) return 0;
    const end = this.#styled.span?.[1];
    const starts = this.#cited().map(({ span }) => span[0]);
    if (end === undefined) return this.done || !starts.length ? 0 : Math.min(...starts);
    const rest = slice(this.#text, end);
    return end + rest.length - rest.trimStart().length;
  }

  #compose(fresh = Infinity) {
    const begins = this.#begins;
    const moved = (span) => span && span.map((place) => Math.max(0, place - begins));
    const sources = this.#cited().map((source) => ({ ...source, span: moved(source.span) }));
    const chip = (source, place, nodes) => this.#chip(source, place, nodes);
    const more = { chip, lead: moved(this.#lead), fresh: Math.max(0, fresh - begins), open: !this.done };
    this.#body(answerNodes(slice(this.#text, begins), sources, more));
  }

  #body(...nodes) {
    this.#parts.body.replaceChildren(...nodes);
  }

  #cited() {
    return this.#sources.filter((source) => source.span);
  }

  #chip(source, place, nodes) {
    const light = (on) => () => nodes.forEach((node) => node.classList.toggle("lit", on));
    const on = { click: (event) => this.#cite(place, event), focus: light(true), blur: light(false) };
    Object.assign(on, { mouseenter: on.focus, mouseleave: on.blur });
    const name = `Source ${place + 1}: ${named(source)}`;
    return el("button", { type: "button", class: "chip", "aria-label": name, on }, String(place + 1));
  }

  #cite(place, event) {
    const cited = this.#cited();
    const ordered = [...cited, ...this.#sources.filter((source) => !source.span)];
    this.#actions.cite(ordered, place, event.currentTarget, cited.length);
  }

  #abstention(answer) {
    const title = this.#sources.length ? "No good answer in your documents" : "Nothing found";
    const reason = answer.reason || "There is no answer to this.";
    return el("div", { class: "abstained" }, el("h3", {}, title), el("p", {}, reason));
  }

  #about(answer) {
    if (asksBack(answer)) return [];
    const cited = this.#cited();
    const others = this.#sources.filter((source) => !source.span);
    const shown = answer.answered ? cited : others.slice(0, CLOSEST);
    const rest = answer.answered ? others : others.slice(CLOSEST);
    const cards = shown.map((source, place) => this.#card(source, place, answer.answered));
    return [
      cards.length ? section(answer.answered ? "Sources" : "Closest documents", cards) : null,
      this.#further(rest, shown.length, answer.answered),
      this.#tools(answer),
    ].filter(Boolean);
  }

  #card(source, place, numbered) {
    const number = numbered ? el("span", { class: "number", "aria-hidden": "true" }, String(place + 1)) : null;
    const from = safeUrl(source.url) ? new URL(source.url).hostname : source.collection;
    const where = [placed(source), from].filter(Boolean).join(" · ");
    const words = el("span", {},
      el("span", { class: "name" }, titled(source)), el("span", { class: "where" }, where, badges(source)));
    const open = { click: (event) => this.#cite(place, event) };
    return el("button", { type: "button", class: "card", on: open }, number, words);
  }

  #further(rest, first, answered) {
    if (!rest.length) return null;
    const items = rest.map((source, i) => {
      const open = { click: (event) => this.#cite(first + i, event) };
      return el("li", {}, el("button", { type: "button", class: "link", on: open }, named(source)));
    });
    const said = `${rest.length} ${answered ? "other" : "more"} document${rest.length > 1 ? "s" : ""} considered`;
    return el("details", { class: "further" }, el("summary", {}, said), el("ol", {}, items));
  }

  #tools(answer) {
    const voting = new Voting((vote, comment) => this.#actions.vote(this.answerId, vote, comment));
    this.#parts.voting = voting;
    const panel = el("div", { class: "why", id: `why-${this.id}`, hidden: true });
    const line = el("div", { class: "line" },
      answer.answered && answer.kind !== "talk" ? confidence(answer.confidence) : null,
      answer.timings?.total === undefined ? null : el("span", { class: "time" }, seconds(answer.timings.total)),
      answer.kind === "talk" ? null : opener(panel, () => why(answer)),
      el("span", { class: "buttons" }, copyButton(() => plain(this.#answer)), voting.buttons));
    return el("div", {}, line, voting.form, panel);
  }

  #again(note, label, wait = 0) {
    const button = el("button", { type: "button", class: "link", on: { click: () => this.#actions.again(this) } }, label);
    if (wait) countDown(button, label, wait);
    return el("p", { class: "again" }, `${note} `, button);
  }

  #idle() {
    this.#parts.progress.hidden = true;
    this.#parts.skeleton.remove();
  }

  #finish() {
    this.done = true;
    this.#idle();
    this.#parts.choices.replaceChildren();
    this.#parts.body.removeAttribute("aria-busy");
  }
}
