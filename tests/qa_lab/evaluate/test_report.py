from rich.console import Console

from qa_core.measures.metrics import Score
from qa_lab.evaluate.report import Row, as_json, caption, cells, compared, headings, markdown, table


def row(engine, **values):
    scores = {name: Score.of(dict(enumerate(of))) for name, of in values.items()}
    return Row("retrieval", "tiny", "dev", engine, "models/some-encoder/", 2, scores)


KEYWORD, DENSE = row("keyword", AP=[0.0, 1.0]), row("dense", AP=[0.5, 1.0])


def test_one_row_is_one_object():
    # s² = ((0 − .5)² + (1 − .5)²) / 1 = .5, so that the standard error is √(.5 / 2) = .5
    assert as_json([KEYWORD]) == {
        "task": "retrieval",
        "data": "tiny",
        "split": "dev",
        "engine": "keyword",
        "encoder": "models/some-encoder/",
        "queries": 2,
        "AP": 0.5,
        "AP_se": 0.5,
    }


def test_several_rows_stand_under_models_beside_the_first():
    payload = as_json(compared([KEYWORD, DENSE], "AP"))
    assert payload["AP"] == 0.5
    assert [item["engine"] for item in payload["models"]] == ["keyword", "dense"]
    assert "versus_first" not in payload["models"][0]
    assert payload["models"][1]["versus_first"]["difference"] == 0.25
    assert payload["models"][1]["versus_first"]["measure"] == "AP"


def test_what_has_no_value_is_none_and_a_dash():
    nothing = row("keyword", **{"prec@2+": [], "AP": [1.0]})
    payload = as_json([nothing])
    assert payload["prec@2+"] is None
    assert payload["AP_se"] is None
    assert cells([nothing]) == [["keyword, some-encoder", "–", "1.000"]]


def test_a_comparison_is_the_same_every_time():
    first, again = (compared([KEYWORD, DENSE], "AP")[1].versus for _ in range(2))
    assert first == again
    # of the four samples with replacement the mean difference is .5 once, .25 twice and 0 once
    assert (first.low, first.high) == (0.0, 0.5)


def test_markdown_has_a_line_a_system():
    lines = markdown(compared([KEYWORD, DENSE], "AP")).splitlines()
    assert lines[0] == "|  | AP | AP − first |"
    assert lines[2] == "| keyword, some-encoder | .500 ± .500 |  |"
    assert lines[3].startswith("| dense, some-encoder | .750 ± .250 | +.250 [+.000, +.500], p ")


def test_a_tiny_p_is_not_shown_as_zero():
    better, worse = (row("keyword", AP=[value] * 20) for value in (1.0, 0.0))
    assert cells(compared([worse, better], "AP"))[1][2] == "+1.000 [+1.000, +1.000], p < .001"


def test_the_table_shows_every_figure():
    rows = compared([KEYWORD, DENSE], "AP")
    console = Console(width=120, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as shown:
        console.print(table(rows))
    for text in [caption(rows)[:40], *headings(rows), *(cell for line in cells(rows) for cell in line)]:
        assert text in shown.get()
