"""The loop with all its threads: what is said arrives, in order, whatever goes wrong around it."""

import threading
import time

import numpy as np
import pytest

from dictation import events as e
from dictation import loop
from dictation.history import History
from dictation.session import Limits
from dictation.spool import Spool, read
from engine.errors import EngineError
from tests.e2e.processes import until
from tests.fakes import sounds
from tests.fakes.dictation import Dictation, Words

SPEECH = sounds.clip("en/gcp-today")
QUICK = Limits(
    first_block_s=0.3, opening_s=1.0, watchdog_s=0.3, lost_s=0.8, life_sign_s=0.4, deliver_s=0.4, tail_s=0.05
)


class Clock:
    """Goes as the real one does, and can be put forward."""

    def __init__(self):
        self.ahead_s = 0.0

    def __call__(self):
        return time.monotonic() + self.ahead_s


@pytest.fixture
def dictation(tmp_path):
    with Dictation(tmp_path) as running:
        yield running


def test_hold_speak_let_go_and_the_words_are_in_the_window(dictation):
    dictation.dictate(SPEECH)
    final = dictation.until(e.FinalText)
    delivered = dictation.until(e.TextDelivered)
    dictation.until(e.StateChanged, state=e.State.IDLE)
    assert dictation.editor.texts == [final.text] == [delivered.text]
    assert delivered.outcome == "delivered" and delivered.evidence == "fetched"
    assert [event.state for event in dictation.of(e.StateChanged)] == [
        "opening",
        "listening",
        "finishing",
        "delivering",
        "idle",
    ]
    assert not dictation.person.is_open, "A9: closed when idle"
    assert dictation.spool.recordings() == ()


def test_words_show_while_one_speaks_and_levels_come_at_a_bounded_rate(dictation):
    dictation.send(e.Start())
    dictation.until(e.StateChanged, state=e.State.LISTENING)
    started = time.monotonic()
    dictation.person.say(SPEECH)
    dictation.until(e.PartialText)
    dictation.send(e.Stop())
    dictation.until(e.TextDelivered)
    seconds = time.monotonic() - started
    assert 1 <= len(dictation.of(e.Level)) <= seconds * 30 + 2


def test_a2_what_is_said_right_after_release_is_still_heard(dictation):
    dictation.dictate(SPEECH[:8000])
    dictation.until(e.StateChanged, state=e.State.FINISHING)
    dictation.person.say(SPEECH[8000:])
    assert dictation.until(e.FinalText).audio_s == pytest.approx(len(SPEECH) / 16000 + 0.02, abs=0.03)


@pytest.mark.parametrize(("rate", "channels", "voice"), [(44100, 1, 0), (48000, 2, 1), (48000, 4, 2)])
def test_a5_any_rate_and_channel_layout_gives_the_same_audio(dictation, rate, channels, voice):
    import soxr

    native = np.zeros((round(len(SPEECH) * rate / 16000), channels), np.float32)
    native[:, voice] = soxr.resample(SPEECH, 16000, rate)[: len(native)]
    dictation.person.gives_sound_at_once = False
    dictation.send(e.Start())
    dictation.until(e.MicrophoneChanged)
    dictation.person.say(native, rate, size=round(0.02 * rate))
    dictation.send(e.Stop())
    dictation.until(e.TextDelivered)
    heard = dictation.words.heard[0]
    lag = np.argmax(np.correlate(SPEECH, heard[2000:6000], "valid"))
    n = min(len(heard) - 2000, len(SPEECH) - lag)
    assert np.corrcoef(SPEECH[lag : lag + n], heard[2000 : 2000 + n])[0, 1] > 0.99


def test_takes_are_delivered_in_order_while_the_next_is_recorded(dictation):
    dictation.words.gate.clear()
    dictation.dictate(SPEECH)
    dictation.until(e.StateChanged, take=1, state=e.State.FINISHING)
    dictation.dictate(np.concatenate([SPEECH, SPEECH]), take=2)
    dictation.until(e.StateChanged, take=2, state=e.State.FINISHING)
    dictation.words.gate.set()
    dictation.until(e.StateChanged, take=2, state=e.State.IDLE)
    seconds = [float(text.split()[1]) for text in dictation.editor.texts]
    assert len(seconds) == 2 and seconds[0] < seconds[1]


