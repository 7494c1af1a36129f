"""Named formats, and the policy that says which tensor of a Whisper gets which type under each.

Position tables, norms, biases and convolutions stay dense. The token table, which is also the logit head, and the whole
encoder never go below Q8_0: 4-bit tables break language detection, and 4 bits through 32 encoder layers add up to
nonsense. Decoder matrices take what was asked for; the `_M` formats keep the attention output projections at Q8_0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gguf import GGML_QUANT_SIZES, LlamaFileType
from gguf import GGMLQuantizationType as TensorType

from engine.anatomy import TOKEN_TABLE
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import OptionError
from engine.gguf.writer import Slot


@dataclass(frozen=True)
class Preset:
    decoder: TensorType  # decoder matrices
    attention_out: TensorType  # its attention output projections
    file_type: LlamaFileType  # llama.cpp's word for it, written as general.file_type


def _plain(kind: TensorType, file_type: LlamaFileType) -> Preset:
    return Preset(kind, kind, file_type)


SAME = "same"  # every tensor as it is in the source: for changing the container only
PRESETS: Mapping[str, Preset] = {
    "F32": _plain(TensorType.F32, LlamaFileType.ALL_F32),
    "F16": _plain(TensorType.F16, LlamaFileType.MOSTLY_F16),
    "Q8_0": _plain(TensorType.Q8_0, LlamaFileType.MOSTLY_Q8_0),
    "Q6_K": _plain(TensorType.Q6_K, LlamaFileType.MOSTLY_Q6_K),
    "Q5_K_M": Preset(TensorType.Q5_K, TensorType.Q8_0, LlamaFileType.MOSTLY_Q5_K_M),
    "Q4_K_M": Preset(TensorType.Q4_K, TensorType.Q8_0, LlamaFileType.MOSTLY_Q4_K_M),
    "Q5_K": _plain(TensorType.Q5_K, LlamaFileType.MOSTLY_Q5_K_S),
    "Q4_K": _plain(TensorType.Q4_K, LlamaFileType.MOSTLY_Q4_K_S),
    "Q5_1": _plain(TensorType.Q5_1, LlamaFileType.MOSTLY_Q5_1),
    "Q5_0": _plain(TensorType.Q5_0, LlamaFileType.MOSTLY_Q5_0),
    "Q4_1": _plain(TensorType.Q4_1, LlamaFileType.MOSTLY_Q4_1),
    "Q4_0": _plain(TensorType.Q4_0, LlamaFileType.MOSTLY_Q4_0),
}
MATRIX = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M")  # what `sayso models quantize-all` makes


@dataclass(frozen=True)
class PlannedTensor:
    """What becomes of one tensor."""

    name: str  # canonical, without "model."
    shape: tuple[int, ...]
    source_type: TensorType
    type: TensorType
    reason: str  # for people: "dense: norm", "at least Q8_0: encoder", "as asked"

    @property
    def n_bytes(self) -> int:
        return Slot(self.name, self.shape, self.type).n_bytes


def bits_per_value(kind: TensorType) -> float:
    values, n_bytes = GGML_QUANT_SIZES[kind]
    return n_bytes * 8 / values


def plan(
    checkpoint: Checkpoint, preset: str, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> list[PlannedTensor]:
    """The type of every tensor under `preset`, with the reason, in file order. For the export and for `--dry-run`.

    preset: a key of PRESETS, or SAME.
    include: where given, only tensors whose name begins with one of these are quantized. Names with and without the
    leading "model." both match. exclude: these are never quantized; it wins over include.
    Raises OptionError for an unknown preset and for a prefix that matches no tensor.
    """
    if preset != SAME and preset not in PRESETS:
        raise OptionError(f"There is no format {preset!r}; choose one of {', '.join(PRESETS)}.")
    for prefix in (*include, *exclude):
        if not any(_begins(name, (prefix,)) for name in checkpoint.tensors):
            raise OptionError(f"No tensor's name begins with {prefix!r}.")
    planned = []
    for name, tensor in checkpoint.tensors.items():
        if preset == SAME:
            kind, reason = tensor.type, "as in the source"
        else:
            kind, reason = _choose(name, tensor, PRESETS[preset], include, exclude)
        planned.append(PlannedTensor(name, tensor.shape, tensor.type, kind, reason))
    return planned


def worth_making(checkpoint: Checkpoint) -> list[str]:
    """The formats of MATRIX that are smaller than the source: others would only be copies, or larger."""
    here = sum(tensor.data.nbytes for tensor in checkpoint.tensors.values())
    return [preset for preset in MATRIX if sum(tensor.n_bytes for tensor in plan(checkpoint, preset)) < here]


def _begins(name: str, prefixes: Sequence[str]) -> bool:
    return any(name.startswith(prefix.removeprefix("model.")) for prefix in prefixes)


def _choose(
    name: str, tensor: Tensor, preset: Preset, include: Sequence[str], exclude: Sequence[str]
) -> tuple[TensorType, str]:
    dense = _dense(tensor, preset)
    if len(tensor.shape) == 1:
        return TensorType.F32, "dense: norm" if "layer_norm" in name else "dense: bias"
    if "embed_positions" in name:
        return dense, "dense: positions"
    if len(tensor.shape) == 3:
        return dense, "dense: convolution"
    if _begins(name, exclude):
        return tensor.type, "as in the source: excluded"
    if include and not _begins(name, include):
        return tensor.type, "as in the source: not included"
    wanted, reason = preset.decoder, "as asked"
    if name.startswith("decoder.") and ".out_proj." in name and preset.attention_out != wanted:
        wanted, reason = preset.attention_out, f"{preset.attention_out.name}: attention output"
    elif bits_per_value(wanted) < bits_per_value(TensorType.Q8_0):
        if name == TOKEN_TABLE:
            wanted, reason = TensorType.Q8_0, "at least Q8_0: token table and logit head"
        elif name.startswith("encoder."):
            wanted, reason = TensorType.Q8_0, "at least Q8_0: encoder"
    return _fitting(wanted, reason, tensor.shape[-1])


def _dense(tensor: Tensor, preset: Preset) -> TensorType:
    """F16 stays F16, which loses nothing; all else becomes F32."""
    if preset.decoder == TensorType.F32:
        return TensorType.F32
    return TensorType.F16 if tensor.type == TensorType.F16 else TensorType.F32


def _fitting(wanted: TensorType, reason: str, width: int) -> tuple[TensorType, str]:
    """K types need rows of 256s, which tiny's 384 are not."""
    for kind in (wanted, TensorType.Q8_0, TensorType.F16):
        if width % GGML_QUANT_SIZES[kind][0] == 0:
            break
    return (kind, reason) if kind == wanted else (kind, f"{kind.name}: rows of {width} do not fit {wanted.name}")
