"""Markdown files: one document for each section."""

FILE = """---
title: "The manual"
---
Before any heading.

# Install

## On Linux & co.

Use **pip** and `make`:
see [the page](http://example.org) ![a picture](x.png).

- one
- two
    1. deep

```sh
# not a heading
pip install x
```

### A third level

| a | b |
|---|---|
| 1 | 2 |

## On Linux & co.

Again.<br>
<div>raw <script>alert(1)</script>html</div>

Usage
=====
> ## Not at the top level
"""


def test_split_at_headings_of_level_one_and_two(reads, tmp_path):
    records, rejects, _ = reads("docs.md", FILE)
    assert [(record.id, record.title) for record in records] == [
        ("docs.md", "The manual"),
        ("docs.md#on-linux--co", "Install › On Linux & co."),
        ("docs.md#on-linux--co-1", "Install › On Linux & co."),
        ("docs.md#usage", "Usage"),
    ]
    assert [record.where for record in records] == [f"{tmp_path}/docs.md:{line}" for line in (4, 8, 28, 33)]
    assert rejects == []


def test_markup_becomes_text(reads):
    records, _, _ = reads("docs.md", FILE)
    assert [record.text for record in records] == [
        "Before any heading.",
        "Use pip and make: see the page a picture.\n\none\ntwo\ndeep\n\n# not a heading\npip install x\n\n"
        "A third level\n\na b\n1 2",
        "Again.\n\nraw html",
        "Not at the top level",
    ]


def test_file_without_heading_or_text(reads):
    (record,), _, _ = reads("notes.markdown", "Just text.")
    assert (record.id, record.title, record.text) == ("notes.markdown", "notes", "Just text.")
    _, (reject,), _ = reads("empty.md", "# A heading\n\n## Another")
    assert "headings alone" in reject.reason


def test_deep_nesting(reads):
    records, _, _ = reads("deep.md", "> " * 20_000 + "text\n\n" + "[" * 20_000 + "\n\n" + "*" * 20_000)
    assert len(records) == 1
