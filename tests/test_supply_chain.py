"""Every package is pinned, locked by hash, and under a licence that we may depend on."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import CPU, CPU_BUILD, DEVELOPMENT, LINUX, ORDINARY, RUNTIME, parse, render, split

ROOT = Path(__file__).parent.parent
ALLOWED = re.compile(r"Apache|MIT|BSD|ISC|PSF|Python Software|MPL|Mozilla|CNRI|Zlib|BSL|CC0|LGPL-2.1-or-later\)")
LESSER = {
    "inflate64": "a separate library of py7zr, unchanged",
    "multivolumefile": "a separate library of py7zr, unchanged",
    "py7zr": "a separate library, unchanged",
    "pybcj": "a separate library of py7zr, unchanged",
    "pyppmd": "a separate library of py7zr, unchanged",
    "psycopg": "the extra `postgres`, a separate library, unchanged",
    "psycopg-binary": "the extra `postgres`, a separate library, unchanged",
}
"""Packages under the LGPL, and why that is allowed; no others may be added."""


def packages(file: str) -> dict[str, str]:
    """Name → version of a lock file."""
    lock = parse((ROOT / file).read_text())
    return {canonicalize_name(package.partition("==")[0]): package.partition("==")[2] for package in lock}


LOCKED = packages(RUNTIME) | packages(DEVELOPMENT)
PINS = {
    canonicalize_name(name): version
    for name, _, version in (line.partition("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
}


def closure(requirements: list[str], known: dict[str, str]) -> set[str]:
    """Names of all packages that these requirements need here, themselves included."""
    needed, waiting = set[tuple[str, str]](), [(Requirement(text), "") for text in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for extra_name in ("", *requirement.extras):
            if (name, extra_name) not in needed and name in known:
                needed.add((name, extra_name))
                waiting += [(Requirement(text), extra_name) for text in importlib.metadata.requires(name) or ()]
            elif name not in known:
                needed.add((name, ""))
    return {name for name, _ in needed}


def test_every_locked_package_has_its_pin_and_a_hash() -> None:
    stale = {name: version for name, version in LOCKED.items() if PINS.get(name) != version}
    assert stale == {}, "constraints.txt and the lock files differ: run `make lock`"
    for file in (RUNTIME, DEVELOPMENT, CPU, ORDINARY):
        assert [package for package, hashes in parse((ROOT / file).read_text()).items() if not hashes] == []
    assert packages(CPU)["torch"] == f"{packages(ORDINARY)['torch']}{next(iter(CPU_BUILD))}"
    assert packages(ORDINARY)["torch"] == PINS["torch"]


def test_every_package_that_is_needed_is_locked() -> None:
    """Also those that packages need in turn, as installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    extras = [text for name, texts in optional.items() if name != "documents" for text in texts]
    assert optional["documents"] == ["qa-bot[ocr]"], "`make ask` installs it, so that it belongs to the runtime"
    installed = {canonicalize_name(package.name) for package in importlib.metadata.distributions()}
    known = {name: version for name, version in (LOCKED | {"torch": ""}).items() if name in installed}
    runtime = closure(project["dependencies"] + optional["ocr"], known)
    assert runtime - packages(RUNTIME).keys() - {"torch"} == set(), "run `make lock`"
    assert closure(extras, known) - LOCKED.keys() - {"torch"} == set(), "run `make lock`"


def licence(name: str) -> str:
    """The licence that a package states."""
    stated = importlib.metadata.metadata(name)
    classifiers = [text.rpartition(" :: ")[2] for text in stated.get_all("Classifier", []) if text[:7] == "License"]
    first_line = (stated.get("License") or "").strip().partition("\n")[0]
    return stated.get("License-Expression") or "; ".join(classifiers) or first_line


def test_every_locked_package_has_a_licence_that_we_may_depend_on() -> None:
    installed = {canonicalize_name(package.name) for package in importlib.metadata.distributions()}
    for name in sorted(LOCKED.keys() & installed):
        stated = licence(name)
        if name in LESSER:
            assert "LGPL" in stated, name
        else:
            assert ALLOWED.search(stated) or stated == "0BSD", (name, stated)
            assert not re.search(r"(?<!L)A?GPL", stated) or "BSD License" in stated, (name, stated)
    assert LESSER.keys() <= LOCKED.keys()


# --- the tool -------------------------------------------------------------------------------------------------------

A, B, C = "a" * 64, "b" * 64, "c" * 64


def test_a_package_is_in_one_file_only_and_cuda_for_linux() -> None:
    runtime = {"numpy==1": [A], "torch==2": [B], "nvidia-x==3": [C]}
    files = split(runtime, {**runtime, "pytest==4": [B], "triton==5": [A]})
    assert files[RUNTIME] == {"numpy==1": [A]}
    assert files[DEVELOPMENT] == {"pytest==4": [B]}
    assert files[ORDINARY] == {"torch==2": [B], f"nvidia-x==3{LINUX}": [C], f"triton==5{LINUX}": [A]}
    assert files[CPU] == {"torch==2+cpu": CPU_BUILD["+cpu"]}


def test_what_is_written_is_what_is_read() -> None:
    lock = {"numpy==1": [A, B], f"triton==5{LINUX}": [C]}
    text = render("All", lock)
    assert f"numpy==1 \\\n    --hash=sha256:{A} \\\n    --hash=sha256:{B}\ntriton==5{LINUX} \\\n" in text
    assert parse(text) == {"numpy==1": [A, B], "triton==5": [C]}


@pytest.mark.parametrize(
    "line", ["numpy>=1", "-e .", "https://example.org/a.whl", f"    --hash=md5:{A}", f"    --hash=sha256:{A}"]
)
def test_a_line_without_pin_or_hash_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="Expected `name==version`"):
        parse(line)
