// Markup inside a paragraph, a heading or a cell: emphasis, code, links, escapes. Time is linear in the text.

import { el } from "./dom.js";

const DEEPEST = 16; // open signs at a time
const TAGS = { "*": ["em", "strong", "strong"], _: ["em", "strong", "strong"], "~": [null, "del"] };
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const SIGNS = /[`\\[\]<*_~&]|https?:/g;
const TARGET = /\(<?([^()\s<>]{0,1000}(?:\([^()\s]{0,100}\)[^()\s<>]{0,100})?)>?(?:[ \t]+(?:"[^"]{0,300}"|'[^']{0,300}'))?\)/y;
const REFERENCE = /\[[^[\]]{0,100}\]/y;
const ADDRESS = /<((?:https?:|mailto:)[^<>\s]{1,1000}|[^<>\s@]{1,64}@[^<>\s@]{1,255})>/y;
const BARE = /https?:\/\/[^\s<>"'`|[\]]{1,1000}/y;
const ENTITY = /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));/iy;
const BREAK = /<br ?\/?>/iy;
const LETTER = /[\p{L}\p{N}]/u;
const SCHEMES = ["http:", "https:", "mailto:"];

/**
 * Nodes of `text` from `start` to `end`. `write(start, end, shown)` makes the nodes of a visible stretch; `shown` is
 * what to show if it is not the stretch itself. `open` says that more text follows: what is begun is shown as begun.
 */
export function inline(text, start, end, write, open = false) {
  const scan = { text: text.slice(start, end), at: 0, from: 0, out: [], stack: [], unclosed: new Set(), open };
  for (let sign = next(scan); sign; sign = next(scan)) (READERS[sign] ?? READERS.http)(scan);
  keep(scan, scan.text.length);
  if (open) scan.stack.forEach(({ token, tag }) => tag && Object.assign(token, { tag }));
  return nodes(scan.out, (first, last, shown) => write(start + first, start + last, shown));
}

