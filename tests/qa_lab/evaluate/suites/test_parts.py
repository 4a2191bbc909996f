import pytest

from qa_bot.answering.stages import passages
from qa_bot.bot import Bot
from qa_lab.evaluate.suites.parts import PARTS, left_out
from rankers.passage_evidence import PROSE


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_is_left_out_and_comes_back(part):
    before = [getattr(owner, name) for owner, name, _ in part.replaced]
    with left_out(part):
        assert all(getattr(owner, name) == value for owner, name, value in part.replaced)
    assert [getattr(owner, name) for owner, name, _ in part.replaced] == before
    assert part.replaced or part.config


def test_without_vectors_words_are_the_evidence():
    with left_out(PARTS["vectors"]):
        assert {channel for channel, weight in passages.PROSE.items() if weight} == {"words", "pieces"}
    assert passages.PROSE == PROSE


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_questions_are_answered_without_it(part, tmp_path):
    with left_out(part), Bot.open(tmp_path / "home", flags=part.config, record=False) as bot:
        assert "sleep" in bot.ask("Why do cats sleep all day?").text
