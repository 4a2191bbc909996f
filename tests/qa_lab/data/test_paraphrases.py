import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.paraphrases import DIGITS, ODD, PHRASE, REPEATED, SAME, distinct_words, read_lexicon
from qa_lab.errors import TrainingDataError


@pytest.fixture
def lexicon(tmp_path: Path):
    def write(text: str | bytes, name: str = "lexicon.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_a_word_and_its_paraphrases_a_line(lexicon):
    read = read_lexicon([lexicon("Big large HUGE\nglad happy\n\n")])
    assert read.examples == (("big", "large"), ("big", "huge"), ("glad", "happy"))
    assert distinct_words(read.examples) == ("big", "large", "huge", "glad", "happy")
    assert (read.notices, read.repeated) == ((), 0)
    assert read.rejects == ()


def test_two_columns_and_lines_of_ppdb(lexicon):
    columns = lexicon("glad\thappy\nin fact\tindeed\r\n", "columns.tsv")
    ppdb = lexicon("[JJ] ||| big ||| large ||| p=1 q=2 ||| 0-0 ||| Equivalence\n", "ppdb.txt")
    read = read_lexicon([columns, ppdb])
    assert read.examples == (("glad", "happy"), ("big", "large"))
    assert read.left_out == {PHRASE: 1}


def test_what_is_no_pair_of_different_words_is_left_out_and_counted(lexicon):
    read = read_lexicon(
        [lexicon("a1 one\nbig large\nlarge big\nbig large\nbig Big\nbig !\nheavily-armed vice-president's\n")]
    )
    assert read.examples == (("big", "large"), ("heavily-armed", "vice-president's"))
    assert read.left_out == {DIGITS: 1, REPEATED: 2, SAME: 1, ODD: 1}


def test_broken_lines_are_rejected_with_their_place(lexicon):
    path = lexicon(b"big large\nalone\n\nglad happy\nempty\t\n" + b"x" * (1 << 21) + b" y\nlast final\n")
    read = read_lexicon([path])
    assert read.examples == (("big", "large"), ("glad", "happy"), ("last", "final"))
    assert [reject.where for reject in read.rejects] == [f"{path}:{number}" for number in (2, 5, 6)]
    reasons = [reject.reason for reject in read.rejects]
    assert "Expected a word and its paraphrases, but got 'alone'" in reasons[0]
    assert "1,048,576 bytes in a line" in reasons[2]


def test_a_word_in_another_encoding_is_left_out_and_told(lexicon):
    read = read_lexicon([lexicon("café bistro\nbig large\n".encode("cp1252"))])
    assert read.examples == (("big", "large"),)
    assert read.left_out == {ODD: 1}
    assert len(read.notices) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got an empty file"),
        ("\n\n", "got none; name a lexicon"),
        ("one\n", r"got none: .*lexicon.txt:1: Expected a word"),
        ("a1 b2\n", "got none; left out: 1 pairs with digits"),
    ],
)
def test_a_lexicon_without_pairs_is_refused(lexicon, text, message: str):
    with pytest.raises(TrainingDataError, match=message):
        read_lexicon([lexicon(text)])


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read = read_lexicon([path])
    except TrainingDataError:
        return
    assert all(left != right and left == left.lower() and " " not in left for left, right in read.examples)
    assert len({frozenset(pair) for pair in read.examples}) == len(read.examples)


def test_the_published_lexicon():
    data = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "paraphrase" / "ppdb.synonyms.txt.gz"
    if not data.is_file():
        pytest.skip(f"no {data}; set QA_BOT_DATA to the folder with the data sets")
    read = read_lexicon([data])
    assert (len(read.examples), len(distinct_words(read.examples)), read.left_out, read.rejects) == (
        16101,
        15590,
        {REPEATED: 37686, SAME: 22},
        (),
    )
