"""The quant picker's facts: what each quant of a model costs and gives on this computer, and which to take.

Every number is a `Fact` with its source: measured here, published, or estimated. Imports neither MLX nor NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dictation import calibrate, memory
from engine import catalog, store
from engine.catalog import CatalogModel, Fact, Recommendation

Verdict = Literal["recommended", "fits", "memory is short", "installed"]
# the native library has no kernels for these: they are held as Q8_0, at up to twice their size
WIDENED = ("Q4_1", "Q4_K", "Q4_K_M", "Q5_0", "Q5_1", "Q5_K", "Q5_K_M")
AT_WORK_FACTOR = 1.3  # keys, values, the silence cache and buffers beside the weights; more than in any known model


@dataclass(frozen=True)
class QuantFacts:
    """One row of the picker."""

    quant: str
    download_bytes: int
    memory_bytes: Fact
    speed: Fact | None  # seconds of speech per second; None: nothing to go by on this computer yet
    error_percent: Fact | None  # words wrong per hundred; what they were counted on stands in `error_note`
    error_note: str
    installed: bool
    verdict: Verdict
    reason: str  # why dimmed, or why recommended


def free_memory_bytes() -> int:
    """What a model may take on this computer now."""
    return memory.free_bytes()


def memory_needed(name: str) -> Fact:
    """What an installed model (name, label or path) takes in memory on the processor. Raises EngineError, OSError."""
    path = store.find(name)
    if (measured := calibrate.kept(path)) is not None:
        return Fact(measured.memory_bytes, "measured")
    installed = next((model for model in store.installed() if model.path == path), None)
    known = catalog.find(installed.name) if installed is not None else None
    size = sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
    widened = size if installed is None or installed.quant in WIDENED else 0
    if installed is not None and known is not None and any(file.quant == installed.quant for file in known.files):
        return Fact(known.memory(installed.quant).value + widened, "estimated")
    weights = (size + widened) * catalog.LAYOUT_FACTOR
    return Fact(weights * AT_WORK_FACTOR + catalog.PROCESS_BYTES, "estimated")


def rows(model: CatalogModel) -> list[QuantFacts]:
    """All quants of a model, the recommended one first, then from large to small."""
    free = free_memory_bytes()
    advice = catalog.recommend(model, free)
    there = {m.quant: m for m in store.installed() if m.name == model.name}
    made = [_row(model, f.quant, free, advice, there.get(f.quant)) for f in model.files]
    return sorted(made, key=lambda row: (row.quant != advice.quant, -row.download_bytes))


def _row(
    model: CatalogModel, quant: str, free: int, advice: Recommendation, there: store.InstalledModel | None
) -> QuantFacts:
    measured = calibrate.kept(there.path) if there else None
    memory = Fact(measured.memory_bytes, "measured") if measured else model.memory(quant)
    speed = Fact(measured.speed, "measured") if measured else estimated_speed(model)
    error, note = model.word_error_percent(quant), "LibriSpeech test-clean"
    if measured and error is None:
        error, note = Fact(100 * measured.words_wrong / measured.words, "measured"), "the bundled sample"
    verdict: Verdict = "fits" if memory.value <= free else "memory is short"
    reason = "" if verdict == "fits" else f"needs {memory.value / 1e9:.1f} GB, {free / 1e9:.1f} GB are free"
    if quant == advice.quant:
        verdict, reason = "recommended", advice.reason
    return QuantFacts(
        quant, model.file(quant).size_bytes, memory, speed, error, note, there is not None, verdict, reason
    )


def estimated_speed(model: CatalogModel) -> Fact | None:
    """From a model that was measured here, by the ratio of the work that each has to do."""
    for other in store.installed():
        known, measured = catalog.find(other.name), calibrate.kept(other.path)
        if known is not None and measured is not None:
            return Fact(measured.speed * _work(known) / _work(model), "estimated")
    return None


def _work(model: CatalogModel) -> float:
    """Multiplications for a typical utterance, up to a factor: the encoder by positions, the decoder by tokens."""
    per_layer = 12 * model.width**2
    encoder = model.encoder_layers * 300 * (per_layer + 2 * 1500 * model.width)
    head = 51866 * model.width
    decoder = 25 * (model.decoder_layers * (per_layer * 4 / 3 + 4 * 1500 * model.width) + head)
    return float(encoder + decoder)


def recommendation(language: str | None = None) -> tuple[CatalogModel, Recommendation]:
    """The model and quant for this computer: the largest that was measured or is estimated to be quick enough."""
    free = free_memory_bytes()
    english = language == "en"
    sizes = ("tiny", "base", "small", "medium")
    names = [f"{size}.en" if english else size for size in sizes] + ["large-v3-turbo", "large-v3"]
    wanted = [m for m in catalog.models() if m.name in names]
    quick: CatalogModel | None = None
    for model in wanted:
        speed = estimated_speed(model)
        if speed is not None and speed.value >= 4 and model.memory("Q8_0").value <= free:
            quick = model
    chosen = quick or next(m for m in wanted if m.name == names[1])
    return chosen, catalog.recommend(chosen, free)
