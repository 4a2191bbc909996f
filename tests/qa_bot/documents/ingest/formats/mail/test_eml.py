"""Mails: headers, bodies, attachments, mailboxes."""

import io
import zipfile
from email.message import EmailMessage

import pytest

from qa_bot.documents.cutting.cut_record import cut_record
from qa_bot.documents.ingest import Limits


def mail(body="The door closes at six.", *, subject="Opening hours", **headers):
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = "Ann Lee <ann@example.org>"
    message["To"] = "all@example.org"
    message["Date"] = "Mon, 03 Mar 2025 10:15:00 +0100"
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message


HEAD = "To: all@example.org\nDate: 2025-03-03\n\n## From: Ann Lee <ann@example.org>"


def test_a_mail(reads, tmp_path):
    (record,), rejects, notices = reads("a.eml", mail().as_bytes())
    assert (record.id, record.title, record.date) == ("a.eml", "Opening hours", "2025-03-03")
    assert record.text == f"{HEAD}\n\nThe door closes at six."
    assert (record.where, record.markdown) == (f"{tmp_path}/a.eml:1", True)
    assert (rejects, notices) == ([], [])


def test_recipients_of_copies(reads):
    (record,), _, _ = reads("a.eml", mail(Cc="Hanna Pohl <hanna@example.org>, office@example.org").as_bytes())
    head = HEAD.replace("\nDate", "\nCc: Hanna Pohl <hanna@example.org>, office@example.org\nDate")
    assert record.text == f"{head}\n\nThe door closes at six."


def test_no_passage_mixes_the_head_with_the_text(reads):
    body = "Dear members,\n\nThe door closes at six.\n\nIt opens at eight.\n\nKind regards\nAnn\n0555 0177"
    (record,), _, _ = reads("a.eml", mail(body).as_bytes())
    document = cut_record(record, characters=1000, overlap=1)
    assert document.title == "Opening hours"
    assert [(one.text, one.place.heading) for one in document.passages] == [
        ("To: all@example.org\nDate: 2025-03-03\n\nDear members,\n\nKind regards\nAnn\n0555 0177", ()),
        ("The door closes at six.\n\nIt opens at eight.", ("From: Ann Lee ann@example.org",)),
    ]


def test_a_mail_without_a_sender_has_its_text_in_a_separate_passage(reads):
    data = b"Subject: Opening hours\nTo: all@example.org\n\nThe door closes at six.\n"
    (record,), _, _ = reads("a.eml", data)
    passages = cut_record(record, characters=1000, overlap=1).passages
    assert [(one.text, one.place.heading) for one in passages] == [
        ("To: all@example.org", ()),
        ("The door closes at six.", ()),
    ]


def test_a_mail_is_recognised_without_a_suffix(reads):
    (record,), _, _ = reads("cur-1741", mail().as_bytes())
    assert record.title == "Opening hours"


def test_encoded_subject_and_body_of_another_encoding(reads):
    data = (
        b"Subject: =?iso-8859-1?Q?=D6ffnungszeiten?=\r\nContent-Type: text/plain; charset=windows-1252\r\n"
        b"Content-Transfer-Encoding: 8bit\r\n\r\nDie T\xfcr schlie\xdft um \x80 6.\r\n"
    )
    (record,), _, _ = reads("a.eml", data)
    assert (record.title, record.text) == ("Öffnungszeiten", "Die Tür schließt um € 6.")


@pytest.mark.parametrize("charset", ["x-unknown", "utf-8", "us-ascii"])
def test_a_wrong_charset_is_replaced_by_a_likely_one(reads, charset):
    data = f"Subject: S\nContent-Type: text/plain; charset={charset}\n\n".encode() + b"Die T\xfcr.\n"
    (record,), _, _ = reads("a.eml", data)
    assert record.text in {"Die Tür.", "Die T\ufffdr."}


def test_lists_of_html_are_kept_and_quotations_cut(reads):
    message = mail("see html")
    message.add_alternative(
        "<p>Steps:</p><ol><li>Open it.</li><li>Close it.</li></ol>"
        "<div class='gmail_quote'><div>On Mon, 3 Mar 2025 at 10:15, Bob &lt;b@example.org&gt; wrote:<br></div>"
        "<blockquote type='cite'><p>an older mail</p></blockquote></div>",
        subtype="html",
    )
    (record,), _, _ = reads("a.eml", message.as_bytes())
    assert record.text == f"{HEAD}\n\nSteps:\n\n1. Open it.\n2. Close it."


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("Please see the other version.", "The yard is closed from Monday on, so park at the **fair** please."),
        ("The yard is closed from Monday on, please park at the fair.", None),
    ],
)
def test_html_counts_if_it_says_more_than_the_plain_text(reads, plain, expected):
    message = mail(plain)
    message.add_alternative(
        "<p>The yard is closed from Monday on, so park at the <b>fair</b> please.</p>", subtype="html"
    )
    (record,), _, _ = reads("a.eml", message.as_bytes())
    assert record.text == f"{HEAD}\n\n{expected or plain}"


