"""Configuration in layers: defaults < `HOME/qa-bot.toml` < environment `QA_BOT_SECTION__KEY` < flags.

A key is one line of a section below. The sections are dataclasses and not pydantic models because this file lies on
the path of `qa-bot ask`, where importing pydantic alone would cost more than everything done here.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from qa_core.atomic import atomic_file

CONFIG_FILE = "qa-bot.toml"
PREFIX = "QA_BOT_"
NOT_KEYS = frozenset({"QA_BOT_HOME", "QA_BOT_DATA"})
ALIASES = {"QA_BOT_TOKEN": "serve.token"}
SECRETS = frozenset({"serve.token"})
PRIVATE = SECRETS | {"store.url"}
"""Keys that no file for other homes holds: the address of a database may hold a password."""
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_PASSWORD = re.compile(r"(?<=:)[^:/@]+(?=@)")


class ConfigError(ValueError):
    """A configuration that cannot be used; the message says which key, where it stands and what to do."""


def key(default: Any, description: str, *, least: float = -math.inf, most: float = math.inf) -> Any:
    """One configuration key; numbers outside `[least, most]` are refused."""
    return field(default=default, metadata={"description": description, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class StoreSection:
    url: str = key("", "database: a PostgreSQL or SQLite URL; empty means store.sqlite in the home")


@dataclass(frozen=True, slots=True)
class DenseSection:
    encoder: str = key("starter", "`starter`, a folder in sentence-transformers layout, or a hub id")
    int8: bool = key(False, "run the encoder in 8-bit integers: faster, its ranking differs a little")
    index: Literal["auto", "exact", "sketch", "hnsw", "ivf"] = key(
        "auto", "how vectors added from now on are searched; auto goes by their number, `repair` rebuilds all"
    )


@dataclass(frozen=True, slots=True)
class FusionSection:
    method: Literal["rule", "mean", "rrf"] = key("mean", "how keyword and dense lists become one")


@dataclass(frozen=True, slots=True)
class AnswerSection:
    limit: int = key(1000, "longest answer, in characters", least=1)
    deadline: float = key(10.0, "seconds until the best answer so far goes out", least=0.01)
    precision: float = key(0.65, "wanted share of right answers among those given", least=0, most=1)


@dataclass(frozen=True, slots=True)
class PassagesSection:
    characters: int = key(1000, "longest passage, in characters", least=100)
    overlap: int = key(1, "sentences that neighbouring passages share", least=0)


@dataclass(frozen=True, slots=True)
class RetrievalSection:
    depth: int = key(100, "documents that each ranked list brings", least=1)
    feedback: int = key(0, "documents whose words widen the keyword query (RM3); 0 is off", least=0, most=100)


@dataclass(frozen=True, slots=True)
class RankingSection:
    depth: int = key(30, "fused documents that clue and passage scores put in order", least=1)
    formula: Literal["evidence", "clue"] = key("evidence", "what a passage score multiplies: all evidence, or the clue")
    passage_weight: float = key(0.1, "w_p of the combination formula", least=0)
    models: str = key(
        "",
        "trained rankers, cheapest first, with commas between; FOLDER:N looks at the first N documents only, "
        "FOLDER@title at their titles, FOLDER@both at title and passage",
    )
    model_weight: float = key(1.0, "w_p of each trained ranker", least=0)
    fusion: str = key("", "folder of a learned fusion, which has the last word over all scores; empty: the formulas")
    challenger: str = key("", "folder of a learned fusion that is tried: people vote on drafts from both rankings")
    challenge: float = key(0.1, "share of the questions that the challenger takes part in", least=0, most=1)


@dataclass(frozen=True, slots=True)
class FactsSection:
    enabled: bool = key(True, "answer from the knowledge graph, too, where there is one")
    precision: float = key(
        0.85, "wanted share of right facts among those given, where answer.precision wants no more", least=0, most=1
    )
    templates: str = key("", "folder of mined templates (`kg mine`), whose relations are then known")
    relations: str = key("", "folder of a trained scorer of relations (`train relations`)")


@dataclass(frozen=True, slots=True)
class StyleSection:
    base: str = key("starter", "chat model that the personas of the home stand on: `starter`, or a folder")
    method: Literal["hybrid", "rank", "multiply", "finetune"] = key(
        "hybrid", "how a persona speaks: quotes itself (rank), draws words (multiply, finetune), or the best of both"
    )
    hints: Literal["answer", "sources"] = key(
        "answer", "where nobody gives a hint: the answer, or the ten documents found, each for some of the sentences"
    )
    lead: float = key(5.0, "what a quotation has over a drawn sentence in the hybrid; less lets it draw more often")
    candidates: int = key(64, "sentences that are drawn, of which the best are told", least=1, most=1000)
    length: int = key(20, "words of a drawn sentence at most", least=2, most=100)
    temperature: float = key(0.7, "below 1 more careful, above 1 more daring", least=0.05, most=5)
    top_k: int = key(50, "draw only from so many of the likeliest words; 0 is off", least=0)
    top_p: float = key(1.0, "draw only from the likeliest words of this probability together", least=0.01, most=1)
    warm: bool = key(False, "open the voices when a service starts, 380 MB; else when one is first asked, in 3 s")
    clean: bool = key(True, "leave out drawn sentences with coarse words, which dialogues from the web have taught")
    agreement: float = key(2.0, "weight of how well a sentence's topics agree with those of the hint", least=0)
    word_bonus: float = key(0.69, "what a longer sentence gets for each word when candidates are ranked")


@dataclass(frozen=True, slots=True)
class ConversationsSection:
    keep: float = key(0.0, "days after its last question that a conversation is kept; 0 is for ever", least=0)


@dataclass(frozen=True, slots=True)
class ServeSection:
    host: str = key("127.0.0.1", "address to listen on; any other than loopback needs a token")
    port: int = key(8080, "port to listen on; 0 takes a free one", least=0, most=65535)
    token: str = key("", "secret that clients must send; empty: the file `token` in the home, or none")
    liveqa_port: int = key(0, "port of its own for LiveQA; 0 is off", least=0, most=65535)
    liveqa_deadline: float = key(50.0, "seconds until a LiveQA client is answered", least=0.01)
    hosts: str = key("", "further names, comma separated, by which clients may address the service")
    workers: int = key(2, "questions answered at once", least=1, most=64)
    queue: int = key(64, "questions that may wait; further ones are told to come back", least=0, most=10_000)
    rate: int = key(0, "requests a minute for each client, by key or address; 0 is no limit", least=0)
    log_questions: bool = key(False, "write the text of questions to the log")


@dataclass(frozen=True, slots=True)
class Config:
    """All sections, and under `origins` where each key that is not a default came from."""

    store: StoreSection = field(default_factory=StoreSection)
    dense: DenseSection = field(default_factory=DenseSection)
    fusion: FusionSection = field(default_factory=FusionSection)
    answer: AnswerSection = field(default_factory=AnswerSection)
    passages: PassagesSection = field(default_factory=PassagesSection)
    retrieval: RetrievalSection = field(default_factory=RetrievalSection)
    ranking: RankingSection = field(default_factory=RankingSection)
    facts: FactsSection = field(default_factory=FactsSection)
    style: StyleSection = field(default_factory=StyleSection)
    conversations: ConversationsSection = field(default_factory=ConversationsSection)
    serve: ServeSection = field(default_factory=ServeSection)
    origins: Mapping[str, str] = field(default_factory=dict)


class Setting(NamedTuple):
    """One line of `qa-bot config`; secrets in `value` are masked."""

    key: str
    value: str
    origin: str
    description: str


class _Given(NamedTuple):
    """A value as one layer gave it: `text` tells that it still has to be read as the key's type."""

    key: str
    value: object
    origin: str
    text: bool


