"""Dates that documents state of themselves."""

import pytest

from qa_bot.documents.ingest.formats.stated_date import named_date, stated_date


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Last updated: 3 March 2025. Owner: People team.", "2025-03-03"),
        ("This policy was last updated on Tuesday, 12 March 2024.", "2024-03-12"),
        ("Modified on: Fri, 3 Jan, 2025 at 9:11 AM", "2025-01-03"),
        ("Stand: Mo., 03.03.2025", "2025-03-03"),
        ("_Last reviewed on March 4th, 2022_", "2022-03-04"),
        ("Effective 1 May 2023", "2023-05-01"),
        ("Date: 2023-11-05T10:00", "2023-11-05"),
        ("| Last updated | 2024-03-12 |", "2024-03-12"),
        ("Updated: 13/04/2024", "2024-04-13"),
        ("Last reviewed: 2024/04/03", "2024-04-03"),
        ("最終更新日: 2025年3月3日", "2025-03-03"),
        ("更新日期：2024/05/06", "2024-05-06"),
        ("Updated: 04/04/2024", "2024-04-04"),
        ("Stand: 12.03.2024", "2024-03-12"),
        ("**Gültig ab:** 01.01.2025", "2025-01-01"),
        ("Zuletzt aktualisiert am 5. Jänner 2023", "2023-01-05"),
        ("Dernière mise à jour : 1er mars 2024", "2024-03-01"),
        ("Mis à jour le 4 avril 2023", "2023-04-04"),
        ("Last updated: March 2024", "2024-03-01"),
        ("Last updated March, 2024.", "2024-03-01"),
        ("Stand: Januar 2026", "2026-01-01"),
        ("### Stand: Januar 2026", "2026-01-01"),
        ("Stand: 01/2026", "2026-01-01"),
        ("(Stand 01.2026)", "2026-01-01"),
        ("Letzte Änderung: 2026-01", "2026-01-01"),
        ("- Date: 14 May 2024", "2024-05-14"),
        ("- Published 14 May 2024, read often", ""),
        ("Fecha: mayo de 2021", "2021-05-01"),
        ("Fecha: 4 de mayo de 2021", "2021-05-04"),
    ],
)
def test_a_label_and_an_unambiguous_date(line: str, expected: str) -> None:
    assert stated_date(["Some words.", line]) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Updated: 03/04/2024",  # March or April
        "Last updated: 12.2024.1",
        "Last updated: 13/2024",
        "Stand: 2024",
        "Dates in January 2026",
        "Last updated: 2024-02-31",
        "Last updated: 1 May 1066",
        "We met on 3 March 2024.",
        "The effective date 3 March 2024 is in the contract.",
        "Last updated: 12.03.20244",
    ],
)
def test_other_dates_do_not_count(line: str) -> None:
    assert stated_date([line]) == ""


def test_the_last_change_counts_before_other_dates() -> None:
    assert stated_date(["Effective 1 May 2023", "Last updated 2 May 2024"]) == "2024-05-02"
    assert stated_date(["Effective 1 May 2023", "Last updated May 2024"]) == "2024-05-01"
    assert stated_date(["Stand: März 2024", "Stand: 2. Mai 2023"]) == "2023-05-02", "a full date"


@pytest.mark.parametrize(
    ("title", "name", "expected"),
    [
        ("Summer party, Saturday 12 July 2025", "", "2025-07-12"),
        ("Minutes of the 24th of September 2025", "", "2025-09-24"),
        ("Compte rendu du 1er octobre 2025", "", "2025-10-01"),
        ("Protokoll 24.09.2025", "", "2025-09-24"),
        ("Board meeting (2025-09-24)", "", "2025-09-24"),
        ("Prices from 1.1.2025 to 31.12.2025", "", "2025-01-01"),  # a period begins with its first day
        ("Report 31.02.2025", "2025-03-01", "2025-03-01"),
        ("Prices 2025/2026", "prices-2025-2026", ""),
        ("September 2025", "2025-09", ""),
        ("Version 1.2.2025.3 of 03/04/2025", "", ""),
        ("Minutes", "2025-09-24-committee", "2025-09-24"),
        ("Minutes", "2025_09_24_committee", "2025-09-24"),
        ("Minutes", "Protokoll_24.09.2025", "2025-09-24"),
        ("Photos", "IMG_20250924_101500", "2025-09-24"),
        ("Photos", "IMG_120250924", ""),
        ("Part", "19700101", ""),  # rather a number
        ("Part", "2025-0924", ""),
        ("Part", "20251332", ""),
    ],
)
def test_the_first_full_date_of_a_title_or_of_a_name(title: str, name: str, expected: str) -> None:
    assert named_date(title, "", name) == expected
