"""Plain text files: titles, and structure by shape."""

import pytest

from qa_bot.documents.ingest.records import Limits


@pytest.mark.parametrize(
    ("data", "title", "text"),
    [
        ("Eggs\n====\nBoil them.", "Eggs", "Boil them."),
        ("****\nEggs\n****\n\nBoil them.", "Eggs", "Boil them."),
        ("Boil the eggs.\nThen eat.", "notes", "Boil the eggs.\nThen eat."),
        ("Only line", "notes", "Only line"),
        ("x" * 101 + "\nrest", "notes", "x" * 101 + " rest"),
        ("\n\n猫\n猫は眠る。", "猫", "猫は眠る。"),
        ("- one\n- two", "notes", "- one\n- two"),
        ("This first line of a text is wrapped by the editor that\nwrote it down.", "notes", None),
    ],
)
def test_title(reads, data, title, text):
    (record,), _, _ = reads("notes.txt", data)
    assert (record.id, record.title) == ("notes.txt", title)
    assert text in {None, record.text}


def test_lines_of_a_chat_are_not_joined(reads):
    data = "12.03.26, 14:03 - Anna: who has the van on Friday?\n12.03.26, 14:05 - Tom: me, and it is back at four\n"
    (record,), _, _ = reads("chat.txt", data)
    assert record.text == data.strip()


def test_numbered_headings_directly_above_their_text(reads):
    data = (
        "Club rules\n\n1. Membership\nAnyone over 16 may join.\n1.1 Guests\nThey pay a fee, which is\n"
        "five euros.\n2. Keys\nKeys are in the office.\n\nTo open:\n1. Turn the key\n2. Push\n"
    )
    (record,), _, _ = reads("rules.txt", data)
    assert [line for line in record.text.split("\n") if line.startswith("#")] == [
        "## 1. Membership",
        "### 1.1 Guests",
        "## 2. Keys",
    ]
    assert record.text.endswith("1. Turn the key\n2. Push")


def test_headings_numbered_with_a_letter(reads):
    data = (
        "Rules\n\nA. Standard Procedure\n\n  They apply.\n\n  A.0. Proposal\n\n    It is written.\n\n"
        "  A.1. Vote\n\n    It is secret.\n\nB. Language\n\n  Plain words.\n"
    )
    (record,), _, _ = reads("rules.txt", data)
    assert [line for line in record.text.split("\n") if line.startswith("#")] == [
        "## A. Standard Procedure",
        "### A.0. Proposal",
        "### A.1. Vote",
        "## B. Language",
    ]


@pytest.mark.parametrize(
    "data",
    [
        "A. Smith\n\nChair.\n\nB. van Dyke\n\nClerk.",  # names
        "A. Smith\n\nB. Jones\n\nC. Dyke of the board\n\nAll of them.",
        "A. Use of words\n\nPlain.\n\nC. Use of signs\n\nFew.",  # a letter is left out
        "A. Use of words\n\nPlain.",
        "A.3 Paper\n\nBig.\n\nA.4 Paper\n\nSmall.",  # not from the first number on
    ],
)
def test_lines_with_a_letter_that_are_no_headings(reads, data):
    (record,), _, _ = reads("list.txt", f"First of all.\n\n{data}")
    assert "#" not in record.text


@pytest.mark.parametrize(
    "data",
    [
        "1. Anna Smith\nChair\n2. Bob Miller\nTreasurer",  # no sentences
        "1. Open the lid\nIt is heavy.\n2. Close it\n3. Press the button\nIt is red.",  # a number without text
        "1. Open the lid\nIt is heavy.\n3. Close it\nIt is hot.",  # a number is left out
        "1. Open the lid\nIt is heavy.",
        "1. Open the lid.\nIt is heavy.\n2. Close it.\nIt is hot.",
    ],
)
def test_numbered_lines_that_are_no_headings(reads, data):
    (record,), _, _ = reads("steps.txt", data)
    assert "#" not in record.text


def test_a_date_alone_is_no_heading_unless_the_file_is_a_log(reads):
    text = "The board met in the club house and talked about the new boats for a very long time."
    (record,), _, _ = reads("letter.txt", f"12 March 2024\n\nTo all members\n\n{text}\n\nApril 3, 2024\n\n{text}")
    assert (record.title, record.text) == ("To all members", f"12 March 2024\n\n{text}\n\nApril 3, 2024\n\n{text}")
    (record,), _, _ = reads("log.txt", "Log\n\n" + "\n\n".join(f"{day} May 2024\n\n{text}" for day in (1, 2, 3)))
    assert record.text.count("## ") == 3


