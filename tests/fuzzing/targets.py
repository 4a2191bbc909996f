# ruff: noqa: E501  (an example of a format is one line)
"""What is fuzzed: each target takes any bytes, and raises only for a mistake of ours."""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from qa_bot.documents.ingest.detect import READERS
from qa_bot.documents.ingest.files.byte_budget import ByteBudget, CountingStream, LayerBudget, TotalLimitError
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.one_file import load, read_file
from qa_bot.documents.ingest.reading import Reading
from qa_bot.documents.ingest.records import Limits, Notice, Part, Record, Reject
from tests.fuzzing import seeds

LIMITS = Limits(total_bytes=50 * 1024**2, record_bytes=2 * 1024**2)


class Target(NamedTuple):
    seeds: Sequence[bytes]
    run: Callable[[bytes], object]


def targets(*, with_home: bool = True) -> Mapping[str, Target]:
    """All targets by name; some only with a home, which takes a second to fill."""
    texts = [*seeds.TEXTS.values()]
    formats = {
        f"format {name}": Target([seed, seed, seed, *(texts if name in seeds.TEXTS else ())], _reads(name))
        for name, seed in {**seeds.TEXTS, **seeds.binaries()}.items()
    }
    others = {
        "archive": Target(seeds.containers(), _archive),
        "detection": Target([*texts, *seeds.binaries().values()], _detection),
        "cutting": Target([seeds.TEXTS["markdown"], seeds.TEXTS["text"], seeds.TEXTS["csv"]], _cutting),
        "question": Target(seeds.QUESTIONS, _question),
        "frame": Target(seeds.FRAMES, _frame),
        "body": Target(seeds.REQUESTS, _body),
        "query parameters": Target([b"limit=3&before=1.5", b"hint=tea", b"format=json"], _query_parameters),
        "form": Target(
            [b"title=Why%3F&body=x+y&qid=1", b'--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nWhy\r\n--x--'],
            _form,
        ),
        "headers": Target([b"localhost:8000", b"[::1]:80", b"http://localhost:8000", b"Bearer abc"], _headers),
        "configuration": Target([b"[answer]\nlimit = 1000\n[dense]\nencoder = 'starter'\n"], _configuration),
        "configuration value": Target([b"answer.limit=1000", b"serve.hosts=a,b:1", b"fusion.method=rrf"], _value),
        "scope": Target([b"2024-05", b"a/b", b"de", b"2024-02-30"], _scope),
        "web page": Target([seeds.TEXTS["html"]], _web_page),
        "feed and sitemap": Target(
            [
                b'<rss version="2.0"><channel><item><title>Tea</title><link>https://a.example/1</link><pubDate>Mon, 01 Jan 2024 10:00:00 GMT</pubDate><description>&lt;b&gt;x&lt;/b&gt;</description></item></channel></rss>',
                b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title><link href="https://a.example"/><updated>2024-01-01T00:00:00Z</updated><content type="html">x</content></entry></feed>',
                b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/</loc></url></urlset>',
            ],
            _feed,
        ),
        "address": Target([b"https://user:x@a.example:8/y?utm_source=z&q=1#f", b"//b.example/%zz", b"../x"], _address),
        "robots": Target([b"User-agent: *\nDisallow: /x*$\nCrawl-delay: 2\nSitemap: https://a.example/s.xml\n"], _robots),
        "triples": Target(
            [
                b'<http://a.example/s> <http://a.example/p> "x"@en .\n<http://a.example/s> <http://a.example/p> <http://a.example/o> .\n',
                b'@prefix p: <http://a.example/> .\np:a p:b "x", 1.5, true ; p:c [ p:d "e" ] .\n',
            ],
            _triples,
        ),
        "questions of a batch": Target([b'{"_id": "1", "title": "Why?", "body": "x"}\n{"qid": 2, "title": "How?"}\n'], _batch),
        "markdown shown": Target([seeds.TEXTS["markdown"]], _shown),
    }  # fmt: skip
    if with_home:
        others["export archive"] = Target(_exports(), _export)
        others["conversation"] = Target(seeds.QUESTIONS, _conversation)
    return {**formats, **others}


# --- documents ------------------------------------------------------------------------------------------------------


def _reads(name: str) -> Callable[[bytes], object]:
    """The items of a file of one format, read in this process."""
    reader = READERS[name]

    def run(data: bytes) -> None:
        stream = CountingStream(io.BytesIO(data), LayerBudget(ByteBudget(LIMITS)))
        is_text = not reader.module.startswith("data.")
        source = SourceFile(f"a{(*reader.suffixes, '.x')[0]}", "a", stream, LIMITS, guesses_encoding=is_text)
        with suppress(TotalLimitError):
            for item in read_file(source, load(reader.path, reader.function), is_binary=reader.is_binary):
                _expect_item(item)

    return run


