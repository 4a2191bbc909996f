"""Paths, modules and papers that the documentation names exist, and its sentences are plain English."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from qa_bot.web.openapi import document
from qa_lab.train.registry import MODELS

ROOT = Path(__file__).parents[2]
PACKAGES = "qa_core|retrievers|rankers|generators|kg_index|qa_bot|qa_lab|benchmarks|tests"
PATH = re.compile(rf"(?<![\w/])(?:{PACKAGES})(?:/[\w.-]+)+/?")
MODULE = re.compile(r"python -m ([\w.]+)")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PROSE = runpy.run_path(str(ROOT / "tests/english.py"))["PROSE"]
PAPER = re.compile(r"([A-Z][\w-]+)(?: et al\.| and [A-Z]\w+)? \((\d{4})\)")
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_and_modules_of_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    modules = {module.replace(".", "/") for module in MODULE.findall(text)} - {"venv", "pip"}
    missing = {path for path in PATH.findall(text) if not (ROOT / path.rstrip(".")).exists()}
    assert missing | {m for m in modules if not (ROOT / f"{m}.py").exists() and not (ROOT / m).is_dir()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_of_a_page_are_plain_english(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert [(match.group(), advice) for mark, advice in PROSE.items() if (match := re.search(mark, text))] == []


def test_papers_of_the_page_on_papers_are_in_the_bibliography() -> None:
    entries = (ROOT / "docs/references.bib").read_text(encoding="utf-8").split("\n@")
    cited = set(PAPER.findall((ROOT / "docs/papers.md").read_text(encoding="utf-8")))
    known = {(name, year) for name, year in cited for e in entries if f"author = {{{name}," in squeezed(e, year)}
    assert cited - known == set()


def test_keys_of_the_bibliography_are_distinct() -> None:
    keys = re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(keys) == len(set(keys))


def test_the_reference_describes_fields_that_may_be_absent() -> None:
    page = runpy.run_path(str(ROOT / "docs/hooks/reference.py"))["http"]()
    models = document(secured=True, personas=("captain",))["components"]["schemas"]
    fields = models["AskRequest"]["properties"] | models["SpeakRequest"]["properties"]
    described = {
        kind["description"] for field in fields.values() for kind in field.get("anyOf", []) if "description" in kind
    }
    assert described
    assert {text for text in described if text not in page} == set()


def squeezed(entry: str, year: str) -> str:
    """The entry with single blanks, if it is of this year."""
    text = " ".join(entry.split())
    return text if re.search(rf"year = \{{{year}\}}", text) else ""


def test_the_reference_of_training_has_every_key_with_its_default_and_meaning() -> None:
    page = runpy.run_path(str(ROOT / "docs/hooks/reference.py"))["training"]()
    sections = {section.partition("\n")[0]: section for section in page.split("\n## ")[1:]}
    assert list(sections) == list(MODELS)
    assert "| `folds` | `5` | Of cross-validation. |" in sections["fusion"]
    assert '| `preset` | `"cpu"` | Default sizes of [model]. One of `cpu`, `paper`. |' in sections["encoder-decoder"]
    assert "Table `[training]`:" in sections["blstm"]
    assert "a transformer's folder gives its hidden states" in sections["entailment"], "a comment of two lines"
    assert "the networks that Wang compares with. One of `head`" in sections["relations"], "a comment above its field"
