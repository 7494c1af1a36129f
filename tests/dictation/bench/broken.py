"""Models with a fault put into them, to show what gates catch. Importable, because they go to other processes."""

import os
from dataclasses import replace

from dictation.bench.crew import Job
from dictation.recogniser import Recogniser

COMMON = (
    "the",
    "of",
    "in",
    "and",
    "to",
    "a",
    "is",
    "it",
    "its",
    "that",
    "you",
    "are",
    "be",
    "been",
    "has",
    "with",
    "on",
)


def _recogniser(job: Job) -> Recogniser:
    return Job(job.model, job.device, job.threads).load()


def without_common_words(job: Job) -> Recogniser:
    """A list of suppressed tokens that holds the commonest words."""
    model = _recogniser(job)
    tokens = tuple(token for word in COMMON for token in model._transcriber.tokenizer.encode(f" {word}"))
    options = model._options
    model._options = lambda request: replace(options(request), suppress_tokens=tokens)
    return model


def without_tail(job: Job) -> Recogniser:
    """The last 0.6 s never reach the engine."""
    model = _recogniser(job)
    begin = model.begin

    def cut(request):
        live = begin(request)
        finish, held = live.finish, []
        append = live.append

        def late(samples, start=None):
            held.append((samples, start))
            while sum(len(s) for s, _ in held[1:]) >= 0.6 * 16_000:
                append(*held.pop(0))

        live.append = late
        live.finish = finish
        return live

    model.begin = cut
    return model


def mortal(job: Job) -> Recogniser:
    """Takes its process with it when it hears more than 2 s."""
    model = _recogniser(job)
    begin = model.begin

    def doomed(request):
        live = begin(request)
        append = live.append

        def hear(samples, start=None):
            if start is not None and start > 2 * 16_000:
                os._exit(9)
            append(samples, start)

        live.append = hear
        return live

    model.begin = doomed
    return model
