"""What can be measured without judges of the thesis' human study (ch. 8.6.4).

Every system replies to every question. Fluency is the perplexity of n-grams, counted in dialogues that the base was not
trained on, and once more in these with the held-out sentences of the personas, since a speech is no dialogue. Relevance
is the rank of the question among all by the backward model, topic the cosine of reply and hint. Style is the share of
replies that a classifier takes for the speaker's; it has learnt from held-out sentences and held-out turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from generators.conversation.chat_model import ChatModel
from generators.conversation.ranking import DEFAULT, GenerationConfig
from generators.personas.persona import Persona
from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.home.encoders import STARTER, resolve
from qa_core.measures.metrics import Score
from qa_core.measures.significance import SEED
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row
from qa_lab.studies.study_judges import SURPRISE, TOPIC, Judges
from qa_lab.studies.study_report import Relation, StudyReport
from qa_lab.studies.study_systems import StudyQuestion, System, replies, retrieved, systems
from qa_lab.train.data.dialogues import Dialogue, exchanges, read_dialogues, split_dialogues
from qa_lab.train.data.monologues import read_monologue

TASK = "study"
SAMPLES = 3
HELD_OUT = 0.05
_FEW = 100  # texts of a speaker, under which a classifier tells little


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
    """A row for each of `study_systems.systems`.

    Args:
        questions: a question and a hint a line, with a tab between them.
        base: the chat model.
        personas: folders of personas on it by name, the first of which most systems speak like.
        dialogues: what the base was trained on.
        style: files with a persona's sentences that it was not trained on, by the same names.
        samples: replies of each system to each question.
        held_out: the share of the dialogues that training kept aside with `--dev`.
        encoder: whose vectors tell whether a reply is about the hint.
        home: where encoders that were fetched lie.
        generation: how many texts are drawn, and how.
        limit: questions.

    Raises:
        DatasetError: there is no persona, too few questions, or nothing held out.
        EncoderError: the encoder cannot be opened.
        TrainingDataError, FileNotFoundError, ValueError: data or models cannot be read.
    """
    if not personas or samples < 1:
        raise DatasetError(
            f"Expected personas on the chat model and a reply or more of each system, but got {len(personas)} personas "
            f"and {samples} replies; train one with `qa-bot train persona`, or ask for more."
        )
    asked = read_questions(questions)[:limit]
    model = ChatModel.load(base)
    speakers = {name: Persona.load(folder, model) for name, folder in personas.items()}
    tested = systems(speakers)
    sentences = {name: _unseen(path, speakers.get(name)) for name, path in style.items()}
    pool, turns = _parted(dialogues, held_out)
    with TemporaryDirectory() as folder:
        opened = resolve(encoder, models=(home or Path(folder)) / "models")
        judges = Judges.of(model, opened, turns, sentences, seed=seed)
        progress("replies to search", len(pool))
        hints = retrieved([each.question for each in asked], pool)
        asked = [replace(each, retrieved=found) for each, found in zip(asked, hints, strict=True)]
        said: dict[str, list[tuple[str, ...]]] = {}
        scores: dict[str, dict[str, Score]] = {}
        for number, system in enumerate(tested, 1):
            said[system.name] = list(replies(system, model, asked, samples, seed=seed, generation=generation))
            scores[system.name] = judges.measured(said[system.name], asked)
            progress("systems measured", number)
    rows = tuple(Row(TASK, questions.name, "", name, "", len(asked), told) for name, told in scores.items())
    notes = tuple(_notes(model, sentences, len(turns), encoder))
    return StudyReport(rows, tuple(_relations(tested, scores)), judges.accuracy, tuple(asked), said, notes)


def read_questions(path: Path) -> list[StudyQuestion]:
    """Raises DatasetError where a line has not two fields, or there are too few of them."""
    found: dict[str, StudyQuestion] = {}
    for item in read_lines([path], _fields):
        if not isinstance(item, Line):
            raise DatasetError(f"{getattr(item, 'where', path)}: {getattr(item, 'reason', 'cannot be read')}")
        found.setdefault(item.example.question, item.example)
    if len(found) < 2:
        raise DatasetError(f"Expected questions with hints in {path}, but got {len(found)}; give two or more.")
    return list(found.values())


def _fields(line: str) -> StudyQuestion:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) != 2 or not all(fields):
        raise ValueError(f"Expected a question and a hint with a tab between them, but got {len(fields)} fields.")
    question, hint = fields
    return StudyQuestion(question, hint)


def _parted(dialogues: Sequence[Path], share: float) -> tuple[list[str], list[str]]:
    """The replies that the base was trained on, and what is said in dialogues that were held out; each text once."""
    known, held = split_dialogues(read_dialogues(dialogues).examples, share)
    if not known or not held:
        raise DatasetError(
            f"Expected dialogues that the base was trained on and others, but got {len(known)} and {len(held)} with "
            f"{share:g} held out; name the share that `train chat --dev` kept aside."
        )
    return list(dict.fromkeys(each.reply for each in exchanges(known))), _turns(held)


def _unseen(path: Path, persona: Persona | None) -> list[str]:
    """Sentences of a file that the persona has not learnt from."""
    learnt = set() if persona is None else set(persona.quotations.sentences)
    return [each.text for each in read_monologue([path]).examples if each.text not in learnt]


def _turns(dialogues: Iterable[Dialogue]) -> list[str]:
    return list(dict.fromkeys(text for each in dialogues for text in (*each.turns, *each.replies)))


def _relations(tested: Sequence[System], scores: Mapping[str, Mapping[str, Score]]) -> list[Relation]:
    """Those that tables 8.3 and 8.4 show; a surprise below 0 means more fluent."""
    wanted = [
        (SURPRISE, "selective, unranked", "vanilla"),
        (SURPRISE, "selective", "vanilla"),
        (SURPRISE, "selective", "vanilla, ranked"),
        (TOPIC, "cg-topic", "selective"),
        (TOPIC, "finetune+cg-topic", "finetune"),
        (TOPIC, "finetune+cg-topic", "selective"),
    ]
    first = next(system.speaker for system in tested if system.persona)
    if first in scores["rank"]:
        voiced = [system.name for system in tested if system.speaker == first]
        wanted += [(first, "finetune", "rank"), *((first, name, "selective") for name in voiced)]
    for system in tested:
        if system.speaker not in ("", first):
            wanted += [(TOPIC, system.name, "selective")]
            wanted += [(system.speaker, system.name, "selective")] * (system.speaker in scores[system.name])
    return [Relation.of(measure, system, other, scores) for measure, system, other in wanted]


def _notes(model: ChatModel, sentences: Mapping[str, Sequence[str]], turns: int, encoder: str) -> list[str]:
    told = [
        f"fluency: trigrams of {turns:,} held-out turns; surprise is the logarithm of perplexity, in nats",
        f"question and hint: cosines between vectors of {encoder}",
    ]
    if model.steering is None:
        told.append("the base hears no topics, so that hints change nothing")
    told += [
        f"only {len(texts)} held-out sentences of {name}: its style figures tell little"
        for name, texts in sentences.items()
        if len(texts) < _FEW
    ]
    return told
