import pytest

from qa_bot.documents.ingest import Record
from qa_lab.reference.documents import of_record, read_documents


def test_documents_of_a_folder(tmp_path):
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "old-leave.txt").write_text("Nine days.")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0")
    (document,) = read_documents(tmp_path)
    assert document.id == "archive/old-leave.txt"
    assert document.old


def test_a_file_without_title_has_its_name():
    assert of_record(Record("hr/sick_leave-rules.txt", "", "Call.")).title == "sick leave rules"


def test_documents_that_call_themselves_old():
    assert of_record(Record("a.md", "Rules (superseded)", "Text.")).old
    assert of_record(Record("a.md", "Rules", "Text.", archived=True)).old
    assert not of_record(Record("threshold.md", "Gold rules", "Text.")).old


def test_the_body_of_a_question_is_text():
    assert of_record(Record("1", "Why?", "Because.", body="I wonder.")).text == "I wonder.\n\nBecause."


def test_nothing_to_read(tmp_path):
    with pytest.raises(ValueError, match="but got none: it holds no record"):
        read_documents(tmp_path)
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(ValueError, match="binary"):
        read_documents(tmp_path)
