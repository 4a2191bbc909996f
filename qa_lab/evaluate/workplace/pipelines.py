"""Opens the pipelines under comparison: the product, and the reference pipelines."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from qa_bot.answering.ask import Ask
from qa_bot.bot import Bot
from qa_bot.home.folder import Home
from qa_bot.home.starter import COLLECTION
from qa_core.types import Question
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import EvaluationHome, Progress, evaluation_home, silent
from qa_lab.evaluate.systems import PATIENCE, rank
from qa_lab.reference.documents import read_documents
from qa_lab.reference.encoders import EncoderChoice, open_encoder, token_encoder
from qa_lab.reference.plain_hybrid import PlainHybrid
from qa_lab.reference.recipe import Recipe
from qa_lab.reference.recipe_index import RecipeIndex
from qa_lab.reference.refusal import LateInteractionGate, Threshold
from qa_lab.reference.replies import Extract, Pipeline, Reply, Turn

DEFAULT = "default"
REFERENCES = ("plain-hybrid", "recipe", "recipe-gate")
ENGINES = (DEFAULT, *REFERENCES)
STARTER_DATA = "starter"
"""In place of a folder: a new home with the starter collection."""


@contextmanager
def opened(
    engine: str,
    data: Path,
    choice: EncoderChoice,
    *,
    home: Path | None = None,
    flags: Mapping[str, object] | None = None,
    progress: Progress = silent,
) -> Iterator[Pipeline]:
    """A pipeline over the documents of a file or folder, or over the starter collection (`STARTER_DATA`).

    Args:
        engine: one of `ENGINES`.
        home: home of the default engine instead of a temporary one.
        flags: configuration of the default engine by `section.key`.

    Raises:
        DatasetError: if there is no document, or the engine is unknown.
        EncoderError: if the encoder cannot be opened.
    """
    if engine not in ENGINES:
        raise DatasetError(f"Expected one of the engines {', '.join(ENGINES)}, but got {engine!r}.")
    is_starter = str(data) == STARTER_DATA
    if not is_starter and not data.exists():
        raise DatasetError(f"Expected a file or a folder, but got {data}, which does not exist; name it with --data.")
    if engine == DEFAULT and is_starter:
        with _starter_home(choice, flags or {}) as held, product(held) as pipeline:
            yield pipeline
        return
    if engine == DEFAULT:
        opening = evaluation_home(
            [data],
            collection=data.resolve().stem,
            home=home,
            encoders=[choice.configured],
            flags={**choice.flags, **(flags or {})},
            progress=progress,
        )
        with opening as held, product(held) as pipeline:
            yield pipeline
        return
    if home is not None:
        raise DatasetError(f"Expected --home with the engine {DEFAULT} only, but got {engine}; leave --home out.")
    yield reference(engine, COLLECTION if is_starter else data, choice)


@contextmanager
def product(held: EvaluationHome) -> Iterator[Pipeline]:
    """The bot over a home that holds the documents."""
    with ExitStack() as stack:
        bot = stack.enter_context(held.opened(calibrated=True, improved=True))
        flags = {**held.flags, "dense.encoder": bot.config.dense.encoder, "answer.precision": 0.0}
        forced = stack.enter_context(Bot.open(held.home.path, flags=flags, record=False))
        yield ProductPipeline(bot, forced)


def reference(engine: str, data: Path, choice: EncoderChoice) -> Pipeline:
    """A reference pipeline by name. Raises DatasetError if there is no document."""
    try:
        if engine == "plain-hybrid":
            return PlainHybrid(read_documents(data), open_encoder(choice))
        index = _recipe_index(data.resolve(), choice)
    except ValueError as error:
        raise DatasetError(str(error)) from error
    gate = LateInteractionGate(token_encoder(), index.keywords) if engine == "recipe-gate" else None
    return Recipe(index, gate or Threshold.of(choice.name))


@lru_cache(maxsize=1)
def _recipe_index(data: Path, choice: EncoderChoice) -> RecipeIndex:
    """The last index is kept: two engines share it, and encoding takes minutes."""
    return RecipeIndex(read_documents(data), open_encoder(choice))


@contextmanager
def _starter_home(choice: EncoderChoice, flags: Mapping[str, object]) -> Iterator[EvaluationHome]:
    """A temporary new home, which has the starter collection."""
    with TemporaryDirectory(prefix="qa-bot-evaluation-") as folder:
        held = EvaluationHome(Home.open(Path(folder)), temporary=True, flags={**choice.flags, **flags})
        with held.opened():
            pass
        yield held


class ProductPipeline:
    """`Bot` with its defaults; a second bot that wants no precision gives the forced answers."""

    def __init__(self, bot: Bot, forced: Bot) -> None:
        self._bot, self._forced = bot, forced
        self._run = uuid.uuid4().hex
        self._understood: dict[Turn, str] = {}

    def reply(self, turn: Turn, *, forced: bool = False) -> Reply:
        """The turns of a dialogue are asked in order in one conversation."""
        bot = self._forced if forced else self._bot
        conversation = f"{self._run}/{turn.dialogue}" if turn.dialogue else None
        answer = bot.ask(Ask(Question(turn.question, turn.body), conversation=conversation), deadline=PATIENCE)
        self._understood[turn] = answer.searched or answer.understood or turn.question
        documents = tuple(source.document for source in answer.sources)
        return Reply(answer.answered, answer.text, documents, answer.reason, answer.confidence)

    def ranked(self, turn: Turn, k: int) -> Sequence[Extract]:
        """The ranking of the turn; of a follow-up that was answered before, of the question it was understood as."""
        question = Question(self._understood.get(turn, turn.question), turn.body)
        ranking = rank(self._bot.corridor(), question, engine="hybrid", depth=k, verify=True)
        passages = [candidate.passage for candidate in ranking.candidates[:k]]
        return [Extract(passage.source.document, passage.text) for passage in passages]

    def passages(self) -> Sequence[Extract]:
        return [
            Extract(document.external_id, passage.text)
            for document in self._bot.store.stream_documents()
            for passage in document.passages
        ]
