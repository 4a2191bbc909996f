"""`Bot`: answers, facts, recording, concurrent writers, and changes of the home while it runs."""

from __future__ import annotations

import asyncio
import errno
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qa_bot import Bot
from qa_bot.answering.answer_json import as_dict
from qa_bot.answering.deadline import Cancelled, Deadline
from qa_bot.answering.models.ranker_loading import RankerError
from qa_bot.documents.graph import add as add_facts
from qa_bot.documents.sync import add, delete, switch_encoder
from qa_bot.home.config import Config, ConfigError, set_value
from qa_bot.home.folder import Home, HomeError
from qa_bot.home.generations import CorruptGenerationError, Generations
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import Question

CATS = "Why do cats sleep all day?"
ZORGON = {"_id": "zorgon", "title": "Where do zorgons live?", "text": "Under the purple moon of Quix."}


def first(bot: Bot, query: str, engine: str = "hybrid") -> str:
    results = bot.search(query, engine=engine)
    return results[0].passage.source.document if results else ""


def turns(home: Path) -> int:
    with Bot.open(home) as bot:
        return bot.store.counts().turns


# --- facts ----------------------------------------------------------------------------------------------------------


def test_fact_comes_with_its_triple_and_documents(home) -> None:
    with Bot.open(home) as bot:
        answer = bot.ask("Which currency is used in Japan?", top=3, trace=True)
    fact, *documents = answer.sources
    assert (answer.kind, answer.text) == ("fact", "The currency of Japan is Japanese yen.")
    assert (fact.collection, fact.document, fact.title) == ("graph", "https://qa-bot.org/kg/Japan", "Japan")
    assert "<https://qa-bot.org/kg/p/currency> <https://qa-bot.org/kg/Japanese_yen> ." in fact.text
    assert answer.text[slice(*fact.span)] == fact.text[slice(*fact.source_span)] == "Japanese yen"
    assert [source.collection for source in documents] == ["starter"] * 3
    assert "facts" in answer.timings
    assert answer.trace["facts"]["readings"][0]["answers"] == ["Japanese yen"]


def test_other_questions_are_answered_from_documents(home) -> None:
    with Bot.open(home) as bot:
        answer = bot.ask(CATS)
    assert (answer.kind, answer.sources[0].document) == ("passage", "animals-cats-sleep")


def test_facts_can_be_switched_off(home) -> None:
    with Bot.open(home, flags={"facts.enabled": False}) as bot:
        answer = bot.ask("Which currency is used in Japan?")
        assert answer.kind != "fact"
        assert "facts" not in answer.timings
        assert "no knowledge graph" in bot.ask_graph("Which currency is used in Japan?").reason


def test_answers_of_the_graph_alone(home) -> None:
    with Bot.open(home) as bot:
        known, unknown, empty = map(bot.ask_graph, ("How many moons does Mars have?", "Who eats zorgons?", " "))
    assert (known.kind, known.text) == ("fact", "The number of moons of Mars is 2.")
    assert not unknown.answered
    assert "nothing that this question names" in unknown.reason
    assert "empty" in empty.reason


def test_new_facts_are_used_by_the_next_question(home, tmp_path) -> None:
    file = tmp_path / "new.ttl"
    file.write_text(
        "@prefix : <http://example.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":quix r:label 'Quix' ; :ruler :zed . :zed r:label 'Zed the Mild' . :ruler r:label 'ruler' .\n"
    )
    with Bot.open(home) as bot:
        assert bot.ask_graph("Who is the ruler of Quix?").kind == "none"
        add_facts(bot.home, [file])
        assert bot.ask_graph("Who is the ruler of Quix?").text == "The ruler of Quix is Zed the Mild."


def test_facts_are_searched_like_documents(home) -> None:
    with Bot.open(home) as bot:
        results = bot.search("When was Marie Curie born?", engine="facts", top=3)
        assert len(results) == 3
        assert results[0].passage.text.startswith("Marie Curie was born on 7 November 1867.")
        assert bot.search("zorgon", engine="facts") == ()


def test_documents_answer_if_the_graph_is_damaged(home, caplog) -> None:
    (folder,) = (home / "graph").glob("0*/triples")
    (folder / "spo.objects").unlink()
    with Bot.open(home) as bot:
        assert bot.ask(CATS).answered
    assert "Facts are left out" in caplog.text


def test_facts_are_answered_without_what_cannot_be_opened(home, caplog, tmp_path) -> None:
    set_value(home, "facts.templates", str(tmp_path / "mined"))
    set_value(home, "facts.relations", str(tmp_path / "trained"))
    with Bot.open(home) as bot:
        assert bot.ask("When was Marie Curie born?").kind == "fact"
    assert "Facts are answered without facts.templates: Expected the --out of a `qa-bot kg mine`" in caplog.text
    assert "Facts are answered without facts.relations: Expected the --out of a `qa-bot train rel" in caplog.text


