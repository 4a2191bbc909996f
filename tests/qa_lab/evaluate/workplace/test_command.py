"""`qa-bot eval workplace` as users call it."""


def test_one_engine(qa_bot, policies, questions):
    payload = qa_bot("eval", "workplace", "--data", policies, "--questions", questions, "--json").json
    assert payload["engine"] == "default"
    assert {"score", "3", "2", "1", "0", "A", "X"} <= payload.keys()


def test_a_table_with_losses(qa_bot, policies, questions):
    done = qa_bot("eval", "workplace", "--data", policies, "--questions", questions, "--losses", "--each")
    assert done.code == 0
    assert "in one passage" in done.out


def test_the_worst_answers(qa_bot, policies, questions):
    done = qa_bot("eval", "workplace", "--data", policies, "--questions", questions, "--worst", "3")
    assert (done.code, "the worst answers" in done.out) == (0, True)
    payload = qa_bot("eval", "workplace", "--data", policies, "--questions", questions, "--worst", "3", "--json").json
    assert all(entry["grade"] not in ("3", "A") for entry in payload["worst"])


def test_wrong_usage(qa_bot, policies, questions):
    assert qa_bot("eval", "workplace", "--data", policies).code == 2
    unknown = qa_bot("eval", "workplace", "--data", policies, "--questions", questions, "--engine", "hybrid")
    assert (unknown.code, "'hybrid' is not one of 'default'" in unknown.err) == (2, True)
    gone = qa_bot("eval", "workplace", "--data", policies / "gone", "--questions", questions)
    assert (gone.code, "which does not exist" in gone.err) == (1, True)
