"""When each word is said: dynamic time warping over what the decoder's cross-attention looks at.

As openai-whisper's `timing.py`: the text is forced through the decoder once; the cross-attention of the heads that
follow the speech is cut to the audio, normalised over the tokens, smoothed by a median and averaged. The cheapest path
through it that never goes back says in which step of 20 ms each token begins.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil

import numpy as np
from numpy.typing import NDArray

from engine.audio import POSITIONS_PER_S
from engine.checkpoint import Checkpoint
from engine.languages import UNSPACED_LANGUAGES
from engine.runtime import F32, Decoder
from engine.tokenizer import Tokenizer
from engine.transcript import Segment, Word

MEDIAN_WIDTH = 7  # steps
LONGEST_MEDIAN_S = 0.7  # a reading slower than this has pauses in its words
OPENING, CLOSING = "\"'“¿([{-", "\"'.。,，!！?？:：”)]}、…"  # belong to the word after and before
SENTENCE_ENDS = ".。!！?？"

# Heads whose attention follows the speech, (layer, head), as OpenAI publishes them in `whisper/__init__.py`; by encoder
# layers, decoder layers, mel bins and whether the model is multilingual. large-v1 has large-v2's sizes, not its heads.
_HEADS: dict[tuple[int, int, int, bool], str] = {
    (4, 4, 80, False): "1.0 2.0 2.5 3.0 3.1 3.2 3.3 3.4",
    (4, 4, 80, True): "2.2 3.0 3.2 3.3 3.4 3.5",
    (6, 6, 80, False): "3.3 4.7 5.1 5.5 5.7",
    (6, 6, 80, True): "3.1 4.2 4.3 4.7 5.1 5.2 5.4 5.6",
    (12, 12, 80, False): "6.6 7.0 7.3 7.8 8.2 8.5 8.7 9.0 9.4 9.8 9.10 10.0 10.1 10.2 10.3 10.6 10.11 11.2 11.4",
    (12, 12, 80, True): "5.3 5.9 8.0 8.4 8.7 8.8 9.0 9.7 9.9 10.5",
    (24, 24, 80, False): "11.4 14.1 14.12 14.14 15.4 16.0 16.4 16.9 17.12 17.14 18.7 18.10 18.15 20.0 20.3 20.9 20.14 "
    "21.12",
    (24, 24, 80, True): "13.15 15.4 15.15 16.1 20.0 23.4",
    (32, 32, 80, True): "10.12 13.17 16.11 16.12 16.13 17.15 17.16 18.4 18.11 18.19 19.11 21.2 21.3 22.3 22.9 "
    "22.12 23.5 23.7 23.13 25.5 26.1 26.12 27.15",
    (32, 32, 128, True): "7.0 10.17 12.18 13.12 16.1 17.14 19.11 21.4 24.1 25.6",
    (32, 4, 128, True): "2.4 2.11 3.3 3.6 3.11 3.14",
}
Heads = tuple[tuple[int, int], ...]


def alignment_heads(checkpoint: Checkpoint) -> Heads:
    """From the file, else as published for a model of these sizes, else all heads of the upper half of the layers."""
    if checkpoint.alignment_heads:
        return checkpoint.alignment_heads
    dims = checkpoint.dims
    published = _HEADS.get((dims.n_audio_layer, dims.n_text_layer, dims.n_mels, checkpoint.is_multilingual), "")
    pairs = (pair.split(".") for pair in published.split())
    heads = tuple((int(layer), int(head)) for layer, head in pairs)
    if heads and max(head for _, head in heads) < dims.n_text_head:
        return heads
    layers = range(dims.n_text_layer // 2, dims.n_text_layer)
    return tuple((layer, head) for layer in layers for head in range(dims.n_text_head))


# ------------------------------------------------------------------------------------------------- tokens to steps


def token_steps(weights: F32, n_steps: int) -> NDArray[np.int64]:
    """The step in which each token begins, (n_tokens,), never falling.

    weights: (n_heads, n_tokens, n_positions), attention probabilities; of them the first n_steps are audio.
    """
    seen = weights[:, :, :n_steps]
    seen = seen / np.maximum(seen.sum(-1, keepdims=True), 1e-12)
    normed = (seen - seen.mean(1, keepdims=True)) / np.maximum(seen.std(1, keepdims=True), 1e-12)
    return _first_steps(-smoothed(normed).mean(0))


def smoothed(x: F32) -> F32:
    """Median of MEDIAN_WIDTH values along the last axis, mirrored at its ends."""
    half = MEDIAN_WIDTH // 2
    if x.shape[-1] <= half:
        return x
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], mode="reflect")
    views = np.lib.stride_tricks.sliding_window_view(padded, MEDIAN_WIDTH, axis=-1)
    middle: F32 = np.partition(views, half, axis=-1)[..., half]
    return middle


def _first_steps(cost: F32) -> NDArray[np.int64]:
    """The first column in each row of the cheapest path from corner to corner by steps right, down, or both.

    cost: (n, m). The sums along an anti-diagonal depend on the two before it only, so it is computed at once.
    """
    n, m = cost.shape
    came_from = np.empty((n + 1, m + 1), np.uint8)  # 0: from above and left, 1: from above, 2: from the left
    came_from[0, :], came_from[:, 0] = 2, 1
    before, last = np.full(n + 1, np.inf, np.float32), np.full(n + 1, np.inf, np.float32)
    before[0] = 0  # of the diagonal 0: the corner before the first element
    for diagonal in range(2, n + m + 1):
        i = np.arange(max(1, diagonal - m), min(n, diagonal - 1) + 1)
        both, down, right = before[i - 1], last[i - 1], last[i]
        turn = np.where((both < down) & (both < right), 0, np.where((down < both) & (down < right), 1, 2))
        sums = np.full(n + 1, np.inf, np.float32)
        sums[i] = cost[i - 1, diagonal - i - 1] + np.choose(turn, [both, down, right])
        came_from[i, diagonal - i] = turn
        before, last = last, sums
    first = np.zeros(n, np.int64)
    i, j = n, m
    while i > 0:
        first[i - 1] = max(0, j - 1)
        turn_back = came_from[i, j]
        i, j = i - (turn_back != 2), j - (turn_back != 1)
    return first


# ---------------------------------------------------------------------------------------------------------- words


@dataclass(frozen=True)
class Timed:
    """A word with the number of its tokens; times from the start of the window."""

    text: str
    n_tokens: int
    start_s: float
    end_s: float
    probability: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


def split_words(tokens: Sequence[int], tokenizer: Tokenizer, language: str) -> list[tuple[str, int]]:
    """Words with the number of their tokens. Where a script has no spaces, characters, as far as tokens part them."""
    words: list[tuple[str, int]] = []
    pending, n_pending = b"", 0
    for token in tokens:
        pending, n_pending = pending + tokenizer.token_bytes(token), n_pending + 1
        if _is_cut(pending):
            continue
        text = pending.decode("utf-8", "replace")
        starts = text.startswith(" ") or text.strip() in string.punctuation or language in UNSPACED_LANGUAGES
        if words and not starts:
            text, n_pending = words[-1][0] + text, words.pop()[1] + n_pending
        words.append((text, n_pending))
        pending, n_pending = b"", 0
    if n_pending:
        words.append((pending.decode("utf-8", "replace"), n_pending))
    return words


def _is_cut(text: bytes) -> bool:
    """Whether it ends within a character."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def with_marks_joined(words: Sequence[Timed]) -> list[Timed]:
    """Opening marks go to the word behind them, closing ones to the word before; its times stay as they are."""
    joined: list[Timed] = []
    opening: list[Timed] = []
    for word in words:
        marks = word.text.strip()
        if marks and all(mark in OPENING for mark in marks) and word.text.startswith(" "):
            opening.append(word)
        elif joined and not opening and marks == word.text and all(mark in CLOSING for mark in marks):
            last = joined[-1]
            joined[-1] = replace(last, text=last.text + word.text, n_tokens=last.n_tokens + word.n_tokens)
        else:
            n_tokens = word.n_tokens + sum(mark.n_tokens for mark in opening)
            joined.append(replace(word, text="".join(mark.text for mark in opening) + word.text, n_tokens=n_tokens))
            opening = []
    return [*joined, *opening]


