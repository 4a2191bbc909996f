"""Writing a segment takes bounded memory: the peak of what Python and numpy allocate, at two sizes.

Allocations are counted, not resident pages: those differ from run to run by more than what is bounded here.
benchmarks/add_memory.py measures the resident memory of a whole `add`.
"""

import subprocess
import sys

import pytest

WRITE = """
import sys, tracemalloc
from pathlib import Path

import numpy as np

from retrievers.engines.local import dense_writer
from retrievers.engines.local.segments import IndexedDocument, IndexedPassage, SegmentWriter

class NumberEncoder:  # unit vectors derived from the number at the end of a text
    dimension = 64
    fingerprint = "numbers"

    def encode(self, texts, *, side="question"):
        rows = np.array([int(text.rsplit(" ", 1)[1]) for text in texts], np.float32)[:, None]
        rows = np.cos(rows * np.arange(1, self.dimension + 1, dtype=np.float32))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

dense_writer.IVF_FROM = int(sys.argv[3])
tracemalloc.start()
writer = SegmentWriter(Path(sys.argv[1]), NumberEncoder())
for i in range(int(sys.argv[2])):
    passage = IndexedPassage(i, f"a passage about number {i}")
    writer.add(IndexedDocument(i, f"id-{i}", f"title {i}", "", "", "tests", (passage,)))
assert writer.close() == int(sys.argv[2])
print(tracemalloc.get_traced_memory()[1])
"""
FEW, MANY = 6_000, 24_000


def peak(folder, documents, ivf_from):
    command = [sys.executable, "-c", WRITE, str(folder), str(documents), str(ivf_from)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ivf_from", "bytes_per_document"),
    [
        (100_000, 60),  # the sketches are mapped, a kept vector would take 256
        (1_000, 60),  # with lists and their centres
    ],
)
def test_memory_does_not_grow_with_the_number_of_documents(ivf_from, bytes_per_document, tmp_path):
    grown = peak(tmp_path / "many", MANY, ivf_from) - peak(tmp_path / "few", FEW, ivf_from)
    assert grown / (MANY - FEW) < bytes_per_document
