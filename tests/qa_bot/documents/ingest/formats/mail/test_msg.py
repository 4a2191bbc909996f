"""Outlook's messages."""

import struct
from datetime import UTC, datetime
from itertools import pairwise

import pytest

SECTOR = 512
END, FREE, FAT, NOTHING = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def compound(tree):
    """A compound file (version 3) of nested dicts; each stream is padded to 4096 bytes, so none is a short one."""
    entries, sectors = [], []

    def chain(data):
        start = len(sectors)
        data += bytes(-len(data) % SECTOR)
        sectors.extend(data[offset : offset + SECTOR] for offset in range(0, len(data), SECTOR))
        return start

    chains = []

    def add(name, value, kind):
        index = len(entries)
        entries.append(None)
        start = size = 0
        child = NOTHING
        if isinstance(value, dict):
            children = [add(key, item, 1 if isinstance(item, dict) else 2) for key, item in value.items()]
            for left, right in pairwise(children):
                entries[left][2] = right  # a tree that is a list
            child = children[0] if children else NOTHING
        else:
            data = value + bytes(max(0, 4096 - len(value)))
            start, size = chain(data), len(data)
            chains.append((start, len(sectors)))
        entries[index] = [name, kind, NOTHING, child, start if kind == 2 else 0, size]
        return index

    add("Root Entry", tree, 5)
    directory = b""
    for name, kind, sibling, child, start, size in entries:
        raw = name.encode("utf-16-le") + b"\0\0"
        first = END if kind == 5 else start
        directory += raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw), kind, 1, NOTHING, sibling, child)
        directory += bytes(36) + struct.pack("<IQ", first, size)
    chains.append((chain(directory), len(sectors)))
    directory_start = chains[-1][0]
    table_start, count = len(sectors), 1
    while (len(sectors) + count) * 4 > count * SECTOR:
        count += 1
    table = [FREE] * (count * SECTOR // 4)
    for start, end in chains:
        for sector in range(start, end):
            table[sector] = sector + 1 if sector + 1 < end else END
    for sector in range(table_start, table_start + count):
        table[sector] = FAT
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, count, directory_start, 0, 4096, END, 0, END, 0)
    header += struct.pack("<109I", *range(table_start, table_start + count), *[FREE] * (109 - count))
    return header + b"".join(sectors) + struct.pack(f"<{len(table)}I", *table)


def text(number, value):
    return {f"__substg1.0_{number}001F": value.encode("utf-16-le")}


def properties(header, *, sent=None, page=None):
    data = bytes(header)
    if sent:
        ticks = int((sent - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
        data += struct.pack("<HHIQ", 0x40, 0x39, 6, ticks)
    if page:
        data += struct.pack("<HHIQ", 3, 0x3FFD, 6, page)
    return {"__properties_version1.0": data}


MESSAGE = {
    **text("0037", "Opening hours"),
    **text("0C1A", "Ann Lee"),
    **text("5D01", "ann@example.org"),
    **text("0E04", "All"),
    **text("0E03", "Bob Lee; Eva"),
    **text("1000", "The door closes at six.\r\n\r\n-----Original Message-----\r\nFrom: Bob"),
    **properties(32, sent=datetime(2025, 3, 3, 9, 15, tzinfo=UTC)),
}


def test_a_message(reads):
    (record,), rejects, _ = reads("a.msg", compound(MESSAGE))
    assert (record.id, record.title, record.date) == ("a.msg", "Opening hours", "2025-03-03")
    head = "To: All\nCc: Bob Lee; Eva\nDate: 2025-03-03\n\n## From: Ann Lee <ann@example.org>"
    assert record.text == f"{head}\n\nThe door closes at six."
    assert rejects == []


def test_attachments_and_a_message_inside(reads):
    inner = {**text("0037", "Inner"), **text("1000", "Inside."), **properties(24)}
    tree = MESSAGE | {
        "__attach_version1.0_#00000000": {
            **text("3707", "rules.txt"),
            "__substg1.0_37010102": b"No smoking." + b" " * 4085,
        },
        "__attach_version1.0_#00000001": {"__substg1.0_3701000D": inner},
    }
    records, rejects, _ = reads("a.msg", compound(tree))
    assert [record.id for record in records] == ["a.msg", "a.msg!rules.txt", "a.msg!Inner"]
    assert [record.text for record in records[1:]] == ["No smoking.", "Inside."]
    assert rejects == []


def test_text_in_the_code_page_of_the_message(reads):
    body = {"__substg1.0_1000001E": "Дверь закрыта.".encode("cp1251")}
    (record,), _, _ = reads("a.msg", compound(body | properties(32, page=1251)))
    assert record.text == "Дверь закрыта."


@pytest.mark.parametrize("cut", [8, 500, 600, 5000, 20_000])
def test_damaged_messages_are_rejected(reads, cut):
    records, rejects, _ = reads("a.msg", compound(MESSAGE)[:cut])
    assert len(records) + len(rejects) == 1


def test_a_message_whose_head_is_nonsense_is_rejected_in_plain_words(reads):
    _, (reject,), _ = reads("a.msg", compound(MESSAGE)[:8] + b"\xff" * 3000)
    assert reject.reason == "Expected a whole Outlook message, but got a damaged one; save it again, or as EML."
