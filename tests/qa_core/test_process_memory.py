"""Freed memory goes back to the system; other allocators are left alone."""

import platform
import tempfile
from array import array

import pytest

from qa_core import process_memory
from qa_core.process_memory import bound_heaps, on_disk, release_freed


@pytest.fixture
def fresh():
    """The allocator is looked up anew, and again after the test."""
    process_memory._glibc.cache_clear()
    yield
    process_memory._glibc.cache_clear()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator of glibc")
def test_the_allocator_of_glibc_is_found(fresh):
    library = process_memory._glibc()
    assert library is not None
    assert library.mallopt(process_memory._M_ARENA_MAX, process_memory.MOST_ARENAS) == 1, "accepted"
    assert library.mallopt(process_memory._M_MMAP_THRESHOLD, process_memory.OWN_MAPPING) == 1


def test_other_allocators_are_left_alone(fresh, monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    bound_heaps()
    assert not release_freed()


def test_a_table_on_disk_reads_as_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    table = array("H", [7, 65535, 0])
    mapped = on_disk(table)
    assert isinstance(mapped, memoryview)
    assert [mapped[i] for i in range(len(mapped))] == [7, 65535, 0]
    assert not list(tmp_path.iterdir()), "the file has no name"


def test_without_room_for_a_file_the_table_stays_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    table = array("H", [7])
    assert on_disk(table) is table
