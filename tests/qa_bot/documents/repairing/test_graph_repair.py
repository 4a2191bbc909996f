"""A damaged graph is built again from the files that were added to it; starter and owner facts stay."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from qa_bot.cli.app import run
from qa_bot.documents import graph
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations

FACTS = (
    '<http://x/kiln> <http://x/fuel> "gas"@en .\n<http://x/kiln> <http://x/fuel> "Gas"@de .\n_:a <http://x/of> _:b .\n'
)
MORE = "<http://x/kiln> <http://x/place> <http://x/yard> .\n"

pytestmark = pytest.mark.usefixtures("private_home", "no_shipped_voices")


def triples(home: Path) -> set[bytes]:
    with graph.generations(Home(home)).pin_current() as generation:
        assert generation is not None
        return {line for _, lines in graph.statements(generation) for line in lines.splitlines()}


def names(home: Path) -> int:
    with graph.open_graph(Home(home)) as opened:
        return int(opened.stats()["names"])


def flip(path: Path) -> None:
    """Alter a file, but not the other links to it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)


@pytest.fixture(scope="module")
def home_with_facts(starter_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the starter graph, two files and a table of names. Read only."""
    folder = tmp_path_factory.mktemp("facts")
    home = Path(shutil.copytree(starter_home, folder / "home"))
    one, two, table = (folder / name for name in ("one.nt", "two.nt", "names.tsv"))
    one.write_text(FACTS)
    two.write_text(MORE)
    table.write_text("the oven\thttp://x/kiln\t3\n")
    for added in ((one, "--languages", "en"), (two, "--mentions", table, "--labels", "http://x/name")):
        assert run(["--home", str(home), "kg", "add", *map(str, added)]) == 0
    return home


@pytest.fixture
def facts(home: Path, home_with_facts: Path) -> set[bytes]:
    """The triples of a home that a test may damage."""
    shutil.rmtree(home)
    shutil.copytree(home_with_facts, home)
    return triples(home)


DAMAGES = [
    "triples/terms.*",
    "triples/manifest.json",
    "mentions/*.npy",
    "manifest.json",
    "sources/*two*",
    "sources/log.json",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "removed"), [*((name, False) for name in DAMAGES), ("manifest.json", True), ("sources/log.json", True)]
)
def test_repair_keeps_all_facts(home, qa_bot, facts: set[bytes], name: str, removed: bool) -> None:
    current = Generations(home / "graph").current()
    assert current is not None
    before = names(home)
    path = min(current.path.glob(name))
    if removed:
        path.unlink()
    else:
        flip(path)
    (check,) = [check for check in qa_bot("doctor", "--json").json["checks"] if not check["ok"]]
    assert (check["name"], check["command"]) == ("graph", "qa-bot repair")
    repaired = qa_bot("repair")
    assert (repaired.code, repaired.err) == (0, "")
    assert triples(home) == facts
    assert qa_bot("doctor").code == 0
    assert names(home) == before


@pytest.mark.parametrize("content", [None, "", "99999999\n", "garbage\n"], ids=["missing", "empty", "gone", "garbled"])
def test_a_lost_pointer_is_told_and_mended(home, qa_bot, facts: set[bytes], content: str | None) -> None:
    pointer = home / "graph" / "CURRENT"
    pointer.unlink()
    if content is not None:
        pointer.write_text(content)
    failed = [check["name"] for check in qa_bot("doctor", "--json").json["checks"] if not check["ok"]]
    assert failed == ["graph"]
    assert qa_bot("repair").code == 0
    assert triples(home) == facts
    assert qa_bot("doctor").code == 0


def test_facts_are_not_left_out_silently(home, qa_bot, caplog) -> None:
    (home / "graph" / "CURRENT").unlink()
    qa_bot("ask", "Why do cats sleep all day?")
    assert "Facts are left out" in caplog.text
    assert "run `qa-bot repair`" in caplog.text


def test_adding_after_a_lost_pointer_keeps_the_facts(home, qa_bot, facts: set[bytes]) -> None:
    (home / "graph" / "CURRENT").unlink()
    more = home.parent / "more.nt"
    more.write_text("<http://x/yard> <http://x/in> <http://x/town> .\n")
    assert qa_bot("kg", "add", more).code == 0
    assert triples(home) > facts


def test_removed_facts_do_not_come_back(home, qa_bot, facts: set[bytes]) -> None:
    assert qa_bot("delete", "--collection", "starter").code == 0
    remaining = triples(home)
    assert len(remaining) == 3 < len(facts)
    current = Generations(home / "graph").current()
    assert current is not None
    flip(min(current.path.glob("triples/terms.*")))
    assert qa_bot("repair").code == 0
    assert triples(home) == remaining
