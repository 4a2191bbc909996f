"""Better vectors: they take over at once or not at all, go on after an interruption, and serve what is added later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents import index_update as updates
from qa_bot.documents.idle_improving import IdleImprover, improving_when_idle
from qa_bot.documents.improving import Improver, is_improvable, is_to_improve
from qa_bot.documents.sync import add, delete, repair
from qa_bot.home.config import Config, set_value
from qa_bot.home.doctor import status
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import Generations
from qa_bot.home.index import Manifest

CONFIG = Config()
TEA = {"_id": "tea", "title": "How long should tea steep?", "text": "Green tea needs two to three minutes."}
ROWS = [
    {"_id": "moon", "title": "Why does the moon have phases?", "text": "We see changing parts of its sunlit half."},
    {"_id": "tides", "title": "What causes the tides?", "text": "The pull of the moon lifts the sea."},
    {"_id": "rust", "title": "How do I remove rust?", "text": "Rub it with vinegar and fine steel wool."},
]


@pytest.fixture
def home(empty_home, encoder, write_lines) -> Home:
    """A home with `ROWS`, whose vectors are the table's."""
    add(empty_home, CONFIG, encoder, [write_lines("rows.jsonl", *ROWS)])
    return empty_home


@pytest.fixture
def improved(home, transformer) -> Home:
    improve(home)
    transformer.texts.clear()
    return home


def improve(home: Home, config: Config = CONFIG) -> None:
    with Improver(home, config) as improver:
        for _ in improver.run():
            pass


def manifest(home: Home) -> Manifest:
    generation = Generations(home.index).current()
    assert generation is not None
    return Manifest.of(generation)


def test_the_better_vectors_take_over_in_one_generation(home, transformer) -> None:
    before = Generations(home.index).current_number()
    assert is_improvable(home, CONFIG)
    assert status(home, CONFIG)["vectors"] == "starter-table"
    improve(home)
    assert (manifest(home).encoder, manifest(home).fingerprint) == ("starter-transformer", "counting")
    assert Generations(home.index).current_number() == before + 1
    assert (manifest(home).documents, manifest(home).passages) == (3, 3)
    assert not is_improvable(home, CONFIG)
    assert status(home, CONFIG)["vectors"] == "starter-transformer"
    assert not home.vectors.exists()


GERMAN = [
    {"_id": "mond", "title": "Mondphasen", "text": "Wir sehen den Teil des Mondes, den die Sonne gerade beleuchtet."},
    {"_id": "rost", "title": "Rost", "text": "Rost entfernt man mit Essig und mit feiner Stahlwolle."},
]


@pytest.mark.parametrize(("german", "expected"), [(0, True), (1, True), (2, False)])
def test_mostly_german_documents_keep_quick_vectors_until_better_ones_are_asked_for(
    empty_home, encoder, write_lines, transformer, german: int, expected: bool
) -> None:
    add(empty_home, CONFIG, encoder, [write_lines("rows.jsonl", ROWS[0], *GERMAN[:german])])
    assert is_improvable(empty_home, CONFIG)
    assert is_to_improve(empty_home, CONFIG) is expected
    off = replace(CONFIG, dense=replace(CONFIG.dense, improve=False))
    assert not is_to_improve(empty_home, off)


def test_progress_counts_passages_to_the_end(home, transformer) -> None:
    with Improver(home, CONFIG) as improver:
        reports = list(improver.run())
    passages = [report.passages for report in reports]
    assert passages == sorted(passages)
    assert (passages[-1], reports[-1].of, reports[-1].left) == (3, 3, 0.0)


def test_each_text_is_encoded_once(home, transformer) -> None:
    improve(home)
    assert len(transformer.texts) == len(set(transformer.texts)) > 0


def test_an_improved_home_has_no_work(improved, transformer) -> None:
    improve(improved)
    assert transformer.texts == []