def shortened(words: Sequence[Timed]) -> list[Timed]:
    """Words beside the end of a sentence last twice the median at most: what is longer is the pause there."""
    longest_s = 2 * median_s(words)
    result = list(words)
    for i in range(1, len(words)):
        word = result[i]
        if not longest_s or word.seconds <= longest_s:
            continue
        if word.text in SENTENCE_ENDS:
            result[i] = replace(word, end_s=word.start_s + longest_s)
        elif words[i - 1].text in SENTENCE_ENDS:
            result[i] = replace(word, start_s=word.end_s - longest_s)
    return result


def median_s(words: Sequence[Timed]) -> float:
    """How long a word lasts here; 0 where no word has any length."""
    lengths = [word.seconds for word in words if word.seconds > 0]
    return min(LONGEST_MEDIAN_S, float(np.median(lengths))) if lengths else 0.0


# ------------------------------------------------------------------------------------------------------- segments


class WordTimer:
    """Finds the words of one recording's segments, window after window."""

    def __init__(self, tokenizer: Tokenizer, heads: Heads, n_text_ctx: int) -> None:
        self._tokenizer = tokenizer
        self._heads = heads
        self._n_text_ctx = n_text_ctx
        self._silent_from_s = 0.0  # where the last word ended

    def add_words(
        self,
        segments: Sequence[Segment],
        decoder: Decoder,
        language: str,
        task: str,
        start_s: float,
        duration_s: float,
    ) -> list[Segment]:
        """A window's segments with their words, and with the times of these where they are nearer to the truth.

        decoder: of the window; what lay in it is forgotten. start_s: of the window in the recording.
        """
        texts = [[token for token in segment.tokens if token < self._tokenizer.eot] for segment in segments]
        found = self._timed(decoder, [*chain.from_iterable(texts)], language, task, duration_s)
        usual_s = median_s(found)
        words = with_marks_joined(shortened(found))
        result = []
        for segment, text in zip(segments, texts, strict=True):
            own, n = [], 0
            while words and n < len(text):
                n += words[0].n_tokens
                own.append(words.pop(0))
            result.append(self._with_words(segment, own, start_s, usual_s))
        return result

    def _timed(self, decoder: Decoder, text: Sequence[int], language: str, task: str, duration_s: float) -> list[Timed]:
        if not text:
            return []
        tokenizer = self._tokenizer
        start = tokenizer.sot_sequence(language, task, timestamps=False)
        text = text[: self._n_text_ctx - len(start) - 1]
        decoder.rewind(0)
        weights, logprobs = decoder.align([*start, *text, tokenizer.eot], self._heads, tokenizer.eot)
        # A token is decided on at the one before it, so rows are shifted by one; the last is end of text
        n = len(start) - 1
        n_audio = max(1, min(weights.shape[2], ceil(duration_s * POSITIONS_PER_S)))
        seconds = token_steps(weights[:, n:-1], n_audio) / POSITIONS_PER_S
        probabilities = np.exp(logprobs[n : n + len(text)])
        words, at = [], 0
        for word, n_tokens in split_words(text, tokenizer, language):
            to = at + n_tokens
            timed = Timed(word, n_tokens, float(seconds[at]), float(seconds[to]), float(probabilities[at:to].mean()))
            words.append(timed)
            at = to
        return words

    def _with_words(self, segment: Segment, words: list[Timed], start_s: float, usual_s: float) -> Segment:
        if not words:
            return segment
        words = [replace(word, start_s=start_s + word.start_s, end_s=start_s + word.end_s) for word in words]
        words = _behind_a_pause(words, self._silent_from_s, usual_s)
        first, last = words[0], words[-1]
        # A segment's own times, which the model said, win where a word reaches more than half a second beyond them
        if first.start_s < segment.start_s - 0.5 and segment.start_s < first.end_s:
            words[0] = first = replace(first, start_s=max(0.0, min(first.end_s - usual_s, segment.start_s)))
        if last.end_s > segment.end_s + 0.5 and segment.end_s > last.start_s:
            words[-1] = last = replace(words[-1], end_s=max(last.start_s + usual_s, segment.end_s))
        self._silent_from_s = last.end_s
        return replace(
            segment,
            start_s=words[0].start_s,
            end_s=last.end_s,
            words=tuple(
                Word(word.text, round(word.start_s, 2), round(word.end_s, 2), word.probability) for word in words
            ),
        )


def _behind_a_pause(words: list[Timed], silent_from_s: float, usual_s: float) -> list[Timed]:
    """The first two words after a long pause, without the pause that the path gave to them."""
    longest_s, first = 2 * usual_s, words[0]
    second = words[1] if len(words) > 1 else None
    both_long = second is not None and second.end_s - first.start_s > 2 * longest_s
    if first.end_s - silent_from_s <= 4 * usual_s or not (first.seconds > longest_s or both_long):
        return words
    if second is not None and second.seconds > longest_s:
        border_s = max(second.end_s / 2, second.end_s - longest_s)
        first, second = replace(first, end_s=border_s), replace(second, start_s=border_s)
    first = replace(first, start_s=max(0.0, first.end_s - longest_s))
    return [first, *([second] if second else []), *words[2:]]
