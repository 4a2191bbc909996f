"""The terminal: output, chat, debates, comparisons, Ctrl-C."""
