"""A rule for markdown-it that takes paragraphs of plain lines at once: most lines of most documents.

The other rules look at every line one after the other. A line that begins with a letter begins no other block, so such
lines are a paragraph up to the next empty line. If any line may be something else, the other rules take the paragraph.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock

_PLAIN = r"[^\W\d_]|\d+(?![\d.)])|\*{1,2}[^\W_]|[\"'(“”‘’„«…$€£@/,;]"
_FIRST_LINE, _NEXT_LINE = re.compile(_PLAIN), re.compile(rf"{_PLAIN}|\[")
"""A line in brackets at the start may define a link."""
_INLINE_SIGNS = re.compile(r"(?<=  )\n|[\\`~*_\[\]!<&]")
"""What the inline rules of CommonMark and its strikethrough look at. The parser stops at many others, and at each line
end to make a token of it; here the line ends that mean no break are text."""


def faster(parser: MarkdownIt) -> MarkdownIt:
    """The parser, of which the rendered text stays the same but for white space."""
    parser.block.ruler.before("code", "plain_paragraph", _plain_paragraph)
    parser.inline.terminator_re = _INLINE_SIGNS
    return parser


def _plain_paragraph(state: StateBlock, first: int, _last: int, silent: bool) -> bool:
    if silent or state.is_code_block(first) or not _begins(state, first, _FIRST_LINE):
        return False
    line = first + 1
    while line < state.lineMax and not state.isEmpty(line):
        if not _begins(state, line, _NEXT_LINE):
            return False
        line += 1
    state.line = line
    state.push("paragraph_open", "p", 1).map = [first, line]
    inline = state.push("inline", "", 0)
    inline.content = mdTrim(state.getLines(first, line, state.blkIndent, False))
    inline.map, inline.children = [first, line], []
    state.push("paragraph_close", "p", -1)
    return True


def _begins(state: StateBlock, line: int, signs: re.Pattern[str]) -> bool:
    return signs.match(state.src, state.bMarks[line] + state.tShift[line]) is not None
