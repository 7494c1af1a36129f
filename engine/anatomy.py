"""Which tensors a Whisper has: their names in every dialect, their shapes, and the sizes that follow from them.

Canonical names are Hugging Face's without the leading "model.". Nothing here reads a file, so every reader checks
what it found against the same list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from engine.errors import ModelFileError
from engine.runtime import HEAD_SIZE, N_AUDIO_CTX, Dims

Shape = tuple[int, ...]

ENCODER_POSITIONS = "encoder.embed_positions.weight"
DECODER_POSITIONS = "decoder.embed_positions.weight"
TOKEN_TABLE = "decoder.embed_tokens.weight"
LOGIT_HEAD = "proj_out.weight"  # a second copy of the token table in some files

VOCABULARY_SIZES = range(51864, 51867)  # `.en`, 99 languages, 100 languages

# One row per dialect: pattern of a whole name -> canonical. `{n}` is a layer number, `*` a suffix .weight or .bias.
_OPENAI = {
    "encoder.conv1.*": "encoder.conv1.*",
    "encoder.conv2.*": "encoder.conv2.*",
    "encoder.positional_embedding": ENCODER_POSITIONS,
    "encoder.blocks.{n}.attn_ln.*": "encoder.layers.{n}.self_attn_layer_norm.*",
    "encoder.blocks.{n}.attn.query.*": "encoder.layers.{n}.self_attn.q_proj.*",
    "encoder.blocks.{n}.attn.key.*": "encoder.layers.{n}.self_attn.k_proj.*",
    "encoder.blocks.{n}.attn.value.*": "encoder.layers.{n}.self_attn.v_proj.*",
    "encoder.blocks.{n}.attn.out.*": "encoder.layers.{n}.self_attn.out_proj.*",
    "encoder.blocks.{n}.mlp_ln.*": "encoder.layers.{n}.final_layer_norm.*",
    "encoder.blocks.{n}.mlp.0.*": "encoder.layers.{n}.fc1.*",
    "encoder.blocks.{n}.mlp.2.*": "encoder.layers.{n}.fc2.*",
    "encoder.blocks.{n}.mlp1.*": "encoder.layers.{n}.fc1.*",  # MLX
    "encoder.blocks.{n}.mlp2.*": "encoder.layers.{n}.fc2.*",  # MLX
    "encoder.ln_post.*": "encoder.layer_norm.*",
    "decoder.token_embedding.*": "decoder.embed_tokens.*",
    "decoder.positional_embedding": DECODER_POSITIONS,
    "decoder.blocks.{n}.attn_ln.*": "decoder.layers.{n}.self_attn_layer_norm.*",
    "decoder.blocks.{n}.attn.query.*": "decoder.layers.{n}.self_attn.q_proj.*",
    "decoder.blocks.{n}.attn.key.*": "decoder.layers.{n}.self_attn.k_proj.*",
    "decoder.blocks.{n}.attn.value.*": "decoder.layers.{n}.self_attn.v_proj.*",
    "decoder.blocks.{n}.attn.out.*": "decoder.layers.{n}.self_attn.out_proj.*",
    "decoder.blocks.{n}.cross_attn_ln.*": "decoder.layers.{n}.encoder_attn_layer_norm.*",
    "decoder.blocks.{n}.cross_attn.query.*": "decoder.layers.{n}.encoder_attn.q_proj.*",
    "decoder.blocks.{n}.cross_attn.key.*": "decoder.layers.{n}.encoder_attn.k_proj.*",
    "decoder.blocks.{n}.cross_attn.value.*": "decoder.layers.{n}.encoder_attn.v_proj.*",
    "decoder.blocks.{n}.cross_attn.out.*": "decoder.layers.{n}.encoder_attn.out_proj.*",
    "decoder.blocks.{n}.mlp_ln.*": "decoder.layers.{n}.final_layer_norm.*",
    "decoder.blocks.{n}.mlp.0.*": "decoder.layers.{n}.fc1.*",
    "decoder.blocks.{n}.mlp.2.*": "decoder.layers.{n}.fc2.*",
    "decoder.blocks.{n}.mlp1.*": "decoder.layers.{n}.fc1.*",  # MLX
    "decoder.blocks.{n}.mlp2.*": "decoder.layers.{n}.fc2.*",  # MLX
    "decoder.ln.*": "decoder.layer_norm.*",
}
TRANSCRIBE_CPP = {
    "enc.conv.0.*": "encoder.conv1.*",
    "enc.conv.1.*": "encoder.conv2.*",
    "enc.pos_emb.weight": ENCODER_POSITIONS,
    "enc.blocks.{n}.norm_attn.*": "encoder.layers.{n}.self_attn_layer_norm.*",
    "enc.blocks.{n}.attn.q.*": "encoder.layers.{n}.self_attn.q_proj.*",
    "enc.blocks.{n}.attn.k.*": "encoder.layers.{n}.self_attn.k_proj.*",
    "enc.blocks.{n}.attn.v.*": "encoder.layers.{n}.self_attn.v_proj.*",
    "enc.blocks.{n}.attn.out.*": "encoder.layers.{n}.self_attn.out_proj.*",
    "enc.blocks.{n}.norm_ffn.*": "encoder.layers.{n}.final_layer_norm.*",
    "enc.blocks.{n}.ffn.fc1.*": "encoder.layers.{n}.fc1.*",
    "enc.blocks.{n}.ffn.fc2.*": "encoder.layers.{n}.fc2.*",
    "enc.final_norm.*": "encoder.layer_norm.*",
    "dec.token_embd.*": "decoder.embed_tokens.*",
    "dec.pos_emb.weight": DECODER_POSITIONS,
    "dec.blocks.{n}.norm_self.*": "decoder.layers.{n}.self_attn_layer_norm.*",
    "dec.blocks.{n}.self_attn.q.*": "decoder.layers.{n}.self_attn.q_proj.*",
    "dec.blocks.{n}.self_attn.k.*": "decoder.layers.{n}.self_attn.k_proj.*",
    "dec.blocks.{n}.self_attn.v.*": "decoder.layers.{n}.self_attn.v_proj.*",
    "dec.blocks.{n}.self_attn.out.*": "decoder.layers.{n}.self_attn.out_proj.*",
    "dec.blocks.{n}.norm_cross.*": "decoder.layers.{n}.encoder_attn_layer_norm.*",
    "dec.blocks.{n}.cross_attn.q.*": "decoder.layers.{n}.encoder_attn.q_proj.*",
    "dec.blocks.{n}.cross_attn.k.*": "decoder.layers.{n}.encoder_attn.k_proj.*",
    "dec.blocks.{n}.cross_attn.v.*": "decoder.layers.{n}.encoder_attn.v_proj.*",
    "dec.blocks.{n}.cross_attn.out.*": "decoder.layers.{n}.encoder_attn.out_proj.*",
    "dec.blocks.{n}.norm_ffn.*": "decoder.layers.{n}.final_layer_norm.*",
    "dec.blocks.{n}.ffn.fc1.*": "decoder.layers.{n}.fc1.*",
    "dec.blocks.{n}.ffn.fc2.*": "decoder.layers.{n}.fc2.*",
    "dec.final_norm.*": "decoder.layer_norm.*",
}
_NUMBER = re.compile(r"(?<=\.)\d{1,3}(?=\.)")


def _foreign_name(name: str) -> str | None:
    stem, dot, suffix = name.rpartition(".")
    parts = stem.split(".")
    layer = None
    if len(parts) > 2 and parts[1] == "blocks" and parts[2].isdigit():
        layer, parts[2] = parts[2], "{n}"
    pattern = ".".join(parts) + dot
    for table in (_OPENAI, TRANSCRIBE_CPP):
        found = table.get(pattern + "*") if suffix in ("weight", "bias") else None
        found = found or table.get(pattern + suffix)
        if found:
            return found.replace("*", suffix).replace("{n}", layer or "")
    return None


def canonical_name(name: str) -> str:
    """Canonical name of a tensor named in any dialect; the name without "model." where no dialect knows it."""
    return _foreign_name(name) or name.removeprefix("whisper.").removeprefix("model.")


def openai_name(name: str) -> str:
    """OpenAI's name of a canonical one (the reverse of `canonical_name`)."""
    return _reverse(name, _OPENAI)


