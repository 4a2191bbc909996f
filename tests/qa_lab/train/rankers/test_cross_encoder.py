import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_lab.train.errors import SettingsError, TrainingDataError

pytest.importorskip("transformers", reason="a cross-encoder over a transformer needs the extra 'minilm'")

from qa_bot.answering.models.ranker_loading import open_ranker
from qa_core.networks.checkpoints import load_weights
from qa_lab.train.rankers.cross_encoder import CROSS_ENCODER, with_mined_negatives
from qa_lab.train.rankers.entailment import ENTAILMENT
from qa_lab.train.request import Request
from rankers.answer_selection.cross_encoder import CrossEncoder
from rankers.training.answer_pool import AnswerSet
from rankers.training.cross_encoder_training import TrainedCrossEncoder

SETTINGS = "[cross]\nmax_length = 16\n[tuning]\nepochs = 2\nbatch = 8\nnegatives = 1\n"


class StoppedError(Exception):
    """An interruption at a place of our choice."""


@pytest.fixture(scope="module")
def base(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a tokeniser that joins two texts."""
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path_factory.mktemp("pairs") / "bert"))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    first, second = ({"Sequence": {"id": name, "type_id": place}} for place, name in enumerate("AB"))
    marks = (("[CLS]", 0), ("[SEP]", 0), ("[SEP]", 1))
    opened, middle, closed = ({"SpecialToken": {"id": name, "type_id": segment}} for name, segment in marks)
    content["post_processor"]["pair"] = [opened, first, middle, second, closed]
    path.write_text(json.dumps(content))
    return folder


@pytest.fixture
def request_(base: Path, write_lines: Callable[..., Path], tmp_path: Path) -> Request:
    rows = [
        f"Q{n}\twhy {'sleep ' * n}\t{answer} {'day ' * n}\t{int(answer == 'cats')}"
        for n in range(1, 16)
        for answer in ("cats", "do", "unhappy")
    ]
    data = write_lines("answers.tsv", "qid\tquestion\tanswer\tlabel", *rows)
    settings = tmp_path / "settings.toml"
    settings.write_text(SETTINGS)
    return Request((data,), tmp_path / "out", base=base, config=settings, dev="0.4", seed=2)


def test_a_run_leaves_a_ranker_that_serves_without_torch(request_: Request, tmp_path: Path):
    read = []
    outcome = CROSS_ENCODER.run(request_, on_read=read.append)
    assert read[0].count == 45
    assert outcome.questions + outcome.held_out == 15
    assert outcome.pairs == 3 * outcome.questions
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| started from | bert |", "| seed | 2 |", f"{outcome.after:.3f}"))
    assert str(tmp_path) not in card
    pairs = [("why sleep", "cats day"), ("why", "do")]
    trained = TrainedCrossEncoder.load(request_.out).score(pairs)
    np.testing.assert_allclose(CrossEncoder.load(request_.out, int8=False).score(pairs), trained, atol=1e-4)
    assert np.isfinite(open_ranker(request_.out).score(pairs)).all()
    assert json.loads(json.dumps(outcome.as_dict()))["after"] == {"AP": outcome.after}
    assert str(request_.out) in outcome.text(request_.out)
    assert CROSS_ENCODER.epochs(request_) == 2
    on = replace(request_, base=request_.out, out=tmp_path / "on")  # trained on from there
    on.config.write_text("graph = false\nmined = 2\n[tuning]\nepochs = 1\nlearning_rate = 1e-9\nhead_rate = 1e-9\n")
    assert CROSS_ENCODER.run(on).before == pytest.approx(outcome.after)
    assert not (on.out / "model.onnx").exists()


def test_interrupted_and_resumed_it_ends_with_the_same_model(request_: Request):
    request_.config.write_text("graph = false\n" + SETTINGS)
    CROSS_ENCODER.run(request_)

    def stop(progress) -> None:
        if progress.dev is not None:
            raise StoppedError

    cut = replace(request_, out=request_.out.parent / "cut")
    with pytest.raises(StoppedError):
        CROSS_ENCODER.run(cut, on_progress=stop)
    CROSS_ENCODER.run(replace(cut, resume=True))
    for part in ("", "transformer"):
        whole, resumed = load_weights(request_.out / part), load_weights(cut.out / part)
        assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


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
    assert [len(each.answers) for each in with_mined_negatives(sets, 9)] == [4, 4, 4]


def test_a_cross_encoder_learns_paraphrases_on_the_path_of_entailment(
    request_: Request, write_lines: Callable[..., Path]
):
    rows = [
        f"{label}\twhy {'sleep ' * n}\t{word} {'sleep ' * n}\t{n}"
        for n in range(1, 12)
        for label, word in ((1, "cats"), (0, "do"))
    ]
    request_.config.write_text("model = 'cross-encoder'\n[cross]\nmax_length = 16\n[training]\nepochs = 1\nbatch = 8\n")
    asked = replace(request_, data=(write_lines("quora.tsv", *rows),))
    outcome = ENTAILMENT.run(asked)
    assert outcome.model == "cross-encoder"
    assert np.isfinite(CrossEncoder.load(asked.out).score([("why", "cats")])).all()


def test_what_cannot_be(request_: Request, write_lines: Callable[..., Path], tmp_path: Path):
    with pytest.raises(SettingsError, match="--base DIR"):
        CROSS_ENCODER.settings(replace(request_, base=None))
    with pytest.raises(TrainingDataError, match="a share between 0 and 1"):
        CROSS_ENCODER.run(replace(request_, dev="7"))
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        CROSS_ENCODER.run(replace(request_, base=tmp_path / "none"))
    right = write_lines("right.tsv", *(f"{n}\twhy {n}\tcats\t1" for n in range(9)))
    with pytest.raises(TrainingDataError, match="questions with right and wrong answers to hold out"):
        CROSS_ENCODER.run(replace(request_, data=(right,)))
    request_.config.write_text("[tuning]\nbatch = 0\n")
    with pytest.raises(SettingsError, match=r"tuning\.batch = 0"):
        CROSS_ENCODER.settings(request_)
