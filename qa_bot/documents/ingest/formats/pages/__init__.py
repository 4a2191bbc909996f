"""Documents of pages: PDF, scans, EPUB."""
