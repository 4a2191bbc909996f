"""`config set` refuses values that every later question would fail on."""

import json
from pathlib import Path

import pytest

from qa_core.networks.checkpoints import CONFIG, FORMAT

BERT = {"model_type": "bert", "architectures": ["BertModel"]}
FOLDERS: dict[str, dict[str, object]] = {
    "hyper": {"kind": "HyperQAConfig"},
    "fused": {"kind": "FusionModel"},
    "encoder": {"kind": "SlamConfig"},
    "bert": BERT,
    "pairs": {"format": FORMAT, "kind": "FusionModel", "config": {}},
}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with folders of several kinds."""
    monkeypatch.chdir(tmp_path)
    for name, config in FOLDERS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / CONFIG).write_text(json.dumps(config))
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (
            "ranking.models",
            "nosuch:30",
            "Expected the folder of a trained ranker or ORG/NAME of the hub, but got 'nosuch'",
        ),
        ("ranking.models", "hyper:x", "but got ':x' after 'hyper'"),
        ("ranking.models", "hyper@body", "but got '@body' after 'hyper'"),
        ("ranking.models", "hyper@body:3", "but got '@body' after 'hyper'"),
        ("ranking.models", "hyper:0", "hyper:0'; say FOLDER:10"),
        ("ranking.models", "hyper:-5", "but got ':-5' after 'hyper'"),
        ("ranking.models", "encoder", "names the kind 'SlamConfig'"),
        ("ranking.models", "bert:3", "an encoder is used with: qa-bot use NAME"),
        ("ranking.models", "empty", "got no config.json"),
        ("ranking.models", "hyper, fused", "is a learned fusion; name it by ranking.fusion"),
        ("ranking.models", "hyper, hyper:3", "two folders are named 'hyper'"),
        ("ranking.cross_encoder", "empty", "Expected a model folder with config.json"),
        ("ranking.cross_encoder", "pairs", "Expected a model of kind PairConfig, but got 'FusionModel'"),
        ("ranking.fusion", "hyper", "names the kind 'HyperQAConfig'"),
        ("ranking.challenger", "empty", "got no config.json"),
        ("store.url", "garbage", "Expected a URL sqlite:///… or postgresql://… as [store] url, but got garbage"),
        ("store.url", "mysql://u:secret@x/y", "but got mysql://u:********@x/y"),
        ("store.url", "postgresql://h:five/x", "Expected a URL sqlite:///…"),
    ],
)
def test_a_value_that_cannot_be_opened_is_refused(qa_bot, home: Path, folders: Path, key: str, value: str, reason: str):
    called = qa_bot("config", "set", key, value)
    assert called.code == 1
    assert called.err.startswith(f"Error: {key}: ")
    assert reason in called.err
    assert not (home / "qa-bot.toml").exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ranking.models", "hyper@title:3, org/name:5"),
        ("ranking.models", ""),
        ("ranking.fusion", "fused"),
        ("ranking.fusion", ""),
        ("store.url", "postgresql://me@host/database"),
        ("store.url", "sqlite:////tmp/a store?.sqlite"),
        ("store.url", ""),
    ],
)
def test_other_values_are_written(qa_bot, home: Path, folders: Path, key: str, value: str):
    assert qa_bot("config", "set", key, value).code == 0
    assert (home / "qa-bot.toml").exists()