# --- answering ------------------------------------------------------------------------------------------------------


def test_spans_of_an_answer_refer_to_its_sources(home) -> None:
    with Bot.open(home) as bot:
        for question in (CATS, "How do I boil an egg?", "What is a noun?", "Why is the sky blue?"):
            answer = bot.ask(question, top=20)
            tiles = [source for source in answer.sources if source.span]
            for tile in tiles:
                assert tile.span is not None
                assert tile.source_span is not None
                assert answer.text[slice(*tile.span)] == tile.text[slice(*tile.source_span)]
            assert list(answer.sources[: len(tiles)]) == tiles, "tiles first"
            assert len({(s.collection, s.document) for s in answer.sources}) == len(answer.sources)
            assert all(s.span is None and s.source_span is None for s in answer.sources[len(tiles) :])


def test_a_home_by_path_string_or_question_object(home) -> None:
    with Bot.open(str(home)) as bot:
        answer = bot.ask(Question(CATS, "Mine never gets up."))
    assert answer.sources[0].document == "animals-cats-sleep"
    assert answer.question == CATS
    assert set(answer.timings) >= {"total"}


def test_a_lone_surrogate_is_replaced(home) -> None:
    with Bot.open(home) as bot:
        assert bot.ask("cats \udcff").question == "cats ?"


def test_concurrent_asynchronous_questions(home) -> None:
    async def several() -> list[str]:
        answers = await asyncio.gather(*(bot.ask_async(CATS, top=3) for _ in range(4)))
        return [answer.sources[0].document for answer in answers]

    with Bot.open(home, record=False) as bot:
        assert asyncio.run(several()) == ["animals-cats-sleep"] * 4


def test_answers_are_recorded_unless_disabled(home) -> None:
    with Bot.open(home) as bot:
        answer = bot.ask(CATS)
    with Bot.open(home, record=False) as bot:
        bot.ask(CATS)
        turn = bot.store.turn(answer.id)
    assert (turn.question, turn.answer["answer"]) == (CATS, answer.text)
    assert set(turn.answer) == set(as_dict(answer))
    assert turns(home) == 1


def test_turns_of_a_conversation_stay_together(home) -> None:
    with Bot.open(home) as bot:
        answers = [bot.ask(question, conversation="c1") for question in (CATS, "How do I boil an egg?")]
        bot.ask("What is a noun?", conversation="c2", reference="q1")
        assert [turn.id for turn in bot.store.turns("c1")] == [answer.id for answer in answers]
        assert {c.id: (c.title, c.turns) for c in bot.store.conversations()} == {
            "c1": (CATS, 2),
            "c2": ("What is a noun?", 1),
        }
        assert [turn.answer.get("ask") for turn in bot.store.turns("c1") + bot.store.turns("c2")] == [None, None, "q1"]


def test_failure_to_record_does_not_prevent_the_answer(home, caplog, monkeypatch) -> None:
    def full(*_args: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("qa_bot.answering.recording.append", full)
    with Bot.open(home) as bot:
        assert bot.ask(CATS).sources
    assert "could not be recorded: the disk is full; make room." in caplog.text


def test_an_empty_home_is_filled_from_the_starter_collection(tmp_path) -> None:
    with Bot.open(tmp_path / "new") as bot:
        assert bot.ask(CATS).sources[0].collection == "starter"


def test_a_file_is_no_home(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match="got a file in its place"):
        Bot.open(tmp_path / "file")


def test_closing_releases_the_generation(home, write_lines) -> None:
    bot = Bot.open(home, record=False)
    bot.ask(CATS)
    bot.close()
    for i in range(3):
        add(bot.home, Config(), bot.encoder, [write_lines("z.jsonl", {**ZORGON, "text": f"Moon {i}."})])
    assert sorted(path.name for path in bot.home.index.iterdir()) == ["00000003", "00000004", "CURRENT"]


# --- beside a writer ------------------------------------------------------------------------------------------------


def test_next_question_uses_the_new_generation(home, qa_bot_process, write_lines) -> None:
    with Bot.open(home, record=False) as bot:
        assert first(bot, "zorgons", "keyword") == ""
        assert qa_bot_process("add", write_lines("z.jsonl", ZORGON)).code == 0
        for engine in ("keyword", "dense", "hybrid"):
            assert first(bot, "Where do zorgons live?", engine) == "zorgon"
        assert bot.ask("Where do zorgons live?").sources[0].text == ZORGON["text"]


def test_generation_is_kept_while_in_use(home, write_lines) -> None:
    with Bot.open(home, record=False) as bot:
        corridor = bot.corridor()
        for i in range(3):
            add(bot.home, Config(), bot.encoder, [write_lines("z.jsonl", {**ZORGON, "text": f"Moon {i}."})])
        assert first(bot, "zorgons", "keyword") == "zorgon", "the bot uses the new generation"
        assert bot.corridor() is not corridor
        assert (bot.home.index / "00000001").is_dir()
        del corridor
        add(bot.home, Config(), bot.encoder, [write_lines("z.jsonl", ZORGON)])
        assert not (bot.home.index / "00000001").exists()


@pytest.mark.slow
def test_eight_threads_ask_while_generations_are_published(home, write_lines) -> None:
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            assert bot.ask(CATS).sources[0].document == "animals-cats-sleep"
            assert first(bot, "zorgons", "keyword") in ("zorgon", "")

    with Bot.open(home, record=False) as bot:
        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(ask) for _ in range(8)]
            try:
                for i in range(4):
                    add(bot.home, bot.config, bot.encoder, [write_lines("z.jsonl", {**ZORGON, "text": f"Moon {i}."})])
                delete(bot.home, bot.config, bot.encoder, ids=["zorgon"])
            finally:
                done.set()
        assert [future.result() for future in futures] == [None] * 8
        assert first(bot, "zorgons", "keyword") == ""
        assert Generations(bot.home.index).current_number() == 6


