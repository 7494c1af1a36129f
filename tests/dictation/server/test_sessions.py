"""Sessions: audio bit by bit, words while they are spoken, the text of the microphone, and nothing without a limit."""

import gc
import json
import queue
import threading
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from socket import SHUT_RDWR

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from dictation import recogniser
from dictation.replay import replay
from dictation.server import desk, serving
from dictation.worker.job import Job
from tests.fakes import sounds
from tests.fakes.caller import ogg_opus, pcm, wav

CHUNK = 3_200  # bytes: a tenth of a second
MOUNTAIN = sounds.clip("en/gcp-mountain-view")


def socket(api, **request):
    place = f"ws://127.0.0.1:{api.port}/sessions/socket"
    opened = connect(place, additional_headers={"Authorization": f"Bearer {api.token}"}, legacy=True)
    opened.send(json.dumps(request))
    assert json.loads(opened.recv())["type"] == "opened"
    return opened


def all_of(opened):
    """Every event until the socket is closed, for whatever reason."""
    events = []
    with suppress(ConnectionClosedError):
        for message in opened:
            events.append(json.loads(message))
    return events


def wait_until(is_so, timeout_s=10):
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def alive(*names):
    """How many objects of these classes there are."""
    gc.collect()
    return Counter(name for name in (type(each).__name__ for each in gc.get_objects()) if name in names)


def jobs():
    """What the engine has to do."""
    return [each for each in gc.get_objects() if type(each) is Job]


def chunks(data, size=CHUNK):
    return [data[start : start + size] for start in range(0, len(data), size)]


# ---- texts, with a real model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["en/jfk", "en/gcp-mountain-view", "en/lj001-0008"])
def test_a_session_fed_in_real_time_gives_the_text_of_sayso_replay(api, name, tiny_en_q8):
    expected = replay(
        sounds.SPEECH / f"{name}.flac", recogniser.build, changes={"recognition.model": str(tiny_en_q8)}
    ).text
    place, started_s = api.session(), time.monotonic()
    followed = []
    follower = threading.Thread(target=lambda: followed.extend(api.follow(f"{place}/events")))
    follower.start()
    for n, chunk in enumerate(chunks(pcm(sounds.clip(name)))):
        assert api.post(f"{place}/audio", chunk).status == 200
        time.sleep(max(0.0, started_s + 0.1 * (n + 1) - time.monotonic()))  # as it is spoken
    final = api.post(f"{place}/finish").json
    follower.join(30)
    assert final["text"] == expected
    kinds = [kind for kind, _ in followed]
    assert kinds[-1] == "final" and followed[-1][1] == final
    if name == "en/jfk":
        assert kinds.count("partial") >= 3
        firm = [event["firm"] for kind, event in followed if kind == "partial"]
        assert all(later.startswith(earlier) for earlier, later in pairwise(firm))


@pytest.mark.parametrize("encoding", ["pcm_f32le", "ogg_opus", "opus"])
def test_other_encodings_rates_and_channels_hold_the_same_words(api, encoding):
    import soxr

    speech = sounds.clip("en/gcp-mountain-view")
    with socket(api, format={"encoding": encoding, "rate_hz": 44_100 if encoding == "pcm_f32le" else 48_000,
                             "channels": 2 if encoding == "pcm_f32le" else 1}) as opened:  # fmt: skip
        if encoding == "pcm_f32le":
            stereo = np.zeros((round(len(speech) * 44_100 / 16_000), 2), "<f4")
            stereo[:, 1] = soxr.resample(speech, 16_000, 44_100)[: len(stereo)]
            parts = chunks(stereo.tobytes(), 3_001)  # cut in the middle of samples
        else:
            stream = ogg_opus(speech)
            parts = chunks(stream, 1_001) if encoding == "ogg_opus" else packets(stream)
        for part in parts:
            opened.send(part)
        opened.send('{"type": "finish"}')
        events = [json.loads(message) for message in opened]
    assert events[-1]["type"] == "final" and events[-1]["text"].startswith("Mountain View")


def packets(stream):
    from dictation.server.sound import OggPackets

    return OggPackets().push(stream)[2:]  # behind the headers


