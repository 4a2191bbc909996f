"""From a folder to the trained ranker in it."""

from __future__ import annotations

import json
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from qa_bot.home.encoders import fetched, is_hub_id, resolve
from qa_bot.home.folder import Home
from qa_bot.home.sections import RankingSection
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.networks.checkpoints import CONFIG, load_config, reads_of
from rankers.neural import Asks, NeuralRanker, PairScorer, Reads

if TYPE_CHECKING:
    from rankers.fusion import LearnedFusion
    from rankers.paraphrase.contextual_words import Contextual

LOADERS = {
    "BLSTMConfig": "rankers.answer_selection.blstm:BLSTMScorer.load",
    "ComparedConfig": "rankers.answer_selection.compared:ComparedRanker.load",
    "DecomposableConfig": "qa_bot.answering.models.ranker_loading:open_word_pairs",
    "DecompositionConfig": "qa_bot.answering.models.ranker_loading:open_word_pairs",
    "EncoderDecoderConfig": "rankers.answer_selection.encoder_decoder:EncoderDecoderRanker.load",
    "EntailmentConfig": "qa_bot.answering.models.ranker_loading:open_word_pairs",
    "FusionModel": "qa_bot.answering.models.ranker_loading:open_fused",
    "HyperQAConfig": "rankers.answer_selection.hyperqa:HyperQA.load",
    "MatchingConfig": "qa_bot.answering.models.ranker_loading:open_word_pairs",
    "PairConfig": "rankers.answer_selection.cross_encoder:open_cross_encoder",
    "PeerConfig": "rankers.answer_selection.siamese_cosine:SiameseCosineRanker.load",
    "SiameseConfig": "qa_bot.answering.models.ranker_loading:open_word_pairs",
    "StackedConfig": "qa_bot.answering.models.ranker_loading:open_stacked",
}
"""Loader of a folder, as module:name, by the `kind` of its config.json."""

OF_QUESTIONS = ("DecomposableConfig", "DecompositionConfig", "EntailmentConfig", "MatchingConfig", "SiameseConfig")
"""Kinds that compare two questions: by default they read a candidate's title."""
FUSION = "FusionModel"
"""Kind of a learned fusion, which scores candidates rather than pairs."""
PUBLISHED = "published"
"""Kind of folders in Hugging Face layout."""
_SUFFIX = re.compile(r"[@:].*$")
DEPTH = 30
"""Default number of documents that a ranker scores."""


class RankerError(ValueError):
    """A ranker that cannot be opened; the message gives the reason and the remedy."""


def open_ranker(folder: Path, *, models: Path | None = None, int8: bool = False) -> PairScorer:
    """Open a trained ranker, or a reranker in Hugging Face layout.

    Args:
        models: where graphs made from published weights are stored; by default the models of the default home.
        int8: run a published reranker in 8-bit integers.

    Raises:
        RankerError: the folder has no ranker, or a damaged one.
    """
    kind = kind_of(folder)
    try:
        if kind == PUBLISHED:
            from qa_bot.answering.models.hub_rankers import open_hub_ranker

            return open_hub_ranker(folder, models=models or Home.open().models, int8=int8)
        if kind not in LOADERS:
            raise RankerError(_not_ranker(folder, kind))
        module, _, opener = LOADERS[kind].partition(":")
        return cast(PairScorer, attrgetter(opener)(import_module(module))(folder))
    except RankerError:
        raise
    except (ValueError, FileNotFoundError, ModuleNotFoundError) as error:
        raise RankerError(f"{folder}: {error}") from error


def kind_of(folder: Path) -> str | None:
    """The kind in the folder's config.json, `PUBLISHED` in Hugging Face layout. Raises RankerError if unreadable."""
    try:
        head = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RankerError(
            f"Expected a trained ranker in {folder}, but got no {CONFIG}; name the --out of a `qa-bot train`,"
            " or fetch a reranker from the hub: qa-bot use --ranker NAME"
        ) from None
    except (OSError, ValueError) as error:
        raise RankerError(f"{folder / CONFIG}: Expected a readable JSON file, but got {error}; train again.") from error
    if not isinstance(head, dict):
        return None
    return head.get("kind", PUBLISHED if "model_type" in head else None)


