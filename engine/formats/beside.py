"""The small JSON files that lie beside a model's weights: config.json, generation_config.json, a model card.

All are optional and none is trusted: a value of the wrong kind counts as missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelFileError

MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Generation:
    """Decoding defaults of a model: Hugging Face's generation_config.json or CTranslate2's config.json."""

    suppress_tokens: tuple[int, ...] | None = None
    begin_suppress_tokens: tuple[int, ...] | None = None
    alignment_heads: tuple[tuple[int, int], ...] | None = None


def json_object(file: Path) -> Mapping[str, object]:
    """The object in a JSON file, {} where there is no file. Raises ModelFileError where it is not whole JSON."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ModelFileError(f"{file.name} beside the model is too large.")
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as fault:
        raise ModelFileError(f"{file.name} beside the model is not whole JSON: fetch it again.") from fault
    return content if isinstance(content, dict) else {}


def generation(folder: Path) -> Generation:
    """What generation_config.json says, else config.json (older Hugging Face models, CTranslate2)."""
    found: dict[str, object] = {}
    for content in (json_object(folder / "config.json"), json_object(folder / "generation_config.json")):
        found |= {key: value for key, value in content.items() if value is not None}
    return Generation(
        suppress_tokens=_ids(found.get("suppress_tokens", found.get("suppress_ids"))),
        begin_suppress_tokens=_ids(found.get("begin_suppress_tokens", found.get("suppress_ids_begin"))),
        alignment_heads=_pairs(found.get("alignment_heads")),
    )


def n_head(folder: Path) -> tuple[int | None, int | None]:
    """Attention heads of encoder and decoder, where config.json says (Hugging Face's or OpenAI's names)."""
    config = json_object(folder / "config.json")
    return (
        _integer(config.get("encoder_attention_heads", config.get("n_audio_head"))),
        _integer(config.get("decoder_attention_heads", config.get("n_text_head"))),
    )


def name(path: Path) -> str:
    """A name for a model whose files have generic names: that of its folder, without owner and "whisper-"."""
    generic = path.name.startswith(("model.", "weights.", "pytorch_model.")) or path.suffix == ".json"
    word = path.resolve().parent.name if generic else path.stem
    return re.sub(r"^(openai[-_])?whisper[-_]", "", word) or word


def licence(folder: Path) -> str | None:
    """The licence of the model card (README.md with YAML in front)."""
    try:
        with (folder / "README.md").open(encoding="utf-8", errors="replace") as card:
            head = card.read(1 << 16)
    except OSError:
        return None
    found = re.match(r"---\r?\n(.*?)\r?\n---", head, re.DOTALL)
    line = found and re.search(r"^license:\s*['\"]?([\w.+-]+)", found.group(1), re.MULTILINE)
    return line.group(1).lower() if line else None


def _integer(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _ids(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or not all(type(i) is int for i in value):
        return None
    return tuple(i for i in value if i >= 0) or None


def _pairs(value: object) -> tuple[tuple[int, int], ...] | None:
    if not isinstance(value, list):
        return None
    pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2 and all(type(i) is int for i in pair)]
    return tuple((layer, head) for layer, head in pairs) if len(pairs) == len(value) else None
