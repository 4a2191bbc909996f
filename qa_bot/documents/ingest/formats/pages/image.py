"""Reads pictures of text: scans, photographs and screen shots. The only file that imports PIL."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.pages import recognition
from qa_bot.documents.ingest.formats.pages.layout import PageRows, written
from qa_bot.documents.ingest.formats.pages.lines import pieces_of, rows_of
from qa_bot.documents.ingest.records import Item, Record, Reject

MOST_FRAMES = 500  # of a TIFF
MOST_PIXELS = 120_000_000
SMALL = 1000  # pixels of the longer side: a smaller picture is enlarged
USUAL_RESOLUTION = 150.0  # dots per inch of a picture that does not state it


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id; each frame is a page."""
    if not recognition.is_available():
        yield Reject(file.where, f"Expected a document with text, but got a picture; {recognition.HINT}.")
        return
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        yield Reject(file.where, f"Expected a document with text, but got a picture; {recognition.HINT}.")
        return
    with file.file() as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged metadata
        try:
            with Image.open(stream) as image:
                yield _record(file, image)
        except UnidentifiedImageError:
            yield Reject(file.where, "Expected a readable picture, but got a broken one; save it anew.")
        except (Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
            yield Reject(file.where, f"Expected a readable picture, but got a broken one ({error}); save it anew.")
        except recognition.RecognitionError as error:
            yield Reject(file.where, f"Expected a picture with readable text, but {error}; make a smaller one.")


def _record(file: SourceFile, image: Any) -> Record | Reject:
    pages: list[PageRows] = []
    for number in range(1, min(MOST_FRAMES, getattr(image, "n_frames", 1)) + 1):
        file.progress()
        image.seek(number - 1)
        if image.width * image.height > MOST_PIXELS:
            return Reject(file.where, f"Expected at most {MOST_PIXELS:,} pixels, but got more; make a smaller picture.")
        width, height, pixels, resolution = _grey(image)
        words = recognition.recognised(width, height, pixels, resolution)
        pages.append(PageRows(number, 72 * height / resolution, rows_of(pieces_of(words)), []))
    flow = written(pages, [], is_recognised=True)
    if not flow.writer.text:
        return Reject(file.where, "Expected a picture of text, but recognised none; leave it out.")
    return Record(
        file.name,
        file.stem,
        file.repairs.clean(flow.writer.text),
        where=f"{file.where}:1",
        markdown=True,
        positions=tuple(flow.writer.positions) if len(pages) > 1 else (),
    )


def _grey(image: Any) -> tuple[int, int, bytes, float]:
    """Width, height, pixels and dots per inch, upright and large enough."""
    from PIL import Image, ImageOps

    resolution = float(image.info.get("dpi", (0, 0))[0] or 0)
    upright = ImageOps.exif_transpose(image)
    if upright.mode in {"RGBA", "LA", "P"}:  # what is transparent is white
        upright = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", upright.size, "white"), upright)
    grey = upright.convert("L")
    factor = 2 if max(grey.size) < SMALL else 1
    grey = grey.resize((factor * grey.width, factor * grey.height)) if factor > 1 else grey
    resolution = factor * (resolution if 70 <= resolution <= 1200 else USUAL_RESOLUTION)
    return grey.width, grey.height, grey.tobytes(), resolution
