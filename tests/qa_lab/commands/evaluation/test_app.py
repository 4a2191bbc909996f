"""`qa-bot eval`: each task has its own options, and names the systems that its evaluation knows."""

import re
from pathlib import Path
from typing import get_args

import pytest

from qa_bot.answering.stages.retrieve import SearchMode
from qa_bot.cli.app import run
from qa_bot.cli.entry_points import command_from
from qa_lab.commands.evaluation.app import TASKS
from qa_lab.commands.evaluation.liveqa import Mode
from qa_lab.commands.evaluation.options import System
from qa_lab.commands.evaluation.workplace import Pipeline
from qa_lab.evaluate import systems
from qa_lab.evaluate.workplace.pipelines import ENGINES
from qa_lab.papers.evaluations import evaluation

ROOT = Path(__file__).parents[4]
CALL = re.compile(r"qa-bot(?: --home \S+)? eval ([a-z-]+)([^`|]*?)(?:`|\||\n|$)")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def options(task: str) -> set[str]:
    command = command_from(task, TASKS[task])
    shown = [parameter for parameter in command.params if not parameter.hidden]
    return {name for parameter in shown for name in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("task", TASKS)
def test_the_help_of_a_task_shows_its_own_options(qa_bot, task):
    shown = qa_bot("eval", task, "--help")
    assert (shown.code, f"Usage: qa-bot eval {task} [OPTIONS]" in shown.out) == (0, True)
    assert set(re.findall(r"^  (--[\w-]+)", shown.out, re.MULTILINE)) == {
        name for name in options(task) if name.startswith("--") and not name.startswith("--no-")
    } | {"--help"}
    assert ("--losses" in shown.out, "--calibration" in shown.out) == (task == "workplace", task == "liveqa")


def test_the_group_lists_its_tasks_in_order(qa_bot):
    shown = qa_bot("eval", "--help")
    assert re.findall(r"^  ([a-z-]+)  ", shown.out.partition("Commands:")[2], re.MULTILINE) == list(TASKS)
    assert qa_bot("eval").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieval"],
        ["retrieval", "--data", "judged", "--losses"],
        ["retrieval", "--data", "judged", "--calibration"],
        ["retrieval", "--data", "judged", "--ablate"],
        ["retrieval", "--data", "judged", "--model", "model"],
        ["retrieval", "--data", "judged", "--engine", "recipe"],
        ["answers", "T6.3", "--data", "answers.tsv"],
        ["answers", "--data", "answers.tsv", "--quick"],
        ["dialogue", "--data", "turns.jsonl", "--encoder", "starter"],
        ["liveqa", "--data", "judged", "--engine", "plain"],
        ["workplace", "--data", "notes"],
        ["poems", "--data", "poems.txt"],
    ],
    ids=" ".join,
)
def test_what_does_not_belong_to_a_task_is_wrong_usage(qa_bot, arguments):
    refused = qa_bot("eval", *arguments)
    assert (refused.code, refused.err.startswith("Usage: qa-bot eval ")) == (2, True)


def test_every_task_accepts_a_split_and_a_limit(qa_bot, tmp_path):
    (tmp_path / "answers.tsv").write_text("1\twhy?\tbecause\t1\n1\twhy?\tno\t0\n")
    measured = qa_bot("eval", "answers", "--data", str(tmp_path / "answers.tsv"), "--split", "dev", "--limit", "9")
    assert measured.code == 0
    assert "--split" not in qa_bot("eval", "answers", "--help").out
    assert qa_bot("eval", "words", "--data", str(tmp_path / "none"), "--limit", "nine").code == 2


def test_only_home_before_the_verb_names_the_home_that_is_measured(ours, tmp_path, capsys):
    command = ["eval", "retrieval", "--data", str(ours), "--engine", "plain"]
    assert run(command) == 0
    assert not (tmp_path / "own-home").exists()  # of QA_BOT_HOME
    assert run(["--home", str(tmp_path / "measured"), *command]) == 0
    assert (tmp_path / "measured").exists()
    assert capsys.readouterr().out.count("retrieval on tiny") == 2


def test_a_misspelt_task_is_corrected(qa_bot):
    assert "Did you mean 'workplace'?" in qa_bot("eval", "workplac").err


def test_systems_are_those_of_the_evaluations():
    assert [*System] == [*get_args(systems.System)]
    assert [*Mode] == [*get_args(SearchMode)]
    assert [*Pipeline] == [*ENGINES]


def test_rows_of_tables_name_tasks():
    assert evaluation("words").__name__ == "evaluate_words"
    with pytest.raises(ValueError, match="a task that a row can name, but got 'poems'"):
        evaluation("poems")


def test_commands_in_the_documentation_have_options_of_their_tasks():
    calls = [call for page in PAGES for call in CALL.findall(page.read_text(encoding="utf-8"))]
    assert len(calls) > 150
    for task, rest in calls:
        used = {word for word in rest.split() if word.startswith("--")}
        assert used <= options(task) | {"--help"}, f"{task} {rest}"
