"""Entities of DocBook files."""

import pytest

from qa_bot.documents.ingest.formats.markup.docbook.entities import MOST_EXPANDED, without_entities


def expanded(subset, text):
    return without_entities(f"<!DOCTYPE book [{subset}]>{text}")


@pytest.mark.parametrize(
    ("subset", "text", "expected"),
    [
        ("<!ENTITY a 'tea'>", "<p>&a; &b;</p>", "<p>tea b</p>"),
        ("<!ENTITY a 'tea'><!ENTITY a 'milk'>", "&a;", "tea"),
        ("<!ENTITY a '<b>x</b>'>", "&a;", "<b>x</b>"),
        ("<!ENTITY a '&b; cup'><!ENTITY b 'tea'>", "&a;", "tea cup"),
        ("", "&amp;&lt;&#233;&eacute;&mdash;&ccaron;&lsqb;", "&amp;&lt;&#233;é—č["),
        ("", "&Tab;, &Del; and &kappname;", "Tab, Del and kappname"),  # keys and programs in manuals of KDE
        ("<!ENTITY a 'x'>", "<x/><!-- &a; --><![CDATA[&a;]]>", "<x/><!-- &a; --><![CDATA[&a;]]>"),
        ("<!ENTITY a '&#34;<b>&amp;'>", "<l url='&a;&b;'/>", "<l url='&quot;&lt;b&gt;&amp;b'/>"),
        ("<!ENTITY % a SYSTEM 'x.dtd'> %a; <!ELEMENT x ANY>", "<x/>", "<x/>"),
    ],
)
def test_entities(subset, text, expected):
    assert expanded(subset, text) == expected


def test_no_other_file_is_read(tmp_path, reads):
    secret = tmp_path / "secret.txt"
    secret.write_text("passphrase")
    subset = f'<!ENTITY a SYSTEM "{secret.as_uri()}"><!ENTITY b PUBLIC "x" "{secret}"><!ENTITY % c SYSTEM "{secret}">'
    text = f"<!DOCTYPE article SYSTEM '{secret}' [{subset} %c;]><article><para>Tea &a; and &b; end.</para></article>"
    [record] = reads("a.docbook", text)[0]
    assert record.text == "Tea and end."


def test_entities_inside_entities_are_bounded():
    laughs = "".join(f"<!ENTITY a{level} '{f'&a{level - 1};' * 10}'>" for level in range(1, 10))
    bomb = expanded(f"<!ENTITY a0 '{'ha' * 500}'>{laughs}<!ENTITY loop '&loop;'>", "<p>&a9; &loop; &a4;</p>" * 50)
    assert len(bomb) < 2 * MOST_EXPANDED
    assert "loop" in bomb


def test_one_long_text_is_bounded():
    assert len(expanded(f"<!ENTITY a '{'x' * 1_000_000}'>", "&a;" * 1000)) < 2 * MOST_EXPANDED


def test_lines_keep_their_numbers():
    assert (
        without_entities("<?xml version='1.0'?>\n<!DOCTYPE a [\n<!ENTITY b 'c'>\n]>\n<a>\n&b;</a>")
        == "\n" * 4 + "<a>\nc</a>"
    )


@pytest.mark.parametrize(
    "source",
    ["<!DOCTYPE a [" + "<!--" * 50_000, "<!--" * 50_000, "<![CDATA[" * 50_000, "&a" * 50_000, "<a " * 50_000,
     "<!DOCTYPE a [" + "<!ENTITY a \"" * 50_000, "<!DOCTYPE a [" + "<!ENTITY a" * 50_000, "<?" * 50_000,
     "<!DOCTYPE a [<!ENTITY a '" + "&b;" * 5_000 + "'><!ENTITY b ''>]>" + "&a;" * 50_000],
)  # fmt: skip
def test_what_does_not_end_is_read_in_linear_time(source):
    assert without_entities(source)
