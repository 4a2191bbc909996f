import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.train.rankers.hyperqa import HYPERQA
from qa_lab.train.rankers.hyperqa_readouts import FILES, bands, levels
from qa_lab.train.rankers.hyperqa_settings import COMPARED, DEFAULTS
from qa_lab.train.request import Request
from rankers.answer_selection.compared import ComparedRanker
from rankers.answer_selection.hyperqa import HyperQA, HyperShape
from rankers.answer_selection.siamese_cosine import SiameseCosineRanker
from rankers.training.answer_pool import AnswerPool

MODEL = "hyperqa"
NAMES = [first + last for first in ("ba", "ce", "di", "fo") for last in ("lor", "min", "tes", "von", "zar")][:16]


def test_a_run_leaves_a_ranker_with_card_curve_and_read_outs(request_: Request, tmp_path: Path):
    outcome = HYPERQA.run(replace(request_, plots=True))
    assert outcome.questions + outcome.held_out == 16
    assert outcome.parameters == 8 * 12 + 12 + 2
    scorer = HyperQA.load(request_.out)
    scores = scorer.score([("where does balor live", "balor lives at home"), ("", "🙂")])
    assert np.isfinite(scores).all()
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| model | hyperqa |", f"{outcome.after.ap:.3f}"))
    assert {path.name for path in request_.out.iterdir()} >= {"curve.png", *FILES}
    assert outcome.as_dict()["after"] == {"AP": outcome.after.ap, "RR": outcome.after.rr}
    table = json.loads((request_.out / "readouts.json").read_text())
    assert sum(band["count"] for band in table["bands"].values()) == 4 + len(NAMES) + 2 - missing(table)
    assert table["norms"]["questions"]["count"] == outcome.held_out


def missing(table) -> int:
    """Names that are in no held-out text."""
    seen = {word for band in table["bands"].values() for word in band["words"]}
    return len(set(NAMES) - seen)


def test_words_by_norm(request_: Request):
    HYPERQA.run(request_)
    scorer = HyperQA.load(request_.out)
    pool = AnswerPool(("where home",), ("live at home",), np.array([0]), np.array([0]), np.array([True]))
    by_band = bands(scorer, pool)
    norms = dict(zip(("where", "home", "live", "at"), scorer.word_norms(["where", "home", "live", "at"]), strict=True))
    for number, band in enumerate(by_band.values()):
        assert set(band["words"]) == {word for word, norm in norms.items() if min(int(norm), 5) == number}
    assert list(by_band) == ["0-1", "1-2", "2-3", "3-4", "4-5", "5 and above"]
    table = levels(scorer, "where home", "live at home")["levels"]
    assert min(norms, key=norms.get) in [*table["H1"]["question"], *table["H1"]["answer"]]
    assert max(norms, key=norms.get) in [*table["H5"]["question"], *table["H5"]["answer"]]
    assert sum(len(side) for level in table.values() for side in level.values()) == 5
    assert levels(scorer, "", "")["levels"]["H1"] == {"question": [], "answer": []}


OTHERS = {"cosineqa": HyperQA} | dict.fromkeys(("qa-bilstm", "qa-cnn", "ap-bilstm", "ap-cnn"), SiameseCosineRanker)


SINGLE, PAIRED = "lstm", "arc-i"
"""A compared network that learns from single pairs, and one from right and wrong answers."""


SLOW = frozenset(OTHERS) - {"cosineqa"}


@pytest.mark.parametrize(
    "model",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in (*OTHERS, SINGLE, PAIRED)],
)
def test_the_others(request_: Request, model: str):
    table = "compared" if model in COMPARED else "peer"
    request_.config.write_text(
        f'model = "{model}"\n' + request_.config.read_text() + f"[{table}]\nhidden = 4\nfilters = 6\n"
    )
    outcome = HYPERQA.run(request_)
    assert outcome.model == model
    assert 0 <= outcome.before.ap <= 1
    scorer = OTHERS.get(model, ComparedRanker).load(request_.out)
    assert scorer.parameters == outcome.parameters
    again = HYPERQA.run(replace(request_, base=request_.out, out=request_.out.parent / "again"))
    assert again.before == outcome.after


def test_development_data_of_its_own(request_: Request, write_lines: Callable[..., Path]):
    dev = write_lines("dev.tsv", "1\tq one\thome\t1", "1\tq one\tat\t0", "2\tq two\thome\t1")
    outcome = HYPERQA.run(replace(request_, dev=str(dev)))
    assert (outcome.questions, outcome.held_out) == (16, 1)  # one-sided questions do not count


def test_defaults_are_small_enough():
    assert DEFAULTS["hyperqa"].hyper.projection * 257 + 2 <= 90_000
    assert {name: settings.model for name, settings in DEFAULTS.items()} == {name: name for name in DEFAULTS}
    assert HYPERQA.settings(Request((), Path("out"))).pretrained == "starter"


def test_bad_requests(request_: Request, write_lines: Callable[..., Path], tmp_path: Path):
    right = write_lines("right.tsv", *(f"{n}\tq {name}\thome {name}\t1" for n, name in enumerate(NAMES)))
    settings = request_.config.read_text()

    def config(name, text) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    cases: list[tuple[Request, type[Exception], str]] = [
        (replace(request_, data=(right,)), TrainingDataError, "questions with right and wrong answers to hold out"),
        (replace(request_, data=(right,), dev=str(request_.data[0])), TrainingError, "all 16 are right"),
        (replace(request_, base=tmp_path / "none"), SettingsError, "got no folder"),
        (replace(request_, config=config("a", settings + "edge = 2.0\n")), TrainingError, r"edge = 2\.0"),
        (replace(request_, config=config("b", settings + 'distance = "cosine"\n')), SettingsError, "makes hyperqa"),
        (replace(request_, config=config("c", "learning_rate = 0.0\n")), SettingsError, r"learning_rate = 0\.0"),
        (replace(request_, config=config("e", 'model = "hyper"\n')), SettingsError, "hyperqa"),
        (replace(request_, config=config("f", 'pretrained = "none.txt"\n')), SettingsError, r"none\.txt"),
    ]
    for bad, kind, reason in cases:
        with pytest.raises(kind, match=reason):
            HYPERQA.run(bad)
        assert not request_.out.exists()


def test_the_paper_preset_has_riemannian_gradients(request_: Request):
    for text, expected in (('preset = "paper"\n', "embeddings"), ("", "off")):
        request_.config.write_text(text)
        assert HYPERQA.settings(request_).hyper == HyperShape(riemannian=expected)
    request_.config.write_text('preset = "paper"\nmodel = "cosineqa"\n')
    assert HYPERQA.settings(request_).hyper == DEFAULTS["cosineqa"].hyper


@pytest.mark.parametrize("cores", [1, 3])
def test_training_computes_alike_with_any_number_of_cores(request_: Request, cores: int):
    """A test of bytes alone would pass by chance: small products are not cut."""
    seen = []
    before = torch.get_num_threads()
    torch.set_num_threads(cores)
    try:
        HYPERQA.run(
            request_,
            on_progress=lambda _: seen.append((torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())),
        )
        assert set(seen) == {(2, True)}
        assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == (cores, False)
    finally:
        torch.set_num_threads(before)
