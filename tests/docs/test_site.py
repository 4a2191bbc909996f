"""The documentation builds without warnings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {name: (tmp_path / "site" / "reference" / name / "index.html").read_text() for name in ("commands", "http")}
    assert "qa-bot train" in pages["commands"]
    assert "/api/ask" in pages["http"]
    configuration = (tmp_path / "site" / "reference" / "configuration" / "index.html").read_text()
    assert "ranking.models" in configuration
    training = (tmp_path / "site" / "reference" / "training" / "index.html").read_text()
    assert "hyperqa" in training