/** The address if it may be opened, else null. */
export function target(address) {
  try {
    const url = new URL(address);
    return SCHEMES.includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const READERS = {
  "`": code,
  "[": (scan) => begin(scan, "[", scan.at - (scan.text[scan.at - 1] === "!" && scan.at > scan.from), scan.at + 1),
  "]": bracket,
  "*": emphasis,
  _: emphasis,
  "~": emphasis,
  "\\": (scan) => {
    if (!/[!-/:-@[-`{-~]/.test(scan.text[scan.at + 1] ?? "")) return pass(scan, 1);
    keep(scan, scan.at);
    scan.from = scan.at + 1;
    return pass(scan, 2);
  },
  "<": (scan) => {
    const line = match(BREAK, scan);
    if (line) return replace(scan, line[0].length, "\n");
    const found = match(ADDRESS, scan);
    if (!found) return pass(scan, 1);
    const address = found[1].includes(":") ? found[1] : `mailto:${found[1]}`;
    return link(scan, found[0].length, scan.at + 1, found[1].length, address);
  },
  "&": (scan) => {
    const found = match(ENTITY, scan);
    return found ? replace(scan, found[0].length, entity(found)) : pass(scan, 1);
  },
  http: (scan) => {
    const inside = LETTER.test(scan.text[scan.at - 1] ?? "") || scan.stack.some(({ key }) => key === "[");
    const address = inside ? "" : trimmed(match(BARE, scan)?.[0] ?? "");
    return address ? link(scan, address.length, scan.at, address.length, address) : pass(scan, 5);
  },
};

function next(scan) {
  SIGNS.lastIndex = scan.at;
  const found = SIGNS.exec(scan.text);
  scan.at = found?.index ?? scan.text.length;
  return found?.[0];
}

function match(pattern, { text, at }) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function pass(scan, count) {
  scan.at += count;
}

/** What was passed over, up to `end`, is text. */
function keep(scan, end) {
  if (scan.from < end) scan.out.push({ first: scan.from, last: end });
}

function go(scan, end) {
  scan.at = scan.from = end;
}

function replace(scan, size, shown) {
  keep(scan, scan.at);
  scan.out.push({ first: scan.at, last: scan.at + size, shown });
  go(scan, scan.at + size);
}

function entity([, name, decimal, hex]) {
  if (name) return ENTITIES[name.toLowerCase()];
  const point = decimal ? Number(decimal) : parseInt(hex, 16);
  const valid = point > 31 && point < 0x110000 && (point < 0xd800 || point > 0xdfff);
  return valid ? String.fromCodePoint(point) : "\ufffd";
}

/** An address without the signs that belong to its sentence. */
function trimmed(address) {
  let end = address.length;
  while (end && (".,;:!?*_~".includes(address[end - 1]) || (address[end - 1] === ")" && !address.includes("(")))) end -= 1;
  return end > "https://".length ? address.slice(0, end) : "";
}

function link(scan, size, start, length, address) {
  keep(scan, scan.at);
  scan.out.push({ tag: "a", href: target(address) }, { first: start, last: start + length }, { close: true });
  go(scan, scan.at + size);
}

/** A sign that may begin something; it is text unless its end is found. */
function begin(scan, key, start, end, tag = null) {
  if (scan.stack.length === DEEPEST) return pass(scan, end - scan.at);
  keep(scan, start);
  const token = { first: start, last: end };
  scan.stack.push({ key, tag, token });
  scan.out.push(token);
  return go(scan, end);
}

/** Take the last sign of this kind from the stack; what was begun after it stays text. */
function begun(scan, key) {
  const place = scan.stack.findLastIndex((each) => each.key === key);
  return place < 0 ? null : scan.stack.splice(place)[0].token;
}

function bracket(scan) {
  pass(scan, 1);
  const token = begun(scan, "[");
  const found = token && (match(TARGET, scan) ?? match(REFERENCE, scan));
  if (!found) return;
  keep(scan, scan.at - 1);
  const image = token.last - token.first === 2;
  Object.assign(token, { tag: "a", href: image ? null : target(found[1]) });
  scan.out.push({ close: true });
  go(scan, scan.at + found[0].length);
}

function emphasis(scan) {
  const { text, at } = scan;
  let end = at;
  while (text[end] === text[at]) end += 1;
  const tag = TAGS[text[at]][end - at - 1];
  if (!tag) return pass(scan, end - at);
  const key = text.slice(at, end);
  const [before, after] = [text[at - 1] ?? " ", text[end] ?? " "];
  const inWord = LETTER.test(before) && LETTER.test(after);
  const token = /\s/.test(before) || (inWord && key !== "**") ? null : begun(scan, key);
  if (!token) return LETTER.test(before) || /\s/.test(after) ? pass(scan, end - at) : begin(scan, key, at, end, tag);
  keep(scan, at);
  Object.assign(token, { tag });
  scan.out.push({ close: true });
  return go(scan, end);
}

/** Code between two equal runs of backticks. */
function code(scan) {
  const { text, at, open, unclosed } = scan;
  const [run] = text.slice(at, at + 100).match(/^`+/);
  const pattern = new RegExp(`(?<!\`)${run}(?!\`)`, "g");
  pattern.lastIndex = at + run.length;
  const close = unclosed.has(run) ? undefined : pattern.exec(text)?.index;
  if (close === undefined) unclosed.add(run);
  if (close === undefined && !open) return pass(scan, run.length);
  const end = close ?? text.length;
  const bare = Number(text[at + run.length] === " " && text[end - 1] === " " && end - at - run.length > 2);
  keep(scan, at);
  scan.out.push({ tag: "code" }, { first: at + run.length + bare, last: end - bare }, { close: true });
  return go(scan, Math.min(end + run.length, text.length));
}

function nodes(tokens, write) {
  const above = [[null, null, []]];
  const close = () => {
    const [tag, href, inside] = above.pop();
    above.at(-1)[2].push(element(tag, href, inside));
  };
  for (const { tag, href, close: closes, first, last, shown } of tokens) {
    if (tag) above.push([tag, href, []]);
    else if (closes) close();
    else if (first < last) for (const node of write(first, last, shown)) above.at(-1)[2].push(node);
  }
  while (above.length > 1) close();
  return above[0][2];
}

function element(tag, href, inside) {
  if (tag !== "a") return el(tag, {}, inside);
  return href ? el("a", { href, target: "_blank", rel: "noopener noreferrer" }, inside) : el("span", {}, inside);
}
