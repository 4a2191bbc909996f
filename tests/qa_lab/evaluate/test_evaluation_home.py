import pytest

from qa_bot.bot import Bot
from qa_bot.home.folder import Home
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import evaluation_home

FOUND = "cats"


def documents(bot, query=FOUND):
    return {candidate.passage.source.document for candidate in bot.search(query)}


def test_a_temporary_home_holds_the_data_and_nothing_else_and_goes_away(ours):
    payload = []
    opening = evaluation_home([ours / "corpus.jsonl"], collection="tiny", progress=lambda *a: payload.append(a))
    with opening as data, data.opened() as bot:
        assert documents(bot) == {"d1", "d2", "d3"}
        assert bot.search(FOUND)[0].passage.source.collection == "tiny"
        path = data.home.path
    assert not path.exists()
    assert payload[-1] == ("indexed", 3)


def test_an_empty_home_gets_the_data(ours, tmp_path):
    with evaluation_home([ours / "corpus.jsonl"], collection="tiny", judged=["d1"], home=tmp_path / "kept"):
        pass
    with Bot.open(tmp_path / "kept", record=False) as bot:
        assert "d1" in documents(bot)


def test_a_home_that_holds_the_judged_documents_stays_as_it_is(ours, tmp_path):
    home = tmp_path / "kept"
    for collection in ("first", "second"):
        with evaluation_home([ours / "corpus.jsonl"], collection=collection, judged=["none", "d1"], home=home) as data:
            assert not data.temporary
    with Bot.open(home, record=False) as bot:
        assert {item.name for item in bot.store.collections()} == {"first"}


def test_judged_documents_are_added_to_a_home_that_lacks_them(ours, tmp_path):
    with Bot.open(tmp_path / "kept", record=False):
        pass  # filled with the starter collection
    with evaluation_home([ours / "corpus.jsonl"], collection="tiny", judged=["d1"], home=tmp_path / "kept"):
        pass
    with Bot.open(tmp_path / "kept", record=False) as bot:
        assert {item.name for item in bot.store.collections()} == {"starter", "tiny"}


def test_a_temporary_home_is_encoded_anew_for_the_next_encoder(ours, axes):
    with evaluation_home([ours / "corpus.jsonl"], collection="tiny", encoders=["starter", str(axes)]) as data:
        for name, dimension in (("starter", 256), (str(axes), 12)):
            with data.opened(encoder=name) as bot:
                manifest = bot.corridor().index.manifest
                assert (manifest.dimension, manifest.documents) == (dimension, 3)
                assert manifest.fingerprint == bot.encoder.fingerprint


def test_a_given_home_is_never_encoded_anew(ours, axes, tmp_path):
    with (
        evaluation_home([ours / "corpus.jsonl"], collection="tiny", home=tmp_path / "kept") as data,
        pytest.raises(DatasetError, match="leave --home out to compare encoders"),
        data.opened(encoder=str(axes)),
    ):
        pass


def test_other_encoders_are_looked_for_in_the_users_home(ours, axes):
    models = Home.open().models
    models.mkdir()
    (models / "org--axes").symlink_to(axes)
    opening = evaluation_home([ours / "corpus.jsonl"], collection="tiny", encoders=["org/axes"])
    with opening as data, data.opened(encoder="org/axes") as bot:
        assert bot.corridor().index.manifest.dimension == 12


def test_configuration_by_flags(ours):
    with (
        evaluation_home([ours / "corpus.jsonl"], collection="tiny", flags={"fusion.method": "rrf"}) as data,
        data.opened() as bot,
    ):
        assert bot.config.fusion.method == "rrf"


def test_rejected_records_are_reported(ours, caplog):
    with (ours / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d4", "title": "", "text": ""}\n')
    with evaluation_home([ours / "corpus.jsonl"], collection="tiny"):
        pass
    assert "1 of 4 records were rejected" in caplog.text
    assert "corpus.jsonl:4" in caplog.text


def test_nothing_that_can_be_added(ours):
    (ours / "corpus.jsonl").write_text('{"_id": "d4", "title": "", "text": ""}\n')
    with pytest.raises(DatasetError, match=r"Expected documents in .*corpus\.jsonl, but got none: Expected text"):
        evaluation_home([ours / "corpus.jsonl"], collection="tiny").__enter__()
