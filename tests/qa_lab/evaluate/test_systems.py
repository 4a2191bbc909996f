from qa_bot.documents.sync import add
from qa_core.types import Question
from qa_lab.evaluate.evaluation_home import evaluation_home
from qa_lab.evaluate.systems import plain, searcher

LONG = " ".join(f"Cats sleep in place {number} of the house." for number in range(60))


def write(path, id_, text):
    path.write_text(f'{{"_id": "{id_}", "title": "", "text": "{text}"}}\n')
    return path


def test_a_document_of_many_passages_comes_once(tmp_path):
    with evaluation_home([write(tmp_path / "long.jsonl", "long", LONG)], collection="a") as data, data.opened() as bot:
        index = bot.corridor().index
        assert index.documents > 2
        assert plain(index, "cats sleep", {}) == ["long"]


def test_an_id_of_two_collections_comes_once(tmp_path):
    opening = evaluation_home([write(tmp_path / "one.jsonl", "same", "Cats sleep.")], collection="a")
    with opening as data:
        with data.opened() as bot:
            add(data.home, bot.config, bot.encoder, [write(tmp_path / "two.jsonl", "same", "Cats run.")])
        with data.opened() as bot:
            assert bot.corridor().index.documents == 2
            for system in ("plain", "keyword", "dense", "hybrid"):
                assert searcher(bot.corridor(), system)(Question("cats sleep")) == ["same"]


def test_plain_asks_every_word(tmp_path):
    # formulated, "what is" carries no information beside "who"; plainly, only stop words of the analysis go
    path = write(tmp_path / "one.jsonl", "d", "Thanks for any advice.")
    with evaluation_home([path], collection="a") as data, data.opened() as bot:
        assert searcher(bot.corridor(), "plain")(Question("advice on cats")) == ["d"]
        assert searcher(bot.corridor(), "keyword")(Question("advice on cats")) == []


def test_names_are_remembered(tmp_path):
    with evaluation_home([write(tmp_path / "one.jsonl", "d", "Cats.")], collection="a") as data, data.opened() as bot:
        names: dict[int, str] = {}
        plain(bot.corridor().index, "cats", names)
        assert list(names.values()) == ["d"]
        assert plain(bot.corridor().index, "cats", dict.fromkeys(names, "told before")) == ["told before"]
