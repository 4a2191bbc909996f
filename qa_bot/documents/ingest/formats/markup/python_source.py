"""Python source files: the docstrings of a module, its classes and functions under their qualified names."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.text import text_blocks
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Notice, Record, Reject

LONGEST_SIGNATURE = 1000  # characters
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the file's stem as its title; a file without docstrings has none."""
    source = file.text()
    if not source.strip():
        return
    try:
        with warnings.catch_warnings(action="ignore"):  # invalid escapes
            tree = ast.parse(source)
        writer = MarkdownWriter()
        _write_docstring(writer, ast.get_docstring(tree, clean=False))
        _write_definitions(writer, tree.body, "")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) and error.lineno else 1
        yield Reject(f"{file.where}:{line}", f"Expected Python 3, but got {error or type(error).__name__}; correct it.")
        return
    if not writer.text:
        yield Notice(f"{file.where}:1", "The file has no docstrings and is left out; `--format text` reads its code.")
        return
    text = file.repairs.clean(writer.text)
    yield Record(file.name, file.stem, text, where=f"{file.where}:1", markdown=True)


def _write_definitions(writer: MarkdownWriter, body: list[ast.stmt], prefix: str) -> None:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            _write_definitions(writer, node.body, prefix)
        elif isinstance(node, Definition):
            name = f"{prefix}{node.name}"
            docstring = ast.get_docstring(node, clean=False)
            if docstring:
                writer.heading(2 + name.count("."), name)
                writer.code(_signature(node), "python")
                _write_docstring(writer, docstring)
            if isinstance(node, ast.ClassDef):
                _write_definitions(writer, node.body, f"{name}.")


def _write_docstring(writer: MarkdownWriter, docstring: str | None) -> None:
    """The text of a docstring; its sections are below every definition."""
    if docstring and docstring.strip():
        writer.raw(HEADING.sub("###### ", text_blocks(inspect.cleandoc(docstring))))


def _signature(node: Definition) -> str:
    """`def f(x: int) -> str`, `class C(Base)`."""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, [*node.bases, *(keyword.value for keyword in node.keywords)]))
        text = f"class {node.name}({bases})" if bases else f"class {node.name}"
    else:
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returned = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
        text = f"{word} {node.name}({ast.unparse(node.args)}){returned}"
    return text if len(text) <= LONGEST_SIGNATURE else ""
