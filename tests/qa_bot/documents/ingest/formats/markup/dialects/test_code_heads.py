"""The first lines of fenced code in dialects of Markdown."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("```{r, echo=FALSE}\n#| label: a\n#| fig-cap: B\nplot(1)\n```", "```r\nplot(1)\n```"),
        ("```{python}\n# a comment\n1\n```", "```python\n# a comment\n1\n```"),
        ('```{.sh filename="run.sh"}\nls\n```', "run.sh\n\n```sh\nls\n```"),
        ("```{code-block} sh\n:linenos:\n:caption: A list\nls\n```", "A list\n\n```sh\nls\n```"),
        ('Text:\n``` yaml title="__a__.yml" hl_lines="1"\na: 1\n```', "Text:\n\n__a__.yml\n\n```yaml\na: 1\n```"),
        ('- ```sh title="a.sh"\n  ls\n  ```\n- b', "- a.sh\n\n    ```sh\n    ls\n    ```\n- b"),
        ('````sh\n```js title="a"\n````', '````sh\n```js title="a"\n````'),
        ("```sh -x\n:a: b\n```", "```sh\n:a: b\n```"),
    ],
)
def test_heads_of_code(source, expected):
    assert markdown_blocks(source).text == expected
