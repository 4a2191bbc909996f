"""Routes of documents: files are sent, and documents shown, listed and deleted."""
