from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.linking.mention_rows import LABEL_COUNT, literal_text, page_title, read_table, rows_of

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
PAGE = "http://xmlns.com/foaf/0.1/isPrimaryTopicOf"
REDIRECT = "http://dbpedia.org/ontology/wikiPageRedirects"
IDS = {"http://x/a": 1, "http://x/b": 2, "http://dbpedia.org/resource/A": 3, "http://dbpedia.org/resource/B": 4}


def test_rows_come_from_labels_aliases_and_pages() -> None:
    triples = [
        ("http://x/a", LABEL, '"Denton"@en'),
        ("http://x/a", ALIAS, '"Denton, Texas"@en-GB'),
        ("http://x/a", PAGE, "https://en.wikipedia.org/wiki/Denton,_Texas"),
        ("http://x/a", "http://schema.org/description", '"city"@en'),
        ("http://x/a", LABEL, '"Denton"@de'),
        ("http://x/unknown", LABEL, '"nobody"'),
        ("https://en.wikipedia.org/wiki/Caf%C3%A9_(drink)", "http://schema.org/about", "http://x/b"),
        ("http://x/b", LABEL, '"Parkinson\'s disease"'),
    ]
    assert list(rows_of(triples, IDS.get)) == [
        ("Denton", 1, LABEL_COUNT),
        ("Denton, Texas", 1, 1),
        ("Denton, Texas", 1, LABEL_COUNT),
        ("Café (drink)", 2, LABEL_COUNT),
        ("Café", 2, LABEL_COUNT),
        ("Parkinson's disease", 2, LABEL_COUNT),
        ("Parkinsons disease", 2, LABEL_COUNT),
    ]


def test_predicates_and_languages_can_be_chosen() -> None:
    triples = [("http://x/a", "http://x/name", '"Wien"@de'), ("http://x/a", LABEL, '"Vienna"@en')]
    rows = rows_of(triples, IDS.get, labels=["http://x/name"], aliases=[], links=[], languages=None)
    assert list(rows) == [("Wien", 1, LABEL_COUNT)]


def test_aliases_in_a_circle_and_to_themselves_end() -> None:
    a, b = "http://dbpedia.org/resource/A", "http://dbpedia.org/resource/B"
    triples = [(a, REDIRECT, b), (b, REDIRECT, a), (a, REDIRECT, a), ("_:n", ALIAS, "_:n")]
    assert list(rows_of(triples, IDS.get)) == [("A", 4, 1), ("B", 3, 1), ("A", 3, 1)]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ('"a\\"b\\\\c\\n"', 'a"b\\c\n'),
        ('"caf\\u00E9 \\U0001F34E"@en', "café 🍎"),
        ('"1983"^^<http://www.w3.org/2001/XMLSchema#gYear>', "1983"),
        ('"x"@de', None),
        ("http://x/a", None),
        ("_:b0", None),
    ],
)
def test_texts_of_literals(term: str, text: str | None) -> None:
    assert literal_text(term, ("en",)) == text


@given(st.text(max_size=30).filter(lambda text: not any("\ud800" <= c < "\ue000" for c in text)))
def test_what_an_escaper_writes_is_read_back(text: str) -> None:
    escaped = "".join(f"\\U{ord(c):08X}" if ord(c) % 3 == 0 or c in '"\\' else c for c in text)
    assert literal_text(f'"{escaped}"@en') == text


def test_titles_of_pages() -> None:
    assert page_title("http://en.wikipedia.org/wiki/AC/DC#History") == "AC/DC"
    assert page_title("http://dbpedia.org/resource/The_Who") == "The Who"
    assert page_title("http://example.org/wiki/X") is None


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2"])
def test_a_table_is_read_packed_or_plain(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mentions.tsv{suffix}"
    data = b"The King\t<http://x/a>\t12\r\n\nnobody\thttp://x/unknown\t3\nB\thttp://x/b\t1"
    path.write_bytes({"": data, ".gz": gzip.compress(data), ".bz2": bz2.compress(data)}[suffix])
    assert list(read_table(path, IDS.get)) == [("The King", 1, 12), ("B", 2, 1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"a\thttp://x/a", "Expected text TAB entity TAB count"),
        (b" \thttp://x/a\t1", "Expected text TAB entity TAB count"),
        (b"a\thttp://x/a\tmany", "Expected a count of 1 or more, but got 'many'"),
        (b"a\thttp://x/a\t0", "Expected a count of 1 or more"),
        (b"a\thttp://x/a\t-1", "Expected a count of 1 or more"),
        ("a\thttp://x/a\t²".encode(), "Expected a count of 1 or more"),
        (b"\xff\thttp://x/a\t1", "Expected UTF-8"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "mentions.tsv"
    path.write_bytes(b"a\thttp://x/a\t1\n" + line + b"\nb\thttp://x/b\t1\n")
    with pytest.raises(ValueError, match=message) as error:
        list(read_table(path, IDS.get))
    assert str(error.value).startswith(f"{path}:2: ")
    reported: list[tuple[int, str]] = []
    assert list(read_table(path, IDS.get, report=lambda *line: reported.append(line))) == [("a", 1, 1), ("b", 2, 1)]
    assert [f"{path}:{number}: {fault}" for number, fault in reported] == [str(error.value)]
