from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.phrases.phrase_pairs import PhrasePair, annotated, parsed_line, read_phrase_pairs
from qa_lab.errors import TrainingDataError


def written(tmp_path: Path, text: str | bytes, name: str = "pairs.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(tmp_path: Path, text: str | bytes):
    return read_phrase_pairs([written(tmp_path, text)])


def test_ppdb_as_published(tmp_path: Path):
    line = "[NP] ||| the town meeting ||| town council ||| p(e|f)=1.25 Abstract=0 A=x B=nan ||| 0-0 1-1 ||| Equivalence"
    (pair,) = read(tmp_path, line + "\n").examples
    assert (pair.left, pair.right, pair.gold) == ("the town meeting", "town council", None)
    assert dict(pair.features) == {"p(e|f)": 1.25, "Abstract": 0.0}
    assert pair.line == line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("old man\telderly person\t4.6", ("old man", "elderly person", 4.6)),
        ("old man\telderly person", ("old man", "elderly person", None)),
        ("old man ||| elderly person ||| 3", ("old man", "elderly person", 3.0)),
        ("old man ||| elderly person", ("old man", "elderly person", None)),
        ("1\tHow old is he?\tWhat is his age?\t17", ("How old is he?", "What is his age?", 1.0)),
        ("(NP (JJ old) (NN man))\tsenior\t2", ("(NP (JJ old) (NN man))", "senior", 2.0)),
        ("big large", ("big", "large", None)),
    ],
)
def test_other_lines(line: str, expected):
    (pair,) = parsed_line(line)
    assert (pair.left, pair.right, pair.gold) == expected


def test_a_lexicon_line_is_several_pairs():
    assert [(pair.left, pair.right) for pair in parsed_line("big large huge")] == [("big", "large"), ("big", "huge")]


def test_ratings_of_bigrams_are_averaged(tmp_path: Path):
    data = read(
        tmp_path,
        "participant type number w1 w2 w3 w4 rating\n"
        "participant1 adjectivenouns 1 old man aged person 7\n"
        "participant1 verbobjects 1 use power have influence 3\n"
        "participant2 adjectivenouns 1 old man aged person 4\n",
    )
    assert [(p.group, p.left, p.right, p.gold) for p in data.examples] == [
        ("adjectivenouns", "old man", "aged person", 5.5),
        ("verbobjects", "use power", "have influence", 3.0),
    ]
    assert annotated(data.examples)


def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path):
    data = read(tmp_path, b"a\tb\n\nlone\n\tb\na\tb\tfour\n[X] ||| a\na\tb\tnan\nc\td\n")
    assert [(pair.left, pair.right) for pair in data.examples] == [("a", "b"), ("c", "d")]
    reasons = {reject.where.rpartition(":")[2]: reject.reason for reject in data.rejects}
    assert list(reasons) == ["3", "4", "5", "6", "7"]
    assert "got only 'lone'" in reasons["3"]
    assert "got an empty one" in reasons["4"]
    assert "Expected a score, but got 'four'" in reasons["5"]
    assert "got an empty one" in reasons["6"]
    assert "got 'nan'" in reasons["7"]
    assert not annotated(data.examples)


def test_nothing_at_all(tmp_path: Path):
    with pytest.raises(TrainingDataError, match=r"but got none: .*pairs\.txt:1: Expected two phrases"):
        read(tmp_path, "alone\n")
    with pytest.raises(TrainingDataError, match="is there any line"):
        read(tmp_path, "\n")


def test_one_score_for_all_is_no_annotation(tmp_path: Path):
    assert not annotated(read(tmp_path, "a\tb\t1\nc\td\t1\n").examples)


@given(st.text(max_size=60).filter(lambda text: text.strip()))
def test_any_line_is_pairs_or_a_value_error(text: str):
    for pair in pairs_or_none(text.strip()):
        assert isinstance(pair, PhrasePair)
        assert pair.left
        assert pair.right


def pairs_or_none(line: str) -> list[PhrasePair]:
    try:
        return parsed_line(line)
    except ValueError:
        return []
