"""The reader of Typst: its code, which is not run, its blocks and its inline markup as HTML."""
