"""Writes the reference pages from the code: command line, configuration, HTTP."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs: adds the generated pages."""
    for name, page in (("commands", commands()), ("configuration", configuration()), ("http", http())):
        files.append(File.generated(config, f"reference/{name}.md", content=page))
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
            body = next(iter(operation.get("requestBody", {}).get("content", {}).values()), {}).get("schema", {})
            properties = dict(_resolved(body, models).get("properties", {}))
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
