"""Commands and events are plain data, and never show dictated text in a log line."""

import dataclasses
import json
from pathlib import Path

import pytest

from dictation import events

MESSAGES = [
    cls
    for cls in vars(events).values()
    if isinstance(cls, type)
    and issubclass(cls, events.Command | events.Event)
    and cls not in (events.Command, events.Event)
]
SAMPLES = {"str": "x", "float": 1.5, "int": 3, "bool": True, "Path": Path("a.wav"), "State": events.State.IDLE}


def example(cls: type) -> events.Command | events.Event:
    values = {}
    for f in dataclasses.fields(cls):
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            values[f.name] = SAMPLES.get(str(f.type), ())
    return cls(**values)


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda c: c.__name__)
def test_every_message_is_frozen_and_becomes_json(cls):
    message = example(cls)
    with pytest.raises(dataclasses.FrozenInstanceError):
        message.anything = 1
    assert json.loads(json.dumps(events.as_dict(message)))["kind"] == events.kind(message)


@pytest.mark.parametrize(
    "message",
    [
        events.PartialText(1, firm="my secret", tentative="secret too"),
        events.FinalText(1, text="my secret", raw_text="secret"),
        events.TextDelivered(1, text="secret"),
        events.FileTranscribed(Path("a.wav"), text="secret"),
    ],
    ids=events.kind,
)
def test_dictated_text_is_not_in_the_repr(message):
    assert "secret" not in repr(message)
    assert "secret" in json.dumps(events.as_dict(message))
