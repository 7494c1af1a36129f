"""The engine as the worker sees it: one loaded model that recognises growing takes and whole recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dictation.vocabulary import prompt
from dictation.worker.model import Asked, Live, Recording, Request, Room

if TYPE_CHECKING:
    from engine.audio import Audio
    from engine.decode import DecodingOptions
    from engine.transcriber import Transcriber

F32 = NDArray[np.float32]


class Recogniser:
    """`worker.model.Model` on the real engine."""

    def __init__(self, transcriber: Transcriber, name: str) -> None:
        self._transcriber = transcriber
        self.name = name

    @property
    def device(self) -> str:
        return self._transcriber.device

    def warm_up(self) -> None:
        self._transcriber.warm_up()

    def prepare(self, cancelled: Asked) -> bool:
        return self._transcriber.prepare(cancelled)

    def begin(self, request: Request) -> Live:
        from engine.streaming import LiveOptions, LiveTranscriber

        options = LiveOptions(self._options(request), last_language=request.language.last)
        model = self._transcriber
        return LiveTranscriber(model.runtime, model.tokenizer, options, model.mel_filters)

    def open(self, recording: F32 | Audio, request: Request) -> Recording:
        return self._transcriber.begin(recording, self._options(request))

    def close(self) -> None:
        self._transcriber.close()

    def _options(self, request: Request) -> DecodingOptions:
        from engine.decode import DecodingOptions

        wanted = request.language
        given = DecodingOptions()
        follows = request.exactly or self._transcriber.languages != ("en",)
        return DecodingOptions(
            # an English-only model writes English whatever is chosen
            language=wanted.language if follows else "en",
            languages=wanted.among if follows else (),
            task=wanted.task if follows else "transcribe",
            prompt=request.prompt or prompt(request.terms, self._count_tokens) or None,
            timestamps=request.timestamps,
            word_times=request.word_times,
            temperatures=given.temperatures if request.temperature is None else (request.temperature,),
        )

    def _count_tokens(self, text: str) -> int:
        return len(self._transcriber.tokenizer.encode(text))


def build(name: str, device: str) -> Recogniser:
    """Load an installed model on the calling thread. Raises EngineError."""
    import engine  # its heavy half is imported here, on the thread that loads

    return Recogniser(engine.load(name, _device(device)), name)


def beside(name: str, device: str) -> Room:
    """Whether an installed model can be loaded while another stays in use. Raises EngineError."""
    from dictation import memory, model_facts
    from engine.devices import stays_on_its_thread

    if stays_on_its_thread(_device(device)):
        return Room.ONE_THREAD
    return Room.BESIDE if model_facts.memory_needed(name).value <= memory.free_bytes() else Room.NO_MEMORY


def _device(chosen: str) -> str:
    """The engine's word for what the settings say."""
    return "auto" if chosen == "gpu" else chosen
