"""The markup of MediaWiki."""

import pytest

from qa_bot.documents.ingest.formats.exports.wikitext import anchors, wikitext


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{Box|a={{b}}}} '''Cats''' are ''small''.<!-- c -->", "**Cats** are *small*."),
        ("It is {{convert|41|m|ft}} high, {{Cvt|5|to|7|km|abbr=on}} off.", "It is 41 m high, 5–7 km off."),
        ("{{Box|height={{convert|41|m}}}}A{{convert|x}}", "A"),
        ("[[animal|Animals]], [[Dog]], [https://a.org site], [[de:Katze]]", "Animals, Dog, [site](https://a.org),"),
        ("[[File:a.jpg|thumb|A [[red]] cat.]] After.", "A red cat.\n\nAfter."),
        ("== Sleep ==\ntext\n\nmore", "## Sleep\n\ntext\n\nmore"),
        ("* a\n** b\n*# c\n# d", "- a\n    - b\n    1. c\n1. d"),
        ("; term\n: meaning", "- **term**: meaning"),
        ("; Lever: lifts\n: and lowers\n; 12:30\n:: tea", "- **Lever**: lifts\n  and lowers\n- **12:30**\n    - tea"),
        ("; Lever:\n: lifts\n: also: lowers", "- **Lever**: lifts\n  also: lowers"),
        (" a = 1\n   b = 2\n\n c", "```\na = 1\n  b = 2\n```\n\n```\nc\n```"),
        (
            '{| class=x\n|+ Fees\n! a !! b\n|-\n| 1 || style="x" | 2\n|-\n| colspan=2 | all\n|}',
            "Fees\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| all |  |",
        ),
        ("<syntaxhighlight lang='py'>x < {{1}}</syntaxhighlight>\n code", "```py\nx < {{1}}\n```\n\n```\ncode\n```"),
        ("__TOC__ a <nowiki>'''b'''</nowiki> {{open", "a '''b''' open"),
    ],
)
def test_markup(source, expected):
    assert wikitext(source).markdown == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Oil it<ref>''Once'' a [[year]].</ref> and go.", "Oil it [1] and go.\n\n[1] *Once* a year."),
        (
            "A<ref name='a'/> b<ref name=\"b\">Two.</ref> c<ref name = a >One.</ref><ref>{{Cite|x}}</ref>\n"
            "== Notes ==\n<references/>\n== See ==\nd",
            "A [1] b [2] c [1]\n\n## Notes\n\n[1] One.\n\n[2] Two.\n\n## See\n\nd",
        ),
        ("A<ref name=a/>.{{Box|<ref>B</ref>}}\n<references>\n<ref name=a>C.</ref></references>", "A [1].\n\n[1] C."),
        ("[[File:a.jpg|thumb|A cat<ref>Or a dog.</ref>.]]\n{{Reflist|2}}\nb", "A cat [1].\n\n[1] Or a dog.\n\nb"),
        ("{|\n! a !! b\n|-\n| c || 5<ref>Or 6</ref>\n|}", "| a | b |\n| --- | --- |\n| c | 5 [1] |\n\n[1] Or 6"),
    ],
)
def test_references_are_notes(source, expected):
    assert wikitext(source).markdown == expected


def test_categories():
    assert wikitext("a [[Category:Pets]] [[Kategorie:Tiere|x]]").categories == ("Pets", "Tiere")


@pytest.mark.parametrize(
    "piece",
    [
        "{{",
        "[[",
        "'''",
        "<ref>",
        "<ref name=",
        "<references>",
        "{{reflist",
        "<!--",
        "{|\n",
        "[[a|",
        "<nowiki>",
        "*" * 30 + "a\n",
        "[http://",
        "<pre>",
        "|\n",
    ],
)
def test_broken_markup_ends_in_time(piece):
    wikitext(piece * 5000 + " x")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[[Michael Jackson|The King of Pop]]", [("The King of Pop", "Michael Jackson")]),
        ("old [[ship]]s", [("ships", "Ship")]),
        ("[[Red_cat#Food|''its'' food]]", [("its food", "Red cat")]),
        ("[[#Food|food]] [[de:Katze]] [[Category:Pets]] [[File:Cat.png|thumb|a [[cat]]]]", [("cat", "Cat")]),
        ("[[:2001: A Space Odyssey]] &amp; [[Rhythm|R&amp;B]]", [("2001: A Space Odyssey",) * 2, ("R&B", "Rhythm")]),
        ("<nowiki>[[Cat]]</nowiki><!-- [[Cat]] --><ref>[[Cat]]</ref>", []),
    ],
)
def test_links_to_articles(source: str, expected: list[tuple[str, str]]) -> None:
    assert list(anchors(source)) == expected


def test_equal_signs_and_blanks_around_a_heading_are_no_part_of_it():
    assert wikitext("===  Deep  ===\na\n\n== b = ==\nc\n\n==== ====").markdown.startswith(
        "### Deep\n\na\n\n## b =\n\nc"
    )


@pytest.mark.parametrize(
    "source",
    ["= " + " " * 20_000 + "x", "[//a" + " " * 50_000 + "x", "{|\n| a=" + "bbb=" * 10_000 + "! | x\n|}", "=" * 50_000],
    ids=["heading", "link", "attributes", "signs"],
)
def test_long_lines_are_read_in_linear_time(source):
    """2,000 blanks in a heading took 11 s; 24 attributes without blanks 7 s, and each further one four times that."""
    assert len(wikitext(source + "\nend").markdown) < 2 * len(source)
