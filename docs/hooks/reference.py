"""Writes the reference pages from the code: command line, configuration, training, HTTP."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

NEED_BASE = ("annotate", "cross-encoder", "persona")
"""Models that have no settings without --base."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs: adds the generated pages."""
    pages = {"commands": commands, "configuration": configuration, "training": training, "http": http}
    for name, page in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=page()))
    return files


def commands() -> str:
    """Every command with its help text, arguments and options."""
    from qa_bot.cli.app import app

    lines = ["# Command line", "", "`qa-bot [--home DIR] COMMAND`. Every command has `--help`."]
    root = typer.main.get_command(app)
    for command, context in _commands(root, typer.Context(root, info_name="qa-bot")):
        lines += ["", f"## {context.command_path}", "", inspect.cleandoc(command.help or ""), ""]
        rows = [row for parameter in command.params if (row := _parameter(parameter, context))]
        if rows:
            lines += ["| argument or option | meaning |", "| --- | --- |", *rows]
    return "\n".join(lines) + "\n"


def _commands(command: Any, context: typer.Context) -> Iterator[tuple[Any, typer.Context]]:
    """Every command under `command` with its context; a group too, if it does something without a further command."""
    names = command.list_commands(context) if hasattr(command, "list_commands") else ()
    if not names or command.invoke_without_command:
        yield command, context
    for name in names:
        below = command.get_command(context, name)
        yield from _commands(below, typer.Context(below, info_name=name, parent=context))


def _parameter(parameter: Any, context: typer.Context) -> str:
    """A row with the name, the meaning, the possible values and the default of an argument or option."""
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return ""
    is_option = parameter.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in parameter.opts) if is_option else f"`{parameter.name.upper()}`"
    meaning = [getattr(parameter, "help", "") or ""]
    choices = parameter.display_type(context).strip("<>").removeprefix("list[").removesuffix("]").split("|")
    if len(choices) > 1:
        meaning.append(f"One of {', '.join(f'`{choice}`' for choice in choices)}.")
    if isinstance(parameter.show_default, str):
        meaning.append(f"Default: {parameter.show_default.strip('()')}.")
    elif parameter.show_default and parameter.default:
        meaning.append(f"Default: `{getattr(parameter.default, 'value', parameter.default)}`.")
    return f"| {names} | {_cell(' '.join(meaning))} |"


def configuration() -> str:
    """Every key with its default and its meaning."""
    from qa_bot.home.config import Config

    lines = ["# Configuration", "", "Keys of `qa-bot.toml` in the home folder.", ""]
    for section in fields(Config):
        if section.name == "origins" or section.default_factory is MISSING:
            continue
        lines += [f"## {section.name}", "", "| key | default | meaning |", "| --- | --- | --- |"]
        for key in fields(section.default_factory()):
            default = repr(key.default) if key.default is not MISSING else ""
            lines.append(f"| `{section.name}.{key.name}` | `{_cell(default)}` | {_cell(key.metadata['description'])} |")
        lines.append("")
    return "\n".join(lines)


def training() -> str:
    """Every key of `--config` of every model that `train` knows; what a key means is the comment beside its field."""
    from qa_lab.train.registry import MODELS, verb
    from qa_lab.train.request import Request

    lines = ["# Training settings", "", "Keys of the TOML file that `qa-bot train MODEL --config FILE` reads."]
    for model in MODELS:
        base = Path("base") if model in NEED_BASE else None
        settings = verb(model).settings(Request((), Path("out"), base))
        lines += ["", f"## {model}"]
        for table, values in _tables(settings):
            meanings, kinds = _meanings(type(values)), get_type_hints(type(values))
            rows = []
            for key in fields(values):
                if is_dataclass(value := getattr(values, key.name)):
                    continue
                choices = get_args(kinds[key.name]) if get_origin(kinds[key.name]) is Literal else ()
                one_of = f"One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""
                meaning = " ".join(part for part in (_sentence(meanings.get(key.name, "")), one_of) if part)
                rows.append(f"| `{key.name}` | `{_cell(_toml(value))}` | {_cell(meaning)} |")
            if rows:
                lines += ["", *([f"Table `[{table}]`:", ""] if table else [])]
                lines += ["| key | default | meaning |", "| --- | --- | --- |", *rows]
    return "\n".join(lines) + "\n"


