import { byId } from "./dom.js";

const KEY = "qa-bot:token";

/** The secret that the service may want: asked for once, forgotten with the tab. */
export class Token {
  #asked = null;

  get value() {
    return recall(KEY) ?? "";
  }

  /**
   * Ask the person, for `refused` was not accepted. Several who need it at the same time wait for the same answer; who
   * was refused with an older one than the person gave meanwhile tries that first.
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

/** Something kept as long as the tab lives; null where there is nothing, or storage is forbidden. */
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
    // Nothing is kept over a reload then; everything else works.
  }
}
