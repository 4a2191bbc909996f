"""Blind forms: one HTML file a judge, which works without a network; the key says which system wrote what.

Each case is rated by several judges. As in Wang (2018), ch. 8.6.4, a page asks about the quality of the replies of all
systems, in random order; a second one about the style of those that should have it, beside a baseline; a third one
about the topic. Forms name no system, their numbers for replies are random, and all replies on a page look the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.people.material import Case

KEY = "key.json"
"""File that says which system wrote which reply; judges must not see it."""
FORMAT = 1
_TEMPLATE = Path(__file__).with_name("form.html")
_DATA = "{{study}}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of whom. Raises DatasetError for what cannot be asked."""

    judges: int = 3  # of each case
    cases: int = 16  # in a form, at most
    baseline: str = ""  # system that others are compared with; by default the first
    persona: str = ""  # name in the question about style; "" does not ask it
    style: tuple[str, ...] = ()  # systems asked about style, beside the baseline
    topic: tuple[str, ...] = ()  # systems asked about the hint, beside the baseline
    seed: int = 0

    def __post_init__(self) -> None:
        if self.judges < 1 or self.cases < 1:
            raise DatasetError(
                f"Expected at least one judge and one case in a form, but got {self.judges} and {self.cases}; raise it."
            )
        if bool(self.persona) != bool(self.style):
            raise DatasetError(
                "Expected the name of a persona together with the systems that speak like it; give both."
            )


@dataclass(frozen=True, slots=True)
class Item:
    """A reply in a form."""

    case: str
    system: str
    reply: int  # number among the system's replies
    style: bool  # whether the question about style is asked
    topic: bool


@dataclass(frozen=True, slots=True)
class StudyKey:
    """Who wrote what in the forms of a study."""

    study: str  # fingerprint of the material and the plan
    plan: Plan
    systems: tuple[str, ...]
    forms: dict[str, dict[str, Item]] = field(default_factory=dict)  # items by number, by form

    def save(self, folder: Path) -> None:
        (folder / KEY).write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> StudyKey:
        """Raises FileNotFoundError or DatasetError that name what is missing or wrong."""
        path = folder / KEY
        if not path.is_file():
            raise FileNotFoundError(f"Expected the key of a study in {path}, but got none; name the forms' folder.")
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            plan = {**fields["plan"], "style": tuple(fields["plan"]["style"]), "topic": tuple(fields["plan"]["topic"])}
            forms = {form: {n: Item(**item) for n, item in items.items()} for form, items in fields["forms"].items()}
            return cls(fields["study"], Plan(**plan), tuple(fields["systems"]), forms)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DatasetError(f"{path}: Expected the key of a study, but got {error!r}; make it again.") from None


def make_forms(cases: Sequence[Case], plan: Plan, folder: Path) -> list[Path]:
    """Write the forms and their key into a new folder; return the forms.

    Raises:
        DatasetError: the plan names systems that the cases lack, asks about missing hints, or the folder has a study.
    """
    systems = tuple(cases[0].replies)
    plan = Plan(**{**asdict(plan), "baseline": plan.baseline or systems[0]})
    _check(cases, plan, systems)
    if (folder / KEY).exists():
        raise DatasetError(f"Expected a new folder, but {folder} has a study; choose another one.")
    material = json.dumps([[asdict(case) for case in cases], asdict(plan)], sort_keys=True, ensure_ascii=False)
    key = StudyKey(hashlib.blake2b(material.encode(), digest_size=6).hexdigest(), plan, systems)
    rng = np.random.default_rng(plan.seed)
    folder.mkdir(parents=True, exist_ok=True)
    template, written = _TEMPLATE.read_text(encoding="utf-8"), []
    for judge in range(plan.judges):
        order = rng.permutation(len(cases)).tolist()
        for first in range(0, len(cases), plan.cases):
            name = f"{judge + 1}-{first // plan.cases + 1}"
            items, pages = _pages([cases[number] for number in order[first : first + plan.cases]], plan, rng)
            key.forms[name] = items
            page = {"format": FORMAT, "study": key.study, "form": name, "persona": plan.persona, "pages": pages}
            path = folder / f"form-{name}.html"
            path.write_text(template.replace(_DATA, _embedded(page)), encoding="utf-8")
            written.append(path)
    key.save(folder)
    return written


def _pages(cases: Sequence[Case], plan: Plan, rng: np.random.Generator) -> tuple[dict[str, Item], list[dict[str, Any]]]:
    """Items by number, and the pages of the form: one for each question about a case."""
    total = sum(len(texts) for case in cases for texts in case.replies.values())
    numbers = iter(map(str, rng.permutation(total).tolist()))
    items: dict[str, Item] = {}
    pages = []
    for case in cases:
        replies: dict[str, Item] = {}
        for system, texts in case.replies.items():
            style, topic = (_has_question(systems, system, plan) for systems in (plan.style, plan.topic))
            replies |= {next(numbers): Item(case.id, system, index, style, topic) for index in range(len(texts))}
        items |= replies
        shown = {
            "quality": list(replies),
            "style": [number for number, item in replies.items() if item.style],
            "topic": [number for number, item in replies.items() if item.topic],
        }
        for question, chosen in shown.items():
            order = [chosen[place] for place in rng.permutation(len(chosen)).tolist()]
            texts_in_order = [case.replies[replies[number].system][replies[number].reply] for number in order]
            boxes = [{"item": number, "text": text} for number, text in zip(order, texts_in_order, strict=True)]
            if boxes:
                pages.append({"question": question, "context": case.context, "hint": case.hint, "replies": boxes})
    return items, pages


def _has_question(systems: Sequence[str], system: str, plan: Plan) -> bool:
    """Whether a question that is about some systems is asked of this one."""
    return bool(systems) and system in (*systems, plan.baseline)


def _check(cases: Sequence[Case], plan: Plan, systems: Sequence[str]) -> None:
    named = (plan.baseline, *plan.style, *plan.topic)
    if unknown := [system for system in named if system not in systems]:
        raise DatasetError(f"Expected systems among {', '.join(systems)}, but got {unknown[0]!r}; correct the name.")
    if plan.topic and (bare := [case.id for case in cases if not case.hint]):
        raise DatasetError(f"Expected a hint in every case to ask about topics, but {bare[0]!r} has none; add it.")


def _embedded(page: dict[str, Any]) -> str:
    """JSON that cannot end the HTML element around it."""
    return json.dumps(page, ensure_ascii=False).replace("<", "\\u003c")
