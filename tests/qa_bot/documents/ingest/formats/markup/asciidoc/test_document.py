"""AsciiDoc."""

import pytest

from qa_bot.documents.ingest.formats.markup.asciidoc.inline import inline

FILE = """= The *manual*
Ann Lee <ann@example.org>
v1.0, 2024-03-05
:product: Pot
:lang: en

// comment
Use *{product}* and `make`; {unknown}
stays.

== Install

ifdef::web[]
.Procedure
. Open
. Pour
* deep
** deeper
. Close
+
----
code here
----
. Last

NOTE: Mind the heat.

[source,sh]
----
pip <install>
----

RTO:: Recovery time.
RPO::
  Point.

____
A quote.
____

[TIP]
====
Save *often*.
====

include::other[]
image::a.png[A lamp]
////
hidden
////
The end +
now.
"""


def test_a_document(reads, tmp_path):
    (record,), rejects, _ = reads("a.adoc", FILE)
    assert rejects == []
    assert (record.id, record.title, record.where) == ("a.adoc", "The manual", f"{tmp_path}/a.adoc:1")
    assert (record.date, record.language, record.markdown) == ("2024-03-05", "en", True)
    assert record.text == (
        "Use **Pot** and `make`; {unknown} stays.\n\n## Install\n\n**Procedure**\n\n1. Open\n2. Pour\n    - deep\n"
        "        - deeper\n3. Close\n\n    ```\n    code here\n    ```\n4. Last\n\n######\n\n"
        "**Note:** Mind the heat.\n\n```sh\npip <install>\n```\n\n- **RTO**: Recovery time.\n- **RPO**: Point.\n\n"
        "> A quote.\n\nTip:\n\nSave **often**.\n\nA lamp\n\nThe end\nnow."
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "https://a.org[the page], link:b.html[B], mailto:it@a.org[IT]",
            "[the page](https://a.org), B, [IT](mailto:it@a.org)",
        ),
        ("<<opening-hours>>, <<a,b>>, xref:use.adoc#x_y[], xref:z[Z]", "opening hours, b, x y, Z"),
        ("a footnote:[A note.] [[anchor]]kbd:[Ctrl] menu:File[Save > As]", "a (A note.) Ctrl File > Save > As"),
        (
            "*b* _i_ `*c*` +_d_+ #m# x^2^ snake_case_name 2 * 3 * 4",
            "**b** *i* `*c*` `_d_` m x² snake_case_name 2 * 3 * 4",
        ),
        ("* [x] done\n* [ ] open\n\nAfter.", "- [x] done\n- [ ] open\n\nAfter."),
        ("[[id]]\n== Rooms\n\n literal text", "## Rooms\n\n```\nliteral text\n```"),
        ("|===\n|a |b\n\n|1 |2\n2+|all\n|===", "| a | b |\n| --- | --- |\n| 1 | 2 |\n| all |  |"),
        ('[cols="2*",%header]\n|===\n|a\n|b\n|1\n|2 \\| 3\n|===', "| a | b |\n| --- | --- |\n| 1 | 2 \\| 3 |"),
        (
            "|===\n|a|b c|d\n\n|1 |?|https://a.org/\n|===",
            "| a | b c | d |\n| --- | --- | --- |\n| 1 | ? | https://a.org/ |",
        ),
        ('image::a.png[width=50%]\n\nA image:b.png["The, lid",10] image:c.png[10,alt="Hinge"].', "A The, lid Hinge."),
        ("[%noheader]\n|===\n3*|x\n|===", "|  |  |  |\n| --- | --- | --- |\n| x | x | x |"),
        ("----\nnever closed", "```\nnever closed\n```"),
        ("Rooms\n-----\nUse.\n\nKeys\n~~~~~\nLost.", "## Rooms\n\nUse.\n\n### Keys\n\nLost."),
        (".Title\n------\na\n------", "**Title**\n\n```\na\n```"),
        (
            "== A\n\n.B\n|===\n|c|d\n|===\n\nd\n\n.E\n* f\n+\n.G\n----\ng\n----\n\nh",
            "## A\n\n**B**\n\n|  |  |\n| --- | --- |\n| c | d |\n\n######\n\nd\n\n"
            "**E**\n\n- f\n\n    **G**\n\n    ```\n    g\n    ```\n\n"
            "######\n\nh",
        ),
        (".A\n====\n.B\nb\n\nc\n====\nd", "**A**\n\n**B**\n\nb\n\n######\n\nc\n\n######\n\nd"),
        (".A\na\n\n.B\n. b\n\n== C\n\nd", "**A**\n\na\n\n**B**\n\n1. b\n\n## C\n\nd"),
        ("[source]\n--------\na\n--------", "```\na\n```"),
        ("Run it now:\n----\na\n----", "Run it now:\n\n```\na\n```"),
        ("Wait\nRun!\n----\na\n----", "Wait Run!\n\n```\na\n```"),
        (
            "-a::\n--all:: Everything.\n\n  ls -a\n+\nMore.",
            "- **-a, --all**: Everything.\n\n    ```\n    ls -a\n    ```\n\n    More.",
        ),
        ("[verse]\ngit 'a'\ngit 'b'", "git 'a'\ngit 'b'"),
        ("A&nbsp;B &#8211; C &unknown {startsb}x{endsb} \\{nbsp}", "A B – C &unknown [x] {nbsp}"),
        ("a *bold\nword* `[a-z]` ``so'' linkgit:git-add[1] man:ls[1]", "a **bold word** `[a-z]` “so” git-add(1) ls(1)"),
        ("https://a.org[the `code`\npage] <<x,the\nend>>", "[the `code` page](https://a.org) the end"),
    ],
)
def test_markup(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


@pytest.mark.parametrize(
    "piece",
    [
        "*",
        "----\n",
        "====\n",
        "* a\n",
        "|===\n",
        "[[",
        "<<",
        "`",
        "_a ",
        "https://a[",
        "a:: b\n",
        "(((",
        "== a\n",
        "| ",
        "a\n-\n",
        "footnote:[",
        "<<a,",
        "``a",
        "&amp",
        "\x02",
        "a. b\n",
        "i) b\n\n",
        ".T\n",
        ".T\nimage::a[]\n\n",
        "* a\n+\nimage::a[]\n\nb\n\n",
        "`+a",
        "`+a+",
        "_a_a ",
        "_a_",
        "\\(C",
    ],
)
def test_broken_markup_ends_in_time(reads, piece):
    reads("a.adoc", piece * 5000 + " x")


def test_addresses_of_links_are_bounded():
    """Found by the campaign: 60,000 characters of `mailto:mailto:…` took 5 s."""
    assert inline(f"link:{'x' * 2_000}[a]", {}) == f'<a href="{"x" * 2_000}">a</a>'
    assert inline(f"mailto:{'x' * 2_001}[a]", {}) == f"mailto:{'x' * 2_001}[a]"


def test_an_underlined_title_is_that_of_the_document(reads):
    (record,), _, _ = reads("a.adoc", "The manual\n==========\nAnn Lee <a@b.org>\n\nNAME\n----\nmanual - text\n")
    assert (record.title, record.text) == ("The manual", "## NAME\n\nmanual - text")


def test_signs_that_stand_for_code_are_no_markup_of_a_document():
    assert inline("\x020\x03 `a` \x021\x03", {}) == "0 <code>a</code> 1"


def test_a_title_that_the_command_names_is_left_out(reads):
    (record,), _, _ = reads("statutes.adoc", ":imagesdir: ./\n\n= {doctitle}\n\n== Members\n\nPay a fee.\n")
    assert (record.title, record.text) == ("statutes", "## Members\n\nPay a fee.")


def test_a_title_names_attributes_of_the_header(reads):
    header = "// comment\n:product: Pot\n= {product}: {page}\n:page: Care\n:man source: pot\n"
    source = f"{header}\n'''''\n\nRinse.\n\n:page: Other\n"
    (record,), _, _ = reads("a.adoc", source)
    assert (record.title, record.text) == ("Pot: Care", "Rinse.")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "1. Choose:\n  a. *Off*\n  b. *On*\n\n  c. *Auto*\n    i) by day\n    ii) by night\n2. Save",
            "1. Choose:\n    - a. **Off**\n    - b. **On**\n    - c. **Auto**\n        - i) by day\n"
            "        - ii) by night\n2. Save",
        ),
        ("A. Lids\nI) one\nII) two\nB. Cups", "- A. Lids\n    - I) one\n    - II) two\n- B. Cups"),
        ("a. [x] done\n+\nMore.\n\nb. open\n\nAfter.", "- a. [x] done\n\n    More.\n- b. open\n\nAfter."),
        ("It was written by\nA. Smith and\ni) none", "It was written by A. Smith and i) none"),
        ("* one\n\n first line\n a. code", "- one\n\n    ```\n    first line\n    a. code\n    ```"),
        ("Ask Ann.\n\niz) none", "Ask Ann.\n\niz) none"),
    ],
)
def test_items_with_letters_show_them(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (".Example\nimage::a.png[]\n\nText.", "Example\n\nText."),
        (".An *example*\n[.wide]\nimage::a.png[A lamp,80%]\n\nText.", "An **example**\n\nA lamp\n\nText."),
        (".A < lamp\nimage::a.png[A < lamp]", "A < lamp"),
        ("[quote]\nimage::a.png[A lamp]\n\nText.", "A lamp\n\nText."),
        (". Open\n+\n.The lid\nimage::a.png[]\n\n. Close", "1. Open\n\n    The lid\n2. Close"),
        ("* a\n\n.The lid\nimage::a.png[]\n\nText.", "- a\n\nThe lid\n\nText."),
        (".Steps\n. Open", "**Steps**\n\n1. Open"),
        (". Open\n\n.Steps\n. Close", "1. Open\n\n**Steps**\n\n1. Close"),
        (".Words\nLid:: Top.", "**Words**\n\n- **Lid**: Top."),
        (".Note\nText.", "**Note**\n\nText."),
        (".One\n.Two", "**One**\n\n**Two**"),
        ("====\n.In\n====\n.Care\n== Lids", "**In**\n\n**Care**\n\n## Lids"),
    ],
)
def test_titles_of_pictures_are_captions_and_others_are_bold(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("* a\n+\nimage::a.png[Lid]\n\nText.", "- a\n\n    Lid\n\nText."),
        ("* a\n+\nimage::a.png[Lid]\n+\nText.", "- a\n\n    Lid\n\n    Text."),
        ("* a\n+\n----\nb\n----\n+\nMore.\n\nText.", "- a\n\n    ```\n    b\n    ```\n\n    More.\n\nText."),
        ("* a\n+\n----\nb\n----\n\n// remark\nText.", "- a\n\n    ```\n    b\n    ```\n\nText."),
        ("* a\n+\n* b\n\nText.", "- a\n- b\n\nText."),
        ("a::\n\nText.\n\nMore.", "- **a**: Text.\n\nMore."),
    ],
)
def test_a_list_ends_at_what_is_not_attached_to_it(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


def test_code_loses_only_a_pair_of_signs():
    assert inline("`+attr:x` `+a+b+` `a+` ``+c+`` `+` `C++`", {}) == " ".join(
        f"<code>{code}</code>" for code in ("+attr:x", "a+b", "a+", "c", "+", "C++")
    )


def test_signs_of_escapes_and_of_emphasis_are_not_shown():
    assert inline(r"*\(C) Entries* \(R) \(TM) \(D) `\(C)`", {}) == (
        r"<b>(C) Entries</b> (R) (TM) \(D) <code>\(C)</code>"
    )
    assert inline("_(SEARCH_IN only)_ __a_b__ snake_case_name _x_y", {}) == (
        "<i>(SEARCH_IN only)</i> <i>a_b</i> snake_case_name _x_y"
    )


def test_lists_with_other_numbers(reads):
    data = "Do:\n\n. One\n. Two\n\n[start=4]\n. Four\n[upperalpha]\n.. A\n.. B\n. Five\n\n[loweralpha]\n. a\n"
    (record,), _, _ = reads("a.adoc", data)
    assert record.text == "Do:\n\n1. One\n2. Two\n4. Four\n    - A. A\n    - B. B\n5. Five\n- a. a"


def test_substitutions_in_code(reads):
    data = (
        ':v: 3.4\n\nRun:\n\n[source,sh,subs="attributes+"]\n----\nget {v} *x*\n----\n\n[subs=+quotes]\n----\n'
        'log in _<user>_ {v}\n----\n\n[source,subs="verbatim"]\n----\nls {v}\n----\n\n* [[[doe]]] A book.\n'
    )
    (record,), _, _ = reads("a.adoc", data)
    assert record.text == (
        "Run:\n\n```sh\nget 3.4 *x*\n```\n\n```\nlog in <user> {v}\n```\n\n```\nls {v}\n```\n\n- [doe] A book."
    )
