"""Does a model file work? It is loaded and must write down what the bundled speech sample says."""

from __future__ import annotations

from pathlib import Path

import engine
import resources
from engine.audio import Clip
from engine.errors import ModelFileError


def smoke(path: Path, device: str = "auto") -> str:
    """The sample's text as this model hears it. Raises ModelFileError, with the output, where it hears no words."""
    transcriber = engine.load(path, device)
    try:
        with Clip(resources.path("sample.wav")) as clip:
            text = transcriber.transcribe(clip).text.strip()
    finally:
        transcriber.close()
    if sum(character.isalpha() for character in text) < 10:
        raise ModelFileError(f"It was loaded, but wrote {text!r} where the sample says a whole sentence.")
    return text
