import { byId } from "./dom.js";

const KEY = "qa-bot:token";

/** The token of the service: entered once, forgotten with the tab. */
export class Token {
  #asked = null;

  get value() {
    return recall(KEY) ?? "";
  }

  /**
   * Ask the user for a token, because `refused` was not accepted. Concurrent requests share one prompt; a request that
   * was refused with an older token first tries the newer one.
   */
  ask(refused) {
    if (!this.#asked && refused !== this.value) return Promise.resolve();
    this.#asked ??= this.#dialog().finally(() => (this.#asked = null));
    return this.#asked;
  }

  #dialog() {
    const [dialog, form, input] = ["token", "token-form", "token-value"].map(byId);
    if (this.value) byId("token-note").textContent = "The token was not accepted. Check it and try again.";
    input.value = "";
    dialog.showModal();
    dialog.oncancel = (event) => event.preventDefault();
    return new Promise((resolve) => {
      form.onsubmit = (event) => {
        event.preventDefault();
        keep(KEY, input.value.trim());
        dialog.close();
        resolve();
      };
    });
  }
}

/** A value of the session storage; null if it is missing or storage is forbidden. */
export function recall(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // Without storage only reloads lose state.
  }
}
