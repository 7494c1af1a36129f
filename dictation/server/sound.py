"""Uploaded audio becomes samples: files of every usual format, and streams of PCM or Opus that are cut anywhere.

Uploads are untrusted. A file is known by its first bytes, never by its name, and FFmpeg (through PyAV) is told which
container it has before it: left to guess, it would follow playlists to other files and addresses. FFmpeg is loaded for
the files that need it only, and self-contained builds have none.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from dictation.frames import SAMPLE_RATE_HZ
from dictation.server import opus
from dictation.server.faults import Fault
from engine import audio
from engine.errors import AudioError

F32 = NDArray[np.float32]

LEAST_RATE_HZ, MOST_RATE_HZ, MOST_CHANNELS = 8_000, 192_000, 8
MOST_PACKET_BYTES = 61_440  # an Opus packet of 120 ms at the highest rate is far smaller
BLOCK_S = 0.5
STEP_S = 10.0  # of audio that is worked on before others get their turn
CHUNK_S = 300.0  # of audio in one chunk for a session
_OGG_HEADER_BYTES = 27


# ---- files ----------------------------------------------------------------------------------------------------------


def blocks(file: Path) -> Iterator[tuple[F32, int]]:
    """(n, channels) and the rate, until the end. Raises Fault for what is no audio, or is damaged."""
    try:
        with audio.open_sound(file) as sound:
            _check(sound.samplerate, sound.channels)
            n_frames = max(1, round(BLOCK_S * sound.samplerate))
            while len(block := sound.read(n_frames, dtype="float32", always_2d=True)):
                yield _clean(block), sound.samplerate
        return
    except soundfile.SoundFileError as error:
        raise Fault(422, "damaged_audio", "The audio is damaged: it could be read in part only.") from error
    except AudioError:  # of another format
        pass
    container = _container(file)
    if container is None:
        raise _not_audio()
    try:
        import av
    except ImportError as error:
        text = "This Sayso reads no MP4, M4A or WebM files. Send a WAV, FLAC, OGG or MP3 file."
        raise Fault(422, "not_possible", text, param="file") from error
    try:
        yield from _av_blocks(file, container)
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise Fault(422, "damaged_audio", "The audio is damaged, or there is none in the file.") from error


def _not_audio() -> Fault:
    text = "This is not audio that Sayso can read. Send a WAV, FLAC, OGG, MP3, M4A, MP4 or WebM file."
    return Fault(422, "not_audio", text, param="file")


def _check(rate_hz: int, channels: int) -> None:
    """Raises Fault. At a lower rate a few bytes would be hours of audio, and nobody would be understood."""
    text = ""
    if not LEAST_RATE_HZ <= rate_hz <= MOST_RATE_HZ:
        text = f"The audio has {rate_hz} samples a second. Send {LEAST_RATE_HZ} to {MOST_RATE_HZ}."
    elif channels > MOST_CHANNELS:
        text = f"The audio has {channels} channels. Send up to {MOST_CHANNELS}."
    if text:
        raise Fault(422, "not_audio", text, param="file")


def _container(file: Path) -> str | None:
    """FFmpeg's name for a container that libsndfile does not read; None when it is none of ours."""
    with file.open("rb") as opened:
        head = opened.read(12)
    if head[4:8] == b"ftyp":
        return "mov,mp4,m4a,3gp,3g2,mj2"
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return "matroska,webm"
    return None


def _av_blocks(file: Path, container: str) -> Iterator[tuple[F32, int]]:
    import av

    with file.open("rb") as opened, av.open(opened, "r", format=container, metadata_errors="replace") as source:
        stream = source.streams.audio[0]
        for frame in source.decode(stream):
            samples = _floats(frame)
            _check(frame.sample_rate, samples.shape[1])
            yield samples, frame.sample_rate


def _floats(frame: Any) -> F32:
    """A decoded frame as (n, channels) from -1 to 1."""
    values = frame.to_ndarray()
    if not frame.format.is_planar:
        values = values.reshape(-1, frame.layout.nb_channels).T
    if values.dtype.kind == "i":
        values = values.astype(np.float32) / np.float32(np.iinfo(values.dtype).max + 1.0)
    elif values.dtype.kind == "u":
        values = (values.astype(np.float32) - 128.0) / 128.0
    return _clean(np.ascontiguousarray(values.T, np.float32))


