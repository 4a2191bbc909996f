// The JSON routes of the owner's page.

import { Api } from "./api.js";

export class OwnerApi extends Api {
  ask(question) {
    return this.call("POST", "api/ask", { question });
  }

  gaps(limit) {
    return this.call("GET", `api/owner/gaps?limit=${limit}`);
  }

  /** `gap` is the key of the question that this answers. */
  addAnswer(question, answer, url, gap) {
    return this.call("POST", "api/owner/answers", { question, answer, gap, ...(url ? { url } : {}) });
  }

  dismiss(gap) {
    return this.call("POST", "api/owner/dismiss", { gap });
  }

  /** A file becomes documents of a collection, by default of `default`. */
  upload(file, collection) {
    const form = new FormData();
    if (collection) form.append("collection", collection);
    form.append("file", file);
    return this.call("POST", "api/documents", form);
  }

  uploaded(limit) {
    return this.call("GET", `api/documents?limit=${limit}`);
  }

  deleteDocument(id) {
    return this.call("DELETE", `api/documents/${encodeURIComponent(id)}`);
  }

  async collections() {
    return (await this.call("GET", "api/collections")).collections;
  }

  async comparisons() {
    return (await this.call("GET", "api/comparisons")).comparisons;
  }

  prepare(name, a, b) {
    return this.call("POST", "api/comparisons", { name, a, b });
  }

  comparison(name, reveal) {
    return this.call("GET", `api/comparisons/${encodeURIComponent(name)}?reveal=${reveal}`);
  }

  nextPair(name, judge, start) {
    const query = new URLSearchParams({ judge, start });
    return this.call("GET", `api/comparisons/${encodeURIComponent(name)}/next?${query}`);
  }

  judge(name, judgement) {
    return this.call("POST", `api/comparisons/${encodeURIComponent(name)}/judgements`, judgement);
  }
}
