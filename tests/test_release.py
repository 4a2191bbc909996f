"""`make release`: the same bytes wherever they are built, a bill of materials, and signed checksums."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.lock import RUNTIME, parse

ROOT = Path(__file__).parent.parent
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a release is built from a commit"),
    pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="signing needs ssh-keygen"),
]


def run(*command: object, umask: int = 0o022, check: bool = True, **options: object) -> subprocess.CompletedProcess:
    words = list(map(str, command))
    return subprocess.run(words, capture_output=True, timeout=400, umask=umask, check=check, **options)


def test_a_release_is_reproducible_and_signed(tmp_path: Path) -> None:
    key = tmp_path / "key"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", key)
    first, second = tmp_path / "first", tmp_path / "second"
    run(ROOT / "tools/release.sh", sys.executable, first, key)
    elsewhere = {**os.environ, "TZ": "Pacific/Auckland", "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1"}
    run(ROOT / "tools/release.sh", sys.executable, second, umask=0o077, env=elsewhere, cwd=tmp_path)
    (wheel,) = first.glob("qa_bot-*.whl")
    assert wheel.read_bytes() == (second / wheel.name).read_bytes()
    assert (first / "SHA256SUMS").read_text() == (second / "SHA256SUMS").read_text()

    sums = dict(reversed(line.split("  ")) for line in (first / "SHA256SUMS").read_text().splitlines())
    assert sums == {
        name: hashlib.sha256((first / name).read_bytes()).hexdigest() for name in (wheel.name, "qa-bot.cdx.json")
    }
    materials = json.loads((first / "qa-bot.cdx.json").read_text())
    assert materials["bomFormat"] == "CycloneDX"
    listed = {f"{entry['name']}=={entry['version']}" for entry in materials["components"]}
    assert parse((ROOT / RUNTIME).read_text()).keys() <= listed

    signers = tmp_path / "signers"
    signers.write_text(f"release@qa-bot {(tmp_path / 'key.pub').read_text()}")
    verify = ("ssh-keygen", "-Y", "verify", "-n", "qa-bot", "-f", signers, "-I", "release@qa-bot", "-s")
    sums_file = first / "SHA256SUMS"
    run(*verify, first / "SHA256SUMS.sig", input=sums_file.read_bytes())
    altered = sums_file.read_bytes().replace(b"0", b"1", 1)
    assert run(*verify, first / "SHA256SUMS.sig", input=altered, check=False).returncode != 0
    assert not (second / "SHA256SUMS.sig").exists(), "no key, no signature"
