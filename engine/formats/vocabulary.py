"""Byte-level BPE vocabularies in the forms that model files carry, as a tuple of bytes indexed by token id.

Whisper's ids are GPT-2's merge ranks, so the tuple is all that a tokenizer needs; special tokens follow from n_vocab.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import resources
from engine.errors import ModelFileError

Vocabulary = tuple[bytes, ...]

MAX_FILE_BYTES = 64 << 20  # tokenizer.json of a Whisper has 2 to 4 MB


def _printable_bytes() -> dict[int, str]:
    """GPT-2's alphabet: every byte as one printable character (Radford et al., `bytes_to_unicode`)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}


_TO_TEXT = _printable_bytes()
_TO_LATIN1 = {ord(text): byte for byte, text in _TO_TEXT.items()}


def from_alphabet() -> Vocabulary:
    """The 256 one-byte tokens in GPT-2's order, with which every Whisper vocabulary begins."""
    return tuple(bytes([byte]) for byte in _TO_TEXT)


def end_of_text(n_vocab: int) -> int:
    """Id of <|endoftext|>, which is also the number of plain tokens: 50256 for `.en`, else 50257."""
    return 50257 if n_vocab >= 51865 else 50256


def printable(token: bytes) -> str:
    """A token as GPT-2's vocabularies print it: b" the" -> "Ġthe"."""
    return token.decode("latin-1").translate(_TO_TEXT)


def from_printable(tokens: Iterable[str], n_vocab: int) -> Vocabulary:
    """Plain tokens out of a list of printed ones that may go on with special tokens."""
    wanted = end_of_text(n_vocab)
    found: list[bytes] = []
    for token in tokens:
        if len(found) == wanted:
            break
        try:
            found.append(token.translate(_TO_LATIN1).encode("latin-1"))
        except UnicodeEncodeError as fault:
            raise ModelFileError(f"Token {len(found)} of this model's vocabulary is not byte-level BPE.") from fault
    return checked(tuple(found), n_vocab)


def checked(vocabulary: Vocabulary, n_vocab: int) -> Vocabulary:
    """The vocabulary itself; raises ModelFileError where it can't be Whisper's."""
    wanted = end_of_text(n_vocab)
    if len(vocabulary) != wanted:
        raise ModelFileError(f"This model's vocabulary has {len(vocabulary)} plain tokens; {wanted} were expected.")
    if {len(token) for token in vocabulary[:256]} != {1} or len(set(vocabulary[:256])) != 256:
        raise ModelFileError("This model's vocabulary is not Whisper's: its first 256 tokens are not the 256 bytes.")
    return vocabulary


def merges(vocabulary: Vocabulary) -> Iterator[str]:
    """The merge list that stands behind the ranks, in GPT-2's print ("Ġ t"): what other programs' tokenizers need."""
    rank = {token: i for i, token in enumerate(vocabulary)}
    for token in vocabulary[256:]:
        pair = _last_pair(token, rank)
        if pair is not None:
            yield f"{printable(pair[0])} {printable(pair[1])}"


def _last_pair(token: bytes, rank: dict[bytes, int]) -> tuple[bytes, bytes] | None:
    """The two parts whose merge makes `token`: BPE with only the merges that come before it."""
    parts = [token[i : i + 1] for i in range(len(token))]
    limit = rank[token]
    while len(parts) > 2:
        best, at = limit, -1
        for i in range(len(parts) - 1):
            candidate = rank.get(parts[i] + parts[i + 1], limit)
            if candidate < best:
                best, at = candidate, i
        if at < 0:
            return None
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return (parts[0], parts[1]) if len(parts) == 2 else None


def beside(path: Path, n_vocab: int) -> Vocabulary | None:
    """The vocabulary in the files that lie beside a model file; None where there is none.

    Looked for, in this order: tokenizer.json, tokenizer-<stem>.json (candle), vocabulary.json, vocabulary.txt
    (CTranslate2), vocab.json.
    """
    folder = path if path.is_dir() else path.parent
    for file in [folder / "tokenizer.json", *_candle_tokenizers(folder, path)]:
        if file.is_file():
            return from_tokenizer_json(file, n_vocab)
    if (file := folder / "vocabulary.json").is_file():
        return from_printable(_string_list(file), n_vocab)
    if (file := folder / "vocabulary.txt").is_file():
        return from_printable(_read(file).split("\n"), n_vocab)
    if (file := folder / "vocab.json").is_file():
        return from_printable(_by_id(_json(file), file), n_vocab)
    return None


def built_in(n_vocab: int) -> Vocabulary:
    """OpenAI's own vocabulary, for files that come without one (OpenAI .pt, MLX): the size says which."""
    name = "multilingual" if n_vocab >= 51865 else "gpt2"
    lines = resources.path(f"vocabularies/{name}.tiktoken").read_bytes().splitlines()
    return checked(tuple(base64.b64decode(line.split()[0]) for line in lines), n_vocab)


def _candle_tokenizers(folder: Path, path: Path) -> Iterator[Path]:
    """candle names them tokenizer-tiny-en.json beside model-tiny-en-q80.gguf."""
    words = path.stem.split("-")
    for end in range(len(words), 1, -1):
        yield folder / f"tokenizer-{'-'.join(words[1:end])}.json"


def from_tokenizer_json(file: Path, n_vocab: int) -> Vocabulary:
    """Hugging Face's tokenizer.json, written by the tokenizers library."""
    content = _json(file)
    model = content.get("model") if isinstance(content, dict) else None
    vocab = model.get("vocab") if isinstance(model, dict) else None
    return from_printable(_by_id(vocab, file), n_vocab)


def _by_id(vocab: object, file: Path) -> Sequence[str]:
    """The plain tokens of a {token: id} table, up to the first id that it leaves out."""
    if not isinstance(vocab, dict) or not all(isinstance(i, int) for i in vocab.values()):
        raise ModelFileError(f"{file.name} holds no vocabulary; fetch it again from where the model came from.")
    table = {i: str(token) for token, i in vocab.items()}
    tokens: list[str] = []
    while (token := table.get(len(tokens))) is not None:
        tokens.append(token)
    return tokens


def _string_list(file: Path) -> list[str]:
    content = _json(file)
    if not isinstance(content, list) or not all(isinstance(token, str) for token in content):
        raise ModelFileError(f"{file.name} holds no vocabulary; fetch it again from where the model came from.")
    return content


def _json(file: Path) -> object:
    try:
        return json.loads(_read(file))
    except (ValueError, RecursionError) as fault:
        raise ModelFileError(f"{file.name} is not whole JSON: fetch it again.") from fault


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise ModelFileError(f"{file.name} is too large for a vocabulary.")
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise ModelFileError(f"{file.name} can't be read: {fault}.") from fault
