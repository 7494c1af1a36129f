"""The fused decode path: one token is one compiled graph, submitted once, with no read-back inside it.

A step takes the pending logits, chooses a token under the rules, writes its K and V rows into the slabs in place, and
leaves the next logits pending. The host reads one small record per token: the id and its log-probability.

On a GPU the layers are kernels of ours (`kernels/step.py`), which write the slabs themselves, so that the next step
may be submitted while this one runs. In plain MLX (the CPU, and the fallback) a slab is written by `slice_update`,
which MLX does in place only when nothing else holds the slab: not even a step that still runs. There a step is waited
for before the next one. `Decoder.reference` in `model.py` is the plain step that tests hold both against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from engine.cache import CrossKV, Slabs, keys_values
from engine.kernels.step import KernelChooser, KernelStep
from engine.model import Decoder, attention, gelu, join_heads, split_heads
from engine.runtime import VERIFY_LIMIT, Choice, Dims, Rules

# The state of decoding on the device, an int32 array of 8: these five, and sixth the number of tokens in a block
POSITION, N_SAMPLED, LAST, PREVIOUS, LAST_TIME = range(5)
NONE = -1  # no such token yet
Mask = NDArray[np.bool_]


def state_row(position: int, sampled: Sequence[int], rules: Rules) -> list[int]:
    """The state before the token at slab row `position` is chosen, after the tokens `sampled`."""
    times = [token for token in sampled if token >= rules.timestamp_begin]
    last = sampled[-1] if sampled else NONE
    previous = sampled[-2] if len(sampled) > 1 else NONE
    return [position, len(sampled), last, previous, times[-1] if times else NONE, 0, 0, 0]


def forbidden(rules: Rules, n_vocab: int, n_rows: int) -> tuple[Mask, Mask]:
    """Tokens that are never chosen, and those that are not chosen as the first sampled one: bool (n_rows,) each.

    n_rows: rows of the padded logit head; those from n_vocab on are never chosen.
    """
    never = np.zeros(n_rows, np.bool_)
    never[n_vocab:] = True
    never[[*rules.suppress, rules.no_timestamps]] = True
    if not rules.timestamps:
        never[rules.timestamp_begin :] = True
    first = never.copy()
    first[list(rules.suppress_first)] = True
    if rules.timestamps:  # the first token must be a time, and an early one
        first[: rules.timestamp_begin] = True
        if rules.max_initial_timestamp is not None:
            first[rules.timestamp_begin + rules.max_initial_timestamp + 1 :] = True
    return never, first


class Chooser:
    """Applies one set of rules on the device, in plain MLX, to any number of positions."""

    def __init__(self, rules: Rules, n_vocab: int, n_rows: int) -> None:
        self.rules = rules
        self.masks = forbidden(rules, n_vocab, n_rows)
        self.never, self.never_first = (mx.array(np.where(mask, -np.inf, 0).astype(np.float32)) for mask in self.masks)
        self.ids = mx.arange(n_rows, dtype=mx.int32)
        mx.eval(self.never, self.never_first, self.ids)

    def filtered(self, logits: mx.array, state: mx.array) -> mx.array:
        """logits (n, rows), state (n, 8) -> the logits with -inf where the rules forbid, f32."""
        x = logits.astype(mx.float32)
        x = x + mx.where(state[:, N_SAMPLED, None] == 0, self.never_first, self.never)
        return self._grammar(x, state) if self.rules.timestamps else x

    def _grammar(self, x: mx.array, state: mx.array) -> mx.array:
        begin, eot, ids = self.rules.timestamp_begin, self.rules.eot, self.ids
        n, last, previous, last_time = (state[:, i, None] for i in (N_SAMPLED, LAST, PREVIOUS, LAST_TIME))
        is_time = ids >= begin
        after_time = (n >= 1) & (last >= begin)
        after_pair = after_time & ((n < 2) | (previous >= begin))
        after_end = after_time & ~after_pair  # a closing time: the same value may open the next segment
        earliest = mx.where(after_end, last_time, last_time + 1)
        no = (after_pair & is_time) | (after_end & (ids < eot))
        no = no | ((last_time != NONE) & is_time & (ids < earliest))
        x = mx.where(no, -mx.inf, x)
        # when the times together are likelier than the best text token, it must be a time
        times, text = mx.where(is_time, x, -mx.inf), mx.where(is_time, -mx.inf, x)
        must_be_time = mx.logsumexp(times, axis=-1, keepdims=True) > mx.max(text, axis=-1, keepdims=True)
        return mx.where(must_be_time & ~is_time, -mx.inf, x)

    def greedy(self, logits: mx.array, state: mx.array) -> tuple[mx.array, mx.array]:
        """The likeliest allowed token of each row and its log-probability: int32 (n,), f32 (n,)."""
        x = self.filtered(logits, state)
        return mx.argmax(x, axis=-1).astype(mx.int32), mx.max(x, axis=-1) - mx.logsumexp(x, axis=-1)

    def sample(
        self, logits: mx.array, state: mx.array, temperature: mx.array, key: mx.array
    ) -> tuple[mx.array, mx.array]:
        """A token of each row drawn at `temperature`, and its log-probability at temperature 1."""
        x = self.filtered(logits, state)
        token = mx.random.categorical(x / temperature, key=key).astype(mx.int32)
        chosen = mx.take_along_axis(x, token[:, None], axis=-1)[:, 0]
        return token, chosen - mx.logsumexp(x, axis=-1)

    def next_state(self, state: mx.array, token: mx.array) -> mx.array:
        """state (8,) after choosing token (1,)."""
        last_time = mx.where(token >= self.rules.timestamp_begin, token, state[LAST_TIME])
        return mx.concatenate([state[:LAST] + 1, token, state[LAST:PREVIOUS], last_time, state[LAST_TIME + 1 :]])


@dataclass
class Pending:
    """What one step hands to the next, all of it on the device."""

    logits: mx.array  # (1, rows)
    state: mx.array  # int32 (8,)
    key: mx.array  # random key, for sampling


class StepInputs(NamedTuple):
    """What one step's graph is given."""

    logits: mx.array  # pending, (1, rows)
    state: mx.array  # int32 (8,)
    slabs: list[mx.array]  # as in `Slabs`
    cross: list[mx.array]  # as in `CrossKV`
    heat: mx.array | None = None  # the temperature and
    key: mx.array | None = None  # a random key, when sampling


