"""The table of German synonyms from a thesaurus in the format of MyThes."""

from qa_lab.fit.language.synonym_table import main, senses, synonyms

THESAURUS = """UTF-8
hund|1
-|Hund|Vierbeiner|Canis lupus|Köter (derb)|Fiffi (ugs.)|Haustier (Oberbegriff)
kriegen|2
-|bekommen|erhalten|(jemandem) zuteil werden|kriegen (ugs.)|Erhalt
-|fangen|fassen|kriegen (ugs.)
vierbeiner|1
-|Hund|Vierbeiner|Canis lupus|Köter (derb)|Fiffi (ugs.)|Haustier (Oberbegriff)
allein|1
-|allein|ganz für sich
"""


def test_senses_hold_single_words_once():
    assert list(senses(THESAURUS.splitlines())) == [
        ["Hund", "Vierbeiner", "Fiffi"],
        ["bekommen", "erhalten", "kriegen", "Erhalt"],
        ["fangen", "fassen", "kriegen"],
    ]


def test_synonyms_are_of_all_senses_and_in_the_same_case():
    table = synonyms(senses(THESAURUS.splitlines()))
    assert table["Hund"] == ["Vierbeiner", "Fiffi"]
    assert table["kriegen"] == ["bekommen", "erhalten", "fangen", "fassen"]
    assert "Erhalt" not in table


def test_lines_are_in_the_order_of_their_bytes(tmp_path):
    (tmp_path / "thesaurus.dat").write_text(THESAURUS, encoding="utf-8")
    main(["--thesaurus", str(tmp_path / "thesaurus.dat"), "--out", str(tmp_path / "out.tsv")])
    lines = (tmp_path / "out.tsv").read_bytes().splitlines()
    assert lines == sorted(lines)
    assert b"Hund\tVierbeiner\tFiffi" in lines
