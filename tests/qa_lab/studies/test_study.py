import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import ChatConfig
from generators.conversation.decoding import Sampling
from generators.conversation.detokenise import Casing
from generators.conversation.ranking import GenerationConfig
from generators.inference.acceptor import AcceptorConfig
from generators.inference.language_model import LanguageModelConfig
from generators.personas.persona import Persona, PersonaConfig, changed
from generators.personas.quotations import Quotations
from generators.topics.counting_grid import CountingGrid, GridConfig
from generators.training.trainable_chat import TrainableChat
from qa_core.measures.metrics import Score
from qa_core.networks.decoder_types import END_ID, Seq2SeqConfig
from qa_core.networks.vocabulary import Vocabulary
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.study import evaluate_study, read_questions
from qa_lab.studies.study_report import Relation, StudyReport
from qa_lab.studies.study_systems import NOTHING, StudyQuestion, System, replies, retrieved, systems

WORDS = ["cats", "sleep", "day", "boats", "sail", "fish", "why", "do", "they", "all", "we", "swim"]
STYLES = {"sailor": ["boats", "sail", "swim"], "cook": ["fish", "day", "all"]}
GENERATION = GenerationConfig(candidates=8, length=5, sampling=Sampling(shortest=2))
SYSTEMS = [
    "vanilla",
    "vanilla, ranked",
    "selective, unranked",
    "selective",
    "cg-ir",
    "cg-topic",
    "rank",
    "multiply",
    "finetune",
    "finetune+cg-ir",
    "finetune+cg-topic",
    "cook, finetune+cg-topic",
]


@pytest.fixture(scope="module")
def base() -> ChatModel:
    """Untrained, with a topic grid of four cells."""
    torch.manual_seed(1)
    sizes = {"dimension": 8, "hidden": 8, "layers": 1, "dropout": 0.0, "tied": True, "uniform": 0.5}
    config = ChatConfig(Seq2SeqConfig(40, **sizes), LanguageModelConfig(40, **sizes), AcceptorConfig(hidden=4))
    cells = np.full((len(WORDS), 4), 1 / len(WORDS), dtype=np.float32)
    background = np.full(len(WORDS), 1 / len(WORDS), dtype=np.float32)
    grid = CountingGrid.of(GridConfig(2, 2, 1, background=0.0), Vocabulary(tuple(WORDS)), cells, background)
    return TrainableChat.of([*WORDS, "? ."], config, grid=grid).inference()


def speaker(base: ChatModel, name: str) -> Persona:
    """Mostly says the words of its style."""
    bias = np.zeros(len(base.vocabulary), dtype=np.float32)
    bias[base.vocabulary.ids(STYLES[name])] = 6.0
    bias[END_ID] = 5.0
    sentences = [f"{word.capitalize()} do ." for word in STYLES[name]]
    return Persona(
        PersonaConfig(f"{name}-1", base.fingerprint, (0.5, 1.0)),
        base,
        changed(base.forward, {"output.bias": bias}),
        base.acceptor,
        base.acceptor,
        changed(base.language, {"output.bias": bias}),
        Quotations.of(base, sentences, [("why?",)] * len(sentences)),
        Casing({}),
    )


@pytest.fixture(scope="module")
def personas(base: ChatModel) -> dict[str, Persona]:
    return {name: speaker(base, name) for name in STYLES}


@pytest.fixture
def study(
    base: ChatModel,
    personas: dict[str, Persona],
    axes: Path,
    tmp_path: Path,
    write_lines: Callable[..., Path],
) -> Callable[..., StudyReport]:
    """Four questions to a base and two personas."""
    questions = tmp_path / "questions.tsv"
    questions.write_text("Why do cats sleep?\tall day\nDo boats sail?\twe swim\nWhy?\tcats\nAll day?\tsleep\n")
    base.save(tmp_path / "base", card="# Card\n")
    for name, persona in personas.items():
        persona.save(tmp_path / name, card="# Card\n")
        words = STYLES[name]
        texts = [f"{words[n % 3]} {words[n % 2]} {words[n // 3]} do" for n in range(8)]
        texts.append(persona.quotations.sentences[0])  # seen in training
        (tmp_path / f"{name}.txt").write_text("\n".join(texts))
    rng = np.random.default_rng(0)
    turns = [" ".join(["cats", *rng.choice(WORDS, 4)]) for _ in range(60)]
    dialogues = write_lines("dialogues.jsonl", *({"turns": turns[n : n + 2]} for n in range(0, 60, 2)))

    def run(**changes) -> StudyReport:
        options = {
            "base": tmp_path / "base",
            "personas": {name: tmp_path / name for name in personas},
            "dialogues": [dialogues],
            "style": {name: tmp_path / f"{name}.txt" for name in personas},
            "samples": 2,
            "seed": 3,
            "held_out": 0.5,
            "encoder": str(axes),
            "generation": GENERATION,
        }
        return evaluate_study(questions, **options | changes)

    return run


