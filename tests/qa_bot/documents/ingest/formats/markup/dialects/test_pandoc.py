"""Spans, citations, blocks of lines and commands of LaTeX in Markdown of Pandoc."""

import time

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.pandoc import without_pandoc
from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("A firing costs [12 euros]{.price}.", "A firing costs 12 euros."),
        ('Cones [(up to 900 °C)]{.small key="a b"} are white.', "Cones (up to 900 °C) are white."),
        ("The [outer [inner]{.a} text]{.b} stays.", "The outer inner text stays."),
        ("[Over two\nlines]{#here}", "Over two\nlines"),
        ("[One]\n\ntwo]{.a}", "[One]\n\ntwo]{.a}"),
        ("Write `[x]{.a}` so.", "Write `[x]{.a}` so."),
        ("Run `fire`{.bash} first.", "Run `fire` first."),
        ("A page `\\newpage`{=latex} ends.", "A page  ends."),
        ("Set [names]{name} or {.a}.", "Set [names]{name} or {.a}."),
        ("The formula $[x]{.a}$ stays.", "The formula $[x]{.a}$ stays."),
        ("# Prices {-}", "# Prices"),
    ],
)
def test_spans_are_their_text(source: str, shown: str) -> None:
    assert without_pandoc(source, set()) == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Glaze melts at 1040 °C [@doe99].", "Glaze melts at 1040 °C."),
        ("Glaze melts [see @doe99, p. 3; also @roe] at once.", "Glaze melts at once."),
        ("Ein Monat Frist\n[vgl. @satzung{}, § 4 (2)].", "Ein Monat Frist."),
        ("Der Antrag [[@formular]]{.notes} genügt ([@roe]).", "Der Antrag genügt."),
        ("Die Frist nennt die Satzung, siehe [@satzung24].", "Die Frist nennt die Satzung, siehe satzung24."),
        ("Thanks to [@doe] and [-@roe, p. 3].", "Thanks to doe and roe."),
        ("Cones are in @doe99.", "Cones are in @doe99."),
        ("Ask [@ines](https://a.org) or [ines@a.org](mailto:ines@a.org).", None),
        ("[TODO @ines: measure it]", None),
        ("See the note [[@doe99]].", None),
        ("Mail [ines@a.org].", None),
        ("Thanks [@ines]!", None),
    ],
)
def test_citations_in_brackets_are_left_out(source: str, shown: str | None) -> None:
    assert without_pandoc(source, {"@ines"}) == (source if shown is None else shown)


def test_a_name_that_the_document_links_is_no_citation() -> None:
    assert markdown_blocks("Thanks to [@ines] for it.\n\n[@ines]: https://a.org/ines").text == (
        "Thanks to [@ines](https://a.org/ines) for it."
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("One\n\n\\bigskip\n\nTwo", "One\n\nTwo"),
        ("- one\n\n\\smallskip\n\n- two", "- one\n- two"),
        (
            "\\noindent The kiln is in the \\textbf{cellar, \\emph{left}}. \\vspace{2em}",
            "The kiln is in the cellar, left.",
        ),
        ("\\begin{center}\nWear goggles.\n\\end{center}", "Wear goggles."),
        ("Use `\\newpage` for a page.", "Use `\\newpage` for a page."),
        ("The path C:\\newpage and $a \\hfill b$ stay.", "The path C:\\newpage and $a \\hfill b$ stay."),
        ("A \\newpagestyle and \\smallskips stay.", "A \\newpagestyle and \\smallskips stay."),
        ("```\n\\bigskip\n```", "```\n\\bigskip\n```"),
        ("One\n\n```{=latex}\n\\newpage\n```\n\nTwo", "One\n\nTwo"),
        ("One\n\n```{=html}\n<b>Two</b>\n```\n\nThree", "One\n\n**Two**\n\nThree"),
        ("::: {.notes}\nFire slowly.\n:::", "Fire slowly."),
        ("## Prices {#prices .unlisted key=val}\n\nA firing is cheap.", "## Prices\n\nA firing is cheap."),
        ("| Ines Kiln\n| Oven Road 3\n| 30001 Claytown\n\nText.", "Ines Kiln\nOven Road 3\n30001 Claytown\n\nText."),
        ("| A | B |\n| - | - |\n| 1 | 2 |", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
    ],
)
def test_commands_of_layout_are_left_out(source: str, shown: str) -> None:
    assert markdown_blocks(source).text == shown


@pytest.mark.parametrize(
    "text",
    [
        f"{'[' * 100_000}{']{.a}' * 1000} [@a",
        f"{'[@a ' * 30_000}{']' * 30_000}",
        f"[{'see ' * 30_000}@",
        f"[@a]{'@a;' * 30_000}]",
        "\\textbf{" * 20_000,
    ],
)
def test_marks_without_an_end_take_linear_time(text: str) -> None:
    started = time.process_time()
    without_pandoc(text, set())
    assert time.process_time() - started < 2