def _expect_item(item: object) -> None:
    assert isinstance(item, Record | Reject | Notice | Part)
    if isinstance(item, Record):
        "".join((item.id, item.title, item.text, item.body, item.url, item.date, *item.tags)).encode()
        assert item.id, "an id"


def _archive(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(data)
        file.flush()
        _read_path(Path(file.name))


def _detection(data: bytes) -> None:
    from qa_bot.documents.ingest.detect import UnknownFormatError, format_of

    for name in ("a", "a.txt", "a.xml", "a.json", "a.doc"):
        with suppress(UnknownFormatError):
            assert format_of(name, data[:8192]) in READERS


def _read_path(path: Path) -> None:
    from qa_bot.documents.ingest.files.walk import File

    readers = {name: load(reader.path, reader.function) for name, reader in READERS.items() if not reader.is_isolated}
    reading = Reading(None, LIMITS, ByteBudget(LIMITS), {**dict.fromkeys(READERS, _nothing), **readers})
    with suppress(TotalLimitError):
        for item in reading.path(File(path, path.name), is_named=True):
            _expect_item(item)


def _nothing(source: SourceFile):
    """In place of the readers that run in another process."""
    source.raw.read(1)
    return iter(())


def _cutting(data: bytes) -> None:
    from qa_bot.documents.cutting.cut_record import cut_record

    text = data.decode("utf-8", "replace")
    for markdown in (True, False):
        document = cut_record(Record("a", text[:50], text, markdown=markdown), characters=400, overlap=50)
        assert all(0 <= one.start <= one.end for one in document.passages)


# --- questions ------------------------------------------------------------------------------------------------------


def _question(data: bytes) -> None:
    from qa_bot.answering.evidence.question_words import names, question_words
    from qa_bot.answering.tiling.question_parts import asks_for_steps
    from qa_bot.web.liveqa.liveqa_focus import analyse
    from qa_core.text.language_detection import language_of
    from qa_core.text.noun_phrases import noun_phrases
    from qa_core.text.small_talk import recognise
    from qa_core.text.synonyms import synonyms
    from qa_core.types import Question
    from retrievers.formulate import formulate
    from retrievers.long_questions import BODY, TITLE, bounded
    from retrievers.question_terms import SearchLanguages

    text = data.decode("utf-8", "replace")
    question = bounded(Question(text[: len(text) // 2], text))
    assert (len(question.title), len(question.body)) <= (TITLE, BODY)
    languages = SearchLanguages("", ("en", "de"))
    formulate(question, languages=languages, noun_phrases=noun_phrases, synonyms=synonyms)
    analyse(question)
    language_of(question.title, is_question=True)
    recognise(question.title)
    list(question_words(question.title))
    names(question.title)
    asks_for_steps(question.title)


@cache
def _bot():
    from qa_bot import Bot

    return Bot.open(tempfile.mkdtemp(prefix="qa-bot-fuzzing-"), record=False)


def _conversation(data: bytes) -> None:
    """A whole answer, alone and as a turn after another."""
    from qa_bot.answering.answer_json import as_dict, dumps

    text = data.decode("utf-8", "replace")
    first, second = text[: len(text) // 2], text[len(text) // 2 :]
    name = f"{hash(data)}"
    for answer in (_bot().ask(first, body=second), _bot().ask(first, conversation=name), _bot().ask(second, conversation=name)):  # fmt: skip
        dumps(as_dict(answer))
        assert answer.answered or answer.reason


# --- the service ----------------------------------------------------------------------------------------------------


def _frame(data: bytes) -> None:
    from qa_bot.web.chat.frames import id_of, read
    from qa_bot.web.errors import ServiceError

    try:
        read(data)
    except ServiceError:
        id_of(data)


def _body(data: bytes) -> None:
    from qa_bot.web.api.json_bodies import read
    from qa_bot.web.api.models import AskRequest, ChooseRequest, FeedbackRequest, SearchRequest, SpeakRequest
    from qa_bot.web.errors import ServiceError
    from qa_bot.web.openai.models import ChatRequest

    async def whole() -> bytes:
        return data

    request: Any = SimpleNamespace(
        content_type="application/json", charset=None, read=whole, content=SimpleNamespace(exception=lambda: None)
    )
    for model in (AskRequest, SearchRequest, FeedbackRequest, ChooseRequest, SpeakRequest, ChatRequest):
        with suppress(ServiceError):
            parsed = asyncio.run(_awaited(read(request, model)))
            if isinstance(parsed, AskRequest | SearchRequest):
                parsed.scope()


async def _awaited(work):
    return await work


def _query_parameters(data: bytes) -> None:
    from urllib.parse import parse_qsl

    from qa_bot.web.api.json_bodies import read_query
    from qa_bot.web.api.models import GridQuery, PageQuery, TranscriptQuery
    from qa_bot.web.errors import ServiceError

    request: Any = SimpleNamespace(query=dict(parse_qsl(data.decode("utf-8", "replace"))))
    for model in (GridQuery, PageQuery, TranscriptQuery):
        with suppress(ServiceError):
            read_query(request, model)


def _form(data: bytes) -> None:
    from qa_bot.web.api.forms import fields

    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        with suppress(ValueError, LookupError):
            fields(data, kind)


def _headers(data: bytes) -> None:
    from multidict import CIMultiDict

    from qa_bot.home.sections import ServeSection
    from qa_bot.web.access.rules import Access
    from qa_bot.web.errors import ServiceError

    text = data.decode("latin-1").replace("\n", "").replace("\r", "").replace("\x00", "")
    access = Access(ServeSection(token="", hosts="a.example, b.example:81"))  # no token
    for name in ("Host", "Origin", "Sec-Fetch-Site"):
        headers = CIMultiDict({"Host": "localhost:8000", name: text})
        request: Any = SimpleNamespace(headers=headers, transport=None, remote="127.0.0.1", query={})
        with suppress(ServiceError):
            access.check_names(request)
    access.allows(text)


def _configuration(data: bytes) -> None:
    from qa_bot.home.config import ConfigError, load_config

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "qa-bot.toml").write_bytes(data)
        with suppress(ConfigError):
            load_config(Path(folder))


def _value(data: bytes) -> None:
    from qa_bot.home.config import ConfigError, load_config

    key, _, value = data.decode("utf-8", "replace").partition("=")
    with suppress(ConfigError):
        load_config(Path("nowhere"), flags={key: value})


def _scope(data: bytes) -> None:
    from qa_bot.answering.scope import Scope, ScopeError

    text = data.decode("utf-8", "replace")
    for fields in ({"since": text}, {"until": text}, {"under": [text]}, {"collection": [text]}, {"language": text}):
        with suppress(ScopeError):
            Scope.of(fields).filter()


# --- websites -------------------------------------------------------------------------------------------------------


def _web_page(data: bytes) -> None:
    from qa_bot.documents.websites.charsets import decode_page
    from qa_bot.documents.websites.page_links import page_tags
    from qa_bot.documents.websites.urls import parse_url

    for header in ("text/html", "text/html; charset=latin-1", f"text/html; charset={data[:20]!r}"):
        page_tags(decode_page(data, header), parse_url("https://a.example/"), robots_header=header)


def _feed(data: bytes) -> None:
    from qa_bot.documents.ingest.files.containers import DAMAGE
    from qa_bot.documents.websites.feeds import entries, is_feed
    from qa_bot.documents.websites.fetching.errors import FetchError
    from qa_bot.documents.websites.sitemaps import _addresses

    is_feed(data)
    for parse in (entries, _addresses):
        with suppress(FetchError, ValueError, *DAMAGE):  # ValueError: broken XML, which the crawler reports
            list(parse(data, "a"))


def _address(data: bytes) -> None:
    from qa_bot.documents.websites.urls import document_id, file_name, is_url, parse_url
    from qa_core.web_addresses import web_address

    text = data.decode("utf-8", "replace")
    is_url(text)
    web_address(text)
    for base in (None, parse_url("https://a.example/x/")):
        with suppress(ValueError):
            url = parse_url(text, base)
            document_id(url)
            file_name(url)


def _robots(data: bytes) -> None:
    from protego import Protego

    rules = Protego.parse(data.decode("utf-8", "replace"))
    rules.can_fetch("https://a.example/x", "qa-bot")
    rules.crawl_delay("qa-bot")


# --- the graph, archives, output ------------------------------------------------------------------------------------


def _triples(data: bytes) -> None:
    from kg_index.building.blocks import BrokenFileError
    from kg_index.building.rdf_parsing import read_triples

    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".nt", ".ttl"):
            path = Path(folder, f"a{suffix}")
            path.write_bytes(data)
            with suppress(BrokenFileError):
                for _ in read_triples(path):
                    pass


@cache
def _exports() -> tuple[bytes, ...]:
    """An exported home without the starter collection."""
    from qa_bot.transfer.exporting import export

    bot = _bot()
    path = bot.home.path.parent / f"{bot.home.path.name}.zip"
    export(bot.home, bot.config, path)
    return (path.read_bytes(),)


def _export(data: bytes) -> None:
    from qa_bot.transfer.archive import ArchiveError, opened

    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(data)
        file.flush()
        with suppress(ArchiveError, OSError), opened(Path(file.name), limits=LIMITS):
            pass


def _batch(data: bytes) -> None:
    from qa_bot.documents.question_lines import parsed_lines

    list(parsed_lines(data.splitlines(keepends=True)))


def _shown(data: bytes) -> None:
    from rich.console import Console

    from qa_bot.terminal.cleaned_console import cleaned
    from qa_bot.terminal.markdown_output import markdown
    from qa_core.text.markdown_text import plain_text

    text = data.decode("utf-8", "replace")
    plain_text(text)
    out = io.StringIO()
    cleaned(Console(file=out, width=80)).print(markdown(text))
    assert "\x1b" not in out.getvalue()
