import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from qa_core.networks.checkpoints import load_weights
from qa_lab.errors import RunError, SettingsError, TrainingError
from qa_lab.train.rankers import distillation
from qa_lab.train.rankers.distillation import SCORES, spread, standardise, teacher_scores
from qa_lab.train.rankers.hyperqa import HYPERQA
from qa_lab.train.rankers.hyperqa_settings import HyperSettings
from qa_lab.train.request import Request
from qa_lab.train.training_run import TrainingRun
from rankers.answer_selection.hyperqa import HyperQA, HyperShape
from rankers.answer_selection.siamese_cosine import SiameseCosineRanker

NAMES = [first + last for first in ("ba", "ce", "di", "fo") for last in ("lor", "min", "tes", "von")]
HYPER = "[distil]\nepochs = 8\nbatch = 8\npatience = 10\n[hyper]\nprojection = 12\n"
PEER = 'model = "ap-bilstm"\n[distil]\nepochs = 4\nbatch = 8\n[peer]\nhidden = 4\nfilters = 6\n'
HEAD = "qid\tquestion\tanswer\tlabel"


@dataclass
class Counting:
    """A teacher that likes answers with `lives`, and counts what it is asked."""

    scored: list[tuple[str, str]] = field(default_factory=list)
    stop_after: float = math.inf  # pairs

    def score(self, pairs) -> np.ndarray:
        if len(self.scored) >= self.stop_after:
            raise InterruptedError
        self.scored += pairs
        return np.array([5 if "lives" in answer else -5 for _, answer in pairs], dtype=np.float32)


def rows(right: str, names: Sequence[str]) -> list[str]:
    """Each question with three answers, of which the one with a word is right."""
    answers = "{} lives here", "{} does", "home where {}"
    return [
        HEAD,
        *(
            f"{name}\twhere does {name} live\t{answer.format(name)}\t{int(right in answer)}"
            for name in names
            for answer in answers
        ),
    ]


@pytest.fixture
def request_(write_lines: Callable[..., Path], tmp_path: Path) -> Request:
    """Training data that a teacher disagrees with, and development data whose labels are as it scores."""
    vectors = tmp_path / "vectors.txt"
    rng = np.random.default_rng(0)
    known = ["where", "does", "live", "lives", "here", "home", *NAMES]
    vectors.write_text("".join(f"{word} {' '.join(map(str, rng.normal(size=8).round(3)))}\n" for word in known))
    teacher = tmp_path / "teacher"
    teacher.mkdir()
    (teacher / "config.json").write_text("{}")
    data, dev = write_lines("right.tsv", *rows("home", NAMES[4:])), write_lines("dev.tsv", *rows("lives", NAMES[:4]))
    return taught(Request((data,), tmp_path / "out", dev=str(dev), seed=3), HYPER)


@pytest.fixture
def teacher(monkeypatch: pytest.MonkeyPatch) -> Counting:
    made = Counting()
    monkeypatch.setattr(distillation, "open_ranker", lambda _folder: made)
    return made


def taught(request: Request, more: str, name: str = "settings.toml") -> Request:
    folder = request.out.parent
    path = folder / name
    path.write_text(f'pretrained = "{folder}/vectors.txt"\nteacher = "{folder}/teacher"\n{more}')
    return replace(request, config=path)


def same(first: Path, second: Path) -> bool:
    one, two = load_weights(first), load_weights(second)
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("loss", ["margin", "mse"])
def test_a_student_learns_the_order_of_its_teacher(request_: Request, teacher: Counting, loss: str):
    request_ = taught(request_, HYPER.replace("[distil]\n", f'[distil]\nloss = "{loss}"\n'))
    reports = []
    outcome = HYPERQA.run(request_, on_progress=reports.append)
    assert outcome.teacher is not None
    assert outcome.teacher.ap == outcome.teacher.rr == 1
    assert outcome.after.ap == 1 > 0.8 > outcome.before.ap  # by the labels another answer would be right
    assert len(teacher.scored) == len(set(teacher.scored)) == 48  # once each, those held out among them
    assert [(report.epoch, report.step, report.eta_seconds) for report in reports[:1]] == [(0, 48, 0.0)]
    student = HyperQA.load(request_.out)
    scored = [f"where does {name} live" for name in NAMES]
    liked, labelled = (
        student.score([(question, f"{left}{question.split()[2]}{right}") for question in scored])
        for left, right in (("", " lives here"), ("home where ", ""))
    )
    assert (liked > labelled).all()
    assert HYPERQA.epochs(request_) == 8


