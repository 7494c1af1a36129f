"""Logit filters: which tokens may come next, each rule a small class on NumPy logits.

The NumPy runtime uses them as they are; the other runtimes apply the same rules where their logits are, and are
tested against these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from engine.runtime import F32, Choice, Rules

_NEVER = np.float32(-np.inf)


class LogitFilter(Protocol):
    def apply(self, logits: F32, sampled: Sequence[int]) -> None:
        """Set what may not follow to -inf, in place. logits: (n_vocab,). sampled: tokens chosen so far."""
        ...


class SuppressFirst:
    """At the first sampled position: neither a blank nor end of text."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = np.array(tokens, np.intp)

    def apply(self, logits: F32, sampled: Sequence[int]) -> None:
        if not sampled:
            logits[self._tokens] = _NEVER


class Suppress:
    """Never these."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = np.array(tokens, np.intp)

    def apply(self, logits: F32, sampled: Sequence[int]) -> None:
        logits[self._tokens] = _NEVER


class TimestampGrammar:
    """Times come in pairs around text, never go back, and win when together they are likelier than any text."""

    def __init__(self, rules: Rules) -> None:
        self._eot = rules.eot
        self._begin = rules.timestamp_begin
        self._no_timestamps = rules.no_timestamps
        self._max_initial = rules.max_initial_timestamp

    def apply(self, logits: F32, sampled: Sequence[int]) -> None:
        begin = self._begin
        logits[self._no_timestamps] = _NEVER
        if not sampled:
            logits[:begin] = _NEVER
            if self._max_initial is not None:
                logits[begin + self._max_initial + 1 :] = _NEVER
            return
        after_time = sampled[-1] >= begin
        segment_opened = after_time and (len(sampled) < 2 or sampled[-2] >= begin)
        segment_closed = after_time and not segment_opened
        if segment_opened:
            logits[begin:] = _NEVER
        elif segment_closed:
            logits[: self._eot] = _NEVER
        last_time = next((token for token in reversed(sampled) if token >= begin), None)
        if last_time is not None:
            # The next segment may start where this one ended; but no segment may have zero length
            logits[begin : last_time if segment_closed else last_time + 1] = _NEVER
        if _log_sum_exp(logits[begin:]) > logits[:begin].max():
            logits[:begin] = _NEVER


class Filters:
    """All the filters of `rules`, in OpenAI's order."""

    def __init__(self, rules: Rules, n_vocab: int) -> None:
        self._filters: list[LogitFilter] = [SuppressFirst(rules.suppress_first), Suppress(rules.suppress)]
        if rules.timestamps:
            self._filters.append(TimestampGrammar(rules))
        else:
            # OpenAI trusts the notimestamps token here; a quantized model may still emit a time
            self._filters.append(Suppress([rules.no_timestamps, *range(rules.timestamp_begin, n_vocab)]))

    def apply(self, logits: F32, sampled: Sequence[int]) -> F32:
        """A filtered copy of the raw logits."""
        filtered = logits.copy()
        for rule in self._filters:
            rule.apply(filtered, sampled)
        return filtered


def choose(filtered: F32, temperature: float, rng: np.random.Generator) -> Choice:
    """The likeliest token at temperature 0, else one drawn at that temperature; its log-probability at 1."""
    if temperature == 0:
        token = int(filtered.argmax())
    else:
        # Gumbel's trick: the largest of logit / T + noise is a draw from softmax(logits / T)
        token = int((filtered / np.float32(temperature) + rng.gumbel(size=filtered.shape)).argmax())
    return Choice(token, float(filtered[token]) - _log_sum_exp(filtered))


def _log_sum_exp(logits: F32) -> float:
    largest = logits.max()
    if largest == _NEVER:
        return float(_NEVER)
    return float(largest) + float(np.log(np.exp(logits - largest).sum()))
