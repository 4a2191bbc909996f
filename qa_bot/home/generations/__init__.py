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
    "read_generation",
    "stamp",
]
