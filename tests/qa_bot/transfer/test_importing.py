"""`qa-bot export` and `qa-bot import`: round trips, merging, refusal of damaged archives, interrupts."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.answering.answer_json import as_dict
from qa_bot.bot import Bot
from qa_bot.documents import graph
from qa_bot.documents.cutting.plain_passages import cut
from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.records import Limits, Record
from qa_bot.documents.sync import add, add_records
from qa_bot.home.config import Config, load_config
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import Generations
from qa_bot.home.journal import open_store
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Store, StoredPassage
from qa_bot.transfer.archive import ArchiveError, opened
from qa_bot.transfer.exporting import export, text_of
from qa_bot.transfer.importing import Imported, join
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.analysis import normalise

CATS = "Why do cats sleep all day?"
ZORGON = {"_id": "zorgon", "title": "Where do zorgons live?", "text": "Zorgons live under the moon of Quix."}
LONG = " ".join(f"Sentence {i} tells of the number {i * i}." for i in range(80)) + "\n\nAnd\nthe end."
FACTS = '<http://x/a> <http://x/p> _:b .\n_:b <http://www.w3.org/2000/01/rdf-schema#label> "line\\nend é"@en .\n'


@pytest.fixture
def full(home: Path, encoder: StaticEncoder, write_lines: Callable[..., Path], tmp_path: Path) -> Home:
    """The starter's home with documents of two more collections, facts, names, settings, votes and conversations."""
    full_home = Home.open(home)
    (tmp_path / "facts.nt").write_text(FACTS)
    (tmp_path / "names.tsv").write_text("the letter\thttp://x/a\t7\n")
    graph.add(full_home, [tmp_path / "facts.nt"], tables=[tmp_path / "names.tsv"], labels=["http://x/p"])
    config = load_config(home)
    add_records(full_home, config, encoder, [Record("zorgon", ZORGON["title"], ZORGON["text"])], collection="a/b")
    add_records(full_home, config, encoder, [Record("long", "Long", LONG, "body", "http://u", "x")], collection="../c")
    (home / "qa-bot.toml").write_text(
        '# my notes\n[serve]\ntoken = "s3cret"\n[store]\nurl = ""\n[fusion]\nmethod = "rrf"\n'
    )
    with Bot.open(home, record=False) as bot:
        for id_, question, conversation in [("t1", CATS, "c1"), ("t2", "And dogs?", "c1"), ("t3", "Lone?", None)]:
            answer = as_dict(replace(bot.ask(question, trace=id_ == "t1"), id=id_))
            timings = answer["timings"]
            bot.store.save_turn(
                id=id_, question=question, answer=answer, timings=timings, conversation=conversation, rewritten=id_
            )
        bot.store.save_feedback("t1", "down", "wrong \x1b[31m")
        bot.store.save_feedback("t1", "up", "right after all")
        bot.store.save_feedback("t3", "down")
        bot.store.rename_conversation("c1", "Pets & <co>")
        bot.store.settle_gap("0123456789abcdef0123456789abcdef")
    return full_home


@pytest.fixture
def archive(full: Home, tmp_path: Path) -> Path:
    path = tmp_path / "all.zip"
    export(full, load_config(full.path), path)
    return path


def import_archive(home: Home, path: Path, encoder: StaticEncoder, **options: Any) -> Imported:
    return join(home, load_config(home.path), encoder, path, **options)


def documents(home: Home) -> list[tuple[object, ...]]:
    """All documents of a home, sorted: the fields that `add` compares, and the texts of their passages."""
    with Store.open(home.store_url(Config())) as store:
        rows = [
            (d.collection, d.external_id, d.title, d.body, d.url, d.hash, d.origin, [p.text for p in d.passages])
            for d in store.stream_documents()
        ]
    return sorted(rows)


def history(home: Home) -> dict[str, Any]:
    """All conversations, turns and votes."""
    with open_store(home, Config()) as store:
        return {
            "conversations": list(store.stream_conversations()),
            "turns": list(store.stream_turns()),
            "settled": store.settled_gaps(),
            "gaps": store.gaps(),
        }


