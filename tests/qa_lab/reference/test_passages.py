import numpy as np

from qa_lab.reference.passages import best_window, joined, pack
from qa_lab.reference.units import units


def test_units_of_a_section_are_packed_to_the_limit(document):
    made = units(document("Aaaaaa. Bbbbbb. Cccccc.\n\n## Next\n\nDddddd."))
    passages = pack(made, size=16)  # two sentences of 7 characters with a blank each
    assert [passage.text for passage in passages] == ["Aaaaaa. Bbbbbb.", "Cccccc.", "Dddddd."]
    assert [passage.rows for passage in passages] == [slice(0, 2), slice(2, 3), slice(3, 4)]
    assert [passage.context for passage in passages] == ["Guide", "Guide", "Guide › Next"]


def test_documents_are_never_mixed(document):
    both = [*units(document("One.")), *units(document("Two.", name="b.md"))]
    assert [passage.document.id for passage in pack(both)] == ["guide.md", "b.md"]


def test_a_long_unit_is_a_passage(document):
    assert len(pack(units(document("word " * 500)), size=100)) == 1
    assert pack([]) == []


def test_sentences_of_a_paragraph_share_a_line(document):
    assert joined(units(document("One. Two.\n\nThree.\n- four"))) == "One. Two.\nThree.\n- four"
    assert joined([]) == ""


def test_a_window_grows_to_the_better_neighbour(document):
    made = units(document("Aaaaaa. Bbbbbb. Cccccc. Dddddd."))
    scores = np.array([0.1, 0.9, 0.5, 0.2])
    assert best_window(made, scores, width=7) == (1, 2)
    assert best_window(made, scores, width=15) == (1, 3)
    assert best_window(made, scores, width=23) == (1, 4)
    assert best_window(made, scores, width=100) == (0, 4)
    assert best_window(made, np.array([0.5, 0.9, 0.1, 0.0]), width=15) == (0, 2)
    assert best_window(made, scores, width=1) == (1, 2)
