import bz2
import gzip
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from rdflib.compare import isomorphic

from kg_index.building import rdf_parsing as reading
from kg_index.building.rdf_parsing import Counts, MalformedTripleError, Reject, read_triples

A, P, B = "http://example.org/a", "http://example.org/p", "http://example.org/b"
XSD = "http://www.w3.org/2001/XMLSchema#"
GOOD = f"<{A}> <{P}> <{B}> .\n"


def read(path: Path, content: str | bytes, **options) -> tuple[list[reading.Triple], list[Reject]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    rejects: list[Reject] = []
    return [t for batch in read_triples(path, report=rejects.append, **options) for t in batch], rejects


@pytest.mark.parametrize(
    ("line", "term"),
    [
        (f"<{A}> <{P}> <{B}> .", B),
        (f'<{A}> <{P}> "Denton"@en .', '"Denton"@en'),
        (f'<{A}> <{P}> "Denton"@en-US .', '"Denton"@en-us'),
        (f'<{A}> <{P}> "1983"^^<{XSD}gYear> .', f'"1983"^^<{XSD}gYear>'),
        (f'<{A}> <{P}> "x"^^<{XSD}string> .', '"x"'),
        (f'<{A}> <{P}> "say \\"hi\\"\\n" .', '"say \\"hi\\"\\n"'),
        (f'<{A}> <{P}> "\\u00e9t\\U000000e9" .', '"été"'),
        (f'<{A}> <{P}> "été 東京 😀" .', '"été 東京 😀"'),
        (f"<{A}>\t<{P}>   _:b0.# comment", "_:b0"),
        (f"<{A}> <{P}> <urn:isbn:1> .", "urn:isbn:1"),
        (f"<{A}> <{P}> <http://é.org/ü> .", "http://é.org/ü"),
        (f"<{A}> <{P}> <{B}> . # behind", B),
        (f"  <{A}> <{P}> <{B}> .  ", B),
        (f'<{A}> <{P}> "" .', '""'),
    ],
)
def test_line_gives_its_object_in_n_triples_form(tmp_path, line, term):
    assert read(tmp_path / "a.nt", line + "\n") == ([(A, P, term)], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"<{A}> <{P}> <{B}>", "dot"),
        (f"<{A}> <{P}> <http://a b> .", "code point"),
        (f"<{A}> <{P}> <relative> .", "scheme"),
        (f"<{A}> <{P}> <http://a/%zz> .", "percent"),
        (f'<{A}> <{P}> "open .', ""),
        (f'<{A}> "p" <{B}> .', ""),
        ("garbage", ""),
        (f"<{A}> <{P}> <{B}> <{B}> .", "dot"),
        (f"<{A}> <{P}> <<( <{A}> <{P}> <{B}> )>> .", "a triple instead of a term"),
        (f'<{A}> <{P}> "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .', "datatype"),
    ],
)
def test_malformed_line_is_told_with_its_number_and_skipped(tmp_path, line, reason):
    triples, rejects = read(tmp_path / "a.nt", GOOD + line + "\n" + GOOD)
    assert triples == [(A, P, B)] * 2
    assert [reject.line for reject in rejects] == [2]
    assert reason in rejects[0].reason
    assert "parser error" not in rejects[0].reason
    assert f"a.nt, line 2: Expected a triple, but got {rejects[0].reason}" in rejects[0].message
    with pytest.raises(MalformedTripleError, match="line 2: Expected a triple"):
        list(read_triples(tmp_path / "a.nt", strict=True))


def test_bad_bytes_spoil_their_line_alone(tmp_path):
    bad = f'<{A}> <{P}> "\xff" .\n'.encode("latin-1")
    triples, rejects = read(tmp_path / "a.nt", GOOD.encode() + bad + GOOD.encode())
    assert len(triples) == 2
    assert rejects[0].line == 2
    assert "not UTF-8" in rejects[0].reason


def test_nul_bytes_are_escaped_in_literals_and_rejected_elsewhere(tmp_path):
    triples, rejects = read(tmp_path / "a.nt", f'<{A}> <{P}> "a\0b" .\n<{A}\0> <{P}> <{B}> .\n\0\n')
    assert triples == [(A, P, '"a\\u0000b"')]
    assert [reject.line for reject in rejects] == [2, 3]


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_line_ends_blank_lines_comments_and_byte_order_mark(tmp_path, end):
    text = "\ufeff" + GOOD.strip() + "\r\n\r\n# a comment\n   \n" + GOOD.strip() + end
    assert read(tmp_path / "a.nt", text) == ([(A, P, B)] * 2, [])