def test_a_bot_answers_with_either_encoder(home, transformer) -> None:
    with Bot.open(home.path) as bot:
        assert bot.search("what causes tides", engine="dense")[0].passage.source.document == "tides"
        assert transformer.texts == []
        improve(home)
        transformer.texts.clear()
        assert bot.search("What causes the tides?", engine="dense")[0].passage.source.document == "tides"
        assert "What causes the tides?" in transformer.texts


def test_an_interrupted_run_goes_on_where_it_stopped(home, transformer, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.improving.TEXTS", 2)
    with Improver(home, CONFIG) as improver:
        next(improver.run())
    assert manifest(home).encoder == "starter"
    done = set(transformer.texts)
    assert len(done) == 2
    transformer.texts.clear()
    improve(home)
    assert not done & set(transformer.texts)
    assert manifest(home).encoder == "starter-transformer"


def test_a_run_that_dies_before_the_switch_leaves_the_old_state(home, transformer, monkeypatch) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Generations, "prepare", die)
    with pytest.raises(KeyboardInterrupt):
        improve(home)
    assert manifest(home).encoder == "starter"
    transformer.texts.clear()
    monkeypatch.undo()
    assert home.vectors.is_dir()


def test_documents_that_are_added_meanwhile_are_encoded_too(home, encoder, transformer, write_lines) -> None:
    with Improver(home, CONFIG) as improver:
        reports = improver.run()
        next(reports)
        add(home, CONFIG, encoder, [write_lines("tea.jsonl", TEA)])
        for _ in reports:
            pass
    assert manifest(home).encoder == "starter-transformer"
    assert manifest(home).documents == 4
    assert TEA["title"] in transformer.texts


