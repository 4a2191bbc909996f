from pathlib import Path

import pytest

from qa_lab.data.answer_sets import read_answer_sets
from qa_lab.data.pairs import read_pairs
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.answers import evaluate_answers
from rankers.training.answer_pool import AnswerSet

THREADS = """<?xml version="1.0" encoding="UTF-8"?>
<xml>
<OrgQuestion ORGQ_ID="Q1"><OrgQSubject>Massage</OrgQSubject><OrgQBody>Where is a good oil massage?</OrgQBody>
<Thread THREAD_SEQUENCE="Q1_R1">
<RelQuestion RELQ_ID="Q1_R1" RELQ_RELEVANCE2ORGQ="PerfectMatch">
<RelQSubject>massage oil</RelQSubject><RelQBody>Where can I buy
 good oil?</RelQBody>
</RelQuestion>
<RelComment RELC_ID="Q1_R1_C1" RELC_RELEVANCE2ORGQ="Bad" RELC_RELEVANCE2RELQ="Good">
<RelCText>Try the shops &amp; markets.</RelCText></RelComment>
<RelComment RELC_ID="Q1_R1_C2" RELC_RELEVANCE2RELQ="PotentiallyUseful"><RelCText>Perhaps online.</RelCText></RelComment>
<RelComment RELC_ID="Q1_R1_C3" RELC_RELEVANCE2RELQ="Bad"><RelCText>Thanks!</RelCText></RelComment>
</Thread></OrgQuestion>
<OrgQuestion ORGQ_ID="Q1"><Thread THREAD_SEQUENCE="Q1_R2">
<RelQuestion RELQ_ID="Q1_R2"><RelQSubject>visa</RelQSubject><RelQBody></RelQBody></RelQuestion>
<RelComment RELC_ID="Q1_R2_C1" RELC_RELEVANCE2RELQ="Good"><RelCText>Ask the embassy.</RelCText></RelComment>
<RelComment RELC_ID="Q1_R2_C2" RELC_RELEVANCE2RELQ="?"><RelCText>Who knows.</RelCText></RelComment>
</Thread></OrgQuestion>
</xml>
"""
MASSAGE = AnswerSet(
    "massage oil Where can I buy good oil?",
    ("Try the shops & markets.", "Perhaps online.", "Thanks!"),
    (True, False, False),  # only good comments answer (SemEval 2016, task 3 A)
    "Q1_R1",
)


@pytest.fixture
def threads(tmp_path: Path) -> Path:
    path = tmp_path / "train.xml"
    path.write_text(THREADS, encoding="utf-8")
    return path


def test_a_thread_is_a_question_with_its_judged_comments(threads: Path):
    data = read_answer_sets([threads])
    assert data.examples == (MASSAGE, AnswerSet("visa", ("Ask the embassy.",), (True,), "Q1_R2"))
    (reject,) = data.rejects
    assert reject.where == f"{threads}:17"
    assert "Expected the label Good, PotentiallyUseful or Bad in RELC_RELEVANCE2RELQ, but got '?'" in reject.reason


def test_good_comments_are_pairs_to_train_on(threads: Path):
    assert [pair.answer for pair in read_pairs([threads]).examples] == ["Try the shops & markets.", "Ask the embassy."]


def test_a_folder_with_threads_and_other_files(threads: Path):
    (threads.parent / "rows.tsv").write_text("qid\tquestion\tanswer\tlabel\n1\twhy?\tso.\t1\n")
    assert [one.id for one in read_answer_sets([threads.parent]).examples] == ["1", "Q1_R1", "Q1_R2"]


def test_the_threads_of_2015_have_another_root(tmp_path: Path):
    path = tmp_path / "old.xml"
    start, end = THREADS.index("<Thread"), THREADS.index("</Thread>") + len("</Thread>")
    path.write_text(f"<root>{THREADS[start:end]}</root>")
    assert read_answer_sets([path]).examples == (MASSAGE,)


def test_what_comes_before_broken_xml_is_read(threads: Path):
    threads.write_text(THREADS.replace("</xml>", "</html>"))
    data = read_answer_sets([threads])
    assert len(data.examples) == 2
    assert "Expected well-formed XML" in data.rejects[-1].reason


def test_without_labels_nothing_can_be_learned(threads: Path):
    threads.write_text(THREADS.replace('2RELQ="Good"', '2RELQ="?"').replace('2RELQ="Bad"', '2RELQ="?"'))
    with pytest.raises(TrainingDataError, match="but got '\\?'; take the part of the data"):
        read_answer_sets([_only_unlabelled(threads)])


def _only_unlabelled(threads: Path) -> Path:
    threads.write_text(threads.read_text().replace('"PotentiallyUseful"', '"?"'))
    return threads


def test_answers_are_measured_on_threads(threads: Path):
    (row,) = evaluate_answers(threads)
    assert row.queries == 1  # the other question has no wrong answer
    assert set(row.scores) == {"AP", "RR", "Success@1"}
