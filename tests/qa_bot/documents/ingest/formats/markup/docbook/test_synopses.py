"""Synopses of DocBook."""

from xml.etree.ElementTree import XML

import pytest

from qa_bot.documents.ingest.formats.markup.docbook.synopses import synopsis


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("<cmdsynopsis><command>pot</command><arg>-v</arg><arg choice='req'>-t <replaceable>min</replaceable></arg>"
         "<group choice='opt'><arg choice='plain'>on</arg><arg choice='plain'>off</arg></group><sbr/>"
         "<arg choice='plain' rep='repeat'>cup</arg></cmdsynopsis>", "pot [-v] {-t min} [on | off]\ncup..."),
        ("<funcsynopsis><funcprototype><funcdef>int <function>pour</function></funcdef><paramdef>int <parameter>n"
         "</parameter></paramdef><paramdef>char *s</paramdef></funcprototype><funcprototype><funcdef>void "
         "<function>stop</function></funcdef><void/></funcprototype></funcsynopsis>",
         "int pour(int n, char *s);\nvoid stop(void);"),
        ("<methodsynopsis><type>int</type> <methodname>pour</methodname></methodsynopsis>", "int pour"),
    ],
)  # fmt: skip
def test_synopses(xml, expected):
    assert synopsis(XML(xml)) == expected
