"""Conditions of AsciiDoc."""

import pytest


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a\n\nifdef::x[]\nb\nendif::[]\nc", "a\n\nc"),
        (":x:\n\nifdef::x[]\nb\nendif::x[]\nifndef::x[]\nc\nendif::[]", "b"),
        (":x:\n:!x:\na\nifdef::x[b]\nifndef::x[c]", "a c"),
        (":x: 1\n:x!:\na\n{x}", "a {x}"),
        (":x:\n\na\nifdef::x,y[b]\nifdef::x+y[c]\nifndef::x,y[d]\nifndef::x+y[e]", "a b e"),
        (":x:\na\nifdef::x[]\nifdef::y[]\nb\nendif::[]\nc\nendif::[]\nd", "a c d"),
        ("a\nifdef::x[]\n:y: 1\nifdef::z[]\nb\nendif::[]\nendif::[]\nifdef::y[c]\nd", "a d"),
        ("a\nifdef::x[:y: 1]\nifndef::x[:z: 2]\n{y} {z}", "a {y} 2"),
        ("a\n----\nifdef::x[]\nb\nendif::[]\nc\n----", "a\n\n```\nc\n```"),
        ("a\nifdef::backend-html5[b]\nifdef::backend-pdf[c]\nifdef::env-github[d]\nifdef::doctype-article[e]", "a b e"),
        (":doctype: book\n\na\nifdef::doctype-book[b]\nifdef::doctype-article[c]", "a b"),
        ("a\nifdef::x[]\nb", "a b"),  # no line ends it
        (
            "ifdef::x[]\nb\nendif::[]\nifdef::x[c]\nifeval::[{x} > 1]\nd\nendif::[]",
            "b\n\nc\n\nd",
        ),  # nothing else is there
        ("a\n\n\\ifdef::x[]\nb\nendif::[]", "a\n\nifdef::x[] b"),
    ],
)
def test_what_a_page_shows(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


@pytest.mark.parametrize(
    ("expression", "is_shown"),
    [
        ("{n} >= 4", True),
        ("{n} < 5", False),
        ("{n} == 5.0", True),
        ("{version} < 4.3", True),
        ('"{name}" == "pot"', True),
        ("'{name}' != \"pot\"", False),
        ("{name} == pot", True),
        ("{name} > 4", False),
        ("{other} > 4", False),
        ('"{other}" == ""', True),
        ('"{backend}" == "html5"', True),
        ("{name}", True),  # no comparison
        ("", True),
    ],
)
def test_comparisons(reads, expression, is_shown):
    source = f":n: 5\n:version: 4.2.1\n:name: pot\n\na\n\nifeval::[{expression}]\nb\nendif::[]"
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == ("a\n\nb" if is_shown else "a")
