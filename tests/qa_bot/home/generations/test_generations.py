"""Generations of an index: publishing, pruning, damage, and crashes at any step."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from qa_bot.home.generations import (
    CorruptGenerationError,
    FileRecord,
    Generation,
    GenerationGoneError,
    Generations,
    link,
)
from qa_bot.home.generations import manifest as module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "index"


def publish(generations: Generations, number: int, **files: str) -> Generation:
    staged = generations.stage(number)
    for name, text in files.items():
        path = staged / "part" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return generations.publish(staged, {"encoder": "starter", "number": number})


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_empty_folder_has_no_current_generation(root: Path) -> None:
    generations = Generations(root)
    assert generations.current() is None
    assert generations.current_number() is None
    assert generations.verify(deep=True) == []
    assert generations.prune() == []
    with generations.pin_current() as pinned:
        assert pinned is None


def test_published_generation_is_current(root: Path) -> None:
    published = publish(Generations(root), 7, a="hello")
    current = Generations(root).current()
    assert current == published
    assert current is not None
    assert (current.number, current.path, current.manifest) == (
        7,
        root / "00000007",
        {"encoder": "starter", "number": 7},
    )
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # sha256 of "hello"
    assert current.files == {"part/a": FileRecord(5, digest)}
    assert names(root) == ["00000007", "CURRENT"]
    assert (root / "CURRENT").read_text() == "00000007\n"


def test_staging_removes_files_of_a_dead_writer(root: Path) -> None:
    generations = Generations(root)
    publish(generations, 1, a="x")
    for left in (
        "00000002.partial",
        "00000000.removed",
        "00000002",
    ):  # the last one was renamed, but never became current
        (root / left).mkdir()
        (root / left / "file").write_text("left")
    (root / "CURRENT.new").write_text("0000")
    staged = generations.stage(2)
    assert names(root) == ["00000001", "00000002.partial", "CURRENT"]
    assert list(staged.iterdir()) == []


def test_number_must_exceed_the_current(root: Path) -> None:
    generations = Generations(root)
    publish(generations, 3)
    with pytest.raises(ValueError, match="above the current generation 3, but got 3"):
        generations.stage(3)


def test_unchanged_files_are_linked_and_not_hashed_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generations = Generations(root)
    first = publish(generations, 1, a="x" * 100, b="y")
    staged = generations.stage(2)
    link(first, "part", staged)
    (staged / "part" / "b").unlink()
    (staged / "part" / "b").write_text("z")
    read: list[str] = []
    monkeypatch.setattr(module, "_sha256", lambda path: read.append(path.name) or "0" * 64)
    second = generations.publish(staged, {})
    assert read == ["b"]
    assert second.files["part/a"] == first.files["part/a"]
    assert (second.path / "part" / "a").samefile(first.path / "part" / "a")
    assert (first.path / "part" / "b").read_text() == "y"


def test_linking_one_file(root: Path) -> None:
    generations = Generations(root)
    first = publish(generations, 1, a="x")
    staged = generations.stage(2)
    link(first, "part/a", staged)
    assert (staged / "part" / "a").samefile(first.path / "part" / "a")


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EPERM, errno.EMLINK])
def test_files_are_copied_if_linking_fails(root: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(origin, target) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    generations = Generations(root)
    first = publish(generations, 1, a="x")
    staged = generations.stage(2)
    link(first, "part", staged)
    assert (staged / "part" / "a").read_text() == "x"
    assert not (staged / "part" / "a").samefile(first.path / "part" / "a")
    assert generations.publish(staged, {}).files == first.files


def test_other_errors_of_linking_are_raised(root: Path) -> None:
    generations = Generations(root)
    first = publish(generations, 1)
    with pytest.raises(FileNotFoundError):
        link(first, "part/none", generations.stage(2))


def test_symbolic_links_are_refused(root: Path, tmp_path: Path) -> None:
    generations = Generations(root)
    staged = generations.stage(1)
    (staged / "away").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="but got the link"):
        generations.publish(staged, {})


# --- damage ---------------------------------------------------------------------------------------------------------


def test_missing_and_damaged_files_are_distinguished(root: Path) -> None:
    generations = Generations(root)
    published = publish(generations, 1, gone="x", short="12345", flipped="12345", good="1")
    folder = published.path / "part"
    (folder / "gone").unlink()
    (folder / "short").write_text("1")
    (folder / "flipped").write_text("12346")
    kinds = {damage.path.name: damage.kind for damage in generations.verify()}
    assert kinds == {"gone": "missing", "short": "damaged"}
    deep = {damage.path.name: damage for damage in generations.verify(published, deep=True)}
    assert {name: damage.kind for name, damage in deep.items()} == {**kinds, "flipped": "damaged"}
    assert deep["short"].message == (
        f"{folder / 'short'} is damaged: expected 5 bytes, but got 1; run `qa-bot repair`."
    )


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda path: path.unlink(), "missing"),
        (lambda path: shutil.rmtree(path.parent), "missing"),
        (lambda path: path.write_text(path.read_text()[:40]), "damaged"),
        (lambda path: path.write_text(""), "damaged"),
        (lambda path: path.write_text("[]"), "damaged"),
        (lambda path: path.write_bytes(b"\xff\x00"), "damaged"),
        (lambda path: path.write_text(path.read_text().replace('"bytes": 1', '"bytes": 2')), "damaged"),
    ],
)
def test_damaged_manifest_is_reported(root: Path, spoil, kind: str) -> None:
    generations = Generations(root)
    spoil(publish(generations, 1, a="x").path / "manifest.json")
    with pytest.raises(CorruptGenerationError, match="run `qa-bot repair`") as caught:
        generations.current()
    assert caught.value.damage.kind == kind
    assert [damage.kind for damage in generations.verify()] == [kind]


@pytest.mark.parametrize("text", ["", "7", "../../../etc", "0000000x", "\xff"])
def test_damaged_pointer_is_reported_and_can_be_repaired(root: Path, text: str) -> None:
    generations = Generations(root)
    publish(generations, 1, a="x")
    (root / "CURRENT").write_text(text, encoding="latin-1")
    with pytest.raises(CorruptGenerationError, match="CURRENT is damaged"):
        generations.current()
    assert [damage.path.name for damage in generations.verify()] == ["CURRENT"]
    assert publish(generations, generations.newest() + 1, a="y").number == 2
    assert generations.verify(deep=True) == []


# --- readers --------------------------------------------------------------------------------------------------------


def test_pruning_keeps_two_and_pinned_generations(root: Path) -> None:
    generations = Generations(root)
    first = publish(generations, 1)
    with generations.pin(first):
        for number in (2, 3, 4):
            publish(generations, number)
        assert Generations(root).prune(keep=2) == [2]
        assert names(root) == ["00000001", "00000003", "00000004", "CURRENT"]
    assert generations.prune(keep=2) == [1]
    assert generations.prune(keep=1) == [3]
    assert names(root) == ["00000004", "CURRENT"]


def test_pruning_sees_readers_of_other_processes(root: Path) -> None:
    generations = Generations(root)
    first = publish(generations, 1)
    code = (
        "import sys; from pathlib import Path; from qa_bot.home.generations import Generations\n"
        "with Generations(Path(sys.argv[1])).pin_current() as pinned:\n"
        "    print(pinned.number, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "1\n"
        publish(generations, 2)
        assert generations.prune(keep=1) == []
        reader.kill()
    assert generations.prune(keep=1) == [1], "a dead reader holds nothing"
    with pytest.raises(GenerationGoneError), generations.pin(first):
        pass


def test_late_reader_pins_the_newer_generation(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generations = Generations(root)
    first = publish(generations, 1)
    publish(generations, 2)
    generations.prune(keep=1)
    answers = iter([first, generations.current()])
    monkeypatch.setattr(generations, "current", lambda: next(answers))
    with generations.pin_current() as pinned:
        assert pinned is not None
        assert pinned.number == 2


# --- crashes --------------------------------------------------------------------------------------------------------

KILLED = """
import itertools, os, shutil, signal, sys
from pathlib import Path
from qa_bot.home.generations import Generations, link

