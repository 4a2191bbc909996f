"""The XML of a reply: an example by hand, and its limits for every text."""

from __future__ import annotations

from dataclasses import replace

import defusedxml.ElementTree
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.answering.wording.refusals import ENGLISH
from qa_bot.web.liveqa.liveqa_focus import Analysis, analyse
from qa_bot.web.liveqa.reply import CONTENT, ILLEGAL, QID, REST, reply
from qa_core.types import Answer, AnswerSource, Question, Span

NOTHING = Analysis((), (), "")
YES = Answer("Why?", "Cats sleep.", "passage", answered=True, confidence=0.9, id="a1")
NO = Answer("Why?", "", "none", answered=False, confidence=0.1, reason="Nothing <fits>.", id="a2")

ANY = st.characters() | st.sampled_from("\x00\x0b\x1f\ud800\udfff\ufffe\uffff&<>\"'\r\n\t,]😀\U0010ffff\u202eمش")
TEXTS = st.text(ANY, max_size=80) | st.text(ANY, max_size=3).map(lambda text: text * 900)


def source(document: str, *, url: str = "", span: Span | None = (0, 5)) -> AnswerSource:
    return AnswerSource(f"{document}#0", document, "c", "title", url, 1.0, "text", span, span)


def parsed(text: str) -> dict[str, str]:
    """The texts of the elements by name, and the attributes."""
    answer = defusedxml.ElementTree.fromstring(text)[0]
    return {**answer.attrib, **{item.tag: item.text or "" for item in answer}}


def test_an_answer_is_written_as_the_track_wants_it() -> None:
    answer = replace(YES, sources=(source("d1"), source("d2", url="http://x/?a=1,2&b=3")))
    result = reply(answer, Analysis(((14, 25), (30, 34)), ((0, 3),), "Why?"), qid="YA:1", milliseconds=812)
    assert result == (
        '<xml><answer answered="yes" pid="a1" qid="YA:1" time="812"><content>Cats sleep.</content>'
        "<resources>d1,http://x/?a=1%2C2&amp;b=3</resources><title-foci>14-25,30-34</title-foci>"
        "<body-foci>0-3</body-foci><summary>Why?</summary></answer></xml>"
    )


def test_markdown_becomes_plain_text() -> None:
    text = "**Rooms**\n\n| Room | Seats |\n| --- | --- |\n| Tern | 4 |"
    assert (
        parsed(reply(replace(YES, text=text), NOTHING, qid="", milliseconds=0))["content"] == "Rooms\n\nTern: Seats 4"
    )


@pytest.mark.parametrize(("unsure", "remark"), [(True, ENGLISH.unsure), (False, ENGLISH.from_starter)])
def test_an_answer_begins_with_its_remark(unsure: bool, remark: str) -> None:
    answer = replace(YES, unsure=unsure, reason=remark)
    assert parsed(reply(answer, NOTHING, qid="", milliseconds=0))["content"] == f"{remark}\n\nCats sleep."


def test_without_an_answer_there_is_a_reason() -> None:
    assert reply(NO, NOTHING, qid="", milliseconds=3) == (
        '<xml><answer answered="no" pid="a2" qid="" time="3"><discard-reason>Nothing &lt;fits&gt;.</discard-reason>'
        "<title-foci></title-foci><body-foci></body-foci><summary></summary></answer></xml>"
    )


URL = "https://example.org/c"


def test_resources_are_the_distinct_sources_of_the_answer() -> None:
    sources = (source("a"), source("b", span=None), source("c", url=URL), source("d", url=URL), source("e\x00\ud800"))
    assert parsed(reply(replace(YES, sources=sources), NOTHING, qid="", milliseconds=0))["resources"] == f"a,{URL},e"


def test_resources_are_cut_at_whole_entries() -> None:
    sources = tuple(source(f"{number:03}{'x' * 97}") for number in range(30))
    result = reply(replace(YES, sources=sources), NOTHING, qid="", milliseconds=0)
    entries = parsed(result)["resources"].split(",")
    assert {len(entry) for entry in entries} == {100}
    assert REST - 101 < len(result) - len(YES.text) <= REST, "as many as there is room for"


def test_a_long_answer_is_cut_at_a_word() -> None:
    result = reply(replace(YES, text="seven77 " * 125 + "and more"), NOTHING, qid="", milliseconds=0)
    assert parsed(result)["content"] == ("seven77 " * 125)[:-1] + "…"


@pytest.mark.parametrize("text", ["x" * 1000, "😀" * 1000])
def test_an_answer_of_the_longest_length_is_whole(text: str) -> None:
    assert parsed(reply(replace(YES, text=text), NOTHING, qid="", milliseconds=0))["content"] == text


def test_characters_illegal_in_xml_are_removed() -> None:
    odd = "a\x00b\x0bc\ud800d\ufffee\tf"
    result = parsed(reply(replace(YES, text=odd), Analysis((), (), odd), qid=odd + "\n", milliseconds=0))
    assert (result["content"], result["summary"], result["qid"]) == ("abcde\tf", "abcde\tf", "abcde\tf\n")


def test_an_id_comes_back_whole_up_to_its_share() -> None:
    assert parsed(reply(NO, NOTHING, qid="q" * QID, milliseconds=0))["qid"] == "q" * QID
    assert parsed(reply(NO, NOTHING, qid="q" * 9000, milliseconds=0))["qid"] == "q" * QID


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.booleans())
def test_every_reply_is_well_formed_and_within_its_limits(
    qid: str, title: str, body: str, text: str, answered: bool
) -> None:
    sources = tuple(source(f"{text}{number}", url=body) for number in range(3))
    answer = replace(YES, text=text or "x", sources=sources) if answered else replace(NO, reason=text)
    legible = (ILLEGAL.sub(" ", item) for item in (title, body))
    written = reply(answer, analyse(Question(*legible)), qid=qid, milliseconds=10**6)
    result = parsed(written)
    assert len(result.get("content", "")) <= CONTENT
    content = written.partition("<content>")[2].partition("</content>")[0]
    assert len(written) - len(content) <= REST
    assert len(result["summary"]) <= 140
    assert ILLEGAL.sub("", qid).startswith(result["qid"])