def test_card_and_outcome_tell_the_teacher(request_: Request, teacher: Counting, tmp_path: Path):
    outcome = HYPERQA.run(request_)
    card = (request_.out / "README.md").read_text()
    assert "| teacher | teacher, loss margin |" in card
    assert "| after | " in card
    assert "| teacher | 1.000 | 1.000 |" in card
    assert '"teacher": "teacher"' in card
    assert '"pairs": {' not in card  # had no say
    assert str(tmp_path) not in card
    assert json.loads(json.dumps(outcome.as_dict()))["teacher"] == {"AP": 1.0, "RR": 1.0}
    assert "teacher: MAP 1.000, MRR 1.000" in outcome.text(request_.out)
    assert not (request_.out / "training").exists()


def test_without_a_teacher_none_is_told(request_: Request):
    config = request_.config
    assert config is not None
    config.write_text(f'pretrained = "{config.parent}/vectors.txt"\n[pairs]\nepochs = 1\n[hyper]\nprojection = 12\n')
    outcome = HYPERQA.run(request_)
    assert "teacher" not in outcome.as_dict()
    assert "teacher:" not in outcome.text(request_.out)
    card = (request_.out / "README.md").read_text()
    assert not any(name in card for name in ("teacher", "distil"))


def test_a_ranker_trained_before_teaches(request_: Request):
    teacher_config = request_.out.parent / "own.toml"
    teacher_config.write_text(f'pretrained = "{request_.out.parent}/vectors.txt"\n[hyper]\nprojection = 12\n')
    folder = request_.out.parent / "teacher"
    (folder / "config.json").unlink()
    teacher = HYPERQA.run(replace(request_, config=teacher_config, out=folder))
    outcome = HYPERQA.run(taught(request_, PEER.replace("ap-bilstm", "ap-cnn")))
    assert outcome.teacher == teacher.after
    assert np.isfinite(SiameseCosineRanker.load(request_.out).score([("where does balor live", "")])).all()


@pytest.mark.parametrize(
    ("settings", "point"),
    [
        (HYPER, 16),
        (HYPER, "epoch 2"),
        *(pytest.param(PEER, point, marks=pytest.mark.slow) for point in (16, 32, "epoch 2")),
    ],
)
def test_interrupted_and_resumed_it_ends_with_the_same_model(
    request_: Request, teacher: Counting, settings: str, point: int | str, monkeypatch: pytest.MonkeyPatch
):
    request_ = taught(request_, settings)
    HYPERQA.run(request_)
    cut = replace(request_, out=request_.out.parent / "cut")
    monkeypatch.setattr(distillation, "AT_ONCE", 16)
    monkeypatch.setattr(distillation, "EVERY", 0.0)

    def report(progress):
        if progress.dev is not None and progress.epoch == 2:
            raise InterruptedError

    teacher.scored.clear()
    teacher.stop_after = point if isinstance(point, int) else math.inf
    with pytest.raises(InterruptedError):
        HYPERQA.run(cut, on_progress=report)
    assert len(np.load(cut.out / "training" / SCORES)) == len(teacher.scored) == (48 if point == "epoch 2" else point)
    with pytest.raises(RunError, match=r"distil\.batch = 7 instead of 8"):
        HYPERQA.run(replace(taught(cut, settings.replace("batch = 8", "batch = 7"), "other.toml"), resume=True))
    teacher.stop_after = math.inf
    HYPERQA.run(replace(cut, resume=True))
    assert len(teacher.scored) == len(set(teacher.scored)) == 48  # none was scored again
    assert same(request_.out, cut.out)


