"""RTF files: structure, code pages, changes, hostile files."""

import pytest

from qa_bot.documents.ingest import Limits


@pytest.fixture
def text_of(reads):
    def text_of(body, head=r"\rtf1\ansi\ansicpg1252"):
        data = "{" + head + "\n" + body + "}"
        (record,), rejects, notices = reads("a.rtf", data.encode("latin-1"))
        assert (rejects, notices) == ([], [])
        assert record.markdown
        return record.text

    return text_of


def test_headings_steps_bullets_and_metadata(reads, tmp_path):
    data = r"""{\rtf1\ansi{\fonttbl{\f0 Arial;}{\f5 Courier;}}{\stylesheet{\ql Normal;}{\s1 heading 1;}
{\s2 Source Code;}{\s3\outlinelevel1 Own;}{\*\cs10 Default Font;}}{\info{\title Trips}{\keywords cost, trip}
{\revtim\yr2024\mo5\dy6\hr7\min8}}{\*\generator X;}{\header Top}
\pard\s1 Travel\par\pard Ask {\b first}.\par
\pard{\listtext 1.\tab}Open\par{\listtext 2.\tab}Fill in\par\pard\ilvl1{\pntext\'b7\tab}Inner\par
\pard\s3 Costs\par\pard\s2 if x:\par\tab go()\par\pard\plain End\par}"""
    (record,), rejects, _ = reads("a.rtf", data.encode("latin-1"))
    assert rejects == []
    assert record.text == (
        "# Travel\n\nAsk first.\n\n1. Open\n2. Fill in\n    - Inner\n\n## Costs\n\n```\nif x:\n    go()\n```\n\nEnd"
    )
    assert (record.id, record.title, record.date) == ("a.rtf", "Travel", "2024-05-06T07:08")
    assert (record.tags, record.where) == (("cost", "trip"), f"{tmp_path}/a.rtf:1")


def test_short_bold_lines_before_text_are_headings(text_of):
    body = r"\b Batteries\b0\par {\b In vans}\par Up to {\b 333 kg}.\par \b\plain Plain\par \b Alone\par"
    assert text_of(body) == "# Batteries\n\n###### In vans\n\nUp to 333 kg.\n\nPlain\n\nAlone"


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (r"\rtf1\ansi\ansicpg1252", r"Gr\'fc\'dfe \endash  \u8364?5\~x\_y \{a\}\\", "Grüße – €5 x‑y {a}\\"),
        (r"\rtf1\ansi\ansicpg1251", r"\'cf\'f0\'e8\'e2\'e5\'f2", "Привет"),
        (r"\rtf1\ansi{\fonttbl{\f3\fcharset128 MS Mincho;}}", r"{\f3 \'93\'8c\'8b\'9e}", "東京"),
        (r"\rtf1\ansi{\fonttbl{\f1\fcharset177 D;}}", r"\rtlpar{\f1\rtlch \'f9\'ec\'e5\'ed}", "שלום"),
        (r"\rtf1\ansi\uc2", r"\u-10179ab\u-8694cd!", "😊!"),
        (r"\rtf1\mac", r"\'9f", "ü"),
        (r"\rtf1\ansi\ansicpg99999", "caf\xe9", "café"),
    ],
)
def test_characters(text_of, head, body, expected):
    assert text_of(body, head).replace("\u00a0", " ") == expected


def test_tables_links_notes_and_changes(text_of):
    body = (
        r"{\field{\*\fldinst HYPERLINK "
        '"https://x.y/"'
        r"}{\fldrslt our page}} and {\deleted old}{\v hidden}new"
        r"{\footnote\pard{\chftn} A note.\par}.{\pict\bin4 }}{}abc}\par"
        r"\trowd\cellx1\cellx2\pard\intbl City\cell Rate\cell\row"
        r"\trowd\clvmgf\cellx1\cellx2\intbl Kiel\cell 1\par 2\cell\row\trowd\clvmrg\cellx1\cellx2\cell 3\cell\row"
        r"\pard\intbl{\*\shpinst{\sp x}{\shptxt Box}}\cell 4\cell\row\pard After\par"
    )
    assert text_of(body) == (
        "[our page](https://x.y/) and new[1].\n\n| City | Rate |\n| --- | --- |\n| Kiel | 1; 2 |\n| Kiel | 3 |\n"
        "| Box | 4 |\n\nAfter\n\n## Notes\n\n[1] A note."
    )