def _clean(columns: F32) -> F32:
    """(n, channels) without NaN or infinities."""
    return audio.clean(columns.reshape(-1)).reshape(columns.shape)


def flatten(file: Path, target: Path, longest_s: float) -> Iterator[float]:
    """Write `file` as mono 16 kHz WAV, which the engine reads window by window.

    Yields the seconds written so far, every STEP_S and at the end, so that others get their turn in between.
    Raises Fault: not audio, damaged, longer than `longest_s`.
    """
    n_samples, told = 0, 0
    with _stored(), soundfile.SoundFile(target, "w", SAMPLE_RATE_HZ, 1, subtype="FLOAT", format="WAV") as out:
        for samples in _resampled(file):
            n_samples += len(samples)
            if n_samples > longest_s * SAMPLE_RATE_HZ:
                raise too_long(longest_s)
            out.write(samples)
            if n_samples - told >= STEP_S * SAMPLE_RATE_HZ:
                told = n_samples
                yield n_samples / SAMPLE_RATE_HZ
    yield n_samples / SAMPLE_RATE_HZ


@contextmanager
def _stored() -> Iterator[None]:
    """libsndfile tells a full disk as it tells everything else; of what is read, `blocks` has told it already."""
    try:
        yield
    except soundfile.SoundFileError as error:
        raise Fault(507, "storage", "The computer can't store the audio. Is its disk full?") from error


def too_long(longest_s: float) -> Fault:
    return Fault(413, "audio_too_long", f"The audio is longer than {longest_s / 60:g} minutes. Send it in parts.")


