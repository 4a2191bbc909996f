"""A rule for markdown-it that takes paragraphs of plain lines at once, and headings: most lines of most documents.

The other rules look at every line one after the other. A line that begins with a letter begins no other block, so such
lines are a paragraph up to the next empty line or item of a list. If any line may be something else, the other rules
take the paragraph.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock, heading
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_PLAIN = r"[^\W\d_]|\d+(?![\d.)])|\*{1,2}[^\W_]|[\"'(“”‘’„«…$€£@/,;]"
_PLAIN_LINE = re.compile(rf"{_PLAIN}|\[")
_ITEM = re.compile(rf"(?:[-*+]|(\d{{1,9}})[.)])[ \t]+(?:{_PLAIN}|\[)")
_INLINE_SIGNS = re.compile(r"(?<=  )\n|[\\`~*_\[\]!<&]")
"""What the inline rules of CommonMark and its strikethrough look at. The parser stops at many others, and at each line
end to make a token of it; here the line ends that mean no break are text."""


def faster(parser: MarkdownIt) -> MarkdownIt:
    """The parser, of which the rendered text stays the same but for white space."""
    parser.block.ruler.before("code", "plain_paragraph", _plain_paragraph)
    parser.inline.terminator_re = _INLINE_SIGNS
    if "inline" in parser.core.ruler.get_active_rules():
        parser.core.ruler.at("inline", _inline)
    return parser


def _inline(state: StateCore) -> None:
    """The rule of markdown-it that parses the words of blocks; words without signs are text, and half of all are."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if _INLINE_SIGNS.search(token.content):
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            token.children.append(Token("text", "", 0, content=token.content))


def _plain_paragraph(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if silent:
        return False
    if state.src.startswith("#", state.bMarks[first] + state.tShift[first]):
        return state.isEmpty(first + 1) and heading(state, first, last, silent)  # a line of dashes makes it a table
    if state.is_code_block(first) or not _matches(_PLAIN_LINE, state, first):
        return False
    line = first + 1
    while line < state.lineMax and not state.isEmpty(line):
        if not _matches(_PLAIN_LINE, state, line):
            if _begins_item(state, line):
                break
            return False
        line += 1
    content = mdTrim(state.getLines(first, line, state.blkIndent, False))
    if content.startswith("[") and "]:" in content:  # may define a link
        return False
    state.line = line
    state.push("paragraph_open", "p", 1).map = [first, line]
    inline = state.push("inline", "", 0)
    inline.content = content
    inline.map, inline.children = [first, line], []
    state.push("paragraph_close", "p", -1)
    return True


def _begins_item(state: StateBlock, line: int) -> bool:
    """Whether an item of a list begins, which ends the paragraph before it; False if the other rules must decide.

    In a paragraph a list begins with 1, unless the paragraph is in an item of the same list.
    """
    indent = state.sCount[line]
    item = _matches(_ITEM, state, line)
    if item is None or indent < 0 or indent - state.blkIndent > 3:  # a further line of a quotation or an item
        return False
    if indent >= state.blkIndent:
        return item[1] is None or int(item[1]) == 1
    return state.listIndent < 0 or indent - state.listIndent < 4


def _matches(pattern: re.Pattern[str], state: StateBlock, line: int) -> re.Match[str] | None:
    return pattern.match(state.src, state.bMarks[line] + state.tShift[line])