def test_cancel_while_recognising_types_nothing_and_keeps_nothing(dictation):
    dictation.words.gate.clear()
    dictation.dictate(SPEECH)
    dictation.until(e.StateChanged, state=e.State.FINISHING)
    dictation.send(e.Cancel())
    dictation.until(e.StateChanged, state=e.State.IDLE)
    dictation.words.gate.set()
    dictation.dictate(SPEECH, take=2)
    dictation.until(e.StateChanged, take=2, state=e.State.IDLE)
    assert len(dictation.editor.texts) == 1
    assert dictation.spool.recordings() == ()


def test_key_up_is_handled_at_once_while_the_engine_works(dictation):
    dictation.words.gate.clear()
    dictation.dictate(SPEECH)
    dictation.until(e.StateChanged, take=1, state=e.State.FINISHING)
    dictation.send(e.Start())
    dictation.until(e.StateChanged, take=2, state=e.State.LISTENING)
    pressed = time.monotonic()
    dictation.send(e.Stop())
    dictation.until(e.StateChanged, take=2, state=e.State.FINISHING)
    assert time.monotonic() - pressed < 0.2


@pytest.mark.parametrize(
    ("sound", "reason"),
    [
        (sounds.silence(1.0), "muted"),
        (sounds.fan(2.0, level=0.0003), "silence"),
        (sounds.silence(0.0), "too_short"),
    ],
    ids=["muted", "quiet room", "tap"],
)
def test_m6_nothing_said_is_not_decoded_at_all(dictation, sound, reason):
    dictation.words.text = "Thank you."
    dictation.person.gives_sound_at_once = False
    dictation.send(e.Start())
    dictation.until(e.MicrophoneChanged)
    dictation.person.say(sound)
    dictation.send(e.Stop())
    assert dictation.until(e.NothingHeard).reason == reason
    dictation.until(e.StateChanged, state=e.State.IDLE)
    assert dictation.words.heard == [] and dictation.editor.texts == []
    assert dictation.spool.recordings() == ()


def test_a11_speech_that_the_detector_misses_is_decoded_whole(tmp_path):
    from dictation.vad import SpeechDetector

    with Dictation(tmp_path, detector=lambda: SpeechDetector(lambda samples: 0.05)) as dictation:
        dictation.dictate(SPEECH)
        dictation.until(e.TextDelivered)
        assert abs(len(dictation.words.heard[0]) - len(SPEECH)) <= 640


def test_p1_a_failed_recognition_keeps_the_audio_and_a_retry_with_another_model_gives_the_text(tmp_path):
    history = History(tmp_path / "history.db")
    with Dictation(tmp_path, history=history) as dictation:
        dictation.words.error = EngineError("The model file is damaged.")
        dictation.dictate(SPEECH)
        failed = dictation.until(e.Failed)
        assert failed.message == "The model file is damaged." and "retry" in failed.actions
        assert len(read(dictation.spool.path(failed.recording))) >= len(SPEECH)
        dictation.words.error = None
        dictation.send(e.Retry(failed.recording, model="better", output="type"))
        final = dictation.until(e.FinalText, take=0)
        dictation.until(e.TextDelivered, take=0)
        assert dictation.editor.texts == [final.text]
        assert dictation.words.requests[-1].model == "better"
        assert dictation.spool.recordings() == ()
        assert history.last().text == final.text


def test_an_unexpected_fault_in_the_engine_costs_no_audio_and_the_next_take_works(dictation):
    dictation.words.error = RuntimeError("boom")
    dictation.dictate(SPEECH)
    failed = dictation.until(e.Failed)
    assert "RuntimeError" in failed.message and failed.recording
    dictation.words.error = None
    dictation.dictate(SPEECH, take=2)
    dictation.until(e.TextDelivered, take=2)


