"""Seconds and memory to read a long PDF file and to cut it into passages.

    python benchmarks/long_pdf.py [--pages 600]

The file is made of random words, with a heading and 45 lines a page. Memory is the largest resident size of the process
that reads PDF files.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from qa_bot.documents.cutting.cut_record import cut_record
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Record
from qa_bot.documents.ingest.worker.process import POOL

WORDS = "river stone harbour lantern copper meadow engine ladder of the and in to is was for".split()  # noqa: SIM905
LINES, LINE_WORDS = 45, 14


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=600)
    pages = parser.parse_args().pages
    with tempfile.TemporaryDirectory(prefix="qa-bot-pdf-") as folder:
        path = Path(folder) / "long.pdf"
        path.write_bytes(made(pages))
        started = time.perf_counter()
        (record,) = [item for item in read(path) if isinstance(item, Record)]
        read_after = time.perf_counter() - started
        passages = cut_record(record, characters=1000, overlap=0).passages
        seconds = time.perf_counter() - started
    POOL.end()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "pages": pages,
        "passages": len(passages),
        "last_page": passages[-1].place.page,
        "read_seconds": round(read_after, 2),
        "seconds": round(seconds, 2),
        "reader_processor_seconds": round(used.ru_utime + used.ru_stime, 2),
        "reader_megabytes": round(used.ru_maxrss / 1024),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def made(pages: int) -> bytes:
    """A PDF file of this many pages."""
    source = random.Random(0)
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(pages))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {pages}/Kids[{kids}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for page in range(pages):
        lines = [f"BT /F1 16 Tf 72 740 Td (The {' '.join(source.choices(WORDS, k=5))}) Tj ET"]
        for line in range(LINES):
            words = " ".join(source.choices(WORDS, k=LINE_WORDS))
            lines.append(f"BT /F1 10 Tf 72 {700 - 14 * line} Td ({words}.) Tj ET")
        content = "\n".join(lines)
        box = "/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{box}/Contents {5 + 2 * page} 0 R>>")
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    parts, places, length = ["%PDF-1.4\n"], [], 9
    for number, text in enumerate(objects, start=1):
        places.append(length)
        parts.append(f"{number} 0 obj\n{text}\nendobj\n")
        length += len(parts[-1])
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    parts.append(f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\n")
    return "".join([*parts, f"startxref\n{length}\n%%EOF"]).encode()


if __name__ == "__main__":
    main()
