import json
from pathlib import Path

import pytest

from qa_lab.evaluate.followups.dialogues import DialogueError, read_dialogues

TOPIC = {
    "number": 7,
    "turn": [{"number": 1, "raw_utterance": "What is tea? "}, {"number": 2, "raw_utterance": "Is it hot?"}],
}
MANUAL = [
    {"raw_utterance": "What is tea?", "number": 1, "manual_rewritten_utterance": "What is tea?"},
    {"raw_utterance": "Is it hot?", "number": 2, "manual_rewritten_utterance": "Is tea hot?"},
]


def test_rewrites_stand_in_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_text(json.dumps([{"number": 81, "turn": MANUAL}]), encoding="utf-8")
    (dialogue,) = read_dialogues(tmp_path / "topics.json")["topics.json"]
    assert dialogue.name == "81"
    assert [turn.manual for turn in dialogue.turns] == ["What is tea?", "Is tea hot?"]
    assert [turn.stands_alone for turn in dialogue.turns] == [True, False]


def test_rewrites_lie_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.evaluation_topics_v1.0.json").write_text(json.dumps([TOPIC]), encoding="utf-8")
    (tmp_path / "x.train_topics_v1.0.json").write_text(json.dumps([TOPIC]), encoding="utf-8")
    table = tmp_path / "x.evaluation_topics_annotated_resolved_v1.0.tsv"
    table.write_text("7_1\tWhat is tea?\n7_2\tIs tea hot?\n", encoding="utf-8")
    results = read_dialogues(tmp_path)
    assert list(results) == ["x.evaluation_topics_v1.0.json"]  # the other has no rewrites
    assert [(turn.raw, turn.manual) for turn in results["x.evaluation_topics_v1.0.json"][0].turns] == [
        ("What is tea?", "What is tea?"),
        ("Is it hot?", "Is tea hot?"),
    ]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"number": 1}]', '[{"turn": [{}], "number": 1}]'])
def test_what_is_no_list_of_topics_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "topics.json").write_text(text, encoding="utf-8")
    with pytest.raises(DialogueError, match=r"Expected .*topics\.json"):
        read_dialogues(tmp_path / "topics.json")


def test_no_rewrites_at_all_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DialogueError, match=r"manual rewrites in .* but got none"):
        read_dialogues(tmp_path)


def test_a_table_without_tabs_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x_v1.json").write_text(json.dumps([TOPIC]), encoding="utf-8")
    (tmp_path / "x_annotated_resolved.tsv").write_text("7_1\tWhat is tea?\n7_2 Is tea hot?\n", encoding="utf-8")
    with pytest.raises(DialogueError, match="line 2"):
        read_dialogues(tmp_path)


TEA = {"id": "1", "home": "a", "part": "dev", "turns": [{"raw": "Tea?", "manual": "What is tea?", "wanted": ["t#1"]}]}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_json_lines_are_read_by_what_they_speak_of(tmp_path: Path) -> None:
    other = {"id": 2, "turns": [{"raw": "Why?", "manual": "Why?"}]}
    results = read_dialogues(written(tmp_path / "d.jsonl", TEA, {**TEA, "part": "kept"}, other))
    assert [(name, len(item)) for name, item in results.items()] == [("d.jsonl a", 2), ("d.jsonl", 1)]
    assert results["d.jsonl a"][0].turns[0].relevant == ("t#1",)
    assert (results["d.jsonl"][0].name, results["d.jsonl"][0].part) == ("2", "")


def test_one_part_may_be_read(tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", TEA, {**TEA, "id": "2", "part": "kept"})
    assert [item.name for item in read_dialogues(path, part="kept")["d.jsonl a"]] == ["2"]
    with pytest.raises(DialogueError, match=r"of the part 'test' in .* but got none"):
        read_dialogues(path, part="test")


@pytest.mark.parametrize("line", ["", "{", "[]", "1", '{"id": 1}', '{"id": 1, "turns": [{"raw": "?"}]}', "\udcff"])
def test_a_line_that_is_no_dialogue_is_refused_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(json.dumps(TEA).encode() + b"\n" + line.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(DialogueError, match="line 2"):
        read_dialogues(path)
