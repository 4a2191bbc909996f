"""`qa-bot eval everything` as users call it."""


def test_a_suite_as_a_table_and_as_json(qa_bot, suite_file, tmp_path):
    done = qa_bot("eval", "everything", "--suite", suite_file, "--out", tmp_path / "cells")
    assert done.code == 0
    assert "absent is skipped" in done.err
    assert done.out.splitlines()[2].split()[-2:] == ["default", "simple"]
    payload = qa_bot("eval", "everything", "--suite", suite_file, "--out", tmp_path / "cells", "--json").json
    assert [row["collection"] for row in payload["rows"]] == ["policies", "policies", "search", "search"]


def test_wrong_usage(qa_bot, suite_file):
    assert qa_bot("eval", "everything", "--suite", suite_file, "--engine", "recipe").code == 2
    assert qa_bot("eval", "retrieval", "--data", suite_file, "--suite", suite_file).code == 2
    assert qa_bot("eval", "retrieval").code == 2
    assert qa_bot("eval", "everything", "--suite", "gone.toml").code == 1
