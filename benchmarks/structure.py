"""What structure brings: questions over documents as they were read, and over the same text without its structure.

    python benchmarks/structure.py FOLDER QUESTIONS.jsonl [--encoder starter-table]

The running text keeps all words, paragraphs, titles and files, and rows with the names of their columns.
Headings, lists, steps, tables and code become lines of a paragraph.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from qa_bot.home.encoders import STARTER
from qa_core.text.markdown.plain import as_plain_text
from qa_lab.evaluate.workplace.evaluation import compared, evaluate_workplace
from qa_lab.evaluate.workplace.tables import text
from qa_lab.reference.documents import read_documents


def running_text(data: Path) -> Iterator[str]:
    """A line of JSON for each document that a folder's readers give."""
    for document in read_documents(data):
        plain = as_plain_text(document.text) if document.markdown else document.text
        yield json.dumps({"id": document.id, "title": document.title, "text": _without_layout(plain)})


def _without_layout(plain: str) -> str:
    """Paragraphs on one line each, with single blanks."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in plain.split("\n\n"))
    return "\n\n".join(filter(None, paragraphs))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="FOLDER")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--encoder", default=STARTER)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        flat = Path(folder) / "running-text.jsonl"
        flat.write_text("\n".join(running_text(options.data)) + "\n", encoding="utf-8")
        results = [
            *evaluate_workplace(flat, options.questions, encoders=[options.encoder]),
            *evaluate_workplace(options.data, options.questions, encoders=[options.encoder]),
        ]
    flat_result, structured = compared(results)
    gain = structured.versus
    sys.stdout.write(f"{text([flat_result, structured])}\n")
    if gain is not None:
        sys.stdout.write(f"gain by structure: {gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]\n")


if __name__ == "__main__":
    main()
