"""Write the shipped table of synonyms, `qa_core/text/synonyms.tsv`, from WordNet 3.0 with nltk's reader.

A line holds a word and the other words of its sense, between tabs. A word is listed if it has exactly one sense over
all parts of speech; inflected forms are listed too. Lines are in the order of their bytes.

    python -m qa_lab.fit.synonym_table --data DIR --out qa_core/text/synonyms.tsv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qa_core.atomic import atomic_file

PARTS = ("n", "v", "a", "r")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of nltk's data with WordNet 3.0")
    parser.add_argument("--out", type=Path, required=True, help="table to write")
    options = parser.parse_args(arguments)
    write_table(options.data, options.out)


def write_table(data: Path, out: Path) -> None:
    """Write the table from `corpora/wordnet` of a folder of nltk's data."""
    import nltk
    from nltk.corpus import wordnet

    nltk.data.path.insert(0, str(data))
    table = {word: others for word in inflected(wordnet) if (others := synonyms(wordnet, word))}
    lines = sorted("\t".join((word, *others)).encode() + b"\n" for word, others in table.items())
    with atomic_file(out) as file:
        file.writelines(lines)


def synonyms(reader: Any, word: str) -> tuple[str, ...]:
    """The other words of the only sense of `word`, in lower case; () if it has none or several."""
    senses = reader.synsets(word)
    if len(senses) != 1:
        return ()
    forms = {word, *(form for part in PARTS for form in reader._morphy(word, part))}
    lemmas = dict.fromkeys(lemma.casefold() for lemma in senses[0].lemma_names())
    return tuple(lemma.replace("_", " ") for lemma in lemmas if lemma not in forms)


def inflected(reader: Any) -> Iterator[str]:
    """Every single word that WordNet's rules and exceptions reduce to one of its lemmas; each once."""
    words: set[str] = set()
    for part in PARTS:
        lemmas = {lemma for lemma in reader.all_lemma_names(part) if "_" not in lemma}
        words |= lemmas | reader._exception_map[part].keys()
        for ending, base in reader.MORPHOLOGICAL_SUBSTITUTIONS[part]:
            words |= {lemma.removesuffix(base) + ending for lemma in lemmas if lemma.endswith(base)}
    yield from (word for word in words if "_" not in word)


if __name__ == "__main__":
    main()
