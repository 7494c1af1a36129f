"""Opus by libopus and by FFmpeg, and what is said where one of them, or both, are not there."""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import soxr

from dictation.server import opus, sound
from dictation.server.faults import Fault
from tests.fakes import sounds
from tests.fakes.caller import ogg_opus

SPEECH = soxr.resample(sounds.clip("en/gcp-mountain-view"), 16_000, 48_000)


def heard(stream, channels=1):
    decoder = sound.OggOpus(channels)
    return np.concatenate([decoder.push(stream[start : start + 999]) for start in range(0, len(stream), 999)])


@pytest.fixture
def without(monkeypatch):
    def remove(*what):
        if "libopus" in what:
            monkeypatch.setattr(opus, "library", lambda: None)
        if "av" in what:
            monkeypatch.setitem(sys.modules, "av", None)

    return remove


@pytest.mark.parametrize("channels", [1, 2])
def test_both_decoders_hear_the_same_from_the_same_moment_on(without, channels):
    columns = np.stack([SPEECH, SPEECH[::-1]], axis=1)[:, :channels]
    stream = ogg_opus(columns, 48_000)
    assert opus.library() is not None, "Debian: libopus0"
    by_libopus = heard(stream, channels)
    without("libopus")
    by_ffmpeg = heard(stream, channels)
    assert by_libopus.shape == by_ffmpeg.shape
    assert np.abs(by_libopus - by_ffmpeg).max() < 0.01
    n = len(columns)
    assert np.corrcoef(by_libopus[:n, -1], columns[:, -1])[0, 1] > 0.9, "not shifted: the pre-skip is left out"


def test_the_gain_in_the_head_is_applied(monkeypatch):
    stream = ogg_opus(SPEECH, 48_000)
    start = stream.index(b"OpusHead") + 16
    louder = stream[:start] + struct.pack("<h", 6 * 256) + stream[start + 2 :]  # 6 dB; nobody looks at the checksum
    assert np.abs(heard(louder)).max() == pytest.approx(2 * np.abs(heard(stream)).max(), rel=0.01)


@pytest.mark.parametrize("missing", [(), ("libopus",)])
def test_what_is_no_packet_is_refused_and_the_next_one_is_heard(without, missing):
    without(*missing)
    whole = sound.OggPackets().push(ogg_opus(SPEECH, 48_000))[2:]
    decoder = sound.OpusPackets(1)
    for bad in (b"\xff" * 100, b"\x03", b"\xff\x3f"):
        with pytest.raises(Fault) as refused:
            decoder.push(bad)
        assert refused.value.code == "damaged_audio"
    assert np.abs(np.concatenate([decoder.push(packet) for packet in whole])).max() > 0.1


def test_without_any_decoder_a_session_is_told_to_send_pcm(fake, without):
    without("libopus", "av")
    refused = fake.post("/sessions", json.dumps({"format": {"encoding": "opus"}}).encode())
    assert (refused.status, refused.code) == (422, "not_possible") and "libopus" in refused.json["error"]["message"]
    assert fake.post("/sessions", b"{}").status == 201


@pytest.mark.parametrize("encoding", ["opus", "ogg_opus"])
def test_more_channels_than_opus_has_are_refused_when_the_session_is_opened(fake, encoding):
    refused = fake.post("/sessions", json.dumps({"format": {"encoding": encoding, "channels": 3}}).encode())
    assert (refused.status, refused.code) == (422, "invalid_value")


def test_without_ffmpeg_a_video_is_one_clear_error_and_other_files_are_read(fake, without):
    without("av")
    refused = fake.form("/dictate", b"\x1a\x45\xdf\xa3" + b"\xff" * 1000)
    assert (refused.status, refused.code) == (422, "not_possible") and "MP3" in refused.json["error"]["message"]
    assert fake.form("/dictate", ogg_opus(np.tile(SPEECH, 2), 48_000)).status == 200


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_named(tmp_path):
    (tmp_path / "clip").write_bytes(ogg_opus(SPEECH, 48_000))
    with pytest.raises(Fault, match="disk full") as refused:
        list(sound.flatten(tmp_path / "clip", Path("/dev/full"), 60.0))
    assert refused.value.status == 507