def test_white_space(reads):
    _, (reject,), _ = reads("notes.txt", " \n ")
    assert "got white space" in reject.reason


LONG = "The quick brown fox jumps over the lazy dog, and the lazy dog does not mind it at all."
JAPANESE = "来客用の駐車場は建物の北側にあります。料金は一日八百円です。"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Parking\n-------\nFree.", "## Parking\n\nFree."),
        ("OPENING HOURS\n\nAlways.", "## OPENING HOURS\n\nAlways."),
        ("OPENING HOURS\nAlways.", "## OPENING HOURS\n\nAlways."),
        ("WE SHOUT ALL DAY\n\nAND ALL NIGHT\n\nAND ALWAYS", "WE SHOUT ALL DAY\n\nAND ALL NIGHT\n\nAND ALWAYS"),
        (f"1 Scope\n\n1.2 Limits of it\n\n{LONG}", f"## 1 Scope\n\n### 1.2 Limits of it\n\n{LONG}"),
        ("1. Open the lid\n\n2. Pour water", "1. Open the lid\n2. Pour water"),
        (f"How do I pay?\n\n{LONG}", f"### How do I pay?\n\n{LONG}"),
        (f"It is late.\n\n{LONG}", f"It is late.\n\n{LONG}"),
        (f"駐車場\n\n{JAPANESE}", f"### 駐車場\n\n{JAPANESE}"),
        (f"{JAPANESE[:-1]}\n\n{JAPANESE}", f"{JAPANESE[:-1]}\n\n{JAPANESE}"),
        (f"「はい」\n\n{JAPANESE}", f"「はい」\n\n{JAPANESE}"),
        (f"次のとおり：\n\n{JAPANESE}", f"次のとおり：\n\n{JAPANESE}"),
        ("古池や\n\n蛙飛びこむ\n\n水の音", "古池や\n\n蛙飛びこむ\n\n水の音"),
        ("Roses are red\n\nViolets are blue", "Roses are red\n\nViolets are blue"),
        ("Steps:\n1. Open the lid\n2) Pour\n   water", "Steps:\n\n1. Open the lid\n2. Pour water"),
        ("* a\n  - b\n  - c\n* d", "- a\n    - b\n    - c\n- d"),
        ("• a\n• b\n\na) first\nb) second", "- a\n- b\n- a) first\n- b) second"),
        ("Room    Seats\nCurie   8\nHopper  12", "| Room | Seats |\n| --- | --- |\n| Curie | 8 |\n| Hopper | 12 |"),
        ("Room\tSeats\nCurie\t8", "| Room | Seats |\n| --- | --- |\n| Curie | 8 |"),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("Type this:\n\n    sudo reboot\n      now", "Type this:\n\n```\nsudo reboot\n  now\n```"),
        ("A: one\nB: two\nC: three", "- A: one\n- B: two\n- C: three"),
        (
            "25/19  order cutter ..... Tobias   9 April\n25/20  new prices ....... Yusuf",
            "- 25/19 order cutter: Tobias 9 April\n- 25/20 new prices: Yusuf",
        ),
        ("VOTE   for 7.50 ....... 5\n       abstained .... 1", "- VOTE for 7.50: 5\n- abstained: 1"),
        ("Northwind Labs\nMain Street 5\nBerlin", "Northwind Labs\nMain Street 5\nBerlin"),
        ("-----\n\nafter a rule", "after a rule"),
        ("page one\fpage two", "page one\n\npage two"),
    ],
)
def test_structure(reads, data, expected):
    (record,), _, _ = reads("notes.txt", f"First of all.\n\n{data}")
    assert record.text == f"First of all.\n\n{expected}"


def test_comments_of_settings_are_not_joined(reads):
    data = (
        "service: mailer\n# The quarantine mailbox is emptied every 11 days.\nquarantine_days: 11\njobs:\n"
        "  - name: nightly\n    ; after the backup\n    at: 2\n"
    )
    (record,), _, _ = reads("config.conf", data)
    assert record.text == (
        "service: mailer\n\\# The quarantine mailbox is emptied every 11 days.\nquarantine_days: 11\njobs:\n\n"
        "- name: nightly\n  ; after the backup\n  at: 2"
    )


