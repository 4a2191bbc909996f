"""`qa-bot` and `python -m qa_bot`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; users' mistakes become one line on stderr, Ctrl-C exit code 130."""
    from qa_bot.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
