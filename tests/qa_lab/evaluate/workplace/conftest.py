"""A tiny collection of policies with questions, a dialogue and their gold texts."""

import json
from pathlib import Path

import pytest

POLICIES = {
    "leave.md": "# Leave\n\n## Carry-over\n\nUp to five days of leave carry over into March.\n\n## Sick leave\n\n"
    "Sick leave is unlimited.\n",
    "travel.md": "# Travel\n\n## Trains\n\nTrains are booked in second class.\n\n## Hotels\n\n"
    "A hotel may cost 120 euros.\n",
}
QUESTIONS = [
    {
        "_id": "q1",
        "title": "How many days of leave carry over?",
        "type": "direct",
        "gold": [["five days", "5 days"]],
        "documents": ["leave.md"],
    },
    {"_id": "q2", "title": "Who is the king of Spain?", "type": "unanswerable", "gold": []},
]
DIALOGUES = [
    {
        "_id": "hotels",
        "turns": [
            {"title": "What may a hotel cost?", "gold": [["120 euros"]], "documents": ["travel.md"]},
            {"title": "and trains?", "gold": [["second class"]], "documents": ["travel.md"]},
        ],
    }
]


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    for name, text in POLICIES.items():
        (folder / name).write_text(text)
    return folder


def write(path: Path, lines: list) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write(tmp_path / "questions.jsonl", QUESTIONS)


@pytest.fixture
def dialogues(tmp_path: Path) -> Path:
    return write(tmp_path / "dialogues.jsonl", DIALOGUES)
