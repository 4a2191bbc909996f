"""Generations of the index and of the graph, and the commit that makes changes of a home visible at once."""

from qa_bot.home.generations.generations import GenerationGoneError, Generations, Stamp, link, stamp
from qa_bot.home.generations.manifest import (
    MANIFEST,
    REPAIR,
    CorruptGenerationError,
    Damage,
    FileRecord,
    Generation,
    read_generation,
)
from qa_bot.home.generations.pending_settings import present_config

__all__ = [
    "MANIFEST",
    "REPAIR",
    "CorruptGenerationError",
    "Damage",
    "FileRecord",
    "Generation",
    "GenerationGoneError",
    "Generations",
    "Stamp",
    "link",
    "present_config",
    "read_generation",
    "stamp",
]
