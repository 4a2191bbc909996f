"""Names of documents without a title."""

import zipfile
from pathlib import Path

import pytest

from qa_bot.documents.ingest import read
from qa_bot.documents.ingest.files.source_file import stem_of


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a/trains.md", "trains"),
        ("pack.zip!trains.md", "trains"),
        ("b/pack.zip!a/trains.md", "trains"),
        ("box.mbox#7!fares.eml!trains.md", "trains"),
        ("a/Hello!.md", "Hello!"),
        ("Hello! Again.md", "Hello! Again"),
    ],
)
def test_the_stem_of_a_file_or_member(name: str, stem: str) -> None:
    assert stem_of(name) == stem


def test_a_member_without_a_title_is_named_by_its_own_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as archive:
        archive.writestr("trains.md", "It leaves.")
        archive.writestr("a/bus.txt", "It stops.")
    assert [(record.id, record.title) for record in read(tmp_path)] == [
        ("pack.zip!trains.md", "trains"),
        ("pack.zip!a/bus.txt", "bus"),
    ]