def test_wrapped_lines_are_joined(reads):
    wrapped = (
        "First of all, a paragraph that an editor wrapped at sixty\ncharacters or so; lines begin with words, signs –\n"
        "– as here – and numbers, which are not items of a list.\n"
    )
    (record,), _, _ = reads("notes.txt", wrapped)
    assert record.text == " ".join(wrapped.split())


def test_a_long_file_takes_no_long_time(reads):
    (record,), _, _ = reads("notes.txt", "A line of it.\n\n1. x\n   y\n" * 20_000)
    assert record.text.count("1. x y") == 20_000


def test_a_file_over_the_limit_becomes_several_documents(reads):
    paragraphs = [f"Paragraph {number} has some words in it." for number in range(40)]
    records, rejects, notices = reads("log.txt", "\n\n".join(["Log", *paragraphs]), limits=Limits(record_bytes=800))
    assert not rejects
    assert [record.id for record in records] == ["log.txt", *(f"log.txt#{n}" for n in range(2, len(records) + 1))]
    assert [record.title for record in records[:2]] == ["Log", "Log (2)"]
    assert "\n\n".join(record.text for record in records).split("\n\n") == paragraphs
    assert all(len(record.text) <= 100 for record in records)
    assert records[1].where.endswith(":7")
    assert notices[0].message == f"The file is long; its text became {len(records)} documents."


def test_a_line_over_the_limit_is_rejected_and_the_portions_before_it_are_kept(reads):
    data = "A short line of the log.\n" * 10 + "a" * 2000
    records, (reject,), _ = reads("log.txt", data, limits=Limits(record_bytes=800))
    assert [record.text.count("short") for record in records] == [4, 4]
    assert "Expected at most 800 bytes" in reject.reason


def test_a_file_without_line_ends_within_the_limit_is_one_document(reads):
    (record,), _, _ = reads("log.txt", "word " * 160, limits=Limits(record_bytes=800))
    assert len(record.text) == 799


def test_sections_of_rules_are_headings(reads):
    data = (
        "House rules\n\n§ 1 Quiet\nBe quiet at night, and quieter in the morning, when the others sleep.\n"
        "§ 2 Bins\n(1) Glass goes into the green bin.\n\nArticle 3: Keys\nA lost key costs 40 euros.\n"
    )
    (record,), _, _ = reads("rules.txt", data)
    assert [line for line in record.text.splitlines() if line.startswith("#")] == [
        "## § 1 Quiet",
        "## § 2 Bins",
        "## Article 3: Keys",
    ]


@pytest.mark.parametrize(
    "line", ["§ 4 Abs. 2 bleibt unberührt", "§ 4 gilt hier nicht", "§ 4 Fees are due.", "Part of it", "Article"]
)
def test_sentences_about_sections_are_none(reads, line):
    (record,), _, _ = reads("rules.txt", f"Rules\n\n{line}\nThis is the text below it, which is long enough.\n")
    assert "#" not in record.text


def test_broken_words_are_whole(reads):
    data = (
        "A title\n\nThe rules of the house apply to everyone who lives here and to visi-\ntors, who must know them"
        " and the fire-safety rules, which are in the fire-\nsafety folder, and also to the people of the inner"
        " yard. Emergency exits are of the utmost import, escape-\nand rescue routes must be free.\n"
    )
    (record,), _, _ = reads("rules.txt", data)
    text = " ".join(record.text.split())
    assert "visitors, who" in text
    assert "fire-safety folder" in text
    assert "escape- and rescue" in text


NOTE = (
    "Technical Note 03                  S. Whitlock\nCategory: Internal                 June 2025\n\n\n"
    "            Door Protocol, Version 3\n\nReaders connect to the server.\n\n"
    "Whitlock         Internal         [Page 1]\n\f\nNote 03       Doors      June 2025\n\n"
    "They wait.\n\nWhitlock   Internal    [Page 2]\n\f\nNote 03       Doors      June 2025\n\nThen they stop.\n"
)


