"""Votes follow files: within a source, into another one, and back after a time away."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.sync import add, delete
from qa_bot.home.folder import Home
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.sources.folders import CONFIG, Add, judged, judged_questions, stored, vote_on, write


def votes(home: Home, tmp_path: Path) -> list[str]:
    """Documents that votes are for."""
    return judged(home, tmp_path / "votes.qrels.tsv")


def test_a_moved_document_keeps_its_votes(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, docs: Path, tmp_path: Path
) -> None:
    added(docs)
    vote_on(empty_home, "sub/tea.txt")
    for before, now in (("sub/tea.txt", "tee.txt"), ("tee.txt", "x/tea.txt")):
        (docs / "x").mkdir(exist_ok=True)
        (docs / before).rename(docs / now)
        synced()
        assert votes(empty_home, tmp_path) == [now]
    with Bot.open(empty_home.path, record=False) as bot:
        (turn,) = bot.memory.recall("talk")
    assert (turn.vote, turn.recall().sources[0].document) == ("up", "x/tea.txt")
    assert delete(empty_home, CONFIG, encoder, ids=["sub/tea.txt"]) == (1, [])
    assert {*stored(empty_home)} == {"rust.md"}


@pytest.mark.parametrize("is_added_first", [True, False])
def test_votes_follow_a_file_into_another_source(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path, is_added_first: bool
) -> None:
    """Both sources are synchronised at once, or the new place is added first."""
    old = write(tmp_path / "old", {"tea.txt": "Steep it for three minutes.", "stays.txt": "It stays."})
    new = write(tmp_path / "new", {"tea.txt": "Another tea."})
    added(old)
    added(new)
    vote_on(empty_home, "tea.txt")
    (old / "tea.txt").rename(new / "green.txt")
    if is_added_first:
        added(new)
    report = synced()
    assert (report.removed, report.added) == (1, 0 if is_added_first else 1)
    assert votes(empty_home, tmp_path) == ["new/green.txt"]


def test_votes_do_not_follow_a_file_into_another_collection(
    empty_home: Home, encoder: StaticEncoder, added: Add, synced: Add, tmp_path: Path
) -> None:
    old = write(tmp_path / "old", {"tea.txt": "Steep it for three minutes.", "stays.txt": "It stays."})
    other = write(tmp_path / "other", {"coffee.txt": "Grind it."})
    added(old)
    add(empty_home, CONFIG, encoder, [other], collection="kitchen")
    vote_on(empty_home, "tea.txt")
    (old / "tea.txt").rename(other / "tea.txt")
    synced()
    assert votes(empty_home, tmp_path) == ["tea.txt"]


@pytest.mark.parametrize("name", ["6.md", "b6.md"])
def test_votes_follow_a_file_into_another_source_though_its_id_is_used_again(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path, name: str
) -> None:
    x, y = write(tmp_path / "x", {"6.md": "Six.", "7.md": "Seven."}), write(tmp_path / "y", {"k.md": "Eleven."})
    added(x, y)
    vote_on(empty_home, "6.md")
    (x / "6.md").rename(y / "sub6.md")
    write(x if name == "6.md" else y, {"6.md": "Something else."})
    synced()
    assert votes(empty_home, tmp_path) == ["sub6.md"]
    assert stored(empty_home)["sub6.md"] == "Six."
    assert stored(empty_home)["6.md"] == "Something else."
    vote_on(empty_home, "6.md", question="And now?")
    assert sorted(votes(empty_home, tmp_path)) == ["6.md", "sub6.md"]


def test_votes_follow_a_file_that_was_gone_for_a_while(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    x, y = write(tmp_path / "x", {"2.md": "Two.", "3.md": "Three."}), write(tmp_path / "y", {"k.md": "Eleven."})
    added(x, y)
    vote_on(empty_home, "2.md")
    (x / "2.md").rename(y / "2b.md")
    synced("x")
    write(x, {"2.md": "Another two."})
    synced("x")
    vote_on(empty_home, "2.md", question="And now?")
    synced("y")
    assert sorted(votes(empty_home, tmp_path)) == ["2.md", "2b.md"]
    away = (y / "2b.md").rename(tmp_path / "away.md")
    synced()
    away.rename(x / "back.md")
    synced()
    assert sorted(votes(empty_home, tmp_path)) == ["2.md", "back.md"]


def test_a_copy_that_was_there_before_does_not_take_the_votes(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path
) -> None:
    x, y = write(tmp_path / "x", {"a.md": "Same."}), write(tmp_path / "y", {"b.md": "Same.", "c.md": "Other."})
    added(x, y)
    vote_on(empty_home, "a.md")
    write(x, {"a.md": "Changed."})
    synced()
    assert votes(empty_home, tmp_path) == ["a.md"]
    (x / "a.md").rename(x / "d.md")
    added(x)
    write(y, {"c.md": "Another."})
    synced()
    assert votes(empty_home, tmp_path) == ["d.md"]


def test_parts_and_members_of_files_keep_their_votes(empty_home: Home, added: Add, synced: Add, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("one", "two"):
        with zipfile.ZipFile(docs / f"{name}.zip", "w") as archive:
            archive.writestr("a.md", f"First of {name}.")
            archive.writestr("b.md", f"Second of {name}.")
    added(docs)
    texts = stored(empty_home)
    chosen = next(id_ for id_ in texts if texts[id_] == "Second of one.")
    vote_on(empty_home, chosen)
    (docs / "one.zip").rename(docs / "swap")
    (docs / "two.zip").rename(docs / "one.zip")
    (docs / "swap").rename(docs / "two.zip")
    synced()
    (voted,) = votes(empty_home, tmp_path)
    assert voted != chosen
    assert stored(empty_home)[voted] == "Second of one."


@pytest.mark.parametrize("seed", range(3))
def test_votes_follow_any_moves(empty_home: Home, added: Add, synced: Add, tmp_path: Path, seed: int) -> None:
    """Files of two sources move at random, in chains and swaps; some change, some are gone for a while."""
    chance, texts = random.Random(seed), dict[Path, str]()
    roots = [tmp_path / name for name in ("one", "two")]
    for number in range(6):
        texts[roots[number % 2] / f"{number}.md"] = f"Text {number}."
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    added(*roots)
    voted: list[str] = []
    for step in range(5):
        for id_, text in stored(empty_home).items():
            vote_on(empty_home, id_, question=f"{step} {text}")
            voted.append(f"{step} {text}")
        moved = chance.sample(sorted(texts), 3)
        places = [*chance.sample(moved, 2), roots[chance.randrange(2)] / f"{chance.randrange(6, 9)}.md"]
        if len({*texts, *places}) <= len(texts):
            continue
        contents = [texts.pop(path) for path in moved]
        for path in moved:
            path.unlink()
        if chance.random() < 0.5:
            synced()
        for path, text in zip(places, contents, strict=True):
            path.write_text(text)
            texts[path] = text
        synced()
        assert sorted(stored(empty_home).values()) == sorted(texts.values())
        assert_votes_are_for(voted, empty_home, tmp_path)


def assert_votes_are_for(voted: list[str], home: Home, tmp_path: Path) -> None:
    """Each vote must be for the document whose text its question names."""
    texts, lines = stored(home), judged_questions(home, tmp_path / "all.qrels.tsv")
    assert {(question, texts[id_]) for question, id_ in lines} == {(one, one.partition(" ")[2]) for one in voted}