def test_p4_a_stuck_engine_is_replaced_its_audio_kept_and_the_take_behind_it_delivered(tmp_path):
    stuck, fresh = threading.Event(), []
    with Dictation(tmp_path, limits=lambda settings: QUICK) as dictation:
        first = dictation.words
        first.gate, first.obeys = stuck, False

        dictation.dictate(SPEECH)
        dictation.until(e.StateChanged, take=1, state=e.State.FINISHING)
        from tests.fakes.dictation import Words

        dictation.words = Words()  # what the new thread builds
        fresh.append(dictation.words)
        dictation.dictate(SPEECH, take=2)
        failed = dictation.until(e.Failed, take=1)
        assert failed.recording is not None
        dictation.until(e.TextDelivered, take=2)
        stuck.set()
        assert len(dictation.editor.texts) == 1
        assert fresh[0].heard, "the second take was fed again to the new engine"


def test_a_window_that_does_not_answer_holds_the_text_and_the_next_one_is_delivered(tmp_path):
    history = History(tmp_path / "history.db")
    with Dictation(tmp_path, history=history, limits=lambda settings: QUICK) as dictation:
        dictation.editor.gate = stuck = threading.Event()
        dictation.dictate(SPEECH)
        held = dictation.until(e.TextDelivered, take=1)
        assert held.outcome == "held"
        dictation.editor.gate = threading.Event()
        dictation.editor.gate.set()
        dictation.dictate(SPEECH, take=2)
        dictation.until(e.TextDelivered, take=2, outcome="delivered")
        assert [entry.status for entry in history.search()] == ["held", "delivered"]
        stuck.set()


def test_held_text_can_be_inserted_again_from_the_history(tmp_path):
    history = History(tmp_path / "history.db")
    with Dictation(tmp_path, history=history) as dictation:
        dictation.editor.held_because = "Another window has the keyboard."
        dictation.dictate(SPEECH)
        held = dictation.until(e.TextDelivered)
        assert held.outcome == "held" and held.evidence == "Another window has the keyboard."
        dictation.editor.held_because = ""
        dictation.send(e.InsertAgain())
        again = dictation.until(e.TextDelivered, take=0)
        assert dictation.editor.texts == [held.text] and again.entry == held.entry
        dictation.until(e.HistoryChanged)
        assert history.get(held.entry).status == "delivered"


def test_a4_unplugged_while_speaking_both_parts_are_in_one_take(dictation):
    dictation.send(e.Start())
    dictation.until(e.StateChanged, state=e.State.LISTENING)
    dictation.person.say(SPEECH)
    dictation.person.gives_sound_at_once = False  # its rate comes with the first block
    dictation.person.vanish()
    dictation.until(e.Notice, code="microphone_lost")
    until("the second opening", lambda: len(dictation.person.openings) >= 2)
    dictation.person.say(np.repeat(SPEECH, 3)[:, None].repeat(2, axis=1), rate=48000)
    dictation.send(e.Stop())
    assert dictation.until(e.FinalText).audio_s == pytest.approx(2 * len(SPEECH) / 16000, abs=0.1)


def test_a4_after_a_standstill_of_the_whole_process_the_microphone_is_not_taken_for_dead(tmp_path, monkeypatch):
    """A process that was stopped, or swapped out: sound that waited is heard before anybody judges by the clock."""
    monkeypatch.setattr(loop, "PATIENCE_S", 2.0)
    clock = AskedClock()
    with Dictation(tmp_path, limits=lambda settings: QUICK, clock=clock) as dictation:
        dictation.send(e.Start())
        dictation.until(e.StateChanged, state=e.State.LISTENING)
        clock.jump(5.0)
        until("the loop has seen what time it is", lambda: clock.n_asked >= 3)
        dictation.person.say(SPEECH)
        dictation.send(e.Stop())
        assert dictation.until(e.FinalText).audio_s == pytest.approx(len(SPEECH) / 16000, abs=0.1)
        assert dictation.person.openings == [False]
        assert "microphone_lost" not in [notice.code for notice in dictation.of(e.Notice)]


class AskedClock(Clock):
    """Counts how often the loop has asked since it was put forward."""

    n_asked = 0

    def __call__(self):
        self.n_asked += threading.current_thread().name == "session"
        return super().__call__()

    def jump(self, seconds):
        self.ahead_s += seconds
        self.n_asked = 0


def test_a3_a_silent_opening_is_tried_again_and_then_said(tmp_path):
    with Dictation(tmp_path, limits=lambda settings: QUICK) as dictation:
        dictation.person.gives_sound_at_once = False
        dictation.send(e.Start())
        failed = dictation.until(e.Failed)
        assert failed.stage == "opening" and "no sound" in failed.message
        assert dictation.person.openings[:2] == [False, True]
        assert not dictation.person.is_open


