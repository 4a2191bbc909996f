"""`kg mine --anchors` over pages and dumps."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_index.building.build import build
from kg_index.triples.triple_index import TripleIndex
from qa_bot.documents.graph import GraphError
from qa_bot.home.folder import Home
from qa_lab.train.relations.anchor_mining import MENTIONS_TABLE, PageEntities, mine_anchors, read_anchors

WIKI = "https://en.wikipedia.org/wiki"
FACTS = (
    "<http://g/jackson> <http://xmlns.com/foaf/0.1/isPrimaryTopicOf> <https://en.wikipedia.org/wiki/Michael_Jackson> .",
    '<http://g/jackson> <http://g/birthplace> "Gary" .',
    "<http://dbpedia.org/resource/Gary,_Indiana> <http://g/state> <http://g/indiana> .",
)
PAGE = f"""<html><head><link rel="canonical" href="{WIKI}/Pop"></head><body>
<a href="{WIKI}/Michael_Jackson">The King\n of <b>Pop</b></a> <a href="/wiki/Michael_Jackson#Life">The King of Pop</a>
<a href="https://en.m.wikipedia.org/wiki/Gary%2C_Indiana?x=1">Steel City</a> <a href="/wiki/Nothing">nothing</a>
<a href="{WIKI}/Michael_Jackson"><img src="x"></a> <a href="http://[">bad</a> <a href="mailto:a@b">mail</a>
</body></html>"""
DUMP = f"""<mediawiki><siteinfo><base>{WIKI}/Main_Page</base></siteinfo>
<page><title>Pop</title><ns>0</ns>
<revision><text>[[Michael Jackson|MJ]] [[gary, Indiana]] [[Nowhere]]</text></revision></page>
</mediawiki>"""


@pytest.fixture
def home(write_lines, qa_bot, tmp_path: Path) -> Home:
    assert qa_bot("--home", tmp_path / "home", "kg", "add", write_lines("facts.nt", *FACTS)).code == 0
    return Home(tmp_path / "home")


@pytest.fixture
def pages(tmp_path: Path) -> list[Path]:
    (tmp_path / "pop.html").write_text(PAGE)
    (tmp_path / "dump.xml").write_text(DUMP)
    return [tmp_path / "pop.html", tmp_path / "dump.xml"]


@pytest.mark.parametrize("held", [1, 1000])
def test_texts_of_links_are_counted_by_entity(home: Home, pages: list[Path], tmp_path: Path, held: int) -> None:
    mined = mine_anchors(home, pages, tmp_path / "out", held=held)
    assert (mined.pages, mined.links, mined.to_entities, mined.names) == (2, 8, 5, 4)
    assert (tmp_path / "out" / MENTIONS_TABLE).read_text().splitlines() == [
        "MJ\thttp://g/jackson\t1",
        "Steel City\thttp://dbpedia.org/resource/Gary,_Indiana\t1",
        "The King of Pop\thttp://g/jackson\t2",
        "gary, Indiana\thttp://dbpedia.org/resource/Gary,_Indiana\t1",
    ]
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MENTIONS_TABLE]
    assert mine_anchors(home, pages, tmp_path / "one", limit=1).pages == 1


def test_an_entity_is_linked_with_its_page_or_has_its_address(tmp_path: Path) -> None:
    build([[("http://g/a", "http://schema.org/url", "http://b/"), ("http://x/p", "http://schema.org/about", "http://g/b")]],
          tmp_path / "triples")  # fmt: skip
    entities = PageEntities(TripleIndex(tmp_path / "triples"))
    assert entities.of("https://x/p") == "http://g/b"
    assert entities.of("http://g/a#part") == "http://g/a"
    assert entities.of("ftp://g/a") is entities.of("http://g/c") is entities.of("http://[") is None


def test_pages_without_an_address_have_only_whole_links(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html><body><a href='/wiki/A'>a</a> <a href='http://h/b'>b</a></body></html>")
    assert list(read_anchors([tmp_path / "a.html"])) == [[("a", "/wiki/A"), ("b", "http://h/b")]]


def test_names_of_a_table_are_added_without_further_facts(
    home: Home, qa_bot, pages: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "mined"
    mined = qa_bot("--home", home.path, "kg", "mine", *pages, "--anchors", "--out", out)
    assert mined.code == 0
    assert "4 names; add them: qa-bot kg add --mentions" in " ".join(mined.out.split())
    assert qa_bot("--home", home.path, "kg", "ask", "what is the birthplace of the king of pop").code == 3
    assert qa_bot("--home", home.path, "kg", "add", "--mentions", out / MENTIONS_TABLE).code == 0
    answer = qa_bot("--home", home.path, "kg", "ask", "what is the birthplace of the king of pop")
    assert (answer.code, "Gary" in answer.out) == (0, True)
    assert qa_bot("--home", home.path, "kg", "add").code == 2


def test_paths_without_pages_are_an_error(home: Home, write_lines, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="Expected HTML pages or dumps"):
        mine_anchors(home, [write_lines("a.txt", "plain")], tmp_path / "out")