def test_hostile_files(reads):
    _, (reject,), _ = reads("deep.rtf", b"{\\rtf1 " + b"{" * 50_000)
    assert "nested too deeply" in reject.reason
    _, (reject,), _ = reads("long.rtf", b"{\\rtf1 " + b"word " * 50_000 + b"}", limits=Limits(record_bytes=10_000))
    assert "--max-record-bytes" in reject.reason
    _, (reject,), _ = reads("empty.rtf", b"{\\rtf1 {\\pict 00ff}}")
    assert "document with text" in reject.reason
    (record,), _, _ = reads("cut.rtf", b"{\\rtf1 Kept {\\b text \\u99999999999 \\bin-5 \\'z")
    assert record.text.startswith("Kept text")


def test_the_first_of_several_chapters_is_no_title(reads):
    chapters = r"\pard\s1 Roof\par\pard Dry.\par\pard\s1 Cellar\par\pard Wet.\par"
    data = r"{\rtf1{\stylesheet{\s1 heading 1;}}{\info{\title Roof guide}}" + chapters + "}"
    (record,), _, _ = reads("a.rtf", data.encode("latin-1"))
    assert record.title == "Roof guide"


def test_raised_digits_and_struck_text_are_marked(text_of):
    body = r"Up to 10{\super 3} tiles\up6 1\up0 , {\strike not 9}. H{\sub 2}O{\super\chftn{\footnote 7 more}}\par"
    assert text_of(body) == "Up to 10³ tiles [1], ~~not 9~~. H2O[1]\n\n## Notes\n\n[1] 7 more"


def test_a_bold_caption_is_no_heading(text_of):
    assert text_of(r"{\b Abb. 3 Pumpe}\par Never below 4.\par") == "Abb. 3 Pumpe\n\nNever below 4."


def test_labels_stay_and_signs_may_come_before_the_properties(text_of):
    body = (
        r"\pard{\listtext a)\tab}\ilvl1 Rain\par{\listtext b)\tab}\pard\ilvl1 Snow\par"
        r"{\listtext 1.1\tab}\pard\ilvl2 Hail\par"
        r"\pard Else:\par{\listtext 4.\tab}\pard Wait\par{\listtext o\tab}\pard\ilvl1 Sit\par"
    )
    assert text_of(body) == "- a) Rain\n- b) Snow\n    - 1.1 Hail\n\nElse:\n\n4. Wait\n    - Sit"


def test_signs_of_symbol_and_wingdings_are_shown(text_of):
    head = r"\rtf1\ansi\deff0{\fonttbl{\f3\fcharset2{\*\panose 05}Symbol{\*\falt X};}{\f4 Wingdings;}}"
    body = r"{\f3\'a3} 22, {\f3 a}, {\f4\'e0} {\f3\u-3919?}\f3\plain  a\par{\listtext\f4\'fc\tab}Fish\par"
    assert text_of(body, head) == "≤ 22, α, → ± a\n\n- Fish"


def test_cells_that_are_merged_sideways(text_of):
    body = (
        r"\trowd\cellx2000\clmgf\cellx4000\clmrg\cellx6000\pard\intbl\b Site\b0\cell\b Hours\b0\cell\cell\row"
        r"\trowd\cellx2000\cellx4000\cellx6000\pard\intbl \cell Week\cell Sunday\cell\row"
        r"\trowd\cellx2000\cellx4000\cellx6000\pard\intbl North\cell 8-18\cell 9-12\cell\row"
        r"\trowd\cellx2010\cellx6000\pard\intbl South\cell closed\cell\row\pard After\par"
    )
    assert text_of(body) == (
        "| Site | Hours Week | Hours Sunday |\n| --- | --- | --- |\n| North | 8-18 | 9-12 |\n"
        "| South | closed | closed |\n\nAfter"
    )


def test_rows_whose_edges_do_not_match_stay(text_of):
    body = (
        r"\trowd\cellx2000\cellx4000\pard\intbl A\cell B\cell\row"
        r"\trowd\cellx1000\cellx3000\pard\intbl C\cell D\cell\row\pard After\par"
    )
    assert text_of(body).startswith("| A | B |\n| --- | --- |\n| C | D |")
