"""A suite of two workplace collections, one of them missing, and one to search."""

from pathlib import Path

import pytest

QUESTION = '{"_id": "q1", "title": "How many days of leave carry over?", "type": "direct", "gold": [["five days"]]}\n'
SUITE = """
data = "data"

[[configuration]]
name = "default"

[[configuration]]
name = "simple"
engine = "plain-hybrid"

[[collection]]
name = "policies"
kind = "workplace"
data = "policies"
questions = "questions.jsonl"

[[collection]]
name = "absent"
kind = "workplace"
data = "nowhere"
questions = "questions.jsonl"

[[collection]]
name = "search"
kind = "retrieval"
data = "tiny"
"""


@pytest.fixture
def suite_file(tmp_path: Path, ours: Path) -> Path:
    data = tmp_path / "data"
    (data / "policies").mkdir(parents=True)
    (data / "policies" / "leave.md").write_text("# Leave\n\nUp to five days of leave carry over into March.\n")
    (data / "questions.jsonl").write_text(QUESTION)
    ours.rename(data / "tiny")
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path
