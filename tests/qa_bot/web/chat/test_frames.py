"""Frames that clients may send, and the errors for others."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.answering.answer_json import dumps
from qa_bot.answering.events import STAGES, SourcesFound, StageBegun, TextAdded
from qa_bot.web.chat import frames
from qa_bot.web.chat.frames import AskFrame, Cancel, Choose, Feedback, Hello, Ping, Raw, id_of, read
from qa_bot.web.errors import ServiceError
from qa_core.types import Answer, AnswerSource

SOURCE = AnswerSource("a#0", "a", "starter", "A title", "", 0.5, "A text.", (0, 7), (0, 7))
ANSWER = Answer("Why?", "A text.", "passage", True, 0.9, sources=(SOURCE,), timings={"total": 0.1}, id="t1")

json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from(["id", "conversation", "seq", "text", "token", "resume", "vote", "choice", "deadline", "persona"]),
    json,
)


def read_or_refused(data):
    try:
        return read(data), None
    except ServiceError as error:
        return None, error


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"type":"hello"}', Hello(type="hello")),
        (b'{"type":"hello","resume":"c","seq":3}', Hello(type="hello", resume="c", seq=3)),
        (b'{"type":"ask","text":" Why? ","id":"a:1.2-x_y"}', AskFrame(type="ask", text=" Why? ", id="a:1.2-x_y")),
        (b'{"type":"ask","text":"Why?","deadline":2}', AskFrame(type="ask", text="Why?", deadline=2.0)),
        (b'{"type":"cancel","id":"a","newer":[1]}', Cancel(type="cancel", id="a")),
        (b'{"type":"feedback","id":"a","vote":"up"}', Feedback(type="feedback", id="a", vote="up")),
        (b'{"type":"choose","id":"a","choice":"the second"}', Choose(type="choose", id="a", choice="the second")),
        (b'{"type":"raw","id":"a"}', Raw(type="raw", id="a")),
        (b'{"type":"ping"}', Ping(type="ping")),
    ],
)
def test_frames_are_read(data, expected):
    assert read(data) == expected


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b"nonsense", 400, "Expected a frame in JSON, but got: expected ident at line 1 column 2."),
        (b'"hello"', 422, f"Expected an object whose `type` is {frames.TYPES}, but got 'hello'."),
        (b"{}", 422, f"Expected an object whose `type` is {frames.TYPES}, but got {{}}."),
        (
            b'{"type":"shout"}',
            422,
            f"Expected an object whose `type` is {frames.TYPES}, but got {{'type': 'shout'}}.",
        ),
        (b'{"type":"ask"}', 422, "Expected a field `text` in a frame `ask`, but got none."),
        (
            b'{"type":"ask","text":"x","deadline":0}',
            422,
            "Expected another `deadline` in a frame `ask`, but got 0: input should be greater than 0.",
        ),
        (
            b'{"type":"hello","token":7}',
            422,
            "Expected another `token` in a frame `hello`, but got another value: input should be a valid string.",
        ),
    ],
)
def test_errors_name_the_expected_value(data, status, message):
    with pytest.raises(ServiceError) as refused:
        read(data)
    assert (refused.value.status, refused.value.message) == (status, message)


def test_a_secret_is_not_repeated():
    with pytest.raises(ServiceError) as refused:
        read(b'{"type":"hello","token":["my-secret"]}')
    assert "my-secret" not in refused.value.message


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id":"a","type":"shout"}', "a"),
        (b'{"id":7}', None),
        (b'{"id":"a b"}', None),
        (b"[1]", None),
        (b"nonsense", None),
        (b'{"type":"ask"}', None),
    ],
)
def test_the_id_of_a_wrong_frame(data, expected):
    assert id_of(data) == expected


@settings(max_examples=50)
@given(st.sampled_from(["hello", "ask", "cancel", "feedback", "choose", "raw", "ping", "?"]), fields)
def test_any_object_is_read_or_refused(kind, values):
    data = orjson.dumps({"type": kind, **values})
    frame, error = read_or_refused(data)
    if error is None:
        assert frame.type == kind
    else:
        assert error.status == 422
        assert error.message.startswith("Expected ")
        assert len(error.message) < 400
    assert id_of(data) in (None, values.get("id"))


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(data):
    _, error = read_or_refused(data)
    assert error is None or error.status in (400, 422)
    assert id_of(data) is None or isinstance(id_of(data), str)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        *((StageBegun(stage), {"type": "status", "stage": stage}) for stage in STAGES),
        (TextAdded("A "), {"type": "delta", "text": "A "}),
    ],
)
def test_events_as_frames(event, expected):
    assert frames.event_frame(event) == expected


def test_sources_as_a_frame():
    (source,) = frames.event_frame(SourcesFound((SOURCE,)))["sources"]
    assert (source["id"], source["span"], source["source_span"]) == ("a#0", (0, 7), (0, 7))


def test_the_last_frame_is_the_answer_object():
    whole = frames.frame(frames.final(ANSWER), question_id="q1", conversation="c", seq=7)
    assert list(whole)[:5] == ["type", "id", "conversation", "seq", "turn"]
    assert (whole["type"], whole["id"], whole["turn"], whole["answer"]) == ("final", "q1", "t1", "A text.")
    assert orjson.loads(dumps(whole))["sources"][0]["span"] == [0, 7]


def test_errors_as_frames():
    assert frames.failed("invalid", "No.") == {"type": "error", "code": "invalid", "message": "No."}
    assert frames.failed("overloaded", "Later.", 0.5)["retry_after"] == 0.5