def test_keep_warm_catches_the_word_before_the_key_and_is_only_half_a_second(tmp_path):
    with Dictation(tmp_path, {"microphone.keep_warm": True}) as dictation:
        dictation.until(e.MicrophoneChanged)
        dictation.person.say(np.concatenate([SPEECH, SPEECH]))
        dictation.dictate(SPEECH)
        audio_s = dictation.until(e.FinalText).audio_s
        assert audio_s - len(SPEECH) / 16000 == pytest.approx(0.5, abs=0.05)
        assert dictation.person.is_open
        dictation.send(e.ChangeSettings({"microphone.keep_warm": False}))
        dictation.until(e.MicrophoneChanged, microphone=None)
        assert not dictation.person.is_open


def test_m8_long_speech_is_cut_at_pauses_and_no_part_is_missing(dictation):
    reading = np.concatenate(
        [part for n in range(1, 9) for part in (sounds.clip(f"en/lj001-{n:04d}"), sounds.fan(0.5, level=0.0005))]
    )
    dictation.dictate(reading)
    dictation.until(e.TextDelivered, timeout_s=30)
    heard = dictation.words.heard[0]
    assert len(heard) > 0.9 * len(reading)


def test_quitting_keeps_what_is_being_said_and_the_next_start_offers_it(tmp_path):
    with Dictation(tmp_path) as dictation:
        dictation.send(e.Start())
        dictation.until(e.StateChanged, state=e.State.LISTENING)
        dictation.person.say(SPEECH)
        dictation.until(e.Level)
    with Dictation(tmp_path) as again:
        (left,) = again.until(e.RecordingsFound).recordings
        assert left.reason == "interrupted" and left.duration_s >= len(SPEECH) / 16000
        again.send(e.Discard(left.name))
        again.dictate(SPEECH)
        again.until(e.StateChanged, state=e.State.IDLE)
        assert again.spool.recordings() == ()


def test_settings_apply_at_once_and_bad_ones_are_refused_one_by_one(dictation):
    dictation.send(e.ChangeSettings({"recognition.language": "de", "microphone.tail_ms": 7}))
    assert dictation.until(e.SettingsChanged).keys == ("recognition.language",)
    assert "microphone.tail_ms" in dictation.until(e.Notice, code="setting_refused").message
    dictation.dictate(SPEECH)
    dictation.until(e.TextDelivered)
    assert dictation.words.requests[0].language.language == "de"


def test_m9_translation_only_when_asked_for(dictation):
    dictation.dictate(SPEECH)
    dictation.until(e.TextDelivered, take=1)
    dictation.dictate(SPEECH, take=2, task="translate")
    dictation.until(e.TextDelivered, take=2)
    assert [request.language.task for request in dictation.words.requests] == ["transcribe", "translate"]


def test_m10_auto_among_my_languages_remembers_the_last_one(tmp_path):
    with Dictation(tmp_path, {"recognition.my_languages": ["de", "en"]}) as dictation:
        for take in (1, 2):
            dictation.dictate(SPEECH, take=take)
            dictation.until(e.TextDelivered, take=take)
        first, second = (request.language for request in dictation.words.requests)
        assert first.among == second.among == ("de", "en")
        assert (first.last, second.last) == ("de", "en")


def test_the_rewrite_rules_are_applied(tmp_path):
    rule = {"find": "heard", "replace": "listened to"}
    with Dictation(tmp_path, {"rewrite.replacements": [rule]}) as dictation:
        dictation.dictate(SPEECH)
        assert dictation.until(e.FinalText).text.startswith("listened to")


@pytest.mark.parametrize("output", ["print", "none", "copy"])
def test_other_outputs_type_nothing(dictation, output):
    dictation.dictate(SPEECH, output=output)
    delivered = dictation.until(e.TextDelivered)
    assert delivered.outcome == {"print": "printed", "none": "none", "copy": "copied"}[output]
    assert dictation.editor.texts == []
    assert (dictation.editor.clipboard == delivered.text) == (output == "copy")


