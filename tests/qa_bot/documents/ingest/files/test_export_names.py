"""Names in exported archives."""

import io
import zipfile

from qa_bot.documents.ingest.files.export_names import clean_names, is_slack

NUMBER = "0123456789abcdef0123456789abcdef"
OTHER = "f" * 32


def test_numbers_of_notion_are_removed_unless_names_would_collide():
    names = [f"Wiki {NUMBER}/VPN {OTHER}.md", f"Wiki {NUMBER}.md", f"Untitled {NUMBER}.md", f"Untitled {OTHER}.md"]
    assert list(clean_names(names).values()) == ["Wiki/VPN.md", "Wiki.md", *names[2:]]


def test_numbers_of_confluence_are_removed():
    names = ["IT/styles/site.css", "IT/Reset-the-VPN_123456.html", "IT/index.html"]
    assert list(clean_names(names).values()) == ["IT/styles/site.css", "IT/Reset-the-VPN.html", "IT/index.html"]


def test_other_names_stay():
    names = ["a_123456.html", "b 12.md", "users.json"]
    assert list(clean_names(names).values()) == names
    assert not is_slack(names)


def test_ids_and_titles_of_a_notion_archive(reads):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"Wiki {NUMBER}/VPN {OTHER}.md", "Hold the button.\n")
    (record,), rejects, _ = reads("export.zip", buffer.getvalue())
    assert (record.id, record.title, record.text) == ("Wiki/VPN.md", "VPN", "Hold the button.")
    assert rejects == []


def test_rows_of_a_notion_database_are_read_once(reads):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"Trips {NUMBER}.csv", "Name,Day\nLake,1 May\n")
        archive.writestr(f"Trips {NUMBER}_all.csv", "Name,Day\nLake,1 May\nHill,2 May\n")
        archive.writestr(f"Costs {OTHER}.csv", "Name,Sum\nBus,3\n")
    records, rejects, _ = reads("export.zip", buffer.getvalue())
    assert [record.title for record in records] == ["Trips", "Costs"]
    assert records[0].id == "Trips.csv"
    assert "Hill" in records[0].text
    assert rejects == []
