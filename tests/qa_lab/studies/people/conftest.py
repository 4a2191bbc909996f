"""A study of three systems, two contexts and two judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

import pytest

from qa_lab.studies.people.forms import Plan, StudyKey, make_forms
from qa_lab.studies.people.material import Case

EVIL = '</script><img src=x onerror="alert(1)"> & "quoted" =1+1'


@pytest.fixture
def cases() -> list[Case]:
    return [
        Case("mars", "Should we go to Mars?", "rockets", {"plain": ("Yes.",), "voice": (EVIL,), "topic": ("Fly.",)}),
        Case("tea", "Tea?\nOr coffee?", "hot water", {"plain": ("No.",), "voice": ("Aye!",), "topic": ("Steam.",)}),
    ]


@pytest.fixture
def plan() -> Plan:
    return Plan(judges=2, persona="Captain", style=("voice",), topic=("topic",), seed=1)


@pytest.fixture
def folder(cases: list[Case], plan: Plan, tmp_path: Path) -> Path:
    make_forms(cases, plan, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def key(folder: Path) -> StudyKey:
    return StudyKey.load(folder)


Save = Callable[..., Path]


@pytest.fixture
def saved(key: StudyKey, tmp_path: Path) -> Save:
    """What a judge saves of a form: `quality` by (case, system), ticked (case, system) pairs, and changes to it."""

    def save(
        form: str,
        judge: str,
        quality: dict[tuple[str, str], int | None],
        ticked: Set[tuple[str, str]] = frozenset(),
        /,
        **changes: Any,
    ) -> Path:
        answers = [
            {
                "item": number,
                "quality": quality.get((item.case, item.system)),
                "style": (item.case, item.system) in ticked if item.style else None,
                "topic": (item.case, item.system) in ticked if item.topic else None,
            }
            for number, item in key.forms[form].items()
        ]
        path = tmp_path / f"{judge}-{form}.json"
        whole = {"format": 1, "study": key.study, "form": form, "judge": judge, "answers": answers, **changes}
        path.write_text(json.dumps(whole), encoding="utf-8")
        return path

    return save


def rated(mars: tuple[int, int, int], tea: tuple[int, int, int]) -> dict[tuple[str, str], int | None]:
    """Quality of plain, voice and topic in both contexts."""
    names = ("plain", "voice", "topic")
    return {
        (case, name): grade
        for case, row in (("mars", mars), ("tea", tea))
        for name, grade in zip(names, row, strict=True)
    }
