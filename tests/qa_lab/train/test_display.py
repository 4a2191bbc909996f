import sys

import pytest

from qa_bot.documents.ingest.records import Notice, Reject
from qa_core.training.loop import Progress
from qa_lab.data.reading import TrainingData
from qa_lab.train.display import describe, progress_bar, show_read


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (Progress(2, 30, 1.25, 1e-3, 1234.5, 75.0), "epoch 2 of 4, loss 1.2500, 1,234 examples/s, 1:15 left"),
        (Progress(4, 60, 0.5, 0.0, 10.0, None, 0.75), "epoch 4 of 4, loss 0.5000, 10 examples/s"),
        (Progress(0, 1536, float("nan"), 0.0, 100.0, 61.0), "before training: 1,536 pairs, 100 pairs/s, 1:01 left"),
    ],
)
def test_progress_in_words(progress: Progress, line: str):
    assert describe(progress, 4) == line


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_sees_it(terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    with progress_bar(4) as report:
        report(Progress(1, 3, 1.0, 1e-3, 10.0, None, 0.5))
        report(Progress(2, 4, 1.0, 1e-3, 10.0, None))
    shown = capsys.readouterr().err
    assert ("MRR 0.500" in shown) == terminal
    assert ("epoch 2 of 4" in shown) == terminal


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (TrainingData((), 1, ("sentence", "sentences")), "1 sentence, 0 repeated, 0 rejected"),
        (TrainingData((), 1600, ("reply", "replies"), repeated=2), "1,600 replies, 2 repeated, 0 rejected"),
        (
            TrainingData(
                (), 160, ("pair", "pairs"), rejects=(Reject("a:1", "bad"),), others={("odd one", "odd ones"): 1}
            ),
            "160 pairs, 1 odd one, 0 repeated, 1 rejected",
        ),
        (
            TrainingData((), 2, ("pair", "pairs"), others={("odd one", "odd ones"): 0}),
            "2 pairs, 0 repeated, 0 rejected",
        ),
    ],
)
def test_examples_are_counted_by_their_names(data, line: str, capsys: pytest.CaptureFixture[str]):
    show_read(data)
    assert capsys.readouterr().err.splitlines()[-1] == line


def test_texts_of_strangers_control_no_terminal(capsys: pytest.CaptureFixture[str]):
    evil = "a\x1b]52;c;eA==\x07b"
    show_read(TrainingData((), 0, ("pair", "pairs"), rejects=(Reject(evil, evil),), notices=(Notice(evil, evil),)))
    assert capsys.readouterr().err.splitlines()[:2] == ["a]52;c;eA==b: a]52;c;eA==b"] * 2
