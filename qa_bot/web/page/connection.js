const FIRST_WAIT = 300;
const LONGEST_WAIT = 10_000; // milliseconds between two tries to connect
const STEADY = 5_000; // after which a connection counts as good: one that always breaks at once is not tried in a hurry
const PING_EVERY = 20_000;
const PONG_WITHIN = 10_000; // a line that says nothing for longer is dead, whatever the browser thinks

/**
 * A WebSocket that comes back when it is lost.
 *
 * The owner has `hello()` (the first frame), `frame(frame)`, `state("connecting" | "ready" | "lost")` and `refused()`:
 * the service wants another token.
 */
export class Connection {
  #owner;
  #socket = null;
  #wait = FIRST_WAIT;
  #retry = 0;
  #pulse = 0;
  #ready = false;
  #since = 0;

  constructor(owner) {
    this.#owner = owner;
    addEventListener("online", () => this.#socket === null && this.#retry && this.open());
  }

  get ready() {
    return this.#ready;
  }

  /** Connect, also where a connection stands already: it is left first. */
  open() {
    this.leave();
    this.#owner.state("connecting");
    const socket = new WebSocket(address());
    this.#socket = socket;
    socket.onopen = () => this.send(this.#owner.hello());
    socket.onmessage = (message) => this.#take(JSON.parse(message.data));
    socket.onclose = (event) => this.#closed(event.code);
  }

  /** Send a frame; false where nobody is there to get it. */
  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #take(frame) {
    this.#listenOn();
    if (frame.type === "ready") {
      this.#ready = true;
      this.#since = Date.now();
      this.#owner.state("ready");
    }
    this.#owner.frame(frame);
  }

  #listenOn() {
    clearTimeout(this.#pulse);
    this.#pulse = setTimeout(() => {
      this.send({ type: "ping" });
      this.#pulse = setTimeout(() => this.#closed(1006), PONG_WITHIN);
    }, PING_EVERY);
  }

  #closed(code) {
    const strangers = code === 1008 && !this.#ready;
    if (this.#ready && Date.now() - this.#since > STEADY) this.#wait = FIRST_WAIT;
    this.leave();
    this.#owner.state("lost");
    if (strangers) {
      this.#owner.refused();
      return;
    }
    // Everybody comes back after a restart: not all at the same moment.
    this.#retry = setTimeout(() => this.open(), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(LONGEST_WAIT, this.#wait * 1.7);
  }

  /** Hang up, and do not come back by itself. */
  leave() {
    clearTimeout(this.#retry);
    clearTimeout(this.#pulse);
    this.#retry = 0;
    this.#ready = false;
    if (this.#socket === null) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
  }
}

function address() {
  const url = new URL("ws", document.baseURI);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  return url;
}