def test_the_model_is_freed_when_idle_and_comes_back_for_the_next_take(tmp_path):
    with Dictation(tmp_path, {"recognition.unload_after_min": 1}) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        dictation.send(e.UnloadModel())
        dictation.until(e.ModelChanged, status=e.ModelStatus.UNLOADED)
        assert dictation.words.closed
        dictation.dictate(SPEECH)
        dictation.until(e.TextDelivered)


def test_when_memory_is_short_a_model_that_rested_for_a_minute_is_freed_and_is_back_at_key_down(tmp_path):
    clock, looks = Clock(), []
    with Dictation(tmp_path, clock=clock, memory_is_short=lambda: looks.append(clock()) or True) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        clock.ahead_s += 40
        dictation.dictate(SPEECH)  # no rest
        dictation.until(e.StateChanged, state=e.State.IDLE)
        clock.ahead_s += 40
        assert dictation.loop.settle(10) and not looks, "it has rested for 40 seconds only"
        clock.ahead_s += 40
        assert dictation.loop.settle(10)
        unloaded = dictation.until(e.ModelChanged, status=e.ModelStatus.UNLOADED)
        assert "Memory is short" in unloaded.message and dictation.words.closed
        assert dictation.loop._wait_s() is None, "nothing is left to look for"
        dictation.dictate(SPEECH, take=2)
        dictation.until(e.TextDelivered, take=2)
        assert len(looks) == 1


def test_nobody_looks_at_memory_while_a_file_is_written_down(tmp_path):
    clock, looks, words = Clock(), [], Words()
    with Dictation(
        tmp_path, words=words, clock=clock, memory_is_short=lambda: looks.append(clock()) or True
    ) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        words.gate.clear()
        dictation.send(e.TranscribeFile(sounds.SPEECH / "en" / "gcp-today.flac"))
        until("it is recognised", lambda: words.requests)
        clock.ahead_s += 100
        dictation.send(e.ListMicrophones())
        until("the minute is noticed", lambda: dictation.loop._memory_seen_s > 0)
        assert not looks
        words.gate.set()
        assert dictation.until(e.FileTranscribed).text.startswith("heard")


def test_no_model_is_one_sentence_and_the_audio_is_kept(tmp_path):
    with Dictation(tmp_path, {"recognition.model": ""}) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.MISSING)
        dictation.dictate(SPEECH)
        failed = dictation.until(e.Failed)
        assert "No model is chosen" in failed.message and failed.recording


def test_a_full_disk_is_said_and_the_text_still_arrives(tmp_path):
    (tmp_path / "spool").write_text("in the way")
    with Dictation(tmp_path) as dictation:
        dictation.dictate(SPEECH)
        assert "in memory" in dictation.until(e.Notice, code="spool").message
        dictation.until(e.TextDelivered)
        assert dictation.editor.texts


def test_what_the_microphone_heard_in_a_test_is_played_back_and_then_forgotten(tmp_path):
    played = []
    with Dictation(tmp_path, play=lambda samples, rate_hz: played.append((samples, rate_hz))) as dictation:
        dictation.send(e.TestMicrophone(True))
        dictation.until(e.MicrophoneChanged, reason="opened")
        dictation.person.say(SPEECH)
        dictation.until(e.Level)
        dictation.send(e.PlayTest())
        until("the sound", lambda: played)
        heard, rate_hz = played[0]
        assert rate_hz == 16000 and 0 < len(heard) <= 4 * rate_hz and np.abs(heard).max() > 0.01
        dictation.send(e.TestMicrophone(False), e.PlayTest())
        until("the second", lambda: len(played) == 2)
        assert len(played[1][0]) == 0


def test_a_file_is_written_down_behind_the_takes(dictation):
    path = sounds.SPEECH / "en" / "gcp-today.flac"
    dictation.send(e.TranscribeFile(path), e.TranscribeFile(path.with_name("nothing.wav")))
    assert dictation.until(e.FileTranscribed, path=path).text.startswith("heard")
    assert dictation.until(e.FileTranscribed, text="").message


def test_idle_means_idle(dictation):
    """P3: no wake-ups while nothing happens, but for a look at memory that a model lies in, after a minute."""
    dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
    assert dictation.loop._wait_s() > 50
    dictation.send(e.UnloadModel())
    dictation.until(e.ModelChanged, status=e.ModelStatus.UNLOADED)
    assert dictation.loop._wait_s() is None
    assert Spool(dictation.spool.folder).recordings() == ()