def test_a_note_in_pages_with_a_centred_title(reads):
    (record,), _, _ = reads("note.txt", NOTE)
    assert record.title == "Door Protocol, Version 3"
    assert record.text.startswith("```\nTechnical Note 03")
    assert record.text.endswith("```\n\nReaders connect to the server.\n\nThey wait.\n\nThen they stop.")


def test_a_single_line_about_a_page_stays(reads):
    (record,), _, _ = reads("note.txt", "Notes\n\nSee the drawing [Page 3]\n\nIt is large.\n")
    assert "[Page 3]" in record.text


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("1. Approval of minutes\n   Approved.", "1. Approval of minutes\n   Approved."),
        ("2. Water\n   2.1 The pump leaks.\n   2.2 It is off.", "2. Water\n   2.1 The pump leaks.\n   2.2 It is off."),
        ("2. The tower is\n   2.5 km away.", "2. The tower is 2.5 km away."),
        ("1. Die Sitzung im\n   Rathaus fällt aus.", "1. Die Sitzung im Rathaus fällt aus."),
        ("1. Open the lid\n   and pour.", "1. Open the lid and pour."),
        ("1. Open it.\n   Pour.", "1. Open it. Pour."),
        (
            "1. Treasurer\n   Ann Lee\n" + f"2. {'word ' * 15}\n   Word.",
            f"1. Treasurer\n   Ann Lee\n2. {'word ' * 15}Word.",
        ),
    ],
)
def test_lines_below_the_title_of_an_item(reads, item, expected):
    (record,), _, _ = reads("a.txt", f"Agenda\n\n{item}\n")
    assert record.text == expected


def test_a_paragraph_goes_on_below_the_first_line_of_a_page(reads):
    long = "They wait, and then they send another message to a server that"
    data = NOTE.replace("They wait.", f"   {long}").replace("Then they stop.", "   Whitlock has.")
    (record,), _, _ = reads("note.txt", data)
    assert record.text.endswith(f"Readers connect to the server.\n\n{long} Whitlock has.")


def test_a_page_of_a_manual(reads):
    head, foot = "TAR(1)      GNU TAR Manual      TAR(1)", "GNU      2023-05-01      TAR(1)"
    (record,), _, _ = reads(
        "tar.txt", f"{head}\n\nNAME\n       tar - an archiver\n\n       It packs\n       files.\n\n{foot}\n"
    )
    assert (record.title, record.text) == ("TAR(1)", "## NAME\n\ntar - an archiver\n\nIt packs\nfiles.")


def test_a_chat_is_written_message_by_message(reads):
    lines = "12.03.26, 14:03 - Anna: who has the van?\n12.03.26, 14:05 - Tom: me\n12.03.26, 14:06 - Anna: thanks\n"
    (record,), _, _ = reads("club.txt", lines)
    assert (record.title, record.text.split("\n\n")[1]) == ("club", "Tom (12.03.26, 14:05): me")


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("; Settings of the gateway", "Settings of the gateway"),
        ("# Limits", "Limits"),
        ("[server]", "a"),
        ("port = 80", "a"),
    ],
)
def test_titles_of_settings(reads, first, title):
    (record,), _, _ = reads("a.ini", f"{first}\nlimit = 5\n\n# In seconds\ntimeout = 45\n")
    assert record.title == title
    assert "timeout = 45" in record.text


def test_items_of_an_agenda_are_lines(reads):
    title = "TOP 1  Welcome, and who is there to vote on it"
    (record,), _, _ = reads(
        "minutes.txt", f"Minutes\n\n{title}\nThe agenda is approved by all members who are there.\n"
    )
    assert record.text == f"{title}\nThe agenda is approved by all members who are there."


def test_the_heading_of_a_version_is_no_title(reads):
    data = "Version 2.4.1 (2025-03-12)\n=====\n* Port 8443\n\nVersion 2.4.0\n=====\n* Dark mode\n"
    (record,), _, _ = reads("changes.txt", data)
    assert record.title == "changes"
    assert record.text.startswith("# Version 2.4.1 (2025-03-12)\n\n- Port 8443\n\n# Version 2.4.0")


def test_labelled_lines_are_not_joined(reads):
    data = f"Minutes\n\nThe club\nPresent: {'Ann Hall, ' * 6}Bob\nApologies: Cid Weiss of the board\n"
    (record,), _, _ = reads("minutes.txt", data)
    assert record.text.endswith("Bob\nApologies: Cid Weiss of the board")