base, top = Path(sys.argv[1]), Path(sys.argv[2])

def killing(step):
    count = itertools.count(1)
    def wrap(original):
        def call(*args, **kwargs):
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **kwargs)
        return call
    for name in ("fsync", "link", "rename", "replace", "mkdir", "unlink", "rmdir"):
        setattr(os, name, wrap(getattr(os, name)))

def work(root):
    generations = Generations(root)
    staged = generations.stage(3)
    link(generations.current(), "part/a", staged)
    (staged / "part" / "c").write_text("new")
    generations.publish(staged, {})
    generations.prune(keep=1)

for step in itertools.count(1):
    root = top / str(step)
    shutil.copytree(base, root)
    if not (child := os.fork()):
        killing(step)
        work(root)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
print(step)
"""


def test_a_kill_at_any_step_leaves_the_old_or_the_new(root: Path, tmp_path: Path) -> None:
    generations = Generations(root)
    publish(generations, 1, a="0")
    publish(generations, 2, a="1", b="2")
    (root / "00000003.partial").mkdir()  # left by an earlier crash
    top = tmp_path / "killed"
    top.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), str(top)], capture_output=True, text=True, check=True
    )
    steps = int(done.stdout)
    assert steps > 15
    outcomes = [_after_kill(top / str(step)) for step in range(1, steps + 1)]
    assert outcomes == sorted(outcomes), "the old generation up to a step, then the new one"
    assert set(outcomes) == {2, 3}


def _after_kill(root: Path) -> int:
    """Number of the current generation, which must be undamaged and open to the next writer."""
    generations = Generations(root)
    current = generations.current()
    assert current is not None
    assert set(current.files) == ({"part/a", "part/b"} if current.number == 2 else {"part/a", "part/c"})
    assert generations.verify(deep=True) == []
    publish(generations, current.number + 1, d="next")
    generations.prune(keep=1)
    assert names(root) == [f"{current.number + 1:08d}", "CURRENT"]
    return current.number


def test_full_disk_leaves_the_old_generation(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generations = Generations(root)
    publish(generations, 1, a="x")
    staged = generations.stage(2)

    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            generations.publish(staged, {})
    assert generations.current_number() == 1
    assert publish(generations, 2, a="y").number == 2


def test_the_manifest_is_plain_json(root: Path) -> None:
    published = publish(Generations(root), 1, a="x")
    manifest = json.loads((published.path / "manifest.json").read_text())
    assert manifest["number"] == 1
    assert manifest["files"]["part/a"] == {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