Step = Callable[[StepInputs], tuple[mx.array, ...]]  # record, logits, state, random key when sampling, slabs if new
StepFunction = Callable[..., tuple[mx.array, ...]]  # the same of the single inputs, as MLX compiles it


class FusedDecoder:
    """The decoder's layers over slabs: a block of tokens at once, or the compiled one-token step."""

    def __init__(self, decoder: Decoder, dims: Dims, kernels: KernelStep | None, compiled: bool) -> None:
        """kernels: None for plain MLX.

        compiled: submit the step as one graph. On the CPU MLX calls a C++ compiler for that, at run time.
        """
        self.decoder = decoder
        self.dims = dims
        self.kernels = kernels
        self.compiled = compiled
        self.rows = mx.arange(dims.n_text_ctx, dtype=mx.int32)
        mx.eval(self.rows)
        self._append: StepFunction = mx.compile(self._append_block) if compiled else self._append_block
        self._steps: dict[tuple[Rules, bool], StepFunction] = {}
        self._choosers: dict[Rules, Chooser] = {}

    def chooser(self, rules: Rules) -> Chooser:
        if rules not in self._choosers:
            self._choosers[rules] = Chooser(rules, self.dims.n_vocab, self.decoder.table.n_rows)
        return self._choosers[rules]

    def block(self, tokens: mx.array, state: mx.array, slabs: Slabs, cross: CrossKV) -> mx.array:
        """Append tokens (n,) at slab row state[0]: their final states (n, d). Updates `slabs`."""
        at = state[:1] + mx.arange(tokens.shape[0], dtype=mx.int32)
        seen = self.rows[None] <= at[:, None]
        x = self.decoder.table.take(tokens) + self.decoder.positions[at]
        for i, layer in enumerate(self.decoder.layers):
            q = self._write(layer.qkv(layer.norm(x)), state, slabs, i)
            x = x + layer.out(join_heads(attention(q, *keys_values(slabs.layers[i]), seen)))
            q = split_heads(layer.cross_q(layer.cross_norm(x)))
            x = x + layer.cross_out(join_heads(attention(q, *keys_values(cross.layers[i]))))
            x = x + layer.fc2(gelu(layer.fc1(layer.mlp_norm(x))))
        return self.decoder.norm(x)

    def _write(self, qkv: mx.array, state: mx.array, slabs: Slabs, i: int) -> mx.array:
        """K and V rows of qkv (n, 3 * d) into layer i's slabs; q as [1, heads, n, 64]."""
        if self.kernels is not None:
            return self.kernels.write_rows(qkv, state, slabs.layers[i])
        q, k, v = (split_heads(part) for part in mx.split(qkv, 3, axis=-1))
        slabs.layers[i] = mx.slice_update(slabs.layers[i], mx.concatenate([k, v]), state[:1], axes=[2])
        return q

    def append(self, tokens: mx.array, state: mx.array, slabs: Slabs, cross: CrossKV) -> mx.array:
        """Append tokens (n,) at slab row state[0]: raw logits (n, rows), lazily. Updates `slabs`."""
        layers, slabs.layers = slabs.layers, []
        # a graph is kept for every length that is compiled: long prompts, of which there are many, are not
        run = self._append if tokens.shape[0] <= VERIFY_LIMIT else self._append_block
        logits, *written = run(tokens, state, layers, cross.layers)
        slabs.layers = written or layers
        return logits

    def _append_block(
        self, tokens: mx.array, state: mx.array, layers: list[mx.array], cross: list[mx.array]
    ) -> tuple[mx.array, ...]:
        slabs = Slabs(list(layers))
        logits = self.logits(self.block(tokens, state, slabs, CrossKV(cross)))
        return (logits,) if self.kernels is not None else (logits, *slabs.layers)

    def logits(self, states: mx.array) -> mx.array:
        """Final states (n, d) -> raw logits (n, rows), f32; rows from n_vocab on are padding."""
        return self.decoder.table.product(states).astype(mx.float32)

    def step(self, pending: Pending, slabs: Slabs, cross: CrossKV, rules: Rules, temperature: float) -> mx.array:
        """Choose from `pending`, append, and leave the next logits pending. Lazy: the caller submits it.

        Returns the record, f32 (2,): token id and log-probability. Updates `pending` and `slabs`.
        """
        sampling = temperature > 0
        run = self._steps.get((rules, sampling)) or self._build(rules, sampling)
        chance = (mx.array(temperature, mx.float32), pending.key) if sampling else ()
        layers, slabs.layers = slabs.layers, []
        # the graph is now the only holder of the slabs, so that MLX may write into them
        record, pending.logits, pending.state, *rest = run(pending.logits, pending.state, layers, cross.layers, *chance)
        if sampling:
            pending.key = rest.pop(0)
        slabs.layers = rest or layers
        return record

    def _build(self, rules: Rules, sampling: bool) -> StepFunction:
        step = self._plain_step(rules) if self.kernels is None else self._kernel_step(rules)

        def run(*given: Any) -> tuple[mx.array, ...]:
            return step(StepInputs(*given))

        self._steps[rules, sampling] = mx.compile(run) if self.compiled else run
        return self._steps[rules, sampling]

    def _plain_step(self, rules: Rules) -> Step:
        chooser = self.chooser(rules)

        def step(given: StepInputs) -> tuple[mx.array, ...]:
            token, record, *key = _pick(chooser, given)
            slabs = Slabs(list(given.slabs))
            states = self.block(token, given.state, slabs, CrossKV(given.cross))
            following = chooser.next_state(given.state, token)
            return (record, self.logits(states), following, *key, *slabs.layers)

        return step

    def _kernel_step(self, rules: Rules) -> Step:
        kernels, chooser = self.kernels, self.chooser(rules)
        assert kernels is not None
        choose = KernelChooser(kernels, rules, *chooser.masks)

        def step(given: StepInputs) -> tuple[mx.array, ...]:
            state = given.state
            if given.key is not None:
                token, record, *key = _pick(chooser, given)
                following = chooser.next_state(state, token)
                x = (self.decoder.table.take(token) + self.decoder.positions[state[:1]]).astype(mx.float32)[0]
            else:
                key = []
                record, following, x = choose(given.logits, state)
            logits = kernels.logits(x, state, Slabs(given.slabs), CrossKV(given.cross))
            return (record, logits, following, *key)

        return step


def _pick(chooser: Chooser, given: StepInputs) -> list[mx.array]:
    """A token (1,) in plain MLX, its record, and when sampling the next random key."""
    states = given.state[None]
    if given.heat is None or given.key is None:
        token, logprob = chooser.greedy(given.logits, states)
        keys = []
    else:
        pair = mx.random.split(given.key)
        token, logprob = chooser.sample(given.logits, states, given.heat, pair[0])
        keys = [pair[1]]
    return [token, mx.concatenate([token.astype(mx.float32), logprob]), *keys]


def read_choice(record: mx.array) -> Choice:
    """Wait for a step's record and read it."""
    token, logprob = np.array(record)
    return Choice(int(token), float(logprob))
