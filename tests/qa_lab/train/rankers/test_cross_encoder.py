from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_lab.errors import SettingsError, TrainingDataError

pytest.importorskip("transformers", reason="a cross-encoder over a transformer needs the extra 'minilm'")

from qa_bot.answering.models.ranker_loading import open_ranker
from qa_lab.train.rankers.cross_encoder import CROSS_ENCODER, with_mined_negatives
from qa_lab.train.rankers.entailment import ENTAILMENT
from qa_lab.train.request import Request
from rankers.answer_selection.cross_encoder import CrossEncoder
from rankers.training.answer_pool import AnswerSet
from rankers.training.cross_encoder_training import TrainedCrossEncoder

MODEL = "cross-encoder"


def test_a_run_leaves_a_ranker_that_serves_without_torch(request_: Request, tmp_path: Path):
    request_.config.write_text(request_.config.read_text().replace("graph = false\n", ""))
    outcome = CROSS_ENCODER.run(request_)
    assert outcome.questions + outcome.held_out == 15
    assert outcome.pairs == 3 * outcome.questions
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| started from | bert |", f"{outcome.after:.3f}"))
    pairs = [("why sleep", "cats day"), ("why", "do")]
    trained = TrainedCrossEncoder.load(request_.out).score(pairs)
    np.testing.assert_allclose(CrossEncoder.load(request_.out, int8=False).score(pairs), trained, atol=1e-4)
    assert np.isfinite(open_ranker(request_.out).score(pairs)).all()
    assert outcome.as_dict()["after"] == {"AP": outcome.after}
    on = replace(request_, base=request_.out, out=tmp_path / "on")  # trained on from there
    on.config.write_text("graph = false\nmined = 2\n[tuning]\nepochs = 1\nlearning_rate = 1e-9\nhead_rate = 1e-9\n")
    assert CROSS_ENCODER.run(on).before == pytest.approx(outcome.after)
    assert not (on.out / "model.onnx").exists()


def test_mined_answers_are_near_and_no_answers_of_its_own():
    sets = [
        AnswerSet("Why do cats sleep all day?", ("They hunt at dawn.", "Dogs bark."), (True, False)),
        AnswerSet("How long do cats sleep?", ("Cats sleep up to sixteen hours.",), (True,)),
        AnswerSet("What is the capital of France?", ("Paris is the capital of France.",), (True,)),
    ]
    (first, second, _) = with_mined_negatives(sets, 1)
    assert first.answers == ("They hunt at dawn.", "Dogs bark.", "Cats sleep up to sixteen hours.")
    assert first.labels == (True, False, False)
    assert len(second.answers) == 2
    assert [len(question.answers) for question in with_mined_negatives(sets, 9)] == [4, 4, 4]


def test_a_cross_encoder_learns_paraphrases_on_the_path_of_entailment(
    request_: Request, write_lines: Callable[..., Path]
):
    rows = [
        f"{label}\twhy {'sleep ' * n}\t{word} {'sleep ' * n}\t{n}"
        for n in range(1, 12)
        for label, word in ((1, "cats"), (0, "do"))
    ]
    request_.config.write_text("model = 'cross-encoder'\n[cross]\nmax_length = 16\n[training]\nepochs = 1\nbatch = 8\n")
    request = replace(request_, data=(write_lines("quora.tsv", *rows),))
    outcome = ENTAILMENT.run(request)
    assert outcome.model == "cross-encoder"
    assert np.isfinite(CrossEncoder.load(request.out).score([("why", "cats")])).all()


def test_what_cannot_be(request_: Request, write_lines: Callable[..., Path], tmp_path: Path):
    with pytest.raises(SettingsError, match="--base DIR"):
        CROSS_ENCODER.settings(replace(request_, base=None))
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        CROSS_ENCODER.run(replace(request_, base=tmp_path / "none"))
    right = write_lines("right.tsv", *(f"{n}\twhy {n}\tcats\t1" for n in range(9)))
    with pytest.raises(TrainingDataError, match="questions with right and wrong answers to hold out"):
        CROSS_ENCODER.run(replace(request_, data=(right,)))
    request_.config.write_text("[tuning]\nbatch = 0\n")
    with pytest.raises(SettingsError, match=r"tuning\.batch = 0"):
        CROSS_ENCODER.settings(request_)
