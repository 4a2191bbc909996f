"""Labels of tabs in Docusaurus."""

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks

TABS = """<Tabs values={[{label: 'Gas stove', value: 'a'}, {"value": "b", "label": "Fire"}]}>
<TabItem value="a">

Turn.

</TabItem>
<TabItem value="b" label="Open fire">Blow.</TabItem>
</Tabs>"""


def test_tabs_have_the_labels_that_all_tabs_state():
    assert markdown_blocks(TABS, mdx=True).text == "**Gas stove**\n\nTurn.\n\n**Open fire**\n\nBlow."
