"""Fixtures that every test may use: the starter models as bundles, and Whispers of random weights.

Bundles are made once into `.models/` at the repository's root (or $SAYSO_MODELS) and kept between runs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

MODELS = Path(os.environ.setdefault("SAYSO_MODELS", str(Path(__file__).parents[1] / ".models")))

from engine import store  # noqa: E402  (reads SAYSO_MODELS)
from engine.anatomy import expected_shapes  # noqa: E402
from engine.checkpoint import Checkpoint  # noqa: E402
from engine.export import packed  # noqa: E402
from engine.formats import vocabulary  # noqa: E402
from engine.formats.assemble import assemble, dense  # noqa: E402
from engine.runtime import Dims  # noqa: E402

# A shell that runs the tests in the background, or nohup, has programs that it starts ignore these: no test program may
for number in (signal.SIGINT, signal.SIGHUP) if os.name == "posix" else ():
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# Other work shares the machine: a slow example is no fault.
settings.register_profile("sayso", deadline=None)
settings.load_profile("sayso")


@contextmanager
def _one_maker(path: Path) -> Iterator[None]:
    """Only one test process makes a bundle; the others wait for it. The lock goes when the process does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as lock:
        try:
            import fcntl
        except ImportError:  # Windows: two makers only waste time, the writing is atomic
            pass
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def starter_bundle(name: str, preset: str) -> Path:
    """Path of a starter model ("base", "tiny.en") under a preset of `engine.presets`, made where it is missing."""
    path = store.models_dir() / f"{name}-{preset}.gguf"
    with _one_maker(path):
        if not store.is_current(path):
            starter = next(s for s in store.STARTERS if s.name == name)
            store.convert_starter(starter, path, preset)
    return path


@pytest.fixture(scope="session")
def tiny_en_q8() -> Path:
    """Whisper tiny.en (real weights), Q8_0."""
    return starter_bundle("tiny.en", "Q8_0")


@pytest.fixture(scope="session")
def tiny_en_f16() -> Path:
    return starter_bundle("tiny.en", "F16")


@pytest.fixture(scope="session")
def base_q8() -> Path:
    """Whisper base, multilingual (real weights), Q8_0."""
    return starter_bundle("base", "Q8_0")


@pytest.fixture(scope="session")
def base_f16() -> Path:
    return starter_bundle("base", "F16")


def dims(
    n_mels: int = 80, n_vocab: int = 51865, n_state: int = 128, n_audio_layer: int = 2, n_text_layer: int = 2
) -> Dims:
    """Sizes of a small Whisper; heads follow from the width."""
    return Dims(
        n_mels=n_mels,
        n_audio_ctx=1500,
        n_audio_state=n_state,
        n_audio_head=n_state // 64,
        n_audio_layer=n_audio_layer,
        n_vocab=n_vocab,
        n_text_ctx=448,
        n_text_state=n_state,
        n_text_head=n_state // 64,
        n_text_layer=n_text_layer,
    )


@pytest.fixture(scope="session")
def random_checkpoint() -> Callable[..., Checkpoint]:
    """A factory of Whispers of random weights: `random_checkpoint(n_mels=128, n_vocab=51866, preset="Q8_0")`.

    Arguments as of `dims`, plus `seed` and `preset` (of `engine.presets`). They say nothing true about speech; their
    shapes, types and vocabulary are those of a real model.
    """
    return make_random_checkpoint


def make_random_checkpoint(*, seed: int = 0, preset: str = "F32", **sizes: int) -> Checkpoint:
    from dataclasses import replace

    from engine.checkpoint import Tensor
    from engine.presets import plan

    random = np.random.default_rng(seed)
    tensors = {}
    for name, shape in expected_shapes(dims(**sizes)):
        values = random.standard_normal(shape, np.float32)
        if "layer_norm.weight" in name:
            values = 1 + 0.1 * values
        elif len(shape) > 1 and "embed_positions" not in name:
            values = values * (0.7 / np.sqrt(np.prod(shape[1:])))
        else:
            values = 0.1 * values
        tensors[name] = dense(name, values.astype(np.float32))
    made = assemble(tensors, vocabulary=byte_vocabulary, name=f"random-{seed}", quant="F32")
    if preset == "F32":
        return made
    types = {planned.name: planned.type for planned in plan(made, preset)}
    smaller = {n: Tensor(n, t.shape, types[n], packed(t, types[n])) for n, t in made.tensors.items()}
    return replace(made, tensors=smaller, quant=preset)


@pytest.fixture(scope="session")
def mute_checkpoint() -> Checkpoint:
    """It loads, and ends its text before the first word, whatever it hears."""
    from dataclasses import replace

    made = make_random_checkpoint(n_vocab=51864)
    end_of_text = np.zeros(made["decoder.embed_tokens.weight"].shape, np.float32)
    end_of_text[50256, 0] = 100
    changed = {
        "decoder.embed_tokens.weight": end_of_text,
        "decoder.layer_norm.weight": np.zeros(128, np.float32),
        "decoder.layer_norm.bias": np.eye(1, 128, dtype=np.float32)[0],
    }
    return replace(made, tensors=made.tensors | {name: dense(name, values) for name, values in changed.items()})


def byte_vocabulary(n_vocab: int) -> tuple[bytes, ...]:
    """A vocabulary of the right size whose first 256 tokens are the bytes and whose others are numbered words."""
    alphabet = vocabulary.from_alphabet()
    return alphabet + tuple(f" w{i}".encode() for i in range(vocabulary.end_of_text(n_vocab) - 256))
