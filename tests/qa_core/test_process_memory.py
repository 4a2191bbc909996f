"""Freed memory goes back to the system; other allocators are left alone."""

import platform

import pytest

from qa_core import process_memory
from qa_core.process_memory import bound_heaps, release_freed


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


def test_other_allocators_are_left_alone(fresh, monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    bound_heaps()
    assert not release_freed()
