// Documents: files are chosen or dropped and uploaded one after another; what was uploaded is listed and can be deleted.

import { el, iconButton } from "./dom.js";

const LIST = 100;
const MOST = 1000; // limit of the service
const DEFAULT = "default";

/** Build the documents in `root`, an empty section of the page. */
export function mount(root, api) {
  new Documents(root, api).refresh();
}

class Documents {
  #api;
  #wanted = LIST;
  #busy = false;
  #files = el("input", { id: "documents-files", type: "file", multiple: true, on: { change: () => this.#chosen() } });
  #collection = el("input", { id: "documents-collection", list: "documents-collections", maxlength: 200, autocomplete: "off", placeholder: DEFAULT });
  #known = el("datalist", { id: "documents-collections" });
  #form = el("form", { class: "documents-form", on: { submit: (event) => event.preventDefault() } });
  #state = el("p", { class: "fine", role: "status" });
  #results = el("ul", { id: "documents-results", "aria-label": "Results of the upload", hidden: true });
  #list = el("ol", { id: "documents-list", "aria-label": "Uploaded documents" });
  #more = el("button", { type: "button", class: "link", hidden: true, on: { click: () => this.#showMore() } }, "Show more");

  constructor(root, api) {
    this.#api = api;
    this.title = el("h2", { id: "documents-title", tabindex: "-1" }, "Documents");
    this.#form.append(
      el("label", {}, "Files, also archives; or drop them here ", this.#files),
      el("label", {}, "Collection ", this.#collection),
      this.#known,
    );
    root.append(this.title, this.#form, this.#state, this.#results, this.#list, el("p", { class: "tools" }, this.#more));
    this.#form.addEventListener("dragover", (event) => this.#over(event));
    this.#form.addEventListener("dragleave", () => this.#form.classList.remove("over"));
    this.#form.addEventListener("drop", (event) => this.#drop(event));
  }

  /** The uploaded documents, and the collections to choose from. */
  async refresh() {
    try {
      const [{ documents, total }, collections] = await Promise.all([this.#api.uploaded(this.#wanted), this.#api.collections()]);
      this.#known.replaceChildren(...collections.map(({ name }) => el("option", { value: name })));
      this.#list.replaceChildren(...documents.map((document) => this.#entry(document)));
      this.#more.hidden = documents.length >= Math.min(total, MOST);
      if (!this.#busy) this.#say(total ? `${total} ${total === 1 ? "document was" : "documents were"} uploaded.` : "Nothing was uploaded yet.");
    } catch (error) {
      this.#say(error.message);
    }
  }

  // --- uploading ---

  #over(event) {
    event.preventDefault();
    this.#form.classList.add("over");
  }

  #drop(event) {
    event.preventDefault();
    this.#form.classList.remove("over");
    this.#upload([...event.dataTransfer.files]);
  }

  #chosen() {
    this.#upload([...this.#files.files]);
  }

  /** Upload files one after another, so that each has its result, whatever becomes of the others. */
  async #upload(files) {
    if (this.#busy || !files.length) return;
    this.#busy = this.#files.disabled = true;
    this.#results.replaceChildren();
    this.#results.hidden = false;
    for (const [at, file] of files.entries()) {
      this.#say(`Uploading ${at + 1} of ${files.length}: ${file.name} …`);
      this.#results.append(await this.#send(file));
    }
    this.#busy = this.#files.disabled = false;
    this.#files.value = "";
    await this.refresh();
    this.#files.focus();
  }

  async #send(file) {
    try {
      return outcome(file.name, await this.#api.upload(file, this.#collection.value.trim()));
    } catch (error) {
      return el("li", {}, el("strong", {}, file.name), " ", el("span", { class: "danger", role: "alert" }, error.message || "The connection was lost."));
    }
  }

  // --- the list ---

  #entry(document) {
    const entry = el("li", {});
    this.#fill(entry, document);
    return entry;
  }

  #fill(entry, document) {
    const where = el("span", { class: "where" }, [document.collection, document.id].join(" / "));
    const remove = iconButton("bin", `Delete “${nameOf(document)}”`, () => this.#confirm(entry, document));
    entry.replaceChildren(el("span", { class: "documents-name" }, nameOf(document), " ", where), remove);
  }

  #confirm(entry, document) {
    const back = () => {
      this.#fill(entry, document);
      entry.querySelector("button").focus();
    };
    const no = el("button", { type: "button", class: "link", on: { click: back } }, "Keep");
    const yes = el("button", { type: "button", class: "link danger", on: { click: () => this.#delete(entry, document) } }, "Delete");
    yes.setAttribute("aria-label", `Delete “${nameOf(document)}” for good`);
    entry.replaceChildren(el("span", { class: "documents-name" }, "Delete for good?"), yes, no);
    entry.onkeydown = (event) => {
      if (event.key === "Escape") back();
    };
    no.focus();
  }

  /** The focus moves to the next document. */
  async #delete(entry, document) {
    if (entry.inert) return;
    entry.inert = true;
    try {
      await this.#api.deleteDocument(document.id);
    } catch (error) {
      entry.inert = false;
      if (error.status !== 404) return this.#say(error.message);
    }
    const next = entry.nextElementSibling ?? entry.previousElementSibling;
    entry.remove();
    (next?.querySelector("button") ?? this.title).focus();
    this.#say(`“${nameOf(document)}” was deleted.`);
  }

  async #showMore() {
    const before = this.#list.childElementCount;
    this.#wanted = Math.min(MOST, this.#wanted + LIST);
    await this.refresh();
    this.#list.children[before]?.querySelector("button")?.focus();
  }

  #say(text) {
    this.#state.textContent = text;
  }
}

/** The line of a file that was read at least in part. */
function outcome(name, { documents, added, updated, unchanged, rejected }) {
  const counts = [added && `${added} added`, updated && `${updated} updated`, unchanged && `${unchanged} unchanged`];
  const titles = documents.length === 1 ? ` (${nameOf(documents[0])})` : "";
  const reasons = rejected.map(({ where, reason }) => el("li", {}, `${where}: ${reason}`));
  const list = reasons.length ? el("ul", { class: "danger", "aria-label": "Rejected" }, reasons) : null;
  return el("li", {}, el("strong", {}, name), ` ${counts.filter(Boolean).join(", ")}${titles}`, list);
}

function nameOf({ title, id }) {
  return title || id;
}
