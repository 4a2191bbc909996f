"""Control characters and invalid Unicode."""

from qa_core.text.safe_text import clean, escaped, has_control_characters, valid


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
