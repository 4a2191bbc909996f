"""Writes the lock files: every package with its version and the SHA-256 of each of its files (`make lock`).

    requirements.lock         what qa-bot needs to read every format and to answer, without PyTorch
    requirements-dev.lock     further packages of all extras, for development and tests
    requirements-cpu.lock     the CPU build of PyTorch for Linux
    requirements-torch.lock   or else its ordinary build, which brings CUDA on Linux

Versions are those of `constraints.txt`; uv resolves them and reads the hashes from the package index.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNTIME, DEVELOPMENT = "requirements.lock", "requirements-dev.lock"
CPU, ORDINARY = "requirements-cpu.lock", "requirements-torch.lock"
CONTENTS = {
    RUNTIME: "What qa-bot needs to read every format and to answer, without PyTorch",
    DEVELOPMENT: "Further packages of all extras",
    CPU: "The CPU build of PyTorch for Linux, which is on the index of PyTorch",
    ORDINARY: "The ordinary build of PyTorch",
}
CUDA = re.compile("nvidia-|cuda-|triton")
TORCH = re.compile("torch==")
CPU_BUILD = {"+cpu": ["6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"]}
"""Local version → SHA-256 of torch 2.13.0+cpu for CPython 3.11 and manylinux_2_28_x86_64."""
LINUX = " ; sys_platform == 'linux'"
COMPILE = (
    "pip compile pyproject.toml --quiet --no-header --no-annotate --no-emit-index-url --no-emit-find-links "
    "--generate-hashes --constraint constraints.txt --python"
)
HEADER = "# {content}: written by `make lock`, not by hand."

Lock = dict[str, list[str]]
"""`name==version` → its hashes."""


def resolve(*options: str) -> Lock:
    """The packages of pyproject.toml with these options of uv."""
    command = [str(Path(sys.executable).with_name("uv")), *COMPILE.split(), sys.executable, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"Expected uv to resolve the packages, but got: {done.stderr.strip()}")
    return parse(done.stdout)


def parse(text: str) -> Lock:
    """The packages of a lock file; raises ValueError for a line that is neither package nor hash."""
    lock: Lock = {}
    for line in text.splitlines():
        if package := re.match(r"([\w.-]+==[^\s;\\]+)", line):
            lock[package[1]] = []
        elif (digest := re.fullmatch(r"\s+--hash=sha256:([0-9a-f]{64})(?: \\)?", line)) and lock:
            lock[next(reversed(lock))].append(digest[1])
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"Expected `name==version` or `--hash=sha256:…`, but got {line!r}.")
    return lock


def split(runtime: Lock, everything: Lock) -> Mapping[str, Lock]:
    """Lock file → its packages, each in one file only, save PyTorch."""
    torch = {package: hashes for package, hashes in everything.items() if TORCH.match(package)}
    cuda = {package + LINUX: hashes for package, hashes in everything.items() if CUDA.match(package)}
    plain = {name: hashes for name, hashes in everything.items() if not CUDA.match(name) and not TORCH.match(name)}
    return {
        RUNTIME: {package: hashes for package, hashes in plain.items() if package in runtime},
        DEVELOPMENT: {package: hashes for package, hashes in plain.items() if package not in runtime},
        CPU: {package + build: hashes for package in torch for build, hashes in CPU_BUILD.items()},
        ORDINARY: {**torch, **cuda},
    }


def render(content: str, lock: Lock) -> str:
    """Text of a lock file."""
    packages = (
        " \\\n".join([package, *(f"    --hash=sha256:{digest}" for digest in sorted(hashes))])
        for package, hashes in lock.items()
    )
    return "\n".join([HEADER.format(content=content), *packages, ""])


def main() -> None:
    for name, lock in split(resolve("--extra", "documents"), resolve("--all-extras")).items():
        (ROOT / name).write_text(render(CONTENTS[name], lock), encoding="utf-8")


if __name__ == "__main__":
    main()
