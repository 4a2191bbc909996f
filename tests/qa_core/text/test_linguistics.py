from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa_core.text import linguistics
from qa_core.text.wordnet import FILES

# Lexicographer files, lexnames(5WN): nltk wants their table, which Debian's packages lack; only the number counts here.
LEXNAMES = "".join(f"{number:02d}\tname{number}\t1\n" for number in range(45))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty nltk data folder, the only one there is."""
    folder = tmp_path / "nltk_data"
    folder.mkdir()
    monkeypatch.setenv("NLTK_DATA", str(folder))
    monkeypatch.setattr(linguistics, "_data_folders", lambda named: [Path(named)])
    linguistics.synonyms.cache_clear()
    yield folder
    linguistics.synonyms.cache_clear()


def run(code: str, data: Path) -> str:
    environment = os.environ | {"NLTK_DATA": str(data)}
    python = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(python, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_is_needed(data: Path) -> None:
    assert linguistics.available() == {"stopwords": False, "wordnet": False, "averaged_perceptron_tagger_eng": False}
    assert linguistics.synonyms("aspirin") == ()
    assert {"the", "don't", "she's", "of"} <= linguistics.stop_words()
    assert not {"gluten", "no-one", ""} & linguistics.stop_words()
    for careful in (False, True):
        assert linguistics.noun_phrases("Do the tablets contain gluten?", careful=careful) == ["tablets", "gluten"]


def test_other_languages_have_no_english_noun_phrases(data: Path) -> None:
    assert linguistics.noun_phrases("Wer ist der Präsident von Frankreich?") == []


def test_stop_words_of_nltk_come_first(data: Path) -> None:
    (data / "corpora/stopwords").mkdir(parents=True)
    (data / "corpora/stopwords/english").write_text("foo\nbar\n")
    assert linguistics.stop_words() == {"foo", "bar"}
    assert linguistics.available()["stopwords"]


def test_a_folder_without_all_of_wordnet_is_passed_over(data: Path) -> None:
    (data / "corpora/wordnet").mkdir(parents=True)
    (data / "corpora/wordnet/index.noun").touch()
    assert not linguistics.available()["wordnet"]
    assert linguistics.synonyms("cat") == ()


def test_questions_do_not_wait_for_nltk(data: Path) -> None:
    code = (
        "import sys; from qa_core.text.linguistics import *; available(); stop_words(); synonyms('cat');"
        "noun_phrases('the cat', careful=True); print([m for m in ('nltk', 'scipy', 'syntok') if m in sys.modules])"
    )
    assert run(code, data) == "[]"


def test_careful_noun_phrases_ask_nltks_tagger_where_it_is_installed(data: Path) -> None:
    folder = data / "taggers/averaged_perceptron_tagger_eng"
    folder.mkdir(parents=True)
    tags = {"Do": "VBP", "rapid": "JJ", "eats": "VBZ", "gluten": "NN", "tests": "NNS", "?": "."}
    for name, content in {"weights": {}, "tagdict": tags, "classes": sorted(set(tags.values()))}.items():
        (folder / f"averaged_perceptron_tagger_eng.{name}.json").write_text(json.dumps(content))
    code = """
import os, nltk
from qa_core.text.linguistics import _data_folders, noun_phrases
print(noun_phrases("Do eats rapid gluten tests ?", careful=True))
print(list(map(str, _data_folders(os.environ["NLTK_DATA"]))) == list(map(str, nltk.data.path)))
"""
    assert run(code, data).splitlines() == ["['rapid gluten tests']", "True"]


def test_synonyms_are_those_of_nltk(data: Path) -> None:
    """nltk is the oracle, over every 400th noun, irregular verbs and common words."""
    installed = Path(os.environ.get("QA_BOT_WORDNET", "/usr/share/wordnet"))
    if not all((installed / name).is_file() for name in FILES):
        pytest.skip(
            f"WordNet's files are not in {installed}: install wordnet-base, or name their folder in QA_BOT_WORDNET"
        )
    folder = data / "corpora/wordnet"
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copy(installed / name, folder)
    (folder / "index.sense").touch()
    (folder / "lexnames").write_text(LEXNAMES)

    expected = json.loads(run(ORACLE, data))
    assert len(expected) > 300
    assert {word: list(linguistics.synonyms(word)) for word in expected} == expected
    assert linguistics.synonyms("aspirin") == ("acetylsalicylic acid", "bayer", "empirin", "st. joseph")


ORACLE = """
import json, os, pathlib
from nltk.corpus import wordnet
folder = pathlib.Path(os.environ["NLTK_DATA"], "corpora/wordnet")
nouns = [line.split()[0] for line in (folder / "index.noun").read_text().splitlines() if line[0] != " "]
verbs = [line.split()[0] for line in (folder / "verb.exc").read_text().splitlines()]
def synonyms(word):
    senses = wordnet.synsets(word)
    own = {word, *(form for part in "nvar" for form in wordnet._morphy(word, part))}
    lemmas = senses[0].lemma_names() if len(senses) == 1 else []
    return [l.replace("_", " ") for l in dict.fromkeys(map(str.casefold, lemmas)) if l not in own]
words = nouns[::400] + verbs[::40] + "cats treated aspirin diabetes prescribing larger mice leaves bus".split()
print(json.dumps({word: synonyms(word) for word in words}))
"""
