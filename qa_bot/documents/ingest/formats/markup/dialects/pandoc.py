"""Marks of Pandoc: spans with attributes, citations, blocks of lines, and commands of LaTeX that only lay out."""

from __future__ import annotations

import re
from collections.abc import Set

_CODE = r"``[^\n]+?``|`[^`\n]+`"
_MATHS = (
    r"\$\$(?:(?!\$\$)[\s\S]){1,2000}\$\$|\$(?![\s$])[^$\n]{1,500}(?<!\s)\$(?!\d)"
    r"|\\\[(?:(?!\\\])[\s\S]){1,2000}\\\]|\\\((?:(?!\\\))[\s\S]){1,500}\\\)"
    r"|\\begin\{(?P<block>(?:equation|align|gather|math|displaymath|multline|eqnarray|cases|array|[bpv]?matrix)\*?)\}"
    r"(?:[^\\]|\\(?!end\{)){0,2000}\\end\{(?P=block)\}"
)
_ATTRIBUTE = (
    r"(?:[#.][A-Za-z][\w:.-]{0,60}|[A-Za-z][\w:-]{0,30}=(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s{}\"']{1,200}))"
)
_ATTRIBUTES = rf"\{{[ \t]*(?:{_ATTRIBUTE}|-)(?:[ \t]+{_ATTRIBUTE}){{0,9}}[ \t]*\}}"
BRACKETS = re.compile(
    rf"`(?P<raw>[^`\n]+)`\{{=(?P<format>[a-z]{{2,12}})\}}|(?P<code>{_CODE})(?:{_ATTRIBUTES})?|{_MATHS}|\\."
    rf"|(?P<open>\[)|(?P<span>\]{_ATTRIBUTES})|(?P<close>\])|\n[ \t]*\n"
)
"""Code, formulas, signs after a backslash, brackets, and the gap between two paragraphs, over which no bracket goes."""
SPAN_END = re.compile(rf"\]{_ATTRIBUTES}")
OTHER_BRACKETS = re.compile(r"(?:!|:[A-Za-z][\w-]*)\Z")
"""What is before those of an image or a directive: `:::note[Hot]{.wide}`."""
_KEY = r"-?@(?:\{[^{}\s]{1,100}\}|[A-Za-z\d_](?:[\w:.#$%&+?<>~/-]{0,100}[\w/])?)"
_LOCATOR = (
    r"(?:§|\d|[ivxlcIVXLC]+\b|(?:pp?|pages?|S|Seiten?|Kap|Kapitel|chap|chapters?|ch|secs?|sections?|Abs|Absatz|Abschn"
    r"|Abschnitt|Art|Artikel|Nr|no|vols?|Bd|Band|figs?|Abb|Abbildung|Tab|tables?|Anm|Anhang|Anlage|note|ff?)\b)"
)
_SUFFIX = rf"(?:\{{[^{{}}\n]{{0,80}}\}})?(?:,?\s*\(?{_LOCATOR}[^\[\]@;]{{0,80}})?"
_PREFIX = (
    r"(?:(?:see|cf\.?|e\.g\.,?|compare|also|vgl\.?|vergleiche|siehe|s\.|auch|z\.\s?B\.|etwa|nach|aus|in|from|after"
    r"|adapted|voir|cfr\.?)\s+){0,3}"
)
CITATION = re.compile(rf"{_PREFIX}{_KEY}{_SUFFIX}(?:;\s*{_PREFIX}{_KEY}{_SUFFIX}){{0,20}}")
"""The text between the brackets of a citation, or of several: "see @doe99, p. 3; @roe"."""
MAY_CITE = re.compile(r"\[[^\[\]@]{0,60}@")
LONGEST_CITATION = 500
LINKS = ("(", "[", ":")
"""What makes brackets a link, or the target of one."""
DROPPED = "\ufdd2"  # in place of a citation: a noncharacter, which never occurs in text
NEEDED = re.compile(
    r"\b(?:see|by|in|from|of|siehe|nach|laut|gemäß|in|von|aus|bei|unter|durch|und|and|with|mit|to|an|thanks|danke)\s+\[*$",
    re.IGNORECASE,
)
"""Words that leave a gap without the citation behind them: "see [@roe]" is "see roe"."""
DROPPED_AT_END = re.compile(rf"(?<=\S)[ \t]*(?:\n[ \t]*)?{DROPPED}(?=[.,;:!?)]|[ \t]*(?:\n|\Z))")
DROPPED_WITHIN = re.compile(rf"[ \t]*{DROPPED}")
EMPTY_BRACKETS = re.compile(rf"\({DROPPED}\)")
UNNUMBERED = re.compile(r"^(#{1,6}[ \t].*?)[ \t]*\{-\}[ \t]*$", re.MULTILINE)
LINE_BLOCK = re.compile(r"(?:\A|(?<=\n\n))(?:\|(?:[ \t][^|\n]*)?(?:\n|\Z)){2,}(?=\n|\Z)")
"""Lines that begin with a `|` and have no other, so they are not rows of a table."""
_LAYOUT = (
    "smallskip medskip bigskip newpage pagebreak nopagebreak clearpage cleardoublepage noindent indent hfill vfill "
    "centering raggedright raggedleft newline linebreak tableofcontents maketitle frontmatter mainmatter backmatter "
    "appendix phantomsection allowbreak"
).replace(" ", "|")
_WITH_LENGTH = (
    r"(?:vspace|hspace|vskip|thispagestyle|pagestyle|setcounter|setlength|addtolength|pagenumbering|enlargethispage)"
)
_FRAMES = r"(?:center|flushleft|flushright|centering|small|footnotesize|multicols|minipage|samepage)"
LAYOUT = re.compile(
    rf"(?P<unchanged>{_CODE}|{_MATHS})|(?<![\w\\:/.])\\(?:(?:{_LAYOUT})(?![A-Za-z\\*{{])"
    rf"|{_WITH_LENGTH}\*?(?:\{{[^{{}}\n]{{0,100}}\}}){{1,2}}"
    rf"|(?:begin|end)\{{{_FRAMES}\*?\}}(?:\[[^\[\]\n]{{0,20}}\])?(?:\{{[^{{}}\n]{{0,60}}\}})?)(?:\{{\}})?[ \t]?"
)
LETTERS = re.compile(
    rf"(?P<unchanged>{_CODE}|{_MATHS})|(?<![\w\\:/])\\(?:text(?:bf|it|sc|sf|tt|rm|sl|up|md|normal)|emph|underline|mbox)"
    r"\{(?P<text>[^{}]{0,500})\}"
)
COMMAND_SIGNS = (
    *(f"\\{name}" for name in _LAYOUT.split("|")),
    *("\\vs", "\\hs", "\\vskip", "\\thispage", "\\pages", "\\pagenum", "\\set", "\\addto", "\\enlarge"),
    *("\\begin{", "\\end{"),
)
LETTER_SIGNS = ("\\text", "\\emph{", "\\underline{", "\\mbox{")
DEEPEST_LETTERS = 3  # commands for letters inside each other


