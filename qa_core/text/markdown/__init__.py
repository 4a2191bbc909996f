"""Markdown that is shown: blocks and marked-up words of a text, with their places in it, and plain text of them.

The dialect is that of stored documents. `qa_bot/web/page/markdown.js` and `inline.js` read it in the same way.
"""
