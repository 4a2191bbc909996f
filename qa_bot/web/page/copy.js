import { el, iconButton, relabel } from "./dom.js";

const LABEL = "Copy with sources";
const SHOWN = 1600; // milliseconds for which the button shows the result

/** A button that copies the current result of `text()`. */
export function copyButton(text, label = LABEL) {
  const button = iconButton("copy", label, async () => {
    const done = await copied(text());
    relabel(button, done ? "done" : "close", done ? "Copied" : "Copying is not allowed here");
    setTimeout(() => relabel(button, "copy", label), SHOWN);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text); // no clipboard API on plain HTTP
  }
}

function copiedByHand(text) {
  const field = el("textarea", { class: "hidden", set: { value: text } });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