def _tables(settings: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The settings, then each table in them, with its name."""
    yield name, settings
    for key in fields(settings):
        if is_dataclass(value := getattr(settings, key.name)):
            yield from _tables(value, f"{name}.{key.name}".removeprefix("."))


def _meanings(kind: type) -> Mapping[str, str]:
    """The comment at the end of each field of a class, or the one above it.

    A comment that ends with a semicolon goes on in the lines below.
    """
    meanings: dict[str, str] = {}
    for base in (base for base in reversed(kind.__mro__) if is_dataclass(base)):
        source = inspect.cleandoc("\n" + inspect.getsource(base))
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        comments = {
            token.start[0]: token.string.lstrip("# ")
            for token in tokens
            if token.type == tokenize.COMMENT and not token.string.startswith(("# fmt:", "# noqa", "# type:"))
        }
        (definition,) = ast.parse(source).body
        assert isinstance(definition, ast.ClassDef)
        for node in definition.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                last = node.end_lineno or node.lineno
                beside = [comments.pop(line) for line in range(node.lineno, last + 1) if line in comments]
                while beside and beside[-1].endswith(";") and last + 1 in comments:
                    last += 1
                    beside.append(comments.pop(last))
                above = [comments.pop(line) for line in sorted(comments) if line < node.lineno]
                meanings[node.target.id] = " ".join(beside or above)
    return meanings


def _sentence(text: str) -> str:
    """A comment as a sentence; a symbol at its beginning ("m_a") stays."""
    first = re.match(r"[a-z]{2,}(?![\w(])|a ", text)
    text = text[0].upper() + text[1:] if first else text
    return f"{text.rstrip('.')}." if text else ""


def _toml(value: object) -> str:
    """A value as it is written in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def http() -> str:
    """Every route of the OpenAPI document with its parameters and fields."""
    from qa_bot.web.openapi import document

    schema = document(secured=True, personas=("captain", "gardener"))
    models = schema["components"]["schemas"]
    lines = ["# HTTP", "", "Generated from `GET /openapi.json`."]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            lines += ["", f"## {method.upper()} {path}", "", operation.get("summary", "")]
            if text := operation.get("description", ""):
                lines += ["", text]
            properties = {}
            for content in operation.get("requestBody", {}).get("content", {}).values():  # JSON, or a form as well
                properties = {**_resolved(content["schema"], models).get("properties", {}), **properties}
            for parameter in operation.get("parameters", []):
                properties[parameter["name"]] = {"description": parameter.get("description", ""), **parameter["schema"]}
            if properties:
                lines += ["", "| field | type | meaning |", "| --- | --- | --- |"]
                lines += [
                    f"| `{name}` | {_cell(_type(field, models))} | {_cell(_meaning(field))} |"
                    for name, field in properties.items()
                ]
    return "\n".join(lines) + "\n"


def _type(field: dict[str, Any], models: dict[str, Any]) -> str:
    """The type of a field in words: its possible values, or the name of its JSON type."""
    field = _resolved(field, models)
    if "anyOf" in field:
        return " or ".join(_type(kind, models) for kind in field["anyOf"])
    values = field.get("enum", [field["const"]] if "const" in field else [])
    if values := [value for value in values if value]:
        return ", ".join(f"`{value}`" for value in values)
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}), models)}"
    return str(field.get("type", "any"))


def _meaning(field: dict[str, Any]) -> str:
    """The description of a field; that of an optional one may stand within `anyOf`."""
    kinds = [field, *field.get("anyOf", [])]
    return " ".join(dict.fromkeys(kind["description"] for kind in kinds if "description" in kind))


def _resolved(schema: dict[str, Any], models: dict[str, Any]) -> dict[str, Any]:
    return models[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