def transcribe_cpp_name(name: str) -> str:
    """transcribe.cpp's name of a canonical one."""
    return _reverse(name, TRANSCRIBE_CPP)


def _reverse(name: str, table: Mapping[str, str]) -> str:
    for foreign, own in table.items():
        if own == name:
            return foreign
        if not own.endswith(".*"):
            continue
        layer = _NUMBER.search(name)
        stem, _, suffix = name.rpartition(".")
        number = layer.group() if layer else ""
        if own.replace("{n}", number) == stem + ".*":
            return foreign.replace("{n}", number).replace("*", suffix)
    raise KeyError(name)


def dims_from_shapes(shapes: Mapping[str, Shape], n_head: tuple[int | None, int | None] = (None, None)) -> Dims:
    """Sizes of the model whose tensors (canonical names) have these shapes.

    n_head: attention heads of encoder and decoder where the file states them; None means state size / 64.
    Raises ModelFileError where a tensor that the sizes are read from is missing or has the wrong rank.
    """
    n_audio_state, n_mels = _shape(shapes, "encoder.conv1.weight", 3)[:2]
    n_vocab, n_text_state = _shape(shapes, TOKEN_TABLE, 2)
    audio_positions = shapes.get(ENCODER_POSITIONS, (N_AUDIO_CTX, n_audio_state))
    n_audio_head, n_text_head = n_head
    dims = Dims(
        n_mels=n_mels,
        n_audio_ctx=audio_positions[0],
        n_audio_state=n_audio_state,
        n_audio_head=n_audio_head or n_audio_state // HEAD_SIZE,
        n_audio_layer=_count_layers(shapes, "encoder"),
        n_vocab=n_vocab,
        n_text_ctx=_shape(shapes, DECODER_POSITIONS, 2)[0],
        n_text_state=n_text_state,
        n_text_head=n_text_head or n_text_state // HEAD_SIZE,
        n_text_layer=_count_layers(shapes, "decoder"),
    )
    _check_dims(dims)
    return dims


