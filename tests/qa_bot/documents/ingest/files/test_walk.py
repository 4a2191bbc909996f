"""Files of a folder."""

from qa_bot.documents.ingest.files.walk import File, files


def test_pages_that_are_parts_of_a_saved_page_are_left_out(tmp_path):
    for name in ("ferry.html", "ferry_files/ad.html", "ferry_files/plan.pdf", "other_files/page.html"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a")
    names = [file.name for file in files(tmp_path) if isinstance(file, File)]
    assert names == ["ferry.html", "ferry_files/plan.pdf", "other_files/page.html"]
    assert [file.name for file in files(tmp_path / "ferry_files") if isinstance(file, File)] == ["ad.html", "plan.pdf"]
