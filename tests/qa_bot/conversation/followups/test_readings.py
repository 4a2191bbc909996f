import pytest

from qa_bot.conversation.followups.readings import keeps_topic, leans, readings

EARLIER = ["How many days of leave do I get?", "and for part-timers?"]


def test_a_follow_up_is_read_alone_and_after_the_first_and_the_previous_question():
    assert readings("when do they lapse?", EARLIER, changed=False) == (
        "when do they lapse?",
        "How many days of leave do I get? when do they lapse?",
        "and for part-timers? when do they lapse?",
    )


def test_equal_readings_are_searched_once():
    turn = "and for interns?"
    assert readings(turn, EARLIER[:1], changed=True) == (turn, f"{EARLIER[0]} {turn}")


def test_the_first_turn_has_no_readings():
    assert readings("and for interns?", [], changed=False) == ()


def test_a_turn_that_stands_alone_has_no_readings():
    assert readings("How often must the pellet stove be swept by a professional?", EARLIER, changed=False) == ()


@pytest.mark.parametrize(
    "turn",
    [
        "is there a free one, too?",
        "who starts the process?",
        "und an einem vollen Tag?",
        "Kann man sie auf der Seite des Kontos der Bibliothek verlängern?",
        "Worauf muss ich achten?",  # a single content word
        "C'est aussi possible avec un contrat de travail temporaire?",
    ],
)
def test_turns_that_lean_on_earlier_ones(turn):
    assert leans(turn)


@pytest.mark.parametrize(
    "turn",
    ["parking", "long enough? " * 30, "Haben Sie in der Bibliothek Bücher, Zeitschriften und Karten aus Bremen?"],
)
def test_topics_and_long_messages_do_not_lean(turn):
    assert not leans(turn)


@pytest.mark.parametrize(
    ("turn", "keeps"),
    [
        ("and for interns?", True),
        ("can they merge their own work?", True),
        ("Was kostet das am Wochenende?", True),
        ("Seit wann gilt diese Ordnung?", True),
        ("and what does the yearly service of the stove cost then?", False),
        ("and then?", False),  # no word tells what is wanted
    ],
)
def test_few_words_keep_the_topic(turn: str, keeps: bool) -> None:
    assert keeps_topic(turn) is keeps


@pytest.mark.parametrize("turn", ["What do they cost?", "how heavy is it", "Was kostet das?"])
def test_a_turn_that_only_asks_for_a_property_is_not_searched_alone(turn: str) -> None:
    assert readings(turn, ["Blades of the R800?", "and the R1600?"], changed=True) == (
        f"Blades of the R800? {turn}",
        f"and the R1600? {turn}",
    )
