"""The reply of `GET /api/admin/health`. Times are seconds since 1970, ages and waits are seconds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Level = Literal["ok", "warning", "error"]


class ProblemReply(BaseModel):
    name: Annotated[str, Field(description="The part of the report that it belongs to.")]
    level: Literal["warning", "error"]
    detail: Annotated[str, Field(description="What is wrong and what to do.")]


class VersionsReply(BaseModel):
    qa_bot: str
    python: str


class IndexReply(BaseModel):
    generation: Annotated[int, Field(description="Number of the current generation; 0 if there is none.")]
    documents: int
    passages: int
    encoder: str | None


class GraphReply(BaseModel):
    generation: int
    facts: int


class SourceHealthReply(BaseModel):
    name: str
    kind: str
    synced: Annotated[float | None, Field(description="Time of the last synchronisation.")]
    age: Annotated[float | None, Field(description="Seconds since then.")]
    error: Annotated[str, Field(description="Why the last one failed; empty if it did not.")]


class QueueReply(BaseModel):
    running: Annotated[int, Field(description="Questions being answered.")]
    waiting: int
    longest_wait: Annotated[float, Field(description="Seconds that the oldest queued question has waited.")]
    limit: Annotated[int, Field(description="Questions that may wait.")]


class ImprovingReply(BaseModel):
    vectors: Annotated[str | None, Field(description="Encoder whose vectors answer now.")]
    improvable: Annotated[bool, Field(description="Whether better vectors can be made.")]
    progress: Annotated[float | None, Field(description="Share of them that is made, while the service makes them.")]


class BackupReply(BaseModel):
    time: float
    age: float


class DiskReply(BaseModel):
    free: Annotated[int, Field(description="Bytes.")]
    size: Annotated[int, Field(description="Bytes.")]
    percent: Annotated[float, Field(description="Free share in percent.")]
    level: Annotated[Literal["ok", "low", "full"], Field(description="`full`: nothing is added until there is room.")]


class HealthReply(BaseModel):
    status: Annotated[Level, Field(description="The worst level of the problems.")]
    state: Literal["starting", "ready", "overloaded", "stopping"]
    uptime: Annotated[float, Field(description="Seconds since the service started.")]
    problems: list[ProblemReply]
    versions: VersionsReply
    index: IndexReply
    graph: GraphReply
    sources: list[SourceHealthReply]
    queue: QueueReply
    improving: ImprovingReply
    backup: Annotated[BackupReply | None, Field(description="The last backup; null if none is recorded.")]
    disk: DiskReply
