"""Roles of Sphinx, in reStructuredText (":ref:`a`") and in MyST Markdown ("{ref}`a`"): what they show."""

from __future__ import annotations

import re

LITERAL_NAMES = (
    "attr class cls const data envvar exc file func kbd keyword meth mod obj option program samp type command dfn "
    "c cpp js py code"
)
"""Roles of names in code, also behind a domain (`py:func`)."""
LITERAL = frozenset(LITERAL_NAMES.split())
OF_TARGETS = {"ref", "numref", "doc"}
STANDARDS = {"pep", "rfc"}
TAGS = {"sub": "sub", "subscript": "sub", "sup": "sup", "superscript": "sup"}
SHORTENED = re.compile(r"~(?!/)")
"""Begins a dotted name of which only the last part is shown; "~/.config" is a folder."""
TARGET = re.compile(r"^(.*?)\s*<[^<>]*>$", re.DOTALL)
ROLE = re.compile(r"(``[^\n]+?``|`[^`\n]+`)|(?<![$\\])\{([A-Za-z][\w:.+-]{0,60})\}`([^`\n]+)`")
"""Or code, which may end with braces: "`/lids/{id}` or `/cups`"."""


def role_name(name: str) -> str:
    """The name of a role without its domain."""
    return name.rpartition(":")[2].lower()


def is_literal(name: str) -> bool:
    """Whether a role shows its text as code."""
    return role_name(name) in LITERAL


def text_of_role(text: str) -> tuple[str, bool]:
    """The text that a role shows, without its target, and whether it has a target besides."""
    match = TARGET.match(text)
    shown = (match[1] if match and match[1] else text).lstrip("!")
    if not match and SHORTENED.match(shown):
        shown = shown.rpartition(".")[2].lstrip("~")
    return shown, match is not None


def readable(target: str) -> str:
    """A readable name of a path or a label: `../use/add_play-games` → `add play games`, `use/index` → `use`."""
    parts = [part for part in target.removesuffix(".rst").removesuffix(".md").split("/") if part.strip("._-")]
    if len(parts) > 1 and parts[-1] == "index":
        parts.pop()
    return " ".join(re.split(r"[\s_-]+", parts[-1].strip("_- "))) if parts else target


def with_texts_of_roles(text: str) -> str:
    """Markdown with what its roles show in their places; other code is unchanged."""
    return ROLE.sub(_shown, text) if "}`" in text else text


def _shown(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    name = role_name(match[2])
    text, has_target = text_of_role(match[3])
    if is_literal(match[2]):
        return f"`{text}`"
    if name in STANDARDS:
        return f"{name.upper()} {text}"
    if name == "math":
        return f"${text}$"
    if tag := TAGS.get(name):
        return f"<{tag}>{text}</{tag}>"
    return readable(text.rpartition(":")[2] or text) if name in OF_TARGETS and not has_target else text
