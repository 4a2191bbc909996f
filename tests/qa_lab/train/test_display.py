import sys

import pytest

from qa_core.training.loop import Progress
from qa_lab.train.display import describe, progress_bar


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (Progress(2, 30, 1.25, 1e-3, 1234.5, 75.0), "epoch 2 of 4, loss 1.2500, 1,234 pairs/s, 1:15 left"),
        (Progress(4, 60, 0.5, 0.0, 10.0, None, 0.75), "epoch 4 of 4, loss 0.5000, 10 pairs/s"),
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
