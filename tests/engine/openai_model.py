"""A checkpoint of ours in openai-whisper's PyTorch model: the same weights, float32."""

from __future__ import annotations

from dataclasses import asdict

import torch
import whisper

from engine.checkpoint import Checkpoint

_NAMES = [
    ("layers.", "blocks."),
    ("self_attn_layer_norm", "attn_ln"),
    ("encoder_attn_layer_norm", "cross_attn_ln"),
    ("final_layer_norm", "mlp_ln"),
    ("self_attn.", "attn."),
    ("encoder_attn.", "cross_attn."),
    ("q_proj", "query"),
    ("k_proj", "key"),
    ("v_proj", "value"),
    ("out_proj", "out"),
    ("fc1", "mlp.0"),
    ("fc2", "mlp.2"),
    ("encoder.layer_norm", "encoder.ln_post"),
    ("decoder.layer_norm", "decoder.ln"),
    ("embed_tokens", "token_embedding"),
    ("encoder.embed_positions.weight", "encoder.positional_embedding"),
    ("decoder.embed_positions.weight", "decoder.positional_embedding"),
]


def openai_model(checkpoint: Checkpoint) -> whisper.model.Whisper:
    model = whisper.model.Whisper(whisper.model.ModelDimensions(**asdict(checkpoint.dims)))
    state = {}
    for name, tensor in checkpoint.tensors.items():
        for ours, theirs in _NAMES:
            name = name.replace(ours, theirs)
        state[name] = torch.tensor(tensor.f32())
    model.load_state_dict(state)
    return model.eval()
