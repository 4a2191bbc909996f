"""Markdown files as documents."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks

FILE = """---
title: "The manual"
date: 2024-03-05
lang: en
tags: [setup]
---
Before any heading.

# Install

## On Linux & co.

Use **pip** and `make`:
see [the page](http://example.org), [a file](other.md) and [this][ref] ![a picture](x.png).

- one
- two
    1. deep

```sh
# not a heading
pip install x
```

| a | b |
|---|---|
| 1 | 2 |

Again.<br>
<div>raw <script>alert(1)</script>html</div>

Usage
=====
> ## Quoted

[ref]: https://example.org/ref
"""


def test_a_file_is_one_document(reads, tmp_path):
    (record,), rejects, _ = reads("docs.md", FILE)
    assert rejects == []
    assert (record.id, record.title, record.where) == ("docs.md", "The manual", f"{tmp_path}/docs.md:1")
    assert (record.date, record.language, record.tags, record.markdown) == ("2024-03-05", "en", ("setup",), True)
    assert record.text == (
        "Before any heading.\n\n# Install\n\n## On Linux & co.\n\n"
        "Use **pip** and `make`: see [the page](http://example.org), a file and [this](https://example.org/ref) "
        "a picture.\n\n- one\n- two\n    1. deep\n\n```sh\n# not a heading\npip install x\n```\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nAgain.\n\nraw html\n\n# Usage\n\n> ## Quoted"
    )


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        ("# Cats\n\nCats sleep.", "Cats", "Cats sleep."),
        ("Badge\n\n# Cats\n\nCats sleep.", "Cats", "Badge\n\n# Cats\n\nCats sleep."),
        ("Intro\n\n# One\n\na\n\n# Two\n\nb", "notes", "Intro\n\n# One\n\na\n\n# Two\n\nb"),
        ("<h1 align=center>Cats</h1>\n\nCats sleep.", "Cats", "Cats sleep."),
        ("```\n# Cats\n```", "notes", "```\n# Cats\n```"),
        ("Just text.", "notes", "Just text."),
        ("---\ntitle: <em>My</em> cats\n---\n# Cats\n\nThey sleep.", "My cats", "# Cats\n\nThey sleep."),
    ],
)
def test_title(reads, text, title, rest):
    (record,), _, _ = reads("notes.markdown", text)
    assert (record.title, record.text) == (title, rest)


SECTIONS = "{}\n\nFirst words.\n\n# {}\n\nMore words."


@pytest.mark.parametrize(
    ("name", "headings", "title"),
    [
        ("Exam rules.md", ("General", "Before the exam"), "Exam rules"),
        ("Prüfungsordnung.md", ("Allgemeines", "Vor der Prüfung"), "Prüfungsordnung"),
        ("HISTORY.md", ("1.0.1 / 2024-08-31", "1.0.0 / 2024-01-02"), "HISTORY"),
        ("benefits-and-perks.md", ("Benefits & Perks", "Benefits"), "Benefits & Perks"),
        ("pruefungen.md", ("Die Prüfung", "Anhang"), "Die Prüfung"),
        ("RKO.md", ("Reisekostenordnung", "Formulare"), "Reisekostenordnung"),
        ("travel.md", ("Scale of fees", "Appendix 1: Rates"), "Scale of fees"),
        ("travel.md", ("Scale of fees", "§ 1 Purpose"), "Scale of fees"),
        ("travel.md", ("§ 1 Purpose", "§ 2 Rates"), "travel"),
        ("README.md", ("Rickshaw", "Usage"), "Rickshaw"),
        ("docs/_index.md", ("Rickshaw", "Usage"), "Rickshaw"),
    ],
)
def test_the_first_of_several_headings_is_the_title_or_a_section(reads, name, headings, title):
    (record,), _, _ = reads(name.rpartition("/")[2], "# " + SECTIONS.format(*headings))
    assert record.title == title
    assert (f"# {headings[0]}" in record.text) == (title != headings[0])


def test_a_first_heading_without_text_below_it_is_the_title(reads):
    (record,), _, _ = reads("travel.md", "# Scale of fees\n\n# Rates\n\nText.\n\n# Dates\n\nText.")
    assert (record.title, record.text[:7]) == ("Scale of fees", "# Rates")


def test_headings_alone_are_rejected_and_redirects_are_left_out(reads):
    _, (reject,), _ = reads("empty.md", "# A heading\n\n## Another")
    assert "headings alone" in reject.reason
    records, rejects, (notice,) = reads("moved.md", "---\nredirect_to: /new/\n---\n")
    assert (records, rejects) == ([], [])
    assert "redirects to /new/" in notice.message


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<details>\n<summary>Why?</summary>\n\nBecause **so**.\n\n</details>", "**Why?**\n\nBecause **so**."),
        ("Use <your-name> or <b>this</b> <x-tag a=1>one</x-tag>.", "Use <your-name> or **this** one</x-tag>."),
        ("The <title> tag and <!-- gone --> more", "The <title> tag and more"),
        ("<!-- open\n\ntext", "open text"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("~~old~~ new, <it@a.org>", "~~old~~ new, it@a.org"),
        ("- [x] done\n- [ ] open", "- [x] done\n- [ ] open"),
        ("**Parking:**\n\nFree.", "**Parking:**\n\nFree."),
        ("1. a\n2. b\n4. c\n   - d\n   - e", "1. a\n2. b\n4. c\n    - d\n    - e"),
        ("3) c\n5) d\n\nText.\n\n6) e", "3. c\n5. d\n\nText.\n\n6. e"),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
        ("2. a\n1. b", "2. a\n3. b"),
        ("1. a\n\n   ```sh\n   x\n   ```\n2. b", "1. a\n\n    ```sh\n    x\n    ```\n2. b"),
        ("[a]\n\nb \\*c\\* &amp; \\# d", "[a]\n\nb *c* & # d"),
    ],
)
def test_html_and_extensions(source, expected):
    assert markdown_blocks(source).text == expected


def test_deep_nesting(reads):
    records, _, _ = reads("deep.md", "text\n\n" + "> " * 20_000 + "\n\n" + "[" * 20_000 + "\n\n" + "*" * 20_000)
    assert len(records) == 1


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# A\n\nOwner: Ann\nDue: 3 May\n", "Owner: Ann\nDue: 3 May"),
        ("# A\n\nNote: this goes\non here.\n", "Note: this goes on here."),
    ],
)
def test_lines_of_properties_stay_lines(reads, source, text):
    (record,), _, _ = reads("a.md", source)
    assert record.text == text


def test_tags_around_text_are_components_if_they_are_closed():
    assert markdown_blocks("<ClientOnly>\n  Text.\n</ClientOnly>\n\nA List<String> of it.").text == (
        "Text.\n\nA List<String> of it."
    )


ENTRIES = "## Table of Contents\n\n- [A](#a)\n  - [B *b*](#b)\n- [C](#c)\n\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"# Guide\n\n{ENTRIES}## A\n\nText.", "# Guide\n\n## A\n\nText."),
        (ENTRIES.replace("## Table of Contents", "**Contents**") + "Text.", "Text."),
        ("Four steps:\n\n- [A](#a)\n- [B](#b)\n- [C](#c)\n", "Four steps:\n\n- A\n- B\n- C"),
        ("## Links\n\n- [A](#a)\n- [B](b.md)\n- [C](#c)\n\nText.", "## Links\n\n- A\n- B\n- C\n\nText."),
        (ENTRIES, "## Table of Contents\n\n- A\n    - B *b*\n- C"),
    ],
)
def test_tables_of_contents_are_left_out(source, expected):
    assert markdown_blocks(source).text == expected


def test_badges_say_nothing():
    badges = "[![Build](https://img.shields.io/x.svg)](https://a.org) ![CI](https://b.org/ci/badge.svg)"
    assert markdown_blocks(f"# Guide {badges}\n\nText ![a lamp](a.png).").text == "# Guide\n\nText a lamp."
