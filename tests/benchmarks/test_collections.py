"""The development collections under `benchmarks/collections` hold what their questions ask for."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "collections" / "check.py"


def loaded() -> Any:
    """The script as a module; its folder is no package."""
    spec = importlib.util.spec_from_file_location("check_collections", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = loaded()
ENTRY: dict[str, Any] = {"_id": "1", "title": "How hot?", "type": "direct", "gold": [["40 degrees"]]}


@pytest.mark.parametrize("collection", check.collections())
def test_golds_are_in_the_documents_and_absent_texts_are_not(collection: str) -> None:
    assert list(check.check(collection)) == []


def faults(root: Path, entry: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    documents = root / "heat" / "documents"
    documents.mkdir(parents=True)
    (documents / "oven.md").write_text("# Oven\n\nIt gets 40 degrees hot\\.\n")
    (root / "heat" / "questions.jsonl").write_text(json.dumps({"documents": ["oven.md"], **entry}) + "\n")
    monkeypatch.setattr(check, "ROOT", root)
    monkeypatch.setattr(check, "FEWEST", 1)
    return list(check.check("heat"))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"gold": [["50 degrees"]]}, "correct the gold"),
        ({"gold": [["40 degrees", "50 degrees"]]}, "correct or remove it"),
        ({"documents": ["kiln.md"]}, "no document has this name"),
        ({"gold": [], "documents": []}, "Expected `absent`"),
        ({"gold": [], "documents": [], "absent": ["40 degrees"]}, "oven.md holds it"),
        ({"gold": [], "documents": [], "absent": ["60 degrees"]}, None),
        ({"gold": [], "absent": ["60 degrees"]}, "remove them"),
        ({"type": "unanswerable"}, "correct the type"),
    ],
)
def test_a_wrong_question_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], fault: str | None
) -> None:
    lines = faults(tmp_path, {**ENTRY, **change}, monkeypatch)
    assert all(line.startswith("heat/1: ") for line in lines)
    assert (fault in lines[0]) if fault else not lines


def test_a_document_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "heat" / "documents").mkdir(parents=True)
    (tmp_path / "heat" / "documents" / "empty.md").write_text("")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="correct the file"):
        check.stored_documents("heat")
