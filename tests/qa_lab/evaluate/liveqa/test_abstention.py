import json
from pathlib import Path

import numpy as np
import orjson
import pytest

from qa_bot.cli.app import run
from qa_lab.evaluate.liveqa.abstention import scores, write

MEASURES = ["ECE", "Brier", "AURC", "AURC_best", "precision@50%", "right"]
WAYS = ["present", "Platt of present", "isotonic of present", "Platt of stages", "isotonic of stages"]
ANIMALS = ("cats", "dogs", "horses", "cows", "sheep", "goats")
TOWNS = ("Paris", "Berlin", "Madrid", "Rome", "Vienna", "Oslo", "Athens")


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Six questions, five of them with the right document, and seven about towns beside them."""
    folder = tmp_path / "animals"
    folder.mkdir()
    rows = [
        {"_id": item, "title": f"Why do {item} sleep", "text": f"The {item} sleep, being tired."} for item in ANIMALS
    ]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    queries = [{"_id": f"q-{item}", "title": f"Why do {item} sleep"} for item in ANIMALS]
    (folder / "dev.queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in queries), encoding="utf-8")
    grades = "".join(f"q-{item}\t{item}\t{int(item != 'goats')}\n" for item in ANIMALS)
    (folder / "dev.qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + grades, encoding="utf-8")
    (tmp_path / "liveqa").mkdir()
    towns = "".join(f"{i}\tHow do tourists reach {town}\t\tTravel\n" for i, town in enumerate(TOWNS))
    (tmp_path / "liveqa" / "t.tsv").write_text("qid\ttitle\tbody\tcategory\n" + towns, encoding="utf-8")
    return folder


def test_hand_worked_figures():
    results = scores(np.array([0.9, 0.8, 0.65, 0.15]), [True, False, True, False], ["a", "b", "c", "d"])
    assert list(results) == MEASURES
    means = {name: score.mean for name, score in results.items()}
    assert means["ECE"] == pytest.approx((0.1 + 0.8 + 0.35 + 0.15) / 4)
    assert means["Brier"] == pytest.approx((0.01 + 0.64 + 0.1225 + 0.0225) / 4)
    assert means["AURC"] == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert means["AURC_best"] == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert (means["precision@50%"], means["right"]) == (0.5, 0.5)
    assert results["Brier"].per_query["b"] == pytest.approx(0.64)
    assert all(score.standard_error > 0 for score in results.values())


def test_the_whole_pipeline_by_the_command(judged, tmp_path, capfdbinary, monkeypatch):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    monkeypatch.setattr("qa_lab.evaluate.liveqa.abstention.DRAWS", 20)
    command = ["eval", "liveqa", "--data", str(judged), "--engine", "keyword", "--calibration"]
    assert run([*command, "--out", str(tmp_path / "curves"), "--json"]) == 0
    payload = orjson.loads(capfdbinary.readouterr().out)
    assert (payload["engine"], payload["task"], payload["queries"]) == ("keyword, present", "liveqa, calibration", 12)
    assert {*MEASURES, "ECE_se"} <= payload.keys()
    assert [row["engine"] for row in payload["models"]] == [f"keyword, {way}" for way in WAYS]
    assert all(row["versus_first"]["measure"] == "Brier" for row in payload["models"][1:])
    assert run([*command, "--limit", "11", "--json"]) == 0
    assert orjson.loads(capfdbinary.readouterr().out)["queries"] == 11  # six about animals and five about towns
    assert payload["right"] == pytest.approx(5 / 12, abs=1e-6)  # not the goats, and none of the towns
    assert payload["precision@50%"] == pytest.approx(5 / 6, abs=1e-6)  # the goats are as sure as the others
    curves = orjson.loads((tmp_path / "curves" / "calibration.json").read_bytes())
    assert list(curves) == WAYS
    assert len(curves["present"]["risk_coverage"]["risk"]) == 12
    assert sum(item["count"] for item in curves["present"]["reliability"]) == 12
    for name in ("reliability.png", "risk-coverage.png"):
        assert (tmp_path / "curves" / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--out", "there"], b"--out with --calibration"),
        (["--calibration", "--summary"], b"without --model, --summary"),
        (["--calibration", "--engine", "plain"], b"'plain' is not one of"),
        (["--calibration", "--off-topic", "nowhere"], b"name them by --off-topic"),
        (["--calibration", "--engine", "keyword", "--limit", "1"], b"got 1 right of 1"),
    ],
)
def test_unmeasurable_data_is_rejected(judged, options, output, capfdbinary):
    assert run(["eval", "liveqa", "--data", str(judged), *options]) in (1, 2)
    assert output in b" ".join(capfdbinary.readouterr().err.replace(b"\xe2\x94\x82", b"").split())


def test_without_matplotlib_there_are_numbers(tmp_path, monkeypatch, caplog):
    def missing(*_args, **_options):
        raise ModuleNotFoundError("Expected matplotlib to draw pictures")

    monkeypatch.setattr("qa_core.measures.plots.draw_lines", missing)
    write(tmp_path / "new", {"present": np.array([0.25, 0.75])}, [False, True])
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["calibration.json"]
    assert "Expected matplotlib" in caplog.text
    payload = orjson.loads((tmp_path / "new" / "calibration.json").read_bytes())["present"]
    assert payload["reliability"][1] == {"count": 1, "confidence": 0.75, "accuracy": 1.0}
    assert payload["risk_coverage"] == {"coverage": [0.5, 1.0], "risk": [0.0, 0.5]}
