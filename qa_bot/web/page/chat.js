// The open conversation: its turns, their frames, and the recovery after a lost connection.

import { Connection } from "./connection.js";
import { byId } from "./dom.js";
import { newId } from "./text.js";
import { keep, recall } from "./token.js";
import { Turn } from "./turn.js";

const NEW = "new"; // the key of a conversation that has no id yet

/**
 * `listener` has `opened(id)`, `answered()`, `personas(names)`, `state(name)`, `busy(running)` and `notice(text)`;
 * `actions` go on to the turns.
 */
export class Chat {
  #api;
  #token;
  #greeted = ""; // the token of the last hello
  #listener;
  #actions;
  #connection = new Connection(this);
  #log = byId("turns");
  #turns = new Map(); // by the id of the question, and by the id of the answer
  #pending = []; // unanswered questions: {id, text, persona, hint, cell}, or with the frame that asks again
  #visit = 0;

  constructor({ api, token, listener, cite }) {
    [this.#api, this.#token, this.#listener] = [api, token, listener];
    this.id = null;
    this.#actions = {
      cite,
      vote: (id, vote, comment) => this.#vote(id, vote, comment),
      again: (turn) => this.#again(turn),
      pick: (turn, choice) => this.#pick(turn, choice),
      choose: (turn, choice) => this.#anew(turn, { type: "choose", choice }),
      raw: (turn) => this.#anew(turn, { type: "raw" }),
    };
  }

