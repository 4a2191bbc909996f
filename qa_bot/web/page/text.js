// Texts and spans. The service counts Unicode code points, JavaScript counts UTF-16 units.

/** The part `[start, end)` of `text`, in code points. */
export function slice(text, start, end) {
  return Array.from(text).slice(start, end).join("");
}

export const length = (text) => Array.from(text).length;

/**
 * `text` cut at the boundaries of the sources' spans, and at `fresh`, the beginning of the new text.
 * Each piece is `{text, source, fresh, last}`: `source` is an index into `sources` or -1, `last` whether the span ends.
 */
export function pieces(text, sources, fresh = Infinity) {
  const points = Array.from(text);
  const spans = sources.map((source) => source.span);
  const cuts = new Set([0, points.length, Math.min(fresh, points.length)]);
  for (const [start, end] of spans.filter(Boolean)) {
    cuts.add(Math.min(start, points.length));
    cuts.add(Math.min(end, points.length));
  }
  const ordered = [...cuts].sort((a, b) => a - b);
  return ordered.slice(1).map((end, i) => {
    const start = ordered[i];
    const source = spans.findIndex((span) => span && span[0] <= start && end <= span[1]);
    const last = source >= 0 && end === spans[source][1];
    return { text: points.slice(start, end).join(""), source, fresh: start >= fresh, last };
  });
}

/** The address of a document, if it is safe to open. */
export function safeUrl(url) {
  try {
    const parsed = new URL(url);
    return ["http:", "https:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

const cite = (source) => [named(source), placed(source)].filter(Boolean).join(", ");

/** Text for the copy button: the answer, then its numbered sources. */
export function plain(answer) {
  const cited = answer.sources.filter((source) => source.span);
  const lines = cited.map((source, i) => `[${i + 1}] ${cite(source)}${source.url ? ` — ${source.url}` : ""}`);
  return [answer.answer || answer.reason, ...(lines.length ? [lines.join("\n")] : [])].join("\n\n");
}

export const named = (source) => source.title || source.document;

/** Where a passage stands: headings, page, row, date and state. What is unknown is left out. */
export function placed(source) {
  const numbers = ["page", "row"].filter((name) => source[name]).map((name) => `${name} ${source[name]}`);
  const states = ["archived", "draft"].filter((name) => source[name]);
  return [(source.heading ?? []).join(" › "), ...numbers, (source.date ?? "").slice(0, 10), ...states].filter(Boolean).join(", ");
}

export function seconds(value) {
  if (value >= 10) return `${Math.round(value)} s`;
  if (value >= 1) return `${value.toFixed(1)} s`;
  return `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
}

/** A short date: the time of today, else the day. */
export function when(time, now = new Date()) {
  const date = new Date(time * 1000);
  const today = date.toDateString() === now.toDateString();
  if (today) return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString([], { day: "numeric", month: "short", year });
}

/** A random id; `crypto.randomUUID` does not exist on plain HTTP. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
