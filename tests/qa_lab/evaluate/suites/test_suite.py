from pathlib import Path

import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.suites.parts import PARTS
from qa_lab.evaluate.suites.suite import DEVELOPMENT, Configuration, ablated, read_suite

CONFIGURATION = '[[configuration]]\nname = "default"\n'
COLLECTION = '[[collection]]\nname = "a"\nkind = "retrieval"\ndata = "a"\n'


def test_paths_are_relative_to_the_folder_of_the_data(suite_file, tmp_path):
    suite = read_suite(suite_file)
    assert suite.name == "suite"
    assert suite.collections[0].data == tmp_path / "data" / "policies"
    assert suite.configurations == (Configuration("default"), Configuration("simple", "plain-hybrid"))
    assert [collection.missing for collection in suite.collections] == [None, tmp_path / "data" / "nowhere", None]
    assert read_suite(suite_file, data=Path("/x")).collections[0].questions == Path("/x/questions.jsonl")


def test_the_variable_of_the_data(monkeypatch, tmp_path):
    monkeypatch.setenv("QA_BOT_DATA", str(tmp_path))
    suite = read_suite(DEVELOPMENT)
    assert suite.collections[0].data == tmp_path / "workplace/company"
    assert [configuration.engine for configuration in suite.configurations] == ["default", "plain-hybrid", "recipe"]
    monkeypatch.delenv("QA_BOT_DATA")
    assert read_suite(DEVELOPMENT).collections[0].data == Path("../shared/data/workplace/company").absolute()


def test_the_starter_collection_is_never_missing(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        CONFIGURATION + '[[collection]]\nname = "e"\nkind = "workplace"\ndata = "starter"\nquestions = "q"\n'
    )
    (collection,) = read_suite(path).collections
    assert (collection.data, collection.missing) == (Path("starter"), tmp_path / "q")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a = ", "Expected a suite in"),
        ("colour = 1", "but got colour"),
        (CONFIGURATION, "at least; add one"),
        (COLLECTION, "at least; add one"),
        (CONFIGURATION + COLLECTION * 2, "distinct names, but got 'a'"),
        (CONFIGURATION + COLLECTION.replace("retrieval", "guessing"), "a kind among .* but got 'guessing'"),
        (CONFIGURATION + COLLECTION.replace("retrieval", "workplace"), "Expected questions with the kind workplace"),
        (CONFIGURATION + COLLECTION + "colour = 1\n", "Expected the fields of a collection"),
        (CONFIGURATION + 'engine = "quick"\n' + COLLECTION, "but got 'quick'"),
        (CONFIGURATION + 'without = "legs"\n' + COLLECTION, "a part among words.* but got 'legs'"),
        (CONFIGURATION + 'engine = "recipe"\nwithout = "words"\n' + COLLECTION, "but got 'words' and recipe"),
    ],
)
def test_invalid_suites(tmp_path, content, message):
    path = tmp_path / "s.toml"
    path.write_text(content)
    with pytest.raises(DatasetError, match=message):
        read_suite(path)


def test_paths_in_the_checkout(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(CONFIGURATION + COLLECTION.replace('data = "a"', 'data = "$REPOSITORY/benchmarks/x"'))
    (collection,) = read_suite(path).collections
    assert collection.data == Path(__file__).parents[4] / "benchmarks" / "x"


def test_an_ablation_leaves_out_each_part_of_the_first_configuration(suite_file):
    suite = ablated(read_suite(suite_file))
    assert suite.configurations[0] == Configuration("default")
    assert {c.without for c in suite.configurations[1:]} == PARTS.keys()
    assert all(c.config == PARTS[c.without].config for c in suite.configurations[1:])


def test_only_the_product_has_parts(suite_file):
    suite_file.write_text(suite_file.read_text().replace('"default"', '"default"\nengine = "recipe"', 1))
    with pytest.raises(DatasetError, match="first to leave its parts out, but got recipe"):
        ablated(read_suite(suite_file))