def test_dictate_applies_the_rules_of_the_request(api):
    rules = {"replacements": [{"find": "mountain view", "replace": "Sunnyvale"}], "casing": "upper_case"}
    clip = wav(sounds.clip("en/gcp-mountain-view"))
    answer = api.form("/dictate", clip, options=json.dumps({"rules": rules}))
    assert answer.status == 200, answer.body
    assert answer.json["text"].rstrip(".") == "SUNNYVALE"
    assert answer.json["raw_text"].casefold().startswith("mountain view")


@pytest.mark.parametrize("options", [{"language": "de"}, {"task": "translate"}])
def test_what_the_model_lacks_is_refused_with_the_same_words_everywhere(api, options):
    path = "translations" if "task" in options else "transcriptions"
    fields = {"language": options["language"]} if "language" in options else {}
    refused = [api.form(f"/v1/audio/{path}", wav(MOUNTAIN), **fields)]
    refused += [api.form("/dictate", wav(MOUNTAIN), options=json.dumps(options))]
    place = api.session(options=options)
    assert [kind for kind, _ in api.follow(f"{place}/events")] == ["error"], "before anything was said"
    refused += [api.post(f"{place}/audio", SPEECH), api.post(f"{place}/finish")]
    assert {answer.status for answer in refused} == {422} and {answer.code for answer in refused} == {"not_possible"}
    with socket(api, options=options) as opened:
        event = all_of(opened)[-1]
    said = {answer.json["error"]["message"] for answer in refused} | {event["message"]}
    assert event["type"] == "error" and len(said) == 1 and "English only" in said.pop()


def test_a_language_of_the_settings_that_the_model_lacks_is_met_as_at_the_microphone(api):
    from dictation import events as e

    api.dictation.send(e.ChangeSettings({"recognition.language": "de"}))
    try:
        assert "Mountain" in api.form("/dictate", wav(MOUNTAIN)).json["text"]
        assert "Mountain" in api.form("/dictate", wav(MOUNTAIN), options='{"language": "en"}').json["text"]
    finally:
        api.dictation.send(e.ChangeSettings({"recognition.language": "auto"}))


# ---- how a session lives, with a stand-in ----------------------------------------------------------------------------

SPEECH = pcm(MOUNTAIN)


def test_a_session_ends_by_itself_after_the_silence_that_was_asked_for(fake):
    place = fake.session(end_after_silence_s=0.5)
    heard = SPEECH + bytes(2 * 16_000 * 2)
    assert fake.post(f"{place}/audio", heard).status == 200
    events = list(fake.follow(f"{place}/events"))
    assert events[-1][0] == "final" and events[-1][1]["text"]
    late = fake.post(f"{place}/audio", SPEECH)
    assert (late.status, late.code) == (409, "session_ended")


def test_a_pause_is_told_once(fake):
    place = fake.session()
    for part in chunks(SPEECH + bytes(2 * 16_000 * 3)):
        fake.post(f"{place}/audio", part)
    fake.post(f"{place}/finish")
    pauses = [event for kind, event in fake.follow(f"{place}/events") if kind == "silence"]
    assert len(pauses) == 1 and 0.7 <= pauses[0]["pause_s"] < 1.0


@pytest.mark.parametrize(
    ("sound", "reason"), [(b"", "too_short"), (bytes(32_000), "muted"), (pcm(sounds.fan(2.0, level=0.0003)), "silence")]
)
def test_where_nothing_was_said_the_text_is_empty_and_says_why(fake, sound, reason):
    place = fake.session()
    if sound:
        fake.post(f"{place}/audio", sound)
    final = fake.post(f"{place}/finish").json
    assert (final["text"], final["reason"]) == ("", reason)


def test_a_second_append_at_the_same_time_is_refused(fake):
    place, slow = fake.session(), threading.Event()
    answers = []
    hear = [threading.Thread(target=lambda: answers.append(fake.post(f"{place}/audio", SPEECH * 20))) for _ in range(6)]
    for thread in hear:
        thread.start()
    for thread in hear:
        thread.join(60)
    statuses = sorted(answer.status for answer in answers)
    assert statuses[0] == 200 and statuses[-1] == 409
    assert {answer.code for answer in answers if answer.status == 409} == {"append_in_progress"}
    assert not slow.is_set()


