// The chat page: keys and buttons, the conversation in the address, colours, example questions.

import { Api } from "./api.js";
import { Chat } from "./chat.js";
import { Debate } from "./debate.js";
import { byId, el, icon, relabel } from "./dom.js";
import { Sheet } from "./sheet.js";
import { Sidebar } from "./sidebar.js";
import { Token } from "./token.js";
import { Voice } from "./voice.js";

const EXAMPLES = 4;
const ID = /^[A-Za-z0-9_.:-]{1,64}$/; // of a conversation, as the service takes it
const PROBE = "How does it work, what is it, and why?"; // similar to questions of all kinds
const STATES = { connecting: "", ready: "", lost: "Connection lost. Reconnecting…" };
const THEMES = { "": ["system", "as the system"], light: ["light", "light"], dark: ["dark", "dark"] };

const [question, send] = ["question", "send"].map(byId);
const token = new Token();
const api = new Api(token);
const sheet = new Sheet(() => veil());
const voice = new Voice(api);
const debate = new Debate(api);
const phone = matchMedia("(max-width: 760px)");
let running = false;

const chat = new Chat({
  api,
  token,
  cite: (...where) => sheet.show(...where),
  listener: {
    opened: (id) => opened(id),
    answered: () => sidebar.refresh().then(named),
    personas: (names) => offer(names),
    state: (name) => (byId("state").textContent = STATES[name]),
    notice: (text) => (byId("state").textContent = text),
    busy: (now) => busy(now),
  },
});

const sidebar = new Sidebar(api, {
  open: (id) => go(id),
  gone: (id) => id === chat.id && go(null),
  renamed: () => debate.open || named(),
});

// --- conversations ---

/** The id of the conversation in the address; null if there is none, or what is there is no id. */
function addressed() {
  try {
    return ID.exec(decodeURIComponent(location.hash.slice(1)))?.[0] ?? null;
  } catch {
    return null; // a stray percent sign
  }
}

function go(id) {
  drawer(false);
  sheet.close();
  if (id === null) {
    history.pushState(null, "", location.pathname + location.search);
    open(null);
  } else if (id !== addressed()) location.hash = encodeURIComponent(id);
  else if (debate.open) open(id);
}

async function open(id) {
  discuss(false);
  byId("empty").hidden = true;
  await chat.open(id);
  named();
  byId("empty").hidden = !chat.empty;
  if (chat.empty) examples();
  if (!phone.matches) question.focus();
}

/** Put the conversation into the address once it has a turn, so that a reload returns to it. */
function opened(id) {
  if (id && !chat.empty && id !== addressed()) history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  sidebar.mark(id);
}

function named() {
  const name = document.querySelector("#conversations [aria-current] .name")?.textContent ?? "New conversation";
  byId("title").textContent = name;
  document.title = name === "New conversation" ? "qa-bot" : `${name} · qa-bot`;
}

// --- asking ---

function ask(text) {
  if (!text.trim()) return;
  byId("empty").hidden = true;
  chat.ask(text.trim(), voice.persona, voice.hint, voice.cell);
  question.value = "";
  voice.spend();
  grow();
}

function busy(now) {
  running = now;
  button();
}

/** One button: it asks the written question, or stops the running one if nothing is written. */
function button() {
  const stop = running && !question.value.trim();
  relabel(send, stop ? "stop" : "send", stop ? "Stop" : "Ask");
  send.disabled = !stop && !question.value.trim();
}

function grow() {
  question.style.setProperty("height", "auto");
  question.style.setProperty("height", `${question.scrollHeight}px`);
  button();
}

function offer(names) {
  voice.offer(names);
  byId("debate-open").hidden = !debate.offer(names);
}

/** A debate replaces the conversation until one is opened again. */
function discuss(on) {
  debate.show(on);
  for (const id of ["scroll", "composer"]) byId(id).hidden = on;
  if (!on) return;
  drawer(false);
  sheet.close();
  byId("title").textContent = "Debate";
  sidebar.mark(null);
  byId("debate-topic").focus();
}

async function examples() {
  const list = byId("examples");
  if (list.childElementCount) return;
  try {
    const { results } = await api.search(PROBE, 60);
    list.replaceChildren(...some(results).map(example));
  } catch {
    // The page works without examples.
  }
}

/** A random choice of titles; only questions if there are enough. */
function some(results) {
  const all = [...new Set(results.map(({ title }) => title.trim()))];
  const titles = all.filter(({ length }) => length > 15 && length <= 70);
  const questions = titles.filter((title) => title.endsWith("?"));
  const from = questions.length >= EXAMPLES ? questions : titles;
  return from.sort(() => Math.random() - 0.5).slice(0, EXAMPLES);
}

function example(title) {
  return el("li", {}, el("button", { type: "button", class: "example", on: { click: () => ask(title) } }, title));
}

// --- the frame around it ---

function drawer(open) {
  document.body.classList.toggle("drawer-open", open);
  byId("menu").setAttribute("aria-expanded", String(open));
  byId("sidebar").inert = phone.matches && !open;
  veil();
  if (open) byId("new").focus();
}

/** On a phone, a panel over the conversation takes the keyboard focus from it. */
function veil() {
  document.querySelector("main").inert = phone.matches && (sheet.open || document.body.classList.contains("drawer-open"));
}

function colours(theme) {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  const [name, label] = THEMES[theme];
  relabel(byId("theme"), name, `Colours: ${label}`);
}

function nextColours() {
  const order = Object.keys(THEMES);
  const theme = order[(order.indexOf(document.documentElement.dataset.theme ?? "") + 1) % order.length];
  colours(theme);
  try {
    localStorage.setItem("qa-bot:theme", theme);
  } catch {
    // The choice lasts until the page is closed.
  }
}

function escape() {
  if (document.body.classList.contains("drawer-open")) {
    drawer(false);
    byId("menu").focus();
  } else if (sheet.open) sheet.close();
  else if (debate.open) debate.stop();
  else chat.stop();
}

function shortcut(event) {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) escape();
  const writing = event.target.closest("input, textarea, select, dialog");
  if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  question.focus();
}

function enter(event) {
  // While an input method composes a word, Enter ends the word, not the question.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  ask(question.value);
}

/** The link to the question moves the focus alone: a fragment in the address names a conversation. */
function skip(event) {
  event.preventDefault();
  question.focus();
}

function wire() {
  document.querySelector(".skip").addEventListener("click", skip);
  byId("menu").append(icon("menu"));
  byId("new").prepend(icon("pencil"));
  byId("new").addEventListener("click", () => go(null));
  byId("debate-open").prepend(icon("talk"));
  byId("debate-open").addEventListener("click", () => discuss(true));
  byId("menu").addEventListener("click", () => drawer(true));
  byId("backdrop").addEventListener("click", () => (sheet.open ? sheet.close() : drawer(false)));
  byId("theme").addEventListener("click", nextColours);
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    if (question.value.trim()) ask(question.value);
    else chat.stop();
  });
  question.addEventListener("keydown", enter);
  question.addEventListener("input", grow);
  document.addEventListener("keydown", shortcut);
  phone.addEventListener("change", () => drawer(false));
  addEventListener("hashchange", () => addressed() !== chat.id && open(addressed()));
  addEventListener("popstate", () => addressed() === null && chat.id !== null && open(null));
  button();
}

wire();
colours(document.documentElement.dataset.theme ?? "");
drawer(false);
open(addressed());
sidebar.refresh().then(named);
