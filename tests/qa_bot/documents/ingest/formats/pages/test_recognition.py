"""Text recognition of scans and pictures."""

import io
import os

import pytest

from qa_bot.documents.ingest.formats.pages import pdfium, recognition
from qa_bot.documents.ingest.worker.process import POOL

CI = os.environ.get("CI") == "true"
needs_tesseract = pytest.mark.skipif(
    not recognition.is_available() and not CI, reason="tesseract is not installed (apt install tesseract-ocr)"
)
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'qa-bot[documents]')")
LINES = ["The assembly point is the car park behind", "the supermarket. Do not use the lifts."]


@pytest.fixture
def scan(draw):
    """A picture of a page with a heading and two lines."""
    heading = draw.line(72, 80, "Fire alarm", size=24, font="Helvetica-Bold")
    data = draw.pdf([heading, *draw.lines(LINES, y=120, size=12, pitch=16)])
    with pdfium.opened(io.BytesIO(data)) as document:
        width, height, pixels = document.picture(1, 150)
    return Image.frombytes("L", (width, height), pixels)


def saved(image, format_, **options):
    buffer = io.BytesIO()
    image.save(buffer, format_, **options)
    return buffer.getvalue()


@needs_tesseract
@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "WEBP"])
def test_pictures(reads, scan, format_):
    (record,), rejects, _ = reads("photo.dat", saved(scan, format_))
    assert record.text == f"# Fire alarm\n\n{' '.join(LINES)}"
    assert (record.id, record.title, record.markdown) == ("photo.dat", "photo", True)
    assert rejects == []


@needs_tesseract
def test_photographs_are_turned_upright(reads, scan):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown turned by 90 degrees to the right
    (record,), _, _ = reads("a.jpg", saved(scan.transpose(Image.Transpose.ROTATE_90), "JPEG", exif=exif))
    assert "assembly point" in record.text


@needs_tesseract
@pytest.mark.slow
def test_frames_and_scanned_pages_are_pages(reads, scan):
    for name, format_ in (("a.tif", "TIFF"), ("a.pdf", "PDF")):
        options = {"resolution": 150} if format_ == "PDF" else {"dpi": (150, 150)}
        data = saved(scan, format_, save_all=True, append_images=[scan], **options)
        (record,), rejects, _ = reads(name, data)
        assert record.text.count("assembly point") == 2
        assert [position.page for position in record.positions] == [1, 2]
        assert rejects == []


def test_without_the_program_the_reject_says_what_to_install(reads, scan, monkeypatch, tmp_path):
    POOL.end()
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, format_ in (("a.png", "PNG"), ("a.pdf", "PDF")):
        records, (reject,), _ = reads(name, saved(scan, format_))
        assert records == []
        assert "apt install tesseract-ocr" in reject.reason
        assert "qa-bot[documents]" in reject.reason
    POOL.end()


@needs_tesseract
def test_broken_and_empty_pictures_are_rejected(reads, scan):
    _, (reject,), _ = reads("cut.png", saved(scan, "PNG")[:300])
    assert "readable picture" in reject.reason
    _, (reject,), _ = reads("white.png", saved(Image.new("L", (300, 300), 255), "PNG"))
    assert "recognised none" in reject.reason
    _, (reject,), _ = reads("bomb.png", saved(Image.new("1", (20_000, 20_000)), "PNG"))
    assert "picture" in reject.reason
