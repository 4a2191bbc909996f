"""Dictionaries, message catalogues and pages with their translations."""

import struct
from pathlib import Path

from qa_lab.fit.language.translations import Translation, read_catalogues, read_dictionary, read_pages


def write_catalogue(path: Path, messages: dict[str, str]) -> None:
    """A file in the binary format of GNU gettext: offsets and lengths of originals, of translations, then the texts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = [
        (key.encode(), text.encode())
        for key, text in sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **messages}.items())
    ]
    start = 28 + 16 * len(pairs)
    tables: list[bytes] = []
    texts = b""
    for side in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<II", len(pair[side]), start + len(texts)))
            texts += pair[side] + b"\0"
    header = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    path.write_bytes(header + b"".join(tables) + texts)


def test_parts_of_an_entry_translate_each_other(tmp_path: Path) -> None:
    path = tmp_path / "de-en"
    path.write_text(
        "# a comment :: of the file\n"
        "Sonnenbrand {m} [med.] | Sonnenbrand bekommen :: sunburn; solar dermatitis | to get sunburn\n"
        "etw. (schnell) leihen; ausleihen :: to borrow sth.\n"
        "zwei | Teile :: one part\n"
        "without a translation\n"
    )
    assert [*read_dictionary(path)] == [
        Translation("Sonnenbrand", ("sunburn", "solar dermatitis"), "de-en"),
        Translation("Sonnenbrand bekommen", ("to get sunburn",), "de-en"),
        Translation("leihen", ("to borrow",), "de-en"),
        Translation("ausleihen", ("to borrow",), "de-en"),
    ]


def test_messages_are_cut_into_sentences_where_both_have_as_many(tmp_path: Path) -> None:
    write_catalogue(
        tmp_path / "mail" / "locale" / "de" / "LC_MESSAGES" / "mail.mo",
        {
            "_Open the letter. Then close it.": "_Öffnen Sie den Brief. Dann schließen Sie ihn.",
            "%d letters": "%d Briefe",
            "OK": "OK",
        },
    )
    write_catalogue(tmp_path / "mail" / "locale" / "fr" / "mail.mo", {"Open the letter.": "Ouvrez la lettre."})
    assert [*read_catalogues(tmp_path, "de")] == [
        Translation("Öffnen Sie den Brief.", ("Open the letter.",), "mail"),
        Translation("Dann schließen Sie ihn.", ("Then close it.",), "mail"),
    ]


def test_a_damaged_catalogue_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "mail" / "de").mkdir(parents=True)
    (tmp_path / "mail" / "de" / "mail.mo").write_bytes(b"no catalogue")
    assert [*read_catalogues(tmp_path, "de")] == []


def test_pages_with_the_same_blocks_are_read_in_parallel(tmp_path: Path) -> None:
    for folder, text, other in (
        ("de", "Ein Satz über Bücher.", "Noch einer."),
        ("en", "A sentence about books.", "Another."),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "page.html").write_text(
            f"<html><script>x = 1</script><h1>{text}</h1><p><b>{other}</b></p></html>"
        )
        (tmp_path / folder / f"about.{folder}.html").write_text(f"<title>{other}</title>")
    (tmp_path / "de" / "other.html").write_text("<p>Ein Satz ohne englische Seite.</p>")
    (tmp_path / "de" / "changed.html").write_text("<p>Ein Satz.</p><p>Neu.</p>")
    (tmp_path / "en" / "changed.html").write_text("<p>A sentence.</p>")
    assert [*read_pages(tmp_path / "de", tmp_path / "en")] == [
        Translation("Noch einer.", ("Another.",), str(tmp_path / "de")),
        Translation("Ein Satz über Bücher.", ("A sentence about books.",), str(tmp_path / "de")),
        Translation("Noch einer.", ("Another.",), str(tmp_path / "de")),
    ]
