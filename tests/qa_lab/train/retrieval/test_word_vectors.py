import json
from dataclasses import replace
from pathlib import Path

import pytest

from qa_core.vectors.word_vectors import read_vectors
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.evaluate.words.words import evaluate_words
from qa_lab.train.request import Request
from qa_lab.train.retrieval.word_vectors import WORDS

MODEL = "words"


def test_a_run_writes_vectors_that_other_verbs_read(request_: Request) -> None:
    outcome = WORDS.run(request_)
    vectors = read_vectors(request_.out / "vectors.txt")
    assert (len(vectors), vectors.dimension) == (outcome.words, 8)
    assert outcome.tokens > outcome.words
    assert (outcome.texts, outcome.held_out) == (39, 16)  # of 60, of which 5 repeat
    assert (outcome.measure, outcome.figures) == ("log-likelihood", {})
    assert outcome.after < 0
    assert f"{outcome.words:,} words have a vector" in outcome.text(request_.out)
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("texts.txt", f"{outcome.after:.3f}"))
    config = json.loads((request_.out / "config.json").read_text())
    assert (config["kind"], config["figures"]["words"]) == ("words", outcome.words)
    assert (request_.out / "curve.csv").is_file()


def test_lists_of_scored_pairs_choose_the_epoch(request_: Request, tmp_path: Path) -> None:
    scored = tmp_path / "scored.txt"
    scored.write_text("sea\twave\t9\nsea\tsiege\t1\nbread\tflour\t8\nbread\ttank\t2\n")
    outcome = WORDS.run(replace(request_, dev=str(scored)))
    assert (outcome.measure, outcome.held_out) == ("spearman", 0)
    (row,) = evaluate_words(scored, models=[request_.out])
    assert row.scores["spearman"].mean == pytest.approx(outcome.after)
    assert outcome.rows == {"spearman": outcome.after, "scored": outcome.after}


def test_glove(request_: Request, tmp_path: Path) -> None:
    config = tmp_path / "glove.toml"
    config.write_text('model = "glove"\nminimum = 1\n[glove]\ndimension = 5\nepochs = 30\nmaximum = 2.0\n')
    few, many = (
        WORDS.run(replace(request_, config=config, out=tmp_path / str(number), limit=number)) for number in (20, 60)
    )
    assert (many.measure, many.tokens > few.tokens) == ("negative error", True)
    assert read_vectors(tmp_path / "60" / "vectors.txt").dimension == 5
    assert "| model | glove |" in (tmp_path / "60" / "README.md").read_text()
    assert WORDS.epochs(replace(request_, config=config)) == 30


def test_bad_settings_and_data(request_: Request, tmp_path: Path) -> None:
    config = tmp_path / "bad.toml"
    config.write_text("[skip_gram]\nwindow = 0\n")
    with pytest.raises(SettingsError, match=r"positive numbers, but got skip_gram.window = 0"):
        WORDS.run(replace(request_, config=config))
    config.write_text("minimum = 1000\n")
    with pytest.raises(TrainingError, match="at least 1000 times, but got 0"):
        WORDS.run(replace(request_, config=config))
    with pytest.raises(TrainingDataError, match="a share between 0 and 1"):
        WORDS.run(replace(request_, dev="1.5"))
