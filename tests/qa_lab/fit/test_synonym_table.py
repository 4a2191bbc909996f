from __future__ import annotations

from pathlib import Path

from qa_lab.fit.synonym_table import write_table

# Synsets by part of speech: the words of one sense each, in WordNet's spelling.
SENSES = {
    "noun": [["aspirin", "Bayer", "acetylsalicylic_acid"], ["bank"], ["bank", "side"], ["mouse"], ["wolf"], ["axis"]],
    "verb": [["dictate", "prescribe"], ["mouse"], ["quip"], ["pay"]],
    "adj": [["able(p)", "capable"], ["big", "large"]],
    "adv": [["quickly", "rapidly", "speedily"]],
}
EXCEPTIONS = {"noun": "mice mouse\naxes axis\n", "verb": "quipped quip\n", "adj": "", "adv": ""}
LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
EXPECTED = {
    "aspirin": ["bayer", "acetylsalicylic acid"],
    "bayers": ["aspirin", "acetylsalicylic acid"],
    "prescribes": ["dictate"],
    "prescribing": ["dictate"],
    "capable": ["able"],
    "larger": ["big"],
    "quickly": ["rapidly", "speedily"],
    "side": ["bank"],
}


def write_wordnet(folder: Path) -> None:
    """A tiny WordNet in the format of wndb(5WN)."""
    folder.mkdir(parents=True)
    for part, senses in SENSES.items():
        data = "  1 licence\n"
        index: dict[str, list[str]] = {}
        for words in senses:
            offset = f"{len(data):08d}"
            data += (
                f"{offset} 06 {LETTERS[part]} {len(words):02x} {' '.join(f'{word} 0' for word in words)} 000 | gloss\n"
            )
            for word in words:
                index.setdefault(word.partition("(")[0].lower(), []).append(offset)
        lines = [
            f"{word} {LETTERS[part]} {len(at)} 1 @ {len(at)} 0 {' '.join(at)}  \n" for word, at in sorted(index.items())
        ]
        (folder / f"data.{part}").write_text(data)
        (folder / f"index.{part}").write_text("  1 licence\n" + "".join(lines))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
    (folder / "lexnames").write_text("".join(f"{number:02d}\tname{number}\t1\n" for number in range(45)))
    (folder / "index.sense").touch()


def test_the_table_lists_words_with_one_sense(tmp_path: Path) -> None:
    write_wordnet(tmp_path / "nltk" / "corpora" / "wordnet")
    write_table(tmp_path / "nltk", tmp_path / "table.tsv")
    lines = [line.split("\t") for line in (tmp_path / "table.tsv").read_text().splitlines()]
    table = {word: others for word, *others in lines}
    assert {word: table.get(word) for word in EXPECTED} == EXPECTED
    assert not {"bank", "mouse", "mice", "wolves", "axes", "quipped", "acetylsalicylic_acid"} & table.keys()
    assert list(table) == sorted(table)
