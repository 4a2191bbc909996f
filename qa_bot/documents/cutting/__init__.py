"""Cutting: from the text of a document to passages with a place, and what is known of a document from its text.

`passages` is the entrance. `blocks` parses Markdown, `pieces` makes the parts that are never cut, `packing` chooses
where passages begin.
"""
