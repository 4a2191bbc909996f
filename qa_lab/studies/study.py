"""The human study of generated replies in Wang (2018), ch. 8.6.4, with automatic measures in place of judges.

Every system replies to every question. Fluency is the perplexity of an n-gram model of dialogues that the base was not
trained on; a second n-gram model adds held-out sentences of the personas, since speeches are not dialogues. Relevance
is the rank of the question among all questions by the backward model; topic is the cosine of reply and hint. Style is
the share of replies that a classifier attributes to the speaker; it learns from held-out sentences and turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from generators.conversation.chat_model import ChatModel
from generators.conversation.ranking import DEFAULT, GenerationConfig
from generators.personas.persona import Persona
from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.home.encoders import STARTER, resolve
from qa_core.measures.metrics import Score
from qa_core.measures.significance import SEED
from qa_lab.data.dialogues import Dialogue, exchanges, read_dialogues, split_dialogues
from qa_lab.data.monologues import read_monologue
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row
from qa_lab.studies.study_judges import SURPRISE, TOPIC, Judges
from qa_lab.studies.study_report import Relation, StudyReport
from qa_lab.studies.study_systems import StudyQuestion, System, replies, retrieved, systems

TASK = "study"
SAMPLES = 3
HELD_OUT = 0.05
_FEW = 100  # sentences of a speaker; with fewer, style figures are unreliable


def evaluate_study(
    questions: Path,
    *,
    base: Path,
    personas: Mapping[str, Path],
    dialogues: Sequence[Path],
    style: Mapping[str, Path],
    samples: int = SAMPLES,
    seed: int = SEED,
    held_out: float = HELD_OUT,
    encoder: str = STARTER,
    home: Path | None = None,
    generation: GenerationConfig = DEFAULT,
    limit: int | None = None,
    progress: Progress = silent,
) -> StudyReport:
    """Run the study: one row of measures for each of `study_systems.systems`.

    Args:
        questions: file with a question, a tab and a hint on each line.
        base: folder of the chat model.
        personas: folders of personas of the chat model by name; most systems speak like the first.
        dialogues: files that the base was trained on.
        style: files with sentences of a persona that it was not trained on, by the same names.
        samples: replies of each system to each question.
        held_out: share of the dialogues that training held out with `--dev`.
        encoder: name or folder of the encoder that compares replies with questions and hints.
        home: qa-bot home with downloaded encoders.
        generation: sampling of candidates.
        limit: maximum number of questions.

    Raises:
        DatasetError: there is no persona, there are too few questions, or no dialogue is held out.
        EncoderError: the encoder cannot be opened.
        TrainingDataError, FileNotFoundError, ValueError: data or models cannot be read.
    """
    _check(personas, samples)
    examples = read_questions(questions)[:limit]
    model = ChatModel.load(base)
    speakers = {name: Persona.load(folder, model) for name, folder in personas.items()}
    tested = systems(speakers)
    sentences = {name: _unseen(path, speakers.get(name)) for name, path in style.items()}
    pool, turns = _known_replies_and_held_turns(dialogues, held_out)
    with TemporaryDirectory() as folder:
        opened = resolve(encoder, models=(home or Path(folder)) / "models")
        judges = Judges.of(model, opened, turns, sentences, seed=seed)
        progress("replies to search", len(pool))
        examples = _with_retrieved(examples, pool)
        reply = partial(replies, base=model, questions=examples, count=samples, seed=seed, generation=generation)
        replies_by_system, scores = _measured(tested, reply, examples, judges, progress)
    return StudyReport(
        rows=tuple(Row(TASK, questions.name, "", name, "", len(examples), row) for name, row in scores.items()),
        relations=tuple(_relations(tested, scores)),
        classifiers=judges.accuracy,
        questions=tuple(examples),
        replies=replies_by_system,
        notes=tuple(_notes(model, sentences, len(turns), encoder)),
    )


def _check(personas: Mapping[str, Path], samples: int) -> None:
    if not personas or samples < 1:
        raise DatasetError(
            f"Expected at least one persona of the chat model and one reply of each system, but got {len(personas)} "
            f"personas and {samples} replies; train a persona with `qa-bot train persona`, or request more replies."
        )


def _with_retrieved(examples: Sequence[StudyQuestion], pool: Sequence[str]) -> list[StudyQuestion]:
    """The questions with replies of others, found by search."""
    hints = retrieved([example.question for example in examples], pool)
    return [replace(example, retrieved=texts) for example, texts in zip(examples, hints, strict=True)]


def _measured(
    tested: Sequence[System],
    reply: Callable[[System], Iterable[tuple[str, ...]]],
    examples: Sequence[StudyQuestion],
    judges: Judges,
    progress: Progress,
) -> tuple[dict[str, list[tuple[str, ...]]], dict[str, dict[str, Score]]]:
    """Replies to each question, and their measures, by system."""
    texts: dict[str, list[tuple[str, ...]]] = {}
    scores: dict[str, dict[str, Score]] = {}
    for number, system in enumerate(tested, 1):
        texts[system.name] = list(reply(system))
        scores[system.name] = judges.measure(texts[system.name], examples)
        progress("systems measured", number)
    return texts, scores


def read_questions(path: Path) -> list[StudyQuestion]:
    """Read distinct questions with their hints.

    Raises DatasetError if a line does not have two fields or there are fewer than two questions.
    """
    questions: dict[str, StudyQuestion] = {}
    for item in read_lines([path], _fields):
        if not isinstance(item, Line):
            raise DatasetError(f"{getattr(item, 'where', path)}: {getattr(item, 'reason', 'cannot be read')}")
        questions.setdefault(item.example.question, item.example)
    if len(questions) < 2:
        raise DatasetError(f"Expected questions with hints in {path}, but got {len(questions)}; give two or more.")
    return list(questions.values())


def _fields(line: str) -> StudyQuestion:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) != 2 or not all(fields):
        raise ValueError(f"Expected a question and a hint with a tab between them, but got {len(fields)} fields.")
    question, hint = fields
    return StudyQuestion(question, hint)


def _known_replies_and_held_turns(dialogues: Sequence[Path], share: float) -> tuple[list[str], list[str]]:
    """Distinct replies that the base was trained on, and distinct turns of held-out dialogues."""
    known, held = split_dialogues(read_dialogues(dialogues).examples, share)
    if not known or not held:
        raise DatasetError(
            f"Expected dialogues that the base was trained on and held-out dialogues, but got {len(known)} and "
            f"{len(held)} with {share:g} held out; pass the share that `train chat --dev` held out."
        )
    return list(dict.fromkeys(exchange.reply for exchange in exchanges(known))), _turns(held)


def _unseen(path: Path, persona: Persona | None) -> list[str]:
    """Sentences of a file that the persona was not trained on."""
    seen = set() if persona is None else set(persona.quotations.sentences)
    return [sentence.text for sentence in read_monologue([path]).examples if sentence.text not in seen]


def _turns(dialogues: Iterable[Dialogue]) -> list[str]:
    return list(dict.fromkeys(text for dialogue in dialogues for text in (*dialogue.turns, *dialogue.replies)))


def _relations(tested: Sequence[System], scores: Mapping[str, Mapping[str, Score]]) -> list[Relation]:
    """Comparisons of tables 8.3 and 8.4; a negative difference of surprise means more fluent."""
    comparisons = [
        (SURPRISE, "selective, unranked", "vanilla"),
        (SURPRISE, "selective", "vanilla"),
        (SURPRISE, "selective", "vanilla, ranked"),
        (TOPIC, "cg-topic", "selective"),
        (TOPIC, "finetune+cg-topic", "finetune"),
        (TOPIC, "finetune+cg-topic", "selective"),
    ]
    first = next(system.speaker for system in tested if system.persona)
    if first in scores["rank"]:
        names = [system.name for system in tested if system.speaker == first]
        comparisons += [(first, "finetune", "rank"), *((first, name, "selective") for name in names)]
    for system in tested:
        if system.speaker not in ("", first):
            comparisons += [(TOPIC, system.name, "selective")]
            comparisons += [(system.speaker, system.name, "selective")] * (system.speaker in scores[system.name])
    return [Relation.of(measure, system, other, scores) for measure, system, other in comparisons]


def _notes(model: ChatModel, sentences: Mapping[str, Sequence[str]], turns: int, encoder: str) -> list[str]:
    notes = [
        f"fluency: trigrams of {turns:,} held-out turns; surprise is the logarithm of perplexity, in nats",
        f"question and hint: cosines between vectors of {encoder}",
    ]
    if model.steering is None:
        notes.append("the base has no topic model, so hints have no effect")
    notes += [
        f"only {len(texts)} held-out sentences of {name}: its style figures are unreliable"
        for name, texts in sentences.items()
        if len(texts) < _FEW
    ]
    return notes