def test_another_writer_is_waited_for(home, transformer, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.documents.improving.PATIENCE", 0.0)
    with Improver(home, CONFIG) as improver:
        reports = improver.run()
        with home.lock("add"):
            assert next(report for report in reports if report.is_waiting)
        for _ in reports:
            pass
    assert manifest(home).encoder == "starter-transformer"


def test_one_process_makes_them_at_a_time(home, transformer) -> None:
    with Improver(home, CONFIG), pytest.raises(WriterBusyError, match="another process"), Improver(home, CONFIG):
        pass


def test_a_few_new_passages_are_encoded_at_once(improved, encoder, transformer, write_lines) -> None:
    report = add(improved, CONFIG, encoder, [write_lines("tea.jsonl", TEA)])
    assert report.added == 1
    assert manifest(improved).encoder == "starter-transformer"
    assert TEA["title"] in transformer.texts
    assert ROWS[0]["title"] not in transformer.texts


def test_many_new_passages_bring_the_table_back(improved, encoder, transformer, write_lines, monkeypatch) -> None:
    monkeypatch.setattr(updates, "FEW", 0)
    add(improved, CONFIG, encoder, [write_lines("tea.jsonl", TEA)])
    assert manifest(improved).encoder == "starter"
    assert manifest(improved).fingerprint == encoder.fingerprint
    assert transformer.texts == []
    assert is_improvable(improved, CONFIG)
    improve(improved)
    assert TEA["title"] in transformer.texts
    assert ROWS[0]["title"] not in transformer.texts  # kept from before
    assert manifest(improved).documents == 4


def test_documents_are_deleted_from_an_improved_home(improved, encoder, transformer) -> None:
    assert delete(improved, CONFIG, encoder, ids=["rust"])[0] == 1
    assert (manifest(improved).encoder, manifest(improved).documents) == ("starter-transformer", 2)
    assert transformer.texts == []


def test_a_repaired_home_has_the_vectors_of_the_table_and_keeps_the_better_ones(improved, encoder, transformer) -> None:
    assert repair(improved, CONFIG, encoder) == 3
    assert manifest(improved).encoder == "starter"
    improve(improved)
    assert transformer.texts == []
    assert manifest(improved).encoder == "starter-transformer"


def test_vectors_of_a_damaged_index_are_not_kept(improved, encoder, transformer) -> None:
    codes = next((improved.index / f"{Generations(improved.index).current_number():08d}").rglob("codes.npy"))
    codes.write_bytes(codes.read_bytes()[:-1] + b"x")
    assert repair(improved, CONFIG, encoder) == 3
    improve(improved)
    assert len(transformer.texts) > 0


def test_another_encoder_has_nothing_to_improve(home, transformer) -> None:
    set_value(home.path, "dense.encoder", "starter-table")
    with Bot.open(home.path) as bot:
        assert not is_improvable(home, bot.config)
        assert bot.search("what causes tides", engine="dense")


def test_a_new_transformer_makes_the_vectors_again(improved, transformer) -> None:
    transformer.fingerprint = "newer"
    assert is_improvable(improved, CONFIG)
    improve(improved)
    assert manifest(improved).fingerprint == "newer"


class Idle:
    """The clock of a service: `seconds` without a question."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def improve_when_idle(home, transformer, monkeypatch) -> Callable[[Config, Idle], threading.Event]:
    monkeypatch.setattr("qa_bot.documents.idle_improving.CHECK", 0.001)
    monkeypatch.setattr("qa_bot.documents.idle_improving.PAUSE", 0.01)
    monkeypatch.setattr("qa_bot.documents.idle_improving.os.setpriority", lambda *_: None)
    return lambda config, idle: IdleImprover(home, lambda: config, idle)


def test_an_idle_service_improves_its_home(home, improve_when_idle) -> None:
    idle, done = Idle(), threading.Event()
    with improving_when_idle(improve_when_idle(CONFIG, idle), done.set):
        assert not done.wait(0.02)  # a question is in work
        assert not home.vectors.exists()
        idle.seconds = 60.0
        assert done.wait(30)
    assert manifest(home).encoder == "starter-transformer"


def test_an_idle_service_pauses_while_a_question_runs(home, improve_when_idle, monkeypatch) -> None:
    idle, done = Idle(), threading.Event()
    idle.seconds = 60.0
    monkeypatch.setattr("qa_bot.documents.improving.TEXTS", 1)
    improver = improve_when_idle(CONFIG, idle)
    monkeypatch.setattr(improver, "_has_work", lambda: True)
    idle.seconds = 0.0
    with improving_when_idle(improver, done.set):
        assert not done.wait(0.05)
    assert manifest(home).encoder == "starter"


def test_a_service_that_stays_busy_puts_the_work_off_and_goes_on_later(
    home, improve_when_idle, transformer, monkeypatch
) -> None:
    idle, done, put_off = Idle(), threading.Event(), threading.Event()
    monkeypatch.setattr("qa_bot.documents.improving.TEXTS", 1)
    monkeypatch.setattr("qa_bot.documents.idle_improving.LONGEST_PAUSE", 0.02)
    improver = improve_when_idle(CONFIG, idle)
    goes_on = improver._goes_on

    def busy_after_two_texts() -> bool:
        if len(transformer.texts) == 2 and not put_off.is_set():
            idle.seconds = 0.0
        if not (going := goes_on()):
            put_off.set()
        return going

    monkeypatch.setattr(improver, "_goes_on", busy_after_two_texts)
    idle.seconds = 60.0
    with improving_when_idle(improver, done.set):
        assert put_off.wait(30)
        assert not done.is_set()
        idle.seconds = 60.0
        assert done.wait(30)
    assert manifest(home).encoder == "starter-transformer"
    assert len(transformer.texts) == len(set(transformer.texts)), "what was done is not done again"


def test_the_setting_switches_idle_work_off(home, improve_when_idle, config_without_improving) -> None:
    idle, done = Idle(), threading.Event()
    idle.seconds = 60.0
    with improving_when_idle(improve_when_idle(config_without_improving, idle), done.set):
        assert not done.wait(0.02)


@pytest.fixture
def config_without_improving(tmp_path: Path) -> Config:
    from qa_bot.home.config import load_config

    return load_config(tmp_path, flags={"dense.improve": False})
