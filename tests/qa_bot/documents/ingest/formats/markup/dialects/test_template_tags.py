"""Template tags in Markdown."""

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.template_tags import filled, with_fences
from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "{% highlight bash linenos %}\n# brew\ntea -h\n{% endhighlight %}\nGo.",
            "```bash\n# brew\ntea -h\n```\n\nGo.",
        ),
        ('{{< highlight py "linenos=table" >}}\n# x\n{{< / highlight >}}', "```py\n# x\n```"),
        ("Use {{% highlight sh %}}tea -h{{% /highlight %}}", "Use\n\n```sh\ntea -h\n```"),
        (
            "1. a\n\n   {%- highlight sh -%}\ntea\n  -h\n   {%- endhighlight -%}\n2. b",
            "1. a\n\n    ```sh\n    tea\n      -h\n    ```\n2. b",
        ),
        ("{% highlight md %}\n```\nx\n```\n{% endhighlight %}", "````md\n```\nx\n```\n````"),
        ("{% highlight liquid %}{% raw %}{{ x }}{% endraw %}{% endhighlight %}", "```liquid\n{{ x }}\n```"),
        ("```\n{% highlight sh %}\nx\n{% endhighlight %}\n```", "```\n{% highlight sh %}\nx\n{% endhighlight %}\n```"),
        (
            "{% highlight js %}\nimport a from 'a'\n{% endhighlight %}\n<B>x</B>",
            "```js\nimport a from 'a'\n```\n\n**x**",
        ),
    ],
)
def test_highlighted_code(source, expected):
    assert markdown_blocks(source).text == expected


def test_highlighted_code_is_indented_as_its_item():
    source = "- {% highlight sh %}\n  tea\n  {% endhighlight %}\n- b"
    assert with_fences(source) == "- ```sh\n  tea\n  ```\n\n- b"


def test_many_tags_take_little_time():
    source = "{% highlight sh %}\n" * 20_000
    assert with_fences(source) == source
    assert len(filled("{{< tab 'A' >}} x" * 5_000)) < 100_000


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{% notice tip %}}\nUse *tea*.\n{{% /notice %}}", "\nUse *tea*.\n"),
        ('{{% alert title="Hot" %}}\nWait.\n{{% /alert %}}', "\n**Hot:** \nWait.\n"),
        ('## {{% heading "next" %}}', "## next"),
        (
            '{{< tabs >}}{{< tab "Gas" >}}Turn it.{{< /tab >}}{{< tab "Wood" >}}Light it.{{< /tab >}}{{< /tabs >}}',
            "\n\n**Gas:** Turn it.\n\n**Wood:** Light it.",
        ),
        ('Boil {{< tip "hot" >}}water{{< /tip >}}.', "Boil hot water."),
    ],
)
def test_shortcodes_of_hugo(source, expected):
    assert filled(source) == expected


def test_groups_of_tabs_have_no_label_and_figures_have_their_captions():
    tabs = '{{< tabs "x" >}}\n{{< tab "Gas" >}}\nTurn.\n{{< /tab >}}\n{{< /tabs >}}'
    assert markdown_blocks(tabs).text == "**Gas:** Turn."
    figure = '{{< figure src="a.png" title="A lid" alt="a" caption="It is *hot*" >}}'
    assert markdown_blocks(figure).text == "**A lid:** It is *hot*"