def test_a_forwarded_mail_is_kept_whole(reads):
    body = "---------- Forwarded message ---------\nFrom: Bob\nDate: 1 March\nSubject: Key\nTo: Ann\n\nThe key is 7."
    (record,), _, _ = reads("a.eml", mail(body, subject="Fwd: Key").as_bytes())
    assert "The key is 7." in record.text


def test_wrapped_lines_are_joined_and_lists_kept(reads):
    body = (
        "This line was wrapped by the program that sent the mail to all of\nus.\nShort line.\n\n"
        "1. Open the door.\n2. Close it.\n- and lock it\nThe end."
    )
    (record,), _, _ = reads("a.eml", mail(body).as_bytes())
    assert record.text == (
        f"{HEAD}\n\nThis line was wrapped by the program that sent the mail to all of us.\nShort line.\n\n"
        "1. Open the door.\n2. Close it.\n- and lock it\n\nThe end."
    )


def test_indented_lines_below_an_item_go_on_it(reads):
    body = "Please:\n\n1. Open the lid and\n   fill in oil.\n2. Close it.\nThen wait.\n\n* red\n  or pink\n* blue"
    (record,), _, _ = reads("a.eml", mail(body).as_bytes())
    assert record.text == (
        f"{HEAD}\n\nPlease:\n\n1. Open the lid and fill in oil.\n2. Close it.\n\nThen wait.\n\n- red or pink\n- blue"
    )


@pytest.mark.parametrize(
    "signature",
    [
        '<pre class="moz-signature" cols="72">-- \nAnn Lee\nWe clean the pool each day of the week.</pre>',
        "<div class='gmail_signature'>Ann<div class='gmail_signature'>Pool</div></div>",
        "<pre>-- \nAnn Lee</pre>",
        "<div style='display:none;max-height:0'>All the news of the pool</div>",
    ],
)
def test_a_declared_signature_or_hidden_text_of_html_is_left_out(reads, signature):
    data = f"Subject: Pool\nContent-Type: text/html\n\n<p>The pool is open.</p>{signature}"
    (record,), _, _ = reads("a.eml", data.encode())
    assert record.text == "The pool is open."


EVENT = """BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VEVENT
UID:5@example.org
SUMMARY:Harbour tour
DTSTART:20250310T130000Z
DTSTAMP:{}
LOCATION:Pier 4
END:VEVENT
END:VCALENDAR
"""
TOUR = "## Harbour tour\n\nWhen: 2025-03-10 13:00 (UTC)\nWhere: Pier 4"


def test_an_invitation_is_read_once(reads):
    message = mail("Please come.")
    message.add_alternative(EVENT.format("1"), subtype="calendar", params={"method": "REQUEST"})
    records, rejects, _ = reads("a.eml", message.as_bytes())
    assert [(record.id, record.text) for record in records[1:]] == [("a.eml!Opening hours.ics", TOUR)]
    message.make_mixed()
    message.add_attachment(EVENT.format("2"), subtype="calendar", filename="tour.ics")
    message.add_attachment(EVENT.format("3").encode(), maintype="application", subtype="ics", filename="invite.ics")
    message.add_attachment(EVENT.format("4").replace("tour", "party"), subtype="calendar", filename="party.ics")
    records, rejects, _ = reads("b.eml", message.as_bytes())
    assert [record.id for record in records] == ["b.eml", "b.eml!invite.ics", "b.eml!party.ics"]
    assert rejects == []


def test_a_mail_that_is_only_an_invitation(reads):
    data = f"Subject: Tour\nContent-Type: text/calendar; charset=utf-8\n\n{EVENT.format('1')}"
    records, rejects, _ = reads("a.eml", data.encode())
    assert [(record.id, record.title, record.text) for record in records] == [("a.eml!Tour.ics", "Tour", TOUR)]
    assert rejects == []


