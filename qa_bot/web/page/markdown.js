// Renders Markdown in the dialect that documents are stored in. Time is linear in the text. All is built of text nodes
// and of the elements named here; markup that is unknown or unfinished stays text.

import { el } from "./dom.js";
import { inline } from "./inline.js";

const DEEPEST = 6; // lists and quotations inside one another
const FULL = 60; // a line of fewer characters was ended on purpose
const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]+|$)/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)(?:[-*+]|(\d{1,3})[.)])(?: {1,4}(?=\S)|[ \t]|$)/; // longer numbers are years
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const UNDERLINE = /^ {0,3}(?:=+|-{2,})[ \t]*$/;
const DASHES = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const ROW = /^ *\|.+\|[ \t]*$/;
const READERS = [fenced, heading, rule, table, quotation, list];

/**
 * Nodes of a Markdown text. `write(start, end, shown)` makes the nodes of a visible stretch, in UTF-16 units; `shown`
 * is what to show if it is not the stretch itself. `open` says that more text follows.
 */
export function markdown(text, write = (start, end, shown) => [shown ?? text.slice(start, end)], open = false) {
  const lines = [];
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+(?:\r\n|\r|\n)?|\r\n|\r|\n/g)) {
    const words = line.replace(/[\r\n]+$/, "");
    lines.push({ words, start: index, end: index + words.length });
  }
  return blocks(open ? lines.slice(0, lines.length - waiting(lines)) : lines, { text, write, open }, 0);
}