def test_scores_that_are_no_scores(tmp_path: Path, teacher: Counting):
    run = TrainingRun(tmp_path / "out", {})
    run.begin()
    pairs = [("a", "a"), ("a", "lives")]
    assert teacher_scores(run, teacher, pairs, lambda _: None).tolist() == [-5, 5]
    with pytest.raises(RunError, match=r"at most 1 scores, but got float32 of shape \(2,\)"):
        teacher_scores(run, teacher, pairs[:1], lambda _: None)
    (run.state / SCORES).write_bytes(b"damaged")
    with pytest.raises(RunError, match="leave --resume out"):
        teacher_scores(run, teacher, pairs, lambda _: None)
    np.save(run.state / SCORES, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(RunError, match="Expected scores"):
        teacher_scores(run, teacher, pairs, lambda _: None)
    (run.state / SCORES).unlink()
    teacher.score = lambda scored: np.array([0.0, np.nan][: len(scored)])
    with pytest.raises(ValueError, match=r"finite scores of the teacher, but got others for \('a', 'lives'\)"):
        teacher_scores(run, teacher, pairs, lambda _: None)
    assert not (run.state / SCORES).exists()


def test_heights_that_a_student_can_reach():
    scores = np.array([-8, 0, 8, 4], dtype=np.float32)
    assert spread(scores, -1, 1).tolist() == [-1, 0, 1, 0.5]
    assert spread(scores, 0, 1).tolist() == [0, 0.5, 1, 0.75]
    assert spread(np.full(2, 3, dtype=np.float32), -1, 1).tolist() == [0, 0]
    level = standardise(scores)
    assert float(level.mean()) == pytest.approx(0, abs=1e-6)
    assert float(level.std()) == pytest.approx(1)
    assert np.argsort(level).tolist() == [0, 1, 3, 2]
    assert standardise(np.full(2, 3, dtype=np.float32)).tolist() == [0, 0]
    assert HyperSettings().span is None
    assert HyperSettings(hyper=HyperShape(last="raw")).span is None
    assert HyperSettings(hyper=HyperShape(last="sigmoid")).span == (0, 1)
    assert HyperSettings(model="cosineqa", hyper=HyperShape(distance="cosine")).span is None
    assert HyperSettings(model="cosineqa", hyper=HyperShape(distance="cosine", last="raw")).span == (-1, 1)
    assert HyperSettings(model="qa-cnn").span == (-1, 1)


def test_bad_settings(request_: Request, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    vectors = f'pretrained = "{tmp_path}/vectors.txt"\n'
    cases: list[tuple[str, type[Exception], str]] = [
        (
            f'teacher = "{tmp_path}/none"',
            SettingsError,
            "a trained ranker in .*none as teacher, but got no config.json",
        ),
        (f'teacher = "{tmp_path}/empty"', SettingsError, "leave `teacher` out"),
        (f'teacher = "{tmp_path}/teacher"', SettingsError, "The teacher cannot be opened: .*names the kind None"),
        ("[distil]\nepochs = 2", SettingsError, r"Expected a teacher for \[distil\], but got none"),
        (f'teacher = "{tmp_path}/teacher"\n[distil]\nbatch = 0', SettingsError, r"distil\.batch = 0"),
        (f'teacher = "{tmp_path}/teacher"\n[distil]\nlabelled = 2.0', SettingsError, r"distil\.labelled = 2\.0"),
        (f'teacher = "{tmp_path}/teacher"\n[distil]\nclip = -1.0', SettingsError, r"distil\.clip = -1\.0"),
        (f'teacher = "{tmp_path}/teacher"\n[distil]\nloss = "kl"', SettingsError, r"distil\.loss"),
        ("teacher = 3", SettingsError, "teacher"),
    ]
    for number, (text, kind, reason) in enumerate(cases):
        config = tmp_path / f"{number}.toml"
        config.write_text(vectors + text + "\n")
        with pytest.raises(kind, match=reason):
            HYPERQA.run(replace(request_, config=config))
        assert not request_.out.exists()


def test_differences_need_two_answers(request_: Request, teacher: Counting, write_lines: Callable[..., Path]):
    lone = write_lines("lone.tsv", HEAD, *(f"{n}\twhere does {name} live\t{name}\t1" for n, name in enumerate(NAMES)))
    with pytest.raises(SettingsError, match="questions with two answers or more, but got none"):
        HYPERQA.run(replace(request_, data=(lone,)))
    assert not teacher.scored
    assert not request_.out.exists()
    mse = taught(request_, HYPER.replace("[distil]\n", '[distil]\nloss = "mse"\n'), "mse.toml")
    HYPERQA.run(replace(mse, data=(lone,)))  # no label is needed, nor a second answer


def test_a_teacher_without_finite_scores(request_: Request, teacher: Counting):
    teacher.score = lambda pairs: np.full(len(pairs), np.inf)
    with pytest.raises(TrainingError, match="finite scores of the teacher"):
        HYPERQA.run(request_)
