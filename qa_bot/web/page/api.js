// The JSON routes of the chat. If the token is wrong or missing, the user enters it and the request is repeated.

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Api {
  constructor(token) {
    this.token = token;
  }

  async conversations() {
    return (await this.call("GET", "api/conversations")).conversations;
  }

  conversation(id) {
    return this.call("GET", `api/conversations/${encodeURIComponent(id)}`);
  }

  transcript(id) {
    return this.call("GET", `api/conversations/${encodeURIComponent(id)}?format=markdown`);
  }

  rename(id, title) {
    return this.call("PATCH", `api/conversations/${encodeURIComponent(id)}`, { title });
  }

  remove(id) {
    return this.call("DELETE", `api/conversations/${encodeURIComponent(id)}`);
  }

  vote(id, vote, comment) {
    return this.call("POST", "api/feedback", comment ? { id, vote, comment } : { id, vote });
  }

  choose(id, choice) {
    return this.call("POST", "api/choose", { id, choice });
  }

  speak(persona, turns, hint, top) {
    return this.call("POST", "api/speak", { persona, turns, hint, top });
  }

  grid(hint) {
    return this.call("GET", hint ? `api/grid?hint=${encodeURIComponent(hint)}` : "api/grid");
  }

  search(query, top) {
    return this.call("POST", "api/search", { query, top, engine: "dense" });
  }

  /** The reply's content: an object, a text, or null. Throws ApiError. */
  async call(method, path, body) {
    const token = this.token.value;
    const response = await fetch(path, options(token, method, body));
    if (response.status === 401) {
      await this.token.ask(token);
      return this.call(method, path, body);
    }
    if (!response.ok) throw new ApiError(response.status, await complaint(response));
    if (response.status === 204) return null;
    return response.headers.get("Content-Type").startsWith("text/") ? response.text() : response.json();
  }
}

function options(token, method, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body === undefined) return { method, headers };
  if (body instanceof FormData) return { method, headers, body };
  return { method, headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

async function complaint(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return `The service answered ${response.status}.`;
  }
}
