"""Commands of the classes beamer and exam as those of articles: slides have headings, choices and parts are items."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_bot.documents.ingest.formats.markup.latex.arguments import MAX_BROKEN, argument

OVERLAY = re.compile(
    r"(\\(?:item|only|onslide|uncover|visible|invisible|alert|pause|textbf|textit|emph|includegraphics|action)"
    r"|\\begin\s*\{[a-z]{1,20}\})<(?=[^<>]{0,39}[\d+.])[^<>\n]{1,40}>"
)
"""On which of its steps a slide shows a piece."""
SLIDE_TITLE = re.compile(
    r"(\\begin\s*\{frame\})(?:\s*\[[^\[\]]{0,200}\]){0,2}\s*(?=\{)"
    r"|\\frame(sub)?title(?:<[^<>\n]{1,40}>)?(?:\[[^\[\]]{0,200}\])?\s*(?=\{)"
)
LISTS = {
    **dict.fromkeys(("parts", "subsubparts"), r"{enumerate}[label=(\alph*)]"),
    "subparts": r"{enumerate}[label=\roman*.]",
    **dict.fromkeys(("choices", "oneparchoices"), r"{enumerate}[label=\Alph*.]"),
    **dict.fromkeys(("checkboxes", "oneparcheckboxes"), "{itemize}"),
}
"""Environment of exams → the list that it is."""
EXAM = re.compile(rf"\\begin\s*\{{(?:{'|'.join(LISTS)})\}}")
PIECE = re.compile(
    rf"\\(begin|end)\s*\{{({'|'.join(LISTS)})\}}"
    r"|\\(?:(?:sub){0,2}part(?!\s*\{)|choice|CorrectChoice|correctchoice)(?![A-Za-z@*])(?:\s*\[[^\[\]]{0,20}\])?"
)


def with_article_commands(parts: Sequence[str]) -> list[str]:
    """The parts of a document; every second one is verbatim and stays."""
    text = "".join(parts)
    level = "subsubsection" if "\\subsection" in text else "subsection" if "\\section" in text else "section"
    is_exam = EXAM.search(text) is not None
    return [part if number % 2 else _rewritten(part, level, is_exam) for number, part in enumerate(parts)]


def _rewritten(text: str, level: str, is_exam: bool) -> str:
    text = _with_headings(OVERLAY.sub(r"\1", text), level)
    return PIECE.sub(_piece_of_list, text) if is_exam else text


def _piece_of_list(match: re.Match[str]) -> str:
    if not match[1]:
        return r"\item"
    return rf"\{match[1]}{LISTS[match[2]] if match[1] == 'begin' else LISTS[match[2]].partition('[')[0]}"


def _with_headings(text: str, level: str) -> str:
    """The text with the titles of its slides as headings, and those below them as paragraphs."""
    output, position, broken = [], 0, 0
    for match in SLIDE_TITLE.finditer(text):
        if match.start() < position or broken >= MAX_BROKEN:
            continue
        title, end = argument(text, match.end())
        broken += end == match.end()
        below, end = argument(text, end) if match[1] else ("", end)
        heading = f"\n\n{title}\n\n" if match[2] else f"\\{level}*{{{title}}}\n\n{below}\n\n"
        output += [text[position : match.start()], match[1] or "", heading]
        position = end
    return "".join([*output, text[position:]])
