"""Acronyms and terms that a LaTeX document declares."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex

HEAD = (
    r"\newacronym{cpu}{CPU}{central processing unit}"
    r"\newacronym[shortplural={GPUs}]{gpu}{GPU}{graphics processor}"
    r"\newglossaryentry{jig}{name=jig,description={a tool, which holds the work}}"
)
LONG, CPU = "central processing unit", "central processing unit (CPU)"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"The \gls{cpu} and the \gls{cpu}.", f"The {CPU} and the CPU."),
        (r"\acrshort{cpu}, \acrlong{cpu}, \acrfull{cpu}, \Gls{cpu}", f"CPU, {CPU}, {CPU}, C{CPU[1:]}"),
        (r"\glspl{gpu}, \glspl{gpu}[x]", "graphics processors (GPUs), GPUs[x]"),
        (r"A \gls{jig}, \Glspl{jig}.", "A jig, Jigs."),
        (r"A \gls{lamp}, caf\acute{e}.", "A lamp, cafe."),
        (
            r"\printglossaries",
            f"## Glossary\n\n- **CPU**: {LONG}\n- **GPU**: graphics processor\n- **jig**: a tool, which holds the work",
        ),
        (r"a \printglossary[type=main]\printacronyms", None),
    ],
)
def test_names_and_long_forms(body, expected):
    text = latex(f"{HEAD}\\begin{{document}}{body}\\end{{document}}")[2]
    assert text.count("## Glossary") == 1 if expected is None else text == expected


def test_verbatim_stays():
    text = latex(rf"{HEAD}\begin{{document}}\verb|\gls{{cpu}}| is \gls{{cpu}}.\end{{document}}")[2]
    assert text == rf"`\gls{{cpu}}` is {CPU}."
