"""Documents of a few lines."""

from collections.abc import Callable

import pytest

from qa_lab.reference.documents import Document


@pytest.fixture
def document() -> Callable[..., Document]:
    def make(text: str, *, name: str = "guide.md", title: str = "Guide", markdown: bool = True, old: bool = False):
        return Document(name, title, text, markdown, old)

    return make
