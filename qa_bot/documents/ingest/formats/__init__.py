"""A reader for each format, as listed in `detect.READERS`."""
