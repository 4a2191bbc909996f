"""Names and phrases that do not belong in the code: `python tests/english.py [PATH…]` lists them with their lines.

A name says what a value is (`payload`, `matches`, `query`, `document`), not what happened to it. A sentence has a
subject, a verb and an object, in the words that an engineer of the field would use.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("qa_core", "retrievers", "rankers", "generators", "kg_index", "qa_bot", "qa_lab", "benchmarks", "tests")

NAMES = {"told", "found", "asked", "each", "wanted", "kept", "given", "said", "own", "here", "tell"}
"""Never the name of a variable, a parameter, a field or a function."""

PROSE = {
    r"\b(no|some|any)body\b": "name the role: the user, the client, the caller",
    r"\btold\b": "“given”, “passed”, “reported”, or the noun",
    r"\bcame of\b": "“the result of”",
    r"\bone door\b|\bside doors?\b": "“the only file that imports …”",
    r"\b(has|have|had) a say\b": "“affects the result”",
    r"\bwhere (there|nothing|none|no|neither|one|it (is|was|has)|they (are|were|have))\b": "“if”",
    r"\btold? (them )?apart\b|\btells? apart\b": "“distinguish”",
    r"\b(is|are|was|were) asked (for|back)\b": "“the caller requests”",
    r"\bstands? (for|in|beside|behind|on|there)\b": "“is”, “means”, “is stored in”",
    r"\bof (its|their|his) own\b": "“a separate …”",
    r"\bby itself\b": "“alone”, or leave it out",
    r"\bwhat (comes|becomes|is left|went|was said)\b": "name the thing",
    r"\bso (many|much|often|far) (that|at once|waiting)\b": "give the bound",
    r"\bwho (asks|wants|waits|does|is|reads|comes)\b": "“the user who”, “a client that”",
    r"\bas (soon as|it is|they are|it was|it stands?|it stood)\b": "“unchanged”, “when”",
    r"\bletter (by|for) letter\b": "“unchanged”",
    r"\ball the time in the world\b": "“no deadline”",
    r"\bis no (fault|question|key|error)\b": "“is not a …”",
}
"""Marks of the dialect, in docstrings and comments, and what to write in their place."""

ANY_MARK = re.compile("|".join(f"(?:{pattern})" for pattern in PROSE), re.IGNORECASE)

EXCEPTIONS: dict[str, dict[str, str]] = {
    "qa_bot/conversation/clarification/bare_topics.py": {"who is": "quoted from a question"},
    "qa_bot/home/store/records.py": {"asked": "a column, and a key of the HTTP interface"},
    "qa_bot/home/store/store.py": {"asked": "a column"},
    "qa_bot/transfer/importing.py": {"asked": "a key of exported turns"},
    "qa_bot/web/api/models.py": {"asked": "a key of the HTTP interface"},
    "qa_bot/web/api/owner_models.py": {"asked": "a key of the HTTP interface"},
    "tests/qa_bot/postgres_server.py": {"nobody": "a user of the operating system"},
}
"""File → mark → reason."""


NAMING = (ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Expr)
"""Nodes that name something, or are a docstring."""


def names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Names that the file itself gives: variables, parameters, fields, functions, classes."""
    for node in nodes:
        match node:
            case ast.Name(ctx=ast.Store(), id=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name


def prose(source: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Lines of docstrings (of attributes too), and of comments if any may have a mark: finding them takes long."""
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant(value=str(text), lineno=first)):
                yield from enumerate(text.splitlines(), first)
    if not any(ANY_MARK.search(line, line.index("#")) for line in source.splitlines() if "#" in line):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def marks(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, mark and advice."""
    source = path.read_text(encoding="utf-8")
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, NAMING)]
    allowed = EXCEPTIONS.get(path.relative_to(ROOT).as_posix(), {})
    for line, name in names(nodes):
        if name.strip("_") in NAMES and name.strip("_") not in allowed:
            yield line, name, "name the value"
    for line, text in prose(source, nodes):
        if not ANY_MARK.search(text):
            continue
        for pattern, advice in PROSE.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                if match.group().lower() not in allowed:
                    yield line, match.group(), advice


def main(paths: list[str]) -> int:
    folders = [Path(path).resolve() for path in paths] or [ROOT / package for package in PACKAGES]
    files = sorted(file for folder in folders for file in (folder.rglob("*.py") if folder.is_dir() else [folder]))
    total = 0
    for file in files:
        for line, mark, advice in sorted(marks(file)):
            total += 1
            print(f"{file.relative_to(ROOT)}:{line}: {mark!r}: {advice}")  # noqa: T201
    return int(bool(total))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
