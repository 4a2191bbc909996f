"""Control characters and invalid Unicode."""

import json

import orjson

from qa_core.text.safe_text import clean, escaped, escaped_json, has_control_characters, valid


def test_control_characters_are_removed_or_shown() -> None:
    text = "a\x1b]52;c;eA==\x07b\x9b2Jc\u202ed\ne\tf"
    assert clean(text) == "a]52;c;eA==b2Jcd\ne\tf"
    assert escaped("a\nb\x1b\x9b") == "a\\nb\\x1b\\x9b"
    assert has_control_characters("a\nb")
    assert not has_control_characters("a b ä")


def test_what_is_removed_from_a_name_is_what_it_may_not_have() -> None:
    """A name that looks like another one in a terminal could not be typed: all that `clean` removes counts."""
    for code in range(0x10000):
        character = chr(code)
        if not clean(character):
            assert has_control_characters(character)
            assert escaped(character).isascii()
        assert has_control_characters(character) == (not clean(character) or character in "\t\n")
    assert escaped("a\u202egnp.exe") == "a\\u202egnp.exe"


def test_lone_surrogates_become_question_marks() -> None:
    assert valid("caf\udce9 ä") == "caf? ä"
    assert valid("ä") == "ä"


def test_json_has_no_character_that_a_terminal_obeys() -> None:
    for code in range(0x10000):
        character = chr(code)
        if not clean(character):
            data = escaped_json(orjson.dumps({character: f"a{character}b"}))
            assert data.isascii()
            assert json.loads(data) == {character: f"a{character}b"}
    usual = orjson.dumps({"ä": "\u2029 \u2065 … é 日本 \n\t"})
    assert escaped_json(usual) == usual