@dataclass(frozen=True, slots=True)
class _Key:
    """What is known of a key: its type, bounds and description."""

    name: str
    kind: Any
    default: object
    description: str
    least: float
    most: float


def load_config(
    home: Path, *, environment: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None
) -> Config:
    """The configuration of a home; a flag (by `section.key`) whose value is None counts as not given.

    Raises ConfigError for an unknown key, a value of the wrong type or out of bounds, and an unreadable file.
    """
    layers = [
        *_from_file(home / CONFIG_FILE),
        *_from_environment(os.environ if environment is None else environment),
        *(
            _Given(name, value, "flag", isinstance(value, str))
            for name, value in (flags or {}).items()
            if value is not None
        ),
    ]
    return _compose({given.key: given for given in layers})


def read_settings(file: Path) -> dict[str, object]:
    """The keys of a file like a home's, checked, to stand above another configuration as flags; raises ConfigError."""
    return {given.key: _checked(given) for given in _from_file(file)}


def shareable(home: Path) -> str:
    """What the home's file says, as TOML without comments and without what must stay here: secrets and the database.

    Raises ConfigError.
    """
    import tomlkit  # only `export` needs it

    document = tomlkit.document()
    for name, value in read_settings(home / CONFIG_FILE).items():
        section, _, short = name.partition(".")
        if name not in PRIVATE:
            document.setdefault(section, tomlkit.table())[short] = value
    return tomlkit.dumps(document)


