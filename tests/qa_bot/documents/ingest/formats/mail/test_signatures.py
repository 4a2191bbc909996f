"""Signatures of mails, with their mark."""

import pytest

from qa_bot.documents.ingest.formats.mail.signatures import without_signature

TEXT = ["The pool is open until six.", ""]


def rest(*lines: str) -> str:
    return "\n".join(without_signature([*TEXT, *lines]))


@pytest.mark.parametrize(
    "signature",
    [
        ["-- ", "Ann Lee", "This sentence is a part of the signature, as the mark has its blank."],
        ["--", "Ann Lee", "Pool Department", "[www.pool.example](https://www.pool.example/a/long/address/of/a/page)"],
        ["--", "Ann Lee\\", "+49 30 12 34 56", "", "This e-mail is confidential. Delete it if it is not yours."],
        ["\\--", "Ann Lee"],
        ["Sent from my phone", ""],
    ],
)
def test_a_signature_is_left_out(signature: list[str]) -> None:
    assert rest(*signature) == TEXT[0]


@pytest.mark.parametrize(
    "lines",
    [
        ["--", "The sauna is closed in July and in August."],
        ["--", "- towels", "- soap"],
        ["--", "Towels", "--", "Soap"],
        ["--", *(["towel"] * 13)],
        ["--", "towels and soap " * 6],
        ["---", "Ann Lee"],
    ],
)
def test_text_below_bare_dashes_stays(lines: list[str]) -> None:
    assert rest(*lines) == "\n".join([*TEXT, *lines])


@pytest.mark.parametrize("mark", ["-- ", "--"])
@pytest.mark.parametrize("below", ["PS: Bring towels for all of the guests.", "P.S. Bring towels.", "> Is it open?"])
def test_a_postscript_or_quotation_below_a_signature_stays(mark: str, below: str) -> None:
    assert rest(mark, "Ann Lee", "", below, "Or soap.") == "\n".join([*TEXT, "", below, "Or soap."])
