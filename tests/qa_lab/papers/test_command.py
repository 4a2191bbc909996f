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
    without = qa_bot("eval", "papers")
    assert (without.code, "Expected --data DIR" in without.err) == (2, True)
    assert qa_bot("eval", "papers", "Q7", "--data", data).code == 1
