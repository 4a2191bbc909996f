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


def test_labels_of_groups_and_further_fields(reads):
    data = (
        "BEGIN:VCARD\nVERSION:3.0\nFN:Eva Lee\nNICKNAME:Evi,Eve\nCATEGORIES:Supplier,Glass\n"
        "item1.TEL;TYPE=WORK:0170 1\n"
        "item1.X-ABLabel:Invoices\nitem2.X-ABRELATEDNAMES:Ben\nitem2.X-ABLabel:_$!<Brother>!$_\nX-ABLabel:stray\n"
        "IMPP:xmpp:eva@chat.example\nX-SOCIALPROFILE;TYPE=linkedin:https://linkedin.example/eva\n"
        "ANNIVERSARY:2010-06-12\nX-SPOUSE:Carl\nEND:VCARD\n"
    )
    (record,), _, _ = reads("people.vcf", data)
    assert record.text == (
        "## Eva Lee\n\n- Nickname: Evi, Eve\n- Categories: Supplier, Glass\n- Phone (Invoices): 0170 1\n"
        "- Related (Brother): Ben\n- Chat: xmpp:eva@chat.example\n- Profile (linkedin): https://linkedin.example/eva\n"
        "- Anniversary: 2010-06-12\n- Spouse: Carl"
    )


def test_no_contacts(reads):
    records, (reject,), _ = reads("a.vcf", "hello\n")
    assert records == []
    assert "Expected contacts" in reject.reason
