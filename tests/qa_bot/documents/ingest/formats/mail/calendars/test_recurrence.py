"""Rules of events in words."""

import pytest

from qa_bot.documents.ingest.formats.mail.calendars.recurrence import rule_in_words


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=YEARLY", "every year"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=WE;UNTIL=20261216T000000Z", "every 2 weeks on Wednesday until 2026-12-16"),
        ("freq=weekly;byday=mo,we,fr;wkst=su", "every week on Monday, Wednesday and Friday"),
        ("FREQ=MONTHLY;BYDAY=2TU;COUNT=6", "every month on the 2nd Tuesday, 6 times"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "every month on the last Friday"),
        ("FREQ=MONTHLY;BYDAY=TU;BYSETPOS=-2", "every month on the 2nd last Tuesday"),
        (
            "FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=1;COUNT=1",
            "every month on the 1st of Saturday and Sunday, once",
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15,-1", "every month on the 1st, the 15th and the last day"),
        ("FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", "every month on the 13th if it is Friday"),
        ("FREQ=YEARLY;BYMONTH=3,11;BYMONTHDAY=22", "every year on the 22nd in March and November"),
        ("FREQ=DAILY;BYHOUR=9,13;INTERVAL=3;BYMONTH=99", "every 3 days in 99, byhour 9,13"),
        ("FREQ=WEEKLY;BYDAY=XX;BYMONTH=+;UNTIL=soon", "every week on XX in +"),
        ("FREQ=MOONLY;COUNT=2", "FREQ=MOONLY;COUNT=2"),
        ("", ""),
    ],
)
def test_rules_are_words(rule, words):
    assert rule_in_words(rule) == words
