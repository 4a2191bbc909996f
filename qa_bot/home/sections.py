"""All configuration keys: a dataclass for each section, one line a key, with its default and description.

They are not pydantic models because `qa-bot ask` imports this file, and importing pydantic takes longer than all of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from qa_core.encoders.sentence_layout import Prompts

Holds = Literal["value", "folder", "model", "models", "new folder"]
"""What a text is: a `model` is a name or a folder, and never empty; `models` has several, with commas between; a
`new folder` need not exist."""


def key(
    default: Any, description: str, *, least: float = -math.inf, most: float = math.inf, holds: Holds = "value"
) -> Any:
    """A configuration key; numbers outside `[least, most]` are rejected."""
    return field(default=default, metadata={"description": description, "least": least, "most": most, "holds": holds})


Formula = Literal["passages", "evidence", "clue", "thesis"]
THESIS: Mapping[str, object] = {
    "fusion.method": "rule",
    "ranking.passage_weight": 0.1,
    "ranking.model_weight": 0.1,
    "facts.enabled": False,
    "answer.precision": 0.0,
    "serve.liveqa_precision": 0.0,
}
"""Defaults of other keys with the formula `thesis`: the system of 2017, which always answers (Wang 2018, ch. 7)."""


@dataclass(frozen=True, slots=True)
class StoreSection:
    url: str = key("", "database: a PostgreSQL or SQLite URL; empty means store.sqlite in the home")


@dataclass(frozen=True, slots=True)
class DenseSection:
    encoder: str = key(
        "starter",
        "`starter` (a table of words at once, a transformer after `qa-bot improve`), `starter-table`, "
        "`starter-transformer`, a folder in sentence-transformers layout, or a hub id",
        holds="model",
    )
    improve: bool = key(
        True, "make better vectors unasked: after `add` and `sync` in a terminal, before a batch, in an idle service"
    )
    threads: int = key(2, "threads that a transformer encodes with", least=1, most=64)
    int8: bool = key(False, "run the encoder in 8-bit integers: faster, its ranking differs a little")
    question_prompt: str = key(
        "", "text before each question for a fetched transformer, such as `query: `; empty: as the model states"
    )
    answer_prompt: str = key(
        "", "text before each passage for a fetched transformer, such as `passage: `; empty: as the model states"
    )
    index: Literal["auto", "exact", "sketch", "hnsw", "ivf"] = key(
        "auto", "dense index of vectors added from now on; auto chooses by their number, `repair` rebuilds all"
    )

    @property
    def prompts(self) -> Prompts:
        return Prompts(self.question_prompt, self.answer_prompt)


@dataclass(frozen=True, slots=True)
class FusionSection:
    method: Literal["rule", "mean", "rrf"] = key("mean", "how keyword and dense lists are fused")


@dataclass(frozen=True, slots=True)
class AnswerSection:
    limit: int = key(1000, "longest answer, in characters", least=1)
    deadline: float = key(10.0, "seconds until the best answer so far is returned", least=0.01)
    precision: float = key(
        0.85, "target share of right answers among the answers that are not marked as unsure", least=0, most=1
    )


@dataclass(frozen=True, slots=True)
class PassagesSection:
    characters: int = key(1000, "longest passage, in characters", least=100)
    overlap: int = key(1, "sentences that neighbouring passages share", least=0)


@dataclass(frozen=True, slots=True)
class RetrievalSection:
    depth: int = key(100, "documents in each ranked list", least=1)
    feedback: int = key(0, "documents whose words expand the keyword query (RM3); 0 is off", least=0, most=100)
    expansion: Literal["none", "nmt"] = key(
        "none",
        "`nmt`: words of answers that the model of retrieval.expander generates expand the keyword query, in place of "
        "those of documents",
    )
    expander: str = key("", "folder of a trained encoder-decoder (`train expansion`)", holds="folder")


@dataclass(frozen=True, slots=True)
class RankingSection:
    depth: int = key(30, "fused documents that clue and passage scores rank", least=1)
    formula: Literal["passages", "evidence", "clue", "thesis"] = key(
        "passages",
        "rank passages by all evidence for them; or what a passage score multiplies: evidence, or the clue; `thesis`, "
        "the system of Wang (2018, ch. 7), also sets the defaults of fusion, weights, facts and precision",
    )
    effort: Literal["low", "normal", "high"] = key(
        "normal",
        "how thoroughly the first passages are read before an answer is given: not at all (low), the first 5, or the "
        "first 10 (high)",
    )
    verifier: str = key(
        "starter-transformer",
        "encoder that reads them, run in 8-bit integers: a folder with a transformer, or a hub id",
        holds="model",
    )
    relevance: bool = key(
        True,
        "score how likely they answer, by a network that reads the states of starter-transformer, or of "
        "starter-multilingual in other languages than English",
    )
    cross_encoder: str = key(
        "",
        "folder of a trained cross-encoder that scores in place of that network (`train cross-encoder`)",
        holds="folder",
    )
    passage_weight: float = key(0.1, "w_p of the combination formula", least=0)
    models: str = key(
        "",
        "trained rankers and rerankers of the hub, cheapest first, with commas between: folders, or names fetched by "
        "`qa-bot use --ranker`; NAME:N looks at the first N documents only, NAME@title at their titles, NAME@both at "
        "title and passage",
        holds="models",
    )
    int8: bool = key(False, "run rerankers of the hub in 8-bit integers: faster, their ranking differs a little")
    model_weight: float = key(1.0, "w_p of each trained ranker", least=0)
    fusion: str = key("", "folder of a learned fusion of all scores; empty: the formulas", holds="folder")
    challenger: str = key(
        "", "folder of a learned fusion to try: users vote on drafts of both rankings", holds="folder"
    )
    challenge: float = key(0.1, "share of the questions that the challenger also ranks", least=0, most=1)


@dataclass(frozen=True, slots=True)
class FactsSection:
    enabled: bool = key(True, "also answer from the knowledge graph, if there is one")
    precision: float = key(
        0.85, "target share of right facts among the facts given, unless answer.precision is higher", least=0, most=1
    )
    templates: str = key("", "folder of mined templates (`kg mine`)", holds="folder")
    relations: str = key("", "folder of a trained scorer of relations (`train relations`)", holds="folder")


@dataclass(frozen=True, slots=True)
class StarterSection:
    mode: Literal["auto", "always", "off"] = key(
        "auto",
        "when the starter collection answers: if your own documents do not (auto), always beside them, or never (off)",
    )


@dataclass(frozen=True, slots=True)
class StyleSection:
    base: str = key("starter", "chat model under the personas of the home: `starter`, or a folder", holds="model")
    method: Literal["hybrid", "rank", "multiply", "finetune"] = key(
        "hybrid", "how a persona speaks: quotes itself (rank), draws words (multiply, finetune), or the best of both"
    )
    preset: Literal["default", "thesis"] = key(
        "default",
        "`thesis` draws and ranks as Wang (2018): 500 sentences, all words, no bonuses, whatever the keys say",
    )
    hints: Literal["answer", "sources", "dialogues", "scan"] = key(
        "answer",
        "default hint: the answer; or, each for some of the sentences: the ten documents found, ten lines of the "
        "dialogues of the base, or sixteen places of its topic map",
    )
    lead: float = key(5.0, "advantage of a quotation over a drawn sentence in the hybrid; less draws more often")
    candidates: int = key(64, "sentences that are drawn; the best are used", least=1, most=1000)
    length: int = key(20, "most words of a drawn sentence", least=2, most=100)
    temperature: float = key(0.7, "below 1 more predictable, above 1 more varied", least=0.05, most=5)
    top_k: int = key(50, "draw only from this number of the likeliest words; 0 is off", least=0)
    top_p: float = key(1.0, "draw only from the likeliest words with this total probability", least=0.01, most=1)
    warm: bool = key(False, "open the personas when a service starts, 70 MB; otherwise at their first use, .2 s")
    clean: bool = key(True, "leave out drawn sentences with coarse words, learnt from web dialogues")
    agreement: float = key(2.0, "weight of the agreement of a sentence's topics with the hint's", least=0)
    word_bonus: float = key(0.69, "bonus a word when candidate sentences are ranked")


@dataclass(frozen=True, slots=True)
class ConversationsSection:
    keep: float = key(0.0, "days that a conversation is kept after its last question; 0 is forever", least=0)


@dataclass(frozen=True, slots=True)
class BackupSection:
    every: str = key("", "time between two backups, such as 6h or 1d: after `add` and `sync`, and in an idle service")
    to: str = key("", "folder for backups, outside the home", holds="new folder")
    keep: int = key(0, "backups that are kept; 0 keeps all", least=0)


@dataclass(frozen=True, slots=True)
class ServeSection:
    host: str = key("127.0.0.1", "address to listen on; any other than loopback needs a token")
    port: int = key(8080, "port to listen on; 0 takes a free one", least=0, most=65535)
    token: str = key("", "secret that clients must send, or its hash; empty: the file `token` in the home, or none")
    liveqa_port: int = key(0, "separate port for LiveQA; 0 is off", least=0, most=65535)
    liveqa_precision: float = key(
        0.72, "answer.precision for LiveQA clients: the track does not punish wrong answers", least=0, most=1
    )
    liveqa_deadline: float = key(50.0, "seconds until a LiveQA client is answered", least=0.01)
    hosts: str = key("", "further host names of the service, separated by commas")
    proxies: str = key(
        "",
        "addresses or networks of proxies, separated by commas: only they may send X-Forwarded-For and -Proto",
    )
    workers: int = key(2, "questions answered at once", least=1, most=64)
    queue: int = key(64, "questions that may wait; more are rejected with Retry-After", least=0, most=10_000)
    rate: int = key(
        -1,
        "requests a minute of each address, with the token and without; 0 is no limit, -1 is 1200 unless only this "
        "machine can connect",
        least=-1,
    )
    upload_limit: int = key(64, "largest upload of documents, in MB (1024² bytes)", least=1, most=4096)
    log_questions: bool = key(False, "write the text of questions to the log and to traces")
    log_format: Literal["auto", "json", "text"] = key(
        "auto", "log lines: one JSON object each, or text; auto is text in a terminal and JSON elsewhere"
    )
    slow_seconds: float = key(
        2.0, "log the times of all stages of a question that takes longer, in seconds; 0 is off", least=0
    )


@dataclass(frozen=True, slots=True)
class TelemetrySection:
    endpoint: str = key(
        "",
        "URL of an OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318; empty: the one of the "
        "environment variable OTEL_EXPORTER_OTLP_ENDPOINT, or none; needs the extra `otel`",
    )
    service_name: str = key("qa-bot", "name of this service in traces and metrics")
    sample: float = key(
        1.0, "share of the requests that are traced; a client's `traceparent` decides for its own", least=0, most=1
    )


@dataclass(frozen=True, slots=True)
class DiskSection:
    warn: float = key(10.0, "percent of the home's disk; with less free, health has a warning", least=0, most=100)
    refuse: float = key(
        2.0,
        "percent of the home's disk; with less free nothing is added, but questions are answered",
        least=0,
        most=100,
    )


@dataclass(frozen=True, slots=True)
class WebSection:
    allow: str = key(
        "",
        "hosts that may be read though their addresses are not public, as HOST, or HOST:PORT for a port other than 80 "
        "and 443; separated by commas",
    )
    private: bool = key(False, "read pages at addresses of private networks, such as 10.0.0.1, from any host")


@dataclass(frozen=True, slots=True)
class Config:
    """All sections, and in `origins` the source of each key that is not a default."""

    store: StoreSection = field(default_factory=StoreSection)
    dense: DenseSection = field(default_factory=DenseSection)
    fusion: FusionSection = field(default_factory=FusionSection)
    answer: AnswerSection = field(default_factory=AnswerSection)
    passages: PassagesSection = field(default_factory=PassagesSection)
    retrieval: RetrievalSection = field(default_factory=RetrievalSection)
    ranking: RankingSection = field(default_factory=RankingSection)
    facts: FactsSection = field(default_factory=FactsSection)
    starter: StarterSection = field(default_factory=StarterSection)
    style: StyleSection = field(default_factory=StyleSection)
    conversations: ConversationsSection = field(default_factory=ConversationsSection)
    backup: BackupSection = field(default_factory=BackupSection)
    serve: ServeSection = field(default_factory=ServeSection)
    telemetry: TelemetrySection = field(default_factory=TelemetrySection)
    disk: DiskSection = field(default_factory=DiskSection)
    web: WebSection = field(default_factory=WebSection)
    origins: Mapping[str, str] = field(default_factory=dict)
