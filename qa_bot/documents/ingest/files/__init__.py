"""Files on disk and in archives as bounded byte streams."""
