"""Marks of Logseq."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("title:: Move\ntags:: x\nowner:: Ann\nalias:: Go\n\n- a", "owner: Ann\nalias: Go\n\n- a"),
        ("- ## Days\n  collapsed:: true\n\t- On Friday.\n\t  id:: 64f1", "- **Days**\n    - On Friday."),
        ("- a\n  owner:: Ann\n  place:: Ulm\n- b", "- a\n\n    owner: Ann\n    place: Ulm\n- b"),
        ("- TODO a\n  :LOGBOOK:\n  CLOCK: [2024-01-01 Mon]\n  :END:\n- b", "- TODO a\n- b"),
        ("- #+BEGIN_NOTE\n  Shut doors.\n  #+END_NOTE\n- b", "- **Note:** Shut doors.\n- b"),
        ("#+BEGIN_TIP\nShut doors.\n#+END_TIP\n\nEnd.", "**Tip:** Shut doors.\n\nEnd."),
        ("- #+BEGIN_SRC sh\n  ls\n  #+END_SRC", "```sh\nls\n```"),
        ("See ((64f1a2b3-1111-2222-3333-444455556666)) now.", "See now."),
        ("```\nid:: 1\n```\n\nstd::vector `a:: b`", "```\nid:: 1\n```\n\nstd::vector `a:: b`"),
    ],
)
def test_marks_of_logseq(source, expected):
    assert markdown_blocks(source).text == expected
