"""Fixtures of this room: a home with everything in it, its archive, and what to compare of two homes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.answering.answer_json import as_dict
from qa_bot.bot import Bot
from qa_bot.documents import graph
from qa_bot.documents.ingest.records import Record
from qa_bot.documents.sync import add_records
from qa_bot.home.config import load_config
from qa_bot.home.folder import Home
from qa_bot.transfer.exporting import export
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.transfer.archives import CATS, FACTS, LONG, ZORGON


@pytest.fixture(scope="session")
def full_original(starter_home: Path, encoder: StaticEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter's home with documents of two more collections, facts, names, settings, votes and conversations.

    Read only.
    """
    folder = tmp_path_factory.mktemp("full")
    home = Path(shutil.copytree(starter_home, folder / "home"))
    full_home = Home.open(home)
    (folder / "facts.nt").write_text(FACTS)
    (folder / "names.tsv").write_text("the letter\thttp://x/a\t7\n")
    graph.add(full_home, [folder / "facts.nt"], tables=[folder / "names.tsv"], labels=["http://x/p"])
    config = load_config(home)
    add_records(full_home, config, encoder, [Record("zorgon", ZORGON["title"], ZORGON["text"])], collection="a/b")
    add_records(full_home, config, encoder, [Record("long", "Long", LONG, "body", "http://u", "x")], collection="../c")
    (home / "qa-bot.toml").write_text(
        '# my notes\n[serve]\ntoken = "s3cret"\n[store]\nurl = ""\n[fusion]\nmethod = "rrf"\n'
    )
    with Bot.open(home, record=False) as bot:
        for id_, question, conversation in [("t1", CATS, "c1"), ("t2", "And dogs?", "c1"), ("t3", "Lone?", None)]:
            answer = as_dict(replace(bot.ask(question, trace=id_ == "t1"), id=id_))
            timings = answer["timings"]
            bot.store.save_turn(
                id=id_, question=question, answer=answer, timings=timings, conversation=conversation, rewritten=id_
            )
        bot.store.save_feedback("t1", "down", "wrong \x1b[31m")
        bot.store.save_feedback("t1", "up", "right after all")
        bot.store.save_feedback("t3", "down")
        bot.store.rename_conversation("c1", "Pets & <co>")
        bot.store.settle_gap("0123456789abcdef0123456789abcdef")
    return home


@pytest.fixture
def full(home: Path, full_original: Path) -> Home:
    """`home`, with everything in it."""
    shutil.rmtree(home)
    return Home.open(Path(shutil.copytree(full_original, home)))


@pytest.fixture(scope="session")
def archive_original(full_original: Path) -> Path:
    """Read only."""
    path = full_original.with_name("all.zip")
    export(Home.open(full_original), load_config(full_original), path)
    return path


@pytest.fixture
def archive(full: Home, archive_original: Path, tmp_path: Path) -> Path:
    """The archive of `full`."""
    return Path(shutil.copy2(archive_original, tmp_path / "all.zip"))
