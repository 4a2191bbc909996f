"""Which files below a folder are documents."""

from qa_bot.documents.ingest.files.walk import File, files
from qa_bot.documents.ingest.records import Notice


def test_a_home_in_the_folder_is_no_document(tmp_path):
    (tmp_path / "notes.md").write_text("Notes.")
    home = tmp_path / "home" / "index"
    home.mkdir(parents=True)
    for name in ("lock", "written-by", "index/texts.bin"):
        (tmp_path / "home" / name).write_text("x")
    notice, file = files(tmp_path)
    assert isinstance(notice, Notice)
    assert "home of qa-bot" in notice.message
    assert isinstance(file, File)
    assert file.name == "notes.md"


def test_pages_that_are_parts_of_a_saved_page_are_left_out(tmp_path):
    for name in ("ferry.html", "ferry_files/ad.html", "ferry_files/plan.pdf", "other_files/page.html"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a")
    names = [file.name for file in files(tmp_path) if isinstance(file, File)]
    assert names == ["ferry.html", "ferry_files/plan.pdf", "other_files/page.html"]
    assert [file.name for file in files(tmp_path / "ferry_files") if isinstance(file, File)] == ["ad.html", "plan.pdf"]
