"""Websites as sources, on the command line: added, synchronised, unreachable, gone. The server is `localhost`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from qa_bot.documents import sync as changes
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.sections import StoreSection, WebSection
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder


@pytest.fixture
def site(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A guide of three pages."""
    monkeypatch.setenv("QA_BOT_WEB__ALLOW", f"localhost:{server.port}")
    page(server, "", "Guide", "sleep", "food")
    page(server, "sleep", "Sleep", text="Quokkas sleep for thirteen hours a day.")
    page(server, "food", "Food", text="Quokkas eat grass and leaves.")
    return server


def page(server: Any, name: str, title: str, *links: str, text: str = "") -> None:
    """A page of the guide with an ETag."""
    body = f"<title>{title}</title><main><p>{text or title + ' of quokkas.'}</p>"
    body += "".join(f"<p>Please read the page <a href='{link}'>{link}</a> as well.</p>" for link in links)
    etag = f'"{hashlib.sha256(body.encode()).hexdigest()[:8]}"'

    def reply(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(text=body, content_type="text/html", headers={"ETag": etag})

    server.pages[f"localhost/guide/{name}"] = reply


def add(qa_bot: Callable[..., Any], site: Any, *options: object) -> Any:
    return qa_bot("add", site.url("localhost/guide/"), "--crawl", "--rate", 1000, "--json", *options)


def sync(qa_bot: Callable[..., Any], *options: object) -> dict[str, Any]:
    called = qa_bot("sync", "--json", *options)
    return {**json.loads(called.out), "code": called.code}


def documents(qa_bot: Callable[..., Any]) -> list[str]:
    """Names of the pages whose documents are in the home."""
    results = json.loads(qa_bot("search", "quokkas", "--engine", "keyword", "--top", 50, "--json").out)["results"]
    return sorted(
        {result["document"].rpartition("/guide/")[2] for result in results if "/guide/" in result["document"]}
    )


def test_one_page(qa_bot: Callable[..., Any], site: Any) -> None:
    called = qa_bot("add", site.url("localhost/guide/"), "--json")
    assert (called.code, json.loads(called.out)["added"]) == (0, 1)
    (source,) = json.loads(qa_bot("sources", "--json").out)["sources"]
    assert source["name"] == f"localhost:{site.port}/guide"
    assert (source["kind"], source["place"], source["files"]) == ("website", f"http://localhost:{site.port}/guide/", 1)


def test_an_unchanged_site_costs_requests_only(qa_bot: Callable[..., Any], site: Any) -> None:
    assert json.loads(add(qa_bot, site).out)["added"] == 3
    assert documents(qa_bot) == ["", "food", "sleep"]
    site.requests.clear()
    report = sync(qa_bot)
    assert (report["code"], report["unchanged"], report["sources"][0]["unchanged"]) == (0, 3, 3)
    assert sum("If-None-Match" in headers for _, headers in site.requests) == 3
    assert json.loads(qa_bot("add", site.url("localhost/guide/"), "--json").out)["unchanged"] == 3


def test_a_deleted_page_stays_away_until_the_site_is_added_again(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    qa_bot("delete", f"localhost:{site.port}/guide/food")
    assert (sync(qa_bot)["unchanged"], documents(qa_bot)) == (2, ["", "sleep"])
    qa_bot("config", "set", "passages.characters", "500")
    assert (sync(qa_bot)["updated"], documents(qa_bot)) == (2, ["", "sleep"])
    assert sync(qa_bot)["unchanged"] == 2
    assert json.loads(add(qa_bot, site).out)["added"] == 1
    assert documents(qa_bot) == ["", "food", "sleep"]


def test_a_page_of_a_crawled_site_stays_that_sites(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    called = qa_bot("add", site.url("localhost/guide/food"), "--json")
    assert called.code == 1
    assert "that of http://localhost" in json.loads(called.out)["rejects"][0]["reason"]
    assert documents(qa_bot) == ["", "food", "sleep"]


def test_a_site_takes_over_pages_that_were_added_before(qa_bot: Callable[..., Any], site: Any) -> None:
    qa_bot("add", site.url("localhost/guide/food"))
    page(site, "alone", "Alone")
    qa_bot("add", site.url("localhost/guide/alone"))
    assert add(qa_bot, site).code == 0
    for _ in range(2):
        names = [source["name"].rpartition("/")[2] for source in json.loads(qa_bot("sources", "--json").out)["sources"]]
        assert (names, documents(qa_bot)) == (["guide", "alone"], ["", "alone", "food", "sleep"])
        assert sync(qa_bot)["code"] == 0


def test_a_site_takes_over_a_page_when_it_links_to_it(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    page(site, "alone", "Alone")
    qa_bot("add", site.url("localhost/guide/alone"))
    assert len(json.loads(qa_bot("sources", "--json").out)["sources"]) == 2
    page(site, "", "Guide", "sleep", "food", "alone")
    for _ in range(2):
        assert (sync(qa_bot)["code"], documents(qa_bot)) == (0, ["", "alone", "food", "sleep"])
        (source,) = json.loads(qa_bot("sources", "--json").out)["sources"]
        assert (source["name"], source["files"]) == (f"localhost:{site.port}/guide", 4)


def test_changed_new_moved_and_deleted_pages(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    page(site, "", "Guide", "rest", "young")
    page(site, "rest", "Sleep", text="Quokkas sleep for thirteen hours a day.")
    page(site, "young", "Young", text="Young quokkas are called joeys.")
    del site.pages["localhost/guide/sleep"], site.pages["localhost/guide/food"]
    prefix = f"localhost:{site.port}/guide/"
    expected = {
        "new": [f"{prefix}young"],
        "changed": [prefix],
        "moved": [{"from": f"{prefix}sleep", "to": f"{prefix}rest"}],
        "deleted": [f"{prefix}food"],
    }
    dry = sync(qa_bot, "--dry-run")
    assert {name: dry[name] for name in expected} == expected
    assert documents(qa_bot) == ["", "food", "sleep"]
    report = sync(qa_bot)
    assert {name: report[name] for name in expected} == expected
    assert documents(qa_bot) == ["", "rest", "young"]
    assert json.loads(qa_bot("delete", f"{prefix}sleep", "--json").out) == {"deleted": 1, "missing": []}


def test_add_removes_nothing(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    page(site, "", "Guide", "sleep")
    del site.pages["localhost/guide/food"]
    add(qa_bot, site)
    assert documents(qa_bot) == ["", "food", "sleep"]
    add(qa_bot, site, "--sync")
    assert documents(qa_bot) == ["", "sleep"]


def test_add_brings_deleted_documents_back(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    qa_bot("delete", f"localhost:{site.port}/guide/food")
    sync(qa_bot)
    assert documents(qa_bot) == ["", "sleep"]
    add(qa_bot, site)
    assert documents(qa_bot) == ["", "food", "sleep"]


@pytest.mark.parametrize("status", [404, 500])
def test_a_site_that_fails_keeps_its_documents(qa_bot: Callable[..., Any], site: Any, status: int) -> None:
    add(qa_bot, site)
    site.pages["localhost/guide/"] = lambda _: web.Response(status=status)
    report = sync(qa_bot)
    assert report["code"] == 1
    assert f"got status {status}" in report["errors"][0]
    assert "Nothing was deleted" in report["errors"][0]
    assert documents(qa_bot) == ["", "food", "sleep"]
    (source,) = json.loads(qa_bot("sources", "--json").out)["sources"]
    assert f"status {status}" in source["last_error"]
    sync(qa_bot, "--allow-empty")
    assert documents(qa_bot) == ([] if status == 404 else ["", "food", "sleep"])


def test_a_site_behind_a_login_keeps_its_documents(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    before = dict(site.pages)
    site.pages.clear()
    page(site, "login", "Log in", text="Log in to read about quokkas.")
    for path in before:
        site.pages[path] = lambda _: web.Response(status=302, headers={"Location": "/guide/login"})
    for report in (sync(qa_bot, "--dry-run"), sync(qa_bot)):
        assert (report["code"], report["deleted"], report["removed"]) == (1, [], 0)
        assert "/guide/login; nothing was deleted: check the address" in report["errors"][0]
    assert documents(qa_bot) == ["", "food", "sleep"]
    assert sync(qa_bot, "--allow-empty")["removed"] == 3
    assert documents(qa_bot) == ["login"]


def test_a_first_page_that_becomes_a_login_keeps_the_documents(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    for name in ("", "sleep", "food"):
        page(site, name, "Log in", text="Log in to read about quokkas.")
    for report in (sync(qa_bot, "--dry-run"), sync(qa_bot)):
        assert (report["code"], report["deleted"], report["sources"][0]["unchanged"]) == (0, [], 2)
    assert "no link led to 2 pages of before" in report["notices"][0]
    assert documents(qa_bot) == ["", "food", "sleep"]
    assert "thirteen hours" in qa_bot("search", "how long do quokkas sleep", "--json").out
    del site.pages["localhost/guide/food"]
    assert (sync(qa_bot)["removed"], documents(qa_bot)) == (1, ["", "sleep"])
    assert sync(qa_bot, "--allow-empty")["removed"] == 1


def test_a_page_under_a_second_address_has_moved(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    page(site, "", "Guide", "sleep/", "food")
    page(site, "sleep/", "Sleep", text="Quokkas sleep for thirteen hours a day.")
    assert [pair["to"].rpartition("/guide/")[2] for pair in sync(qa_bot)["moved"]] == ["sleep/"]
    assert documents(qa_bot) == ["", "food", "sleep/"]


def test_a_page_with_a_redirect_to_a_changed_one_has_moved(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    page(site, "", "Guide", "rest", "food")
    page(site, "rest", "Sleep", text="Quokkas sleep for thirteen hours every day.")
    site.pages["localhost/guide/sleep"] = lambda _: web.Response(status=301, headers={"Location": "/guide/rest"})
    report = sync(qa_bot)
    names = [[pair[end].rpartition("/guide/")[2] for end in ("from", "to")] for pair in report["moved"]]
    assert (names, report["new"], report["deleted"]) == ([["sleep", "rest"]], [], [])
    assert documents(qa_bot) == ["", "food", "rest"]
    assert qa_bot("delete", f"localhost:{site.port}/guide/sleep", "--json").json == {"deleted": 1, "missing": []}


def feed(server: Any, *texts: str, built: str = "today", more: str = "") -> None:
    """A feed; `more` is a part of its first entry."""
    parts = [f"<guid>{n}</guid><description>{text}</description>" for n, text in enumerate(texts)]
    items = "".join(f"<item>{part}{more * (n == 0)}</item>" for n, part in enumerate(parts))
    body = f"<rss><channel><lastBuildDate>{built}</lastBuildDate>{items}</channel></rss>"
    server.pages["localhost/news.xml"] = lambda _: web.Response(text=body, content_type="application/rss+xml")


def test_a_feed_has_changed_if_its_entries_have(qa_bot: Callable[..., Any], site: Any) -> None:
    feed(site, "Quokkas smile.")
    assert qa_bot("add", site.url("localhost/news.xml"), "--json").json["added"] == 1
    feed(site, "Quokkas smile.", built="tomorrow")
    unchanged = sync(qa_bot)
    feed(site, "Quokkas smile.", "Quokkas hop.")
    report = sync(qa_bot)
    assert (unchanged["changed"], unchanged["sources"][0]["unchanged"]) == ([], 1)
    assert (report["changed"], report["added"]) == ([f"localhost:{site.port}/news.xml"], 1)


def test_the_entries_of_a_feed_are_below_its_name(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    link = f"<link>{site.url('localhost/posts/1')}</link><title>Smiles</title>"
    feed(site, "Quokkas smile.", "Quokkas hop.", more=link)
    qa_bot("add", site.url("localhost/news.xml"))
    prefix = f"localhost:{site.port}"
    for name in (f"{prefix}/news.xml", site.url("localhost/news.xml")):
        called = qa_bot("search", "quokkas", "--engine", "keyword", "--under", name, "--json")
        entries = {result["document"] for result in called.json["results"]}
        assert entries == {f"{prefix}/posts/1", f"{prefix}/news.xml#1"}
    called = qa_bot("search", "quokkas", "--engine", "keyword", "--under", f"{prefix}/guide", "--json")
    assert {result["document"].partition("/guide/")[2] for result in called.json["results"]} == {"", "sleep", "food"}


def test_a_page_that_is_gone_is_an_error_until_its_document_is_removed(qa_bot: Callable[..., Any], site: Any) -> None:
    qa_bot("add", site.url("localhost/guide/food"))
    del site.pages["localhost/guide/food"]
    assert sync(qa_bot)["code"] == 1
    assert sync(qa_bot, "--allow-empty")["removed"] == 1
    report = sync(qa_bot)
    assert (report["code"], report["errors"]) == (0, [])
    assert "`qa-bot sources remove` forgets the source" in report["notices"][0]
    assert qa_bot("add", site.url("localhost/guide/food"), "--json").code == 1
    page(site, "food", "Food", text="Quokkas eat grass and leaves.")
    assert sync(qa_bot)["added"] == 1


def test_a_page_that_says_noindex_later_loses_its_document(qa_bot: Callable[..., Any], site: Any) -> None:
    qa_bot("add", site.url("localhost/guide/food"))
    hidden = "<meta name='robots' content='noindex'><p>Quokkas eat grass and leaves.</p>"
    site.pages["localhost/guide/food"] = lambda _: web.Response(text=hidden, content_type="text/html")
    report = sync(qa_bot)
    assert (report["code"], report["removed"]) == (0, 1)
    assert "noindex now, so its documents are removed" in report["notices"][0]
    assert documents(qa_bot) == []
    page(site, "food", "Food", text="Quokkas eat grass and leaves.")
    assert sync(qa_bot)["added"] == 1


def test_pages_that_fail_keep_their_documents(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    site.pages["localhost/guide/food"] = lambda _: web.Response(status=500)
    report = sync(qa_bot)
    assert (report["code"], report["rejected"]) == (4, 1)
    assert report["rejects"][0]["where"] == f"http://localhost:{site.port}/guide/food"
    assert documents(qa_bot) == ["", "food", "sleep"]


def test_pages_beyond_a_limit_keep_their_documents(qa_bot: Callable[..., Any], site: Any) -> None:
    add(qa_bot, site)
    called = add(qa_bot, site, "--max-pages", 2, "--sync")
    assert "raise --max-pages" in json.loads(called.out)["notices"][0]
    assert documents(qa_bot) == ["", "food", "sleep"]
    called = add(qa_bot, site, "--max-pages", 9, "--max-depth", 0, "--sync")
    assert "not read: 2 pages behind more links; raise --max-depth" in json.loads(called.out)["notices"][0]
    assert (sync(qa_bot)["removed"], documents(qa_bot)) == (0, ["", "food", "sleep"])


def test_rejected_pages_are_read_again(qa_bot: Callable[..., Any], site: Any) -> None:
    site.pages["localhost/guide/food"] = lambda _: web.Response(body=b"x", content_type="video/mp4")
    called = add(qa_bot, site)
    assert called.code == 4
    assert "but got video/mp4" in json.loads(called.out)["rejects"][0]["reason"]
    page(site, "food", "Food", text="Quokkas eat grass and leaves.")
    assert sync(qa_bot)["added"] == 1


def test_a_new_site_that_fails_makes_no_source(qa_bot: Callable[..., Any], site: Any) -> None:
    called = qa_bot("add", site.url("localhost/nothing"))
    assert called.code == 1
    assert "got status 404" in called.err
    called = qa_bot("add", f"http://127.0.0.1:{site.port}/guide/")
    assert "name it in the setting web.allow" in called.err
    assert json.loads(qa_bot("sources", "--json").out)["sources"] == []


def test_states_of_pages_in_every_database(
    empty_home: Home, encoder: StaticEncoder, site: Any, new_store_url: Callable[[], str]
) -> None:
    """ETags, canonical addresses, `noindex` and gone pages, with rows in SQLite and in PostgreSQL."""
    config = Config(store=StoreSection(url=new_store_url()), web=WebSection(allow=f"localhost:{site.port}"))
    prefix = f"localhost:{site.port}/guide/"
    page(site, "", "Guide", "sleep", "food", "copy", "secret")
    canonical = f"<link rel='canonical' href='{site.url('localhost/guide/food')}'><p>Quokkas eat grass and leaves.</p>"
    site.pages["localhost/guide/copy"] = lambda _: web.Response(text=canonical, content_type="text/html")
    hidden = "<meta name='robots' content='noindex'><p>Quokkas have a secret.</p>"
    site.pages["localhost/guide/secret"] = lambda _: web.Response(text=hidden, content_type="text/html")
    options = {"crawl": True, "rate": 1000}
    added = changes.add(empty_home, config, encoder, [], urls=[str(site.url("localhost/guide/"))], site=options)
    assert (added.added, added.rejected) == (3, 0)
    with Store.open(empty_home.store_url(config)) as store:
        (source,) = store.sources.all()
        states = {path: row.state for path, row in store.sources.files(source.id).items()}
    assert {path for path, state in states.items() if state and state.get("etag")} >= {prefix, f"{prefix}sleep"}
    site.requests.clear()
    unchanged = changes.synchronise(empty_home, config, encoder)
    assert (unchanged.unchanged, unchanged.changed, unchanged.errors) == (3, False, [])
    assert sum("If-None-Match" in headers for _, headers in site.requests) == 3
    page(site, "food", "Food", text="Quokkas eat bark.")
    site.pages["localhost/guide/sleep"] = lambda _: web.Response(status=410)
    report = changes.synchronise(empty_home, config, encoder)
    assert report.lists()["changed"] == [f"{prefix}food"]
    assert report.lists()["deleted"] == [f"{prefix}sleep"]
    with Store.open(empty_home.store_url(config)) as store:
        assert {row.external_id for row in store.stream_documents()} == {prefix, f"{prefix}food"}


def test_options_of_sites_need_a_url(qa_bot: Callable[..., Any], tmp_path: Any) -> None:
    called = qa_bot("add", tmp_path, "--crawl")
    assert called.code == 2
    assert "Expected the URL of a site" in " ".join(called.err.split())
