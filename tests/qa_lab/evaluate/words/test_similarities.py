from pathlib import Path

import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.words.similarities import Scored, read_list, read_lists

CAR, SUN = Scored("car", "auto", 8.5), Scored("sun", "moon", 3.0)


@pytest.mark.parametrize(
    "text",
    [
        "Car\tauto\t8.5\nsun\tmoon\t3\n",
        "# remark\ncar\tauto\t8.5\r\nsun\tmoon\t3.00\r\n",
        "Word 1,Word 2,Human (mean)\ncar,auto,8.5\nsun,moon,3\n",
        "Word 1,Word 2,Human (mean),1,2\ncar,auto,8.5,9,8\nsun,moon,3,2,4\n",
        "car auto 8.500000\nsun moon 3.000000\n",
        "car-n auto-n 8.5\nsun-n moon-n 3\n",
        "car;auto;8.5\nsun;moon;3\n",
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\ncar\tauto\tN\t8.5\t4.5\t4.9\nsun\tmoon\tN\t3\t4\t4\n",
        "car\tauto\tN\t8.5\tSYNONYMS\nsun\tmoon\tN\t3\tNONE\n",
        "car\tauto\t8.5\t9\t8\nsun\tmoon\t3.0\t2\t4\n",
        "\ufeffcar\tauto\t8.5\nsun\tmoon\t3\n",
    ],
    ids=["ws353", "remarks", "heading", "ratings", "men", "men-lemmas", "rg65", "simlex", "simverb", "rw", "bom"],
)
def test_published_forms(tmp_path: Path, text: str):
    path = tmp_path / "list.v1.txt"
    path.write_text(text, encoding="utf-8")
    read = read_list(path)
    assert (read.name, read.pairs) == ("list", (CAR, SUN))
    assert read.words == ("car", "auto", "sun", "moon")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("car\tauto\t8\nsun\tmoon\n", r"list.txt:2: Expected two words and their score, but got 'sun | moon'"),
        ("car\tauto\t8\nsun\t\t3\n", "list.txt:2"),
        ("word1\tword2\tscore\ncar\tauto\tmany\n", "list.txt:2"),
        ("a\tb\tc\nd\te\tf\n", "list.txt:1"),
        ("car\tauto\t8\n", "at least two scored word pairs.*got 1"),
        ("car\tauto\tnan\nsun\tmoon\t3\n", "list.txt:1"),
        ("", "got 0"),
    ],
)
def test_broken_lists_name_the_line(tmp_path: Path, text: str, message: str):
    path = tmp_path / "list.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=message.replace("|", r"\|")):
        read_list(path)


def test_folders(tmp_path: Path):
    (tmp_path / "b.csv").write_text("car,auto,8.5\nsun,moon,3\n")
    (tmp_path / "a.txt").write_text("car auto 8.5\nsun moon 3\n")
    (tmp_path / "README.txt").write_text("about these lists\n")
    (tmp_path / "notes.md").write_text("more\n")
    assert [item.name for item in read_lists(tmp_path)] == ["a", "b"]
    with pytest.raises(DatasetError, match="check --data"):
        read_lists(tmp_path / "none")
