"""Stack Exchange dumps: one answer for each question."""

import io
import random
from xml.sax.saxutils import quoteattr

import py7zr
import pytest

from qa_bot.documents.ingest import Limits


def row(**attributes):
    return "  <row " + " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items()) + " />\n"


def question(number, **more):
    return row(Id=number, PostTypeId=1, Title=f"Title {number}", Body=f"<p>Body &amp; {number}</p>", **more)


def answer(number, parent, **more):
    return row(Id=number, PostTypeId=2, ParentId=parent, Body=f"<p>Answer <b>{number}</b></p><ul><li>x</ul>", **more)


def posts(*rows):
    return '\ufeff<?xml version="1.0" encoding="utf-8"?>\n<posts>\n' + "".join(rows) + "</posts>"


def chosen(records):
    return {record.id: record.text.split("\n")[0] for record in records}


def test_accepted_then_best_voted_then_first(reads, tmp_path):
    data = posts(
        answer(10, 1, Score=99),  # an answer may precede its question
        question(1, AcceptedAnswerId=11, Score=5),
        answer(11, 1, Score=-2),
        question(2),
        answer(20, 2, Score=1),
        answer(21, 2, Score=3),
        answer(22, 2, Score=3),
        question(3),
        answer(31, 3),
        answer(30, 3),
        question(4, AcceptedAnswerId=4000),
        answer(40, 4, Score=0),
        row(Id=5, PostTypeId=4, Body="a wiki"),
    )
    records, rejects, _ = reads("Posts.xml", data)
    assert chosen(records) == {"1": "Answer 11", "2": "Answer 21", "3": "Answer 30", "4": "Answer 40"}
    assert (records[0].title, records[0].body, records[0].text) == ("Title 1", "Body & 1", "Answer 11\n\nx")
    assert records[0].where == f"{tmp_path}/Posts.xml:4"
    assert records[0].url == ""
    assert rejects == []


def test_questions_that_cannot_be_used(reads):
    data = posts(
        question(1),
        row(Id=2, PostTypeId=1, Body="no title"),
        answer(20, 2),
        row(Id="x", PostTypeId=1, Title="T"),
        row(Id=3, PostTypeId=2),
        question(4),
        answer(40, 4, Score=1),
    )
    records, rejects, _ = reads("Posts.xml", data)
    assert chosen(records) == {"4": "Answer 40"}
    assert [reject.reason.split(",")[0] for reject in rejects] == [
        "Expected a number in the attribute Id",
        "Expected a number in the attribute ParentId",
        "no answer: expected question 1 to have one; it is left out.",
        "no title: expected question 2 to have one; it is left out.",
    ]
    assert rejects[0].where.endswith("Posts.xml:6")


def test_broken_in_the_middle_keeps_what_came_before(reads):
    data = posts(question(1), answer(10, 1), "<row Id=", question(2), answer(20, 2))
    records, (reject,), _ = reads("Posts.xml", data)
    assert chosen(records) == {"1": "Answer 10"}
    assert reject.where.endswith("Posts.xml:5")


def packed(name, data):
    buffer = io.BytesIO()
    with py7zr.SevenZipFile(buffer, "w") as archive:
        archive.writestr("<badges/>", "Badges.xml")
        archive.writestr(data, name)
    return buffer.getvalue()


def test_a_dump_in_7z(reads, tmp_path):
    data = packed("Posts.xml", posts(question(1), answer(10, 1)))
    (record,), rejects, _ = reads("cooking.stackexchange.com.7z", data)
    assert record.url == "https://cooking.stackexchange.com/questions/1"
    assert record.where == f"{tmp_path}/cooking.stackexchange.com.7z!Posts.xml:3"
    assert rejects == []


def test_broken_7z_and_7z_without_posts(reads):
    data = packed("Posts.xml", posts(question(1), answer(10, 1)))
    for damaged in (data[:-20], data[:32], data[:40] + b"\xff" * 20 + data[60:]):
        records, (reject,), _ = reads("a.7z", damaged)
        assert records == []
        assert "7z archive" in reject.reason
    _, (reject,), _ = reads("b.7z", packed("Users.xml", "<users/>"))
    assert "Expected Posts.xml in the 7z archive, but got Badges.xml, Users.xml" in reject.reason


@pytest.mark.parametrize(
    ("limits", "flag"), [(Limits(), "--max-ratio"), (Limits(total_bytes=1_000_000, ratio=10**6), "--max-total-bytes")]
)
def test_7z_bomb(reads, limits, flag):
    _, (reject,), _ = reads("a.7z", packed("Posts.xml", "a" * 5_000_000), limits=limits)
    assert flag in reject.reason


def test_incompressible_7z_is_within_the_ratio(reads):
    body = random.Random(0).randbytes(600_000).hex()
    dump = posts(question(1), row(Id=2, PostTypeId=2, ParentId=1, Body=body))
    (record,), _, _ = reads("a.7z", packed("Posts.xml", dump))
    assert record.text == body


def test_other_xml(reads):
    _, (reject,), _ = reads("Users.xml", "<users><row Id='1'/></users>")
    assert "XML with one of the roots <Document>" in reject.reason
    _, (reject,), _ = reads("Users.xml", "<users><row Id='1'/></users>", format="stackexchange")
    assert "Expected the root <posts>, but got <users>" in reject.reason
