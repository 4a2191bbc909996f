"""`qa-bot export` and `qa-bot import`: round trips, merging, refusal of damaged archives, interrupts."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.answering.answer_json import as_dict
from qa_bot.bot import Bot
from qa_bot.documents import graph
from qa_bot.documents.cutting.plain_passages import cut
from qa_bot.documents.ingest.records import Record
from qa_bot.documents.sync import add, add_records
from qa_bot.home.config import Config, load_config, set_value
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.journal import open_store
from qa_bot.home.sections import PassagesSection
from qa_bot.home.store import Store, StoredPassage
from qa_bot.transfer.exporting import export, text_of
from qa_bot.transfer.importing import join
from qa_core.text.analysis import normalise
from tests.qa_bot.transfer.archives import (
    CATS,
    FACTS,
    ZORGON,
    documents,
    history,
    import_archive,
    raw_triples,
    state,
    triples,
)


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
    other = Home.open(tmp_path / "other")
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


def test_an_empty_home_takes_over_the_configuration_without_secrets(full, empty_home, archive, encoder) -> None:
    with zipfile.ZipFile(archive) as zipped:
        assert zipped.read("qa-bot.toml").decode().split() == ["[fusion]", "method", "=", '"rrf"']
        everything = b"".join(zipped.read(name) for name in zipped.namelist())
    assert b"s3cret" not in everything
    assert b"my notes" not in everything
    (notice,) = import_archive(empty_home, archive, encoder).notices
    assert notice == "The archive's configuration was taken over: fusion.method."
    assert load_config(empty_home.path).fusion.method == "rrf"


def test_the_configuration_of_a_home_stays(full, empty_home, archive, encoder) -> None:
    set_value(empty_home.path, "answer.limit", "900")
    (notice,) = import_archive(empty_home, archive, encoder).notices
    assert notice == "The configuration stays as it is; the archive's differs in fusion.method."
    assert load_config(empty_home.path).fusion.method == "mean"


def test_settings_of_another_machine_stay_out(full, empty_home, archive, encoder, monkeypatch) -> None:
    settings = {"serve.port": 9000, "backup.to": "/backups", "facts.templates": "/mined", "answer.limit": 800}
    monkeypatch.setattr("qa_bot.transfer.archived_settings.archived_settings", lambda _: settings.items())
    assert "taken over: answer.limit." in import_archive(empty_home, archive, encoder).notices[0]
    config = load_config(empty_home.path)
    assert (config.serve.port, config.backup.to, config.facts.templates, config.answer.limit) == (8080, "", "", 800)


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
