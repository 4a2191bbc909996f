from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qa_lab.errors import SettingsError
from qa_lab.train.settings import merge_settings, read_toml


@dataclass(frozen=True)
class Inner:
    batch: int = 10
    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    name: str = "a"
    inner: Inner = field(default_factory=lambda: Inner(batch=20))


def test_what_is_given_stands_over_the_defaults():
    assert merge_settings(Outer(), {}, source="x") == Outer()
    assert merge_settings(Outer(), {"inner": {"rate": 1}}, source="x") == Outer("a", Inner(20, 1.0))
    assert merge_settings(Outer(inner=Inner(3)), {"name": "b"}, source="x") == Outer("b", Inner(3))
    assert merge_settings(Outer(), {"inner": {"rate": float("inf")}}, source="x").inner.rate == float("inf")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"nme": "b"}, "s.toml: Expected a known key, but got nme; the nearest is name"),
        ({"inner": {"bach": 1}}, "but got inner.bach; the nearest is inner.batch"),
        ({"rate": 1}, "but got rate; the nearest is inner.rate"),
        ({"epochs": 1}, "but got epochs; known are name, inner.batch, inner.rate"),
        ({"inner": {"name": "b"}}, "but got inner.name; the nearest is name"),
        ({"inner": 3}, r"Expected a table \[inner\], but got 3"),
        ({"inner": {"batch": "ten"}}, "inner.batch: .*but got 'ten'"),
        ({"inner": {"batch": 1.5}}, "inner.batch: .*but got 1.5"),
        ({"name": 1}, "name: .*but got 1"),
    ],
)
def test_what_does_not_fit_is_named(values: dict[str, object], reason: str):
    with pytest.raises(SettingsError, match=reason):
        merge_settings(Outer(), values, source="s.toml")


def test_a_key_of_several_tables_is_named_with_each():
    @dataclass(frozen=True)
    class Both:
        graph: int = 1
        tuning: Inner = field(default_factory=Inner)
        pairs: Inner = field(default_factory=Inner)

    with pytest.raises(SettingsError, match=r"but got batch; the nearest are tuning\.batch, pairs\.batch\.$"):
        merge_settings(Both(), {"batch": 1}, source="x")


def test_files(tmp_path: Path):
    path = tmp_path / "s.toml"
    with pytest.raises(SettingsError, match="no such file; check --config"):
        read_toml(path)
    path.write_text("a = \n")
    with pytest.raises(SettingsError, match=r"Expected TOML in .*line 1"):
        read_toml(path)
    path.write_bytes(b"a = '\xff'\n")
    with pytest.raises(SettingsError, match="Expected TOML"):
        read_toml(path)
    path.write_text("[b]\na = 1\n")
    assert read_toml(path) == {"b": {"a": 1}}