def _shape(shapes: Mapping[str, Shape], name: str, rank: int) -> Shape:
    shape = shapes.get(name)
    if shape is None:
        raise ModelFileError(f"This is not a whole Whisper model: the tensor {name} is missing.")
    if len(shape) != rank:
        raise ModelFileError(f"The tensor {name} has {len(shape)} dimensions where a Whisper has {rank}.")
    return shape


def _count_layers(shapes: Mapping[str, Shape], half: str) -> int:
    prefix = f"{half}.layers."
    numbers = {int(n) for name in shapes if name.startswith(prefix) and (n := name.split(".")[2]).isdecimal()}
    if not numbers or numbers != set(range(len(numbers))):
        raise ModelFileError(f"This is not a whole Whisper model: layers of the {half} are missing.")
    return len(numbers)


def _check_dims(dims: Dims) -> None:
    if dims.n_vocab not in VOCABULARY_SIZES:
        raise ModelFileError(
            f"This model has {dims.n_vocab} tokens; Whisper models have 51864, 51865 or 51866. It is not a Whisper."
        )
    if dims.n_mels not in (80, 128):
        raise ModelFileError(f"This model has {dims.n_mels} mel bins; Sayso reads Whisper models with 80 or 128.")
    for state, head in ((dims.n_audio_state, dims.n_audio_head), (dims.n_text_state, dims.n_text_head)):
        if head * HEAD_SIZE != state:
            raise ModelFileError(f"This model has {head} heads for a width of {state}; a Whisper's are 64 wide.")
    if dims.n_audio_ctx != N_AUDIO_CTX:
        raise ModelFileError(f"This model hears {dims.n_audio_ctx} positions; a Whisper hears {N_AUDIO_CTX} (30 s).")
    if dims.n_audio_state != dims.n_text_state or not 8 <= dims.n_text_ctx <= 448:
        raise ModelFileError("The sizes of this model's encoder and decoder do not fit a Whisper.")


def expected_shapes(dims: Dims) -> Iterator[tuple[str, Shape]]:
    """Every tensor of a Whisper of these sizes with its shape in NumPy order, in the order of the forward pass."""
    d = dims.n_audio_state
    yield from _affine("encoder.conv1", (d, dims.n_mels, 3))
    yield from _affine("encoder.conv2", (d, d, 3))
    yield ENCODER_POSITIONS, (dims.n_audio_ctx, d)
    for n in range(dims.n_audio_layer):
        yield from _attention(f"encoder.layers.{n}.self_attn", d)
        yield from _feed_forward(f"encoder.layers.{n}", d)
    yield from _affine("encoder.layer_norm", (d,))
    d = dims.n_text_state
    yield TOKEN_TABLE, (dims.n_vocab, d)
    yield DECODER_POSITIONS, (dims.n_text_ctx, d)
    for n in range(dims.n_text_layer):
        yield from _attention(f"decoder.layers.{n}.self_attn", d)
        yield from _attention(f"decoder.layers.{n}.encoder_attn", d)
        yield from _feed_forward(f"decoder.layers.{n}", d)
    yield from _affine("decoder.layer_norm", (d,))


def _affine(stem: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    yield f"{stem}.weight", shape
    yield f"{stem}.bias", shape[:1]


def _attention(stem: str, d: int) -> Iterator[tuple[str, Shape]]:
    yield from _affine(f"{stem}_layer_norm", (d,))
    yield from _affine(f"{stem}.q_proj", (d, d))
    yield f"{stem}.k_proj.weight", (d, d)
    yield from _affine(f"{stem}.v_proj", (d, d))
    yield from _affine(f"{stem}.out_proj", (d, d))


def _feed_forward(stem: str, d: int) -> Iterator[tuple[str, Shape]]:
    yield from _affine(f"{stem}.final_layer_norm", (d,))
    yield from _affine(f"{stem}.fc1", (4 * d, d))
    yield from _affine(f"{stem}.fc2", (d, 4 * d))
