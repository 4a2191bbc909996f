"""The reader of AsciiDoc: its blocks, its lists and tables, its inline markup as HTML."""
