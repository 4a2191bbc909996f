"""`qa-bot` and `python -m qa_bot`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; users' mistakes become one line on stderr, Ctrl-C exit code 130.

    Files that it makes are readable by their owner alone: they hold questions and documents.
    """
    os.umask(0o077)
    from qa_bot.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
