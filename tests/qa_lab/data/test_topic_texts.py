import pytest

from qa_lab.data.topic_texts import read_texts, split_texts


def test_turns_pairs_and_lines_are_texts(write_lines):
    turns = write_lines(
        "said.jsonl",
        {"turns": ["Hello there", " ", "hi"]},
        {"context": ["hi"], "positive_responses": ["how are you?"]},
        {"question": "Capital of France?", "answer": "Paris"},
        {"id": "d", "title": "Bees", "text": "They fly."},
    )
    lines = write_lines("speech.txt", "Peace is a process.", "", "  It takes time. ")
    result = read_texts([turns, lines])
    assert result.examples == (
        "Hello there",
        "hi",
        "how are you?",
        "Capital of France? Paris",
        "Bees They fly.",
        "Peace is a process.",
        "It takes time.",
    )
    assert (result.repeated, result.rejects, result.count) == (1, (), 7)


def test_a_long_document_is_taken_by_sentence(write_lines):
    long = "One sentence stands here. " * 3 + "And " + "more " * 80 + "of it. The end."
    result = read_texts([write_lines("long.jsonl", {"id": "1", "title": "Title", "text": long})])
    assert result.examples[:2] == ("Title", "One sentence stands here.")
    assert result.examples[-1] == "The end."


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"turns": "not a list"}, "Expected a list of strings in the field turns"),
        ({"turns": [1, 2]}, "Expected a list of strings in the field turns"),
        ({"turns": [""]}, "Expected texts in the fields turns, but got none"),
        ("{broken", "Expected a JSON object, but got broken JSON"),
        ("[" * 5000, "Expected a flat JSON object"),
        ([1], "Expected a JSON object"),
    ],
)
def test_bad_lines_are_told_with_their_place_and_the_others_stay(write_lines, line, reason):
    data = write_lines("bad.jsonl", {"turns": ["a good one"]}, line)
    result = read_texts([data])
    assert result.examples == ("a good one",)
    assert result.rejects[0].reason.startswith(reason)
    assert result.rejects[0].where == f"{data}:2"


def test_a_hash_holds_out_about_the_share_whatever_the_order():
    texts = [f"text {number}" for number in range(1000)]
    train, held_out = split_texts(texts, 0.1)
    assert 70 < len(held_out) < 130
    assert len(train) + len(held_out) == 1000
    assert set(split_texts(texts[::-1], 0.1)[1]) == set(held_out)
    assert split_texts([text.upper() + " " for text in texts], 0.1)[1] == [text.upper() + " " for text in held_out]
    assert split_texts(texts, 0.0)[1] == []
