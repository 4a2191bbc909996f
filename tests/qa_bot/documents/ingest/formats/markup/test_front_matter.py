"""Front matter of Markdown files."""

import pytest

from qa_bot.documents.ingest.formats.markup.front_matter import FrontMatter, front_matter


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("---\ntitle: 'The manual'\n---\n", FrontMatter(title="The manual")),
        ("---\ntitle: 2024\nlang: de-AT\n---\n", FrontMatter(title="2024", language="de")),
        ("---\nupdated: 2024-03-05\ndate: 2020-01-01\n---\n", FrontMatter(date="2024-03-05")),
        ("---\nDate: March 5, 2024\n---\n", FrontMatter(date="2024-03-05")),
        ("---\ntags: [a, b, a]\nkeywords: c, d\n---\n", FrontMatter(tags=("a", "b", "c", "d"))),
        ("---\narchived: yes\ndraft: true\n---\n", FrontMatter(archived=True, draft=True)),
        ("---\nstatus: Superseded\npublished: false\n---\n", FrontMatter(archived=True, draft=True)),
        ("---\narchived: no\ndraft: false\n---\n", FrontMatter()),
        ("---\nredirect_to: /new/\n---\n", FrontMatter(redirect="/new/")),
        (
            '+++\ntitle = "T"\ndate = 2024-03-05T10:00:00Z\n+++\n',
            FrontMatter(title="T", date="2024-03-05T10:00:00+00:00"),
        ),
        ("---\ntitle: Foo: bar\n---\n", FrontMatter(title="Foo: bar")),  # broken YAML, read line by line
        ("---\n---\n", FrontMatter()),
        ("---\ntitel: Satzung\ngueltig_ab: 2021-01-01\n---\n", FrontMatter(title="Satzung", date="2021-01-01")),
        ("---\ntitel: Satzung\ngültig ab: 1.2.2021\n---\n", FrontMatter(title="Satzung", date="2021-02-01")),
        ("---\nDatum: 2020-01-01\nStand: 3. März 2024\n---\n", FrontMatter(date="2024-03-03")),
        ("---\nstand: B 12\nsprache: de\n---\n", FrontMatter(language="de")),
        ("% The manual\n", FrontMatter(title="The manual")),
        (
            "% The manual\n  of the press\n% Ann; Bob\n% May 2, 2024\n",
            FrontMatter("The manual of the press", "2024-05-02"),
        ),
        ("% Fees\n% Issued: 01.11.2010\n", FrontMatter("Fees", "2010-11-01")),
    ],
)
def test_fields(source, expected):
    front = front_matter(f"{source}text")
    assert front.end == len(source)
    assert front == FrontMatter(
        **{name: getattr(expected, name) for name in FrontMatter.__slots__ if name != "end"}, end=front.end
    )


@pytest.mark.parametrize(
    "source",
    [
        "text",
        "---\nA sentence between lines.\n---\n",
        "---\ntitle: open\n",
        "+++\nnot toml\n+++\n",
        "%\n% Ann\n",
        "%matplotlib\n",
    ],
)
def test_a_file_without_front_matter(source):
    assert front_matter(source) == FrontMatter()


@pytest.mark.parametrize("value", ["[" * 5000, "&a [*a, *a]", "!!python/object/apply:os.system [ls]", "{a: {b: [c]}}"])
def test_hostile_yaml_is_not_run(value):
    assert front_matter(f"---\ntitle: {value}\nx: *b\n---\n").date == ""


@pytest.mark.parametrize("sign", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_no_front_matter_and_ends_no_process(sign: str) -> None:
    source = f"---\ntitle: Deep\nlist: {sign * 12_000}\n---\nText"
    assert front_matter(source).title in {"Deep", ""}


def test_properties_of_logseq_stay_in_the_text():
    source = "title:: The move\ntags:: a, [[b]], #c\ndate:: [[2024-03-05]]\nowner:: Ann\n\n- text"
    assert front_matter(source) == FrontMatter("The move", "2024-03-05", tags=("a", "b", "c"))
    assert front_matter("std::vector is\na list") == FrontMatter()