# --- the home changes -----------------------------------------------------------------------------------------------


def test_an_index_of_another_encoder_is_never_searched(home, other_encoder_folder, caplog) -> None:
    with Bot.open(home, flags={"dense.encoder": str(other_encoder_folder)}, record=False) as bot:
        assert bot.search(CATS, engine="dense") == ()
        for _ in range(2):
            answer = bot.ask(CATS, trace=True)
            assert answer.sources[0].document == "animals-cats-sleep"
            assert answer.trace is not None
            assert not any(name.startswith("dense") for name in answer.trace["lists"])
    assert caplog.text.count("only keywords are searched") == 1
    assert f"Run `qa-bot use {other_encoder_folder}`" in caplog.text


def test_running_bot_switches_the_encoder(home, other_encoder_folder) -> None:
    encoder = StaticEncoder.load(other_encoder_folder)
    with Bot.open(home, record=False) as bot:
        assert first(bot, CATS, "dense") == "animals-cats-sleep"
        name = str(other_encoder_folder)
        switch_encoder(bot.home, bot.config, encoder, name=name, settings={"dense.encoder": name})
        assert first(bot, CATS, "dense") == "animals-cats-sleep"
        assert bot.encoder.fingerprint == encoder.fingerprint


def test_a_running_bot_follows_the_configuration(home, caplog) -> None:
    with Bot.open(home, record=False) as bot:
        whole = bot.ask(CATS).text
        set_value(home, "answer.limit", "80")
        assert 0 < len(bot.ask(CATS).text) <= 80 < len(whole)
        (home / "qa-bot.toml").write_text("[answer]\nlimmit = 5\n")
        with caplog.at_level(logging.WARNING):
            assert len(bot.ask(CATS).text) <= 80
    assert "the former one still holds" in caplog.text
    assert "answer.limit" in caplog.text
    with pytest.raises(ConfigError, match="limmit"):
        Bot.open(home)


def test_missing_ranker_keeps_the_former_configuration(home, tmp_path, caplog) -> None:
    with Bot.open(home, record=False) as bot:
        text = bot.ask(CATS).text
        set_value(home, "ranking.models", f"{tmp_path / 'none'}:5")
        with caplog.at_level(logging.WARNING):
            assert bot.ask(CATS).text == text
    assert "the former one still holds" in caplog.text
    with Bot.open(home, record=False) as bot, pytest.raises(RankerError, match="Expected a trained ranker"):
        bot.ask(CATS)


def test_missing_index_is_reported(home) -> None:
    with Bot.open(home, record=False) as bot:
        bot.ask(CATS)
        (home / "index" / "CURRENT").unlink()
        with pytest.raises(CorruptGenerationError, match=r"CURRENT is missing: .*run `qa-bot repair`"):
            bot.ask(CATS)


def test_opening_takes_no_lock(home) -> None:
    with Home.open(home).lock("add"), Bot.open(home, record=False) as bot:
        assert bot.ask(CATS).sources


def test_cancelled_search_is_not_run(home) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with Bot.open(home) as bot, pytest.raises(Cancelled):
        bot.search(CATS, deadline=Deadline.after(10, cancelled))