def explain(config: Config) -> list[Setting]:
    """Every key with its value, where the value came from and what the key means, in the order of the sections."""
    return [
        Setting(name, _shown(name, _value(config, name)), config.origins.get(name, "default"), known.description)
        for name, known in known_keys().items()
    ]


def set_value(home: Path, name: str, text: str) -> None:
    """Write one key to the home's file: checked first, comments kept, the old or the new file after a crash."""
    import tomlkit  # only `config set` needs it

    file = (home / CONFIG_FILE).resolve()
    value = _checked(_Given(name, text, "command line", text=True))
    list(_from_file(file))
    document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    section, _, short = name.partition(".")
    if section not in document:
        document[section] = tomlkit.table()
    document[section][short] = value
    with atomic_file(file, private=True) as out:  # nobody else may read it: a token may stand in it
        out.write(tomlkit.dumps(document).encode())


@cache
def known_keys() -> dict[str, _Key]:
    """All keys by `section.key`."""
    return {known.name: known for section, owner in _sections().items() for known in _keys_of(section, owner)}


def _sections() -> dict[str, type[Any]]:
    return {name: owner for name, owner in get_type_hints(Config).items() if name != "origins"}


def _keys_of(section: str, owner: type[Any]) -> Iterator[_Key]:
    hints = get_type_hints(owner)
    for each in fields(owner):
        yield _Key(f"{section}.{each.name}", hints[each.name], each.default, **each.metadata)


def _compose(given: Mapping[str, _Given]) -> Config:
    values: dict[str, dict[str, object]] = {}
    for one in given.values():
        section, _, short = one.key.partition(".")
        values.setdefault(section, {})[short] = _checked(one)
    built = {section: owner(**values.get(section, {})) for section, owner in _sections().items()}
    return Config(**built, origins={name: one.origin for name, one in given.items()})


def _value(config: Config, name: str) -> object:
    section, _, short = name.partition(".")
    return getattr(getattr(config, section), short)


def _shown(name: str, value: object) -> str:
    if name in SECRETS:
        return "********" if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return _PASSWORD.sub("********", str(value)) if "://" in str(value) else str(value)


# --- layers ---------------------------------------------------------------------------------------------------------