/** How many of the last lines are not shown yet, because it is not known what they begin. */
function waiting(lines) {
  const [last, before, above] = [lines.at(-1), lines.at(-2), lines.at(-3)].map((line) => line?.words ?? "");
  if (/^ {0,3}\|/.test(last)) return before.includes("|") ? (above.includes("|") || DASHES.test(last) ? 0 : 2) : 1;
  return Number(/^ *(?:\d{1,3}[.)]?|[-*+#>`~]+)[ \t]*$/.test(last));
}

function blocks(lines, page, depth) {
  const nodes = [];
  for (let i = skipBlank(lines, 0); i < lines.length; i = skipBlank(lines, i)) {
    let read = null;
    if (depth < DEEPEST) READERS.some((reader) => (read = reader(lines, i, page, depth)));
    const [node, next] = read ?? paragraph(lines, i, page);
    nodes.push(node);
    i = next;
  }
  return nodes;
}

// --- lines ---

const isBlank = (line) => !line.words.trim();
const indent = ({ words }) => words.length - words.trimStart().length;
const hasHeader = (lines, i) => [lines[i], lines[i + 1]].every((line) => line?.words.includes("|")) && DASHES.test(lines[i + 1].words);
const begins = (lines, i) => [FENCE, HEADING, QUOTE, RULE, ITEM, ROW].some((sign) => sign.test(lines[i].words)) || hasHeader(lines, i);

function skipBlank(lines, i) {
  while (i < lines.length && isBlank(lines[i])) i += 1;
  return i;
}

/** The line without its first `count` characters. */
function without({ words, start, end }, count) {
  return { words: words.slice(count), start: Math.min(start + count, end), end };
}

// --- words ---

/** Nodes of the words from `start` to `end`; a line that is full, and therefore was wrapped, goes on in the next. */
function words({ text, write, open }, start, end) {
  const byLine = (first, last, shown) => {
    if (shown !== undefined) return write(first, last, shown);
    return Array.from(text.slice(first, last).matchAll(/[^\r\n]+|(?:\r\n|\r|\n)[ \t]*/g), ({ 0: part, index }) => {
      const [from, to] = [first + index, first + index + part.length];
      return /^[\r\n]/.test(part) ? write(from, to, isFull(text, from) ? " " : "\n") : write(from, to);
    }).flat();
  };
  return inline(text, start, end, byLine, open && end === text.length);
}

function isFull(text, end) {
  const line = text.slice(Math.max(0, end - FULL), end);
  return line.length === FULL && !line.includes("\n") && !line.endsWith("  ");
}

function paragraph(lines, i, page) {
  let next = i + 1;
  while (next < lines.length && !isBlank(lines[next]) && !begins(lines, next) && !UNDERLINE.test(lines[next].words)) next += 1;
  const isTitle = next < lines.length && UNDERLINE.test(lines[next].words);
  const own = lines.slice(i, next).map((line) => without(line, indent(line)));
  // In a quotation there are signs between the lines: then each is read alone.
  const isWhole = own.every((line, k) => k === 0 || !page.text.slice(own[k - 1].end, line.start).trim());
  const nodes = isWhole
    ? words(page, own[0].start, own.at(-1).end)
    : own.flatMap((line, k) => [...(k ? ["\n"] : []), ...words(page, line.start, line.end)]);
  return [el("p", { class: isTitle && "heading" }, nodes), next + isTitle];
}

// --- blocks: each reader returns the node and the line after it, or null ---

function fenced(lines, i, { write }) {
  const sign = FENCE.exec(lines[i].words)?.[1];
  if (!sign) return null;
  const isEnd = ({ words: line }) => line.trim().startsWith(sign) && !line.trim().replaceAll(sign[0], "");
  const found = lines.slice(i + 1).findIndex(isEnd);
  const end = found < 0 ? lines.length : i + 1 + found;
  const by = indent(lines[i]);
  const own = lines.slice(i + 1, end).map((line) => without(line, Math.min(by, indent(line))));
  const nodes = own.flatMap((line, k) => [...(k ? ["\n"] : []), ...(line.words ? write(line.start, line.end) : [])]);
  return [el("pre", { tabindex: 0 }, el("code", {}, nodes)), Math.min(end + 1, lines.length)];
}

function heading(lines, i, page) {
  const [sign] = HEADING.exec(lines[i].words) ?? [];
  if (sign === undefined) return null;
  const { words: line, start } = without(lines[i], sign.length);
  const end = start + line.trimEnd().replace(/(?<=\s|^)#+$/, "").trimEnd().length;
  return [el("p", { class: "heading" }, words(page, start, end)), i + 1];
}

function rule(lines, i) {
  return RULE.test(lines[i].words) ? [el("hr"), i + 1] : null;
}

function quotation(lines, i, page, depth) {
  if (!QUOTE.test(lines[i].words)) return null;
  const own = [];
  let next = i;
  for (; next < lines.length && !isBlank(lines[next]); next += 1) {
    const sign = QUOTE.exec(lines[next].words);
    if (!sign && begins(lines, next)) break;
    own.push(without(lines[next], sign?.[0].length ?? 0));
  }
  return [el("blockquote", {}, blocks(own, page, depth + 1)), next];
}

function table(lines, i, page) {
  const isHeaded = hasHeader(lines, i);
  if (!isHeaded && !ROW.test(lines[i].words)) return null;
  const isRow = ({ words: line }) => (isHeaded ? line.includes("|") : ROW.test(line));
  const from = isHeaded ? i + 2 : i;
  let next = from;
  while (next < lines.length && isRow(lines[next])) next += 1;
  const sides = isHeaded ? cells(lines[i + 1]).map(({ words: dashes }) => side(dashes)) : [];
  const row = (tag, line) => el("tr", {}, cells(line).map(({ start, end }, k) =>
    el(tag, { class: sides[k] ?? false, scope: tag === "th" && "col" }, words(page, start, end))));
  const isNamed = isHeaded && cells(lines[i]).some(({ words: name }) => name);
  const content = [
    isNamed ? el("thead", {}, row("th", lines[i])) : null,
    el("tbody", {}, lines.slice(from, next).map((line) => row("td", line))),
  ];
  return [el("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": "Table" }, el("table", {}, content)), next];
}

const side = (dashes) => (dashes.endsWith(":") ? (dashes.startsWith(":") ? "middle" : "right") : false);

/** The cells of a row without the blanks around them; a bar behind a backslash is in its cell. */
function cells({ words: line, start }) {
  const found = [];
  let from = indent({ words: line }) + line.trimStart().startsWith("|");
  const last = line.trimEnd().length;
  for (const { index } of line.matchAll(/(?<!\\)\||$/g)) {
    if (index < from || (index === line.length && from >= last)) continue;
    const cell = line.slice(from, index);
    const first = start + from + indent({ words: cell });
    found.push({ words: cell.trim(), start: first, end: first + cell.trim().length });
    from = index + 1;
  }
  return found;
}

function list(lines, i, page, depth) {
  const isOrdered = ITEM.exec(lines[i].words)?.[2] !== undefined;
  const items = [];
  let [next, number] = [i, 0];
  for (let at = i; at < lines.length; at = skipBlank(lines, next)) {
    const sign = ITEM.exec(lines[at].words);
    const given = Number(sign?.[2]);
    const starts = isOrdered && items.length && at > next && given <= number; // after a gap: another list
    if (!sign || (sign[2] !== undefined) !== isOrdered || RULE.test(lines[at].words) || starts) break;
    number = items.length && given <= number ? number + 1 : given;
    let own;
    [own, next] = item(lines, at, sign);
    items.push(el("li", { value: isOrdered && number }, blocks(own, page, depth + 1)));
  }
  return items.length ? [el(isOrdered ? "ol" : "ul", {}, items), next] : null;
}

/** The lines of an item without its sign: indented ones, and those that go on with its words. */
function item(lines, i, [sign, before]) {
  const own = [without(lines[i], sign.length)];
  let next = i + 1;
  while (next < lines.length) {
    const then = skipBlank(lines, next);
    const isInside = then < lines.length && indent(lines[then]) >= before.length + 2;
    if (!isInside && (then > next || begins(lines, next))) break;
    for (; next < then; next += 1) own.push(lines[next]);
    if (then === lines.length) break;
    own.push(without(lines[then], Math.min(indent(lines[then]), sign.length)));
    next = then + 1;
  }
  return [own, next];
}
