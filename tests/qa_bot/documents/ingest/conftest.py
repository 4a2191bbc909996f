import pytest

from qa_bot.documents.ingest import Notice, Record, Reject, read


@pytest.fixture
def reads(tmp_path):
    """Writes a file and reads it: its records, rejects and notices."""

    def reads(name, data, **options):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        items = list(read(path, **options))
        return tuple([item for item in items if isinstance(item, kind)] for kind in (Record, Reject, Notice))

    return reads
