"""Formats of published data sets that only the laboratory reads."""
