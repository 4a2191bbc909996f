from pathlib import Path

from generators.training.persona_training import Spoken
from qa_lab.data.monologues import read_monologue, split_monologue


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


def test_files_do_not_go_on_with_each_other(tmp_path: Path):
    data = read_monologue([write(tmp_path / "a.txt", "One.\nTwo.\n"), write(tmp_path / "b.txt", "Three.\n")])
    assert data.examples[2] == Spoken("Three.")


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
    data = read_monologue([write(tmp_path / "said.txt", b"One caf\xc3\xa9.\nTwo caf\xff\xfe\xfd.\n")])
    assert [sentence.text for sentence in data.examples] == ["One café.", "Two caf\ufffd\ufffd\ufffd."]
    (notice,) = data.notices
    assert "3" in str(notice)


def test_three_fields_are_rejected(tmp_path: Path):
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
