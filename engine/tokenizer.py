"""Text to token ids and back: byte-level BPE on tiktoken, Whisper's special ids, languages, suppress lists.

All special ids follow from the vocabulary size (51864 `.en`, 51865 and 51866 with 99 and 100 languages), because the
1501 timestamps are the last ids and the rest lie below them in a fixed order.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from functools import cached_property

import tiktoken

from engine.checkpoint import Checkpoint
from engine.errors import OptionError
from engine.languages import LANGUAGES
from engine.runtime import Rules

N_TIMESTAMPS = 1501  # 0.00 to 30.00 s
TIMESTAMP_S = 0.02
MAX_PROMPT_TOKENS = 223  # half the text context, less the startofprev token

_SPLIT = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""  # GPT-2's

# Signs of speaker tags, captions and music; plain punctuation stays
_NON_SPEECH = [
    *"\"#()*+/:;<=>@[\\]^_`{|}~「」『』",
    "<<", ">>", "<<<", ">>>", "--", "---", "-(", "-[", "('", "(\"", "((", "))", "(((", ")))", "[[", "]]", "{{", "}}",
    "♪♪", "♪♪♪",
]  # fmt: skip
_NOTES = "♩♪♫♬♭♮♯"  # their first token stands for U+2640 to U+267F, all of it dispensable


class Tokenizer:
    """The vocabulary of one model.

    vocabulary: byte-level tokens by id, those below end of text. n_vocab: rows of the model's token table.
    Raises OptionError where n_vocab is no Whisper's.
    """

    def __init__(self, vocabulary: Sequence[bytes], n_vocab: int) -> None:
        self.n_vocab = n_vocab
        self.is_multilingual = n_vocab >= 51865
        self.eot = 50257 if self.is_multilingual else 50256
        self.sot = self.eot + 1
        self.timestamp_begin = n_vocab - N_TIMESTAMPS
        self.no_timestamps = self.timestamp_begin - 1
        self.no_speech = self.timestamp_begin - 2
        self.sot_prev = self.timestamp_begin - 3
        self.sot_lm = self.timestamp_begin - 4
        self.transcribe = self.timestamp_begin - 5
        self.translate = self.timestamp_begin - 6
        n_languages = self.translate - self.sot - 1  # `.en` models keep the ids, unused
        if n_languages not in (len(LANGUAGES) - 1, len(LANGUAGES)):
            raise OptionError(f"A vocabulary of {n_vocab} tokens is not one of Whisper's (51864, 51865, 51866).")
        self.languages = tuple(LANGUAGES)[:n_languages] if self.is_multilingual else ()
        self._bytes = tuple(vocabulary[: self.eot])
        ranks = {token: rank for rank, token in enumerate(self._bytes) if token}
        self._encoding = tiktoken.Encoding("whisper", pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens={})

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> Tokenizer:
        return cls(checkpoint.vocabulary, checkpoint.dims.n_vocab)

    def encode(self, text: str) -> list[int]:
        """Text as ids; what looks like a special token is plain text."""
        return self._encoding.encode(text, disallowed_special=())

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of all ids below end of text; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(self.token_bytes(token) for token in tokens).decode("utf-8", "replace")

    def token_bytes(self, token: int) -> bytes:
        """UTF-8 bytes of one token, maybe part of a character; none for special tokens."""
        return self._bytes[token] if token < len(self._bytes) else b""

    def language_token(self, language: str) -> int:
        """Raises OptionError when the model does not know the language."""
        if language not in self.languages:
            raise OptionError(f"This model does not know {LANGUAGES.get(language, language)}.")
        return self.sot + 1 + self.languages.index(language)

    def sot_sequence(self, language: str, task: str, timestamps: bool) -> list[int]:
        """What the decoder starts from, prompt and prefix aside.

        task: "transcribe" or "translate" (into English). Raises OptionError for what an `.en` model can't do.
        """
        if task not in ("transcribe", "translate"):
            raise OptionError(f'The task is "transcribe" or "translate", not "{task}".')
        sequence = [self.sot]
        if self.is_multilingual:
            sequence += [self.language_token(language), self.transcribe if task == "transcribe" else self.translate]
        elif language != "en":
            name = LANGUAGES.get(language, language)
            raise OptionError(f"This model knows English only. Choose a multilingual one for {name}.")
        elif task == "translate":
            raise OptionError("This model knows English only and can't translate. Choose a multilingual one.")
        return sequence if timestamps else [*sequence, self.no_timestamps]

    def prompt(self, tokens: Sequence[int]) -> list[int]:
        """[startofprev, the last 223 of `tokens`], special tokens left out; nothing for an empty prompt."""
        text = [token for token in tokens if token < self.eot]
        return [self.sot_prev, *text[-MAX_PROMPT_TOKENS:]] if text else []

    @cached_property
    def non_speech(self) -> tuple[int, ...]:
        """Ids of signs that stand for no spoken word, sorted (82 multilingual, 84 `.en`)."""
        found = {self.encode(" -")[0], self.encode(" '")[0]}  # fine inside words, not in front of one
        for sign in [*_NON_SPEECH, *_NOTES]:
            for tokens in (self.encode(sign), self.encode(" " + sign)):
                if len(tokens) == 1 or sign in _NOTES:
                    found.add(tokens[0])
        return tuple(sorted(found))

    @cached_property
    def suppressed(self) -> tuple[int, ...]:
        """OpenAI's default suppress list: non-speech signs, and special tokens that belong in a prompt only."""
        special = {self.sot, self.sot_prev, self.sot_lm, self.transcribe, self.translate, self.no_speech}
        return tuple(sorted({*self.non_speech, *special}))

    def rules(
        self, timestamps: bool, suppress: Sequence[int] | None = None, max_initial_timestamp_s: float | None = 1.0
    ) -> Rules:
        """Rules for sampling. suppress: None for OpenAI's list; the special tokens are masked in any case."""
        special = self.suppressed if suppress is None else (*suppress, *(set(self.suppressed) - set(self.non_speech)))
        limit = None if max_initial_timestamp_s is None else round(max_initial_timestamp_s / TIMESTAMP_S)
        return Rules(
            suppress=tuple(sorted(set(special))),
            suppress_first=(*self.encode(" "), self.eot),
            eot=self.eot,
            no_timestamps=self.no_timestamps,
            timestamp_begin=self.timestamp_begin,
            timestamps=timestamps,
            max_initial_timestamp=limit,
        )


class Detokenizer:
    """Token by token to text, never half a character: bytes wait until their character is whole."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """Text that became whole with this token, often "" in scripts of many bytes a character."""
        return self._decoder.decode(self._tokenizer.token_bytes(token))

    def rest(self) -> str:
        """What still waited, at the end: "" or U+FFFD."""
        return self._decoder.decode(b"", final=True)
