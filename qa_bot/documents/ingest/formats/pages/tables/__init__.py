"""Tables of a page."""