def open_stacked(folder: Path) -> PairScorer:
    """A stacked ranker, with the starter encoder if its features include cosines."""
    from rankers.answer_selection.stacked import StackedConfig, StackedRanker

    trained_with = load_config(folder, StackedConfig).encoder
    if not trained_with:
        return StackedRanker.load(folder)
    starter = StaticEncoder.load(ENCODER)
    fingerprint = trained_with if trained_with in starter.extends else starter.fingerprint
    return StackedRanker.load(folder, encode=starter.encode, encoder=fingerprint)


def open_word_pairs(folder: Path) -> PairScorer:
    """A network over words; an encoder of words in context is loaded from its folder of training."""
    from rankers.paraphrase.word_pairs import WordPairs

    return WordPairs.load(folder, opened=open_contextual)


def open_contextual(name: str) -> Contextual:
    """The encoder of that name. Raises EncoderError, or RankerError if it has no hidden states."""
    encoder = resolve(name, models=Home.open().models)
    if not hasattr(encoder, "states"):
        raise RankerError(f"Expected a transformer, which reads words in context, but {name!r} is another encoder.")
    return cast("Contextual", encoder)


def open_fused(folder: Path) -> PairScorer:
    """A learned fusion with the rankers and the encoder of its training, loaded from the same folders."""
    from rankers.fusion import FusedScorer

    fusion = open_fusion(folder)
    encoder = resolve(fusion.origin.encoder, models=Home.open().models) if fusion.origin.encoder else None
    models = open_rankers(",".join(fusion.origin.models))
    return FusedScorer(fusion, models, encoder.encode if encoder else None)


class ConfiguredRankers(NamedTuple):
    """Trained rankers in their order of use, and the learned fusion of all scores."""

    models: tuple[NeuralRanker, ...] = ()
    fusion: LearnedFusion | None = None


def open_configured(ranking: RankingSection, *, models: Path | None = None) -> ConfiguredRankers:
    """Open the configured rankers and fusion; `models` is the home's folder of models. Raises RankerError."""
    fusion = open_fusion(Path(ranking.fusion)) if ranking.fusion else None
    return ConfiguredRankers(open_rankers(ranking.models, models=models, int8=ranking.int8), fusion)


def open_fusion(folder: Path) -> LearnedFusion:
    """Open a learned fusion. Raises RankerError if the folder has none, or a damaged one."""
    from rankers.fusion import LearnedFusion

    try:
        return LearnedFusion.load(folder.expanduser())
    except (ValueError, FileNotFoundError, ModuleNotFoundError) as error:
        raise RankerError(f"Expected the --out of a `qa-bot train fusion`: {error}") from error


class RankerSpec(NamedTuple):
    """A ranker of the configuration."""

    name: str  # a folder or a hub id
    folder: Path
    reads: Reads | None  # None for the default of its kind
    depth: int

    def at(self, name: str) -> str:
        """The specification with another name."""
        return f"{name}{f'@{self.reads}' if self.reads else ''}:{self.depth}"


def parse_ranker_specs(rankers: str, *, models: Path | None = None) -> list[RankerSpec]:
    """Parse NAME[@text|@title|@both][:N], separated by commas; NAME is a folder or a hub id.

    `models` holds what was fetched from the hub. Raises RankerError for a depth of 0.
    """
    specs = []
    for spec in filter(None, (part.strip() for part in rankers.split(","))):
        folder, colon, depth = spec.rpartition(":")
        if not colon or not depth.isdigit():
            folder, depth = spec, str(DEPTH)
        if int(depth) < 1:
            raise RankerError(f"Expected a ranker that looks at a document or more, but got {spec!r}; say FOLDER:10.")
        path, at, reads = folder.rpartition("@")
        known = bool(at) and reads in get_args(Reads)
        name = path if known else folder
        specs.append(RankerSpec(name, _located(name, models), cast(Reads, reads) if known else None, int(depth)))
    return specs


