"""Notes as Joplin exports them raw."""

NOTE = """Wifi for guests

The password is at the desk.

id: 4a8a1a1e1b7c4f0d9e0f3a2b1c0d9e8f
parent_id: 1c0d9e8f4a8a1a1e1b7c4f0d9e0f3a2b
created_time: 2025-02-11T08:10:02.113Z
author:
source_url: https://wifi.example/
user_updated_time: 2025-02-14T10:00:41.909Z
encryption_applied: 0
type_: 1"""


def test_a_note(reads):
    (record,), rejects, _ = reads("4a8a.md", NOTE)
    assert (record.title, record.text, record.url) == (
        "Wifi for guests",
        "The password is at the desk.",
        "https://wifi.example/",
    )
    assert record.date.startswith("2025-02-14T10:00")
    assert rejects == []


def test_a_tag_is_no_document(reads):
    records, rejects, notices = reads("tag.md", NOTE.replace("type_: 1", "type_: 5"))
    assert (records, rejects) == ([], [])
    assert "Joplin" in notices[0].message


def test_an_encrypted_note_and_one_without_text(reads):
    _, (reject,), _ = reads("a.md", NOTE.replace("encryption_applied: 0", "encryption_applied: 1"))
    assert "decrypted" in reject.reason
    _, (reject,), _ = reads("b.md", NOTE.replace("The password is at the desk.\n\n", ""))
    assert "empty" in reject.reason


def test_other_notes_with_properties_stay(reads):
    (record,), _, _ = reads("a.md", "Wifi\n\nid: 4a8a\nplace: desk\n")
    assert record.text == "Wifi\n\nid: 4a8a\nplace: desk"
