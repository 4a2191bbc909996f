// The owner's page: questions without a good answer, the most frequent first; uploaded documents; comparison.

import { mount } from "./compare.js";
import { mount as mountDocuments } from "./documents.js";
import { byId, el } from "./dom.js";
import { Gap } from "./gap.js";
import { OwnerApi } from "./owner_api.js";
import { Token } from "./token.js";

const LIST = 50;
const MOST = 500; // limit of the service

const api = new OwnerApi(new Token());
const [list, note, more] = ["gaps", "gaps-note", "gaps-more"].map(byId);
let wanted = LIST;
let open = 0; // questions without a good answer, shown or not

async function refresh() {
  try {
    const { gaps, total } = await api.gaps(wanted);
    open = total;
    list.replaceChildren(...gaps.map((gap) => new Gap(gap, api, settled).root));
    count();
  } catch (error) {
    const again = el("button", { type: "button", class: "link", on: { click: refresh } }, "Try again");
    note.replaceChildren(el("span", { role: "alert" }, error.message), " ", again);
  }
}

/** A question was answered, or dismissed with a message, which removes its entry. */
function settled(gap, said) {
  open -= 1;
  if (said) leave(gap.root);
  count(said);
}

/** Remove an entry; the focus moves to the next one. */
function leave(entry) {
  const next = entry.nextElementSibling ?? entry.previousElementSibling;
  entry.remove();
  (next?.querySelector("button") ?? byId("gaps-title")).focus();
}

function count(said = "") {
  const number = `${open} ${open === 1 ? "question wants" : "questions want"} an answer.`;
  note.textContent = [said, open ? number : ""].filter(Boolean).join(" ");
  byId("gaps-none").hidden = list.childElementCount > 0;
  more.hidden = list.querySelectorAll(".gap:not(.live)").length >= Math.min(open, MOST);
}

more.addEventListener("click", async () => {
  const before = list.childElementCount;
  wanted = Math.min(MOST, wanted + LIST);
  await refresh();
  list.children[before]?.querySelector("button")?.focus();
});

refresh();
mountDocuments(byId("documents"), api);
mount(byId("compare"), api);
