"""Configuration: layers of settings, refusals, secrets, and changes to the file."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.config import (
    CONFIG_FILE,
    Config,
    ConfigError,
    explain,
    known_keys,
    load_config,
    set_value,
    shareable,
    token_hash,
    with_absolute_folders,
)
from qa_bot.home.sections import THESIS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def write(home: Path, text: str) -> Path:
    file = home / CONFIG_FILE
    file.write_text(text, encoding="utf-8")
    return file


def load(home: Path, environment: dict[str, str] | None = None, **flags: object) -> Config:
    return load_config(home, environment=environment or {}, flags={k.replace("__", "."): v for k, v in flags.items()})


def refused(match: str, home: Path, environment: dict[str, str] | None = None, **flags: object) -> str:
    with pytest.raises(ConfigError, match=match) as caught:
        load(home, environment, **flags)
    return str(caught.value)


def test_defaults(home: Path) -> None:
    config = load(home)
    assert (config.dense.encoder, config.dense.int8, config.fusion.method) == ("starter", False, "mean")
    assert (config.answer.limit, config.answer.deadline) == (1000, 10.0)
    assert (config.serve.host, config.serve.token, config.store.url) == ("127.0.0.1", "", "")
    assert (config.passages.characters, config.passages.overlap) == (1000, 1)
    assert config.origins == {}


def test_a_file_may_begin_with_a_byte_order_mark(home: Path) -> None:
    write(home, "\ufeff[answer]\nlimit = 7\n")
    assert load(home).answer.limit == 7


def test_flags_override_variables_override_the_file(home: Path) -> None:
    file = write(home, "[answer]\nlimit = 1\ndeadline = 2\nprecision = 0.3\n")
    environment = {"QA_BOT_ANSWER__DEADLINE": "3", "QA_BOT_ANSWER__PRECISION": "0.4", "PATH": "/bin"}
    config = load(home, environment, answer__precision=0.5, answer__limit=None)
    assert (config.answer.limit, config.answer.deadline, config.answer.precision) == (1, 3.0, 0.5)
    assert config.origins == {
        "answer.limit": f"{file}:2",
        "answer.deadline": "QA_BOT_ANSWER__DEADLINE",
        "answer.precision": "flag",
    }


def test_the_process_environment_is_the_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_BOT_SERVE__PORT", "81")
    monkeypatch.setenv("QA_BOT_DATA", "/data")
    assert load_config(home).serve.port == 81


def test_special_variables(home: Path) -> None:
    config = load(home, {"QA_BOT_HOME": "/x", "QA_BOT_DATA": "/y", "QA_BOT_TOKEN": "s3cret"})
    assert config.serve.token == "s3cret"
    assert config.origins == {"serve.token": "QA_BOT_TOKEN"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[answer]\n\nlimt = 3\n", r"'answer.limt' from .*qa-bot.toml:3; the nearest is answer.limit"),
        ("[anser]\nlimit = 3\n", r"\[anser\] in .*:1; the nearest is answer"),
        ("[serv]\n", r"\[serv\] in .*:1; the nearest is serve"),
        ("# x\nlimit = 3\n", r"bare key 'limit'; the nearest is answer.limit|the bare key"),
        ("[answer]\nlimit = 'many'\n", r"a whole number of at least 1 for answer.limit, but got 'many' from .*:2"),
        ("[answer]\nlimit = 2.5\n", "a whole number of at least 1"),
        ("[answer]\nlimit = true\n", "a whole number of at least 1"),
        ("[answer]\nlimit = 0\n", "a whole number of at least 1 .* got '0'"),
        ("[answer]\nlimit = [1]\n", "a whole number"),
        ("[answer]\ndeadline = nan\n", "a number of at least 0.01"),
        ("[answer]\ndeadline = inf\n", "a number of at least 0.01"),
        ("[answer]\nprecision = 1.1\n", "a number from 0 to 1"),
        ("[dense]\nint8 = 1\n", "true or false for dense.int8"),
        ("[dense]\nencoder = 1\n", "a name or a folder for dense.encoder"),
        ("[fusion]\nmethod = 'sum'\n", "one of rule, mean, rrf for fusion.method, but got 'sum'"),
        ("[serve]\nport = 70000\n", "a whole number from 0 to 65535"),
        ("[answer\n", r"Expected TOML in .*qa-bot.toml, but got: .*line 1"),
        ("[answer]\nlimit = 1\nlimit = 2\n", "line 3"),
        ("answer.limit.x = 1\n", "a whole number"),
        (f"[answer]\nlimit = {'9' * 5_000}\n", r"Expected TOML in .*qa-bot.toml"),
    ],
)
def test_wrong_file_is_refused(home: Path, text: str, reason: str) -> None:
    write(home, text)
    assert "\n" not in refused(reason, home)


def test_binary_file_is_refused(home: Path) -> None:
    (home / CONFIG_FILE).write_bytes(b"\xff\xfe")
    refused("Expected UTF-8 in .*, but got byte 0xff", home)


def test_folder_instead_of_the_file_is_refused(home: Path) -> None:
    (home / CONFIG_FILE).mkdir()
    refused("Expected to read .*qa-bot.toml", home)


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("QA_BOT_ANSWER__LIMT", "3", "'answer.limt' from QA_BOT_ANSWER__LIMT; the nearest is answer.limit"),
        ("QA_BOT_LIMIT", "3", "'limit' from QA_BOT_LIMIT; the nearest is answer.limit"),
        ("QA_BOT_XYZZY", "3", "`qa-bot config` lists all keys"),
        ("QA_BOT_ANSWER__LIMIT", "3.5", "a whole number .* got '3.5' from QA_BOT_ANSWER__LIMIT"),
        ("QA_BOT_ANSWER__DEADLINE", "soon", "a number"),
        ("QA_BOT_ANSWER__DEADLINE", "", "a number"),
        ("QA_BOT_DENSE__INT8", "maybe", "true or false"),
        ("QA_BOT_FUSION__METHOD", "sum", "one of rule, mean, rrf"),
    ],
)
def test_wrong_variable_is_refused(home: Path, variable: str, text: str, reason: str) -> None:
    refused(reason, home, {variable: text})


def test_wrong_flag_is_refused(home: Path) -> None:
    refused("'answer.limt' from flag", home, answer__limt=1)
    refused("one of rule, mean, rrf", home, fusion__method="sum")


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("On", True), ("1", True), ("no", False), ("FALSE", False)]
)
def test_booleans_in_variables(home: Path, text: str, value: bool) -> None:
    assert load(home, {"QA_BOT_DENSE__INT8": text}).dense.int8 is value


def test_a_wrong_secret_is_not_shown(home: Path) -> None:
    write(home, "[serve]\ntoken = 123456\n")
    assert "123456" not in refused("a text for serve.token", home)


def test_shareable_settings_contain_no_secret(home: Path, tmp_path: Path) -> None:
    lines = ["# token: hunter2", "[store]", "url = 'postgresql://me:hunter2@host/db'", "[serve]", "token = 'hunter2'"]
    (home / CONFIG_FILE).write_text("\n".join([*lines, "port = 9", "[answer]", "limit = 7", ""]))
    text = shareable(home)
    assert "hunter2" not in text
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / CONFIG_FILE).write_text(text)
    config = load_config(tmp_path / "other", environment={})
    assert (config.serve.port, config.answer.limit, config.serve.token, config.store.url) == (9, 7, "", "")
    assert set(config.origins) == {"serve.port", "answer.limit"}
    (home / CONFIG_FILE).unlink()
    assert shareable(home) == ""


def test_explain_lists_all_keys_and_masks_secrets(home: Path) -> None:
    file = write(home, "[serve]\ntoken = 's3cret'\n[store]\nurl = 'postgresql://me:pass@h/x'\n")
    settings = {setting.key: setting for setting in explain(load(home))}
    assert list(settings) == list(known_keys())
    assert settings["serve.token"][:3] == ("serve.token", "********", f"{file}:2")
    assert settings["store.url"].value == "postgresql://me:********@h/x"
    assert settings["dense.int8"][:3] == ("dense.int8", "false", "default")
    assert all(setting.description for setting in settings.values())


# --- folders --------------------------------------------------------------------------------------------------------


def test_folders_mean_the_same_in_every_directory(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mined", "hyper", "starter"):
        (tmp_path / name).mkdir()
    placed = {
        ("facts.templates", "mined"): f"{tmp_path}/mined",
        ("facts.templates", ""): "",
        ("ranking.models", "hyper@title:3,org/name:5"): f"{tmp_path}/hyper@title:3, org/name:5",
        ("backup.to", "later"): f"{tmp_path}/later",
        ("style.base", "starter"): "starter",
        ("ranking.verifier", "org/name"): "org/name",
        ("answer.limit", "5"): "5",
    }
    assert {pair: with_absolute_folders(*pair, ["starter"]) for pair in placed} == placed


@pytest.mark.parametrize(
    ("name", "value"), [("facts.relations", "nope"), ("style.base", "./nope"), ("dense.encoder", "a/b/c")]
)
def test_a_folder_that_does_not_exist_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"Expected a folder for {name}, but .* does not exist"):
        with_absolute_folders(name, value)


def test_a_model_has_a_name(home: Path) -> None:
    with pytest.raises(ConfigError, match=r"Expected a name or a folder for style\.base, but got ''"):
        set_value(home, "style.base", "")


# --- set_value ------------------------------------------------------------------------------------------------------


def test_setting_removes_what_a_killed_one_left(home: Path) -> None:
    left, other = home / f".{CONFIG_FILE}.0123abcd.part", home / ".other.toml.0123abcd.part"
    for path in (left, other):
        path.write_text("[answer]")
    set_value(home, "answer.limit", "500")
    assert not left.exists()
    assert other.exists()


def test_setting_keeps_comments_and_order(home: Path) -> None:
    file = write(home, "# mine\n[answer]\nlimit = 5 # short\n\n[serve]\nport = 81\n")
    set_value(home, "answer.limit", "7")
    set_value(home, "answer.deadline", "3")
    set_value(home, "fusion.method", "rrf")
    text = file.read_text()
    assert "# mine" in text
    assert "limit = 7 # short" in text
    config = load(home)
    assert (config.answer.limit, config.answer.deadline, config.serve.port) == (7, 3.0, 81)
    assert config.fusion.method == "rrf"


def test_new_file_is_readable_by_its_owner_alone(home: Path) -> None:
    set_value(home, "serve.token", "s3cret")
    assert stat.S_IMODE((home / CONFIG_FILE).stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == [CONFIG_FILE]
    assert load(home).serve.token == token_hash("s3cret"), "the file holds no token that could be used"
    assert "s3cret" not in (home / CONFIG_FILE).read_text()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("answer.limt", "1", "the nearest is answer.limit"),
        ("answer", "1", "the nearest is answer"),
        ("answer.limit", "x", "a whole number of at least 1 for answer.limit, but got 'x'"),
    ],
)
def test_a_wrong_setting_changes_nothing(home: Path, name: str, text: str, reason: str) -> None:
    file = write(home, "[answer]\nlimit = 5\n")
    with pytest.raises(ConfigError, match=reason):
        set_value(home, name, text)
    assert file.read_text() == "[answer]\nlimit = 5\n"


def test_a_broken_file_is_not_written_over(home: Path) -> None:
    file = write(home, "[answer\n")
    with pytest.raises(ConfigError, match="Expected TOML"):
        set_value(home, "answer.limit", "1")
    assert file.read_text() == "[answer\n"


def test_a_linked_file_stays_linked(home: Path) -> None:
    (home / "real.toml").write_text("[answer]\nlimit = 5\n")
    (home / CONFIG_FILE).symlink_to(home / "real.toml")
    set_value(home, "answer.limit", "7")
    assert (home / CONFIG_FILE).is_symlink()
    assert load(home).answer.limit == 7


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_any_text_survives_in_the_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    home = tmp_path_factory.mktemp("home")
    set_value(home, "telemetry.service_name", text)
    assert load(home).telemetry.service_name == text


def test_import_of_the_configuration_loads_no_heavy_packages() -> None:
    heavy = "('pydantic', 'tomlkit', 'torch')"
    code = f"import sys, qa_bot.home.config, qa_bot.home.folder; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_formula_of_the_thesis_sets_the_defaults_of_other_keys(home: Path) -> None:
    write(home, '[ranking]\nformula = "thesis"\nmodel_weight = 0.3\n')
    config = load(home, {"QA_BOT_FUSION__METHOD": "rrf"})
    assert (config.ranking.passage_weight, config.answer.precision, config.facts.enabled) == (0.1, 0.0, False)
    assert (config.ranking.model_weight, config.fusion.method) == (0.3, "rrf")  # what the user says counts
    assert load(home).fusion.method == "rule"
    shown = {setting.key: setting for setting in explain(config)}
    assert shown["answer.precision"].origin == "ranking.formula = thesis"


def test_every_key_that_the_thesis_sets_has_a_valid_value(home: Path) -> None:
    config = load(home, ranking__formula="thesis")
    for key, value in THESIS.items():
        section, _, name = key.partition(".")
        assert getattr(getattr(config, section), name) == value
