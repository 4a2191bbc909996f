"""PDF files as text."""

import gzip
import io

import pytest
from pypdf import PdfReader, PdfWriter

from qa_bot.documents.ingest import Limits


def pdf(*pages, title=None, password=None):
    """A PDF with a line of text for each string of each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        stream = "BT /F1 12 Tf 14 TL 50 700 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    data += f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode()
    data += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{data.index(b'xref')}\n%%EOF\n".encode()
    return rewritten(data, title, password) if title or password else data


def rewritten(data, title, password):
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_pages_are_joined(reads, tmp_path):
    (record,), rejects, _ = reads("eggs.pdf", pdf(["Boiling eggs", "Put them in water."], ["Second page."]))
    assert (record.id, record.title, record.where) == ("eggs.pdf", "Boiling eggs", f"{tmp_path}/eggs.pdf:1")
    assert record.text == "Boiling eggs\nPut them in water.\n\nSecond page."
    assert rejects == []


def test_title_from_the_metadata_and_no_suffix_needed(reads):
    (record,), _, _ = reads("download.gz", gzip.compress(pdf(["Some text"], title="Eggs")))
    assert record.title == "Eggs"


def test_wrapped_lines_flow(reads):
    lines = ["A line that is long enough to have been wrapped by", "the program that set it, with a hy-", "phen. End."]
    (record,), _, _ = reads("a.pdf", pdf(lines))
    assert record.text == " ".join(lines).replace("hy- phen", "hyphen")


def test_unreadable_files(reads):
    whole = pdf(["Some text"])
    _, (reject,), _ = reads("locked.pdf", pdf(["Some text"], password="secret"))
    assert "with a password" in reject.reason
    _, (reject,), _ = reads("scan.pdf", pdf([]))
    assert "run text recognition" in reject.reason
    for damaged in (whole[:40], b"%PDF-1.4\n" + bytes(range(256)) * 4):
        _, (reject,), _ = reads("broken.pdf", damaged)
        assert "Expected a readable PDF, but got a broken one" in reject.reason
    _, (reject,), _ = reads("text.pdf", "no PDF at all", format="pdf")
    assert "Expected a readable PDF" in reject.reason


def test_text_over_the_record_limit(reads):
    _, (reject,), _ = reads("a.pdf", pdf(["word " * 30]), limits=Limits(record_bytes=100))
    assert "--max-record-bytes" in reject.reason


@pytest.mark.parametrize("cut", range(100, 700, 60))
def test_truncated_files_give_a_record_or_a_reject(reads, cut):
    records, rejects, _ = reads("a.pdf", pdf(["Some text"], ["More text"])[:cut])
    assert len(records) + len(rejects) == 1
