"""The house stays as it was designed: who imports whom, one door for each library, and light commands."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("qa_core", "retrievers", "rankers", "generators", "kg_index", "qa_bot", "qa_lab")
EXEMPT = {"numpy", "torch", "pydantic", "pydantic_core", "orjson"}
"""Data types rather than engines: every layer may hold their objects."""

DOORS = {
    "aiohttp": "qa_bot/web",
    "alembic": "qa_bot/home/store/migrations",
    "defusedxml": "qa_bot/documents/ingest/formats/xml.py",
    "faiss": "retrievers/engines/local/dense.py",
    "huggingface_hub": "qa_bot/home/encoders.py",
    "ir_measures": "qa_core/measures/metrics.py",
    "lightgbm": "rankers/gbdt.py",
    "marisa_trie": "kg_index/linking/mentions.py",
    "markdown_it": "qa_bot/documents/ingest/formats/markdown.py",
    "matplotlib": "qa_core/measures/plots.py",
    "nltk": "qa_core/text/linguistics.py",
    "onnxruntime": "qa_core/encoders/transformer_encoder.py",
    "platformdirs": "qa_bot/home/folder.py",
    "prometheus_client": "qa_bot/web/metrics.py",
    "py7zr": "qa_bot/documents/ingest/files/seven_zip.py",
    "pyoxigraph": "kg_index/building/rdf_parsing.py",
    "pypdf": "qa_bot/documents/ingest/formats/pdf.py",
    "rank_bm25": "qa_lab/evaluate/answers.py",
    "rich": "qa_bot/terminal/output.py",
    "safetensors": "qa_core/networks/checkpoints.py",
    "selectolax": "qa_bot/documents/ingest/formats/html.py",
    "sqlalchemy": "qa_bot/home/store",
    "sklearn": "qa_core/measures/plots.py",
    "Stemmer": "qa_core/text/analysis.py",
    "syntok": "qa_core/text/sentences.py",
    "tantivy": "retrievers/engines/local/keyword.py",
    "tokenizers": "qa_core/encoders/tokenisers.py",
    "tomlkit": "qa_bot/home/config.py",
    "transformers": "qa_core/encoders/onnx_export.py",
    "typer": "qa_bot/cli/app.py",
    "uvloop": "qa_bot/web/server.py",
}
ALSO = {
    "rich": (
        "qa_lab/evaluate/report.py",
        "qa_lab/train/relations/mining_output.py",
        "qa_bot/learning/comparing/display.py",
    ),  # build what the terminal prints
    "transformers": ("generators/pretrained/transformer_loading.py",),  # models that speak, not encoders
    "sqlalchemy": (
        "qa_bot/home/store/migrations",
        "qa_bot/documents/ingest/formats/posts.py",
    ),  # the store's own; a scratch file, not the store
}
"""Side doors, each with its reason."""

HEAVY = ("torch", "numpy", "sqlalchemy", "tantivy", "faiss", "onnxruntime", "nltk", "transformers")


def imported(path: Path) -> set[str]:
    """Top names of what a file imports anywhere, also late and through `import_module`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(module)), *_]):
                names.add(module)
    return {name.partition(".")[0] for name in names}


def doors() -> dict[str, set[str]]:
    """Files that import each third-party library."""
    own = {*sys.stdlib_module_names, *PACKAGES, *EXEMPT}
    found = defaultdict(set)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in imported(path) - own:
                if name != "_typeshed":  # of type checkers only
                    found[name].add(path.relative_to(ROOT).as_posix())
    return found


def python(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(code: str) -> set[str]:
    """Heavy libraries that are loaded once `code` has run."""
    out = python(f"{code}\nimport sys\nprint('\\n', *set({HEAVY}).intersection(sys.modules))")
    return set(out.splitlines()[-1].split())


def test_packages_import_only_what_they_may() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_each_library_has_one_door() -> None:
    places = {name: (door, *ALSO.get(name, ())) for name, door in DOORS.items()}
    wrong = {
        name: outside
        for name, files in doors().items()
        if (outside := sorted(file for file in files if not file.startswith(places.get(name, "/"))))
    }
    assert wrong == {}, "name the door above, or go through the one that is there"


def test_no_door_is_named_in_vain() -> None:
    assert DOORS.keys() - doors().keys() == set()


def test_nothing_is_pickled() -> None:
    assert not [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "pickle" in imported(path)]


def test_help_loads_nothing_heavy() -> None:
    assert loaded("from qa_bot.cli.app import run\nassert run(['--help']) == 0") == set()


def test_the_nouns_load_numpy_alone() -> None:
    assert loaded("import qa_core.types") == {"numpy"}


def test_an_answer_needs_no_training_library(home) -> None:
    """Nor nltk, where its data is not installed: rules stand in without asking it."""
    asked = ["--home", str(home), "ask", "Why do cats sleep all day?"]
    code = f"from qa_bot.cli.app import run\nassert run({asked}) in (0, 3)"
    assert loaded(code) & {"torch", "transformers", "nltk"} == set()


@pytest.mark.parametrize("order", [("torch", "faiss"), ("faiss", "torch")])
def test_faiss_and_torch_live_together_in_either_order(order: tuple[str, str]) -> None:
    work = {
        "faiss": "from retrievers.engines.local.dense import faiss\n"
        "index = faiss.IndexFlatIP(8)\nindex.add(np.eye(8, dtype='f'))",
        "torch": "import torch\nassert float(torch.ones(64, 64).matmul(torch.ones(64, 64))[0, 0]) == 64",
    }
    code = "import numpy as np\n" + "\n".join(work[name] for name in order)
    code += "\nprint(index.search(np.eye(8, dtype='f'), 1)[1].ravel().tolist())\n" + work["torch"]
    assert python(code).strip() == str(list(range(8)))
