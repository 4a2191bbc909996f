"""Parts of the HTML reader: cleaning a page, its metadata, its blocks, inline text and tables as Markdown."""
