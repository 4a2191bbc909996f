// Texts with marked stretches: the lead of an answer, the parts that its sources support, the numbers of the sources.

import { el } from "./dom.js";
import { markdown } from "./markdown.js";

const BRIEF = 160; // characters of a lead that is set in bold
const WITHIN = "a, strong, em, del, code, span";

/**
 * Nodes of an answer. Spans count code points.
 *
 * `sources` have a `span` or none; `chip(source, index, nodes)` makes the button behind the nodes of a source. `lead` is
 * the stretch that answers, `fresh` the beginning of what has just come, `open` says that more follows.
 */
export function answerNodes(text, sources, { chip, lead = null, fresh = Infinity, open = false }) {
  const at = units(text);
  const spans = sources.map(({ span }) => span.map(at));
  const whole = lead && !text.slice(0, at(lead[0])).trim() && !text.slice(at(lead[1])).trim();
  const brief = lead && lead[1] - lead[0] <= BRIEF;
  const marks = [...spans.map((span) => ({ span })), { span: lead && !whole && lead.map(at), class: brief ? "lead brief" : "lead" }];
  const news = { span: [at(fresh), text.length], class: "fresh" };
  const shown = spans.map(() => []);
  const write = marker(text, [...marks, news], (node, first) => {
    const place = spans.findIndex(([start, end]) => start <= first && first < end);
    shown[place]?.push(node);
  });
  const nodes = sections(text, spans).flatMap(([start, end]) => {
    const more = open && end === text.length;
    const blocks = markdown(text.slice(start, end), (first, last, other) => write(start + first, start + last, other), more);
    if (start) blocks[0]?.classList.add("further-on");
    return blocks;
  });
  const root = el("div", { class: "text" }, nodes);
  for (const block of root.children) block.classList.toggle("led", Boolean(block.querySelector(".lead")));
  shown.forEach((parts, i) => parts.length && behind(parts.at(-1), chip(sources[i], i, parts)));
  return root;
}

/** Nodes of a passage with one stretch marked. */
export function passageNodes(text, span) {
  const write = marker(text, [{ span: span?.map(units(text)), tag: "mark" }], () => {});
  return markdown(text, write);
}

/** From code points to the UTF-16 units that JavaScript counts. */
export function units(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (point) => Math.min(point, text.length);
  const starts = [0];
  for (const character of text) starts.push(starts.at(-1) + character.length);
  return (point) => starts[Math.min(point, starts.length - 1)];
}

/** Writes stretches as spans, cut where a mark begins or ends; `wrote(node, first)` is called for each. */
function marker(text, marks, wrote) {
  const all = marks.filter(({ span }) => span);
  const cuts = [...new Set(all.flatMap(({ span }) => span))].sort((a, b) => a - b);
  return (start, end, shown) => {
    const bounds = [start, ...(shown === undefined ? cuts.filter((cut) => start < cut && cut < end) : []), end];
    return bounds.slice(1).map((last, i) => {
      const first = bounds[i];
      const on = all.filter(({ span }) => span[0] <= first && first < span[1]);
      const classes = on.map((mark) => mark.class).filter(Boolean).join(" ");
      const tag = on.find((mark) => mark.tag)?.tag ?? "span";
      const node = el(tag, { class: classes || false }, shown ?? text.slice(first, last));
      wrote(node, first);
      return node;
    });
  };
}

/** Stretches that are rendered alone: a passage does not go on in the list or the code of the one before it. */
function sections(text, spans) {
  const starts = spans.map(([start]) => start).filter((start) => /\n\s*\n$/.test(text.slice(Math.max(0, start - 20), start)));
  const bounds = [...new Set([0, ...starts, text.length])].sort((a, b) => a - b);
  return bounds.slice(1).map((end, i) => [bounds[i], end]);
}

/** Put a button behind a node, but not into a link, emphasis or code. */
function behind(node, button) {
  const pre = node.closest("pre");
  if (pre) return pre.after(el("p", { class: "behind" }, button));
  let outer = node;
  while (outer.parentElement.matches(WITHIN)) outer = outer.parentElement;
  return outer.after(button);
}