def state(home: Home) -> tuple[object, ...]:
    """Numbers of the current generations, conversations, turns and votes."""
    return Generations(home.index).current_number(), Generations(home.graph).current_number(), history(home)


def triples(home: Home) -> list[tuple[str, ...]]:
    """All triples, sorted, with blank nodes unnamed."""
    return sorted(tuple("_:" if term.startswith("_:") else term for term in triple) for triple in raw_triples(home))


def raw_triples(home: Home) -> list[tuple[str, ...]]:
    with graph.open_graph(home) as held:
        return [triple for batch in graph.batches_of(held.triples) for triple in batch]


# --- round trips -------------------------------------------------------------------------------------------------


def test_everything_arrives_in_an_empty_home(full, empty_home, archive, encoder) -> None:
    imported = import_archive(empty_home, archive, encoder)
    assert documents(empty_home) == documents(full)
    assert history(empty_home) == history(full)
    assert triples(empty_home) == triples(full)
    assert (imported.conversations, imported.joined.turns, imported.joined.votes) == (1, 3, 3)
    assert imported.documents.rejected == 0
    with graph.open_graph(full) as before, graph.open_graph(empty_home) as after:
        labels = [opened.lookup.label(opened.triples.id_of("http://x/a")) for opened in (before, after)]
        assert labels[0] == labels[1]
    rrf = {"fusion.method": "rrf"}  # the archive's settings are not applied
    with Bot.open(full.path, record=False) as old, Bot.open(empty_home.path, record=False, flags=rrf) as new:
        for question in (CATS, "Where do zorgons live?", "What is the currency of Japan?", "number 6241"):
            answers = [as_dict(bot.ask(question)) for bot in (old, new)]
            for answer in answers:
                del answer["id"], answer["timings"]
                answer["confidence"] = pytest.approx(answer["confidence"], abs=0.02)
                for source in answer["sources"]:
                    del source["id"]
                    source["score"] = pytest.approx(source["score"], rel=0.02)
            assert answers[0]["answer"] == answers[1]["answer"]
            assert answers[0]["sources"][:3] == answers[1]["sources"][:3]


def test_importing_again_changes_nothing(full, empty_home, archive, encoder) -> None:
    import_archive(empty_home, archive, encoder)
    for target in (full, empty_home):
        before = state(target)
        again = import_archive(target, archive, encoder)
        assert (again.documents.unchanged, again.documents.added + again.documents.updated) == (len(documents(full)), 0)
        assert (again.facts, again.conversations, again.joined.turns, again.joined.known) == (0, 0, 0, 3)
        assert state(target) == before


def test_exporting_an_import_gives_the_same_archive(full, empty_home, archive, encoder, tmp_path) -> None:
    import_archive(empty_home, archive, encoder)
    export(empty_home, Config(), tmp_path / "again.zip")
    with zipfile.ZipFile(archive) as one, zipfile.ZipFile(tmp_path / "again.zip") as other:
        for name in ("conversations.jsonl", "turns.jsonl", "settled.jsonl", "mentions/1.tsv"):
            assert one.read(name) == other.read(name), name
        for name in ("documents/1.jsonl", "documents/2.jsonl", "documents/3.jsonl"):
            assert sorted(one.read(name).splitlines()) == sorted(other.read(name).splitlines()), name


def test_import_merges_with_a_filled_home(full, archive, encoder, tmp_path) -> None:
    other = Home.open(tmp_path / "other")
    config = Config()
    add_records(other, config, encoder, [Record("zorgon", "Old", "Old text.")], collection="a/b")
    add_records(other, config, encoder, [Record("mine", "Mine", "My own.")], collection="a/b")
    with open_store(other, config) as store:
        store.save_turn(id="t2", question="here already", answer={}, conversation="c1")
        store.rename_conversation("c1", "My title")
        store.save_turn(id="mine", question="mine", answer={}, conversation="c1")
    imported = import_archive(other, archive, encoder)
    assert (imported.documents.updated, imported.conversations, imported.joined.turns) == (1, 0, 2)
    titles = {(row[0], row[1]): row[2] for row in documents(other)}
    assert (titles["a/b", "zorgon"], titles["a/b", "mine"]) == ("Where do zorgons live?", "Mine")
    with open_store(other, config) as store:
        assert store.turn("t2").question == "here already"
        assert [turn.id for turn in store.turns("c1")] == ["t1", "t2", "mine"]
        assert store.conversation("c1").title == "My title"
        assert store.last_feedback("c1")["t1"].vote == "up"


