"""Blocks and previews of Slack's messages."""

import pytest

from qa_bot.documents.ingest.formats.exports.slack_blocks import message_text


def rich(*parts):
    return {"type": "rich_text", "elements": list(parts)}


def section(*elements, kind="rich_text_section"):
    return {"type": kind, "elements": list(elements)}


def words(text):
    return {"type": "text", "text": text}


BOLD = {"type": "text", "text": "now", "style": {"bold": True}}
ANN = {"type": "user", "user_id": "U1"}
BLOCKS = [
    rich(
        section(words("Oil the chain "), BOLD, words(", if x < 5, "), ANN, words(" "), {"type": "emoji", "name": "ok"}),
        section(section(words("one")), section(words("two")), kind="rich_text_list") | {"style": "ordered"},
        section(words("oil --all"), kind="rich_text_preformatted"),
        section(words("see "), {"type": "link", "url": "https://a.example", "text": "the plan"}),
    )
]
TEXT = "Oil the chain *now*, if x &lt; 5, <@U1> :ok:\n1. one\n2. two\n```oil --all```\nsee <https://a.example|the plan>"


def test_a_message_without_text_has_that_of_its_blocks():
    assert message_text({"blocks": BLOCKS}) == TEXT.replace("*", "")


def test_blocks_that_repeat_the_text_are_left_out():
    assert message_text({"text": TEXT, "blocks": BLOCKS}) == TEXT


def test_blocks_that_say_more_than_the_text_follow_it():
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Chain 4 broke"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "Cause: *rust*"}, "fields": [words("Shift: late")]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "Line 2"}, {"type": "image", "alt_text": "logo"}]},
        {"type": "actions", "elements": [{"type": "button", "text": words("Close")}]},
        {"type": "divider"},
    ]
    assert message_text({"text": "Chain 4 broke!", "blocks": blocks}) == (
        "Chain 4 broke!\nCause: *rust*\nShift: late\nLine 2"
    )


@pytest.mark.parametrize(
    ("attachment", "expected"),
    [
        (
            {
                "pretext": "Alarm",
                "title": "Chain 4",
                "text": "It is hot.",
                "fields": [{"title": "Line", "value": "2"}, {"value": "late shift"}],
                "fallback": "Alarm: Chain 4",
            },
            "Alarm\nChain 4\nIt is hot.\nLine: 2\nlate shift",
        ),
        ({"fallback": "Alarm: Chain 4"}, "Alarm: Chain 4"),
        ({"blocks": BLOCKS[:1], "fallback": "no"}, TEXT.replace("*", "")),
    ],
)
def test_previews_have_a_title_and_fields(attachment, expected):
    assert message_text({"text": "", "attachments": [attachment]}) == expected


@pytest.mark.parametrize(
    "damage", [None, 5, "x", [None], [{"type": "section", "text": 5, "fields": {}}], [rich(5, section(5))]]
)
def test_damaged_blocks_say_nothing(damage):
    assert message_text({"text": "Hi", "blocks": damage, "attachments": damage, "files": damage}) == "Hi"
