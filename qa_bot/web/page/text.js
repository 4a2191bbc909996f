// Texts and spans. The service counts Unicode code points, JavaScript counts UTF-16 units.

const SLIDES = /\.(pptx?|odp|key)$/i;
const WORDS = 8; // of a passage that are looked for on its page

/** The part `[start, end)` of `text`, in code points. */
export function slice(text, start, end) {
  return Array.from(text).slice(start, end).join("");
}

export const length = (text) => Array.from(text).length;

/** The address of a document, if it is safe to open. */
export function safeUrl(url) {
  try {
    const parsed = new URL(url);
    return ["http:", "https:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

const cite = (source) => [titled(source), placed(source), ...states(source)].filter(Boolean).join(", ");

/** Text for the copy button: the answer, then its numbered sources. */
export function plain(answer) {
  const cited = answer.sources.filter((source) => source.span);
  const lines = cited.map((source, i) => `[${i + 1}] ${cite(source)}${source.url ? ` — ${source.url}` : ""}`);
  return [answer.answer || answer.reason, ...(lines.length ? [lines.join("\n")] : [])].join("\n\n");
}

export const named = (source) => source.title || source.document;

/** Title › heading › heading; a heading that repeats the title is left out. */
export function titled(source) {
  return [...new Set([named(source), ...(source.heading ?? [])])].join(" › ");
}

/** Where a passage stands: page, slide or row, and the date of its document. What is unknown is left out. */
export function placed(source) {
  const page = SLIDES.test(source.path || source.document) ? "slide" : "page";
  const numbers = [[page, source.page], ["row", source.row]].filter(([, number]) => number).map((part) => part.join(" "));
  return [...numbers, (source.date ?? "").slice(0, 10)].filter(Boolean).join(", ");
}

/** What a document says of itself: that it is out of date, or not final. */
export const states = (source) => ["archived", "draft"].filter((name) => source[name]);

/** The address of a document at the page or the words of its passage, if it is safe to open. */
export function placeUrl(source, words) {
  const url = safeUrl(source.url);
  if (!url) return null;
  const { pathname, hash } = new URL(url);
  if (source.page && !hash && /\.pdf$/i.test(pathname)) return `${url}#page=${source.page}`;
  const first = words.trim().split(/\s+/).slice(0, WORDS).join(" ");
  if (!first || hash.includes(":~:")) return url;
  return `${url}${hash ? "" : "#"}:~:text=${encodeURIComponent(first).replaceAll("-", "%2D")}`;
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
