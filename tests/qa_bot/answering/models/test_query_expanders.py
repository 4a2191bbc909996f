from pathlib import Path

import pytest

from qa_bot.answering.models.query_expanders import configured_expander
from qa_bot.bot import Bot
from qa_bot.home.config import ConfigError
from qa_bot.home.sections import RetrievalSection
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.translator import Translator, TranslatorConfig
from qa_core.training.loop import seed_everything
from retrievers.query_expander import ExpansionConfig, QueryExpander

SIZES = TranslatorConfig(Seq2SeqConfig(50, dimension=4, hidden=4, layers=1, dropout=0.0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    seed_everything(0)
    translator = Translator.of(["why do whales sing", "krill"], SIZES)
    QueryExpander(translator, ExpansionConfig(beam=2, length=3)).save(tmp_path / "expander", card="# Card\n")
    return tmp_path / "expander"


def test_no_expander_is_opened_by_default():
    assert configured_expander(RetrievalSection()) is None
    assert configured_expander(RetrievalSection(expander="nowhere")) is None


def test_an_expander_is_opened_once(folder: Path):
    config = RetrievalSection(expansion="nmt", expander=str(folder))
    expander = configured_expander(config)
    again = configured_expander(config)
    assert expander is not None
    assert again is not None
    assert expander.opened().config == ExpansionConfig(beam=2, length=3)
    assert again.opened() is expander.opened()


def test_expansion_without_a_trained_model_is_refused(folder: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match=r"got none; train one with `qa-bot train expansion .*config set"):
        configured_expander(RetrievalSection(expansion="nmt"))
    with pytest.raises(ConfigError, match=r"No such file.*; train one with `qa-bot train expansion"):
        configured_expander(RetrievalSection(expansion="nmt", expander=str(tmp_path / "nowhere")))
    (folder / "model.safetensors").write_bytes(b"")
    damaged = configured_expander(RetrievalSection(expansion="nmt", expander=str(folder)))
    assert damaged is not None
    with pytest.raises(ConfigError, match="Expected a query expander"):
        damaged.opened()
    (folder / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="Expected a query expander"):
        configured_expander(RetrievalSection(expansion="nmt", expander=str(folder)))


def test_a_bot_expands_queries_by_the_configured_model(folder: Path, tmp_path: Path):
    flags = {"retrieval.expansion": "nmt", "retrieval.expander": str(folder), "starter.mode": "off"}
    with Bot.open(tmp_path / "home", flags=flags, record=False) as bot:
        assert "expand" in bot.ask("Why do whales sing?").timings
    with Bot.open(tmp_path / "home", flags=flags | {"retrieval.expansion": "none"}, record=False) as bot:
        assert "expand" not in bot.ask("Why do whales sing?").timings
