"""What generators of websites and editors add to Markdown: template tags, containers, marks of notes."""
