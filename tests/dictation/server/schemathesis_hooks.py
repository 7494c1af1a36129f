"""What the OpenAPI document can't say: that a file is audio."""

import schemathesis
from hypothesis import strategies as st
from schemathesis.transport.serialization import Binary

from tests.fakes import sounds
from tests.fakes.caller import pcm, wav

SPEECH = sounds.clip("en/gcp-mountain-view")
FILES = [wav(SPEECH), wav(SPEECH[:8_000], 8_000), wav(sounds.silence(0.3))]
CHUNKS = [pcm(SPEECH), pcm(SPEECH)[:999], b""]

schemathesis.openapi.format("binary", st.sampled_from(FILES).map(Binary))
schemathesis.openapi.media_type("application/octet-stream", st.sampled_from(CHUNKS))


@schemathesis.hook
def filter_case(context, case):
    """A form knows only strings: whatever stands in a string's place arrives as one, so it is not of a wrong type."""
    if case.media_type != "multipart/form-data" or not isinstance(case.body, dict):
        return True
    return all(isinstance(case.body.get(name, ""), str) for name in ("model", "language", "prompt"))
