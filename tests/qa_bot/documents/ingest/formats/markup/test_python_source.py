"""Docstrings of Python files."""

SOURCE = '''"""Boils eggs.

Steps:

- heat
- wait
"""

class Pot(Vessel, metaclass=Meta):
    """A pot."""

    def boil(self, minutes: int = 6, *, lid: bool) -> Egg:
        """Boil.

        Parameters
        ----------
        minutes: time
        """

    async def cool(self):
        """Cool it."""

    def undocumented(self): ...

if True:
    def helper():
        """Help \\w."""
'''


def test_docstrings_under_their_qualified_names(reads):
    (record,), rejects, _ = reads("kitchen.py", SOURCE)
    assert rejects == []
    assert (record.id, record.title, record.markdown) == ("kitchen.py", "kitchen", True)
    assert record.text == (
        "Boils eggs.\n\nSteps:\n\n- heat\n- wait\n\n## Pot\n\n```python\nclass Pot(Vessel, Meta)\n```\n\nA pot.\n\n"
        "### Pot.boil\n\n```python\ndef boil(self, minutes: int=6, *, lid: bool) -> Egg\n```\n\nBoil.\n\n"
        "###### Parameters\n\nminutes: time\n\n### Pot.cool\n\n```python\nasync def cool(self)\n```\n\nCool it.\n\n"
        "## helper\n\n```python\ndef helper()\n```\n\nHelp \\w."
    )


def test_files_without_docstrings_and_broken_ones(reads):
    records, rejects, (notice,) = reads("a.py", "x = 1\n")
    assert (records, rejects) == ([], [])
    assert "no docstrings" in notice.message
    for source in ("def f(:", "(" * 5000, "x = " + "-" * 100_000 + "1", "print 'old'"):
        records, (reject,), _ = reads("a.py", source)
        assert records == []
        assert "Expected Python 3" in reject.reason
