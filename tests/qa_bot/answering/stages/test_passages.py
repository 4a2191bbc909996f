"""Steps for a question how to do something, sections by their number, titles by their words."""

import json
from pathlib import Path

from qa_bot.bot import Bot
from qa_bot.documents.sync import add


def test_steps_answer_how_to_do_something(tmp_path: Path) -> None:
    page = tmp_path / "filter.md"
    page.write_text(
        "# Filter\n\n## About it\n\nThe filter of the pump keeps the pump quiet.\n\n"
        "## Work\n\n1. Stop the pump.\n2. Take the filter out.\n3. Clean the filter with water.\n"
    )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [page], collection="manual")
        how = bot.search("How do I clean the filter of the pump?")[0]
        what = bot.search("What keeps the pump quiet?")[0]
    assert how.passage.place.kind == "steps"
    assert what.passage.place.kind == "prose"


def test_steps_begin_with_the_first_below_the_topic_that_is_named(tmp_path: Path) -> None:
    page = tmp_path / "tunnel.md"
    page.write_text(
        "# Setting up the tunnel\n\n## Install\n\n"
        f"1. Get the file from the portal. {'Others are for other machines. ' * 9}\n"
        "2. Open the tunnel and sign in to the tunnel.\n3. Wait.\n"
    )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [page])
        answer = bot.ask("tunnel")
    assert answer.text.startswith("1. Get the file")


def test_the_section_that_a_question_names_goes_first(tmp_path: Path) -> None:
    page = tmp_path / "rules.md"
    page.write_text(
        "# Rules\n\n## § 4 Fees\n\nThe yearly fee is 48 pounds.\n\n"
        "## § 5 Quiet hours\n\nNo noise from one to three.\n\n"
        "## § 7 Rules of the fees\n\nFees are paid in January, and the rules say how.\n"
    )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [page])
        first = bot.search("What do the rules say about fees in § 5?")[0]
    assert first.passage.place.heading[-1] == "§ 5 Quiet hours"


def test_release_notes_come_after_the_manual_unless_a_question_names_their_version(tmp_path: Path) -> None:
    (tmp_path / "changes.md").write_text(
        "# Changes\n\n## 1.2 (May 2020)\n\nThe pump starts after ten seconds.\n\n"
        "## 1.1 (July 2019)\n\nThe pump starts after a minute. New lights.\n"
    )
    (tmp_path / "pump.md").write_text("# Pump\n\n## Start\n\nThe pump starts after five seconds, as set in the menu.\n")
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / "changes.md", tmp_path / "pump.md"])
        now = bot.search("When does the pump start?")[0]
        then = bot.search("What is new in version 1.1?")[0]
    assert now.passage.place.heading == ("Start",)
    assert then.passage.place.heading[-1] == "1.1 (July 2019)"


def test_without_vectors_the_title_of_the_same_words_goes_first(tmp_path: Path) -> None:
    pairs = [
        {"question": "What is croup?", "answer": "An infection of the upper airway."},
        {"question": "Is croup common?", "answer": "Croup is what many children have. What croup is: croup."},
        {"question": "What are the symptoms of croup?", "answer": "Croup, croup: a cough is what croup brings."},
    ]
    file = tmp_path / "faq.jsonl"
    file.write_text("\n".join(map(json.dumps, pairs)))
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [file])
        first = bot.search("what is croup", engine="keyword")[0]
    assert first.passage.source.title == "What is croup?"


def test_the_passage_with_the_code_of_the_question_goes_first(tmp_path: Path) -> None:
    page = tmp_path / "mower.md"
    page.write_text(
        "# Mower\n\n## Stops\n\nThe mower stops in the rain.\n\n## Blades\n\nChange the blades in spring.\n\n"
        "## Wire\n\nLay the wire along the lawn.\n\n## App\n\nThe app says when the mower works.\n\n"
        "## Codes\n\n| Code | Meaning |\n| --- | --- |\n| E06 | Motor blocked |\n| E07 | Battery too hot |\n"
    )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [page])
        first = bot.search("my mower says E07 all day, why?")[0]
    assert "E07" in first.passage.text


def test_the_name_of_a_property_is_searched_for_the_adjective(tmp_path: Path) -> None:
    for name, value in (("Weight", "10.4 kg"), ("Paint", "green"), ("Blades", "three")):
        page = tmp_path / f"{name}.md"
        page.write_text(f"# {name}\n\nThe {name.lower()} of the mower is {value}.\n")
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / f"{name}.md" for name in ("Paint", "Blades", "Weight")])
        first = bot.search("how heavy is the mower?", engine="keyword")[0]
    assert "10.4 kg" in first.passage.text


def test_a_german_noun_that_no_document_has_is_searched_by_its_synonym(tmp_path: Path) -> None:
    for name, text in (
        ("Haftung", "Bei Insolvenz zahlen die Mitglieder nichts nach."),
        ("Pflege", "Den Garten der Mitglieder pflegen alle im Herbst."),
    ):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / "Haftung.md", tmp_path / "Pflege.md"])
        first = bot.search("Was gilt für Mitglieder bei einer Pleite?", engine="keyword")[0]
    assert "Insolvenz" in first.passage.text


def test_the_folder_says_whose_rules_they_are(tmp_path: Path) -> None:
    for club, years in (("railone", "two"), ("kartonia", "three")):
        folder = tmp_path / "rules" / club
        folder.mkdir(parents=True)
        (folder / "statutes.md").write_text(
            f"# Statutes\n\n## Preamble\n\nThe members agree.\n\n## Board\n\nThe board is elected for {years} years.\n"
        )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / "rules"])
        answers = [bot.ask(f"How long is the board of {name} elected?") for name in ("rail.one", "Kartonia")]
    assert ["two years" in answer.text for answer in answers] == [True, False]
    assert "three years" in answers[1].text
