"""The files of the page: headers, policy, caching, size and colours."""

from __future__ import annotations

import gzip
import re
from importlib import resources

import pytest

from qa_bot.web.pages import PAGES, load_pages


@pytest.mark.parametrize("path", PAGES)
def test_page_is_sent_with_a_policy_and_a_new_nonce(service, path):
    replies = [service.get(path) for _ in range(2)]
    nonces = [re.search(r"script-src 'nonce-([^']+)'", r.headers["Content-Security-Policy"])[1] for r in replies]
    assert nonces[0] != nonces[1]
    for reply, nonce in zip(replies, nonces, strict=True):
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Content-Security-Policy"] == (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "microphone=()" in reply.headers["Permissions-Policy"]
        loaded = re.findall(r"<(?:script|link)[^>]*(?:src|href)=\"assets/[^>]*>", reply.text)
        assert len(loaded) >= 3
        assert all(f'nonce="{nonce}"' in item for item in loaded)
        assert "{{" not in reply.text


def preloaded(name: str) -> set[str]:
    """The files that a page loads at once."""
    return set(re.findall(r"\"{{assets}}/([^\"]+)\"", load_pages().assets[name].body.decode()))


@pytest.mark.parametrize("name", PAGES.values())
def test_page_preloads_what_its_scripts_import(name):
    scripts = [load_pages().assets[item].body.decode() for item in preloaded(name) if item.endswith(".js")]
    imported = {
        item for text in scripts for item in re.findall(r"^import .*? from \"\./([^\"]+)\";$", text, re.M | re.S)
    }
    assert imported <= preloaded(name)


def test_every_file_that_the_pages_load_exists_and_may_be_cached(service):
    assert set.union(*map(preloaded, PAGES.values())) == set(load_pages().assets) - {*PAGES.values()}
    names = {name for path in PAGES for name in re.findall(r"\"(assets/[^\"]+)\"", service.get(path).text)}
    for name in names:
        reply = service.get(f"/{name}")
        assert reply.status == 200
        assert reply.headers["Content-Type"] in ("text/javascript; charset=utf-8", "text/css; charset=utf-8")
        assert "immutable" in reply.headers["Cache-Control"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        known = service.get(f"/{name}", headers={"If-None-Match": reply.headers["ETag"]})
        assert (known.status, known.body) == (304, b"")


def test_files_are_compressed_for_clients_that_accept_it(service):
    path = f"/assets/{load_pages().version}/app.js"
    plain = service.get(path, headers={"Accept-Encoding": "identity"})
    packed = service.get(path, headers={"Accept-Encoding": "gzip, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert int(packed.headers["Content-Length"]) < int(plain.headers["Content-Length"]) / 2
    assert gzip.decompress(load_pages().assets["app.js"].packed) == plain.body


@pytest.mark.parametrize(
    "path", ["0123456789abcdef/app.js", "{}/index.html", "{}/owner.html", "{}/none.js", "{}/..%2f..%2fcli.py"]
)
def test_other_files_are_not_sent(service, path):
    reply = service.get(f"/assets/{path.format(load_pages().version)}")
    assert reply.status == 404
    assert reply.json["error"]["code"] == "not_found"


def test_scripts_create_no_markup_from_text_and_load_only_local_files():
    files = {item.name: item.read_text() for item in (resources.files("qa_bot.web") / "page").iterdir()}
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|\.setHTML"
    for name, text in files.items():
        assert not re.search(forbidden, text), name
        addresses = set(re.findall(r"(?:https?:)?//[\w.]+\.\w+[^\s\"')]*", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, name
    assert not any(re.search(r"\son\w+=|\sstyle=|<style|javascript:", files[item]) for item in PAGES.values())


@pytest.mark.parametrize(("name", "most", "packed"), [("index.html", 126_000, 45_500), ("owner.html", 82_000, 30_000)])
def test_page_is_light(name, most, packed):
    sent = [load_pages().assets[item] for item in {name, *preloaded(name)}]
    assert sum(len(item.body) for item in sent) < most
    assert sum(len(item.packed) for item in sent) < packed


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("ink", "ground"),
        ("ink", "side"),
        ("ink", "mark"),
        ("ink", "lead"),
        ("soft", "lead"),
        ("accent", "lead"),
        ("soft", "ground"),
        ("soft", "side"),
        ("soft", "raised"),
        ("soft", "tint"),
        ("accent", "ground"),
        ("accent", "side"),
        ("accent", "tint"),
        ("on-accent", "accent"),
        ("danger", "tint"),
    ],
)
def test_text_has_enough_contrast(side, ink, ground):
    """WCAG 2.2, success criterion 1.4.3: a contrast of 4.5 : 1 for text."""
    style = load_pages().assets["style.css"].body.decode()
    colours = {name: pair.split(", ") for name, pair in re.findall(r"--([\w-]+): light-dark\((#[^)]+)\)", style)}
    lighter, darker = sorted((_luminance(colours[item][side]) for item in (ink, ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
