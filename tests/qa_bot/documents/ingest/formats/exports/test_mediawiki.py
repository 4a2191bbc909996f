"""Dumps of MediaWiki."""


def page(title, text, *, ns="0", extra=""):
    return (
        f"<page><title>{title}</title><ns>{ns}</ns>{extra}<revision><timestamp>2024-03-05T10:00:00Z</timestamp>"
        f"<text>{text}</text></revision></page>\n"
    )


SITE = "<siteinfo><base>https://wiki.example.org/wiki/Main_Page</base></siteinfo>\n"


def test_articles_alone(reads, tmp_path):
    pages = [
        page("Red cat", "''Red'' cats. [[Category:Pets]]"),
        page("Talk", "Talk.", ns="1"),
        page("Cat", "#REDIRECT [[Red cat]]", extra="<redirect title='Red cat'/>"),
        page("Box", "{{box}}"),
    ]
    (record,), rejects, _ = reads("dump.xml", f"<mediawiki>\n{SITE}{''.join(pages)}</mediawiki>")
    assert rejects == []
    assert (record.id, record.title, record.text) == ("dump.xml#Red cat", "Red cat", "*Red* cats.")
    assert (record.url, record.where) == ("https://wiki.example.org/wiki/Red_cat", f"{tmp_path}/dump.xml:3")
    assert (record.date, record.tags, record.markdown) == ("2024-03-05T10:00:00+00:00", ("Pets",), True)


def test_namespace_of_real_dumps(reads):
    root = 'mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11"'
    dump = f"<{root}>{SITE}{page('A', 'a')}</mediawiki>"
    (record,), rejects, _ = reads("dump.xml", dump)
    assert rejects == []
    assert (record.title, record.text, record.url) == ("A", "a", "https://wiki.example.org/wiki/A")


def test_articles_before_an_error_are_kept(reads):
    (record,), (reject,), _ = reads("dump.xml", f"<mediawiki>{page('A', 'a')}{page('B', '&none;')}")
    assert record.title == "A"
    assert "are kept" in reject.reason
