const FIRST_WAIT = 300;
const LONGEST_WAIT = 10_000; // milliseconds between two tries to connect
const STEADY = 5_000; // milliseconds after which a connection is stable; an unstable one is retried more slowly
const PING_EVERY = 20_000;
const PONG_WITHIN = 10_000; // milliseconds without a pong after which a connection is lost

/**
 * A WebSocket that reconnects when it is lost.
 *
 * The owner has `hello()` (the first frame), `frame(frame)`, `state("connecting" | "ready" | "lost")` and `refused()`:
 * the service refused the token.
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

  /** Connect; an open connection is closed first. */
  open() {
    this.leave();
    this.#owner.state("connecting");
    const socket = new WebSocket(address());
    this.#socket = socket;
    socket.onopen = () => this.send(this.#owner.hello());
    socket.onmessage = (message) => this.#take(JSON.parse(message.data));
    socket.onclose = (event) => this.#closed(event.code);
  }

  /** Send a frame; false without a connection. */
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
    // All clients reconnect after a restart, so they wait for random times.
    this.#retry = setTimeout(() => this.open(), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(LONGEST_WAIT, this.#wait * 1.7);
  }

  /** Disconnect, and do not reconnect. */
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
