"""Writes the shipped table of German synonyms, `qa_core/text/german_synonyms.tsv`, from OpenThesaurus.

    python -m qa_lab.fit.language.synonym_table --thesaurus th_de_DE_v2.dat --out qa_core/text/german_synonyms.tsv

The thesaurus is in the format of MyThes: a line `word|N`, then N lines `-|word|word (note)|…`, a sense each. A line of
the table holds a word and the words of its senses that are written with a capital like it, or without one, between
tabs. More general and narrower words are left out, and so are crude and outdated ones. Lines are in the order of
their bytes.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from qa_core.atomic import atomic_file

MOST = 24
"""Synonyms of a word."""
_NOTE = re.compile(r"\(([^)]*)\)")
_LEFT_OUT = ("Oberbegriff", "Unterbegriff", "Teil-", "Antonym", "Assoziation", "derb", "vulg", "veraltet")
_WORD = re.compile(r"[^\W\d_]{3,24}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thesaurus", type=Path, required=True, help="file of OpenThesaurus in the format of MyThes")
    parser.add_argument("--out", type=Path, required=True, help="table to write")
    options = parser.parse_args(arguments)
    with options.thesaurus.open(encoding="utf-8") as lines:
        table = synonyms(senses(lines))
    with atomic_file(options.out) as file:
        file.writelines(sorted("\t".join((word, *others)).encode() + b"\n" for word, others in table.items()))


def senses(lines: Iterable[str]) -> Iterator[list[str]]:
    """The single words of each distinct sense, without those of other kinds (`_LEFT_OUT`)."""
    seen: set[tuple[str, ...]] = set()
    for line in lines:
        if not line.startswith("-|"):
            continue
        entries = [entry for entry in line.strip().split("|")[1:] if not any(kind in entry for kind in _LEFT_OUT)]
        words = [" ".join(_NOTE.sub(" ", entry).split()) for entry in entries]
        sense = tuple(dict.fromkeys(word for word in words if _WORD.fullmatch(word)))
        if len(sense) > 1 and sense not in seen:
            seen.add(sense)
            yield list(sense)


def synonyms(of_senses: Iterable[list[str]]) -> dict[str, list[str]]:
    """The other words of the senses of each word, in the same case, at most `MOST`."""
    table: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for sense in of_senses:
        for word in sense:
            others = (other for other in sense if other != word and other[0].isupper() == word[0].isupper())
            table[word].update(dict.fromkeys(others))
    return {word: list(others)[:MOST] for word, others in table.items() if others}


if __name__ == "__main__":
    main()