def _from_file(file: Path) -> Iterator[_Given]:
    text = _read(file)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"Expected TOML in {file}, but got: {error}; mend the line or remove the file.") from None
    for section, table in document.items():
        if not isinstance(table, dict):
            raise ConfigError(
                f"Expected [section] with keys under it in {_at(file, text, section)}, but got the bare key "
                f"{section!r}; {_nearest(section)}."
            )
        for short, value in table.items():
            yield _Given(f"{section}.{short}", value, _at(file, text, short, section), text=False)
        _check_section(section, _at(file, text, section, section))


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"Expected UTF-8 in {file}, but got byte {error.object[error.start]:#x}; save it so."
        ) from None
    except OSError as error:
        raise ConfigError(f"Expected to read {file}, but got: {error.strerror}; mend its rights.") from None


def _at(file: Path, text: str, short: str, section: str = "") -> str:
    """`FILE:LINE` of a key (or of a section's header, where the two are the same), as well as a scan can tell."""
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*[\"']?([\w-]+)", line)
        inside = header[1] if header else inside
        is_key = inside == section and re.match(rf"\s*[\"']?{re.escape(short)}[\"']?\s*=", line)
        if is_key or (header and inside == short == section):
            return f"{file}:{number}"
    return str(file)


def _from_environment(environment: Mapping[str, str]) -> Iterator[_Given]:
    for variable, text in environment.items():
        if variable in ALIASES:
            yield _Given(ALIASES[variable], text, variable, text=True)
    for variable, text in environment.items():
        if variable.startswith(PREFIX) and variable not in NOT_KEYS and variable not in ALIASES:
            name = variable.removeprefix(PREFIX).lower().replace("__", ".", 1)
            yield _Given(name, text, variable, text=True)


# --- checks ---------------------------------------------------------------------------------------------------------


def _check_section(section: str, where: str) -> None:
    """An unknown section without keys is as wrong as one with them."""
    if not any(name.startswith(f"{section}.") for name in known_keys()):
        raise ConfigError(f"Expected a known section, but got [{section}] in {where}; {_nearest(section)}.")


def _checked(given: _Given) -> object:
    known = known_keys().get(given.key)
    if known is None:
        raise ConfigError(f"Expected a known key, but got {given.key!r} from {given.origin}; {_nearest(given.key)}.")
    value = _parsed(known, given.value) if given.text else given.value
    if isinstance(value, int) and not isinstance(value, bool) and known.kind is float:
        value = float(value)
    if not _fits(known, value):
        shown = _shown(given.key, given.value)
        raise ConfigError(f"Expected {_wanted(known)} for {given.key}, but got {shown!r} from {given.origin}.")
    return value


def _parsed(known: _Key, value: object) -> object:
    """A text read as the key's type; what cannot be read comes back as it is and is refused by `_fits`."""
    text = str(value).strip()
    if known.kind is bool:
        return text.lower() in _TRUE if text.lower() in _TRUE | _FALSE else value
    if known.kind in (int, float):
        try:
            return known.kind(text)
        except ValueError:
            return value
    return value if known.kind is str else text


def _fits(known: _Key, value: object) -> bool:
    if get_origin(known.kind) is Literal:
        return value in get_args(known.kind)
    if type(value) is not known.kind:
        return False
    return not isinstance(value, (int, float)) or (known.least <= value <= known.most and math.isfinite(value))


def _wanted(known: _Key) -> str:
    if get_origin(known.kind) is Literal:
        return "one of " + ", ".join(get_args(known.kind))
    noun = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}[known.kind]
    if math.isfinite(known.least) and math.isfinite(known.most):
        return f"{noun} from {known.least:g} to {known.most:g}"
    return f"{noun} of at least {known.least:g}" if math.isfinite(known.least) else noun


def _nearest(name: str) -> str:
    names = list(known_keys()) + sorted({known.partition(".")[0] for known in known_keys()})
    found = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    found = found or [known for known in known_keys() if known.endswith(f".{name.rpartition('.')[2].lower()}")][:1]
    return f"the nearest is {found[0]}" if found else "`qa-bot config` lists all keys"
