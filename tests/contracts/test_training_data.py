"""What every reader of training data keeps: files, archives and folders are read, and bad lines are reported."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.answer_sets import read_answer_sets
from qa_lab.data.dialogues import read_dialogues
from qa_lab.data.monologues import read_monologue
from qa_lab.data.pairs import read_pairs
from qa_lab.data.paraphrases import read_lexicon
from qa_lab.data.phrases.phrase_pairs import read_phrase_pairs
from qa_lab.data.question_pairs import read_question_pairs
from qa_lab.data.topic_texts import read_texts
from qa_lab.errors import TrainingDataError


@dataclass(frozen=True)
class Format:
    """A reader with two examples in a format, and a line that it rejects."""

    read: Callable[..., Any]
    name: str
    first: str
    second: str
    bad: str
    header: str = ""

    def write(self, folder: Path, *lines: str) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / self.name
        path.write_text("".join(f"{line}\n" for line in (self.header, *lines) if line))
        return path

    def examples(self, *paths: Path) -> Any:
        """The examples, or the texts of a set of questions."""
        examples = self.read(paths).examples
        return getattr(examples, "texts", examples)


PAIR = '{"question": "%s", "answer": "so"}'
TURNS = '{"turns": ["%s", "yes"]}'
FORMATS = [
    Format(
        read_answer_sets, "a.tsv", "1\twhy\tso\t1", "2\thow\tthus\t1", "1\twhy\tno\t2", "qid\tquestion\tanswer\tlabel"
    ),
    Format(read_dialogues, "a.jsonl", TURNS % "hi", TURNS % "you", '{"turns": 3}'),
    Format(read_monologue, "a.txt", "One.", "Two.", "a\tb\tc"),
    Format(read_pairs, "a.jsonl", PAIR % "why", PAIR % "how", "{broken"),
    Format(read_pairs, "a.tsv", "1\twhy\tso\t1", "2\thow\tthus\t1", "3\twho\tI\tmaybe"),
    Format(read_lexicon, "a.txt", "big large", "glad happy", "alone"),
    Format(read_phrase_pairs, "a.txt", "old man\taged person", "big house\tlarge home", "lone"),
    Format(read_question_pairs, "a.tsv", "1\twhy\twhat for\t7", "1\thow\tin what way\t8", "2\ta\tb\t9"),
    Format(
        read_question_pairs, "a.jsonl", '{"questions": ["a", "b"]}', '{"questions": ["c", "d"]}', '{"questions": []}'
    ),
    Format(read_texts, "a.jsonl", '{"turns": ["hi there"]}', '{"turns": ["who is it"]}', '{"turns": [1]}'),
]


@pytest.fixture(params=FORMATS, ids=lambda source: f"{source.read.__name__} {source.name}")
def source(request: pytest.FixtureRequest) -> Format:
    chosen: Format = request.param
    return chosen


def test_packed_files_and_folders_are_read_up_to_a_limit(source: Format, tmp_path: Path):
    path = source.write(tmp_path / "a", source.first, source.second)
    data = source.read([path])
    assert (data.count, data.rejects, data.notices, data.repeated) == (2, (), (), 0)
    assert source.read([path], limit=1).count == 1
    one, other = source.write(tmp_path / "b", source.first), source.write(tmp_path / "c", source.second)
    assert source.read([one.parent, other]).count == 2
    (packed := tmp_path / f"{source.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert source.examples(packed) == source.examples(path)


@pytest.mark.parametrize("long", [False, True])
def test_a_bad_line_is_reported_with_its_place_and_the_others_are_read(source: Format, long: bool, tmp_path: Path):
    bad = "x" * (3 << 20) if long else source.bad
    path = source.write(tmp_path / "bad", source.first, bad, source.second)
    assert source.examples(path) == source.examples(source.write(tmp_path / "good", source.first, source.second))
    (reject,) = source.read([path]).rejects
    assert reject.where == f"{path}:{3 if source.header else 2}"
    assert reject.reason.startswith("Expected ")


def test_a_damaged_archive_keeps_what_came_before(source: Format, tmp_path: Path):
    path = source.write(tmp_path / "a", *[source.first, source.second] * 50)
    (cut := tmp_path / f"{source.name}.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
    assert source.read([cut]).count >= 2
    assert any("Expected a whole file" in reject.reason for reject in source.read([cut]).rejects)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf\n", bytes(range(256)) * 40])
def test_a_file_without_examples_is_refused(source: Format, content: bytes, tmp_path: Path):
    (path := tmp_path / source.name).write_bytes(content)
    with pytest.raises(TrainingDataError, match=rf"^Expected .* in {path}, but got (none|an empty file)"):
        source.read([path])


def test_a_missing_file_is_named(source: Format, tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"none(, which)? does not exist; check "):
        source.read([tmp_path / "none"])


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(source: Format, tmp_path: Path, text: str):
    (path := tmp_path / source.name).write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        assert source.read([path]).count
    except TrainingDataError:
        return