def _resampled(file: Path) -> Iterator[F32]:
    """Mono at 16 kHz; channels are averaged, as everywhere where whole files are written down."""
    resampler: Any = None
    rate_hz = SAMPLE_RATE_HZ
    for block, rate_hz in blocks(file):
        mono = block.mean(axis=1) if block.shape[1] > 1 else block[:, 0]
        if rate_hz == SAMPLE_RATE_HZ:
            yield mono
            continue
        if resampler is None:
            resampler = soxr.ResampleStream(rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32")
        yield resampler.resample_chunk(mono)
    if resampler is not None:
        yield resampler.resample_chunk(np.empty(0, np.float32), last=True)


# ---- streams --------------------------------------------------------------------------------------------------------


class Stream(Protocol):
    """Audio that comes in chunks. A chunk that raises Fault is left out."""

    rate_hz: int
    channels: int

    def push(self, data: bytes) -> F32:
        """The frames that are complete now, (n, channels)."""
        ...


class Pcm:
    """Interleaved PCM, little endian, cut anywhere: a frame that is not whole yet waits for the next chunk."""

    def __init__(self, encoding: str, rate_hz: int, channels: int) -> None:
        self.rate_hz, self.channels = rate_hz, channels
        self._type = np.dtype("<i2" if encoding == "pcm_s16le" else "<f4")
        self._rest = b""

    def push(self, data: bytes) -> F32:
        data = self._rest + data
        n_bytes = len(data) // (self._type.itemsize * self.channels) * self._type.itemsize * self.channels
        self._rest = data[n_bytes:]
        values = np.frombuffer(data[:n_bytes], self._type).astype(np.float32)
        if self._type.kind == "i":
            values /= 32768.0
        return audio.clean(values).reshape(-1, self.channels)


class OpusPackets:
    """One Opus packet per chunk, without a container."""

    rate_hz = opus.RATE_HZ

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self._decoder = _opus_decoder(_opus_head(channels))

    def push(self, data: bytes) -> F32:
        return _decoded(self._decoder, [data] if data else [], self.channels)


class OggOpus:
    """An Ogg Opus stream, cut anywhere."""

    rate_hz = opus.RATE_HZ

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self._ogg = OggPackets()
        self._decoder: Any = None
        self._n_headers = 0

    def push(self, data: bytes) -> F32:
        found = []
        for packet in self._ogg.push(data):
            if packet.startswith(b"OpusHead"):
                self._begin(packet)
            elif not packet.startswith(b"OpusTags"):
                found.append(packet)
        if found and self._decoder is None:
            raise _not_opus()
        return _decoded(self._decoder, found, self.channels)

    def _begin(self, head: bytes) -> None:
        if len(head) < 19 or head[9] not in (1, 2):
            raise _not_opus()
        self._decoder = _opus_decoder(head)


class OggPackets:
    """Ogg pages in, packets out (RFC 3533). Of the stream only one page and one packet are held."""

    def __init__(self) -> None:
        self._data = b""
        self._packet = b""

    def push(self, data: bytes) -> list[bytes]:
        rest, packet, found = self._data + data, self._packet, []
        while len(rest) >= _OGG_HEADER_BYTES:
            if rest[:5] != b"OggS\0":
                raise _not_opus()
            lacing = rest[_OGG_HEADER_BYTES : _OGG_HEADER_BYTES + rest[26]]
            start, n_bytes = _OGG_HEADER_BYTES + rest[26], sum(lacing)
            if len(lacing) < rest[26] or len(rest) < start + n_bytes:
                break
            for length in lacing:
                packet += rest[start : start + length]
                start += length
                if len(packet) > MOST_PACKET_BYTES:
                    raise _not_opus()
                if length < 255:
                    found.append(packet)
                    packet = b""
            rest = rest[start:]
        self._data, self._packet = rest, packet
        return found


def _not_opus() -> Fault:
    return Fault(422, "not_audio", "This is not an Ogg Opus stream with one or two channels.")


def _opus_head(channels: int) -> bytes:
    """RFC 7845, 5.1, without pre-skip."""
    return struct.pack("<8sBBHIhB", b"OpusHead", 1, channels, 0, opus.RATE_HZ, 0, 0)


class _AvOpus:
    """As `opus.Decoder`, where the system has no libopus."""

    def __init__(self, head: bytes) -> None:
        import av

        self._av = av
        self._decoder: Any = av.CodecContext.create("opus", "r")
        self._decoder.extradata = head  # says how much of the beginning is to be skipped, which the decoder does

    def decode(self, packet: bytes) -> F32:
        try:
            frames = [_floats(frame) for frame in self._decoder.decode(self._av.Packet(packet))]
            return np.concatenate(frames) if frames else np.zeros((0, 1), np.float32)
        except (self._av.FFmpegError, ValueError) as error:
            raise opus.OpusError("This is no Opus packet.") from error


def _opus_decoder(head: bytes) -> opus.Decoder | _AvOpus:
    """Raises Fault where nothing here decodes Opus."""
    if opus.library() is not None:
        return opus.Decoder(head)
    try:
        return _AvOpus(head)
    except ImportError as error:
        text = "Opus needs libopus, which this computer does not have (Debian: libopus0). Send PCM instead."
        raise Fault(422, "not_possible", text) from error


def _decoded(decoder: opus.Decoder | _AvOpus | None, packets: list[bytes], channels: int) -> F32:
    """The packets' frames with as many channels as the session was opened with."""
    parts, n = [np.zeros((0, channels), np.float32)], 0
    try:
        for packet in filter(None, packets):  # an empty one would be a lost packet, or the end
            assert decoder is not None
            samples = _clean(decoder.decode(packet))
            parts.append(samples if samples.shape[1] == channels else np.repeat(samples[:, :1], channels, axis=1))
            n += len(samples)
            if n > CHUNK_S * opus.RATE_HZ:  # a few bytes of Opus can be hours of silence
                raise Fault(413, "audio_too_long", f"A chunk may hold {CHUNK_S:g} s of audio. Send it in parts.")
    except opus.OpusError as error:
        raise Fault(422, "damaged_audio", "This is not an Opus packet, or a damaged one; it was left out.") from error
    return np.concatenate(parts)


def open_stream(encoding: str, rate_hz: int, channels: int) -> Stream:
    """The stream for a session's `format`. Raises Fault for one that can't be decoded."""
    if encoding in ("opus", "ogg_opus") and channels > 2:
        raise Fault(422, "invalid_value", "Opus has one or two channels.", param="channels")
    if encoding == "opus":
        return OpusPackets(channels)
    if encoding == "ogg_opus":
        return OggOpus(channels)
    return Pcm(encoding, rate_hz, channels)
