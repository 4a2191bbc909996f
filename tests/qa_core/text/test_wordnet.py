from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from qa_core.text.wordnet import FILES, PARTS, WordNet

# Synsets by part of speech: the words of one sense each, in WordNet's spelling.
SENSES = {
    "noun": [["aspirin", "Bayer", "acetylsalicylic_acid"], ["bank"], ["bank", "side"], ["mouse"], ["wolf"], ["axis"]],
    "verb": [["dictate", "prescribe"], ["mouse"], ["quip"], ["pay"]],
    "adj": [["able(p)", "capable"], ["big", "large"]],
    "adv": [["quickly", "rapidly", "speedily"]],
}
EXCEPTIONS = {"noun": "mice mouse\naxes axis\n", "verb": "quipped quip\n", "adj": "", "adv": ""}


def write_wordnet(folder: Path) -> Path:
    """A tiny WordNet, laid out as wndb(5WN) says."""
    folder.mkdir(parents=True)
    for part in PARTS:
        data, index = "  1 licence\n", {}
        for words in SENSES[part]:
            offset = len(data)
            data += (
                f"{offset:08d} 06 {part[0]} {len(words):02x} {' '.join(f'{word} 0' for word in words)} 000 | gloss\n"
            )
            for word in words:
                index.setdefault(word.partition("(")[0].lower(), []).append(f"{offset:08d}")
        lines = [f"{word} {part[0]} {len(at)} 1 @ {len(at)} 0 {' '.join(at)}  \n" for word, at in sorted(index.items())]
        (folder / f"data.{part}").write_text(data)
        (folder / f"index.{part}").write_text("  1 licence\n" + "".join(lines))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
    return folder


@pytest.fixture(params=["folder", "zip"])
def wordnet(request: pytest.FixtureRequest, tmp_path: Path) -> WordNet:
    folder = write_wordnet(tmp_path / "wordnet")
    if request.param == "folder":
        return WordNet(folder)
    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as archive:
        for name in FILES:
            archive.write(folder / name, f"wordnet/{name}")
    return WordNet(tmp_path / "wordnet.zip")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("aspirin", ("bayer", "acetylsalicylic acid")),
        ("acetylsalicylic acid", ("aspirin", "bayer")),
        ("ASPIRIN", ("bayer", "acetylsalicylic acid")),
        ("prescribes", ("dictate",)),
        ("prescribing", ("dictate",)),
        ("capable", ("able",)),
        ("biggest", ()),
        ("larger", ("big",)),
        ("quickly", ("rapidly", "speedily")),
        ("wolves", ()),
        ("axes", ()),
        ("bank", ()),
        ("mice", ()),
        ("side", ("bank",)),
        ("unknown", ()),
        ("", ()),
        ("licence", ()),
        ("zzz", ()),
    ],
)
def test_synonyms_of_words_with_one_sense(wordnet: WordNet, word: str, expected: tuple[str, ...]) -> None:
    assert wordnet.synonyms(word) == expected


def test_an_index_that_does_not_fit_its_data_is_refused(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path / "wordnet")
    data = folder / "data.adv"
    data.write_text("shifted " + data.read_text())
    with pytest.raises(ValueError, match=r"Expected synset 00000012 in data\.adv of .*nltk\.downloader wordnet"):
        WordNet(folder).synonyms("quickly")
