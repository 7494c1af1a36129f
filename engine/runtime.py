"""The contract between decoding and the runtimes that compute: NumPy, the native CPU core, MLX.

One utterance flows through it like this:

    audio = runtime.encode(mel)                       # or a growing one: runtime.encoder_stream()
    decoder = runtime.decoder(audio)                  # slabs, cross-attention K and V
    decoder.prefill([sot, language, task, ...])       # leaves the logits of the last position pending
    for choice in decoder.generate(rules):            # greedy or sampled tokens, one native call or graph each
        ...

A runtime, and all that it made, belongs to the thread that built it; one that is not MLX's can be handed to another
while nothing runs on it (`devices.stays_on_its_thread`). Logits, filters and the choice stay on the device; the host
sees one `Choice` per token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]

N_AUDIO_CTX = 1500  # encoder positions of a full window, 20 ms each
HEAD_SIZE = 64  # of every Whisper there is
MARGIN_POSITIONS = 25  # of silence computed after the end of speech, 0.5 s; later ones come from the silence cache
VERIFY_LIMIT = 32  # tokens in one `verify` call


@dataclass(frozen=True)
class Dims:
    """Sizes of a Whisper, under OpenAI's names."""

    n_mels: int
    n_audio_ctx: int
    n_audio_state: int
    n_audio_head: int
    n_audio_layer: int
    n_vocab: int
    n_text_ctx: int
    n_text_state: int
    n_text_head: int
    n_text_layer: int


@dataclass(frozen=True)
class Rules:
    """Which tokens may come next. Pure data, so that each runtime applies it where its logits are.

    Applied in this order, as OpenAI's `decoding.py` does: blank rule, suppress list, timestamp grammar.
    Token ids from `timestamp_begin` on are times (0.02 s steps); with `timestamps` False all of them are masked.
    """

    suppress: tuple[int, ...]  # never chosen
    suppress_first: tuple[int, ...]  # not chosen as the first sampled token: blank and end of text
    eot: int
    no_timestamps: int
    timestamp_begin: int
    timestamps: bool = False
    max_initial_timestamp: int | None = 50  # index above timestamp_begin that the first sampled token may reach


@dataclass(frozen=True)
class Choice:
    """One chosen token and its log-probability under the filtered distribution at temperature 1."""

    token: int
    logprob: float


class AudioState(Protocol):
    """Encoded audio, held on the device: final states and cross-attention K and V of every position."""

    @property
    def n_positions(self) -> int:
        """Positions that the decoder attends to (1500 unless a cut window was asked for)."""
        ...

    @property
    def n_encoded(self) -> int:
        """Positions that were computed for this audio; the rest come from the silence cache."""
        ...

    def states(self) -> F32:
        """Final encoder states, (n_positions, n_audio_state), copied to the host. For tests and language work."""
        ...


class EncoderStream(Protocol):
    """An utterance of at most 30 s, encoded while it is spoken.

    Encoder positions lie in slabs: kept | encoded last | silence from the cache. Which positions are good enough to
    be kept, because enough audio followed them when they were encoded, is the caller's policy (`streaming.py`).
    """

    def append(self, log_power: F32) -> None:
        """Take more log10 mel power, (n_frames, n_mels), before flooring. Computes nothing."""
        ...

    def truncate(self, n_frames: int) -> None:
        """Forget the frames from `n_frames` on: the utterance was cut there. `n_encoded` falls to `n_heard` at most."""
        ...

    def end(self, n_positions: int) -> None:
        """No audio follows, and what was heard fills `n_positions`: frames after them only reach into the padding."""
        ...

    @property
    def n_heard(self) -> int:
        """Positions that the frames so far fill, a begun one included; at most 1500."""
        ...

    @property
    def n_encoded(self) -> int:
        """Positions that lie in the slabs since the last `state`; 0 before the first."""
        ...

    def state(self, keep: int = 0) -> AudioState:
        """Encode in one pass from position `keep` to MARGIN_POSITIONS after the last heard one (at most 1500).

        keep: 0 to `n_encoded`; the positions before it stay as earlier passes left them, cross-attention K and V too.
        Those encoded attend to the kept ones, to themselves and to silence from the cache. The mel floor follows the
        loudest bin heard so far. The state given out before this call must not be used any more. A cancelled pass
        leaves `n_encoded` at `keep`.
        """
        ...


class Decoder(Protocol):
    """Decodes one AudioState. `length` tokens lie in the self-attention slabs."""

    @property
    def length(self) -> int: ...

    def prefill(self, tokens: Sequence[int]) -> None:
        """Append prompt tokens in one block; the logits of the last one become pending."""
        ...

    def logits(self) -> F32:
        """The pending raw logits, (n_vocab,), on the host. For language detection, no_speech_prob and tests."""
        ...

    def generate(
        self,
        rules: Rules,
        temperature: float = 0.0,
        seed: int = 0,
        sampled: Sequence[int] = (),
    ) -> Iterator[Choice]:
        """Choose from the pending logits, append the choice, and so on, until the context (448) is full.

        The caller stops at end of text. Whether the last choice already lies in the slabs is the runtime's affair:
        `rewind` before anything else is asked of the decoder.
        `sampled` holds the tokens chosen before this call (after a `verify`), which the first-token and timestamp
        rules look back at.
        """
        ...

    def verify(self, draft: Sequence[int], rules: Rules, sampled: Sequence[int] = ()) -> list[Choice]:
        """Check a greedy draft of at most 32 tokens in one pass.

        Returns the choices greedy decoding makes, as far as the draft agrees, plus the first that differs (or the
        one after the last). The slabs then hold the agreed tokens and not the last choice; its logits are pending, so
        `generate` goes on by making that same choice again.
        """
        ...

    def align(self, tokens: Sequence[int], heads: Sequence[tuple[int, int]], n_words: int) -> tuple[F32, F32]:
        """Force tokens through an empty decoder, to see what they look at and how likely they are.

        heads: (layer, head) pairs of the decoder.
        Returns the probabilities of their cross-attention, (n_heads, n_tokens, n_positions), and the log-probability
        of each token but the first given those before it, (n_tokens - 1,), among the ids below `n_words`; -inf for
        one that is not among them. The decoder is empty again afterwards.
        """
        ...

    def rewind(self, length: int) -> None:
        """Forget all tokens from `length` on. The pending logits are gone until the next prefill."""
        ...


class Runtime(Protocol):
    """Weights on a device."""

    @property
    def dims(self) -> Dims: ...

    @property
    def device(self) -> str:
        """What computes: "numpy", "cpu" (native), "mlx-cpu", "metal", "cuda"."""
        ...

    def encode(self, mel: F32, audio_context: int | None = None) -> AudioState:
        """Encode a window.

        mel: (3000, n_mels), normalised, from `audio.log_mel` of audio padded with zeros to 30 s.
        audio_context: encoder positions to compute; the rest come from the silence cache. None computes all 1500.
        """
        ...

    def encoder_stream(self) -> EncoderStream:
        """Start encoding an utterance of at most 30 s while it is spoken."""
        ...

    def decoder(self, audio: AudioState) -> Decoder: ...

    def set_cancel(self, cancelled: Callable[[], bool] | None) -> None:
        """`cancelled` is asked between encoder layers and decode steps; when true the call raises `Cancelled`."""
        ...

    def close(self) -> None:
        """Free the weights. Last call on the owner thread."""
        ...
