"""Text with markup: Markdown, HTML, reStructuredText, AsciiDoc, LaTeX, Typst, notebooks, plain text."""
