// “Why this answer”: what was asked of the index, what came back, how it was weighed, and what took how long.

import { bar, el } from "./dom.js";
import { named, seconds } from "./text.js";

const SHOWN = 8;
const SCORES = [
  ["score", "Score"],
  ["fusion", "Search"],
  ["title_similarity", "Title"],
  ["passage_similarity", "Passage"],
  ["clue", "Clues"],
];
const SIGNS = {
  title_similarity: "Title similarity",
  passage_similarity: "Passage similarity",
  coverage: "Words covered",
  title_coverage: "Words in the title",
  missing: "Word missing",
  title_missing: "… in the title",
  evidence: "Evidence",
  margin: "Lead over next",
  words: "Words asked (log)",
};
const OPEN_ENDED = ["evidence", "words"]; // numbers that no full bar stands for

/** The parts of the panel for an answer object. */
export function why(answer) {
  const trace = answer.trace ?? {};
  const facts = trace.facts?.readings.length ? part("Facts", readings(trace.facts)) : null;
  const fact = answer.kind === "fact";
  return [
    fact ? facts : null,
    trace.queries?.length ? part("Queries", queries(trace)) : null,
    trace.candidates?.length ? part("Candidates", candidates(trace.candidates, answer.sources)) : null,
    trace.confidence ? part(weighed(answer), signs(trace.confidence)) : null,
    fact ? null : facts,
    part("Time", timings(answer)),
  ].filter(Boolean);
}

/** Of a fact the signs are those of the passage that it stood against. */
function weighed({ kind, confidence }) {
  return kind === "fact" ? "The best document" : `Confidence ${Math.round(confidence * 100)} %`;
}

function part(title, ...content) {
  return el("section", {}, el("h4", { class: "label" }, title), ...content);
}

/** How the graph was asked: question with a gap, what it was taken to ask for, and what that led to. */
function readings({ readings: all, confidence, threshold }) {
  const items = all.slice(0, SHOWN).map(({ entity, relation, answers, count, counted }) => {
    const told = answers.slice(0, 3).join(", ") + (count > 3 ? " …" : "");
    return el("li", {},
      el("span", { class: "name" }, entity),
      el("span", { class: "words" }, relation.split(" / ").map((step) => el("span", { class: "word" }, predicate(step)))),
      el("span", { class: "count" }, counted ? `${count}: ${told}` : told));
  });
  const said = `Confidence ${Math.round(confidence * 100)} %, needed ${Math.round(threshold * 100)} %.`;
  return el("div", {}, el("ul", { class: "queries readings" }, items), el("p", { class: "fine" }, said));
}

/** Words of a step: the end of its IRI, with an arrow where it is followed backwards. */
function predicate(step) {
  const words = step.replace(/^\^/, "").split(/[/#.]/).at(-1).replaceAll("_", " ");
  return step.startsWith("^") ? `← ${words}` : words;
}

function queries({ queries: asked, lists = {}, models = {} }) {
  const items = asked.map((query) => {
    const words = wanted(query).map((word) => el("span", { class: "word" }, word));
    return el("li", {},
      el("span", { class: "name" }, kind(query)),
      el("span", { class: "words" }, words),
      el("span", { class: "count" }, found(query, lists)));
  });
  const said = models.encoder ? `Meaning compared by the encoder ${models.encoder}.` : "Compared by words alone.";
  return el("div", {}, el("ul", { class: "queries" }, items), el("p", { class: "fine" }, said));
}

function wanted({ terms, phrases = [], text }) {
  return terms ? [...Object.keys(terms), ...phrases.map((phrase) => `“${phrase}”`)] : [text];
}

function kind(query) {
  if (query.name === "dense") return "By meaning";
  return query.field === "title" ? "Words in titles" : "Words";
}

function found(query, lists) {
  if (query.name !== "dense") return `${lists[query.name] ?? 0} documents`;
  return Object.entries(lists).filter(([name]) => name.startsWith("dense:"))
    .map(([name, count]) => `${count} ${name.slice("dense:".length)}`).join(", ");
}

function candidates(all, sources = []) {
  const names = new Map(sources.map((source) => [source.document, named(source)]));
  const best = Object.fromEntries(SCORES.map(([name]) => [name, Math.max(...all.map((each) => each[name] ?? 0))]));
  const rows = all.slice(0, SHOWN).map((each) => {
    const scores = SCORES.map(([name]) => cell(each[name], best[name]));
    return el("tr", {}, el("th", { scope: "row" }, names.get(each.document) ?? each.document), scores);
  });
  const heads = ["Document", ...SCORES.map(([, title]) => title)].map((title) => el("th", { scope: "col" }, title));
  const note = el("p", { class: "fine" }, `The best ${rows.length} of ${all.length} that were ranked.`);
  const table = el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
  const scrolled = { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Candidates and their scores" };
  return el("div", {}, el("div", scrolled, table), note);
}

function cell(value, best) {
  if (value === undefined) return el("td", {}, "–");
  return el("td", {}, el("span", { class: "score" }, value.toFixed(2)), bar(value / best));
}

function signs(features) {
  const rows = Object.entries(features).map(([name, value]) => {
    const share = OPEN_ENDED.includes(name) ? el("span") : bar(value);
    return row(SIGNS[name] ?? name, share, value.toFixed(2));
  });
  return el("ul", { class: "bars" }, rows);
}

function row(name, share, value) {
  return el("li", {}, el("span", { class: "name" }, name), share, el("span", { class: "count" }, value));
}

function timings({ timings: taken = {}, skipped = [] }) {
  const stages = Object.entries(taken).filter(([name]) => name !== "total");
  const longest = Math.max(...stages.map(([, value]) => value), 1e-6);
  const rows = stages.map(([name, value]) => {
    const said = skipped.includes(name) ? `${name} (skipped)` : name;
    return row(said, bar(value / longest), seconds(value));
  });
  return el("ul", { class: "bars" }, rows);
}

