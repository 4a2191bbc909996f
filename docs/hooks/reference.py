"""Writes the reference pages from the code: command line, configuration, HTTP."""

from __future__ import annotations

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
    for path, command in _commands("qa-bot", typer.main.get_command(app)):
        lines += ["", f"## {path}", "", (command.help or "").strip(), ""]
        rows = [row for parameter in command.params if (row := _parameter(parameter))]
        if rows:
            lines += ["| argument or option | meaning |", "| --- | --- |", *rows]
    return "\n".join(lines) + "\n"


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        yield from _commands(f"{path} {name}", command.get_command(context, name))


def _parameter(parameter: Any) -> str:
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return ""
    is_option = parameter.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in parameter.opts) if is_option else f"`{parameter.name.upper()}`"
    return f"| {names} | {_cell(getattr(parameter, 'help', '') or '')} |"


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

    schema = document(secured=True)
    models = schema["components"]["schemas"]
    lines = ["# HTTP", "", "Generated from `GET /openapi.json`."]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            lines += ["", f"## {method.upper()} {path}", "", operation.get("summary", ""), ""]
            if text := operation.get("description", ""):
                lines += [text, ""]
            body = next(iter(operation.get("requestBody", {}).get("content", {}).values()), {}).get("schema", {})
            properties = _resolved(body, models).get("properties", {})
            if properties:
                lines += ["| field | meaning |", "| --- | --- |"]
                lines += [f"| `{name}` | {_cell(field.get('description', ''))} |" for name, field in properties.items()]
    return "\n".join(lines) + "\n"


def _resolved(schema: dict[str, Any], models: dict[str, Any]) -> dict[str, Any]:
    return models[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
