import json
from pathlib import Path

import pytest

from qa_lab.evaluate.followups.dialogues import DialogueError
from qa_lab.evaluate.followups.rewrite import evaluate_rewrite
from qa_lab.evaluate.followups.rewrite_harm import evaluate_rewrite_harm, holds_questions, questions

ALONE = [f"How do I cook {thing}?" for thing in ("rice", "beans", "eggs", "fish", "peas", "corn")]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_questions_that_stand_alone_are_left_alone(tmp_path: Path) -> None:
    data = write(tmp_path / "faq.jsonl", *({"question": item, "answer": "In a pan."} for item in ALONE))
    (row,) = evaluate_rewrite(data)
    payload = row.as_dict()
    assert (payload["engine"], payload["queries"], payload["harm"]) == ("after 3 others", 6, 0.0)


def test_what_needs_the_turn_before_counts_as_harm(tmp_path: Path) -> None:
    data = write(tmp_path / "faq.jsonl", *({"question": item} for item in [*ALONE, "Is it healthy?"]))
    (row,) = evaluate_rewrite_harm(data)
    assert row.scores["harm"].mean == pytest.approx(1 / 7)


def test_a_draw_of_fewer_is_the_same_each_time(tmp_path: Path) -> None:
    data = write(tmp_path / "faq.jsonl", *({"question": item} for item in [*ALONE, "Is it healthy?"]))
    one, two = (evaluate_rewrite_harm(data, limit=3, seed=2)[0] for _ in range(2))
    assert one.queries == 3
    assert one.scores["harm"].per_query == two.scores["harm"].per_query


def test_histories_of_the_same_file(tmp_path: Path) -> None:
    for name, things in (("a", ALONE), ("b", [item.replace("cook", "grow") for item in ALONE])):
        rows = ({"id": f"{name}{at}", "title": item, "text": "So."} for at, item in enumerate(things))
        write(tmp_path / f"{name}.jsonl", *rows)
    others, beside = evaluate_rewrite(tmp_path)
    assert (others.engine, others.queries) == ("after 3 others", 12)
    assert (beside.engine, beside.queries) == ("after 3 of its file", 12)


def test_queries_give_title_body_and_summary(tmp_path: Path) -> None:
    rows = (
        {"_id": "q", "title": "gout", "body": "Why does it hurt?", "summary": "What causes gout pain?"},
        {"_id": "r"},
    )
    results = [item.question for item in questions(write(tmp_path / "dev.queries.jsonl", *rows))]
    assert results == ["gout", "Why does it hurt?", "What causes gout pain?"]


def test_conversations_are_no_questions(tmp_path: Path) -> None:
    assert not holds_questions(write(tmp_path / "d.jsonl", {"id": "1", "turns": []}))
    assert not holds_questions(tmp_path / "topics.json")
    assert holds_questions(write(tmp_path / "q.jsonl", {"question": "Why?"}))


def test_too_few_questions_are_refused_with_their_number(tmp_path: Path) -> None:
    data = write(tmp_path / "faq.jsonl", *({"question": item} for item in ALONE[:3]))
    with pytest.raises(DialogueError, match=r"more than 3 questions in .* but got 3"):
        evaluate_rewrite_harm(data)


@pytest.mark.parametrize("line", ["{", "[1]", "\x00"])
def test_a_line_that_is_no_object_is_refused_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "faq.jsonl"
    path.write_text(f'{{"question": "Why?"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(DialogueError, match="line 2"):
        list(questions(path))
