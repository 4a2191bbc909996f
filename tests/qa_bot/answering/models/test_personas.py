import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.answering.models.personas import PersonaError, PersonaStore
from qa_bot.home.sections import StyleSection

TURNS = ["where do cats sleep?"]


@pytest.fixture
def style(tiny_voices: Path) -> StyleSection:
    return StyleSection(base=str(tiny_voices / "base"), candidates=20, length=6)


@pytest.fixture
def voices(tiny_voices: Path, style: StyleSection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PersonaStore:
    monkeypatch.setattr("qa_bot.answering.models.personas.SHIPPED", tmp_path / "none")
    return PersonaStore(tiny_voices, style)


def test_personas_are_listed_by_name_and_nothing_else_is(voices: PersonaStore):
    assert voices.names == ("cook", "sailor")


def test_a_persona_says_the_same_to_the_same(voices: PersonaStore):
    said = voices.say("sailor", TURNS, 5)
    assert said == voices.say("sailor", TURNS, 5)
    assert 1 <= len(said.lines) <= 5
    assert {line.persona for line in said.lines} == {"sailor"}
    scores = [line.score for line in said.lines]
    assert scores == sorted(scores, reverse=True)
    assert len({line.text.casefold() for line in said.lines}) == len(said.lines)
    assert said.lines != voices.say("cook", TURNS, 5).lines


def test_a_mix_quotes_both(voices: PersonaStore, tiny_voices: Path, style: StyleSection):
    quoting = PersonaStore(tiny_voices, replace(style, method="rank"))
    found = quoting.say("sailor:3, cook:1", TURNS, 10).lines
    assert {line.persona for line in found} == {"cook", "sailor"}
    assert {line.kind for line in found} == {"quotation"}
    assert "We sail in the boat." in {line.text[0].upper() + line.text[1:] for line in found}
    drawn = voices.say("sailor:3, cook:1", TURNS, 10).lines
    assert "sailor+cook" in {line.persona for line in drawn}


def test_what_must_not_be_said_is_left_out(voices: PersonaStore):
    free = voices.say("cook", TURNS, 50)
    word = free.lines[0].text.split()[0]
    kept = voices.say("cook", TURNS, 50, refuse=lambda text: f"the word {word}" if word in text else "")
    assert kept.lines
    assert all(word not in line.text for line in kept.lines)
    silent = voices.say("cook", TURNS, 50, refuse=lambda _: "a bad day")
    assert silent.lines == ()
    assert silent.notice == "Everything that came to mind had a bad day."


def test_hints_steer_or_say_that_they_do_not(voices: PersonaStore):
    steered = voices.say("cook", TURNS, 5, hints=["soup"])
    assert steered.notice == ""
    assert steered.lines != voices.say("cook", TURNS, 5, hints=["sail in a boat"]).lines
    told = voices.say("cook", TURNS, 5, hints=["xyzzy plugh"])
    assert told.lines
    assert told.notice.startswith("Expected a hint with words that the grid knows, but got xyzzy, plugh")


def test_the_chart_shows_where_a_hint_falls(voices: PersonaStore):
    chart = voices.chart("soup")
    assert (chart.height, chart.width, len(chart.words)) == (3, 4, 12)
    assert chart.posterior is not None
    assert chart.posterior.sum() == pytest.approx(1, abs=1e-5)
    assert voices.chart().posterior is None


@pytest.mark.parametrize(
    "spec",
    ["nobody", "../cook", "cook/sailor", "cook:-1", "cook:x", "cook,,sailor", " ", "cook:0", "cook,cook", "é" * 99],
)
def test_wrong_names_and_weights_are_told(voices: PersonaStore, spec: str):
    with pytest.raises(PersonaError, match="Expected"):
        voices.parts(spec)


def test_names_are_told_in_the_error(voices: PersonaStore):
    with pytest.raises(PersonaError, match=r"\(cook, sailor\).* but got 'a/b'"):
        voices.parts("a/b")


def test_a_persona_of_another_base_is_told(
    voices: PersonaStore, tiny_voices: Path, style: StyleSection, tmp_path: Path
):
    other = tmp_path / "other"
    shutil.copytree(tiny_voices / "base", other)
    words = (other / "vocabulary.txt").read_text().split("\n")
    words[-2] = "somethingelse"
    (other / "vocabulary.txt").write_text("\n".join(words))
    with pytest.raises(PersonaError, match="fingerprint"):
        PersonaStore(tiny_voices, replace(style, base=str(other))).say("cook", TURNS, 1)
    with pytest.raises(PersonaError, match="Expected a model folder"):
        PersonaStore(tiny_voices, replace(style, base=str(tmp_path / "missing"))).say("cook", TURNS, 1)


def test_a_persona_that_was_trained_again_is_taken_up(tiny_voices: Path, style: StyleSection, tmp_path: Path):
    folder = tmp_path / "personas"
    shutil.copytree(tiny_voices / "cook", folder / "guest")
    config = folder / "guest" / "config.json"
    config.write_text(config.read_text().replace('"cook"', '"guest"'))
    voices = PersonaStore(folder, style)
    before = voices.say("guest", TURNS, 5)
    shutil.rmtree(folder / "guest")
    assert "guest" not in voices.names
    shutil.copytree(tiny_voices / "sailor", folder / "guest")
    config.write_text(config.read_text().replace('"sailor"', '"guest"'))
    os.utime(config, ns=(1, 1))
    assert "guest" in voices.names
    assert voices.say("guest", TURNS, 5) != before


def test_clutter_among_personas_is_passed_over(style: StyleSection, tmp_path: Path):
    for name, text in {"a": "{", "b": "[]", "c": '{"kind": "Other", "config": {"name": "c"}}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text)
    (tmp_path / "file").write_text("x")
    assert set(PersonaStore(tmp_path, style).names) == set(PersonaStore(tmp_path / "nowhere", style).names)


def test_a_context_of_ten_thousand_words_is_cut(voices: PersonaStore):
    assert voices.say("cook", ["why " * 10_000], 2).lines


def test_a_base_without_a_grid_says_so(tiny_voices: Path, style: StyleSection, tmp_path: Path):
    from generators.conversation.chat_text import ChatConfig
    from generators.inference.language_model import LanguageModelConfig
    from generators.training.trainable_chat import TrainableChat
    from qa_core.networks.decoder_types import Seq2SeqConfig

    sizes = {"dimension": 4, "hidden": 4, "layers": 1}
    config = ChatConfig(Seq2SeqConfig(20, **sizes), LanguageModelConfig(20, **sizes))
    made = TrainableChat.of(["a b c"], config).inference()
    made.save(tmp_path / "deaf", card="")
    with pytest.raises(PersonaError, match="with topics"):
        PersonaStore(tiny_voices, replace(style, base=str(tmp_path / "deaf"))).chart()


@pytest.mark.parametrize(
    ("text", "coarse"), [("Well, shit happens.", True), ("An ass.", True), ("A classic by Dickens.", False)]
)
def test_coarse_words_are_not_drawn_unless_wanted(style: StyleSection, text: str, coarse: bool):
    from generators.personas.persona_replies import StyledResponse

    clean, free = PersonaStore(Path("x"), style), PersonaStore(Path("x"), replace(style, clean=False))
    assert bool(clean._coarse(StyledResponse(text, 0.0, 0.0, 0.0))) is coarse
    assert not free._coarse(StyledResponse(text, 0.0, 0.0, 0.0))
    assert not clean._coarse(StyledResponse(text, 0.0, 0.0, 0.0, kind="quotation"))


def test_personas_stand_on_a_local_transformer_too(qa_bot, tiny_gpt2: Path, home: Path, monkeypatch, tmp_path: Path):
    said = ["The soup is hot.", "We sail in a boat.", "Where do cats sleep?"] * 4
    (tmp_path / "cook.txt").write_text("\n".join(said))
    made = qa_bot(
        "train",
        "persona",
        "--data",
        tmp_path / "cook.txt",
        "--base",
        tiny_gpt2,
        "--out",
        home / "personas" / "cook",
        "--json",
    )
    assert (made.code, made.json["sentences"]) == (0, 3)
    monkeypatch.setenv("QA_BOT_STYLE__BASE", str(tiny_gpt2))
    told = qa_bot("ask", "Why do cats sleep all day?", "--persona", "cook", "--hint", "soup", "--json").json
    assert told["kind"] == "styled"
    assert {line["kind"] for line in told["styled"]["lines"]} == {"quotation"}
    assert told["styled"]["lines"][0]["text"] in said
    assert "has no topics" in told["styled"]["notice"]


def test_quotations_do_not_crowd_out_what_is_drawn(style: StyleSection):
    from generators.personas.persona_replies import StyledResponse

    quoted = [StyledResponse(f"q{n}", 50.0 - n, 0.0, 0.0, kind="quotation", persona="cook") for n in range(20)]
    drawn = [StyledResponse(f"d{n}", -1.0 - n, 0.0, 0.0, persona="cook") for n in range(20)]
    voices = PersonaStore(Path("x"), style)

    def told(found: list[StyledResponse], n: int) -> list[str]:
        return [line.text for line in voices._select(found, n, lambda text: "an odd one" if text == "q1" else "")[0]]

    assert told([*quoted, *drawn], 6) == ["q0", "q2", "q3", "q4", "d0", "d1"]
    assert told([*quoted, *drawn], 1) == ["q0"]
    assert told([*quoted, *drawn[:1]], 6) == ["q0", "q2", "q3", "q4", "q5", "d0"]
    assert told(quoted, 3) == ["q0", "q2", "q3"]
    assert told(drawn, 3) == ["d0", "d1", "d2"]
