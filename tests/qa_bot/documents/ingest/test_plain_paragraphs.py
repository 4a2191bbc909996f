import random

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from qa_bot.documents.cutting import blocks
from qa_bot.documents.ingest.plain_paragraphs import faster

SIMPLE_LINES = """\
plain words
a *b* **c**
- item
  - nested
    - deep [x]
   - less deep
* * *
- - -
- | -
* **star**
+ [a](b)
- [x]: y
-
  two
[^1]: note
## heading of a | b
####### seven
# closed ##
#tag
1. step
2) step
> quote
| a | b |
| --- | --- |
a | b
--- | ---
:--|--:
===
---
# heading
```
~~~
    code
<div>
</div>
[a]: b
[a](b)
**bold** x
*a
2024 was
12. x
      deep
ª
&amp; x
"""
LINES = [*SIMPLE_LINES.splitlines(), "", "", "", "\tcode", "hard break  ", "broken\\"]


def cutting_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).disable(["reference", "html_block", "inline"])
    parser.block.ruler.before("fence", "table_lines", blocks._table_lines, {"alt": ["paragraph", "reference"]})
    return parser


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 40}).enable(["table", "strikethrough"])


def shapes(tokens: list[Token]) -> list[tuple[str, int, list[int] | None, str]]:
    return [(token.type, token.level, token.map, token.content) for token in tokens]


@pytest.mark.parametrize("seed", range(10))
def test_blocks_and_text_are_those_of_the_parser_without_the_rule(seed: int) -> None:
    rng = random.Random(seed)
    usual, fast = parser(), faster(parser())
    for _ in range(50):
        text = "\n".join(rng.choice(LINES) for _ in range(rng.randint(1, 9)))
        assert shapes(fast.parse(text)) == shapes(usual.parse(text))
        assert fast.render(text).split() == usual.render(text).split()


@pytest.mark.parametrize("seed", range(10))
def test_blocks_to_cut_are_those_of_the_parser_without_the_rule(seed: int) -> None:
    rng = random.Random(seed)
    usual, fast = cutting_parser(), faster(cutting_parser())
    for _ in range(50):
        text = "\n".join(rng.choice(LINES) for _ in range(rng.randint(1, 9)))
        assert shapes(fast.parse(text)) == shapes(usual.parse(text))


def test_a_plain_paragraph_needs_no_other_rule() -> None:
    fast = faster(parser())
    fast.block.ruler.enableOnly("plain_paragraph")
    with pytest.raises(RuntimeError, match="none of the block rules matched"):
        fast.parse("> quote")
    assert [token.type for token in fast.parse("One.\nTwo.")] == ["paragraph_open", "inline", "paragraph_close"]


def test_line_ends_make_no_tokens_but_hard_breaks_do() -> None:
    (_, inline, _) = faster(parser()).parse("one\ntwo  \nthree")
    assert [token.type for token in inline.children or ()] == ["text", "hardbreak", "text"]
