"""The library of a disk that fails on command."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.faults.disk import compiled


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        reason = "Expected a C compiler as `cc` for the disk that fails, but got none; install gcc or clang."
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return compiled(tmp_path_factory.mktemp("disk"))