def test_attachments_are_read_by_their_own_readers(reads):
    message = mail()
    message.add_attachment("# Rules\n\nNo smoking.\n", subtype="markdown", filename="rules.md")
    message.add_attachment("Second file.", filename="../../etc/rules.md")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("inside.txt", "In the archive.")
    message.add_attachment(archive.getvalue(), maintype="application", subtype="zip", filename="a.zip")
    message.add_attachment(mail("A mail inside.", subject="Inner: mail"))
    message.add_attachment(
        b"\x89PNG\r\n\x1a\n\0\0", maintype="image", subtype="png", cid="<logo>", disposition="inline"
    )
    message.add_attachment("BEGIN:VCALENDAR", subtype="calendar", filename="invite.ics")
    message.add_attachment(b"\0\1\2", maintype="application", subtype="octet-stream", filename="program.bin")
    records, (reject,), _ = reads("a.eml", message.as_bytes())
    assert [record.modified for record in records[1:]] == ["2025-03-03"] * 4, "the date of the mail"
    ids = [record.id.partition("#")[0] for record in records]
    assert ids == ["a.eml", "a.eml!rules.md", "a.eml!2-rules.md", "a.eml!a.zip!inside.txt", "a.eml!Inner mail.eml"]
    assert reject.where.endswith("a.eml:1!program.bin")


def test_mails_inside_mails_end_at_some_depth(reads):
    message = mail("innermost")
    for _ in range(8):
        outer = mail("around it")
        outer.add_attachment(message)
        message = outer
    records, (reject,), _ = reads("a.eml", message.as_bytes())
    assert 3 <= len(records) <= 6
    assert "nested less deeply" in reject.reason


def test_encrypted_and_empty_mails_are_rejected(reads):
    data = (
        b"Subject: S\nContent-Type: application/pkcs7-mime; name=smime.p7m\nContent-Transfer-Encoding: base64\n\nAAAA\n"
    )
    records, (reject,), _ = reads("a.eml", data)
    assert records == []
    assert "encrypted" in reject.reason
    records, (reject,), _ = reads("b.eml", mail("").as_bytes())
    assert "mail with text" in reject.reason


def test_a_mailbox_is_a_document_a_mail(reads, tmp_path):
    first, second = mail("One.", Message_ID="<1@x>"), mail("From here on, two.\n\nFrom now on, three.", subject="Two")
    data = b"From a Mon Mar  3 10:15:00 2025\n" + first.as_bytes() + b"\n"
    data += b"From b Mon Mar  3 10:15:00 2025\n" + second.as_bytes().replace(b"\nFrom now", b"\n>From now") + b"\n"
    data += b"From c Mon Mar  3 10:15:00 2025\n" + first.as_bytes()
    records, rejects, _ = reads("all.mbox", data)
    assert [record.id for record in records] == ["all.mbox#1@x", "all.mbox#2", "all.mbox#1@x-3"]
    assert records[1].text.endswith("From here on, two.\n\nFrom now on, three.")
    assert records[1].where == f"{tmp_path}/all.mbox:{1 + data[: data.index(b'From b')].count(10)}"
    assert rejects == []
    records, rejects, _ = reads("Inbox", data, limits=Limits(record_bytes=40))
    assert (len(records), len(rejects)) == (0, 3)


def test_a_header_that_the_library_cannot_parse_costs_no_mail_of_a_mailbox(reads):
    """Found while looking for slow headers: nested comments ended in a RecursionError."""
    lines = ["From a Mon Mar  3 10:15:00 2025", "Subject: One", f"Content-Type: text/plain;{'(' * 900}", "", "One.", ""]
    lines += ["From b Mon Mar  3 10:15:00 2025", "Subject: Two", "", "Two.", ""]
    records, rejects, _ = reads("all.mbox", "\n".join(lines).encode())
    assert ([record.title for record in records], rejects) == (["One", "Two"], [])


def test_a_long_list_of_recipients_is_kept(reads):
    people = ", ".join(f"=?utf-8?q?Ren=C3=A9_{number}?= <rene{number}@example.org>" for number in range(100))
    (record,), _, _ = reads("a.eml", f"To: {people}\nSubject: Tea\n\nIt is hot.\n".encode())
    assert "René 99 <rene99@example.org>" in record.text


@pytest.mark.parametrize("cut", range(0, 900, 60))
def test_truncated_mails_raise_nothing(reads, cut):
    message = mail()
    message.add_attachment("# Rules\n\nNo smoking.\n", subtype="markdown", filename="rules.md")
    records, rejects, _ = reads("a.eml", message.as_bytes()[:cut])
    assert records or rejects


def test_a_page_that_a_browser_saved(reads):
    message = mail("<title>Prices</title><nav><a href='/'>Home</a></nav><h1>Prices</h1><p>Adults pay 5 EUR.</p>")
    message.replace_header("From", "<Saved by Blink>")
    message["Snapshot-Content-Location"] = "https://ferry.example/prices"
    message.replace_header("Content-Type", "text/html")
    message.add_related(b"a { color: red }", "text", "css", cid="<css>")
    (record,), rejects, _ = reads("a.mhtml", message.as_bytes())
    assert (record.title, record.text, record.url) == ("Prices", "Adults pay 5 EUR.", "https://ferry.example/prices")
    assert rejects == []