def test_a_reader_that_comes_late_gets_the_newest_partial_text_and_the_end(fake):
    place = fake.session()
    for part in chunks(SPEECH * 3, 6_400):
        fake.post(f"{place}/audio", part)
    fake.post(f"{place}/finish")
    events = list(fake.follow(f"{place}/events"))
    assert [kind for kind, _ in events if kind != "silence"] == ["final"]
    dropped = [line for line in fake.get("/metrics").body.decode().splitlines() if "partials_dropped_total" in line][-1]
    assert float(dropped.split()[1]) > 0
    assert list(fake.follow(f"{place}/events"))[-1] == events[-1], "again"


def test_the_head_of_an_event_stream_does_not_wait_for_its_end(fake):
    answer = fake.call("HEAD", f"{fake.session()}/events", timeout=10)
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")


def test_a_deleted_session_is_gone_and_its_readers_are_told(serve):
    fake = serve()
    place = fake.session()
    events = fake.follow(f"{place}/events")
    reader = threading.Thread(target=lambda: told.extend(events))
    told = []
    reader.start()
    fake.post(f"{place}/audio", SPEECH)
    assert fake.call("DELETE", place).status == 204
    reader.join(10)
    assert told[-1] == ("error", {"type": "error", "code": "deleted", "message": "The session was deleted."})
    for method, path in (("GET", place), ("POST", f"{place}/audio"), ("DELETE", place), ("GET", f"{place}/events")):
        assert fake.call(method, path).code == "no_such_session"
    wait_until(lambda: not list(fake.folder.rglob("*.wav")))


def test_a_session_that_nobody_feeds_ends_with_what_was_said_and_is_forgotten_later(serve):
    fake = serve(idle_s=0.2, kept_s=1.0)
    place = fake.session()
    fake.post(f"{place}/audio", SPEECH)
    assert list(fake.follow(f"{place}/events"))[-1][0] == "final"
    wait_until(lambda: fake.get(place).status == 404)
    assert fake.get(place).code == "no_such_session"


def test_what_takes_have_freed_goes_back_to_the_system_now_and_then_but_not_at_rest(serve, monkeypatch):
    given_back = queue.Queue()
    monkeypatch.setattr(desk, "GIVE_BACK_S", 0.05)
    monkeypatch.setattr(desk, "give_memory_back", lambda: given_back.put(threading.current_thread().name))
    fake = serve()
    assert fake.form("/dictate", wav(sounds.clip("en/gcp-mountain-view"))).status == 200
    assert given_back.get(timeout=10).startswith("api-work")
    assert fake.call("DELETE", fake.session()).status == 204
    assert given_back.get(timeout=10)
    with suppress(queue.Empty):  # a take that ended in two steps
        given_back.get(timeout=0.2)
    with pytest.raises(queue.Empty):
        given_back.get(timeout=0.5)


def test_for_a_session_that_pauses_the_engine_holds_little_until_it_goes_on(serve):
    fake = serve(rest_s=0.1)
    place = fake.session()
    fake.post(f"{place}/audio", SPEECH)
    assert fake.words.rested.wait(10)
    fake.words.rested.clear()
    fake.post(f"{place}/audio", SPEECH)
    assert fake.words.rested.wait(10), "again"
    assert fake.post(f"{place}/finish").json["text"]
    assert len(fake.words.heard[-1]) > 1.5 * len(SPEECH) / 2


