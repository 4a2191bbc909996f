"""The reader of LaTeX: the macros a document defines, its blocks and inline markup as HTML, counters and headings."""
