"""Checkpoint -> GGUF file, a tensor at a time: our own bundles and transcribe.cpp's dialect.

`engine.presets` says which tensor gets which type, `engine.gguf.keys` what the metadata say; here is the quantizing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from gguf import quants
from numpy.typing import NDArray

from engine.anatomy import transcribe_cpp_name
from engine.audio import mel_filters
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError, OptionError
from engine.files import atomic
from engine.formats import ggml
from engine.gguf import keys, kquants, writer
from engine.gguf.writer import Slot
from engine.presets import PlannedTensor, plan, worth_making
from engine.runtime import F32

Dialect = Literal["sayso", "transcribe.cpp", "whisper.cpp"]

_K_TYPES = (TensorType.Q4_K, TensorType.Q5_K, TensorType.Q6_K)
_CHUNK_VALUES = 1 << 22  # quantized at a time: bounds memory at some 50 MB


def export(
    checkpoint: Checkpoint,
    preset: str,
    path: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    dialect: Dialect = "sayso",
    check: Callable[[Path], None] = lambda path: None,
) -> list[PlannedTensor]:
    """Write `checkpoint` under a preset (see `engine.presets.plan`), atomically, one tensor in memory at a time.

    progress: called with (bytes written, bytes of all tensors).
    dialect: "sayso" for our bundles, which antfly's loader reads too; the others for the programs of that name
    ("whisper.cpp" is the ggml-*.bin format, not GGUF).
    check: called with the new file before it takes the place of an old one; raises where it must not.
    Returns what was written. Raises OptionError for an unknown preset or prefix and where `path` is the source itself,
    ModelFileError where the disk refuses.
    """
    if is_source(path, checkpoint):
        raise OptionError(f"{path} is the source itself; write to another file or folder with -o.")
    planned = plan_export(checkpoint, preset, include=include, exclude=exclude, dialect=dialect)
    if dialect == "whisper.cpp":
        return _export_ggml(checkpoint, planned, path, progress, check)
    metadata = keys.sayso(checkpoint, preset)
    extra: dict[str, F32] = {}  # tensors that are no weights
    if dialect == "transcribe.cpp":
        names = {transcribe_cpp_name(tensor.name): tensor for tensor in planned}
        metadata, extra = keys.transcribe_cpp(checkpoint, preset), keys.transcribe_cpp_frontend(checkpoint)
    else:
        names = {f"model.{tensor.name}": tensor for tensor in planned}
    slots = [Slot(name, tensor.shape, tensor.type) for name, tensor in names.items()]
    slots += [Slot(name, values.shape, TensorType.F32) for name, values in extra.items()]

    def data(slot: Slot) -> NDArray[np.uint8]:
        if slot.name in extra:
            return extra[slot.name].view(np.uint8)
        return packed(checkpoint[names[slot.name].name], slot.type)

    writer.write(path, metadata, slots, data, progress, check)
    return planned


def plan_export(
    checkpoint: Checkpoint,
    preset: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    dialect: Dialect = "sayso",
) -> list[PlannedTensor]:
    """What `export` writes for the same arguments; it raises the same OptionErrors."""
    planned = plan(checkpoint, preset, include, exclude)
    if dialect == "transcribe.cpp":
        return [_as_transcribe_cpp_wants(tensor) for tensor in planned]
    if dialect == "whisper.cpp":
        planned = [_as_whisper_cpp_wants(tensor) for tensor in planned]
        if len(_matrix_types(planned)) != 1:
            raise OptionError("whisper.cpp reads files whose matrices all have one type: choose F32, F16 or Q8_0.")
    return planned


def is_source(path: Path, checkpoint: Checkpoint) -> bool:
    return checkpoint.path is not None and path.exists() and path.samefile(checkpoint.path)


def export_matrix(
    checkpoint: Checkpoint,
    folder: Path,
    progress: Callable[[str, int, int], None] | None = None,
    check: Callable[[Path], None] = lambda path: None,
) -> list[Path]:
    """Write every format of `presets.MATRIX` that is smaller than the source, as <name>-<format>.gguf in `folder`.

    progress: called with (format, bytes written, bytes of all its tensors). check: as `export` has it, for each.
    Raises what `export` raises; before anything is written where one of the files is the source.
    """
    files = {preset: folder / f"{checkpoint.name}-{preset}.gguf" for preset in worth_making(checkpoint)}
    if source := next((path for path in files.values() if is_source(path, checkpoint)), None):
        raise OptionError(f"{source} is the source itself; write to another folder with -o.")
    for preset, path in files.items():
        export(checkpoint, preset, path, partial(progress, preset) if progress else None, check=check)
    return list(files.values())


def packed(tensor: Tensor, kind: TensorType) -> NDArray[np.uint8]:
    """The tensor's rows in `kind`: (rows, bytes per row). Its own bytes where it has that type already."""
    if tensor.type == kind:
        return tensor.data
    out = np.empty((len(tensor.data), Slot(tensor.name, tensor.shape, kind).row_bytes), np.uint8)
    step = max(1, _CHUNK_VALUES // tensor.shape[-1])
    for start in range(0, len(out), step):
        part = slice(start, start + step)
        values = quants.dequantize(tensor.data[part], tensor.type).astype(np.float32, copy=False)
        if kind == TensorType.F32:
            out[part] = values.view(np.uint8)
        elif kind == TensorType.F16:
            out[part] = values.astype(np.float16).view(np.uint8)
        elif kind in _K_TYPES:
            out[part] = kquants.quantize(values, kind)
        else:
            out[part] = quants.quantize(values, kind)
    return out


def _as_transcribe_cpp_wants(tensor: PlannedTensor) -> PlannedTensor:
    """transcribe.cpp takes convolutions and positions in F32 only."""
    if len(tensor.shape) != 3 and "embed_positions" not in tensor.name:
        return tensor
    return _changed(tensor, TensorType.F32, "transcribe.cpp takes nothing else")


def _as_whisper_cpp_wants(tensor: PlannedTensor) -> PlannedTensor:
    """whisper.cpp takes positions in F32 and convolutions in F16 only."""
    if "embed_positions" in tensor.name:
        return _changed(tensor, TensorType.F32, "whisper.cpp takes nothing else")
    return _changed(tensor, TensorType.F16, "whisper.cpp takes nothing else") if len(tensor.shape) == 3 else tensor


def _changed(tensor: PlannedTensor, kind: TensorType, why: str) -> PlannedTensor:
    return tensor if tensor.type == kind else replace(tensor, type=kind, reason=f"{kind.name}: {why}")


def _matrix_types(planned: Sequence[PlannedTensor]) -> set[TensorType]:
    return {tensor.type for tensor in planned if len(tensor.shape) == 2 and "embed_positions" not in tensor.name}


def _export_ggml(
    checkpoint: Checkpoint,
    planned: list[PlannedTensor],
    path: Path,
    progress: Callable[[int, int], None] | None,
    check: Callable[[Path], None],
) -> list[PlannedTensor]:
    (kind,) = _matrix_types(planned)
    total, done = sum(tensor.n_bytes for tensor in planned), 0
    filters = mel_filters(checkpoint.dims.n_mels) if checkpoint.mel_filters is None else checkpoint.mel_filters
    with atomic(path, fault=ModelFileError) as part:
        with part.open("wb") as file:
            ggml.write_header(checkpoint, kind, filters, file)
            for tensor in planned:
                data = packed(checkpoint[tensor.name], tensor.type)
                ggml.write_tensor(Tensor(tensor.name, tensor.shape, tensor.type, data), file)
                done += tensor.n_bytes
                if progress:
                    progress(done, total)
        check(part)
    return planned
