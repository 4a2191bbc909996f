"""Contacts: numbers and addresses of people."""


def test_contacts_are_sections(reads):
    data = (
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Uwe Staiger\r\nORG:Motorix;Sales\r\nTEL;TYPE=WORK,VOICE:+49 7031 555\r\n"
        "item1.EMAIL;type=INTERNET:uwe@motorix.example\r\nADR;TYPE=work:;;Weg 1;Ulm;;89073;Germany\r\n"
        "PHOTO;ENCODING=b:AAAA=\r\nNOTE:Not on\\nFridays\\, please\r\nEND:VCARD\r\n"
    )
    (record,), rejects, _ = reads("uwe.vcf", data)
    assert rejects == []
    assert (record.id, record.title) == ("uwe.vcf", "Uwe Staiger")
    assert record.text == (
        "## Uwe Staiger\n\n- Organisation: Motorix, Sales\n- Phone (work): +49 7031 555\n"
        "- E-mail: uwe@motorix.example\n"
        "- Address (work): Weg 1, Ulm, 89073, Germany\n- Note: Not on\n  Fridays, please"
    )


def test_old_contacts_in_quoted_printable(reads):
    data = (
        "BEGIN:VCARD\nVERSION:2.1\nN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:M=C3=BCller;=\nEva\n"
        "TEL;CELL:0170 1\nEND:VCARD\nBEGIN:VCARD\nFN:Ben\nEND:VCARD\n"
    )
    (record,), _, _ = reads("people.vcf", data)
    assert record.title == "people"
    assert record.text == "## Müller, Eva\n\n- Phone (cell): 0170 1\n\n## Ben"


def test_no_contacts(reads):
    records, (reject,), _ = reads("a.vcf", "hello\n")
    assert records == []
    assert "Expected contacts" in reject.reason
