"""`qa-bot` and `python -m qa_bot`."""

from __future__ import annotations

import gc
import io
import os
import sys

NEW_OBJECTS = 200_000
"""Between two searches for circular garbage, instead of Python's 700: imports and opening make many objects that stay.
`ask` makes fewer than that; two searches took 28 ms of its 750. Services and reading have other numbers."""


def main() -> None:
    """Run the command line; users' mistakes become one line on stderr, Ctrl-C exit code 130.

    Files that it makes are readable by their owner alone: they hold questions and documents.
    """
    os.umask(0o077)
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
    from qa_bot.cli.app import run

    _make_streams_safe()
    code = run(sys.argv[1:])
    gc.freeze()  # else the end of the process passes over all objects again and again: .3 s of 3.7 s for `add`
    sys.exit(code)


def _make_streams_safe() -> None:
    """Replace bytes that are not UTF-8 and characters that the output's encoding lacks; a closed input is empty."""
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
