"""Text with markup: Markdown, HTML, reStructuredText, AsciiDoc, DocBook, LaTeX, Typst, notebooks, plain text."""
