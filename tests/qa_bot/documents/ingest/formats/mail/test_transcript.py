"""Subtitles and transcripts."""

import pytest

SRT = """1
00:00:01,000 --> 00:00:03,000
<i>Good morning,</i>

2
00:00:03,500 --> 00:00:06,000
{\\an8}everyone &amp; all.

3
00:01:02,000 --> 00:01:05,000
A new minute begins,

4
00:02:40,000 --> 00:02:45,000
and another.
"""


def test_paragraphs_of_about_a_minute(reads):
    (record,), rejects, _ = reads("call.srt", SRT.replace("\n", "\r\n"))
    assert rejects == []
    assert (record.id, record.title, record.markdown) == ("call.srt", "call", True)
    assert record.text == (
        "[00:00:01] Good morning, everyone & all.\n\n[00:01:02] A new minute begins,\n\n[00:02:40] and another."
    )


def test_speakers_and_what_is_no_cue(reads):
    vtt = (
        "WEBVTT - Weekly call\nKind: captions\n\nNOTE not\nshown\n\nSTYLE\n::cue {}\n\n"
        "intro\n00:01.000 --> 00:02.000 align:start\n<v.loud Ann Lee>Hello.</v>\n<v Ann Lee>Hi.\n\n"
        "100:00:02.000 --> 100:00:03.000\n<v Bob><c.red>No</c> <00:00:02.500>time.\n"
    )
    (record,), _, _ = reads("call.vtt", vtt)
    assert record.title == "Weekly call"
    assert record.text == "[00:00:01] Ann Lee: Hello. Hi.\n\n[100:00:02] Bob: No time."


def test_rolling_captions_are_shown_once(reads):
    lines = ["so today", "so today we talk", "we talk about eggs", "about eggs"]
    cues = "".join(f"00:0{n}.000 --> 00:0{n + 1}.000\n{line}\n\n" for n, line in enumerate(lines))
    (record,), _, _ = reads("a.vtt", f"WEBVTT\n\n{cues}{cues}")
    assert record.text == "[00:00:00] so today we talk we talk about eggs about eggs"


@pytest.mark.parametrize("data", ["WEBVTT\n\nno times", "1\n00:00:01,000 --> 00:00:03,000\n\n"])
def test_a_file_without_captions(reads, data):
    records, (reject,), _ = reads("a.srt", data)
    assert records == []
    assert "captions with times" in reject.reason


def test_sounds_are_no_words(reads):
    cue = "00:00:01,000 --> 00:00:03,000\n"
    (record,), _, _ = reads("call.srt", f"1\n{cue}[laughter] - Who? [door opens]\n♪ Press [1] or [F2].\n")
    assert record.text == "[00:00:01] Who? Press [1] or [F2]."
