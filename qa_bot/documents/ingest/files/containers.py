"""Reads files inside gz, bz2, zip and 7z archives as streams; member names are never used as paths."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from qa_bot.documents.ingest.files.byte_budget import ByteBudget, CountingStream, LayerBudget
from qa_bot.documents.ingest.files.export_names import clean_names, is_slack
from qa_bot.documents.ingest.files.signatures import signature
from qa_bot.documents.ingest.files.source_file import HEAD, SourceFile, random_access
from qa_bot.documents.ingest.records import Limits, Reject

DEEPEST = 2  # an archive inside an archive
MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"7z\xbc\xaf\x27\x1c": "7z"}

ENCRYPTED = 1
"""The flag of encrypted members of zip archives."""

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""Errors of the standard library for damaged compressed data."""

UNOPENED = (*DAMAGE, NotImplementedError, RuntimeError, ValueError)
"""Errors while it opens an archive or member: also encryption, unknown methods, wrong offsets."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A stream, its name, and the number of bytes on disk that it comes from."""

    name: str
    where: str
    raw: CountingStream
    packed: int
    is_named: bool = True  # given by the user, so its members need no prefix
    depth: int = 0
    prefix: str = ""  # of members, if is_named


def source_files(layer: Layer, limits: Limits) -> Iterator[SourceFile | Reject]:
    """The readable files of a layer; read each one before advancing to the next."""
    head = layer.raw.head(HEAD)
    kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
    if kind is None or signature(layer.name, head):
        yield SourceFile(layer.name, layer.where, layer.raw, limits, depth=layer.depth)
    elif layer.depth >= DEEPEST:
        yield Reject(layer.where, "Expected an archive nested at most once, but got one nested deeper; unpack it.")
    else:
        yield from OPENERS[kind](layer, limits)


def _gz(layer: Layer, limits: Limits) -> Iterator[SourceFile | Reject]:
    with gzip.GzipFile(fileobj=io.BufferedReader(layer.raw)) as file:
        yield from source_files(_unpacked(layer, ".gz", file), limits)


def _bz2(layer: Layer, limits: Limits) -> Iterator[SourceFile | Reject]:
    with bz2.BZ2File(io.BufferedReader(layer.raw)) as file:
        yield from source_files(_unpacked(layer, ".bz2", file), limits)


def _unpacked(layer: Layer, suffix: str, file: gzip.GzipFile | bz2.BZ2File) -> Layer:
    raw = CountingStream(file, LayerBudget(layer.raw.budget.total, packed=layer.packed))
    return replace(layer, name=layer.name.removesuffix(suffix), raw=raw, depth=layer.depth + 1)


def _zip(layer: Layer, limits: Limits) -> Iterator[SourceFile | Reject]:
    with random_access(layer.raw) as file:
        try:
            archive = zipfile.ZipFile(file)
        except UNOPENED as error:
            yield Reject(layer.where, f"Expected a readable zip archive, but got {error}; fetch it again.")
            return
        names = archive.namelist()
        if is_slack(names):
            spool = CountingStream(file, LayerBudget(ByteBudget(limits)))  # its bytes were counted
            raw = layer.raw if isinstance(layer.raw.source, io.FileIO) else spool
            file.seek(0)
            yield SourceFile(layer.name, layer.where, raw, limits, depth=layer.depth, format="slack-archive")
            return
        whole = LayerBudget(layer.raw.budget.total, packed=layer.packed)
        inside = clean_names(names)
        for info in archive.infolist():
            if not info.is_dir() and not _is_hidden(info.filename) and info.filename in inside:
                yield from _zip_member(archive, info, layer, whole, limits, inside[info.filename])


def _zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, layer: Layer, whole: LayerBudget, limits: Limits, name: str
) -> Iterator[SourceFile | Reject]:
    packed = min(info.compress_size, layer.packed)
    if info.flag_bits & ENCRYPTED:
        yield Reject(
            f"{layer.where}!{info.filename}", "Expected a readable member, but got one with a password; unpack it."
        )
        return
    try:
        member = archive.open(info)
    except UNOPENED as error:
        yield Reject(f"{layer.where}!{info.filename}", f"Expected a readable member, but got {error}; pack it anew.")
        return
    with member:
        raw = CountingStream(member, LayerBudget(whole.total, packed=packed, archive=whole))
        yield from source_files(_member(layer, name, raw, packed), limits)


def _seven_zip(layer: Layer, limits: Limits) -> Iterator[SourceFile | Reject]:
    from qa_bot.documents.ingest.files import seven_zip

    budget = LayerBudget(layer.raw.budget.total, packed=layer.packed)
    with random_access(layer.raw) as archive:
        try:
            name, file = seven_zip.member(archive, "Posts.xml", budget)
        except seven_zip.SevenZipError as error:
            yield Reject(layer.where, str(error))
            return
    with file:
        # a separate budget: the bytes were counted while they were unpacked
        raw = CountingStream(file, LayerBudget(ByteBudget(limits)))
        yield from source_files(_member(layer, name, raw, layer.packed), limits)


def _member(layer: Layer, name: str, raw: CountingStream, packed: int) -> Layer:
    inside = f"{layer.prefix}{name}" if layer.is_named else f"{layer.name}!{name}"
    return Layer(inside, f"{layer.where}!{name}", raw, packed, is_named=False, depth=layer.depth + 1)


def _is_hidden(name: str) -> bool:
    return any(part == "__MACOSX" or part.strip(".") != part.rstrip(".") for part in name.split("/"))


OPENERS: Mapping[str, Callable[[Layer, Limits], Iterator[SourceFile | Reject]]] = {
    "gz": _gz,
    "bz2": _bz2,
    "zip": _zip,
    "7z": _seven_zip,
}
