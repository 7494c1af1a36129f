"""A transcript in every output format, and that no text can break one."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation.formats import FORMATS, TIMED, render
from engine.transcript import Segment, Transcript, Word

TALK = Transcript(
    text=" Hello there. Rhythm & <blues> --> end",
    language="en",
    duration_s=3725.5,
    segments=(
        Segment(0.0, 1.5, " Hello there."),
        Segment(1.5, 1.5, "  "),
        Segment(3723.0004, 3725.4999, " Rhythm & <blues> --> end"),
    ),
)

segments = st.builds(
    Segment, st.floats(0, 40_000), st.floats(0, 40_000), st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
)
transcripts = st.builds(Transcript, st.text(max_size=40), st.just("en"), st.lists(segments, max_size=5).map(tuple))


def test_text_is_the_bare_text_and_one_newline():
    assert render(TALK, "text") == "Hello there. Rhythm & <blues> --> end\n"


def test_text_with_timestamps_has_a_line_for_each_segment_with_words():
    assert render(TALK, "text", timestamps=True) == (
        "[00:00:00.000 --> 00:00:01.500] Hello there.\n[01:02:03.000 --> 01:02:05.500] Rhythm & <blues> --> end\n"
    )


def test_srt_numbers_its_cues_and_has_a_comma_before_the_milliseconds():
    assert render(TALK, "srt") == (
        "1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n01:02:03,000 --> 01:02:05,500\nRhythm & <blues> -> end\n"
    )


def test_vtt_escapes_what_would_be_markup():
    assert render(TALK, "vtt") == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n"
        "\n01:02:03.000 --> 01:02:05.500\nRhythm &amp; &lt;blues> -> end\n"
    )


def test_tsv_has_whole_milliseconds():
    assert (
        render(TALK, "tsv") == "start\tend\ttext\n0\t1500\tHello there.\n3723000\t3725500\tRhythm & <blues> --> end\n"
    )


def test_json_is_one_line_with_the_fields_of_the_transcript():
    line = render(TALK, "json", file="talk.wav")
    assert line.count("\n") == 1
    fields = json.loads(line)
    assert fields["file"] == "talk.wav"
    assert fields["language"] == "en"
    assert fields["segments"][2]["end_s"] == 3725.4999
    assert "file" not in json.loads(render(TALK, "json"))


@pytest.mark.parametrize("format", FORMATS)
def test_a_transcript_without_words_is_still_a_well_formed_file(format):
    empty = render(Transcript(text="", language="en"), format)
    assert empty in {"\n", "", "WEBVTT\n", "start\tend\ttext\n"} or json.loads(empty)["segments"] == []


@given(transcripts)
def test_no_text_can_open_or_close_a_cue(transcript):
    spoken = sum(bool(segment.text.strip()) for segment in transcript.segments)
    for format in ("srt", "vtt"):
        assert len(re.findall("-->", render(transcript, format))) == spoken
        cues = render(transcript, format).strip("\n").split("\n\n")
        assert len([cue for cue in cues if "-->" in cue]) == spoken


@given(transcripts)
def test_each_row_of_a_table_has_three_columns(transcript):
    rows = render(transcript, "tsv").rstrip("\n").split("\n")
    assert {len(row.split("\t")) for row in rows} == {3}


def test_the_timed_formats_are_formats():
    assert set(FORMATS) >= TIMED


WORDS = Transcript(
    text="Fish & chips.",
    language="en",
    segments=(
        Segment(
            1.0, 2.5, " Fish & chips.",
            words=(Word(" Fish", 1.0, 1.4, 0.9), Word(" &", 1.4, 1.6, 0.5), Word(" chips.", 1.6, 2.5, 0.8)),
        ),
    ),
)  # fmt: skip


def test_words_with_times_are_cues_of_their_own_and_marks_within_those_of_vtt():
    assert render(WORDS, "srt").startswith("1\n00:00:01,000 --> 00:00:01,400\nFish\n\n2\n00:00:01,400 -->")
    assert render(WORDS, "vtt") == (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nFish<00:00:01.400> &amp;<00:00:01.600> chips.\n"
    )
    assert render(WORDS, "tsv") == "start\tend\ttext\n1000\t1400\tFish\n1400\t1600\t&\n1600\t2500\tchips.\n"
    assert render(WORDS, "text", timestamps=True).splitlines()[2] == "[00:00:01.600 --> 00:00:02.500] chips."
    assert render(WORDS, "text") == "Fish & chips.\n"
    assert json.loads(render(WORDS, "json"))["segments"][0]["words"][1] == {
        "text": " &", "start_s": 1.4, "end_s": 1.6, "probability": 0.5,
    }  # fmt: skip
