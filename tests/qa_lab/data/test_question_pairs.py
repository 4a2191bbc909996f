import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.question_pairs import EACH_WITH_EACH, VARIANTS, read_question_pairs, read_titles
from qa_lab.errors import TrainingDataError

Write = Callable[..., Path]
HEADER = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")


def texts(path: Path, which: str = "similar") -> list[tuple[str, str]]:
    data = read_question_pairs([path]).examples
    return [(data.texts[a], data.texts[b]) for a, b in getattr(data, which).tolist()]


def reasons(path: Path) -> dict[str, str]:
    return {reject.where.rpartition(":")[2]: reject.reason for reject in read_question_pairs([path]).rejects}


def test_quora_lines(write_lines: Write):
    path = write_lines("q.tsv", "1\tHow old?\tWhich age?\t7", '0\tA "quoted\tHow old?\t8', "1\tb\tc\t9", "")
    assert texts(path) == [("How old?", "Which age?"), ("b", "c")]
    assert texts(path, "different") == [("How old?", 'A "quoted')]
    assert not read_question_pairs([path]).rejects


def test_what_is_wrong_with_a_line_is_told_with_its_number(write_lines: Write):
    path = write_lines(
        "q.tsv",
        "1\ta\tb\t1",
        "2\ta\tb\t2",
        "1\ta\t \t3",
        "1\ta\tb",
        "1\tSame  one\tsame one\t5",
        "x\ta\tb\t6",
        "1\tB\tA\t7",
    )
    lines = reasons(path)
    assert {line: reason.split(";")[0] for line, reason in lines.items()} == {
        "2": "Expected the label 0 or 1, but got '2'",
        "3": "Expected two questions, but one side is empty",
        "4": "Expected 4 columns, but got 3",
        "5": "Expected two different questions, but got 'Same  one' twice",
        "6": "Expected the label 0 or 1, but got 'x'",
    }
    assert read_question_pairs([path]).repeated == 1


def test_published_files_with_a_header(write_lines: Write, tmp_path: Path):
    rows = [("0", "1", "2", "How old?", 'Which "age"?', "1"), ("1", "3", "4", "b", "c", "0")]
    tabbed = write_lines("t.tsv", *("\t".join(cells) for cells in (HEADER, *rows)))
    assert texts(tabbed) == [("How old?", 'Which "age"?')]
    assert texts(tabbed, "different") == [("b", "c")]
    quoted = write_lines("quoted.tsv", "\t".join(HEADER), '0\t1\t2\t"How ""old""?"\t"Age?"\t1')
    assert texts(quoted) == [('How "old"?', "Age?")]
    comma = tmp_path / "train.csv"
    comma.write_text(
        '"id","qid1","qid2","question1","question2","is_duplicate"\n"0","1","2","How\nold, x?","Age?","1"\n'
    )
    assert texts(comma) == [("How\nold, x?", "Age?")]
    comma.write_text(comma.read_text() + '"1","2"\n')
    assert reasons(comma)["4"].startswith("Expected 6 columns, but got 2")
    other = write_lines("other.csv", "name,age", "a,1")
    with pytest.raises(TrainingDataError, match=r"got none: .*other\.csv: Expected question1, question2 and is_dupl"):
        read_question_pairs([other])


def test_jsonl(write_lines: Write):
    path = write_lines(
        "a.jsonl",
        {"questions": ["a", "b", "c", "B"]},
        {"question": "d", "similar": ["e", "D"], "different": "a"},
        {"question1": "f", "question2": "g", "is_duplicate": 1},
        {"question1": "f", "question2": "a", "is_duplicate": "0"},
        {"questions": ["alone"]},
        {"question": "with an answer", "answer": "so"},
    )
    assert texts(path) == [("a", "b"), ("a", "c"), ("b", "c"), ("d", "e"), ("f", "g")]
    assert texts(path, "different") == [("a", "d"), ("a", "f")]
    data = read_question_pairs([path])
    assert (data.count, sum(data.others.values())) == (len(data.examples), 2)
    assert read_question_pairs([path]).examples.texts[-2:] == ("alone", "with an answer")
    assert list(read_titles([path])) == ["a", "d", "alone", "with an answer"]


