"""Chats that programs save or copy as text."""

import pytest

from qa_bot.documents.ingest.formats.markup.plain.chats import chat


@pytest.mark.parametrize(
    ("text", "time"),
    [
        (
            "12/03/2024, 09:14 - Messages and calls are end-to-end encrypted.\n12/03/2024, 09:14 - {0}: Where is it?\n"
            "12/03/2024, 09:15 - {1}: In the box.\nSee the door.\n12/03/2024, 09:16 - {0}: <Media omitted>",
            "12/03/2024, 09:1",
        ),
        (
            "[12.03.24, 09:14:02] {0}: Where is it?\n[12.03.24, 09:15:10] {1}: In the box.\nSee the door.\n"
            "\u200e[12.03.24, 09:16:10] {0}: \u200eBild weggelassen",
            "12.03.24, 09:1",
        ),
        (
            "[Yesterday 09:14] {0}\nWhere is it?\n\n[Yesterday 09:15] {1}\nIn the box.\nSee the door.\n\n"
            "[Yesterday 09:16] {0}\n👍",
            "Yesterday 09:1",
        ),
        (
            "09:14:02\t From  {0}  to  Everyone : Where is it?\n09:15:02\t From  {1}  to  Everyone : In the box.\n"
            "See the door.\n09:16:12 From {0} to Everyone:\n\t:-)",
            "09:1",
        ),
    ],
)
def test_messages(text, time):
    question, answer = chat(text.format("Meyer, Paula", "Ike")).split("\n\n")
    assert question.startswith(f"Meyer, Paula ({time}4")
    assert question.endswith("): Where is it?")
    assert answer.startswith(f"Ike ({time}5")
    assert answer.endswith("): In the box.\nSee the door.")


def test_irc():
    assert chat("[12:01] <ann> why?\n[12:02] <@bob> so\n[12:03] <ann> ok\n") == (
        "ann (12:01): why?\n\nbob (12:02): so\n\nann (12:03): ok"
    )


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12 09:14:01 - INFO: started\n2024-03-12 09:15:01 - main: x\n2024-03-12 09:16:01 - main: y",
        "12/03/2024, 09:14 - Ann: one\n12/03/2024, 09:15 - Bob: two",  # too few
        "12/03/2024, 09:14 - Ann: one\n12/03/2024, 09:15 - Ann: two\n12/03/2024, 09:15 - Ann: three",  # a diary
        "Opening hours\n09:14 - Ann: one",
        "[09:14] Door opened\n[09:15] Door closed\n[09:16] Alarm",
        "",
    ],
)
def test_other_texts(text):
    assert chat(text) == ""