def test_a_literal_of_ten_megabytes(tmp_path):
    long = '"' + "x" * 10_000_000 + '"'
    triples, rejects = read(tmp_path / "a.nt", GOOD + f"<{A}> <{P}> {long} .\n" + GOOD)
    assert ([t[2] for t in triples], rejects) == ([B, long, B], [])


def test_a_line_beyond_all_bounds_is_skipped_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST_LINE", 3_000_000)
    long = f'<{A}> <{P}> "' + "x" * 7_000_000 + '" .\n'
    triples, rejects = read(tmp_path / "a.nt", GOOD + long + GOOD + "bad\n")
    assert len(triples) == 2
    assert [(reject.line, reject.reason.startswith(f"{len(long)} bytes")) for reject in rejects] == [
        (2, True),
        (4, False),
    ]


def test_packed_files_read_like_plain_ones(tmp_path):
    lines = "".join(f"<{A}{i}> <{P}> <{B}> .\n" for i in range(9000))
    plain = read(tmp_path / "a.nt", lines)
    assert len(plain[0]) == 9000
    middle = lines.index("\n", len(lines) // 2) - 5  # a member may end within a line
    for name, pack in (("a.nt.gz", gzip.compress), ("a.nt.bz2", bz2.compress)):
        assert read(tmp_path / name, pack(lines.encode())) == plain
        assert read(tmp_path / name, pack(lines[:middle].encode()) + pack(lines[middle:].encode())) == plain
    assert read(tmp_path / "zeros.nt.gz", gzip.compress(lines.encode()) + b"\0" * 100) == plain


def small_blocks(content: bytes) -> bytes:
    return bz2.compress(content, 1)


@pytest.mark.parametrize(("name", "pack"), [("a.nt.gz", gzip.compress), ("a.nt.bz2", small_blocks)])
def test_a_packed_file_that_is_cut_off_gives_what_it_holds(tmp_path, name, pack):
    packed = pack("".join(f"<{A}{i * 7919 % 99991}> <{P}> <{B}> .\n" for i in range(12_000)).encode())
    triples, rejects = read(tmp_path / name, packed[: len(packed) * 2 // 3])
    assert 0 < len(triples) < 12_000
    assert "cut off" in rejects[-1].reason
    with pytest.raises(MalformedTripleError, match="cut off"):
        list(read_triples(tmp_path / name, strict=True))


@pytest.mark.parametrize("name", ["a.nt.gz", "a.nt.bz2"])
def test_a_file_that_is_not_packed_as_it_says(tmp_path, name):
    triples, rejects = read(tmp_path / name, GOOD)
    assert triples == []
    assert "damaged packed data" in rejects[0].reason


def test_an_empty_file_has_no_triples(tmp_path):
    assert read(tmp_path / "a.nt", "") == ([], [])
    assert read(tmp_path / "a.nt.gz", b"") == ([], [])
    assert read(tmp_path / "a.ttl", "") == ([], [])


def test_nameless_nodes_are_known_by_names_of_any_length(tmp_path):
    """The parser makes them of random bits and leaves leading zeros out."""
    text = "".join(f"<http://example.org/{i}> <{P}> [] .\n" for i in range(1_000))
    triples, _ = read(tmp_path / "a.ttl", text)
    assert {o for _, _, o in triples} == {f"_:nameless{i}" for i in range(1_000)}


def test_quads_lose_their_graph(tmp_path):
    text = f"<{A}> <{P}> <{B}> <http://example.org/g> .\n<{A}> <{P}> <{B}> _:g .\n{GOOD}"
    assert read(tmp_path / "a.nq", text) == ([(A, P, B)] * 3, [])


def test_turtle_with_prefixes_numbers_and_nameless_nodes_is_the_same_each_time(tmp_path):
    text = "@prefix : <http://example.org/> .\n:a :p :b , 5 , 1.5 , true ; :q [ :r 'x'@de ] .\n"
    triples, rejects = read(tmp_path / "a.ttl", text, scope="f0")
    assert not rejects
    assert set(triples) == {
        (A, P, B),
        (A, P, f'"5"^^<{XSD}integer>'),
        (A, P, f'"1.5"^^<{XSD}decimal>'),
        (A, P, f'"true"^^<{XSD}boolean>'),
        (A, "http://example.org/q", "_:f0nameless0"),
        ("_:f0nameless0", "http://example.org/r", '"x"@de'),
    }
    assert read(tmp_path / "a.ttl", text, scope="f0")[0] == triples


def test_turtle_error_tells_the_line(tmp_path):
    triples, rejects = read(tmp_path / "a.ttl", f"<{A}> <{P}> <{B}> .\n<{A}> <{P} <{B}> .\n")
    assert (A, P, B) in triples
    assert rejects[0].line == 2
    packed = gzip.compress(b"".join(f"<{A}{i * 7919 % 99991}> <{P}> 1 .\n".encode() for i in range(20_000)))
    triples, rejects = read(tmp_path / "a.ttl.gz", packed[:-3000])
    assert triples
    assert "cut off" in rejects[-1].reason


def test_languages_are_kept_or_counted(tmp_path):
    objects = ['"a"@en', '"b"@en-gb', '"c"@de', '"d"', f'"1"^^<{XSD}integer>', f"<{B}>", '"e@de"']
    counts = Counts()
    text = "".join(f"<{A}> <{P}> {o} .\n" for o in objects)
    triples, _ = read(tmp_path / "a.nt", text, languages={"EN"}, counts=counts)
    assert [t[2] for t in triples] == ['"a"@en', '"b"@en-gb', '"d"', f'"1"^^<{XSD}integer>', B, '"e@de"']
    assert counts == Counts(triples=6, rejected=0, dropped=1)


def test_blank_nodes_of_two_files_stay_apart(tmp_path):
    assert read(tmp_path / "a.nt", f"_:x <{P}> _:x .\n", scope="7-")[0] == [("_:7-x", P, "_:7-x")]


def test_extensions_may_be_in_capitals(tmp_path):
    content = GOOD.encode()
    for name, packed in (("a.NT", content), ("a.Ttl", content), ("a.NT.GZ", gzip.compress(content))):
        assert read(tmp_path / name, packed) == ([(A, P, B)], [])


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"named \.nt, \.nq or \.ttl"):
        list(read_triples(tmp_path / "a.rdf.gz"))
    with pytest.raises(FileNotFoundError):
        list(read_triples(tmp_path / "a.nt"))


# --- both ways of reading agree ---------------------------------------------------------------------------------------

PIECES = [
    "http://a.org/",
    "https://b/x#y",
    "http://a",
    "urn:x",
    "%20",
    "%",
    "é",
    " ",
    "\\u0041",
    "#",
    "?",
    "[",
    ":",
    "/",
]
IRIS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join), st.text(max_size=6).map("http://a.org/".__add__)
)
TEXTS = st.text(max_size=8) | st.text(st.sampled_from('ab"\\nu0é\x7f\t'), max_size=8)
TAILS = st.sampled_from(["", "@en", "@en-GB", "@", "@e1", "@xx--ltr", f"^^<{XSD}string>", f"^^<{XSD}int>", "^^<x>"])
OBJECTS = IRIS.map(lambda iri: f"<{iri}>") | st.tuples(TEXTS, TAILS).map(lambda parts: f'"{parts[0]}"{parts[1]}')
LINES = st.builds("<{}> <{}> {}{}".format, IRIS, IRIS, OBJECTS, st.sampled_from([" .", ".", "", " . #c", " <g:g> ."]))