def test_sixty_four_sessions_at_once_each_get_their_own_text_and_one_more_is_refused(serve):
    fake = serve()
    lengths = [16_000 + 320 * n for n in range(64)]
    speech = np.tile(sounds.clip("en/gcp-mountain-view"), 3)
    places = [fake.session() for _ in lengths]
    assert fake.post("/sessions").code == "too_many_sessions"
    finals = {}

    def feed(place, length):
        for part in chunks(pcm(speech[:length]), 16_000):
            assert fake.post(f"{place}/audio", part).status == 200
        finals[length] = fake.post(f"{place}/finish").json

    threads = [threading.Thread(target=feed, args=pair) for pair in zip(places, lengths, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert {length: round(final["duration_s"] * 16_000) for length, final in finals.items()} == {n: n for n in lengths}
    assert all(final["text"] for final in finals.values())
    assert fake.session()


def test_audio_that_the_engine_can_not_follow_is_refused_until_it_can(serve):
    fake = serve(behind_s=2.0)
    fake.words.gate.clear()
    blocked = fake.session()
    fake.post(f"{blocked}/audio", SPEECH)
    finish = threading.Thread(target=lambda: fake.post(f"{blocked}/finish"))
    finish.start()  # holds the engine
    place, answers = fake.session(), []
    while not answers or answers[-1].status == 200:
        answers.append(fake.post(f"{place}/audio", SPEECH))
        assert len(answers) < 50
    assert (answers[-1].status, answers[-1].code) == (429, "audio_behind") and "retry-after" in answers[-1].headers
    fake.words.gate.set()
    finish.join(10)
    wait_until(lambda: fake.get(place).json["waiting_s"] <= 2.0)
    assert fake.post(f"{place}/audio", SPEECH).status == 200


def test_a_session_has_a_longest_length_and_keeps_what_was_said_until_then(serve):
    fake = serve(audio_s=3.0)
    place = fake.session()
    answers = [fake.post(f"{place}/audio", SPEECH * 2) for _ in range(3)]
    assert "audio_too_long" in [answer.code for answer in answers if answer.status == 413]
    assert fake.post(f"{place}/finish").json["text"]


def test_damaged_opus_is_refused_and_the_session_goes_on(fake):
    place = fake.session(format={"encoding": "ogg_opus"})
    assert fake.post(f"{place}/audio", b"x" * 5_000).code == "not_audio"
    assert fake.post(f"{place}/audio", ogg_opus(np.tile(sounds.clip("en/gcp-today"), 2))).status == 200
    assert fake.post(f"{place}/finish").json["text"]


def test_a_few_bytes_of_opus_that_are_hours_are_refused_before_they_fill_the_memory(fake):
    quiet = b"\x1b\x02"  # a packet of 120 ms

    def pages(packets, n_packets):
        lacing = bytes(map(len, packets))
        return (b"OggS" + bytes(22) + bytes([len(lacing)]) + lacing + b"".join(packets)) * n_packets

    head = b"OpusHead" + bytes([1, 1, 0, 0, *(48_000).to_bytes(4, "little"), 0, 0, 0])
    place = fake.session(format={"encoding": "ogg_opus"})
    start = pages([head], 1) + pages([b"OpusTags" + bytes(8)], 1)
    refused = fake.post(f"{place}/audio", start + pages([quiet] * 255, 2_600))  # 2 MB, 22 hours
    assert (refused.status, refused.code) == (413, "audio_too_long")
    assert fake.get(place).json["audio_s"] == 0.0
    assert fake.post(f"{place}/audio", pages([quiet] * 200, 1)).json["audio_s"] == pytest.approx(24.0, abs=0.1)


def test_another_model_in_the_middle_costs_nothing_of_what_was_said(serve):
    from dictation import events as e

    fake = serve()
    place = fake.session()
    fake.post(f"{place}/audio", SPEECH)
    fake.dictation.send(e.ChangeSettings({"recognition.model": "another"}))
    fake.dictation.until(e.SettingsChanged)
    fake.post(f"{place}/audio", SPEECH)
    assert fake.post(f"{place}/finish").json["text"]
    heard = fake.words.heard[-1]
    assert len(heard) > 1.5 * len(SPEECH) / 2


def test_of_a_session_that_has_ended_only_its_end_is_kept(serve):
    """Its voice detector, its decoder and its take, with all that they hold, are gone."""
    fake = serve()
    before = alive("SpeechDetector", "OggOpus", "Take", "Hearing")
    places = [fake.session(format={"encoding": "ogg_opus"}) for _ in range(5)]
    assert alive("SpeechDetector", "OggOpus") - before == {"SpeechDetector": 5, "OggOpus": 5}
    fake.post(f"{places[0]}/audio", ogg_opus(np.tile(sounds.clip("en/gcp-today"), 2)))
    finals = [fake.post(f"{place}/finish").json for place in places]
    wait_until(lambda: not alive("SpeechDetector", "OggOpus", "Take", "Hearing") - before)
    assert [fake.post(f"{place}/finish").json for place in places] == finals, "kept"
    assert fake.get(places[0]).json["audio_s"] == finals[0]["duration_s"]


def test_a_session_that_is_deleted_while_it_is_heard_leaves_nothing_at_the_engine(serve):
    """The whole take is told to the engine again where the detector found too little in it, or the model changes."""
    from dictation import events as e

    fake = serve()
    before = alive("Job", "Take")
    for n in range(4):
        places = [fake.session() for _ in range(4)]
        for place in places:
            fake.post(f"{place}/audio", SPEECH)
        fake.dictation.send(e.ChangeSettings({"recognition.model": f"another {n}"}))
        for place in places:
            assert fake.call("DELETE", place).status == 204
    wait_until(lambda: not alive("Job", "Take") - before)


# ---- a WebSocket -----------------------------------------------------------------------------------------------------


def test_a_socket_gives_words_while_they_are_spoken_and_the_text_at_its_end(fake):
    with socket(fake) as opened:
        for part in chunks(SPEECH):
            opened.send(part)
        opened.send('{"type": "finish"}')
        events = [json.loads(message) for message in opened]
    assert events[-1]["type"] == "final" and "partial" in {event["type"] for event in events}
    assert opened.close_code == 1000


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (["not json"], "not_json"),
        (["{}", "[]"], "invalid_value"),
        (["{}", '{"type": "dance"}'], "invalid_value"),
        (["{}", "{}"], "invalid_value"),
        (['{"format": {"encoding": "mp3"}}'], "invalid_value"),
        (['{"format": {"encoding": "ogg_opus"}}', b"x" * 100], "not_audio"),
        ([b"audio first"], "invalid_value"),
    ],
)
def test_nonsense_on_a_socket_is_told_and_ends_it(fake, messages, code):
    place = f"ws://127.0.0.1:{fake.port}/sessions/socket"
    with connect(place, additional_headers={"Authorization": f"Bearer {fake.token}"}) as opened:
        for message in messages:
            opened.send(message)
        events = all_of(opened)
    assert events[-1]["type"] == "error" and events[-1]["code"] == code
    assert opened.close_code == 1008