def test_only_newer_votes_are_imported(full, empty_home, archive, encoder, tmp_path) -> None:
    import_archive(empty_home, archive, encoder)
    with open_store(full, Config()) as store:
        store.save_feedback("t1", "down", "after the export")
    export(full, Config(), tmp_path / "later.zip")
    assert import_archive(empty_home, tmp_path / "later.zip", encoder).joined.votes == 1
    assert import_archive(empty_home, archive, encoder).joined.votes == 0
    with open_store(empty_home, Config()) as store:
        assert [vote.vote for vote in store.feedback("t1")] == ["down", "up", "down"]
        assert store.last_feedback("c1")["t1"].comment == "after the export"


def test_blank_nodes_of_two_homes_stay_distinct(archive, encoder, tmp_path) -> None:
    """Both homes use one name for theirs; a second import recognises the archive's facts after further additions."""
    other = Home.open(tmp_path / "other")
    (tmp_path / "theirs.nt").write_text(FACTS.replace("/a>", "/z>"))
    graph.add(other, [tmp_path / "theirs.nt"])
    before = len(triples(other))
    assert import_archive(other, archive, encoder).facts == len(triples(other)) - before == 11480
    nodes = {term for triple in raw_triples(other) for term in triple if term.startswith("_:")}
    assert len(nodes) == 2
    (tmp_path / "more.nt").write_text("<http://x/n> <http://x/p> <http://x/m> .\n")
    graph.add(other, [tmp_path / "more.nt"])
    assert import_archive(other, archive, encoder).facts == 0


def test_other_passage_settings_cut_documents_anew(full, archive, encoder, tmp_path) -> None:
    other = Home.open(tmp_path / "other")
    short = Config(passages=PassagesSection(characters=200))
    assert join(other, short, encoder, archive).documents.rejected == 0
    (long,) = (row for row in documents(other) if row[1] == "long")
    assert max(map(len, long[-1])) <= 200
    (whole,) = (row for row in documents(full) if row[1] == "long")
    assert set(" ".join(long[-1]).split()) == set(" ".join(whole[-1]).split())
    again = join(other, short, encoder, archive)
    assert again.documents.unchanged == len(documents(other))


def test_documents_with_structure_arrive_with_passages_and_details(empty_home, encoder, tmp_path) -> None:
    def stored(home: Home) -> tuple[Any, ...]:
        with Store.open(home.store_url(Config())) as store:
            (row,) = store.stream_documents()
        passages = [(one.text, one.start, one.end, one.place, one.units) for one in row.passages]
        return row.title, row.hash, replace(row.details, path=""), passages  # a path of this machine stays here

    rows = "\n".join(f"| City {row} | {row} euros |" for row in range(100))
    text = f"# Travel\n\nLast updated: 3 March 2025\n\n## Rates\n\n| City | Rate |\n| --- | --- |\n{rows}\n"
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "travel.md").write_text(text)
    add(empty_home, Config(), encoder, [tmp_path / "pages"])
    export(empty_home, Config(), tmp_path / "export.zip")
    other = Home(tmp_path / "other")
    assert import_archive(other, tmp_path / "export.zip", encoder).documents.added == 1
    title, _, details, passages = stored(other)
    assert (title, details.date, passages[-1][3].heading) == ("Travel", "2025-03-03", ("Rates",))
    assert stored(other) == stored(empty_home)
    assert import_archive(other, tmp_path / "export.zip", encoder).documents.unchanged == 1


def test_add_reads_the_documents_of_an_archive(archive, tmp_path, qa_bot) -> None:
    with zipfile.ZipFile(archive) as zipped:
        manifest = json.loads(zipped.read("manifest.json"))
        (part,) = (part for part in manifest["parts"] if part["collection"] == "a/b")
        zipped.extract(part["path"], tmp_path / "out")
    added = qa_bot("--home", tmp_path / "new", "add", tmp_path / "out" / part["path"], "--json").json
    assert (added["added"], added["rejected"]) == (1, 0)


