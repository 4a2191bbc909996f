import json
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from qa_bot.answering.models import ranker_loading as rankers
from qa_bot.answering.models.ranker_loading import (
    LOADERS,
    RankerError,
    open_configured,
    open_ranker,
    open_rankers,
    parse_ranker_specs,
)
from qa_bot.home.sections import RankingSection
from qa_core.networks.checkpoints import CONFIG, note_reads


def test_every_kind_has_a_loader():
    for opener in LOADERS.values():
        module, _, name = opener.partition(":")
        assert callable(attrgetter(name)(import_module(module)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "got no config.json"),
        ("{", "Expected a readable JSON file"),
        ("[]", "names the kind None"),
        (json.dumps({"kind": "SlamConfig"}), "names the kind 'SlamConfig'"),
        (
            json.dumps({"model_type": "bert", "architectures": ["BertModel"]}),
            "an encoder is used with: qa-bot use NAME",
        ),
        (json.dumps({"kind": "PairConfig", "format": 1, "config": {}}), "Expected"),
    ],
)
def test_a_folder_without_a_ranker_is_refused(tmp_path: Path, content: str | None, message: str):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(RankerError, match=message):
        open_ranker(tmp_path)


def test_the_text_that_a_ranker_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankers, "open_ranker", lambda folder, **_: folder)
    for name, kind in (("same", "EntailmentConfig"), ("answer@home", "HyperQAConfig")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"kind": kind}))
    first, second = open_rankers(f"{tmp_path}/same,{tmp_path}/answer@home:5")
    assert (first.reads, first.depth) == ("title", 30)
    assert (second.reads, second.depth, second.name) == ("text", 5, "answer@home")
    first, second = open_rankers(f"{tmp_path}/same@text:7,{tmp_path}/answer@home@both")
    assert (first.reads, first.depth) == ("text", 7)
    assert (second.reads, second.depth, second.name) == ("both", 30, "answer@home")


def test_hub_names_are_fetched_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankers, "open_ranker", lambda folder, *, models, int8: (folder, models, int8))
    monkeypatch.setattr(rankers, "kind_of", lambda _: rankers.PUBLISHED)
    models = tmp_path / "models"
    fetched = models / "cross-encoder--tiny"
    fetched.mkdir(parents=True)
    (ranker,) = open_rankers("cross-encoder/tiny@both:5", models=models, int8=True)
    assert (ranker.scorer, ranker.depth, ranker.reads) == ((fetched, models, True), 5, "both")
    (spec,) = parse_ranker_specs("cross-encoder/other", models=models)  # not fetched yet
    assert spec.folder == Path("cross-encoder/other")
    assert spec.at("/x") == "/x:30"
    (spec,) = parse_ranker_specs("cross-encoder/tiny@title:7", models=models)
    assert spec.at(spec.name) == "cross-encoder/tiny@title:7"


def test_a_name_that_was_not_fetched_is_refused_with_advice(tmp_path: Path):
    with pytest.raises(RankerError, match="qa-bot use --ranker NAME"):
        open_rankers("someone/absent", models=tmp_path)


def test_a_cascade_of_folders_with_their_depths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankers, "open_ranker", lambda folder, **_: folder)
    monkeypatch.setattr(rankers, "kind_of", lambda _: "HyperQAConfig")
    first, second = open_rankers(f"{tmp_path}/cheap , {tmp_path}/costly:10,")
    assert (first.name, first.scorer, first.depth) == ("cheap", tmp_path / "cheap", 30)
    assert (second.name, second.scorer, second.depth) == ("costly", tmp_path / "costly", 10)
    assert open_rankers("") == ()
    assert open_configured(RankingSection()) == ((), None)
    with pytest.raises(RankerError, match="two folders are named 'a'"):
        open_rankers("x/a,y/a")
    with pytest.raises(RankerError, match="Expected a ranker that looks at a document or more"):
        open_rankers("x/a:0")


def test_a_ranker_reads_what_its_training_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankers, "open_ranker", lambda folder, **_: folder)
    for name, kind in (("blstm", "StackedConfig"), ("paraphrase", "EntailmentConfig"), ("old", "EntailmentConfig")):
        (tmp_path / name).mkdir()
        (tmp_path / name / CONFIG).write_text(json.dumps({"format": 1, "kind": kind, "config": {}}))
    note_reads(tmp_path / "blstm", {"question": "title", "document": "text"})
    note_reads(tmp_path / "paraphrase", {"question": "title", "document": "title"})
    opened = open_rankers(",".join(str(tmp_path / name) for name in ("blstm", "paraphrase", "old")))
    assert [(r.asks, r.reads) for r in opened] == [("title", "text"), ("title", "title"), ("both", "title")]
    (override,) = open_rankers(f"{tmp_path}/paraphrase@both")
    assert (override.asks, override.reads) == ("title", "both")
    note_reads(tmp_path / "old", {"question": "heading"})
    with pytest.raises(RankerError, match=r"Expected inputs among .* but got .*heading"):
        open_rankers(f"{tmp_path}/old")
    (tmp_path / "old" / CONFIG).write_text('{"format": 1, "kind": "EntailmentConfig", "config": {}, "reads": [1]}')
    with pytest.raises(RankerError, match="Expected an object of texts under 'reads'"):
        open_rankers(f"{tmp_path}/old")
