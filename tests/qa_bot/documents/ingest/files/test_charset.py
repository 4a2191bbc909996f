"""Guessed encodings."""

import pytest

from qa_bot.documents.ingest.files.charset import guessed_encoding, unmarked_utf_16

SENTENCES = [
    ("cp1252", "Die Tür schließt um sechs Uhr, und die Schlüssel hängen am Brett. Für Gäste gibt es „Kaffee“ – bitte."),
    ("cp1252", "Le télétravail est autorisé deux jours par semaine, après accord. L’équipe préfère ça."),
    ("cp1252", "El horario de la oficina: ¿a qué hora abre mañana?"),
    ("cp1252", "It costs 5 € – ask at the café."),
    ("cp1252", "caf\xe9"),
    ("cp1250", "Zażółć gęślą jaźń. Pracownicy mają prawo do dwudziestu sześciu dni urlopu."),
    ("cp1250", "Zaměstnanci mají nárok na dvacet dní dovolené. Žádost se podává předem, řekl šéf."),
    ("cp1254", "Çalışanlar yılda yirmi gün izin hakkına sahiptir. Başvuru önceden yapılmalıdır."),
    ("cp1251", "Сотрудники имеют право на двадцать восемь дней отпуска."),
    ("koi8_r", "Сотрудники имеют право на двадцать восемь дней отпуска."),
    ("cp1253", "Οι εργαζόμενοι δικαιούνται είκοσι ημέρες άδειας."),
    ("cp932", "従業員は年に二十日の休暇を取ることができます。申請は事前に行ってください。"),
    ("euc_jp", "従業員は年に二十日の休暇を取ることができます。申請は事前に行ってください。"),
    ("gb18030", "员工每年享有二十天假期。请提前提交申请。"),
    ("big5", "員工每年享有二十天假期。請提前提交申請。"),
    ("cp949", "직원은 매년 이십일의 휴가를 사용할 수 있습니다. 신청은 미리 해 주세요."),
]


@pytest.mark.parametrize(("encoding", "sentence"), SENTENCES)
def test_common_encodings_are_recognised(reads, encoding, sentence):
    text = f"Heading\n\n{sentence}\n"
    assert guessed_encoding(text.encode()) is None
    (record,), rejects, (notice,) = reads("a.txt", text.encode(encoding))
    assert record.text == sentence
    assert rejects == []
    assert "because it is no UTF-8" in notice.message


@pytest.mark.parametrize(
    "data",
    [
        "Grüße 猫".encode(),
        "Grüße 猫".encode()[:-1],
        "Grüße, viele schöne Grüße".encode() + b" \xff",
        b"sl\xffep",
        b"plain",
    ],
)
def test_utf_8_stays_utf_8_even_if_damaged(data):
    assert guessed_encoding(data) is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(reads, encoding):
    text = "Heading\n\nGrüße, 猫 sleep on the warm roof of the house.\n"
    assert unmarked_utf_16(text.encode(encoding)) == encoding
    (record,), rejects, notices = reads("a.txt", text.encode(encoding))
    assert record.text == text.partition("\n\n")[2].strip()
    assert (rejects, notices) == ([], [])


@pytest.mark.parametrize("data", [b"\0\1\0\2" * 50, b"a\0" * 3 + b"\0\0" * 40, bytes(range(256))])
def test_binary_files_are_no_utf_16(data):
    assert unmarked_utf_16(data) is None


def test_data_formats_are_utf_8_by_definition(reads):
    (record,), _, (notice,) = reads("a.jsonl", b'{"id": "1", "text": "caf\xe9 is open"}\n')
    assert record.text == "caf\ufffd is open"
    assert "invalid UTF-8" in notice.message
