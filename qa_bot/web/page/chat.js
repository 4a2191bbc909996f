// One conversation at a time: its turns, the frames that come for them, and what a lost connection owes.

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
  #pending = []; // questions without an answer: {id, text, persona, hint}, or with the frame that asks anew
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

  /** Show a conversation, or begin a new one (null). */
  async open(id) {
    const visit = (this.#visit += 1);
    this.#connection.leave(); // what it still says belongs to another conversation
    this.id = id;
    this.#turns.clear();
    this.#log.replaceChildren();
    this.#pending = JSON.parse(recall(this.#key("pending")) ?? "[]");
    if (id) await this.#history(id, visit);
    if (visit !== this.#visit) return; // another one was opened meanwhile
    for (const { id: asked, text, persona } of this.#pending) this.#turn(asked, text, persona);
    this.#settle();
    this.#listener.opened(this.id);
    this.#show(this.#log.lastElementChild);
    this.#connection.open();
  }

  get empty() {
    return this.#log.childElementCount === 0;
  }

  ask(text, persona = "", hint = "") {
    const asked = { id: newId(), text, persona, hint };
    this.#pending.push(asked);
    const turn = this.#turn(asked.id, text, persona);
    this.#settle();
    this.#show(turn.root);
    if (this.#connection.ready) this.#send(asked);
  }

  /** Stop the question in work; whether there was one. */
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
    else if (frame.type === "error" && !this.#asked(frame.id)) this.#listener.notice(frame.message);
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

  /** The last frame that was taken to the end. */
  get #seen() {
    return Number(recall(this.#key("seen")) ?? 0);
  }

  #welcome({ conversation, personas }) {
    if (conversation !== this.id) this.#become(conversation);
    this.#listener.personas(personas ?? []);
    for (const asked of this.#pending) {
      this.#turns.get(asked.id)?.rewind();
      this.#send(asked);
    }
  }

  /** The service named the conversation: what is pending moves to it. */
  #become(id) {
    keep(this.#key("pending"), null);
    this.id = id;
    this.#settle();
    if (!this.empty) this.#listener.opened(id);
  }

  /** A frame for a turn; one that came already, before the connection was lost, is not taken twice. */
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
    if (frame.type === "clarify") this.#listener.opened(this.id); // a reload while it waits for a choice comes back here
    return last ? this.#ended(frame, turn) : undefined;
  }

  #ended(frame, turn) {
    if (turn.answerId) this.#turns.set(turn.answerId, turn);
    keep(this.#key("seen"), String(frame.seq));
    this.#settled(frame.id);
    this.#listener.opened(this.id);
    this.#listener.answered();
  }

  /** A turn that the history brought already came again, under the id of its question. */
  #forget(frame, known) {
    const twin = this.#turns.get(frame.id);
    if (twin && twin !== known) {
      twin.root.remove();
      this.#turns.set(frame.id, known);
    }
    if (frame.type === "final") {
      known.renew(frame); // somebody took another sentence for it
      keep(this.#key("seen"), String(frame.seq));
    }
    if (frame.type === "final" || frame.type === "error") this.#settled(frame.id);
  }

  async #history(id, visit) {
    try {
      const { turns } = await this.#api.conversation(id);
      if (visit !== this.#visit) return;
      for (const each of turns) this.#past(each);
    } catch (error) {
      if (error.status !== 404) this.#listener.notice(error.message);
    }
  }

  #past({ id, question, rewritten, answer, feedback }) {
    const asked = answer.ask ?? id;
    const turn = this.#turn(asked, question);
    this.#turns.set(id, turn);
    turn.answer({ ...answer, understood: rewritten, turn: id });
    turn.vote([feedback ?? []].flat().at(-1)?.vote);
    this.#pending = this.#pending.filter((each) => each.id !== asked);
  }

  #turn(id, question, persona = "") {
    const known = this.#turns.get(id);
    if (known) return known;
    const turn = new Turn(id, question, this.#actions, persona);
    this.#turns.set(id, turn);
    this.#log.append(turn.root);
    return turn;
  }

  #asked(id) {
    return this.#pending.some((each) => each.id === id) || this.#turns.has(id);
  }

  #send({ id, text, persona, hint, frame }) {
    const voice = { ...(persona ? { persona } : {}), ...(hint ? { hint } : {}) };
    this.#connection.send({ id, ...(frame ?? { type: "ask", text, trace: true, ...voice }) });
  }

  #settled(id) {
    this.#pending = this.#pending.filter((each) => each.id !== id);
    this.#settle();
  }

  /** Keep what is pending over a reload, and tell whether anything is. */
  #settle() {
    keep(this.#key("pending"), this.#pending.length ? JSON.stringify(this.#pending) : null);
    this.#listener.busy(this.#pending.length > 0);
  }

  #again(turn) {
    turn.root.remove();
    this.#turns.delete(turn.id);
    this.ask(turn.question, byId("persona").value, byId("topic").value.trim());
  }

  /** Have a question answered in another sense; it keeps its place. */
  #anew(turn, frame) {
    const asked = { id: turn.id, text: turn.question, persona: turn.persona, frame };
    turn.reopen();
    this.#pending.push(asked);
    this.#settle();
    if (this.#connection.ready) this.#send(asked);
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