def test_configuration_is_not_imported_and_secrets_are_not_exported(full, empty_home, archive, encoder) -> None:
    with zipfile.ZipFile(archive) as zipped:
        assert zipped.read("qa-bot.toml").decode().split() == ["[fusion]", "method", "=", '"rrf"']
        everything = b"".join(zipped.read(name) for name in zipped.namelist())
    assert b"s3cret" not in everything
    assert b"my notes" not in everything
    (notice,) = import_archive(empty_home, archive, encoder).notices
    assert notice == "The configuration stays as it is; the archive's differs in fusion.method."
    assert not empty_home.config_file.exists()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@settings(max_examples=10)
@given(
    rows=st.lists(st.tuples(TEXTS.filter(str.strip), TEXTS, TEXTS, TEXTS), min_size=1, max_size=5),
    exchanges=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4),
    name=TEXTS.filter(bool),
)
def test_any_text_survives(encoder, tmp_path_factory, rows, exchanges, name) -> None:
    folder = tmp_path_factory.mktemp("any")
    one, other = Home.open(folder / "one"), Home.open(folder / "other")
    records = [Record(f"{i} {id_}", title, text, body) for i, (text, title, body, id_) in enumerate(rows)]
    add_records(one, Config(), encoder, records, collection=name)
    answer = {"id": "", "answered": True, "kind": "passage", "confidence": 0.5, "reason": "", "sources": []}
    with open_store(one, Config()) as store:
        for i, (question, text, comment) in enumerate(exchanges):
            payload = {**answer, "question": question, "answer": text, "timings": {}, "skipped": []}
            store.save_turn(id=str(i), question=question, answer=payload, conversation="c", asked=float(i))
            store.save_feedback(str(i), "up", comment)
    export(one, Config(), folder / "all.zip")
    imported = join(other, Config(), encoder, folder / "all.zip")
    assert imported.documents.rejected == 0
    assert history(other)["turns"] == history(one)["turns"]
    if any(text.strip() and normalise(text) for text, *_ in rows):
        assert documents(other) == documents(one)


@given(
    st.lists(st.text("abc. \n", min_size=1, max_size=40), max_size=12).map("".join),
    st.integers(20, 60),
    st.integers(0, 2),
)
def test_passages_give_back_the_text_that_they_were_cut_from(text: str, characters: int, overlap: int) -> None:
    text = normalise(text)
    spans = cut(text, characters=characters, overlap=overlap)
    passages = [StoredPassage(i, i, text[a:b], a, b, None) for i, (a, b) in enumerate(spans)]
    again = text_of(passages)
    assert len(again) == len(text)
    assert again.split() == text.split()
    assert [again[a:b] for a, b in spans] == [text[a:b] for a, b in spans]
    assert normalise(again) == again


# --- the command line -----------------------------------------------------------------------------------------------


def test_export_and_import_commands(qa_bot, home, tmp_path, write_lines) -> None:
    path = tmp_path / "all.zip"
    qa_bot("add", write_lines("a.jsonl", ZORGON))
    qa_bot("ask", CATS)
    exported = qa_bot("export", path, "--json")
    assert (exported.code, exported.err) == (0, "")
    assert (exported.json["documents"], exported.json["turns"], exported.json["facts"]) == (224, 1, 11478)
    assert exported.json["collections"] == {"default": 1, "starter": 223}
    assert exported.json["bytes"] == path.stat().st_size
    refused = qa_bot("export", path)
    assert (refused.code, refused.out) == (1, "")
    assert "which exists; name another, or add --force" in refused.err
    assert "224 documents, 11,478 facts, 0 conversations, 1 turns, 0 votes to" in qa_bot("export", path, "--force").out
    new = ("--home", tmp_path / "new")
    imported = qa_bot(*new, "import", path, "--json")
    assert (imported.code, imported.json["added"], imported.json["turns"]) == (0, 224, 1)
    assert qa_bot(*new, "status", "--json").json["documents"] == 224
    assert qa_bot(*new, "search", "zorgon", "--json").json["results"][0]["document"] == "zorgon"
    assert qa_bot(*new, "doctor").code == 0
    shown = qa_bot(*new, "import", path)
    assert "0 added, 0 updated, 224 unchanged, 0 rejected" in shown.out
    assert "(1 turns were here)" in shown.out
    assert qa_bot("export", "-").code == 2
    assert qa_bot("import", tmp_path / "none.zip").code == 1