def test_broken_jsonl(write_lines: Write):
    path = write_lines(
        "a.jsonl",
        {"questions": ["a", "b"]},
        {"questions": ["a", ""]},
        {"questions": []},
        {"question": " ", "similar": "b"},
        {"similar": "b"},
        "{broken",
        "[1]",
        {"question": "a", "similar": 3},
        {"question1": "a", "question2": "b", "is_duplicate": "yes"},
    )
    parts = {
        "2": "texts in the field questions, but got an empty one",
        "3": "Expected questions, but got none",
        "4": "got question, similar; add them",
        "5": "got similar; add them",
        "6": "Expected JSON",
        "7": "Expected a JSON object, but got [1]",
        "8": "list of strings in the field similar",
        "9": "label 0 or 1, but got 'yes'",
    }
    lines = reasons(path)
    assert lines.keys() == parts.keys()
    assert all(part in lines[line] for line, part in parts.items())


def test_a_large_group_is_a_chain(write_lines: Write):
    path = write_lines("a.jsonl", {"questions": [f"q{n}" for n in range(EACH_WITH_EACH + 1)]})
    data = read_question_pairs([path]).examples
    assert len(data) == EACH_WITH_EACH
    assert set(data.closure()) == {0}


def entry(name: str, concepts: tuple[str, ...], *questions: tuple[str, str]) -> str:
    lines = "".join(f"<CUI>{concept}</CUI>" for concept in concepts)
    entries = "".join(
        f'<QAPair pid="{n}"><Question qid="{n}" qtype="{kind}">{text}</Question><Answer></Answer></QAPair>'
        for n, (kind, text) in enumerate(questions)
    )
    return (
        f'<?xml version="1.0"?><Document id="{name}"><Focus>{name}</Focus><FocusAnnotations><UMLS><CUIs>{lines}</CUIs>'
        f"</UMLS></FocusAnnotations><QAPairs>{entries}</QAPairs></Document>"
    )


def test_medquad_questions_of_one_type_about_one_concept(tmp_path: Path):
    folder = tmp_path / "m"
    folder.mkdir()
    entries = {
        "1": entry("Flu", ("C1", "C2"), ("information", "What is (are)\n Flu ?"), ("causes", "What causes Flu ?")),
        "2": entry("Influenza", ("C2", "C1"), ("information", "What is influenza?"), ("causes", "what causes flu ?")),
        "3": entry("Cold", ("C1",), ("information", "What is a cold?")),
        "4": entry("Unknown", (), ("information", "What is it?")),
        "5": entry("Unknown too", (), ("information", "What is that?")),
        **{f"6{n}": entry(f"f{n}", ("C9",), ("information", f"Family {n}?")) for n in range(VARIANTS + 1)},
    }
    for name, text in entries.items():
        (folder / f"{name}.xml").write_text(text)
    (folder / "7.xml").write_text(entries["1"][:-40])
    data = read_question_pairs([folder])
    assert [(data.examples.texts[a], data.examples.texts[b]) for a, b in data.examples.similar.tolist()] == [
        ("What is (are) Flu ?", "What is influenza?")
    ]
    assert len(data.examples.texts) == 6 + VARIANTS + 1  # all of them are candidates
    assert [reject.reason[:26] for reject in data.rejects] == ["Expected well-formed XML, "]


def test_questions_without_a_pair_are_refused(write_lines: Write):
    with pytest.raises(TrainingDataError, match=r"got none; give questions that ask the same"):
        read_question_pairs([write_lines("one.jsonl", {"questions": ["a"]})])


cells = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=8)


@given(rows=st.lists(st.tuples(st.sampled_from("01x"), cells, cells, cells), min_size=1, max_size=8))
def test_every_line_is_a_pair_a_reject_or_known(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]):
    path = tmp_path_factory.mktemp("fuzz") / "q.tsv"
    path.write_text("1\tfirst one\tsecond one\t0\n" + "".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    data = read_question_pairs([path])
    assert data.count + len(data.examples.different) + len(data.rejects) + data.repeated <= 1 + len(rows)
    assert len(data.examples.texts) >= 2


DATA = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "quora/dev.tsv"


@pytest.mark.skipif(not DATA.is_file(), reason=f"needs {DATA}: set QA_BOT_DATA to the folder of the data")
def test_quora_dev():
    """The published counts are 9,218 queries and 19,081 candidates; a few texts differ in case or spaces only."""
    data = read_question_pairs([DATA])
    assert (len(data.examples.texts), data.count, len(data.examples.different)) == (19056, 4999, 5000)
    assert len(data.rejects) == 1
