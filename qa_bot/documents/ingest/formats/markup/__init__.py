"""Text with markup: Markdown, HTML, reStructuredText, AsciiDoc, LaTeX, notebooks, plain text."""
