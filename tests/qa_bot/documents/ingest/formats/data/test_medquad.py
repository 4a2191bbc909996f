"""MedQuAD files and the published archive."""

import io
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from qa_bot.documents.ingest import Limits, Record, Reject, read

FILE = """<?xml version="1.0" encoding="UTF-8"?>
<Document id="0000001" source="X" url="http://example.org/page">
<Focus>Hiccups</Focus>
<QAPairs>
  <QAPair pid="1">
    <Question qid="0000001-1" qtype="information">What are hiccups ?</Question>
    <Answer>Spasms of the
        diaphragm &amp; more.    - First item    - Second item


        The end.</Answer>
  </QAPair>
  <QAPair pid="2">
    <Question qid="0000001-2">How to stop them ?</Question>
    <Answer/>
  </QAPair>
  <QAPair pid="3"><Question>Who gets them ?</Question><Answer>Everyone.</Answer></QAPair>
</QAPairs>
</Document>
"""
REAL = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "medquad/medquad.zip"


def test_pairs_of_a_file(reads, tmp_path):
    (first, third), (reject,), notices = reads("0000001.xml", FILE)
    assert first == Record(
        id="0000001#1",
        title="What are hiccups ?",
        text="Spasms of the\ndiaphragm & more.\n- First item\n- Second item\n\nThe end.",
        url="http://example.org/page",
        where=f"{tmp_path}/0000001.xml:5",
    )
    assert (third.id, third.text) == ("0000001#3", "Everyone.")
    assert reject.where == f"{tmp_path}/0000001.xml:13"
    assert reject.reason.startswith("no answer")
    assert notices == []


def test_file_names_that_repeat_in_folders(reads):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("1_A/0000001.xml", FILE)
        archive.writestr("2_B/0000001.xml", FILE)
    records, _, _ = reads("medquad.zip", buffer.getvalue())
    assert [record.id for record in records] == [f"{folder}/0000001#{i}" for folder in ("1_A", "2_B") for i in (1, 3)]


def test_broken_in_the_middle_keeps_the_pairs_before(reads, tmp_path):
    broken = FILE.replace("Everyone.</Answer>", "Everyone.</Answr>")
    records, rejects, _ = reads("0000001.xml", broken)
    assert [record.id for record in records] == ["0000001#1"]
    assert rejects[-1].where == f"{tmp_path}/0000001.xml:17"
    assert "Expected well-formed XML, but got mismatched tag" in rejects[-1].reason


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://example.org/x"> %a;]>',
    ],
)
def test_entities_are_refused(reads, doctype):
    data = FILE.replace("<Document", f"{doctype}<Document").replace("more", "&b;")
    records, (reject,), _ = reads("0000001.xml", data)
    assert records == []
    assert "Expected XML without entities, but got EntitiesForbidden" in reject.reason


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_declared_encoding(reads, encoding):
    data = FILE.replace("Everyone", "Jeder große").replace("UTF-8", encoding).encode(encoding)
    records, _, notices = reads("0000001.xml", data)
    assert records[1].text == "Jeder große."
    assert notices == []


def test_text_outside_of_pairs_is_limited(reads):
    data = "<Document><QAPairs>" + "word " * 100_000
    _, (reject,), _ = reads("a.xml", data, limits=Limits(record_bytes=10_000))
    assert "--max-record-bytes" in reject.reason


def test_files_without_pairs(reads):
    _, (reject,), _ = reads("a.xml", "<Document><QAPairs/></Document>")
    assert reject.reason.startswith("no pairs")
    _, (reject,), _ = reads("b.xml", "<doc><qaPairs><pair><question>Q</question></pair></qaPairs></doc>")
    assert reject.reason.startswith("older layout: expected MedQuAD's <QAPair> elements, but got 1 <pair>")


def test_deep_xml(reads):
    deep = "<a>" * 100_000
    _, (reject,), _ = reads("a.xml", f"<Document>{deep}", format="medquad")
    assert "Expected well-formed XML" in reject.reason


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason=f"needs {REAL}: set QA_BOT_DATA to the folder of the data")
def test_the_published_archive():
    items = list(read(REAL))
    records = [item for item in items if isinstance(item, Record)]
    rejects = Counter(item.reason.split(":")[0] for item in items if isinstance(item, Reject))
    assert len(records) == len({record.id for record in records}) == 16_407
    assert rejects == {"no answer": 5, "no pairs": 6, "older layout": 4}
    assert all(record.title and record.text for record in records)
