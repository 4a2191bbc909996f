"""The small home that operations are tried on, what it holds, and the files beside it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qa_bot.bot import Bot
from qa_bot.documents import graph, sync
from qa_bot.home.config import Config, load_config, set_value
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations, present_config
from qa_bot.home.index import Manifest, open_segments
from qa_bot.home.journal import open_store
from qa_bot.home.store import Store
from qa_bot.transfer import exporting

ROWS = [
    {"_id": "moon", "title": "Why does the moon have phases?", "text": "We see changing parts of its sunlit half."},
    {"_id": "tides", "title": "What causes the tides?", "text": "The pull of the moon lifts the sea."},
    {"_id": "rust", "title": "How do I remove rust?", "text": "Rub it with vinegar and fine steel wool."},
    {"_id": "tea", "title": "How long should tea steep?", "text": "Green tea needs two to three minutes."},
]
QUESTION = "How long should tea steep?"
VOTED = "a" * 32
"""Id of a turn that the base home holds."""
THEIR_ANSWER: dict[str, Any] = {
    "id": "b" * 32,
    "question": "their question",
    "answered": False,
    "kind": "none",
    "answer": "",
    "confidence": 0.0,
    "reason": "nothing was near",
    "sources": [],
    "timings": {},
    "skipped": [],
}
"""Of the turn that the archive of another home holds."""
TRIPLE = '<http://example.org/{0}> <http://www.w3.org/2000/01/rdf-schema#label> "{0}"@en .\n'
OLD_HOME = Path(__file__).parents[1] / "fixtures" / "home-0.1.zip"

State = dict[str, Any]
"""What a home holds, without times and random ids."""


@dataclass(slots=True)
class Workplace:
    """A folder with the base home and the input of the operations."""

    folder: Path
    encoder: Any
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def base(self) -> Path:
        return self.folder / "base"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / "input" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.files[name] = path
        return path

    def lines(self, name: str, rows: list[dict[str, str]]) -> Path:
        return self.write(name, "".join(f"{json.dumps(row)}\n" for row in rows))

    def build(self) -> None:
        """The base home: a file and a folder as sources, facts, turns, a vote; then the sources are changed."""
        home = Home.open(self.base)
        set_value(home.path, "ranking.effort", "low")
        config = load_config(home.path)
        rows = self.lines("rows.jsonl", ROWS)
        note = self.write("notes/note.md", "# Bread\n\nYeast gives off gas that the dough holds.\n")
        gone = self.write("notes/gone.md", "# Snow\n\nSnow is white because it scatters light.\n")
        sync.add(home, config, self.encoder, [rows], collection="facts")
        sync.add(home, config, self.encoder, [note.parent], collection="notes")
        graph.add(home, [self.write("old.nt", TRIPLE.format("Zyxland"))])
        with open_store(home, config) as store:
            store.save_turn(question="an earlier question", answer={"kind": "none"}, id=VOTED)
            store.save_feedback(VOTED, "up")
        with Bot.open(home.path) as bot:
            bot.ask("a question that waits in the journal")
        gone.unlink()
        note.write_text("# Bread\n\nBaking powder gives off gas, too.\n")
        self.write("notes/new.md", "# Rain\n\nRain falls from clouds of tiny drops.\n")
        self.lines("rows.jsonl", [{**ROWS[0], "text": "Half of it is lit by the sun."}, *ROWS[1:3]])
        self.lines("more.jsonl", [{"_id": f"more-{i}", "title": "", "text": f"Number {i} of many."} for i in range(5)])
        self.write("new.nt", TRIPLE.format("Xylonia"))
        self._export(config)

    def _export(self, config: Config) -> None:
        other = Home.open(self.folder / "other")
        theirs = self.lines("theirs.jsonl", [{"_id": "theirs", "title": "Whose?", "text": "It is theirs."}])
        sync.add(other, config, self.encoder, [theirs], collection="theirs")
        graph.add(other, [self.write("their.nt", TRIPLE.format("Wolpertland"))])
        with open_store(other, config) as store:
            store.save_turn(question=THEIR_ANSWER["question"], answer=THEIR_ANSWER, id=THEIR_ANSWER["id"])
        self.files["archive"] = self.folder / "input" / "archive.zip"
        exporting.export(other, config, self.files["archive"])


def state_of(home: Home) -> State:
    """Everything that a home holds, each part from where readers take it."""
    config = present_config(home)
    index, facts = Generations(home.index), Generations(home.graph)
    with index.pin_current() as generation, facts.pin_current() as triples:
        state: State = {
            "index": sorted(_indexed(generation)) if generation else [],
            "encoder": Manifest.of(generation).encoder if generation else "",
            "facts": sorted(t for batch in graph.batches_of(graph._graph(triples).triples) for t in batch)
            if triples
            else [],
        }
    with open_store(home, config) as store:
        state |= {
            "documents": sorted(
                (row.external_id, [passage.text for passage in row.passages])
                for info in store.collections()
                for row in store.stream_documents(collection=info.name)
            ),
            "sources": [(info.source.name, info.files, info.documents) for info in store.sources.infos()],
            "turns": sorted((turn.question, [v.vote for v in votes]) for turn, votes in store.stream_turns()),
        }
    state["config"] = home.config_file.read_text() if home.config_file.exists() else ""
    return json.loads(json.dumps(state))


def _indexed(generation: Any) -> list[str]:
    segments = open_segments(generation).values()
    return [segment.document(row).id for segment in segments for row in segment.live_rows()]


def old_home_state(home: Home) -> State:
    """Of a home that is migrated: the documents and turns of its database."""
    with Store.open(home.store_url(load_config(home.path))) as store:
        counts = store.counts()
    return {"documents": counts.documents, "turns": counts.turns}


def extract_old_home(folder: Path) -> None:
    with zipfile.ZipFile(OLD_HOME) as archive:
        archive.extractall(folder)