  /** Show a conversation, or start a new one (null). */
  async open(id) {
    const visit = (this.#visit += 1);
    this.#connection.leave(); // its further frames belong to another conversation
    this.id = id;
    this.#turns.clear();
    this.#log.replaceChildren();
    this.#pending = JSON.parse(recall(this.#key("pending")) ?? "[]");
    if (id) await this.#history(id, visit);
    if (visit !== this.#visit) return; // another conversation was opened meanwhile
    for (const { id: questionId, text, persona } of this.#pending) this.#turn(questionId, text, persona);
    this.#settle();
    this.#listener.opened(this.id);
    this.#show(this.#log.lastElementChild);
    this.#connection.open();
  }

  get empty() {
    return this.#log.childElementCount === 0;
  }

  ask(text, persona = "", hint = "", cell = null) {
    const question = { id: newId(), text, persona, hint, cell };
    this.#pending.push(question);
    const turn = this.#turn(question.id, text, persona);
    this.#settle();
    this.#show(turn.root);
    if (this.#connection.ready) this.#send(question);
  }

  /** Stop the running question; returns whether there was one. */
  stop() {
    const first = this.#pending[0];
    if (!first) return false;
    this.#connection.send({ type: "cancel", id: first.id });
    this.#turns.get(first.id)?.stopped();
    this.#settled(first.id);
    return true;
  }

  // --- what the connection asks for ---

  hello() {
    const resume = this.id ? { resume: this.id, seq: this.#seen } : {};
    const token = (this.#greeted = this.#token.value);
    return { type: "hello", ...(token ? { token } : {}), ...resume };
  }

  frame(frame) {
    if (frame.type === "ready") this.#welcome(frame);
    else if (frame.type === "error" && !this.#isKnown(frame.id)) this.#listener.notice(frame.message);
    else if (frame.id && frame.type !== "pong") this.#deal(frame);
  }

  state(name) {
    this.#listener.state(name);
  }

  async refused() {
    await this.#token.ask(this.#greeted);
    this.#connection.open();
  }

  // --- within ---

  /** Number of the last frame that was handled. */
  get #seen() {
    return Number(recall(this.#key("seen")) ?? 0);
  }

  #welcome({ conversation, personas }) {
    if (conversation !== this.id) this.#become(conversation);
    this.#listener.personas(personas ?? []);
    for (const question of this.#pending) {
      this.#turns.get(question.id)?.rewind();
      this.#send(question);
    }
  }

  /** The service gave the conversation an id: pending questions move to it. */
  #become(id) {
    keep(this.#key("pending"), null);
    this.id = id;
    this.#settle();
    if (!this.empty) this.#listener.opened(id);
  }

  /** Handle a frame of a turn; one that was handled before the connection was lost is skipped. */
  #deal(frame) {
    const known = this.#turns.get(frame.turn ?? frame.id) ?? this.#turns.get(frame.id);
    const anew = frame.type === "status" && frame.seq > this.#seen; // in another tab
    if (known?.done && !anew) return this.#forget(frame, known);
    if (known?.done) known.reopen();
    const turn = known ?? this.#turn(frame.id, frame.question ?? "");
    const last = frame.type === "final" || frame.type === "error";
    if (!last && frame.seq <= turn.seq) return undefined;
    turn.seq = frame.seq;
    turn.take(frame);
    if (frame.type === "clarify") this.#listener.opened(this.id); // so that a reload returns here while it waits for a choice
    return last ? this.#ended(frame, turn) : undefined;
  }

  #ended(frame, turn) {
    if (turn.answerId) this.#turns.set(turn.answerId, turn);
    keep(this.#key("seen"), String(frame.seq));
    this.#settled(frame.id);
    this.#listener.opened(this.id);
    this.#listener.answered();
  }

  /** A turn of the history came again, under the id of its question. */
  #forget(frame, known) {
    const twin = this.#turns.get(frame.id);
    if (twin && twin !== known) {
      twin.root.remove();
      this.#turns.set(frame.id, known);
    }
    if (frame.type === "final") {
      known.renew(frame); // its styled sentence was replaced
      keep(this.#key("seen"), String(frame.seq));
    }
    if (frame.type === "final" || frame.type === "error") this.#settled(frame.id);
  }

  async #history(id, visit) {
    try {
      const { turns } = await this.#api.conversation(id);
      if (visit !== this.#visit) return;
      for (const turn of turns) this.#past(turn);
    } catch (error) {
      if (error.status !== 404) this.#listener.notice(error.message);
    }
  }

  #past({ id, question, rewritten, answer, feedback }) {
    const questionId = answer.ask ?? id;
    const turn = this.#turn(questionId, question);
    this.#turns.set(id, turn);
    turn.answer({ ...answer, understood: rewritten, turn: id });
    turn.vote([feedback ?? []].flat().at(-1)?.vote);
    this.#pending = this.#pending.filter((pending) => pending.id !== questionId);
  }

  #turn(id, question, persona = "") {
    const known = this.#turns.get(id);
    if (known) return known;
    const turn = new Turn(id, question, this.#actions, persona);
    this.#turns.set(id, turn);
    this.#log.append(turn.root);
    return turn;
  }

  #isKnown(id) {
    return this.#pending.some((pending) => pending.id === id) || this.#turns.has(id);
  }

  #send({ id, text, persona, hint, cell, frame }) {
    const place = Number.isInteger(cell) ? { cell } : {};
    const voice = { ...(persona ? { persona } : {}), ...(hint ? { hint } : {}), ...place };
    this.#connection.send({ id, ...(frame ?? { type: "ask", text, trace: true, ...voice }) });
  }

  #settled(id) {
    this.#pending = this.#pending.filter((pending) => pending.id !== id);
    this.#settle();
  }

  /** Keep pending questions over a reload, and report whether there are any. */
  #settle() {
    keep(this.#key("pending"), this.#pending.length ? JSON.stringify(this.#pending) : null);
    this.#listener.busy(this.#pending.length > 0);
  }

  #again(turn) {
    turn.root.remove();
    this.#turns.delete(turn.id);
    this.ask(turn.question, byId("persona").value, byId("topic").value.trim());
  }

  /** Ask a question with another meaning; its turn keeps its position. */
  #anew(turn, frame) {
    const question = { id: turn.id, text: turn.question, persona: turn.persona, frame };
    turn.reopen();
    this.#pending.push(question);
    this.#settle();
    if (this.#connection.ready) this.#send(question);
  }

  async #pick(turn, choice) {
    try {
      turn.renew(await this.#api.choose(turn.answerId, choice));
      return null;
    } catch (error) {
      return error.message;
    }
  }

  async #vote(id, vote, comment) {
    try {
      await this.#api.vote(id, vote, comment);
      return null;
    } catch (error) {
      return error.message;
    }
  }

  #show(element) {
    element?.scrollIntoView({ block: "start", behavior: "instant" });
  }

  #key(name) {
    return `qa-bot:${name}:${this.id ?? NEW}`;
  }
}

