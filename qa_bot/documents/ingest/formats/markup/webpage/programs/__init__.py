"""Pages that certain programs write: what their classes say becomes the elements that others use for it."""
