import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.answering.models.dialogue_lines import LINES, DialogueLines
from qa_bot.answering.models.personas import PersonaError, PersonaStore
from qa_bot.home.sections import StyleSection

TURNS = ["where do cats sleep?"]


@pytest.fixture
def style(tiny_voices: Path) -> StyleSection:
    return StyleSection(base=str(tiny_voices / "base"), candidates=20, length=6)


@pytest.fixture
def personas(tiny_voices: Path, style: StyleSection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PersonaStore:
    monkeypatch.setattr("qa_bot.answering.models.personas.SHIPPED", tmp_path / "none")
    return PersonaStore(tiny_voices, style)


def test_personas_are_listed_by_name_and_nothing_else_is(personas: PersonaStore):
    assert personas.names == ("cook", "sailor")


def test_replies_of_a_persona_are_deterministic(personas: PersonaStore):
    reply = personas.say("sailor", TURNS, 5)
    assert reply == personas.say("sailor", TURNS, 5)
    assert 1 <= len(reply.lines) <= 5
    assert {line.persona for line in reply.lines} == {"sailor"}
    scores = [line.score for line in reply.lines]
    assert scores == sorted(scores, reverse=True)
    assert len({line.text.casefold() for line in reply.lines}) == len(reply.lines)
    assert reply.lines != personas.say("cook", TURNS, 5).lines


def test_a_mix_quotes_both(personas: PersonaStore, tiny_voices: Path, style: StyleSection):
    quoting = PersonaStore(tiny_voices, replace(style, method="rank"))
    lines = quoting.say("sailor:3, cook:1", TURNS, 10).lines
    assert {line.persona for line in lines} == {"cook", "sailor"}
    assert {line.kind for line in lines} == {"quotation"}
    assert "We sail in the boat." in {line.text[0].upper() + line.text[1:] for line in lines}
    drawn = personas.say("sailor:3, cook:1", TURNS, 10).lines
    assert "sailor+cook" in {line.persona for line in drawn}


def test_refused_lines_are_left_out(personas: PersonaStore):
    free = personas.say("cook", TURNS, 50)
    word = free.lines[0].text.split()[0]
    allowed = personas.say("cook", TURNS, 50, refuse=lambda text: f"the word {word}" if word in text else "")
    assert allowed.lines
    assert all(word not in line.text for line in allowed.lines)
    silent = personas.say("cook", TURNS, 50, refuse=lambda _: "a bad day")
    assert silent.lines == ()
    assert silent.notice == "Everything that came to mind had a bad day."


def test_hints_steer_or_give_a_notice(personas: PersonaStore):
    steered = personas.say("cook", TURNS, 5, hints=["soup"])
    assert steered.notice == ""
    assert steered.lines != personas.say("cook", TURNS, 5, hints=["sail in a boat"]).lines
    unsteered = personas.say("cook", TURNS, 5, hints=["xyzzy plugh"])
    assert unsteered.lines
    assert unsteered.notice.startswith("Expected a hint with words that the grid knows, but got xyzzy, plugh")


def test_a_cell_of_the_map_steers_if_it_is_on_it(personas: PersonaStore):
    replies = [personas.say("cook", TURNS, 5, hints=[cell]) for cell in (0, 6)]
    assert replies[0].lines != replies[1].lines
    assert [reply.notice for reply in replies] == ["", ""]
    outside = personas.say("cook", TURNS, 5, hints=[12])
    assert outside.lines
    assert outside.notice == "Expected a place on the topic map from 0 to 11, but got 12; it steers nothing."
    assert len(set(personas.scanned())) == len(personas.scanned()) > 8
    assert set(personas.scanned()) <= set(range(12))


def test_lines_of_dialogues_are_retrieved_if_the_base_has_them(
    personas: PersonaStore, tiny_voices: Path, style: StyleSection, tmp_path: Path
):
    with pytest.raises(PersonaError, match=r"Expected lines of dialogues in .*dialogues, but got none"):
        personas.retrieved("soup?")
    base = tmp_path / "base"
    shutil.copytree(tiny_voices / "base", base)
    DialogueLines.write(base / LINES, ["the soup is  hot", "we sail", "hot soup", "we sail", " "])
    store = PersonaStore(tiny_voices, replace(style, base=str(base)))
    assert set(store.retrieved("is the soup hot?")) == {"the soup is hot", "hot soup"}
    assert store.retrieved("who sails?") == ("we sail",)


def test_the_preset_of_the_thesis_overrides_other_keys(personas: PersonaStore, tiny_voices: Path, style: StyleSection):
    thesis = PersonaStore(tiny_voices, replace(style, preset="thesis", temperature=0.1, lead=9.0))
    generation = thesis._generation()
    assert (generation.candidates, generation.word_bonus, generation.agreement) == (500, 0.0, 0.0)
    assert (generation.sampling.temperature, generation.sampling.top_k, generation.sampling.top_p) == (1.0, None, 1.0)
    styling = thesis._styling(thesis._shares("cook"))
    assert (styling.likelihood, styling.lead) == (True, 0.0)
    assert not personas._styling(personas._shares("cook")).likelihood
    assert thesis.say("cook", TURNS, 5).lines


def test_the_chart_has_the_posterior_of_a_hint(personas: PersonaStore):
    chart = personas.chart("soup")
    assert (chart.height, chart.width, len(chart.words)) == (3, 4, 12)
    assert chart.posterior is not None
    assert chart.posterior.sum() == pytest.approx(1, abs=1e-5)
    assert personas.chart().posterior is None


@pytest.mark.parametrize(
    "spec",
    ["nobody", "../cook", "cook/sailor", "cook:-1", "cook:x", "cook,,sailor", " ", "cook:0", "cook,cook", "é" * 99],
)
def test_wrong_names_and_weights_are_refused(personas: PersonaStore, spec: str):
    with pytest.raises(PersonaError, match="Expected"):
        personas.parts(spec)


def test_the_error_lists_the_names(personas: PersonaStore):
    with pytest.raises(PersonaError, match=r"\(cook, sailor\).* but got 'a/b'"):
        personas.parts("a/b")


def test_a_persona_of_another_base_is_refused(
    personas: PersonaStore, tiny_voices: Path, style: StyleSection, tmp_path: Path
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


def test_a_retrained_persona_is_reloaded(tiny_voices: Path, style: StyleSection, tmp_path: Path):
    folder = tmp_path / "personas"
    shutil.copytree(tiny_voices / "cook", folder / "guest")
    config = folder / "guest" / "config.json"
    config.write_text(config.read_text().replace('"cook"', '"guest"'))
    personas = PersonaStore(folder, style)
    before = personas.say("guest", TURNS, 5)
    shutil.rmtree(folder / "guest")
    assert "guest" not in personas.names
    shutil.copytree(tiny_voices / "sailor", folder / "guest")
    config.write_text(config.read_text().replace('"sailor"', '"guest"'))
    os.utime(config, ns=(1, 1))
    assert "guest" in personas.names
    assert personas.say("guest", TURNS, 5) != before


def test_other_files_among_personas_are_ignored(style: StyleSection, tmp_path: Path):
    for name, text in {"a": "{", "b": "[]", "c": '{"kind": "Other", "config": {"name": "c"}}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text)
    (tmp_path / "file").write_text("x")
    assert set(PersonaStore(tmp_path, style).names) == set(PersonaStore(tmp_path / "nowhere", style).names)


def test_a_context_of_ten_thousand_words_is_cut(personas: PersonaStore):
    assert personas.say("cook", ["why " * 10_000], 2).lines


def test_a_base_without_a_grid_says_so(tiny_voices: Path, style: StyleSection, tmp_path: Path):
    from generators.conversation.chat_text import ChatConfig
    from generators.inference.language_model import LanguageModelConfig
    from generators.training.trainable_chat import TrainableChat
    from qa_core.networks.decoder_types import Seq2SeqConfig

    sizes = {"dimension": 4, "hidden": 4, "layers": 1}
    config = ChatConfig(Seq2SeqConfig(20, **sizes), LanguageModelConfig(20, **sizes))
    made = TrainableChat.of(["a b c"], config).inference()
    made.save(tmp_path / "plain", card="")
    with pytest.raises(PersonaError, match="with topics"):
        PersonaStore(tiny_voices, replace(style, base=str(tmp_path / "plain"))).chart()


@pytest.mark.parametrize(
    ("text", "coarse"), [("Well, shit happens.", True), ("An ass.", True), ("A classic by Dickens.", False)]
)
def test_coarse_lines_are_filtered_unless_disabled(style: StyleSection, text: str, coarse: bool):
    from generators.personas.persona_replies import StyledResponse

    clean, free = PersonaStore(Path("x"), style), PersonaStore(Path("x"), replace(style, clean=False))
    assert bool(clean._coarse(StyledResponse(text, 0.0, 0.0, 0.0))) is coarse
    assert not free._coarse(StyledResponse(text, 0.0, 0.0, 0.0))
    assert not clean._coarse(StyledResponse(text, 0.0, 0.0, 0.0, kind="quotation"))


def test_personas_work_with_a_local_transformer(qa_bot, tiny_gpt2: Path, home: Path, monkeypatch, tmp_path: Path):
    lines = ["The soup is hot.", "We sail in a boat.", "Where do cats sleep?"] * 4
    (tmp_path / "cook.txt").write_text("\n".join(lines))
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
    payload = qa_bot("ask", "Why do cats sleep all day?", "--persona", "cook", "--hint", "soup", "--json").json
    assert payload["kind"] == "styled"
    assert {line["kind"] for line in payload["styled"]["lines"]} == {"quotation"}
    assert payload["styled"]["lines"][0]["text"] in lines
    assert "has no topics" in payload["styled"]["notice"]


def test_quotations_leave_room_for_generated_lines(style: StyleSection):
    from generators.personas.persona_replies import StyledResponse

    quoted = [StyledResponse(f"q{n}", 50.0 - n, 0.0, 0.0, kind="quotation", persona="cook") for n in range(20)]
    drawn = [StyledResponse(f"d{n}", -1.0 - n, 0.0, 0.0, persona="cook") for n in range(20)]
    personas = PersonaStore(Path("x"), style)

    def selection(lines: list[StyledResponse], n: int) -> list[str]:
        return [line.text for line in personas._select(lines, n, lambda text: "an odd one" if text == "q1" else "")[0]]

    assert selection([*quoted, *drawn], 6) == ["q0", "q2", "q3", "q4", "d0", "d1"]
    assert selection([*quoted, *drawn], 1) == ["q0"]
    assert selection([*quoted, *drawn[:1]], 6) == ["q0", "q2", "q3", "q4", "q5", "d0"]
    assert selection(quoted, 3) == ["q0", "q2", "q3"]
    assert selection(drawn, 3) == ["d0", "d1", "d2"]
