from qa_lab.reference.units import inline, units


def shapes(document):
    return [(unit.kind, unit.text) for unit in units(document)]


def test_sentences_below_their_headings(document):
    made = units(
        document("# Guide\n\nOne here. Two here.\n\n## Leave\n\n### Sick\n\nThree here.\n\n## Pay\n\nFour here.")
    )
    assert [unit.text for unit in made] == ["One here.", "Two here.", "Three here.", "Four here."]
    assert [unit.headings for unit in made] == [(), (), ("Leave", "Sick"), ("Pay",)]
    assert [unit.section for unit in made] == [1, 1, 3, 4]


def test_items_keep_their_numbers_and_continuation_lines(document):
    text = "First do this:\n\n1. Open\n   the form\n2. Sign it\n- a [link](x.md)\n\nDone."
    assert shapes(document(text)) == [
        ("sentence", "First do this:"),
        ("item", "1. Open the form"),
        ("item", "2. Sign it"),
        ("item", "- a link"),
        ("sentence", "Done."),
    ]
    assert [unit.block for unit in units(document(text))] == [1, 2, 2, 2, 3]


def test_a_row_repeats_its_header(document):
    table = "| Level | Response | Who |\n| --- | --- | --- |\n| SEV1 | 15 minutes | all |\n| SEV2 |  | one |\n"
    assert shapes(document(table)) == [
        ("row", "SEV1 | Response: 15 minutes; Who: all"),
        ("row", "SEV2 | Who: one"),
    ]


def test_tables_without_a_header(document):
    assert shapes(document("|  |  |\n| --- | --- |\n| a | b |")) == [("row", "a | b")]
    assert shapes(document("| a | b\\|c |\n| de |")) == [("row", "a | b|c"), ("row", "de")]


def test_code_is_one_unit(document):
    assert shapes(document("```sh\npip install x\n# no heading\n```\nNow run it.")) == [
        ("code", "pip install x\n# no heading"),
        ("sentence", "Now run it."),
    ]
    assert shapes(document("```\nnever closed")) == [("code", "never closed")]


def test_a_year_at_the_start_of_a_line_is_no_item(document):
    assert shapes(document("It began in\n2020. Then it ended.")) == [
        ("sentence", "It began in 2020."),
        ("sentence", "Then it ended."),
    ]


def test_bold_lines_are_headings(document):
    (unit,) = units(document("**Who pays?**\n\nThe firm."))
    assert unit.headings == ("Who pays?",)


def test_plain_text_has_no_signs(document):
    assert shapes(document("# not a heading | at all", markdown=False)) == [("sentence", "# not a heading | at all")]


def test_site_code_is_left_out(document):
    text = "{% comment %}\nno\n{% endcomment %}\nPlain {{ page.x }}text.{: .note}\n<!-- no -->"
    assert shapes(document(text)) == [("sentence", "Plain text.")]


def test_labels_of_links_and_escaped_signs():
    assert inline(r"See [a](b), ![no](c), <b>bold</b> &amp; \*star <https://x.org>") == (
        "See a, , bold & *star https://x.org"
    )


def test_empty_documents(document):
    assert units(document("")) == units(document("# Guide\n\n---\n")) == []
