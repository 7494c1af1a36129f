"""Ghost text: what Whisper writes where nobody spoke. Subtitles taught it to end every silence with thanks.

A text goes only on evidence from the audio. "Thank you" that was really said is loud, or a voice detector heard it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.decode import Decoded

NO_SPEECH_PROB = 0.6  # OpenAI's threshold
DOUBTFUL_LOGPROB = -0.8  # with no voice heard, a text must be likelier than this
INAUDIBLE_DB = -65.0  # loudest 20 ms, relative to full scale

# What the models are known to write over silence and noise, without case and punctuation; a bar between two
_STOCK = """
thank you | thanks | thank you very much | thank you so much | thanks for watching | thank you for watching | you
bye | bye bye | okay | so | oh | i m sorry | please subscribe | see you next time | see you in the next video | the end
vielen dank | danke | danke schön | untertitel der amara org community | untertitelung des zdf 2020 | tschüss
merci | merci beaucoup | sous titrage st 501 | sous titres réalisés par la communauté d amara org | au revoir
gracias | muchas gracias | gracias por ver el video | subtítulos realizados por la comunidad de amara org
grazie | grazie a tutti | grazie mille | sottotitoli creati dalla comunità amara org
obrigado | obrigada | tchau | legendas pela comunidade amara org | swr 2020 | swr 2021
ご視聴ありがとうございました | 谢谢 | 謝謝 | 谢谢大家 | 谢谢观看 | 字幕by索兰娅
"""
STOCK_PHRASES = frozenset(phrase.strip() for phrase in re.split(r"[|\n]", _STOCK.strip()))


@dataclass(frozen=True)
class Evidence:
    """What the audio says about speech, whatever the text."""

    loudest_db: float  # RMS of the loudest 20 ms, relative to full scale
    heard_speech: bool | None  # by a voice detector; None without one


def is_silent(evidence: Evidence) -> bool:
    """Whether there is nothing to decode at all."""
    return evidence.loudest_db < INAUDIBLE_DB


def is_ghost(decoded: Decoded, evidence: Evidence) -> bool:
    """Whether the text has no speech under it."""
    if is_silent(evidence) or not re.search(r"\w", decoded.text):
        return True
    if evidence.heard_speech:
        return False
    unlikely = decoded.avg_logprob < DOUBTFUL_LOGPROB
    silent = decoded.no_speech_prob > NO_SPEECH_PROB
    if silent and unlikely:
        return True
    return (silent or unlikely or evidence.heard_speech is False) and is_stock_phrase(decoded.text)


def is_stock_phrase(text: str) -> bool:
    """Whether the text is nothing but one of the phrases, once or over and over."""
    plain = " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())
    if plain in STOCK_PHRASES:
        return True
    parts = [" ".join(re.sub(r"[^\w\s]", " ", part).split()) for part in re.split(r"[.!?。！？]+", text.casefold())]
    spoken = [part for part in parts if part]
    return bool(spoken) and all(part in STOCK_PHRASES for part in spoken)
