"""The text of Word documents."""

import pytest


@pytest.fixture
def text_of(reads):
    """The Markdown of one document, which is read without rejects."""

    def text_of(data):
        (record,), rejects, notices = reads("a.docx", data)
        assert (rejects, notices) == ([], [])
        assert record.markdown
        return record.text

    return text_of
