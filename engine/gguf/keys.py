"""The metadata of the GGUF files that we write: our own keys, transcribe.cpp's, and the tokenizer of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from gguf import GGUF_DEFAULT_ALIGNMENT
from gguf import GGUFValueType as ValueType

from engine import audio
from engine.checkpoint import Checkpoint
from engine.formats import vocabulary
from engine.gguf.bundle import BUNDLE_VERSION
from engine.gguf.writer import Typed
from engine.languages import LANGUAGES
from engine.presets import PRESETS, SAME
from engine.runtime import F32


def _mel_filters(checkpoint: Checkpoint) -> F32:
    return audio.mel_filters(checkpoint.dims.n_mels) if checkpoint.mel_filters is None else checkpoint.mel_filters


def _general(checkpoint: Checkpoint, preset: str) -> dict[str, Typed]:
    found: dict[str, Typed] = {
        "general.architecture": (ValueType.STRING, "whisper"),
        "general.name": (ValueType.STRING, checkpoint.name or "whisper"),
        "general.alignment": (ValueType.UINT32, GGUF_DEFAULT_ALIGNMENT),
        "general.quantization_version": (ValueType.UINT32, 2),
        "general.languages": (ValueType.STRING, list(LANGUAGES)[: checkpoint.n_languages or 1]),
        "sayso.bundle_version": (ValueType.UINT32, BUNDLE_VERSION),
        "sayso.format": (ValueType.STRING, checkpoint.quant if preset == SAME else preset),
    }
    if checkpoint.licence:
        found["general.license"] = (ValueType.STRING, checkpoint.licence)
    if preset in PRESETS:
        found["general.file_type"] = (ValueType.UINT32, int(PRESETS[preset].file_type))
    return found


def sayso(checkpoint: Checkpoint, preset: str) -> dict[str, Typed]:
    """ggml's standard `whisper.*` keys, what antfly's loader reads, and what both lack."""
    found = _general(checkpoint, preset)
    found |= {key: (ValueType.UINT32, value) for key, value in _sizes(checkpoint).items()}
    found["whisper.scale_embedding"] = (ValueType.BOOL, False)
    end = vocabulary.end_of_text(checkpoint.dims.n_vocab)
    for role, token in (("bos", end), ("eos", end), ("pad", end), ("decoder_start", end + 1)):
        name = "whisper.decoder_start_token_id" if role == "decoder_start" else f"whisper.{role}_token_id"
        found[name] = (ValueType.INT64, token)
    found |= _integer_lists(checkpoint, "whisper")
    if checkpoint.alignment_heads:
        flat = [n for pair in checkpoint.alignment_heads for n in pair]
        found["whisper.alignment_heads"] = (ValueType.INT32, flat)
    found["whisper.mel_filters"] = (ValueType.FLOAT32, _mel_filters(checkpoint).reshape(-1))
    return found | _tokenizer(checkpoint)


def _integer_lists(checkpoint: Checkpoint, prefix: str) -> dict[str, Typed]:
    lists: Mapping[str, Sequence[int] | None] = {
        f"{prefix}.suppress_tokens": checkpoint.suppress_tokens,
        f"{prefix}.begin_suppress_tokens": checkpoint.begin_suppress_tokens,
    }
    return {key: (ValueType.INT32, value) for key, value in lists.items() if value}


def _sizes(checkpoint: Checkpoint) -> dict[str, int]:
    dims = checkpoint.dims
    return {
        "whisper.encoder.context_length": dims.n_audio_ctx,
        "whisper.encoder.embedding_length": dims.n_audio_state,
        "whisper.encoder.block_count": dims.n_audio_layer,
        "whisper.encoder.attention.head_count": dims.n_audio_head,
        "whisper.encoder.mels_count": dims.n_mels,
        "whisper.encoder.feed_forward_length": 4 * dims.n_audio_state,
        "whisper.decoder.context_length": dims.n_text_ctx,
        "whisper.decoder.embedding_length": dims.n_text_state,
        "whisper.decoder.block_count": dims.n_text_layer,
        "whisper.decoder.attention.head_count": dims.n_text_head,
        "whisper.decoder.feed_forward_length": 4 * dims.n_text_state,
        "whisper.vocab_size": dims.n_vocab,
        "whisper.embedding_length": dims.n_text_state,  # these two: antfly's spelling
        "whisper.num_mel_bins": dims.n_mels,
    }


def _tokenizer(checkpoint: Checkpoint) -> dict[str, Typed]:
    end = vocabulary.end_of_text(checkpoint.dims.n_vocab)
    special = special_tokens(checkpoint)
    tokens = [vocabulary.printable(token) for token in checkpoint.vocabulary] + special
    normal, control = 1, 3  # llama.cpp's token types
    found: dict[str, Typed] = {
        "tokenizer.ggml.model": (ValueType.STRING, "gpt2"),
        "tokenizer.ggml.pre": (ValueType.STRING, "gpt2"),
        "tokenizer.ggml.add_bos_token": (ValueType.BOOL, False),
        "tokenizer.ggml.add_eos_token": (ValueType.BOOL, False),
        "tokenizer.ggml.tokens": (ValueType.STRING, tokens),
        "tokenizer.ggml.token_type": (ValueType.INT32, [normal] * end + [control] * len(special)),
        "tokenizer.ggml.merges": (ValueType.STRING, list(vocabulary.merges(checkpoint.vocabulary))),
    }
    for role in ("bos", "eos", "unknown", "padding"):
        found[f"tokenizer.ggml.{role}_token_id"] = (ValueType.UINT32, end)
    return found


def special_tokens(checkpoint: Checkpoint) -> list[str]:
    """Printed forms of the special tokens in the order of their ids, from <|endoftext|> on."""
    return [
        "<|endoftext|>",
        "<|startoftranscript|>",
        *(f"<|{code}|>" for code in list(LANGUAGES)[: checkpoint.n_languages or 99]),
        "<|translate|>",
        "<|transcribe|>",
        "<|startoflm|>",
        "<|startofprev|>",
        "<|nospeech|>",
        "<|notimestamps|>",
        *(f"<|{i * 0.02:.2f}|>" for i in range(1501)),
    ]


def transcribe_cpp(checkpoint: Checkpoint, preset: str) -> dict[str, Typed]:
    """Keys of handy-computer/transcribe.cpp, scripts/convert-whisper.py."""
    dims = checkpoint.dims
    many = checkpoint.is_multilingual
    ids = {token: i for i, token in enumerate(special_tokens(checkpoint), vocabulary.end_of_text(dims.n_vocab))}
    integers = {
        "stt.whisper.encoder.n_layers": dims.n_audio_layer,
        "stt.whisper.encoder.d_model": dims.n_audio_state,
        "stt.whisper.encoder.n_heads": dims.n_audio_head,
        "stt.whisper.encoder.ffn_dim": 4 * dims.n_audio_state,
        "stt.whisper.encoder.num_mel_bins": dims.n_mels,
        "stt.whisper.encoder.max_source_positions": dims.n_audio_ctx,
        "stt.whisper.decoder.n_layers": dims.n_text_layer,
        "stt.whisper.decoder.d_model": dims.n_text_state,
        "stt.whisper.decoder.n_heads": dims.n_text_head,
        "stt.whisper.decoder.ffn_dim": 4 * dims.n_text_state,
        "stt.whisper.decoder.max_target_positions": dims.n_text_ctx,
        "stt.whisper.decoder.vocab_size": dims.n_vocab,
        "stt.whisper.decoder_start_token_id": ids["<|startoftranscript|>"],
        "stt.whisper.sot_token_id": ids["<|startoftranscript|>"],
        "stt.whisper.no_timestamps_token_id": ids["<|notimestamps|>"],
        "stt.whisper.transcribe_token_id": ids["<|transcribe|>"],
        "stt.whisper.translate_token_id": ids["<|translate|>"],
        "stt.whisper.prev_sot_token_id": ids["<|startofprev|>"],
        "stt.frontend.num_mels": dims.n_mels,
        "stt.frontend.sample_rate": audio.SAMPLE_RATE_HZ,
        "stt.frontend.n_fft": 400,
        "stt.frontend.win_length": 400,
        "stt.frontend.hop_length": 160,
        "stt.frontend.chunk_length": 30,
        "stt.frontend.n_samples": 480000,
        "stt.frontend.nb_max_frames": 3000,
    }
    words = {
        "stt.variant": f"whisper-{checkpoint.name}",
        "stt.whisper.encoder.activation": "gelu",
        "stt.whisper.decoder.activation": "gelu",
        "stt.frontend.type": "mel",
        "stt.frontend.window": "hann_periodic",
        "stt.frontend.normalize": "whisper_logmel",
        "stt.frontend.pad_mode": "reflect",
        "stt.frontend.mel_norm": "slaney",
    }
    flags = {
        "stt.capability.lang_detect": many,
        "stt.capability.translate": many,
        "stt.capability.timestamps": True,
        "stt.whisper.decoder.tie_word_embeddings": True,
        "stt.whisper.decoder.scale_embedding": False,
        "stt.frontend.center": True,
    }
    numbers = {
        "stt.frontend.dither": 0.0,
        "stt.frontend.pre_emphasis": 0.0,
        "stt.frontend.f_min": 0.0,
        "stt.frontend.f_max": 8000.0,
    }
    found = _general(checkpoint, preset) | _integer_lists(checkpoint, "stt.whisper")
    found |= {key: (ValueType.UINT32, value) for key, value in integers.items()}
    found |= {key: (ValueType.STRING, text) for key, text in words.items()}
    found |= {key: (ValueType.BOOL, flag) for key, flag in flags.items()}
    found |= {key: (ValueType.FLOAT32, number) for key, number in numbers.items()}
    if many:
        found["stt.translation.target_languages"] = (ValueType.STRING, ["en"])
    return found | _tokenizer(checkpoint)


def transcribe_cpp_frontend(checkpoint: Checkpoint) -> dict[str, F32]:
    """The tensors beside the weights that transcribe.cpp computes its mel with."""
    window = np.hanning(audio.N_FFT + 1)[:-1].astype(np.float32)
    return {"frontend.mel_filterbank": _mel_filters(checkpoint), "frontend.window": window}
