"""Settings of `train fusion`."""

from __future__ import annotations

from dataclasses import dataclass, field

from qa_bot.home.encoders import STARTER
from qa_lab.data.fusion_data import UNJUDGED
from qa_lab.errors import SettingsError
from qa_lab.train.fusion.votes import VoteSettings
from qa_lab.train.request import Request
from qa_lab.train.settings import load_settings, source_of
from rankers.fusion import FusionConfig
from rankers.gbdt import GBDTConfig

CORRECTING = FusionConfig(
    trees=GBDTConfig("cross_entropy", trees=100, leaves=4, learning_rate=0.03, features=0.3), blanked=0.0, least=0.0
)
"""Trees that correct an order by votes: they learn expected shares from all stages."""


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """Keys of `--config`."""

    models: str = ""  # rankers whose scores are joined, as in [ranking] models; with votes: the configured ones
    encoder: str = STARTER  # its cosines are joined, and it searches a judged collection
    keywords: bool = True  # features of shared words, numbers and names
    folds: int = 5  # of cross-validation
    depth: int = 30  # documents of a question that are ranked
    unjudged: float = UNJUDGED  # weight of an unjudged document, as a wrong one; 0 leaves it out
    fusion: FusionConfig = field(default_factory=FusionConfig)
    votes: VoteSettings = field(default_factory=VoteSettings)


def settings(request: Request) -> FusionSettings:
    """Defaults, and the settings over them."""
    source, voted = source_of(request.config), request.feedback is not None
    config = load_settings(request.config, FusionSettings(fusion=CORRECTING) if voted else FusionSettings())
    blanked, least = config.fusion.blanked, config.fusion.least
    if config.folds < 2 or config.depth < 2 or not 0 <= blanked < 1 or not 0 <= least <= 1:
        raise SettingsError(
            f"{source}: Expected folds and depth of 2 or more, blanked from 0 to below 1 and least from 0 to 1, but "
            f"got folds = {config.folds}, depth = {config.depth}, blanked = {blanked} and least = {least}; "
            "correct them."
        )
    corrects = config.fusion.trees.objective == "cross_entropy"
    if corrects != voted:  # trees that correct an order learn shares, all others grades
        expected = "lambdarank or binary" if corrects else "cross_entropy, which learns from votes"
        raise SettingsError(
            f"{source}: Expected the objective {expected}, but got {config.fusion.trees.objective}; correct it."
        )
    _check_votes(config.votes, source)
    if request.base is not None or request.resume:
        option = "--base" if request.base is not None else "--resume"
        raise SettingsError(f"Expected no {option} for a fusion, which is trained in seconds; leave it out.")
    return config


def _check_votes(votes: VoteSettings, source: str) -> None:
    wrong = [name for name in ("least", "agree", "per_voter", "drafts") if getattr(votes, name) < 1]
    wrong += ["unvoted"] * (not 0 < votes.unvoted <= 1)
    if wrong:
        values = ", ".join(f"votes.{name} = {getattr(votes, name)}" for name in wrong)
        raise SettingsError(
            f"{source}: Expected counts of 1 or more and unvoted up to 1, but got {values}; correct it."
        )
