"""The fused decode path: one token is one compiled graph, submitted once, with no read-back inside it.

A step takes the pending logits, chooses a token under the rules, writes its K and V rows into the slabs in place, and
leaves the next logits pending. The host reads one small record per token: the id and its log-probability.
`Decoder.reference` in `model.py` is the plain step that tests hold this one against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from engine.cache import CrossKV, Slabs
from engine.model import Decoder, attention, gelu, join_heads, split_heads
from engine.runtime import Choice, Dims, Rules

# What the rules look back at, an int32 array of these columns per position to choose at:
N_SAMPLED, LAST, PREVIOUS, LAST_TIME = range(4)
NONE = -1  # no such token yet


def history(sampled: Sequence[int], rules: Rules) -> list[int]:
    """The row of rule state after the tokens `sampled`."""
    times = [token for token in sampled if token >= rules.timestamp_begin]
    return [
        len(sampled),
        sampled[-1] if sampled else NONE,
        sampled[-2] if len(sampled) > 1 else NONE,
        times[-1] if times else NONE,
    ]


class Chooser:
    """Applies one set of rules on the device. Element-wise work and three reductions over the vocabulary."""

    def __init__(self, rules: Rules, n_vocab: int, n_rows: int) -> None:
        """n_rows: rows of the padded logit head; those from n_vocab on are never chosen."""
        self.rules = rules
        never = np.zeros(n_rows, np.float32)
        never[n_vocab:] = -np.inf
        never[list(rules.suppress)] = -np.inf
        never[rules.no_timestamps] = -np.inf
        if not rules.timestamps:
            never[rules.timestamp_begin :] = -np.inf
        first = never.copy()
        first[list(rules.suppress_first)] = -np.inf
        if rules.timestamps:  # the first token must be a time, and an early one
            first[: rules.timestamp_begin] = -np.inf
            if rules.max_initial_timestamp is not None:
                first[rules.timestamp_begin + rules.max_initial_timestamp + 1 :] = -np.inf
        self.never = mx.array(never)
        self.never_first = mx.array(first)
        self.ids = mx.arange(n_rows, dtype=mx.int32)
        mx.eval(self.never, self.never_first, self.ids)

    def filtered(self, logits: mx.array, past: mx.array) -> mx.array:
        """logits (n, rows), past (n, 4) -> the logits with -inf where the rules forbid, f32."""
        x = logits.astype(mx.float32)
        x = x + mx.where(past[:, N_SAMPLED, None] == 0, self.never_first, self.never)
        return self._grammar(x, past) if self.rules.timestamps else x

    def _grammar(self, x: mx.array, past: mx.array) -> mx.array:
        begin, eot, ids = self.rules.timestamp_begin, self.rules.eot, self.ids
        n, last, previous, last_time = (past[:, i, None] for i in range(4))
        is_time = ids >= begin
        after_time = (n >= 1) & (last >= begin)
        after_pair = after_time & ((n < 2) | (previous >= begin))
        after_end = after_time & ~after_pair  # a closing time: the same value may open the next segment
        forbidden = (after_pair & is_time) | (after_end & (ids < eot))
        earliest = mx.where(after_end, last_time, last_time + 1)
        forbidden = forbidden | ((last_time != NONE) & is_time & (ids < earliest))
        x = mx.where(forbidden, -mx.inf, x)
        # when the times together are likelier than the best text token, it must be a time
        times, text = mx.where(is_time, x, -mx.inf), mx.where(is_time, -mx.inf, x)
        must_be_time = mx.logsumexp(times, axis=-1, keepdims=True) > mx.max(text, axis=-1, keepdims=True)
        return mx.where(must_be_time & ~is_time, -mx.inf, x)

    def greedy(self, logits: mx.array, past: mx.array) -> tuple[mx.array, mx.array]:
        """The likeliest allowed token of each row and its log-probability: int32 (n,), f32 (n,)."""
        x = self.filtered(logits, past)
        return mx.argmax(x, axis=-1).astype(mx.int32), mx.max(x, axis=-1) - mx.logsumexp(x, axis=-1)

    def sample(
        self, logits: mx.array, past: mx.array, temperature: mx.array, key: mx.array
    ) -> tuple[mx.array, mx.array]:
        """A token of each row drawn at `temperature`, and its log-probability at temperature 1."""
        x = self.filtered(logits, past)
        token = mx.random.categorical(x / temperature, key=key).astype(mx.int32)
        chosen = mx.take_along_axis(x, token[:, None], axis=-1)[:, 0]
        return token, chosen - mx.logsumexp(x, axis=-1)

    def next_history(self, past: mx.array, token: mx.array) -> mx.array:
        """past (1, 4) after choosing token (1,)."""
        last_time = mx.where(token >= self.rules.timestamp_begin, token, past[:, LAST_TIME])
        return mx.stack([past[:, N_SAMPLED] + 1, token, past[:, LAST], last_time], axis=1)


@dataclass
class Pending:
    """What one step hands to the next, all of it on the device."""

    logits: mx.array  # (1, rows)
    position: mx.array  # int32 (1,): the slab row of the next token
    past: mx.array  # int32 (1, 4): rule state
    key: mx.array  # random key, for sampling


class FusedDecoder:
    """The decoder's layers over slabs: a block of tokens at once, or the compiled one-token step."""

    def __init__(self, decoder: Decoder, dims: Dims, compiled: bool) -> None:
        """compiled: fuse the step's element-wise work. On the CPU MLX calls a C++ compiler for that, at run time."""
        self.decoder = decoder
        self.dims = dims
        self.compiled = compiled
        self.rows = mx.arange(dims.n_text_ctx, dtype=mx.int32)
        mx.eval(self.rows)
        self._steps: dict[tuple[Rules, bool], Callable[..., tuple[mx.array, ...]]] = {}
        self._choosers: dict[Rules, Chooser] = {}

    def chooser(self, rules: Rules) -> Chooser:
        if rules not in self._choosers:
            self._choosers[rules] = Chooser(rules, self.dims.n_vocab, self.decoder.table.n_rows)
        return self._choosers[rules]

    def block(self, tokens: mx.array, position: mx.array, slabs: Slabs, cross: CrossKV) -> mx.array:
        """Append tokens (n,) at slab row position (1,): their final states (n, d). Rewrites `slabs` in place."""
        n = tokens.shape[0]
        at = position + mx.arange(n, dtype=mx.int32)
        seen = self.rows[None] <= at[:, None]
        x = self.decoder.table.take(tokens) + self.decoder.positions[at]
        for i, layer in enumerate(self.decoder.layers):
            q, k, v = (split_heads(part) for part in mx.split(layer.qkv(layer.norm(x)), 3, axis=-1))
            slabs.keys[i] = mx.slice_update(slabs.keys[i], k, position, axes=[2])
            slabs.values[i] = mx.slice_update(slabs.values[i], v, position, axes=[2])
            x = x + layer.out(join_heads(attention(q, slabs.keys[i], slabs.values[i], seen)))
            q = split_heads(layer.cross_q(layer.cross_norm(x)))
            x = x + layer.cross_out(join_heads(attention(q, cross.keys[i], cross.values[i])))
            x = x + layer.fc2(gelu(layer.fc1(layer.mlp_norm(x))))
        return self.decoder.norm(x)

    def logits(self, states: mx.array) -> mx.array:
        """Final states (n, d) -> raw logits (n, rows); rows from n_vocab on are padding."""
        return self.decoder.table.product(states)

    def step(self, pending: Pending, slabs: Slabs, cross: CrossKV, rules: Rules, temperature: float) -> mx.array:
        """Choose from `pending`, append, and leave the next logits pending. Lazy: the caller submits it.

        Returns the record, f32 (2,): token id and log-probability. Updates `pending` and `slabs`.
        """
        run = self._steps.get((rules, temperature > 0)) or self._build(rules, temperature > 0)
        keys, values = slabs.keys, slabs.values
        slabs.keys, slabs.values = [], []  # this graph becomes their only holder, so that MLX may write into them
        heat = mx.array(temperature, mx.float32)
        record, pending.logits, pending.position, pending.past, pending.key, *written = run(
            heat, pending.logits, pending.position, pending.past, pending.key, keys, values, cross.keys, cross.values
        )
        n = len(keys)
        slabs.keys, slabs.values = written[:n], written[n:]
        return record

    def _build(self, rules: Rules, sampling: bool) -> Callable[..., tuple[mx.array, ...]]:
        chooser = self.chooser(rules)

        def step(
            heat: mx.array,
            logits: mx.array,
            position: mx.array,
            past: mx.array,
            key: mx.array,
            keys: list[mx.array],
            values: list[mx.array],
            cross_keys: list[mx.array],
            cross_values: list[mx.array],
        ) -> tuple[mx.array, ...]:
            if sampling:
                pair = mx.random.split(key)
                key = pair[1]
                token, logprob = chooser.sample(logits, past, heat, pair[0])
            else:
                token, logprob = chooser.greedy(logits, past)
            slabs = Slabs(list(keys), list(values))
            states = self.block(token, position, slabs, CrossKV(cross_keys, cross_values))
            record = mx.concatenate([token.astype(mx.float32), logprob])
            return (
                record,
                self.logits(states),
                position + 1,
                chooser.next_history(past, token),
                key,
                *slabs.keys,
                *slabs.values,
            )

        run: Callable[..., tuple[mx.array, ...]] = mx.compile(step) if self.compiled else step
        self._steps[rules, sampling] = run
        return run


def read_choice(record: mx.array) -> Choice:
    """Wait for a step's record and read it."""
    token, logprob = np.array(record)
    return Choice(int(token), float(logprob))