def test_a_study_has_a_row_for_each_system(study: Callable[..., StudyReport]):
    progress = []
    report = study(progress=lambda stage, done: progress.append((stage, done)))
    rows = {row.engine: row.scores for row in report.rows}
    assert list(rows) == SYSTEMS
    assert progress[-1] == ("systems measured", len(SYSTEMS))
    for scores in rows.values():
        assert scores["perplexity"].mean > 1
        assert 0 < scores["distinct-1"].mean <= scores["distinct-2"].mean <= 1
        assert 0.25 <= scores["MRR"].mean <= 1
        assert 0 <= scores["sailor"].mean <= 1
        assert len(scores["hint"].per_query) == 4
    assert rows["rank"]["sailor"].mean == 1
    assert rows["cook, finetune+cg-topic"]["cook"].mean > 0.5
    assert {name: len(score.per_query) for name, score in report.classifiers.items()} == {"sailor": 16, "cook": 16}
    assert report.classifiers["sailor"].mean > 0.6
    assert any("only 8 held-out sentences of cook" in note for note in report.notes)
    assert all(1 <= len(texts) <= 2 for by_question in report.replies.values() for texts in by_question)


def test_a_report_as_json_and_as_markdown(study: Callable[..., StudyReport]):
    report = study()
    payload = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert [row["engine"] for row in payload["rows"]] == SYSTEMS
    assert payload["rows"][6]["distinct-1_se"] is not None
    assert payload["classifiers"]["cook"]["texts"] == 16
    assert len(payload["samples"]) == 4 * len(SYSTEMS)
    assert payload["samples"][0].keys() == {"system", "question", "hint", "reply"}
    relations = {(row["measure"], row["system"], row["other"]) for row in payload["relations"]}
    assert {("surprise", "selective", "vanilla"), ("sailor", "finetune", "rank")} < relations
    assert {("hint", "finetune+cg-topic", "finetune"), ("cook", "cook, finetune+cg-topic", "selective")} < relations
    assert report.text().count("\n| ") == len(SYSTEMS) + 1
    assert "classifier of sailor: accuracy" in report.text()
    samples = report.samples(2)
    assert samples.count("  → ") == 2 * len(SYSTEMS)
    assert "## rank" in samples


@pytest.mark.slow
def test_a_study_of_few_questions_without_styles(study: Callable[..., StudyReport]):
    report = study(style={}, limit=2)
    assert report.rows[0].queries == 2
    assert not report.classifiers
    assert not [relation for relation in report.relations if relation.measure == "sailor"]
    assert study(style={}, limit=2).replies == report.replies
    assert study(style={}, limit=2, seed=4).replies != report.replies


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"personas": {}}, "Expected at least one persona of the chat model .* but got 0 personas"),
        ({"samples": 0}, "and 0 replies"),
        ({"held_out": 0.0}, "Expected dialogues that the base was trained on and held-out dialogues, but got"),
    ],
)
def test_options_without_data_are_refused(study: Callable[..., StudyReport], options: dict[str, Any], message: str):
    with pytest.raises(DatasetError, match=message):
        study(**options)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("Why?\tcats\nWhy?\tdogs\n", "but got 1; give two or more"),
        ("Why?\tcats\nWho?\n", "questions.tsv:2: Expected a question and a hint .* but got 1 fields"),
    ],
)
def test_questions_must_be_several_and_have_hints(lines: str, message: str, tmp_path: Path):
    (tmp_path / "questions.tsv").write_text(lines)
    with pytest.raises(DatasetError, match=message):
        read_questions(tmp_path / "questions.tsv")


def test_hints_depend_on_the_system():
    question = StudyQuestion("Why?", "cats", ("one", "two"))
    assert System("a").hints(question) == ()
    assert System("a", topic="ir").hints(question) == ("one", "two")
    assert System("a", topic="hint").hints(question) == ("cats",)


def test_bm25_finds_texts_with_rare_words_of_the_question():
    texts = ["dogs run", "cats sleep all day", "boats sail", "cats run", "why do dogs swim"]
    results = retrieved(["Why do cats sleep?", "Do whales sing?", "boats"], texts, count=2)
    assert results == [("why do dogs swim", "cats sleep all day"), ("why do dogs swim",), ("boats sail",)]


def test_a_system_without_words_says_nothing(base: ChatModel, personas: dict[str, Persona], monkeypatch):
    rank = next(system for system in systems(personas) if system.name == "rank")
    monkeypatch.setattr("qa_lab.studies.study_systems.styled", lambda *_, **__: [])
    assert list(replies(rank, base, [StudyQuestion("Why?", "cats")], 3, seed=1, generation=GENERATION)) == [(NOTHING,)]


def test_a_relation_by_hand():
    left, right = Score.of({"0": 3.0, "1": 4.0}), Score.of({"0": 1.0, "1": 2.0})
    relation = Relation.of("hint", "a", "b", {"a": {"hint": left}, "b": {"hint": right}})
    assert relation.difference.difference == 2
    assert relation.text.startswith("hint: a − b = +2.000 [+2.000, +2.000], p ")