def test_export_and_import_over_each_database(any_store_url, qa_bot, full, archive, tmp_path, monkeypatch) -> None:
    at = ("--home", tmp_path / "elsewhere")
    monkeypatch.setenv("QA_BOT_STORE__URL", any_store_url)
    assert qa_bot(*at, "import", archive, "--json").json["turns"] == 3
    assert qa_bot(*at, "import", archive, "--json").json["known_turns"] == 3
    assert qa_bot(*at, "export", tmp_path / "back.zip").code == 0
    monkeypatch.delenv("QA_BOT_STORE__URL")
    with zipfile.ZipFile(archive) as one, zipfile.ZipFile(tmp_path / "back.zip") as other:
        for name in ("conversations.jsonl", "turns.jsonl", "settled.jsonl"):
            before, after = ([json.loads(line) for line in zipped.read(name).splitlines()] for zipped in (one, other))
            assert before == after, name


def test_only_one_writer(full, archive, encoder, tmp_path) -> None:
    with full.lock("add"):
        with pytest.raises(WriterBusyError, match="add by process"):
            export(full, Config(), tmp_path / "b.zip")
        with pytest.raises(WriterBusyError, match="add by process"):
            import_archive(full, archive, encoder)
    assert not (tmp_path / "b.zip").exists()


# --- refusals ------------------------------------------------------------------------------------------------


def changed(path: Path, change: Callable[[dict[str, bytes]], None], *, sums: bool = True) -> Path:
    """A copy of an archive after `change` to its members; with `sums`, checksums in the manifest are updated."""
    with zipfile.ZipFile(path) as zipped:
        members = {name: zipped.read(name) for name in zipped.namelist()}
    change(members)
    if sums and "manifest.json" in members:
        manifest = json.loads(members["manifest.json"])
        for part in manifest["parts"]:
            data = members.get(part["path"], b"")
            part |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        members["manifest.json"] = json.dumps(manifest).encode()
    copy = path.with_name("changed.zip")
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return copy


def manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, bytes]], None]:
    def apply(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        change(manifest)
        members["manifest.json"] = json.dumps(manifest).encode()

    return apply


def put(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({name: data})


REFUSED = [
    (put("turns.jsonl", b""), "Expected an undamaged turns.jsonl in .*, but got another checksum"),
    (put("../../evil", b"x"), "'../../evil' is missing, unknown or repeated"),
    (lambda members: members.pop("turns.jsonl"), "'turns.jsonl' is missing"),
    (lambda members: members.pop("manifest.json"), "has no manifest.json; add documents with"),
    (put("manifest.json", b"{"), "Expected a manifest of `qa-bot export`"),
    (put("manifest.json", b"[" * 100_000), "Expected a manifest of `qa-bot export`"),
    (put("manifest.json", b" " * 17_000_000), "Expected at most 200 bytes for each|Expected at most 16,777,216"),
    (
        manifest(lambda manifest: manifest.update(version=3, by="9.9")),
        "is of version 3, by qa-bot 9.9; install that version",
    ),
    (manifest(lambda manifest: manifest.update(format="other")), "format: Input should be 'qa-bot export'"),
    (manifest(lambda manifest: manifest["parts"][0].update(path="/etc/passwd")), r"parts\.0\.path"),
    (manifest(lambda manifest: manifest["parts"][0].update(path="documents/../x")), r"parts\.0\.path"),
    (manifest(lambda manifest: manifest["parts"][0].update(bytes=3)), "but got another checksum"),
    (manifest(lambda manifest: manifest["parts"].append(manifest["parts"][0])), "repeated"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED)
def test_an_altered_archive_changes_nothing(full, archive, encoder, change, reason: str) -> None:
    before = (documents(full), state(full))
    with pytest.raises((ArchiveError, LimitError), match=reason) as caught:
        import_archive(full, changed(archive, change, sums=False), encoder)
    assert "\n" not in str(caught.value)
    assert (documents(full), state(full)) == before


def test_truncated_archives_are_refused(full, archive, encoder, tmp_path) -> None:
    data = archive.read_bytes()
    cut_short = tmp_path / "cut.zip"
    for share in (0, 1, 50, 99):
        cut_short.write_bytes(data[: len(data) * share // 100])
        with pytest.raises(ArchiveError, match="which is no whole zip file"):
            import_archive(full, cut_short, encoder)


def test_flipped_bytes_are_detected(archive, tmp_path) -> None:
    data = bytearray(archive.read_bytes())
    flipped = tmp_path / "flipped.zip"
    for position in range(40, len(data) - 3000, len(data) // 40):
        data[position] ^= 0xFF
        flipped.write_bytes(data)
        data[position] ^= 0xFF
        with pytest.raises(ArchiveError), opened(flipped):
            raise AssertionError(f"byte {position} was taken")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 100, b"PK\x05\x06" + b"\0" * 18])
def test_foreign_files(full, encoder, tmp_path, content: bytes) -> None:
    path = tmp_path / "foreign.zip"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match="Expected an archive of `qa-bot export`, but"):
        import_archive(full, path, encoder)


def test_zip_bombs_are_refused_by_size_and_by_ratio(full, archive, encoder) -> None:
    bomb = changed(archive, put("turns.jsonl", b"0" * 30_000_000))
    with pytest.raises(LimitError, match="Expected at most 200 bytes for each"):
        import_archive(full, bomb, encoder)
    with pytest.raises(LimitError, match="Expected at most 10,000 bytes in the whole input"):
        import_archive(full, archive, encoder, limits=Limits(total_bytes=10_000))


def test_an_encrypted_or_unknown_member_is_refused(archive, tmp_path) -> None:
    data = bytearray(archive.read_bytes())
    entry = data.rindex(b"PK\x01\x02")  # the last entry of the directory: of the manifest
    for offset, value in ((8, 1), (10, 99)):  # flags: encrypted; method: unknown
        odd = bytearray(data)
        odd[entry + offset] = value
        (tmp_path / "odd.zip").write_bytes(odd)
        with pytest.raises(ArchiveError, match=r"Expected a readable manifest\.json"), opened(tmp_path / "odd.zip"):
            raise AssertionError


ANSWER = {"id": "good", "question": "q", "answered": True, "kind": "passage", "answer": "a", "confidence": 1.0}
ANSWER |= {"reason": "", "sources": [], "timings": {}, "skipped": []}
GOOD_TURN = {"id": "good", "conversation": None, "asked": 1.0, "created": 1.0, "question": "q", "rewritten": ""}
GOOD_TURN |= {"timings": {}, "feedback": [], "answer": ANSWER}


def deep(levels: int) -> object:
    return [deep(levels - 1)] if levels else []


BAD_TURNS: list[tuple[object, str]] = [
    ("{", "broken JSON"),
    ("[]", "a line: Input should be a valid dictionary"),
    ({**GOOD_TURN, "id": "x" * 65}, "id: String should have at most 64"),
    ({**GOOD_TURN, "id": "a\0"}, "id: String should match"),
    ({**GOOD_TURN, "conversation": "nobody's"}, "Expected a turn of a known conversation"),
    ({**GOOD_TURN, "asked": -1}, "asked: Input should be greater"),
    (json.dumps(GOOD_TURN).replace('"asked": 1.0', '"asked": NaN'), "broken JSON"),
    ({**GOOD_TURN, "answer": {"answer": "a"}}, "Expected an answer object, but got id: Field required"),
    ({**GOOD_TURN, "answer": {**ANSWER, "trace": {"x": deep(100)}}}, "nested deeper than 64"),
    ({**GOOD_TURN, "feedback": [{"vote": "sideways", "comment": "", "created": 1}]}, r"feedback\.0\.vote"),
]


def test_bad_records_are_rejected_and_good_ones_imported(empty_home, archive, encoder) -> None:
    lines = [turn if isinstance(turn, str) else json.dumps(turn) for turn, _ in BAD_TURNS]

    def change(members: dict[str, bytes]) -> None:
        members["turns.jsonl"] = "\n".join([*lines, json.dumps(GOOD_TURN), ""]).encode()
        wrong = [{"_id": "w", "text": "x", "spans": [[0, 9]]}, {"_id": "", "text": "x"}, {"_id": "n"}, 7]
        good = {"_id": "kept", "text": "Kept text.", "spans": [[0, 10]], "hash": "h"}
        outside = {"_id": "o", "text": "x", "passages": [{"text": "x", "start": 0, "end": 1, "units": [[0, 2]]}]}
        members["documents/1.jsonl"] = (
            "\n".join(map(json.dumps, [*wrong, good, good, outside])).encode() + b"\n\xff\xfe"
        )

    path = changed(archive, change)
    imported = import_archive(empty_home, path, encoder)
    reasons = {reject.where.removeprefix(f"{path}!"): reject.reason for reject in imported.documents.examples}
    for number, (_, reason) in enumerate(BAD_TURNS, start=1):
        assert re.search(reason, reasons[f"turns.jsonl:{number}"])
    assert "Expected spans in order" in reasons["documents/1.jsonl:1"]
    assert "_id: String should have at least 1" in reasons["documents/1.jsonl:2"]
    assert "text: Field required" in reasons["documents/1.jsonl:3"]
    assert "a line: Input should be a valid dictionary" in reasons["documents/1.jsonl:4"]
    assert "Expected ids that differ" in reasons["documents/1.jsonl:6"]
    assert "Expected passages in order" in reasons["documents/1.jsonl:7"]
    assert "broken JSON" in reasons["documents/1.jsonl:8"]
    assert imported.joined.turns == 1
    assert ("kept", ["Kept text."]) in [(row[1], row[-1]) for row in documents(empty_home)]
    rejects = imported.documents.rejects_file
    assert rejects is not None
    assert len(rejects.read_text().splitlines()) == len(reasons) == imported.documents.rejected


# --- interrupted ----------------------------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from qa_bot.cli.app import run
from qa_bot.transfer import {module} as module
def press(*_, **__):
    os.kill(os.getpid(), signal.{signal})
module.{name} = press
sys.exit(run(sys.argv[1:]))
"""


def interrupted(home: Path, module: str, name: str, kind: str, *arguments: object) -> int:
    """Exit code of a command that receives a signal when it calls the function `name` of a module."""
    code = INTERRUPTED.format(module=module, name=name, signal=kind)
    command = [sys.executable, "-c", code, "--home", str(home), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode


@pytest.mark.parametrize(("kind", "code"), [("SIGINT", 130), ("SIGKILL", -9)])
def test_an_interrupted_export_leaves_the_old_file(full, tmp_path, kind: str, code: int) -> None:
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "all.zip"
    path.write_bytes(b"old")
    assert interrupted(full.path, "exporting", "turn_fields", kind, "export", path, "--force") == code
    assert path.read_bytes() == b"old"
    if kind == "SIGINT":
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("kind", "code"), [("SIGINT", 130), ("SIGKILL", -9)])
@pytest.mark.parametrize("name", ["_are_spans", "_wrong_answer"], ids=["documents", "turns"])
def test_an_interrupted_import_leaves_each_part_old_or_new(
    empty_home, full, archive, encoder, name, kind, code
) -> None:
    assert interrupted(empty_home.path, "importing", name, kind, "import", archive) == code
    generation = Generations(empty_home.index).current_number()
    assert (generation is None) == (name == "_are_spans")
    before = history(empty_home)
    assert (before["turns"], before["conversations"], before["settled"]) == ([], [], [])
    assert documents(empty_home) == [] or generation or kind == "SIGKILL"
    import_archive(empty_home, archive, encoder)
    assert (documents(empty_home), history(empty_home), triples(empty_home)) == (
        documents(full),
        history(full),
        triples(full),
    )


def test_a_dead_writers_rows_are_not_exported(full, encoder, tmp_path) -> None:
    before = {row[:2] for row in documents(full)}
    with Store.open(full.store_url(Config())) as store:
        number = store.begin("x")
        store.retire(number, store.of_collection("a/b"))
    exported = export(full, Config(), tmp_path / "all.zip")
    assert exported.documents == len(before)
    assert exported.collections["a/b"] == 1
