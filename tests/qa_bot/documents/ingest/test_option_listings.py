"""Listings of options."""

import pytest

from qa_bot.documents.ingest.option_listings import with_option_lists

HELP = """Text.

```shell
Usage: kettle [options]

Options:
  -h, --help            show this help
  -t TIME, --time=TIME  minutes that the water
                        boils
  --no-whistle
                        be quiet
Others:
  --cup <size>          of one cup
```

More."""


def test_each_option_is_an_item():
    assert with_option_lists(HELP) == (
        "Text.\n\n```\nUsage: kettle [options]\n\nOptions:\n```\n\n"
        "- **-h, --help**: show this help\n- **-t TIME, --time=TIME**: minutes that the water boils\n"
        "- **--no-whistle**: be quiet\n- **`--cup <size>`**: of one cup\n\nMore."
    )


def test_a_listing_in_an_item_stays_in_it():
    block = "    ```\n    -a, --all   all\n    -b          both\n    -c          cold\n    ```"
    assert with_option_lists(f"- x\n\n{block}\n- y") == (
        "- x\n\n    - **-a, --all**: all\n    - **-b**: both\n    - **-c**: cold\n- y"
    )


@pytest.mark.parametrize(
    "code",
    [
        "kettle --time 4 \\\n    --cup 2 \\\n    --loud \\\n    --hot",
        "-rw-r--r--  1 root  a\n-rw-r--r--  1 root  b\n-rw-r--r--  1 root  c",
        "--- a\n+++ b\n-old\n+new",
        "--one  first\n--two  second",
        "--one  first\n--two  second\n--three  third\nkettle on",
        "- a\n- b\n- c",
    ],
)
def test_other_code_stays(code):
    text = f"Before\n\n```\n{code}\n```\n"
    assert with_option_lists(text) == text


def test_slashes_divide_options_and_stay_in_values():
    block = "-o=a/b  out\n-a/--all  all\n-t=1/--time=1  time\n-p x/y, --path=x/y  path"
    assert with_option_lists(f"```\n{block}\n```") == (
        "- **-o=a/b**: out\n- **-a/--all**: all\n- **-t=1/--time=1**: time\n- **-p x/y, --path=x/y**: path"
    )


def test_a_line_of_many_options_is_read_in_one_way():
    """Twice as long for each slash, were the option behind it also a part of the value before it."""
    text = f"```\n--a=x{'/-b=x' * 5000} !\n```"
    assert with_option_lists(text) == text
