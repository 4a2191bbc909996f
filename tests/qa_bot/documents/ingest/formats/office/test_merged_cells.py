"""Tables whose cells are merged."""

from qa_bot.documents.ingest.formats.office.merged_cells import Merged, Table, table_of

LEFT, ABOVE = Merged.LEFT, Merged.ABOVE


def test_merged_cells_repeat_their_text():
    rows = [["Day", "Sat", "Sun"], ["May", "9-17", LEFT], [ABOVE, ABOVE, LEFT], ["June"]]
    cells = [["Day", "Sat", "Sun"], ["May", "9-17", "9-17"], ["May", "9-17", "9-17"], ["June", "", ""]]
    assert table_of(rows, [False] * 4) == Table([], cells, has_header=True)


def test_cells_of_a_whole_row_are_captions_or_head_a_group():
    rows = [["Menu", LEFT], ["Dish", "Price"], ["Starters", LEFT], ["Soup", "5"]]
    cells = [["Dish", "Price"], ["Starters", ""], ["Soup", "5"]]
    assert table_of(rows, [True, True, False, False]) == Table(["Menu"], cells, has_header=True)
    assert table_of([["Alone"], ["Again"]], [False, False]) == Table(["Alone", "Again"], [], has_header=False)


def test_header_rows_become_one():
    rows = [["Boat", "Price", LEFT], [ABOVE, "half", "full"], ["Kayak", "18", "30"]]
    cells = [["Boat", "Price half", "Price full"], ["Kayak", "18", "30"]]
    for marked in ([True, True, False], [False] * 3):
        assert table_of(rows, marked) == Table([], cells, has_header=True)
