"""OpenAI's own Python client, unchanged, on the local API."""

import asyncio
import io

import numpy as np
import openai
import pytest

from tests.fakes import sounds
from tests.shell import JFK

SAID = "ask not what your country can do for you"


@pytest.fixture(scope="module")
def client(api):
    with openai.OpenAI(base_url=f"http://127.0.0.1:{api.port}/v1", api_key=api.token, max_retries=0) as made:
        yield made.audio


def plain(text):
    return " ".join(text.lower().replace(",", "").split())


@pytest.mark.parametrize("format", ["json", "text", "srt", "vtt", "verbose_json"])
def test_every_response_format_holds_what_was_said(client, format):
    answer = client.transcriptions.create(model="whisper-1", file=JFK, response_format=format, language="en")
    match format:
        case "json":
            assert SAID in plain(answer.text) and answer.usage.seconds == pytest.approx(11.0, abs=0.01)
        case "text":
            assert SAID in plain(answer) and answer.endswith("\n")
        case "srt":
            assert answer.startswith("1\n00:00:00,000 --> 00:00:") and SAID in plain(answer)
        case "vtt":
            assert answer.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:") and SAID in plain(answer)
        case "verbose_json":
            assert (answer.language, answer.task) == ("english", "transcribe")
            assert answer.duration == pytest.approx(11.0, abs=0.01) and SAID in plain(answer.text)
            assert answer.text == "".join(segment.text for segment in answer.segments).strip()
            ends = [time for segment in answer.segments for time in (segment.start, segment.end)]
            assert ends == sorted(ends) and ends[-1] <= 11.01


def test_times_of_words_are_given_where_they_are_asked_for(client):
    answer = client.transcriptions.create(
        model="whisper-1", file=JFK, response_format="verbose_json", timestamp_granularities=["word"]
    )
    assert answer.segments is None
    assert plain(" ".join(word.word for word in answer.words)) == plain(answer.text)
    assert all(word.start <= word.end for word in answer.words)
    country = [word for word in answer.words if word.word.startswith("country")]
    assert 5.5 < country[0].start < 8.2 and 10.0 < country[1].end <= 11.01
    both = client.transcriptions.create(
        model="whisper-1", file=JFK, response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    assert both.segments and both.words == answer.words


def test_the_text_is_that_of_sayso_transcribe(client, tiny_en_q8):
    import engine

    model = engine.load(tiny_en_q8)
    expected = model.transcribe(sounds.clip("en/jfk")).text
    model.close()
    assert client.transcriptions.create(model="whisper-1", file=JFK).text == expected


def test_a_stream_gives_deltas_that_add_up_to_the_text(client):
    long = io.BytesIO()
    import soundfile

    soundfile.write(long, np.tile(sounds.clip("en/jfk"), 4), 16_000, format="FLAC")
    long.seek(0)
    long.name = "long.flac"
    with client.transcriptions.create(model="whisper-1", file=long, stream=True) as stream:
        events = list(stream)
    deltas = [event.delta for event in events if event.type == "transcript.text.delta"]
    assert events[-1].type == "transcript.text.done" and len(events) == len(deltas) + 1
    assert len(deltas) == 2, "one per window"
    assert "".join(deltas).strip() == events[-1].text and plain(events[-1].text).count(SAID) == 4


def test_the_asynchronous_client_and_a_raw_response_work_too(api):
    async def transcribe():
        async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{api.port}/v1", api_key=api.token) as client:
            return await client.audio.transcriptions.with_raw_response.create(
                model="whisper-1", file=("a.bin", JFK.read_bytes()), response_format="srt"
            )

    answer = asyncio.run(transcribe())
    assert answer.headers["content-type"].startswith("application/x-subrip")


def test_the_models_are_the_one_in_use_under_its_own_name_and_openais(api):
    with openai.OpenAI(base_url=f"http://127.0.0.1:{api.port}/v1", api_key=api.token) as client:
        names = [model.id for model in client.models.list()]
        assert names == ["tiny.en-Q8_0.gguf", "whisper-1"]
        assert client.models.retrieve(names[0]).object == "model"
        assert client.audio.transcriptions.create(model=names[0], file=JFK).text
        with pytest.raises(openai.NotFoundError, match=r"in use is tiny\.en"):
            client.audio.transcriptions.create(model="gpt-4o-transcribe", file=JFK)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"language": "de"}, "English only"),
        ({"language": "xx"}, "language"),
        ({"temperature": 1.5}, "temperature"),
        ({"response_format": "diarized_json"}, "response_format"),
        ({"response_format": "srt", "stream": True}, "stream"),
        ({"timestamp_granularities": ["segment"]}, "verbose_json"),
        ({"file": ("a.wav", b"RIFF....WAVE")}, "not audio"),
        ({"file": ("a.wav", b"")}, "empty"),
    ],
)
def test_what_can_not_be_done_is_one_clear_error(client, wanted, said):
    with pytest.raises((openai.BadRequestError, openai.UnprocessableEntityError), match=said):
        client.transcriptions.create(**({"model": "whisper-1", "file": JFK} | wanted))


def test_a_wrong_key_is_an_authentication_error(api):
    with (
        openai.OpenAI(base_url=f"http://127.0.0.1:{api.port}/v1", api_key="sk-wrong") as client,
        pytest.raises(openai.AuthenticationError, match="token"),
    ):
        client.models.list()


def test_an_english_model_says_that_it_can_not_translate(client):
    with pytest.raises(openai.UnprocessableEntityError, match="can't translate"):
        client.translations.create(model="whisper-1", file=JFK)


def test_german_becomes_english_with_a_multilingual_model(tmp_path, base_q8, monkeypatch):
    from dictation import recogniser
    from dictation.server.serving import Server
    from tests.fakes.dictation import Dictation

    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    with Dictation(tmp_path, {"recognition.model": str(base_q8)}, build=recogniser.build) as dictation:
        server = Server(dictation.loop, port=0)
        token = (tmp_path / "home" / "config" / "api-token").read_text().strip()
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=token) as client:
            clip = sounds.SPEECH / "de" / "leopard-de.flac"
            written = client.audio.transcriptions.create(model="whisper-1", file=clip, response_format="verbose_json")
            english = client.audio.translations.create(model="whisper-1", file=clip)
        server.close()
    assert written.language == "german"
    assert english.text and english.text != written.text