def expect_rankers(specs: str, *, models: Path) -> None:
    """Check the folders of `[ranking] models` without opening them; hub ids that are not fetched are not checked.

    Raises RankerError for a wrong suffix, a missing folder, or one that holds anything else than a ranker of pairs.
    """
    parsed = parse_ranker_specs(specs, models=models)
    for spec in parsed:
        if spec.folder.is_dir():
            _expect_ranker(spec.folder)
        elif wrong := _SUFFIX.search(Path(spec.name).name):
            raise RankerError(
                f"Expected FOLDER, then @text, @title or @both if any, then :N, a number of documents, but got "
                f"{wrong.group()!r} after {spec.name.removesuffix(wrong.group())!r}; correct it."
            )
        elif not is_hub_id(spec.name):
            raise RankerError(
                f"Expected the folder of a trained ranker or ORG/NAME of the hub, but got {spec.name!r}; mend the path."
            )
    names = [spec.folder.name for spec in parsed]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise RankerError(_same_names(repeated))


def _expect_ranker(folder: Path) -> None:
    kind = kind_of(folder)
    if kind == PUBLISHED:
        from rankers.answer_selection.pretrained_cross_encoder import check_reranker

        try:
            check_reranker(folder)
        except (ValueError, FileNotFoundError) as error:
            raise RankerError(str(error)) from error
    elif kind == FUSION:
        raise RankerError(_not_pairs(folder))
    elif kind not in LOADERS:
        raise RankerError(_not_ranker(folder, kind))


def expect_fusion(folder: Path) -> None:
    """Raises RankerError if a folder holds anything else than a learned fusion; it is not opened."""
    if (kind := kind_of(folder.expanduser())) != FUSION:
        raise RankerError(
            f"Expected the --out of a `qa-bot train fusion`, but the {CONFIG} of {folder} names the kind {kind!r}; "
            "choose another."
        )


def _same_names(name: str) -> str:
    return f"Expected rankers of different names, but two folders are named {name!r}."


def _not_pairs(folder: Path) -> str:
    return f"Expected rankers of pairs, but {folder} is a learned fusion; name it by ranking.fusion."


def _not_ranker(folder: Path, kind: str | None) -> str:
    return f"Expected a ranker in {folder}, but its {CONFIG} names the kind {kind!r}; choose another."


def _located(name: str, models: Path | None) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir() or not is_hub_id(name):
        return folder
    existing = fetched(name, models or Home.open().models)
    return existing if existing.is_dir() else folder


def open_rankers(specs: str, *, models: Path | None = None, int8: bool = False) -> tuple[NeuralRanker, ...]:
    """Open the rankers of `[ranking] models`; see `open_ranker` for the arguments. Raises RankerError."""
    rankers: dict[str, NeuralRanker] = {}
    for _, path, reads, depth in parse_ranker_specs(specs, models=models):
        from rankers.fusion import FusedScorer

        if path.name in rankers:
            raise RankerError(_same_names(path.name))
        scorer = open_ranker(path, models=models, int8=int8)
        if isinstance(scorer, FusedScorer):
            raise RankerError(_not_pairs(path))
        inputs = inputs_of(path)
        rankers[path.name] = NeuralRanker(
            path.name, scorer, depth=depth, reads=reads or inputs.document, asks=inputs.question
        )
    return tuple(rankers.values())


class Inputs(NamedTuple):
    """What a ranker reads of a question and of a candidate."""

    question: Asks = "both"
    document: Reads = "text"


def inputs_of(folder: Path) -> Inputs:
    """As its training noted it, else title and body of a question, and of a candidate what its kind reads.

    Raises RankerError if the note names anything else.
    """
    kind = kind_of(folder)
    default = Inputs(document="title" if kind in OF_QUESTIONS else "text")
    if kind == PUBLISHED:
        return default
    known = {"question": get_args(Asks), "document": get_args(Reads)}
    try:
        reads = reads_of(folder)
    except ValueError as error:
        raise RankerError(str(error)) from error
    if wrong := {side: value for side, value in reads.items() if value not in known.get(side, ())}:
        raise RankerError(f"{folder / CONFIG}: Expected inputs among {known}, but got {wrong}; train the model again.")
    return default._replace(**cast("dict[str, Any]", reads))
