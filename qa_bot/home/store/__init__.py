"""The store: documents, generations, conversations, turns and feedback, on SQLite or PostgreSQL.

Only this package imports SQLAlchemy.
"""

from qa_bot.home.store.aliases import PresentId, PresentIds, with_present_ids
from qa_bot.home.store.database import StoreError, migrate, storable
from qa_bot.home.store.history import NotFoundError
from qa_bot.home.store.records import (
    CollectionInfo,
    Content,
    ConversationInfo,
    Counts,
    DepartedFile,
    Feedback,
    Gap,
    GenerationInfo,
    InsertedDocument,
    JoinedCounts,
    KnownDocument,
    ListedDocument,
    NearestDocument,
    NewDocument,
    NewPassage,
    OwnedDocument,
    Renaming,
    Source,
    SourceFile,
    SourceInfo,
    StoredDocument,
    StoredPassage,
    StoredStem,
    Turn,
    with_deleted,
)
from qa_bot.home.store.sources import SourceStore
from qa_bot.home.store.store import Store

__all__ = [
    "CollectionInfo",
    "Content",
    "ConversationInfo",
    "Counts",
    "DepartedFile",
    "Feedback",
    "Gap",
    "GenerationInfo",
    "InsertedDocument",
    "JoinedCounts",
    "KnownDocument",
    "ListedDocument",
    "NearestDocument",
    "NewDocument",
    "NewPassage",
    "NotFoundError",
    "OwnedDocument",
    "PresentId",
    "PresentIds",
    "Renaming",
    "Source",
    "SourceFile",
    "SourceInfo",
    "SourceStore",
    "Store",
    "StoreError",
    "StoredDocument",
    "StoredPassage",
    "StoredStem",
    "Turn",
    "migrate",
    "storable",
    "with_deleted",
    "with_present_ids",
]
