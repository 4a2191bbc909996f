import orjson


def test_a_table_by_its_name(qa_bot, data, tmp_path):
    listed = qa_bot("eval", "papers", "h", "--list")
    assert listed.out.splitlines()[0] == "H 1    Data sets (2 of 4 rows can be measured)"
    out = tmp_path / "out"
    done = qa_bot("eval", "papers", "H3", "--data", data, "--quick", "--out", out)
    assert done.code == 0
    assert "| HyperQA | published | .683 | .801 |  |" in done.out
    assert orjson.loads((out / "papers.json").read_bytes())["quick"] is True
    payload = qa_bot("eval", "papers", "H 3", "--data", data, "--json").json
    assert payload["tables"][0]["rows"][-1]["default"] == {"reason": "not to be had"}


def test_wrong_options(qa_bot, data):
    assert qa_bot("eval", "papers").code == 1
    assert qa_bot("eval", "papers", "Q7", "--data", data).code == 1
    assert qa_bot("eval", "answers", "H3", "--data", data).code == 2
    assert qa_bot("eval", "answers", "--quick", "--data", data).code == 2
