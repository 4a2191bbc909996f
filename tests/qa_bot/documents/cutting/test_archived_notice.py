"""Archived documents: notices, titles and paths; documents that speak about archives are not archived."""

import pytest

from qa_bot.documents.cutting.archived_notice import is_archived


@pytest.mark.parametrize(
    "line",
    [
        "This page is archived.",
        "> **This document has been superseded by** [the new one](http://x.y).",
        "**ARCHIVED** – see the new guide.",
        "Archived: 2019",
        "[ARCHIVED]",
        "Diese Richtlinie gilt nicht mehr.",
        "Hinweis: Die Hausordnung gilt seit dem 1. Mai nicht mehr.",
        "Aufgehoben zum 31.12.2022.",
        "Este documento ya no es válido.",
        "Documento obsoleto.",
        "Sustituida por la norma 2024.",
        "This notice was withdrawn on 3 May 2023.",
        "⚠️ **Outdated**",
        "Status: archived",
        "| Status | Deprecated |",
        "Note: Deprecated since 2019",
        "This policy is no longer valid.",
        "This guide is no longer being maintained.",
        "This is an outdated version",
        "Superseded by the policy of 2024.",
        "No longer maintained.",
        "Dieses Dokument ist veraltet.",
        "Diese Richtlinie wurde durch die Fassung von 2024 ersetzt.",
        "Diese Seite ist nicht mehr gültig.",
        "Hinweis: Veraltet",
        "Cette page est archivée.",
        "Diese Benutzungsordnung ist seit 2019 außer Kraft.",
        "Ce document n’est plus valable.",
        "Cette politique a été remplacée par celle de 2024.",
        "Esta página está archivada.",
        "Este documento ha sido sustituido por la guía de 2024.",
    ],
)
def test_notices(line: str) -> None:
    assert is_archived("Guide", ["Words.", line], "guide.md")


@pytest.mark.parametrize(
    "line",
    [
        "This page is about archived projects.",
        "This page explains how documents are superseded.",
        "This page is not archived.",
        "Das Angebot gilt nicht mehr.",
        "Die Satzung gilt nicht mehr für Mitglieder im Ausland.",
        "Documento obsoleto se borra en marzo.",
        "If this page is outdated, tell us.",
        "Tell us when this document is outdated.",
        "We archive mail after a year.",
        "Archived projects are kept for 10 years.",
        "Archived by month",
        "Outdated software must be updated.",
        "The laptop is replaced by the IT team.",
        "## Deprecated",
        "- Deprecated: the old interface",
        "Diese Seite ist nicht veraltet.",
        "Wenn diese Seite veraltet ist, schreib uns.",
        "Cette page est à jour.",
        "Esta página está dedicada a proyectos archivados.",
        "Si cette page est obsolète, dites-le.",
    ],
)
def test_other_lines_are_no_notices(line: str) -> None:
    assert not is_archived("Guide", [line], "guide.md")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("FAQ (archived, 2023)", True),
        ("Gebührenordnung 2018 (außer Kraft)", True),
        ("Hausordnung – aufgehoben", True),
        ("Règlement intérieur (abrogé)", True),
        ("Order 12 (repealed)", True),
        ("Was außer Kraft tritt", False),
        ("[Archived] FAQ", True),
        ("Archived: FAQ", True),
        ("VPN – deprecated", True),
        ("FAQ (old)", True),
        ("Archived projects", False),
        ("Mail (archive and search)", False),
        ("Old town guide", False),
        ("FAQ (2023)", False),
    ],
)
def test_titles(title: str, expected: bool) -> None:
    assert is_archived(title, [], "guide.md") is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("archive/a.md", True),
        ("x/2019-archive/a.md", True),
        ("old/a.md", True),
        ("x/faq-2023-old.md", True),
        ("deprecated_vpn.md", True),
        ("Guide (archived).docx", True),
        ("old-town.md", False),
        ("ten-years-old.md", False),
        ("Archives/a.md", True),
        ("Archiv 2019/a.md", True),
        ("hr/Archive_2018-2020/a.md", True),
        ("old versions/a.md", True),
        ("Alt/a.md", True),
        ("Satzung/alte Fassungen/a.md", True),
        ("03 Frühere Versionen/a.md", True),
        ("anciennes versions/a.md", True),
        ("Obsolet/a.md", True),
        ("alt-text/a.md", False),
        ("old-town/a.md", False),
        ("children-10-years-old/a.md", False),
        ("archive-rules/a.md", False),
        ("versions/a.md", False),
        ("2019/a.md", False),
        ("how-to-archive-mail.md", False),
        ("golden-old-times/a.md", False),
        ("archive.md", False),
    ],
)
def test_paths(path: str, expected: bool) -> None:
    assert is_archived("Guide", [], path) is expected


@pytest.mark.parametrize("line", ["*" * 500, "_" * 500, "*_" * 250, "> [" * 160 + "x"])
def test_lines_of_signs_are_read_at_once(line: str) -> None:
    assert not is_archived("Guide", [line], "guide.md")
    assert is_archived("Guide", ["*" * 60 + "Archived" + "*" * 60], "guide.md")