def test_a_socket_that_goes_away_leaves_nothing_behind(serve):
    fake = serve()
    opened = socket(fake)
    opened.send(SPEECH)
    opened.socket.close()
    wait_until(lambda: "sayso_sessions 0.0" in fake.get("/metrics").body.decode())
    wait_until(lambda: not list(fake.folder.rglob("*.wav")))


@pytest.mark.parametrize("last", [[], ['{"type": "finish"}']], ids=["speaking", "finished"])
def test_a_socket_that_goes_away_while_much_of_its_audio_waits_is_not_heard_to_its_end(serve, monkeypatch, last):
    monkeypatch.setattr(serving, "PING_S", 0.1)
    fake = serve(behind_s=2.0 if not last else 120.0)
    fake.words.gate.clear()
    blocked = fake.session()
    fake.post(f"{blocked}/audio", SPEECH)
    finish = threading.Thread(target=lambda: fake.post(f"{blocked}/finish"))
    finish.start()  # holds the engine
    opened = socket(fake)
    for message in [SPEECH] * 20 + last:
        opened.send(message)
    wait_until(lambda: any(job.n_waiting > 32_000 and job.finish == bool(last) for job in jobs()))
    opened.socket.shutdown(SHUT_RDWR)
    wait_until(lambda: "sayso_sessions 1.0" in fake.get("/metrics").body.decode())
    fake.words.gate.set()
    finish.join(10)
    assert len(fake.words.heard) == 1, "of the one that is still there"


def test_a_message_that_is_too_large_ends_the_socket(fake):
    with socket(fake) as opened:
        with suppress(ConnectionClosedError):
            opened.send(bytes(3 << 20))
        all_of(opened)
    assert opened.close_code in (1009, 1006)  # it hangs up before it has read all, which may overtake the code
