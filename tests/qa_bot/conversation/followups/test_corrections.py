import pytest

from qa_bot.conversation.followups.corrections import LONGEST, corrected


@pytest.mark.parametrize(
    ("turn", "meaning"),
    [
        ("no, I meant XL", "and XL?"),
        ("I meant the Zurich office!", "and the Zurich office?"),
        ("sorry, in Zurich.", "and in Zurich?"),
        ("actually, the other parent", "and the other parent?"),
        ("oh no... we were asking about meals", "and meals?"),
        ("I’m asking about meals", "and meals?"),
        ("sorry, I meant how long is it open?", "how long is it open?"),
        ("wait, is it free?", "is it free?"),
        ("Nein, ich meinte Elternzeit", "und Elternzeit?"),
        ("nein, die Azubis", "und die Azubis?"),
        ("non, je voulais dire le samedi", "et le samedi?"),
        ("und den Pachtvertrag meine ich?", "und den Pachtvertrag?"),
        ("nein, den Vertrag meine ich", "und den Vertrag?"),
        ("Den Mietvertrag, den meine ich doch!", "und Den Mietvertrag?"),
        ("no, the lease, I meant", "and the lease?"),
        ("The lease is what I meant.", "and The lease?"),
        ("le bail, je veux dire", "et le bail?"),
    ],
)
def test_a_correction_goes_on_with_the_question_before(turn, meaning):
    assert corrected(turn) == meaning


@pytest.mark.parametrize(
    "turn",
    [
        "no",
        "No, thanks",
        "no, that is wrong",
        "no,  we don't",
        "no, never mind",
        "actually, my laptop is broken",
        "sorry, I am ill",
        "nein, das stimmt nicht",
        "nein, der Drucker ist kaputt",
        "I mean it",
        "No. 5",
        "What do you mean?",
        "What did you think I meant?",
        "You know what I mean",
        "that is what I meant",
        "Was meine ich?",
        "das meine ich",
        "nicht den Pachtvertrag meine ich",
        "What did they mean by a sabbatical?",
        "sorry, the colleague of my neighbour explained to me another rule",
        f"no, I meant {'XL ' * LONGEST}",
        "",
    ],
)
def test_other_turns_are_unchanged(turn):
    assert corrected(turn) == turn
