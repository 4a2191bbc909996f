import gc

import pytest

from qa_bot.documents.garbage import NEW_OBJECTS, rare_collections


def test_collections_are_rare_only_inside() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rare_collections():  # noqa: PT012
        assert gc.get_threshold()[0] == NEW_OBJECTS
        raise ZeroDivisionError
    assert gc.get_threshold() == before
