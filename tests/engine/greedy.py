"""Greedy decoding by the plain reference step of the MLX decoder: what the fused step is held against."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import mlx.core as mx
import numpy as np

from engine.filters import Filters, choose
from engine.mlx_runtime import MlxRuntime
from engine.runtime import Choice, Rules

_UNUSED = np.random.default_rng(0)  # nothing is drawn at temperature 0


def reference_choices(
    runtime: MlxRuntime, cross: list, prompt: list[int], rules: Rules, most: int
) -> tuple[list[Choice], list[np.ndarray]]:
    """At most so many choices, until the end of text; and the filtered logits (n_vocab,) that each was chosen from."""
    n_vocab = runtime.dims.n_vocab
    filters, cache = Filters(rules, n_vocab), [None] * runtime.dims.n_text_layer
    logits = runtime.model.decoder.reference(prompt, cache, cross)
    choices, chosen_from = [], []
    while len(choices) < most:
        sampled = [choice.token for choice in choices]
        chosen_from.append(filters.apply(np.array(logits[-1].astype(mx.float32))[:n_vocab], sampled))
        choices.append(choose(chosen_from[-1], 0, _UNUSED))
        token = choices[-1].token
        if token == rules.eot:
            break
        logits = runtime.model.decoder.reference([token], cache, cross)
    return choices, chosen_from


def until_end(choices: Iterable[Choice], rules: Rules, most: int) -> list[int]:
    """The tokens of at most so many choices, until the end of text."""
    tokens = []
    for choice in islice(choices, most):
        tokens.append(choice.token)
        if choice.token == rules.eot:
            break
    return tokens