def without_pandoc(text: str, targets: Set[str]) -> str:
    """Prose without marks of Pandoc; spans and text in other letters stay, as do names that are cited without brackets.

    Args:
        targets: labels of links that the document defines; they are not citations.
    """
    if "\\" in text:
        text = _without_commands(text)
    if "{-}" in text:
        text = UNNUMBERED.sub(r"\1", text)
    if text.startswith("| ") or "\n\n| " in text:
        text = LINE_BLOCK.sub(_lines, text)
    if "]{" in text or "`{" in text or ("@" in text and "[" in text and MAY_CITE.search(text)):
        return _without_marks_of_citations("".join(_without_brackets(text, targets)))
    return text


def _without_commands(text: str) -> str:
    if any(sign in text for sign in COMMAND_SIGNS):
        text = LAYOUT.sub(lambda match: match["unchanged"] or "", text)
    if any(sign in text for sign in LETTER_SIGNS):
        for _ in range(DEEPEST_LETTERS):
            text = LETTERS.sub(lambda match: match["unchanged"] or match["text"] or "", text)
    return text


def _lines(block: re.Match[str]) -> str:
    """The lines of a block, each of which ends in a line break."""
    lines = [line.removeprefix("|").strip() for line in block[0].rstrip("\n").split("\n")]
    return "\n\n".join("\\\n".join(part.split("\n")) for part in "\n".join(lines).strip("\n").split("\n\n")) + "\n"


def _without_brackets(text: str, targets: Set[str]) -> list[str]:
    """The parts of a text, with `DROPPED` in place of citations."""
    parts: list[str] = []
    opened: list[tuple[int, int]] = []  # the part and the place in the text of each bracket that is open
    end = 0
    for match in BRACKETS.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        shown = match["code"] or match[0]
        if match["format"]:
            shown = match["raw"] if match["format"] == "html" else ""
        if match["open"]:
            opened.append((len(parts), match.start()))
        elif match["close"] or match["span"]:
            part, start = opened.pop() if opened else (-1, 0)
            if part >= 0 and _is_citation(text, start, match, targets):
                shown = _kept_names(text, start, match.start()) or DROPPED
                parts[part:] = []
            elif part >= 0 and match["span"] and not OTHER_BRACKETS.search(text, max(0, start - 40), start):
                parts[part] = shown = ""
        elif not match["code"] and "\n" in match[0] and not match[0].strip():
            opened.clear()
        parts.append(shown)
    return [*parts, text[end:]]


def _is_citation(text: str, start: int, close: re.Match[str], targets: Set[str]) -> bool:
    """Whether brackets cite; those of a note of Obsidian, `[[@roe]]`, are of a link."""
    inner = text[start + 1 : min(close.start(), start + LONGEST_CITATION)]
    if "@" not in inner or inner in targets or text[close.end() : close.end() + 1] in LINKS:
        return False
    is_note = text[start - 1 : start] == "[" and text[close.end() : close.end() + 1] == "]"
    return CITATION.fullmatch(inner) is not None and not (is_note and not SPAN_END.match(text, close.end()))


def _kept_names(text: str, start: int, end: int) -> str:
    """The cited names if the sentence needs them; else ""."""
    if not NEEDED.search(text, max(0, start - 20), start):
        return ""
    return ", ".join(key.strip("-@{}") for key in re.findall(_KEY, text[start:end]))


def _without_marks_of_citations(text: str) -> str:
    if DROPPED not in text:
        return text
    text = EMPTY_BRACKETS.sub(DROPPED, text)
    return DROPPED_WITHIN.sub("", DROPPED_AT_END.sub("", text))
