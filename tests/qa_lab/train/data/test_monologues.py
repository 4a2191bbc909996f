import gzip
import random
from pathlib import Path

import pytest

from generators.training.persona_training import Spoken
from qa_lab.train.data.monologues import read_monologue, split_monologue
from qa_lab.train.errors import TrainingDataError


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_sentences_with_the_one_before(tmp_path: Path):
    data = read_monologue([write(tmp_path / "said.txt", "One.\n\n Two  three. \r\nFour.\n")])
    assert data.examples == (Spoken("One."), Spoken("Two three.", "One."), Spoken("Four.", "Two three."))
    assert (data.rejects, data.notices, data.repeated) == ((), (), 0)


def test_a_tab_stands_between_what_others_said_and_the_answer(tmp_path: Path):
    data = read_monologue([write(tmp_path / "film.txt", "Who are you ?\tYour father .\nOnly a sentence.\n")])
    assert data.examples == (Spoken("Your father .", "Who are you ?"), Spoken("Only a sentence.", "Your father ."))


def test_files_do_not_go_on_with_each_other_and_may_be_packed(tmp_path: Path):
    packed = tmp_path / "b.txt.gz"
    packed.write_bytes(gzip.compress(b"Three.\n"))
    data = read_monologue([write(tmp_path / "a.txt", "One.\nTwo.\n"), packed])
    assert data.examples[2] == Spoken("Three.")
    assert len(read_monologue([tmp_path], limit=2).examples) == 2


def test_what_is_said_twice_counts_once(tmp_path: Path):
    data = read_monologue([write(tmp_path / "said.txt", "One.\nTwo.\nOne.\n")])
    assert [sentence.text for sentence in data.examples] == ["One.", "Two."]
    assert data.repeated == 1


def test_a_long_line_is_taken_by_sentence(tmp_path: Path):
    line = " ".join(f"This is sentence number {number} of a long line." for number in range(20))
    data = read_monologue([write(tmp_path / "said.txt", f"{line}\n{'word ' * 3_000}\n")])
    assert len(data.examples) == 20
    assert data.examples[7].before == data.examples[6].text
    (reject,) = data.rejects
    assert "Expected at most 2,000 characters in a sentence, but got 14,999; split it." in reject.reason
    assert reject.where.endswith("said.txt:2")


def test_bytes_that_are_no_text(tmp_path: Path):
    with pytest.raises(TrainingDataError, match=r"Expected sentences in .*, but got none"):
        read_monologue([write(tmp_path / "said.txt", random.Random(1).randbytes(4_000))])
    data = read_monologue([write(tmp_path / "said.txt", b"One caf\xc3\xa9.\nTwo caf\xff\xfe\xfd.\n")])
    assert [sentence.text for sentence in data.examples] == ["One café.", "Two caf\ufffd\ufffd\ufffd."]
    (notice,) = data.notices
    assert "3" in str(notice)


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff\n"])
def test_nothing_said(tmp_path: Path, text: str):
    with pytest.raises(TrainingDataError, match=r"Expected sentences in .*, but got none"):
        read_monologue([write(tmp_path / "said.txt", text)])


def test_nothing_there(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        read_monologue([tmp_path / "nothing.txt"])
    data = read_monologue([write(tmp_path / "table.txt", "a\tb\tc\nOne.\n")])
    assert "two fields with a tab between them, but got 3 fields" in data.rejects[0].reason


def test_a_share_is_held_out_whatever_the_order(tmp_path: Path):
    spoken = [Spoken(f"Sentence {number}.") for number in range(100)]
    train, held = split_monologue(spoken, 0.1)
    assert (len(train), len(held)) == (90, 10)
    again, other = split_monologue(spoken[::-1], 0.1)
    assert (again[::-1], other[::-1]) == (train, held)
    assert [len(part) for part in split_monologue(spoken[:10], 0.01)] == [9, 1]
    assert [len(part) for part in split_monologue(spoken[:1], 0.5)] == [0, 1]
