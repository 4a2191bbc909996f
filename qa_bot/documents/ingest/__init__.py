"""Reads files, folders and archives of any known format as records."""

from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Limits, Notice, Record, Reject

__all__ = ["Limits", "Notice", "Record", "Reject", "read"]
