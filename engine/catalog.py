"""The Whisper models we know on the Hub: size, hash, licence, published accuracy. Imports nothing heavy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import resources
from engine.errors import NotOnHubError
from engine.hub import RemoteFile

Source = Literal["measured", "published", "estimated"]

# ordered from the one to take first; the reason stands in `recommend`
PREFERENCE = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "F16", "F32")
# what loads besides the file: Python, NumPy, mel filters, buffers (measured with tiny.en, rounded up)
PROCESS_BYTES = 120 << 20
LAYOUT_FACTOR = 1.15  # packed weights plus the layout's padding, over the file's size


@dataclass(frozen=True)
class Fact:
    """A number and where it comes from; shown in three styles, never without its word."""

    value: float
    source: Source


@dataclass(frozen=True)
class CatalogFile:
    filename: str
    quant: str
    size_bytes: int
    sha256: str | None


@dataclass(frozen=True)
class CatalogModel:
    name: str
    repo: str
    revision: str | None
    base_model: str
    licence: str
    parameters: str  # "73M"
    languages: int
    translate: bool
    width: int  # n_audio_state
    encoder_layers: int
    decoder_layers: int
    sentence: str
    published_wer_percent: dict[str, float]
    files: tuple[CatalogFile, ...]

    def file(self, quant: str) -> CatalogFile:
        for f in self.files:
            if f.quant == quant.upper():
                return f
        raise NotOnHubError(f"{self.name} comes as {', '.join(f.quant for f in self.files)}, not as {quant}.")

    def remote(self, quant: str) -> RemoteFile:
        """What `hub.pull` takes. Needs a known revision and hash; ask `hub.list_files` where they are None."""
        f = self.file(quant)
        return RemoteFile(self.repo, self.revision or "main", f.filename, f.size_bytes, f.sha256, f.quant)

    def memory(self, quant: str) -> Fact:
        """Bytes in memory when loaded and at work."""
        keys_values = 2 * self.width * (1500 * 2 + 448 * 4) * self.decoder_layers
        silence_cache = 2 * 2 * self.width * 1500 * self.encoder_layers
        activations = 1500 * self.width * 4 * 10
        weights = self.file(quant).size_bytes * LAYOUT_FACTOR
        return Fact(weights + keys_values + silence_cache + activations + PROCESS_BYTES, "estimated")

    def word_error_percent(self, quant: str) -> Fact | None:
        """On LibriSpeech test-clean."""
        if (value := self.published_wer_percent.get(quant)) is not None:
            return Fact(value, "published")
        return None


@dataclass(frozen=True)
class Recommendation:
    quant: str
    reason: str


@lru_cache(maxsize=1)
def models() -> tuple[CatalogModel, ...]:
    """All catalogued models, smallest first."""
    raw = json.loads(resources.path("catalog.json").read_text(encoding="utf-8"))
    return tuple(_model(entry) for entry in raw["models"])


def _model(entry: dict[str, object]) -> CatalogModel:
    files = tuple(
        CatalogFile(f["filename"], f["quant"], f["bytes"], f["sha256"])
        for f in entry.pop("files")  # type: ignore[attr-defined]
    )
    return CatalogModel(files=files, **entry)  # type: ignore[arg-type]


def find(name: str) -> CatalogModel | None:
    """The model called `name` ("base", "large-v3-turbo"), or of that repository ("owner/name")."""
    wanted = name.lower()
    return next((m for m in models() if wanted in (m.name.lower(), m.repo.lower())), None)


def recommend(model: CatalogModel, free_memory_bytes: int) -> Recommendation:
    """The quant to take on a computer with so much memory to spare, and why in one sentence."""
    fitting = [f.quant for f in model.files if model.memory(f.quant).value <= free_memory_bytes]
    there = [q for q in PREFERENCE if any(f.quant == q for f in model.files)]
    best = next((q for q in there if q in fitting), None)
    if best == "Q8_0":
        return Recommendation(
            best, "Q8_0: the same words as F16 at half the size. Smaller quants save memory, hardly any time."
        )
    if best is not None:
        return Recommendation(best, f"{best}: the best that fits into the memory that is free.")
    smallest = min(model.files, key=lambda f: f.size_bytes)
    return Recommendation(
        smallest.quant,
        f"{smallest.quant}: the smallest, and still memory will be short; take a smaller model.",
    )
