"""What a client may ask for: sizes, times, numbers. One place, so that documentation and tests agree with the code."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    upload_bytes: int = 200 * MIB  # a request with a whole recording in it
    chunk_bytes: int = 2 * MIB  # of audio for a session at once
    body_bytes: int = MIB  # any other request
    audio_s: float = 2 * 3600.0  # of a recording, or of a session
    recordings: int = 32  # whole ones, waiting or being recognised
    sessions: int = 64  # that still take audio
    ended_sessions: int = 256  # whose result is kept for a while
    listeners: int = 4  # of one session
    behind_s: float = 120.0  # audio of a session that the engine has not looked at
    rest_s: float = 5.0  # without audio; then what the engine holds for a session's next words is let go
    idle_s: float = 60.0  # without audio; then a session ends, and what was said is recognised
    kept_s: float = 120.0  # the result of a session that has ended
    read_s: float = 30.0  # without a byte of a request that has begun
    write_s: float = 30.0  # without a byte being taken by the client
    answer_s: float = 3600.0  # for the recognition of a recording, waiting included
    connections: int = 512
