"""Text recognition by the program tesseract, if it is installed."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from functools import cache

from qa_bot.documents.ingest.formats.pages.lines import Word

DOTS_PER_INCH = 300
SECONDS = 60  # a page
LANGUAGES = ("eng", "deu", "fra", "spa", "ita", "nld", "por", "pol")
MOST_LANGUAGES = 4  # each one makes recognition slower
LEAST_CONFIDENCE = 30.0  # of 100
LINE, WORD = "4", "5"  # levels of tesseract's table
HINT = 'install text recognition (apt install tesseract-ocr, pip install "qa-bot[documents]")'


class RecognitionError(Exception):
    """A page could not be recognised; the message says why."""


def is_available() -> bool:
    """Whether the program is installed."""
    return shutil.which("tesseract") is not None


def recognised(width: int, height: int, pixels: bytes, dots_per_inch: float = DOTS_PER_INCH) -> list[Word]:
    """The words of a picture, with boxes in points; each word is as high as its line.

    Args:
        width: in pixels.
        height: in pixels.
        pixels: grey values, row by row.
        dots_per_inch: resolution of the picture.

    Raises:
        RecognitionError: the program failed, or took longer than a minute.
    """
    picture = f"P5 {width} {height} 255\n".encode() + pixels
    options = ["-l", _languages(), "--dpi", str(round(dots_per_inch)), "tsv"]
    scale = 72 / dots_per_inch
    line_top = line_bottom = 0.0
    words: list[Word] = []
    for row in csv.DictReader(_run(["stdin", "stdout", *options], picture).splitlines(), dialect=_Table):
        if row["level"] not in {LINE, WORD}:
            continue
        top = scale * float(row["top"])
        if row["level"] == LINE:
            line_top, line_bottom = top, top + scale * float(row["height"])
        elif row["text"].strip() and float(row["conf"]) >= LEAST_CONFIDENCE:
            left = scale * float(row["left"])
            right = left + scale * float(row["width"])
            words.append(Word(row["text"].strip(), left, line_top, right, line_bottom))
    return words


class _Table(csv.Dialect):
    delimiter = "\t"
    quoting = csv.QUOTE_NONE
    lineterminator = "\n"


@cache
def _languages() -> str:
    lines = _run(["--list-langs"], b"").splitlines()[1:]
    installed = [language for language in LANGUAGES if language in lines]
    return "+".join(installed[:MOST_LANGUAGES]) or "eng"


def _run(options: list[str], data: bytes) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # without a shell, and the picture is its input
            ["tesseract", *options],  # noqa: S607  # the user's own program
            input=data,
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more threads are slower
        )
    except subprocess.TimeoutExpired as error:
        raise RecognitionError(f"it took longer than {SECONDS} seconds") from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise RecognitionError(f"tesseract failed: {error}") from error
    return done.stdout.decode("utf-8", "replace")
