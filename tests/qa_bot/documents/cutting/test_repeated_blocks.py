"""Boilerplate: which blocks repeat often enough, who keeps them, and how much is remembered."""

from __future__ import annotations

from qa_bot.documents.cutting import repeated_blocks
from qa_bot.documents.cutting.repeated_blocks import RepeatedBlocks, digest_of


def counted(documents: int, copies: int) -> RepeatedBlocks:
    """`documents` documents, of which the first `copies` have the block "footer"."""
    blocks = RepeatedBlocks()
    for number in range(documents):
        blocks.count(f"d{number}", ["footer", f"own {number}"] if number < copies else [f"own {number}"])
    return blocks


def test_a_block_of_a_fifth_of_the_documents_is_boilerplate_except_in_the_first() -> None:
    assert counted(25, 5).boilerplate("d1", ["footer", "own 1"]) == {"footer"}
    assert counted(25, 5).boilerplate("d0", ["footer", "own 0"]) == set()
    assert counted(25, 5).boilerplate("new", ["footer", "other"]) == {"footer"}


def test_few_documents_few_copies_and_small_shares_do_not_count() -> None:
    assert counted(9, 9).boilerplate("d1", ["footer"]) == set()
    assert counted(10, 4).boilerplate("d1", ["footer"]) == set()
    assert counted(26, 5).boilerplate("d1", ["footer"]) == set()


def test_a_block_counts_once_a_document() -> None:
    blocks = RepeatedBlocks()
    for number in range(10):
        blocks.count(f"d{number}", ["twice", "twice"] if number < 4 else [])
    assert blocks.boilerplate("new", ["twice"]) == set()


def test_a_document_has_earlier_blocks_unless_it_is_their_first() -> None:
    blocks = counted(25, 5)
    assert blocks.has_earlier("d1", ["own 1", "footer"])
    assert not blocks.has_earlier("d0", ["own 0", "footer"])
    assert not blocks.has_earlier("new", ["own 99"])


def test_counts_survive_in_a_manifest() -> None:
    blocks = RepeatedBlocks.of(counted(25, 5).as_dict())
    assert blocks.documents == 25
    assert blocks.boilerplate("d1", ["footer"]) == {"footer"}
    assert blocks.boilerplate("d0", ["footer"]) == set()
    assert list(blocks.as_dict()["blocks"]) == ["footer"]  # blocks of one document are forgotten


def test_a_damaged_manifest_is_an_empty_one() -> None:
    for saved in (None, [], {"documents": "3"}, {"documents": 30, "blocks": {"footer": [30], "b": "x", "c": ["1", 2]}}):
        assert RepeatedBlocks.of(saved).boilerplate("d1", ["footer", "b", "c"]) == set()


def test_rare_blocks_are_forgotten_in_time(monkeypatch) -> None:
    monkeypatch.setattr(repeated_blocks, "CAPACITY", 10)
    blocks = counted(200, 200)
    assert len(blocks.as_dict()["blocks"]) == 1
    assert blocks.boilerplate("d1", ["footer"]) == {"footer"}


def test_case_and_white_space_do_not_count() -> None:
    assert digest_of("© 2023 Northwind Labs.\n  All rights") == digest_of("© 2023 NORTHWIND Labs. All rights")
    assert digest_of("© 2023 Northwind Labs") != digest_of("© 2024 Northwind Labs")
    assert digest_of("See also:") == ""
