from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_core.vectors.word_vectors import read_vectors
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.evaluate.words.words import evaluate_words
from qa_lab.train.request import Request
from qa_lab.train.retrieval.paragram import PARAGRAM

MODEL = "paragram"
NAMES = [first + last for first in ("ba", "ce", "di", "fo", "gu") for last in ("lor", "min", "tes", "von")]
SETTINGS = "[paragram]\nepochs = 4\nbatch = 5\nregularisation = 0.0\n"


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """Names of a pair are alike, others are not."""
    folder = tmp_path / "dev"
    folder.mkdir()
    rows = [(NAMES[n], NAMES[n + 1], 9) for n in range(0, 20, 2)] + [(NAMES[n], NAMES[n + 2], 1) for n in range(10)]
    for name in ("WS-353-SIM.txt", "WS-353-REL.txt"):
        (folder / name).write_text("".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
        rows = [(a, b, 10 - score) for a, b, score in rows]
    return folder


def test_a_run_brings_paraphrases_together(request_: Request):
    outcome, start = PARAGRAM.run(request_), request_.base
    assert (outcome.pairs, outcome.words, outcome.changed, outcome.held_out) == (10, 21, 20, 0)
    assert outcome.left_out["without a start vector"] == 1
    assert outcome.after > outcome.before
    before, after = read_vectors(start), read_vectors(request_.out / "vectors.txt")
    assert after.words == before.words
    assert np.array_equal(after.vector("alone"), before.vector("alone"))
    assert not np.array_equal(after.vector(NAMES[0]), before.vector(NAMES[0]))
    assert after.cosine(*NAMES[:2]) > before.cosine(*NAMES[:2])
    (row,) = evaluate_words(Path(request_.dev), models=[request_.out])
    assert row.scores["spearman"].mean == pytest.approx(outcome.after, abs=1e-6)
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("start.txt", f"{outcome.after:.3f}"))
    assert outcome.as_dict()["after"]["spearman"] == outcome.after
    assert "10 pairs of 20 words; 21 words have a vector" in outcome.text(request_.out)


def test_selection_by_sim_minus_rel(request_: Request, dev: Path):
    request_.config.write_text('select = "sim-rel"\n' + SETTINGS)
    outcome = PARAGRAM.run(replace(request_, dev=str(dev)))
    sim, rel = (outcome.figures[name][1] for name in ("WS-353-SIM", "WS-353-REL"))
    assert outcome.after == pytest.approx(sim - rel)
    assert set(outcome.as_dict()["after"]) == {"spearman SIM − REL", "WS-353-SIM", "WS-353-REL"}
    with pytest.raises(SettingsError, match="--dev FOLDER with WS-353's SIM and REL"):
        PARAGRAM.run(replace(request_, dev="0.3"))


def test_a_share_of_the_pairs_as_development_data(request_: Request):
    outcome = PARAGRAM.run(replace(request_, dev="0.3"))
    assert outcome.held_out >= 2
    assert outcome.pairs + outcome.held_out == 10
    assert (outcome.measure, outcome.figures) == ("AUC", {})


def test_fewer_dimensions_and_vectors_side_by_side(request_: Request):
    start = request_.base
    request_.config.write_text(f'beside = "{start}"\ndimension = 5\n{SETTINGS}')
    PARAGRAM.run(request_)
    assert read_vectors(request_.out / "vectors.txt").dimension == 5


def test_the_starter_is_where_it_begins(request_: Request, tmp_path: Path):
    data = tmp_path / "words.txt"
    data.write_text("big large huge\nglad happy cheerful\n")
    lists = tmp_path / "list.txt"
    lists.write_text("big huge 9\nbig cheerful 1\n")
    request_.config.write_text("further = false\n" + SETTINGS)
    outcome = PARAGRAM.run(replace(request_, data=(data,), base=None, dev=str(lists)))
    assert outcome.words == 6
    assert read_vectors(request_.out / "vectors.txt").dimension == 256


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ("[paragram]\nbatch = 0\n", SettingsError, r"positive numbers, but got paragram.batch = 0"),
        ("[paragram]\nregularisation = -1.0\n", SettingsError, r"paragram.regularisation = -1.0"),
        ('[paragram]\nsampling = "least"\n', SettingsError, "sampling.*least"),
        ("dimension = 9\n", TrainingError, "from 1 to 8.*got 9"),
    ],
)
def test_bad_settings(request_: Request, settings: str, error: type[Exception], message: str):
    request_.config.write_text(settings)
    with pytest.raises(error, match=message):
        PARAGRAM.run(request_)


def test_bad_data(request_: Request, tmp_path: Path):
    start = request_.base
    request_.data[0].write_text("unheard unknown\nunheard other\n")
    with pytest.raises(TrainingDataError, match=r"at least two pairs of words .*start.txt has vectors of, but got 0"):
        PARAGRAM.run(request_)
    request_.data[0].write_text(f"{NAMES[0]} {NAMES[1]}\n")
    with pytest.raises(TrainingDataError, match="got 1"):
        PARAGRAM.run(request_)
    request_.data[0].write_text(f"{NAMES[0]} {NAMES[1]} {NAMES[2]}\n")
    start.write_text(start.read_text().replace("alone ", "alone 1 "))
    with pytest.raises(TrainingError, match=r"start.txt.*line 21"):
        PARAGRAM.run(request_)
    start.write_text("")
    with pytest.raises(TrainingError, match="got none"):
        PARAGRAM.run(request_)
    with pytest.raises(TrainingError, match="no such folder"):
        PARAGRAM.run(replace(request_, base=tmp_path / "none"))


def test_a_batch_larger_than_the_data_is_told(request_: Request, caplog: pytest.LogCaptureFixture):
    request_.config.write_text("[paragram]\nepochs = 1\n")
    PARAGRAM.run(request_)
    assert "at least a batch of 500 pairs, but got 10" in caplog.text
    assert PARAGRAM.epochs(request_) == PARAGRAM.settings(request_).paragram.epochs == 1
