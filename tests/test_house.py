"""The rules of the house: who imports whom, how large a file may be, and what a command may load."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("qa_core", "retrievers", "rankers", "generators", "kg_index", "qa_bot", "qa_lab")
FILES = {path.relative_to(ROOT).as_posix(): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}

FILE_LINES, FUNCTION_LINES, ROOM_FILES = 400, 60, 13

DATA_TYPES = {"numpy", "torch", "pydantic", "pydantic_core", "orjson"}
"""Libraries of values rather than engines: any file may import them."""

IMPORTERS = {
    "aiohttp": ["qa_bot/web", "qa_bot/documents/websites/fetching/client.py"],
    "alembic": ["qa_bot/home/store/migrations"],
    "charset_normalizer": ["qa_bot/documents/ingest/files/charset.py"],
    "defusedxml": ["qa_bot/documents/ingest/files/xml.py"],
    "docutils": ["qa_bot/documents/ingest/formats/markup/restructured.py"],
    "faiss": ["retrievers/engines/local/dense.py"],
    "filelock": ["qa_bot/home/folder.py"],
    "huggingface_hub": ["qa_bot/home/encoders.py"],
    "ir_measures": ["qa_core/measures/metrics.py"],
    "lightgbm": ["rankers/gbdt.py"],
    "marisa_trie": ["kg_index/linking/mentions.py", "qa_core/encoders/word_pieces.py"],
    "markdown_it": [
        "qa_bot/documents/ingest/formats/markup/markdown.py",
        "qa_bot/documents/ingest/plain_paragraphs.py",
        "qa_bot/documents/cutting/blocks.py",
        "qa_bot/transfer/answer_markdown.py",
    ],
    "matplotlib": ["qa_core/measures/plots.py"],
    "nltk": ["qa_lab/fit/synonym_table.py"],
    "olefile": ["qa_bot/documents/ingest/formats/mail/msg.py"],
    "onnx": ["qa_core/encoders/graphs/quantisation.py"],
    "onnxruntime": ["qa_core/encoders/graphs/silent_runtime.py", "qa_core/encoders/transformer_encoder.py"],
    "opentelemetry": ["qa_bot/web/telemetry"],
    "PIL": ["qa_bot/documents/ingest/formats/pages/image.py"],
    "platformdirs": ["qa_bot/home/folder.py"],
    "prometheus_client": ["qa_bot/web/metrics.py"],
    "protego": ["qa_bot/documents/websites/robots.py"],
    "py3langid": ["qa_core/text/language_detection.py"],
    "py7zr": ["qa_bot/documents/ingest/files/seven_zip.py"],
    "pyoxigraph": ["kg_index/building/rdf_parsing.py"],
    "pypdfium2": ["qa_bot/documents/ingest/formats/pages/pdfium.py"],
    "rank_bm25": ["qa_lab/evaluate/answers.py"],
    "rich": [
        "qa_bot/terminal/cleaned_console.py",
        "qa_bot/terminal/answer_output.py",
        "qa_bot/terminal/health_output.py",
        "qa_bot/terminal/markdown_output.py",
        "qa_bot/terminal/output.py",
        "qa_bot/terminal/source_output.py",
        "qa_bot/terminal/comparison.py",
        "qa_lab/evaluate/report.py",
        "qa_lab/train/display.py",
        "qa_lab/train/relations/mining_output.py",
    ],
    "safetensors": ["qa_core/networks/checkpoints.py", "qa_lab/fit/multilingual/make_encoder.py"],
    "selectolax": [
        "qa_bot/documents/ingest/formats/markup/html.py",
        "qa_bot/documents/ingest/formats/markup/webpage",
    ],
    "scipy": ["qa_core/measures", "qa_core/training/conditional_logit.py"],
    "sklearn": ["qa_core/measures/plots.py", "qa_bot/answering/confidence/logistic_regression.py", "qa_lab"],
    "sqlalchemy": [
        "qa_bot/home/store",
        "qa_bot/documents/ingest/formats/data/posts.py",  # a scratch file, not the store
    ],
    "Stemmer": ["qa_core/text/analysis.py"],
    "tantivy": ["retrievers/engines/local/keyword.py", "retrievers/engines/local/keyword_writer.py"],
    "threadpoolctl": ["generators/inference/threads.py"],
    "tokenizers": ["qa_core/encoders/tokenisers.py", "qa_lab/fit/multilingual"],
    "tomlkit": ["qa_bot/home/config.py"],
    "transformers": [
        "qa_core/encoders/graphs/export.py",
        "generators/pretrained/transformer_loading.py",  # language models rather than encoders
    ],
    "typer": ["qa_bot/cli", "qa_lab/commands", "qa_lab/studies/commands.py"],
    "uvloop": ["qa_bot/web/server.py"],
    "watchfiles": ["qa_bot/documents/sources/watching.py"],
    "xlrd": ["qa_bot/documents/ingest/formats/sheets/xls.py"],
    "yaml": ["qa_bot/documents/ingest/formats/markup/front_matter.py"],
    "yarl": ["qa_bot/documents/websites/urls.py"],
}
"""Library → the files or rooms that may import it."""

HEAVY = (
    *("torch", "numpy", "sqlalchemy", "tantivy", "faiss", "onnxruntime", "nltk", "transformers", "opentelemetry"),
    "pyoxigraph",
)


class Contents(NamedTuple):
    """What the rules read of a file."""

    libraries: frozenset[str]
    """Top-level names of everything that it imports, also inside functions and by `import_module`."""
    functions: tuple[tuple[str, int], ...]
    """Name and lines, without the docstring, of each function."""


@cache
def contents(path: Path) -> Contents:
    """Parses a file once: three rules read them all."""
    names: set[str] = set()
    functions = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(module)), *_]):
                names.add(module)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                first = node.body[0]
                docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) is not None else 0
                functions.append((node.name, node.end_lineno - node.lineno + 1 - docstring))
    return Contents(frozenset(name.partition(".")[0] for name in names), tuple(functions))


@pytest.fixture(scope="module")
def importers() -> dict[str, set[str]]:
    """Third-party library → the files that import it."""
    ignored = {*sys.stdlib_module_names, *PACKAGES, *DATA_TYPES, "_typeshed"}
    importers = defaultdict(set)
    for name, path in FILES.items():
        for library in contents(path).libraries - ignored:
            importers[library].add(name)
    return importers


def python(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def heavy_modules(code: str) -> set[str]:
    """The heavy libraries that are loaded after `code` has run."""
    out = python(f"{code}\nimport sys\nprint('\\n', *set({HEAVY}).intersection(sys.modules))")
    return set(out.splitlines()[-1].split())


def test_packages_import_only_those_below_them() -> None:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_import_cycles_between_files() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # CycleError names the files


def test_libraries_are_imported_in_one_place(importers: dict[str, set[str]]) -> None:
    elsewhere = {
        library: outside
        for library, files in importers.items()
        if (outside := sorted(file for file in files if not file.startswith(tuple(IMPORTERS.get(library, ["/"])))))
    }
    assert elsewhere == {}, "import these through the file that IMPORTERS names, or add the library there"
    assert IMPORTERS.keys() <= importers.keys()


def test_nothing_is_pickled() -> None:
    assert [name for name, path in FILES.items() if "pickle" in contents(path).libraries] == []


def test_files_and_functions_are_short_and_rooms_small() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()}
    lengths = {f"{file}:{name}": length for file, path in FILES.items() for name, length in contents(path).functions}
    rooms = Counter(name.rpartition("/")[0] for name in FILES)
    beside = (path for folder in ("benchmarks", "tests") for path in (ROOT / folder).rglob("*.py"))
    lines |= {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in beside}
    assert {name for name, count in lines.items() if count > FILE_LINES} == set()
    assert {name for name, length in lengths.items() if length > FUNCTION_LINES} == set()
    assert {room for room, count in rooms.items() if count > ROOM_FILES} == set()


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("from qa_bot.cli.app import run\nassert run(['--help']) == 0", set()),
        ("from qa_bot.cli.app import run\nassert run(['eval', 'workplace', '--help']) == 0", set()),
        ("import qa_bot", {"numpy"}),
        ("import qa_core.types", {"numpy"}),
    ],
)
def test_heavy_libraries_load_when_they_are_used(code: str, allowed: set[str]) -> None:
    assert heavy_modules(code) <= allowed


def test_an_answer_needs_neither_a_database_nor_a_parser_of_triples() -> None:
    loaded = heavy_modules("import qa_bot.bot, qa_bot.answering.graph.facts, qa_bot.home.journal")
    assert loaded & {"sqlalchemy", "pyoxigraph"} == set()


@pytest.mark.parametrize("options", [[], ["--persona", "captain"]], ids=["plain", "persona"])
def test_an_answer_needs_no_training_library(home: Path, options: list[str]) -> None:
    """Nor nltk if its data is not installed: rules replace it."""
    arguments = ["--home", str(home), "ask", "Why do cats sleep all day?", *options]
    code = f"from qa_bot.cli.app import run\nassert run({arguments}) in (0, 3)"
    assert heavy_modules(code) & {"torch", "transformers", "nltk"} == set()


def test_personas_of_the_chat_page_need_no_training_library(home: Path) -> None:
    code = f"""
import asyncio
from qa_bot.bot import Bot
from qa_bot.web.app import make_app
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService
bot = Bot.open({str(home)!r})
service = AnswerService(bot, Metrics(), workers=1, queue=1)
assert asyncio.run(service.speak("captain", ["Good morning!"], hint="the sea", deadline=60)).lines
assert bot.voices.chart("the sea").posterior is not None
bot.voices.open()"""
    assert heavy_modules(code) & {"torch", "transformers", "nltk"} == set()


@pytest.mark.parametrize("order", [("torch", "faiss"), ("faiss", "torch")])
def test_faiss_and_torch_load_in_either_order(order: tuple[str, str]) -> None:
    work = {
        "faiss": "from retrievers.engines.local.dense import faiss\n"
        "index = faiss.IndexFlatIP(8)\nindex.add(np.eye(8, dtype='f'))",
        "torch": "import torch\nassert float(torch.ones(64, 64).matmul(torch.ones(64, 64))[0, 0]) == 64",
    }
    code = "import numpy as np\n" + "\n".join(work[name] for name in order)
    code += "\nprint(index.search(np.eye(8, dtype='f'), 1)[1].ravel().tolist())\n" + work["torch"]
    assert python(code).strip() == str(list(range(8)))
