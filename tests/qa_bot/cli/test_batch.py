"""Batches of questions: order of answers, bad lines, resuming after a crash, and the TREC run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from qa_bot.answering.ask import Ask
from qa_bot.bot import Bot
from qa_bot.cli.batch import BatchError, answer_all
from qa_bot.cli.documents import improving

ROWS = [
    {"_id": "q1", "title": "Why do cats sleep all day?"},
    {"qid": "q2", "title": "How do I boil an egg?", "body": "Soft, please."},
    "{broken",
    {"_id": "q 3", "title": "xqzzv blorp"},
    "",
    {"_id": "q1", "title": "Asked twice"},
    {"title": "no id"},
    {"_id": "q5", "title": ""},
    {"_id": 7, "title": "Why is the sky blue?"},
]


@pytest.fixture
def bot(home):
    with Bot.open(home, record=False) as opened:
        yield opened


@pytest.fixture
def questions(write_lines) -> Path:
    return write_lines("in.jsonl", *ROWS)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_timings(path: Path) -> list[dict]:
    """Answers without the fields that differ from run to run."""
    return [{k: v for k, v in line.items() if k not in ("id", "timings")} for line in lines(path)]


def run_rows(path: Path) -> list[list[str]]:
    return [line.split(" ") for line in path.read_text().splitlines()]


def test_the_document_with_the_id_of_a_question_is_left_out(bot, write_lines, tmp_path) -> None:
    source, out = write_lines("own.jsonl", {**ROWS[0], "_id": "animals-cats-sleep"}), tmp_path / "out.jsonl"
    answer_all(bot, source, out)
    documents = [row["document"] for row in lines(out)[0]["sources"]]
    assert documents
    assert "animals-cats-sleep" not in documents


def test_each_line_gets_one_answer_in_order(bot, questions, tmp_path) -> None:
    out = tmp_path / "out.jsonl"
    answered, processed, _, failed = answer_all(bot, questions, out)
    answers = lines(out)
    assert [line["qid"] for line in answers] == ["q1", "q2", None, "q 3", None, "q1", None, "q5", "7"]
    assert (processed, failed) == (len(ROWS), 5)
    assert answered == sum(bool(line.get("answered")) for line in answers)
    assert answers[0]["sources"][0]["document"] == "animals-cats-sleep"
    assert answers[2]["error"].startswith(f"{questions}:3: Expected a JSON object, but got")
    assert answers[4]["error"].startswith(f"{questions}:5: ")
    assert answers[5]["error"] == f"{questions}:6: Expected ids that differ, but got 'q1' again; rename this one."
    assert answers[6]["error"].startswith(f'{questions}:7: Expected {{"_id" or "qid"')
    assert (answers[3]["answered"], answers[3]["kind"]) == (False, "none")


def test_run_is_valid(bot, questions, tmp_path) -> None:
    run = tmp_path / "run.trec"
    answer_all(bot, questions, tmp_path / "out.jsonl", run=run, ask=Ask.of("", top=2))
    rows = run_rows(run)
    assert {tuple(row[1::4]) for row in rows} == {("Q0", "qa-bot")}
    qids = list(dict.fromkeys(row[0] for row in rows))
    assert qids == [qid for qid in ("q1", "q2", "q%203", "7") if qid in qids]
    for qid in ("q1", "q2", "7"):
        ranked = [row for row in rows if row[0] == qid]
        assert [int(row[3]) for row in ranked] == list(range(1, len(ranked) + 1))
        assert [float(row[4]) for row in ranked] == sorted((float(row[4]) for row in ranked), reverse=True)
        assert len({row[2] for row in ranked}) == len(ranked) > 2, (
            "the run holds all ranked documents, whatever `top` is"
        )
    assert rows[0][2] == "animals-cats-sleep"


def test_run_holds_documents_of_a_fact_but_not_its_triples(bot, tmp_path, write_lines) -> None:
    questions = write_lines("facts.jsonl", {"_id": "f", "title": "Which currency is used in Japan?"})
    answer_all(bot, questions, tmp_path / "out.jsonl", run=tmp_path / "run.trec")
    (answer,) = lines(tmp_path / "out.jsonl")
    documents = [row[2] for row in run_rows(tmp_path / "run.trec")]
    assert answer["kind"] == "fact"
    behind = [source["document"] for source in answer["sources"] if source["collection"] == "starter"]
    assert behind
    assert set(behind) <= set(documents)
    assert not any("qa-bot.org" in document for document in documents)


def test_run_lists_a_document_of_two_collections_once(bot, home, qa_bot, write_lines, tmp_path) -> None:
    qa_bot("add", write_lines("a.jsonl", {"_id": "animals-cats-sleep", "text": "Cats sleep all day."}))
    run = tmp_path / "run.trec"
    answer_all(bot, write_lines("one.jsonl", ROWS[0]), tmp_path / "out.jsonl", run=run)
    assert sum(row[2] == "animals-cats-sleep" for row in run_rows(run)) == 1


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_interrupted_batch_resumes(bot, questions, tmp_path, cut: int) -> None:
    whole, whole_run = tmp_path / "whole.jsonl", tmp_path / "whole.trec"
    answer_all(bot, questions, whole, run=whole_run)
    out, run = tmp_path / "out.jsonl", tmp_path / "out.trec"
    written = whole.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(written[:2]) + written[2][:cut])
    run.write_bytes(whole_run.read_bytes())  # answers after the second were ranked, but not written
    line_numbers: list[int] = []
    answer_all(bot, questions, out, run=run, progress=line_numbers.append)
    assert line_numbers == list(range(3, len(ROWS) + 1))
    assert without_timings(out) == without_timings(whole)
    assert run.read_bytes() == whole_run.read_bytes()


def test_finished_batch_answers_nothing_again(bot, questions, tmp_path) -> None:
    out = tmp_path / "out.jsonl"
    first = answer_all(bot, questions, out)
    before = out.read_bytes()
    assert answer_all(bot, questions, out, progress=lambda _: pytest.fail("asked again")) == (
        *first[:2],
        first.questions,
        first.failed,
    )
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("my thesis, chapter one\n", "Expected the answer to 'q1' .* in .*out.jsonl:1, but got something else"),
        ('{"qid": "other"}\n', "Expected the answer to 'q1' .* in .*out.jsonl:1, but got 'other'"),
        ('{"qid": "q1"}\n["list"]\n', "Expected the answer to 'q2' .* in .*out.jsonl:2, but got something else"),
    ],
)
def test_unrelated_output_file_is_refused(bot, questions, tmp_path, content: str, reason: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(content)
    with pytest.raises(BatchError, match=reason):
        answer_all(bot, questions, out)
    assert out.read_text() == content


def test_answers_to_other_questions_of_the_same_ids_are_refused(bot, tmp_path, write_lines) -> None:
    out = tmp_path / "out.jsonl"
    answer_all(bot, write_lines("in.jsonl", {"_id": "q1", "title": "Why do cats sleep?"}), out)
    with pytest.raises(
        BatchError, match=r"'q1' \(Why do dogs bark\?\) in .*out.jsonl:1, but got 'Why do cats sleep\?'"
    ):
        answer_all(bot, write_lines("in.jsonl", {"_id": "q1", "title": "Why do dogs bark?"}), out)


def test_output_with_more_answers_than_questions_is_refused(bot, questions, tmp_path, write_lines) -> None:
    out = tmp_path / "out.jsonl"
    answer_all(bot, questions, out)
    with pytest.raises(BatchError, match=r"Expected no further line in .*out.jsonl:2, but got 'q2'"):
        answer_all(bot, write_lines("short.jsonl", ROWS[0]), out)


def test_input_and_output_must_differ(bot, questions, tmp_path) -> None:
    with pytest.raises(BatchError, match="Expected different files"):
        answer_all(bot, questions, questions)
    with pytest.raises(BatchError, match="Expected different files"):
        answer_all(bot, questions, tmp_path / "out", run=tmp_path / "out")


def test_resuming_without_the_matching_run_is_refused(bot, questions, tmp_path) -> None:
    out, run = tmp_path / "out.jsonl", tmp_path / "run.trec"
    answer_all(bot, questions, out)
    with pytest.raises(BatchError, match="there is no such file"):
        answer_all(bot, questions, out, run=run)
    run.write_text("other Q0 d 1 1.0 x\n")
    with pytest.raises(BatchError, match="got that of others"):
        answer_all(bot, questions, out, run=run)
    assert run.read_text() == "other Q0 d 1 1.0 x\n"


def test_batch_command(qa_bot, questions, tmp_path) -> None:
    out = tmp_path / "out.jsonl"
    called = qa_bot("ask", "--batch", questions, "--out", out, "--top", 1)
    assert (called.code, called.out) == (0, "")
    assert re.fullmatch(r"9 questions, \d answered, 5 with an error\n", called.err)
    assert len(lines(out)[0]["sources"]) == 1
    again = qa_bot("ask", "--batch", questions, "--out", out, "--top", 1)
    assert again.err == called.err.rstrip() + ", 9 done before\n"
    assert qa_bot("ask", "--batch", questions).code == 2
    assert qa_bot("ask", "--batch", tmp_path / "none.jsonl", "--out", out).code == 1


def test_standard_input_and_output(qa_bot, questions, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run.trec"
    for _ in range(2):  # nothing is resumed
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(questions.read_bytes())))
        called = qa_bot("ask", "--batch", "-", "--out", "-", "--run", run)
        assert called.code == 0
        answers = [json.loads(line) for line in called.out.splitlines()]
        assert [answer["qid"] for answer in answers] == ["q1", "q2", None, "q 3", None, "q1", None, "q5", "7"]
        assert answers[2]["error"].startswith("-:3: Expected a JSON object")
        assert "before" not in called.err
    assert run_rows(run)
    refused = qa_bot("ask", "--batch", questions, "--out", "-", "--run", "-")
    assert (refused.code, "Expected a file as --run" in refused.err) == (1, True)
    assert not (tmp_path / "-").exists()


def test_an_input_that_cannot_be_read_changes_nothing(qa_bot, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(improving, "improve_before", lambda *_: pytest.fail("made better vectors"))
    for source in (tmp_path / "none.jsonl", tmp_path):
        refused = qa_bot("ask", "--batch", source, "--out", tmp_path / "out.jsonl", "--run", tmp_path / "run.trec")
        assert (refused.code, str(source) in refused.err) == (1, True)
    assert not list(tmp_path.glob("*.*"))


def test_a_line_takes_the_options_of_the_command(qa_bot, write_lines, tmp_path) -> None:
    options = [
        {"top": 1, "persona": "captain", "hint": "ships", "deadline": 9, "category": "pets"},
        *({"top": 0}, {"deadline": "soon"}, {"persona": "nobody at all"}, {"hint": 3}),
        *({"topp": 1, "metadata": {}}, {"metadata": {}}),
    ]
    rows = [{"_id": number, "title": "Why do cats sleep all day?", **one} for number, one in enumerate(options)]
    source, out = write_lines("in.jsonl", *rows), tmp_path / "out.jsonl"
    called = qa_bot("ask", "--batch", source, "--out", out, "--top", 3)
    styled, top, deadline, persona, hint, *plain = lines(out)
    assert (styled["styled"]["persona"], len(styled["sources"])) == ("captain", 1)
    assert [len(answer["sources"]) for answer in plain] == [3, 3]
    assert top["error"] == f"{source}:2: Expected a whole number of at least 1 as `top`, but got 0."
    assert "Expected a number of at least 0 as `deadline`, but got 'soon'" in deadline["error"]
    assert "nobody at all" in persona["error"]
    assert "Expected a text (str) as `hint`" in hint["error"]
    assert f"{source}:6: the key `topp` has no meaning here; the nearest is `top`. It is ignored." in called.err
    assert called.err.count("metadata") == 1


def test_a_line_takes_the_paths_and_names_that_the_command_line_takes(bot, qa_bot, write_lines, tmp_path) -> None:
    folder = tmp_path / "firm"
    for name in ("hr/leave.md", "it/leave.md"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(f"# Paid leave\n\nPaid leave has thirty days, as {name} says.\n")
    qa_bot("add", folder)
    unders = ["firm", str(folder / "hr"), "hr", str(folder / "no"), "/nowhere/at/all"]
    rows = [{"_id": n, "title": "How long is paid leave?", "under": under} for n, under in enumerate(unders)]
    source, out = write_lines("in.jsonl", *rows, {"_id": "m", "title": "Paid leave?", "undr": "hr"}), tmp_path / "out"
    assert qa_bot("ask", "--batch", source, "--out", out).err.endswith("3 answered, 3 with an error\n")
    *answers, lost, nowhere, misspelt = lines(out)
    documents = [{row["document"] for row in answer["sources"]} for answer in answers]
    assert documents == [{"hr/leave.md", "it/leave.md"}, {"hr/leave.md"}, {"hr/leave.md"}]
    assert f"{source}:4: Expected a folder or document, but got 'no'" in lost["error"]
    assert "Expected a folder or document, but got '/nowhere/at/all'" in nowhere["error"]
    assert misspelt["error"] == f"{source}:6: Expected the field `under`, but got `undr`; correct its name."


def test_filters_of_a_line_are_combined_with_those_of_the_command(qa_bot, write_lines, tmp_path) -> None:
    for name in ("hr/leave.md", "it/leave.md"):
        (tmp_path / "firm" / name).parent.mkdir(parents=True)
        (tmp_path / "firm" / name).write_text(f"# Paid leave\n\nPaid leave has thirty days, as {name} says.\n")
    qa_bot("add", tmp_path / "firm", "--collection", "team")
    qa_bot("add", tmp_path / "firm", "--collection", "other")
    fields = [{}, {"under": "hr"}, {"under": "it", "language": "en"}, {"collection": "other"}]
    rows = [{"_id": n, "title": "How long is paid leave?", **one} for n, one in enumerate(fields)]
    out = tmp_path / "out"
    qa_bot("ask", "--batch", write_lines("in.jsonl", *rows), "--out", out, "--collection", "team", "--under", "hr")
    sources = [{(row["collection"], row["document"]) for row in answer["sources"]} for answer in lines(out)]
    places = [("team", "hr/leave.md"), ("team", "hr/leave.md"), ("team", "it/leave.md"), ("other", "hr/leave.md")]
    assert sources == [{place} for place in places]


@pytest.mark.slow
def test_killed_batch_is_finished_by_the_next(home, qa_bot, bot, tmp_path, write_lines) -> None:
    rows = [{"_id": f"q{i}", "title": f"Why do cats sleep all day, and what of number {i}?"} for i in range(400)]
    source, out, run = write_lines("in.jsonl", *rows), tmp_path / "out.jsonl", tmp_path / "run.trec"
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "ask", "--batch", str(source), "--out", str(out)]
    with subprocess.Popen([*command, "--run", str(run)], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and (not out.exists() or out.stat().st_size < 20_000):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert 0 < len(out.read_bytes().splitlines()) < len(rows)
    os.truncate(out, out.stat().st_size - 5)
    source = write_lines("in.jsonl", *rows[:60])
    with out.open("rb+") as file:  # answering all 400 would take too long
        file.truncate(sum(map(len, out.read_bytes().splitlines(keepends=True)[:50])))
    assert qa_bot("ask", "--batch", source, "--out", out, "--run", run).code == 0
    answer_all(bot, source, tmp_path / "whole.jsonl", run=tmp_path / "whole.trec")
    assert without_timings(out) == without_timings(tmp_path / "whole.jsonl")
    assert run.read_bytes() == (tmp_path / "whole.trec").read_bytes()
