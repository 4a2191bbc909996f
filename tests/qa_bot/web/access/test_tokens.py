"""Where the token is kept."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.home.config import ConfigError, token_hash
from qa_bot.home.sections import ServeSection
from qa_bot.web.access.tokens import is_right, token_for

SECRET = "correct-horse"


def test_the_token_may_stand_in_a_file_of_one_s_own(tmp_path: Path) -> None:
    file, settings = tmp_path / "token", ServeSection()
    assert token_for(tmp_path, settings) == ""
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    assert token_for(tmp_path, settings) == token_hash(SECRET)
    file.chmod(0o400)
    assert token_for(tmp_path, settings) == token_hash(SECRET)
    assert token_for(tmp_path, replace(settings, token="configured")) == token_hash("configured")


def test_a_token_may_be_stored_as_its_hash(tmp_path: Path) -> None:
    """The oracle is `printf correct-horse | sha256sum`."""
    stored = "sha256:" + hashlib.sha256(SECRET.encode()).hexdigest()
    assert token_for(tmp_path, ServeSection(token=stored)) == stored
    assert token_for(tmp_path, ServeSection(token=SECRET)) == stored
    assert is_right(SECRET, stored)
    assert not is_right(stored, stored), "whoever reads the configuration has no token"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o602])
def test_a_token_that_others_could_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(ConfigError, match=rf"got mode 0?{mode:o}; run `chmod 600 {re.escape(str(file))}`"):
        token_for(tmp_path, ServeSection())


@pytest.mark.parametrize(
    ("content", "got"), [(b"", "empty"), (b" \n", "empty"), (b"two words", "spaces"), (b"gr\xc3\xbcn", "beyond ASCII")]
)
def test_a_token_that_no_header_carries_is_refused(tmp_path: Path, content: bytes, got: str) -> None:
    (tmp_path / "token").write_bytes(content)
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(ConfigError, match=got):
        token_for(tmp_path, ServeSection())


def test_a_token_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(ConfigError, match="Expected to read the token"):
        token_for(tmp_path, ServeSection())
