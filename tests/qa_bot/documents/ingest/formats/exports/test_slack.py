"""Exports of Slack."""

import io
import json
import zipfile

import pytest

USERS = [
    {"id": "U0000001", "team_id": "T1", "name": "ann", "profile": {"display_name": "Ann"}},
    {"id": "U0000002", "team_id": "T1", "name": "bob", "profile": {"display_name": "", "real_name": "Bob Ray"}},
]
CHANNELS = [{"id": "C0000001", "name": "help", "members": ["U0000001"]}]
MONDAY = [
    {"type": "message", "user": "U0000001", "text": "joined", "subtype": "channel_join", "ts": "1740992400.000001"},
    {
        "type": "message",
        "user": "U0000001",
        "text": "How do I reset the VPN? See <https://vpn.example/help|the help> &amp; ask <@U0000002>",
        "ts": "1740992500.000100",
        "thread_ts": "1740992500.000100",
    },
    {"type": "message", "user": "U0000002", "text": "Lunch?", "ts": "1740992600.000100"},
    {"type": "message", "user": "U0000001", "text": "Yes!", "ts": "1740992700.000100"},
    {"type": "message", "user": "U0000001", "text": ":+1:", "ts": "1740999999.000100"},
    {"type": "message", "user": "U0000001", "text": "\U0001f44d", "ts": "1741000999.000100"},
    "no message",
]
TUESDAY = [
    {
        "type": "message",
        "user": "U0000002",
        "text": "Run this:\n```vpn --reset```",
        "ts": "1741078900.000100",
        "thread_ts": "1740992500.000100",
    },
]
THREAD = (
    "Ann: How do I reset the VPN? See [the help](https://vpn.example/help) & ask @Bob Ray\n\n"
    "Bob Ray: Run this:\n\n```\nvpn --reset\n```"
)


def archive(**changes):
    members = {
        "users.json": json.dumps(USERS),
        "channels.json": json.dumps(CHANNELS),
        "help/2025-03-03.json": json.dumps(MONDAY),
        "help/2025-03-04.json": json.dumps(TUESDAY),
    } | changes
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def test_a_thread_of_several_days_is_a_document(reads):
    records, rejects, notices = reads("export.zip", archive())
    assert [record.id for record in records][:2] == ["help/1740992500.000100", "help/1740992600.000100"]
    thread, run = records[:2]
    assert thread.text == THREAD
    assert (thread.title, thread.date, thread.tags) == (
        "How do I reset the VPN? See the help & ask @Bob Ray",
        "2025-03-04",
        ("help",),
    )
    assert (run.title, run.text) == ("Lunch?", "Bob Ray: Lunch?\n\nAnn: Yes!")
    assert (rejects, notices) == ([], [])


def test_an_archive_inside_another_one(reads):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("inner.zip", archive())
    records, rejects, _ = reads("outer.zip", buffer.getvalue())
    assert records[0].text == THREAD
    assert rejects == []


def test_an_unpacked_export(reads, tmp_path):
    for name, data in (("users.json", USERS), ("channels.json", CHANNELS)):
        records, rejects, _ = reads(f"export/{name}", json.dumps(data))
        assert (records, rejects) == ([], [])
    records, rejects, _ = reads("export/help/2025-03-03.json", json.dumps(MONDAY))
    assert records[0].id == "2025-03-03.json#1740992500.000100"
    assert records[0].text == THREAD.partition("\n\n")[0]
    assert rejects == []


def test_a_message_that_is_only_blocks_is_read(reads):
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": "Oven 3 is cold"}}]
    message = {"type": "message", "username": "alarms", "text": "", "blocks": blocks, "ts": "1741078900.000100"}
    (record,), _, _ = reads(
        "export.zip", archive(**{"help/2025-03-03.json": "[]", "help/2025-03-04.json": json.dumps([message])})
    )
    assert (record.title, record.text) == ("Oven 3 is cold", "alarms: Oven 3 is cold")


@pytest.mark.parametrize("damage", ["{", "[1, 2", '{"a": 1}', "\0\1"])
def test_damaged_days_are_rejected_and_the_rest_is_kept(reads, damage):
    records, (reject,), _ = reads("export.zip", archive(**{"help/2025-03-05.json": damage}))
    assert records[0].text == THREAD
    assert reject.where.endswith("export.zip!help/2025-03-05.json")
