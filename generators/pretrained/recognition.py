"""Recognises folders that hold a model of transformers."""

from __future__ import annotations

import json
from pathlib import Path

CONFIG = "config.json"


def is_transformer(folder: Path) -> bool:
    """Whether the folder's configuration is one of transformers."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and bool({"model_type", "architectures"} & config.keys())
