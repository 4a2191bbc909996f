"""Lines of the dialogues that a conversation model was trained on, with a text index: hints for a question.

`qa-bot train chat` with `lines = true` keeps them beside the model. The topics of the lines that a question finds are
hints for the reply (cg-ir in Wang 2018, ch. 8.6.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from qa_core.text.analysis import terms
from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import KeywordIndex

LINES = "dialogues"
"""Folder of the lines within that of a conversation model."""
HINTS = 10
"""Lines that a question finds."""
_TEXTS, _INDEX = "lines.txt", "keyword"


@dataclass(frozen=True, slots=True, eq=False)
class DialogueLines:
    texts: tuple[str, ...]
    index: KeywordIndex

    @classmethod
    def write(cls, folder: Path, lines: Iterable[str]) -> None:
        """Index distinct lines in a new folder, in their order; blanks within a line become single ones."""
        from retrievers.engines.local.keyword_writer import Entry, KeywordWriter

        texts = list(dict.fromkeys(filter(None, (" ".join(line.split()) for line in lines))))
        folder.mkdir(parents=True, exist_ok=True)
        with KeywordWriter(folder / _INDEX) as writer:
            writer.add(Entry(number, number, "", text) for number, text in enumerate(texts))
        (folder / _TEXTS).write_text("\n".join(texts), encoding="utf-8")

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Raises FileNotFoundError for a model without lines."""
        path = folder / _TEXTS
        if not path.is_file():
            raise FileNotFoundError(
                f"Expected lines of dialogues in {folder}, but got none; train the conversation model with "
                "`lines = true`, or choose other hints with `qa-bot config set style.hints answer`."
            )
        return cls(tuple(path.read_text(encoding="utf-8").split("\n")), KeywordIndex(folder / _INDEX))

    def search(self, question: str, count: int = HINTS) -> tuple[str, ...]:
        """The best lines for a question by BM25; ties keep the order of the lines."""
        query = KeywordQuery(tuple((term, 1.0) for term in terms(question)))
        return tuple(self.texts[number] for number in self.index.search(query, count).documents.tolist())