def test_a_model_prepares_while_nobody_waits_and_gives_way_to_a_take(tmp_path):
    words = Words()
    words.n_to_prepare = 2
    with Dictation(tmp_path, words=words) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        dictation.dictate(SPEECH)
        dictation.until(e.FinalText)
        dictation.until(e.StateChanged, state=e.State.IDLE)
        assert words.n_to_prepare == 2, "it was given up"
        words.prepared.set()
        until("all is prepared", lambda: words.n_to_prepare == 0)


def test_m8_a_text_with_a_gap_is_delivered_marked_said_and_its_recording_kept(dictation):
    dictation.words.text, dictation.words.gaps_s = "It began well […]", ((0.0, 65.0),)
    dictation.dictate(SPEECH)
    assert dictation.until(e.TextDelivered).text == "It began well […]"
    assert "0:00 to 1:05" in dictation.until(e.Notice, code="gap").message
    dictation.until(e.StateChanged, state=e.State.IDLE)
    (kept,) = dictation.spool.recordings()
    assert kept.reason == "unclear"


def test_a_model_that_can_not_be_loaded_leaves_the_one_before_in_use_and_is_said(tmp_path):
    def build(name, device):
        if name == "broken":
            raise EngineError("broken.gguf ends inside a tensor.")
        if name == "huge":
            raise MemoryError
        return words

    words = Words()
    with Dictation(tmp_path, words=words, build=build) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        for take, (name, why) in enumerate({"broken": "ends inside a tensor", "huge": "memory"}.items(), start=1):
            dictation.send(e.UseModel(name), e.Start("hotkey"))  # the take begins while the new one would be loaded
            dictation.until(e.StateChanged, take=take, state=e.State.LISTENING)
            dictation.person.say(SPEECH)
            dictation.send(e.Stop())
            dictation.until(e.TextDelivered, take=take)
            dictation.until(e.ModelChanged, name=name, status=e.ModelStatus.FAILED)
            notice = dictation.until(e.Notice, code="model_stays")
            dictation.events.remove(notice)
            assert why in notice.message and "fake stays in use" in notice.message
            assert dictation.loop.settings["recognition.model"] == "fake"
        assert len(dictation.editor.texts) == 2 and not dictation.of(e.Failed)


def test_another_device_is_used_from_the_next_load_on_at_once(tmp_path):
    devices = []

    def build(name, device):
        devices.append(device)
        return Words()

    with Dictation(tmp_path, build=build) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        dictation.events.clear()
        dictation.send(e.ChangeSettings({"recognition.device": "cpu"}))
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        assert devices == ["auto", "cpu"]


def test_a_model_whose_disk_is_away_is_tried_again_with_the_next_take(tmp_path):
    away = [True]

    def build(name, device):
        if away:
            raise EngineError("big:Q8_0 lies at /disk/big.gguf, which is not there now: connect its disk.")
        return Words()

    with Dictation(tmp_path, build=build) as dictation:
        dictation.until(e.ModelChanged, status=e.ModelStatus.FAILED)
        dictation.dictate(SPEECH)
        assert dictation.until(e.Failed).recording
        away.clear()
        dictation.dictate(SPEECH, take=2)
        dictation.until(e.TextDelivered, take=2)


def test_a_subscriber_that_fails_costs_neither_the_take_nor_the_others(dictation):
    def fail(event):
        raise OSError("nobody reads any more")

    later = []
    dictation.loop.subscribe(fail)
    dictation.loop.subscribe(later.append)
    dictation.dictate(sounds.clip("en/gcp-today"), take=1)
    assert dictation.until(e.TextDelivered).text == dictation.editor.texts[0]
    dictation.until(e.StateChanged, state=e.State.IDLE)
    assert any(isinstance(event, e.TextDelivered) for event in later)


def test_a_replacement_that_can_not_work_is_said_at_the_start(tmp_path):
    with Dictation(tmp_path, {"rewrite.replacements": ({"find": "(", "replace": "x", "is_pattern": True},)}) as started:
        assert "not a regular expression" in started.until(e.Notice, code="rewrite_rule").message
