"""Parts of the reader of plain text: blocks whose lines blanks and dots arrange."""
