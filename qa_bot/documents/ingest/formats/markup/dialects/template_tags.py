"""Template tags in Markdown, of Liquid, Jinja and Hugo: the text that they show, as far as they say so themselves."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from itertools import accumulate

from qa_bot.documents.ingest.formats.markup.dialects.containers import bold_title
from qa_bot.documents.ingest.formats.markup.dialects.fences import lines_of

COMMENT = re.compile(r"\{%-?\s*comment\b[^%]*%\}(?:(?!\{%-?\s*(?:end)?comment).)*\{%-?\s*endcomment\s*-?%\}", re.DOTALL)
RAW = re.compile(r"\{%-?\s*raw\s*-?%\}((?:(?!\{%-?\s*(?:end)?raw).)*)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
BRACE = "\ufdd1"  # in place of `{` in raw text: a noncharacter, which never occurs in text
OPEN, CLOSE = r"\{(?:%-?|\{[<%])\s*", r"\s*(?:[>%]\}|-?%)\}"
HIGHLIGHT = re.compile(
    rf"{OPEN}highlight\b[ \t]*([\w+#-]*)[^{{}}\n]*?{CLOSE}((?:(?!{OPEN}/?\s*(?:end)?highlight).)*)"
    rf"{OPEN}(?:end|/\s*)highlight{CLOSE}",
    re.DOTALL,
)
ITEM = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?")
TAG = re.compile(r"(?<!\{)\{%((?:(?!\{%|%\}).)*)%\}", re.DOTALL)
TAG_END = re.compile(r"(?:^|[%}]\})\s*$")
VARIABLE = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*)\}\}", re.DOTALL)
TAG_COMMENT = re.compile(r"\{#(?:(?!\{#|#\}).)*#\}", re.DOTALL)
QUOTED = re.compile(r"(?:(?<![\w-])([\w-]++)\s*+=\s*+)?(?:\"([^\"]*)\"|'([^']*)')")
URL_BEFORE = re.compile(r"(?:\]\(\s*<?|=\s*[\"']?)[^\s()\"'<>]*$")
TEXT_KEYS = {"alt", "title", "caption", "label", "text", "heading", "summary", "header"}
CONTENT_KEY = "content"
PICTURE = re.compile(r"(?:image|img|figure|picture|photo)")
SILENT = re.compile(
    r"include|page|link|post|download|asset|url|ref|set|if|elsif|elif|unless|for|assign|capture|layout|extends|block|"
    r"import|from|tabs|tabpane|else|when|case|end|raw|comment|increment|cycle|render|usa|uswds|icon|feed|css|js|highlight"
)
LONGEST_BODY = 5000  # characters between a tag and its end
LONGEST_LINE = 500  # characters that are looked at before and after a tag


def hidden(source: str) -> str:
    """The source without comments, and with raw text and highlighted code as code, in which `filled` finds no tags."""
    source = COMMENT.sub("", source)
    return with_fences(RAW.sub(lambda match: str(match[1]).replace("{", BRACE), source))


def shown(text: str) -> str:
    """The text with its raw parts again as they were."""
    return text.replace(BRACE, "{")


def with_fences(source: str) -> str:
    """The source with the code between tags named `highlight` between fences."""
    if "highlight" not in source:
        return source
    is_code = [is_code for is_code, _ in lines_of(source)]
    starts = list(accumulate((len(line) + 1 for line in source.split("\n")), initial=0))
    return HIGHLIGHT.sub(
        lambda match: match[0] if is_code[bisect_right(starts, match.start()) - 1] else _fenced(match), source
    )


def _fenced(match: re.Match[str]) -> str:
    """Code between fences, as far indented as its tag, or as the text of the item that begins with its tag."""
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    is_first = ITEM.fullmatch(before) is not None
    code = match[2].strip("\n").rstrip()
    if is_first and ">" not in before:
        code = textwrap.indent(textwrap.dedent(code), " " * len(before))
    indent = re.sub(r"[^\s>]", " ", before) if is_first else ""
    fence = max([*re.findall(r"`{3,}", code), "``"], key=len) + "`"
    return f"{'' if is_first else chr(10)}{fence}{match[1]}\n{code}\n{indent}{fence}\n"


def filled(text: str) -> str:
    """Prose with the texts of its tags in their places."""
    return VARIABLE.sub(_variable_text, TAG.sub(_tag_text, TAG_COMMENT.sub("", text)))


def _tag_text(match: re.Match[str]) -> str:
    return _template_text(match[1].strip(" -\n\t"), match)


def _variable_text(match: re.Match[str]) -> str:
    inner = match[1].strip()
    is_shortcode = inner[:1] in {"<", "%"}
    return _template_text(inner.strip("<>% \n\t/"), match) if is_shortcode else ""


def _template_text(body: str, match: re.Match[str]) -> str:
    """The text that a tag shows, as far as it says so itself; inside an address, the address."""
    texts = [(key, double or single) for key, double, single in QUOTED.findall(body)]
    if URL_BEFORE.search(match.string[max(0, match.start() - 200) : match.start()]):
        return next((text for _, text in texts if "://" in text), "#")
    name = re.match(r"[\w-]*", body)
    if content := next((text for key, text in texts if key == CONTENT_KEY and not _is_path(text)), ""):
        title = next((text for key, text in texts if key == "title" and text), "")
        return f"{bold_title(title)} {content}" if title else str(content)
    if name and PICTURE.match(name[0]) and (caption := next((text for key, text in texts if key == "caption"), "")):
        title = next((text for key, text in texts if key == "title"), "")
        return f"{bold_title(title)} {caption}" if title else str(caption)
    if keyed := [text for key, text in texts if key in TEXT_KEYS and text]:
        return _label(str(keyed[0]), name[0] if name else "", match)
    words = [text for key, text in texts if not key and text and not _is_path(text)]
    if name and PICTURE.match(name[0]):
        return str(words[-1]) if len(texts) > 1 and words else ""
    return _label(words[0], name[0], match) if words and name and not SILENT.match(name[0]) else ""


def _label(text: str, name: str, match: re.Match[str]) -> str:
    """The text of a tag; in bold type in front of the body that the tag begins outside of prose."""
    end = re.compile(rf"\{{[{{%]\s*[<%-]?\s*(?:/\s*|end){re.escape(name)}\b")
    if not name or not end.search(match.string, match.end(), match.end() + LONGEST_BODY):
        return text
    before = match.string[max(0, match.start() - LONGEST_LINE) : match.start()].rpartition("\n")[2]
    if not TAG_END.search(before):
        return f"{text} "
    label = f"**{text}{'' if text[-1] in '.!?:' else ':'}** "
    is_alone = not match.string[match.end() : match.end() + LONGEST_LINE].partition("\n")[0].strip()
    return f"\n{label}" if is_alone and not before.strip() else f"\n\n{label}"


def _is_path(text: str) -> bool:
    return " " not in text and re.search(r"/|\.\w{2,5}$", text) is not None
