import tomllib

from qa_lab.papers.declarations import Evaluated, Joined, PaperRow, Reported, Trained, merged, toml

MODEL = Trained("blstm", ("a/train.tsv",), {"use": "network", "network": {"layers": 3}}, dev="a/dev.tsv", limit=9)


def test_the_commands_of_a_trained_row():
    row = Evaluated("answers", "a/dev.tsv", "model", {"MAP": "AP"}, (MODEL,), options={"keep": "all"}, quick_limit=5)
    first, second, third = row.command(quick=True)
    assert first == "printf 'use = \"network\"\n[network]\nlayers = 3\n' > model-1.toml"
    assert second == (
        "qa-bot train blstm --data $QA_BOT_DATA/a/train.tsv --dev $QA_BOT_DATA/a/dev.tsv --limit 200 "
        "--config model-1.toml --seed 1 --out model-1"
    )
    assert third == "qa-bot eval answers --data $QA_BOT_DATA/a/dev.tsv --model model-1 --keep all --limit 5"
    assert row.command(quick=False)[1:] == [second.replace("200", "9"), third.removesuffix(" --limit 5")]
    assert row.paths == ("a/dev.tsv", "a/train.tsv", "a/dev.tsv")


def test_word_vectors_that_are_trained_are_an_encoder():
    row = Evaluated("phrases", "p", "addition", {"AUC": "AUC"}, encoders=("starter", MODEL))
    *lines, last = row.command(quick=False)
    assert lines == MODEL.command("vectors-2", quick=False)
    assert last == "qa-bot eval phrases --data $QA_BOT_DATA/p --encoder starter --encoder vectors-2"
    assert row.paths == ("p", "a/train.tsv", "a/dev.tsv")


def test_a_shipped_model_and_configuration():
    row = Evaluated("liveqa", "q", "hybrid", {}, ("voices/base",), ("hybrid",), home={"ranking.formula": "clue"})
    assert row.command(quick=False) == [
        "QA_BOT_RANKING__FORMULA=clue qa-bot eval liveqa --data $QA_BOT_DATA/q "
        "--model qa_bot/home/starter/voices/base --engine hybrid"
    ]
    assert row.command(quick=True)[0].startswith("QA_BOT_RANKING__FORMULA=clue QA_BOT_DENSE__IMPROVE=false qa-bot eval")
    assert Evaluated("answers", "q", "BM25", {}).configuration(quick=True) == {}


def test_a_base_is_trained_first():
    lines = Reported(Trained("persona", ("p",), base=MODEL), {}).command(quick=False)
    assert [line.split(" --")[0] for line in lines] == [
        "printf 'use = \"network\"\n[network]\nlayers = 3\n' > model-base.toml",
        "qa-bot train blstm",
        "qa-bot train persona",
    ]
    assert lines[-1] == "qa-bot train persona --data $QA_BOT_DATA/p --base model-base --seed 1 --out model --json"


def test_joined_measurements_share_their_commands():
    first, second = (Evaluated("words", path, "starter", {}, (MODEL,)) for path in ("x", "y"))
    assert len(Joined((first, second)).command(quick=False)) == 4
    assert Joined((first, second)).paths == (*first.paths, *second.paths)


def test_settings_as_toml():
    settings = {"a": {"b": 1, "c": {"d": "e"}}, "f": True, "g": 0.5}
    assert tomllib.loads(toml(settings)) == settings
    assert merged(settings, {"a": {"b": 2}, "g": 1}) == {"a": {"b": 2, "c": {"d": "e"}}, "f": True, "g": 1}
    assert Trained("x", (), settings, {"f": False}).chosen(quick=True) == {**settings, "f": False}


def test_the_ways_of_a_row():
    assert PaperRow("x").ways == {"default": "not implemented"}
    assert list(PaperRow("x", preset="not to be had").ways) == ["paper", "default"]