def by_pyoxigraph_alone(line: bytes) -> list[reading.Triple]:
    try:
        quads = list(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_TRIPLES))
    except SyntaxError:
        return []
    names = [(q.subject, q.predicate, q.object) for q in quads]
    return [
        tuple(t.value if isinstance(t, pyoxigraph.NamedNode) else str(t) for t in triple)  # type: ignore[misc]
        for triple in names
    ]


@given(st.lists(LINES.filter(lambda line: "\n" not in line and "\r" not in line), min_size=1, max_size=5))
def test_fast_way_and_pyoxigraph_agree(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines", numbered=True) / "a.nt"
    triples, rejects = read(path, "\n".join(lines).encode())
    expected = [by_pyoxigraph_alone(line.encode()) for line in lines]
    assert triples == [triple for parsed in expected for triple in parsed]
    assert len(rejects) <= sum(not parsed for parsed in expected)


def test_every_character_reads_the_same_both_ways():
    """Characters that the fast parser leaves unescaped are also unescaped in pyoxigraph."""
    for code in [*range(0x20, 0xD800), *range(0xE000, 0x10000), 0x1F600]:
        term = f'"{chr(code)}"'
        if reading._USUAL_TRIPLE.findall(f"<{A}> <{P}> {term} ."):
            assert str(pyoxigraph.Literal(chr(code))) == term


def bracketed(term: str) -> str:
    return term if term[0] in '_"' else f"<{term}>"


def test_rdflib_reads_the_same_graph(tmp_path):
    text = GOOD + f'<{A}> <{P}> "a\\tb\\u00e9"@en .\n_:x <{P}> "5"^^<{XSD}integer> .\n<{A}> <{P}> "été" .\n'
    triples, _ = read(tmp_path / "a.nt", text)
    again = "".join(f"{' '.join(map(bracketed, triple))} .\n" for triple in triples)
    ours, theirs = (rdflib.Graph().parse(data=data, format="nt") for data in (again, text))
    assert len(theirs) == 4
    assert isomorphic(ours, theirs)
