"""YAML files with questions and answers."""

import pytest


def test_pairs_at_any_depth(reads):
    data = """title: Library
groups:
  - name: Cards
    items:
      - question: How do I get a card?
        answer: |
          Bring your passport.
          It costs 12 euros.
      - {q: Is it free?, a: no, id: free}
  - name: Rooms
    items:
      - frage: Wie groß?
        antwort: [Zehn Plätze., Zwei Tische.]
        updated: 2025-03-01
"""
    records, rejects, _ = reads("faq.yml", data)
    assert [(record.id, record.title, record.text, record.kind) for record in records] == [
        ("faq.yml#1", "How do I get a card?", "Bring your passport.\nIt costs 12 euros.", "pair"),
        ("free", "Is it free?", "no", "pair"),
        ("faq.yml#3", "Wie groß?", "Zehn Plätze.\nZwei Tische.", "pair"),
    ]
    assert records[2].date == "2025-03-01"
    assert rejects == []


def test_files_without_pairs_are_text(reads):
    (record,), _, _ = reads("faq.yaml", "question: [\nanswer: Cats sleep.\n")
    assert "Cats sleep." in record.text
    data = "# The board\n\n- name: Ann\n  role: |\n    treasurer\n  days:\n    - Monday\n    - Friday\n- name: Bob\n"
    (record,), _, _ = reads("members.yml", data)
    assert (record.title, record.text) == (
        "The board",
        "- name: Ann; role: treasurer; days:\n    - Monday\n    - Friday\n- name: Bob",
    )


def test_settings_keep_their_indentation(reads):
    data = "# Settings of the pump\n\nserver:\n  hosts:\n    - alpha\nlimits:\n  pressure: 6\n"
    (record,), _, _ = reads("settings.yaml", data)
    assert (record.title, record.text) == ("Settings of the pump", f"```yaml\n{data.rstrip()}\n```")
    (record,), _, _ = reads("api.yaml", "openapi: 3.0.0\ninfo:\n  version: 1\n  title: Boat API\n")
    assert record.title == "Boat API"
    (record,), _, _ = reads("build.yml", "name: 'Build'\njobs:\n  title: x\n")
    assert record.title == "Build"
    (record,), _, _ = reads("v1.yml", "kind: Pod\nspec:\n  name: x\n")
    assert record.title == "v1"


def test_questions_as_keys(reads):
    records, _, _ = reads("faq.yml", "Where is it?: In the cellar.\n'Is it open?': [Yes., Daily.]\nsee: Why? So.\n")
    assert [(record.title, record.text) for record in records] == [
        ("Where is it?", "In the cellar."),
        ("Is it open?", "Yes.\nDaily."),
    ]


def test_aliases_are_read_once(reads):
    bomb = "a: &a\n  - q: Why?\n    a: So.\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    records, _, _ = reads("faq.yaml", bomb)
    assert [record.title for record in records] == ["Why?"]


@pytest.mark.parametrize("piece", ["info:\n  x: 1\n", "# \n", "- a: |\n  b\n", "a: ?\n", "  x: 1\n"])
def test_repeated_lines_take_no_long_time(reads, piece):
    (record,), _, _ = reads("a.yaml", "info:\n" + piece * 50_000)
    assert record.title == "a"
