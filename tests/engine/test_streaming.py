"""Live recognition on real weights: exact drafts, agreed words, cuts, silence, languages, giving up at key-up."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jiwer
import numpy as np
import pytest
from whisper_normalizer.english import EnglishTextNormalizer

import engine
from engine.audio import SAMPLE_RATE_HZ, read_clip
from engine.decode import Decoded, DecodingOptions
from engine.errors import Cancelled
from engine.streaming import Language, LiveOptions, LiveTranscriber, Partial, final_s, has_gap
from engine.transcriber import Transcriber
from engine.transcript import GAP as MARK

SPEECH = Path(__file__).parents[1] / "data" / "speech"
STEP = SAMPLE_RATE_HZ
GAP = np.zeros(int(0.3 * SAMPLE_RATE_HZ), np.float32)
plain = EnglishTextNormalizer()


@pytest.fixture(scope="module")
def tiny_en(tiny_en_q8: Path) -> Iterator[Transcriber]:
    model = engine.load(tiny_en_q8, device="cpu")
    yield model
    model.close()


@pytest.fixture(scope="module")
def base(base_q8: Path) -> Iterator[Transcriber]:
    model = engine.load(base_q8, device="cpu")
    yield model
    model.close()


def clip(name: str) -> np.ndarray:
    return read_clip(SPEECH / f"{name}.flac")


def live(model: Transcriber, **options: object) -> LiveTranscriber:
    return LiveTranscriber(model.runtime, model.tokenizer, LiveOptions(**options), model.mel_filters)  # type: ignore[arg-type]


def feed(dictation: LiveTranscriber, samples: np.ndarray, step: int = STEP) -> list[Partial | None]:
    """Partials after each step of audio."""
    partials = []
    for start in range(0, len(samples), step):
        dictation.append(samples[start : start + step])
        partials.append(dictation.partial())
    return partials


def test_a_draft_changes_nothing_but_the_time_at_every_state(tiny_en: Transcriber) -> None:
    samples = clip("en/lj001-0010")
    with_draft, without = live(tiny_en), live(tiny_en, use_draft=False)
    assert feed(with_draft, samples, STEP // 2) == feed(without, samples, STEP // 2)
    assert with_draft.finish().segments[0].tokens == without.finish().segments[0].tokens
    assert with_draft.timings.draft_accepted > 0.5 * with_draft.timings.draft_tokens > 0
    assert with_draft.timings.passes < 0.6 * without.timings.passes


@pytest.mark.parametrize("name", ["en/jfk", "en/lj001-0008", "en/librispeech-quilter", "en/gcp-mountain-view"])
def test_the_final_text_is_the_offline_transcribers(tiny_en: Transcriber, name: str) -> None:
    dictation = live(tiny_en)
    feed(dictation, clip(name))
    assert plain(dictation.finish().text) == plain(tiny_en.transcribe(clip(name)).text)


def test_a_clip_as_short_as_what_is_encoded_again_has_the_offline_text_to_the_letter(base: Transcriber) -> None:
    found, seconds = [], final_s(base.runtime.dims)
    for path in sorted((SPEECH / "en").glob("*.flac")):
        samples = read_clip(path)
        if len(samples) < seconds * SAMPLE_RATE_HZ:
            dictation = live(base)
            feed(dictation, samples)
            found.append((path.stem, dictation.finish().text, base.transcribe(samples).text))
    assert len(found) > 5
    assert [each for each in found if each[1] != each[2]] == []


def test_a_dictation_that_rests_holds_its_audio_only_and_goes_on(tiny_en: Transcriber) -> None:
    samples, dictation = clip("en/jfk"), live(tiny_en)
    feed(dictation, samples[: 5 * STEP])
    stream = weakref.ref(dictation._open.stream)  # type: ignore[union-attr, arg-type]
    assert stream() is not None
    dictation.rest()
    assert stream() is None, "keys and values of every layer"
    assert feed(dictation, samples[5 * STEP :])[-1] is not None
    assert plain(dictation.finish().text) == plain(tiny_en.transcribe(samples).text)


def test_words_become_firm_while_they_are_spoken_and_the_tail_is_tentative(tiny_en: Transcriber) -> None:
    dictation = live(tiny_en)
    partials = [p for p in feed(dictation, clip("en/jfk")) if p]
    firm = [len(p.firm.split()) for p in partials]
    assert firm[0] == 0 and firm[-1] >= 15
    assert all(q.firm.startswith(p.firm) for p, q in pairwise(partials)), "case and punctuation too"
    final = plain(dictation.finish().text).split()
    assert jiwer.wer(" ".join(final[: firm[-1]]), plain(partials[-1].firm)) < 0.1
    assert dictation.metrics.firm_words_wrong <= 1
    assert all(p.seconds <= q.seconds for p, q in pairwise(partials))


def test_what_is_left_at_the_end_does_not_grow_with_the_length(tiny_en: Transcriber) -> None:
    samples = np.concatenate([clip("en/lj001-0003"), GAP, clip("en/lj001-0014")])
    dictation = live(tiny_en)
    feed(dictation, samples, STEP // 2)
    before = dictation.metrics.positions_encoded
    dictation.finish()
    assert dictation.metrics.positions_encoded - before <= 280  # 5 s and the margin, of 19.9 s


def test_the_larger_the_model_the_less_is_encoded_again_at_the_end(tiny_en: Transcriber, base: Transcriber) -> None:
    small = replace(base.runtime.dims, n_audio_layer=12, n_audio_state=768)
    assert [final_s(dims) for dims in (tiny_en.runtime.dims, base.runtime.dims, small)] == [5, pytest.approx(5, 0.1), 3]


def test_giving_up_at_key_up_loses_nothing(tiny_en: Transcriber) -> None:
    samples = clip("en/lj001-0004")
    calm, hurried = live(tiny_en), live(tiny_en)
    feed(calm, samples[: 4 * STEP])
    feed(hurried, samples[: 3 * STEP])
    hurried.append(samples[3 * STEP : 4 * STEP])
    for patience in (0, 3, 7):  # within the encoder, between its layers, within the decoder
        asked = iter(range(patience))
        assert hurried.partial(cancelled=lambda asked=asked: next(asked, None) is None) is None
    assert hurried.metrics.given_up == 3
    for dictation in (calm, hurried):
        dictation.append(samples[4 * STEP :])
    assert plain(hurried.finish().text) == plain(calm.finish().text)


def test_a_cancelled_end_can_be_asked_for_again(tiny_en: Transcriber) -> None:
    dictation = live(tiny_en)
    dictation.append(clip("en/lj001-0008"))
    with pytest.raises(Cancelled):
        dictation.finish(cancelled=lambda: True)
    assert plain(dictation.finish().text) == plain(tiny_en.transcribe(clip("en/lj001-0008")).text)


def test_long_speech_is_cut_at_pauses_with_no_word_lost_or_doubled(tiny_en: Transcriber) -> None:
    names = [f"en/lj001-00{n:02}" for n in (1, 2, 3, 4, 5, 6)]
    samples = np.concatenate([part for name in names for part in (clip(name), GAP)])
    offline = " ".join(tiny_en.transcribe(clip(name)).text for name in names)
    dictation = live(tiny_en)
    partials = [p for p in feed(dictation, samples, 2 * STEP) if p]
    transcript = dictation.finish()
    assert len(transcript.segments) >= 2
    assert all(q.firm.startswith(p.firm) for p, q in pairwise(partials)), "firm words stay over the cuts"
    assert jiwer.wer(plain(transcript.text), plain(partials[-1].firm + partials[-1].tentative)) < 0.05
    assert max(segment.end_s - segment.start_s for segment in transcript.segments) <= 28.5
    ends = [segment.end_s for segment in transcript.segments]
    assert ends[:-1] == [segment.start_s for segment in transcript.segments[1:]]
    assert jiwer.wer(plain(offline), plain(transcript.text)) < 0.05


def test_a_cut_by_the_caller_ends_the_piece_there_and_the_rest_comes_again(tiny_en: Transcriber) -> None:
    first, second = clip("en/lj001-0002"), clip("en/lj001-0008")
    samples = np.concatenate([first, GAP, second])
    at = len(first) + len(GAP) // 2
    dictation = live(tiny_en)
    dictation.append(samples[: at + STEP])  # the detector is late: a second of the next piece was fed
    dictation.partial()
    dictation.cut(at)
    dictation.append(samples[at:], start=at)
    dictation.partial()
    transcript = dictation.finish()
    expected = f"{tiny_en.transcribe(first).text} {tiny_en.transcribe(second).text}"
    assert plain(transcript.text) == plain(expected)
    assert [segment.start_s for segment in transcript.segments] == [0.0, at / SAMPLE_RATE_HZ]


def test_a_sentence_goes_on_in_small_letters_after_a_pause_in_the_middle_of_it(tiny_en: Transcriber) -> None:
    texts = []
    for options in (DecodingOptions(n_previous=0), DecodingOptions()):
        dictation = live(tiny_en, decoding=options)
        for name in ("en/lj001-0010", "en/lj001-0011"):
            feed(dictation, clip(name))
            dictation.cut()
        texts.append(dictation.finish().text)
    assert plain(texts[0]) == plain(texts[1])
    assert "letterpress It is of the first" in texts[0] and "letterpress it is of the first" in texts[1]


def test_two_minutes_of_pause_cost_nothing_and_harm_nothing(tiny_en: Transcriber) -> None:
    first, second = clip("en/lj001-0002"), clip("en/lj001-0008")
    dictation = live(tiny_en)
    feed(dictation, np.concatenate([first, np.zeros(8 * STEP, np.float32)]))
    before = dictation.metrics.positions_encoded
    feed(dictation, np.zeros(120 * STEP, np.float32))
    assert dictation.metrics.positions_encoded == before
    feed(dictation, second)
    transcript = dictation.finish()
    assert plain(transcript.text) == plain(f"{tiny_en.transcribe(first).text} {tiny_en.transcribe(second).text}")
    assert transcript.segments[-1].start_s == pytest.approx(len(first) / SAMPLE_RATE_HZ + 128, abs=1.1)


def sound_of(name: str) -> np.ndarray:
    """4 s in which nobody speaks."""
    rng = np.random.default_rng(1)
    t = np.arange(4 * SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ
    clicks = np.zeros(len(t), np.float32)
    clicks[::3000] = rng.uniform(-0.3, 0.3, len(clicks[::3000]))
    return {
        "nothing": np.zeros(0, np.float32),
        "digital silence": np.zeros(len(t), np.float32),
        "hiss": (0.003 * rng.standard_normal(len(t))).astype(np.float32),
        "hum": (0.02 * np.sin(2 * np.pi * 50 * t) + 0.01 * np.sin(2 * np.pi * 150 * t)).astype(np.float32),
        "clicks": np.convolve(clicks, np.exp(-np.arange(80) / 10), "same").astype(np.float32),
    }[name]


@pytest.mark.parametrize("after", [None, "en/jfk", "en/lj001-0002"])
@pytest.mark.parametrize("sound", ["nothing", "digital silence", "hiss", "hum", "clicks"])
def test_what_nobody_said_is_not_written(tiny_en: Transcriber, sound: str, after: str | None) -> None:
    dictation, expected = live(tiny_en), ""
    if after:
        feed(dictation, clip(after))
        dictation.cut()
        expected = tiny_en.transcribe(clip(after)).text
    feed(dictation, sound_of(sound))
    assert plain(dictation.finish(heard_speech=False).text) == plain(expected)


def test_a_text_that_cannot_be_trusted_is_decoded_again_from_the_full_window(tiny_en: Transcriber) -> None:
    samples = clip("en/jfk")
    dictation = live(tiny_en, decoding=DecodingOptions(compression_ratio_threshold=0.5, temperatures=(0.0,)))
    feed(dictation, samples[: 3 * STEP])
    transcript = dictation.finish()
    assert transcript.timings.full_window_redos == 1
    assert "fellow" in transcript.text


def test_the_language_is_heard_from_a_part_and_settles(base: Transcriber) -> None:
    dictation = live(base, last_language="en")
    partials = [p for p in feed(dictation, clip("de/leopard-de")) if p]
    assert partials[-1].language == "de"
    transcript = dictation.finish()
    assert transcript.language == "de" and transcript.text.startswith("Der hinter diesem")


def test_the_language_is_chosen_among_the_users_own(base: Transcriber) -> None:
    dictation = live(base, decoding=DecodingOptions(languages=("en", "fr")))
    dictation.append(clip("de/leopard-de")[: 2 * STEP])
    assert dictation.finish().language in ("en", "fr")


def test_weak_evidence_does_not_outweigh_the_last_language(base: Transcriber) -> None:
    language = Language(LiveOptions(last_language="de"), base.tokenizer)
    language.hear("en", 0.6, seconds=0.7)
    assert language.code == "de" and not language.is_settled
    language.hear("en", 0.9, seconds=0.7)
    assert language.code == "en"
    language.hear("fr", 0.6, seconds=5.0)
    assert language.code == "fr" and language.is_settled
    given = Language(LiveOptions(DecodingOptions(language="German")), base.tokenizer)
    assert given.code == "de" and given.is_settled


def test_another_language_than_the_given_one_is_noticed_and_nothing_is_translated(base: Transcriber) -> None:
    dictation = live(base, decoding=DecodingOptions(language="fr"))
    dictation.append(clip("de/leopard-de"))
    transcript = dictation.finish()
    assert transcript.language == "fr"
    assert transcript.heard_language is not None
    assert transcript.heard_language[0] == "de" and transcript.heard_language[1] > 0.8


def test_m8_a_piece_that_breaks_off_is_marked_where_it_breaks_off(tiny_en: Transcriber) -> None:
    first, second = clip("en/lj001-0002"), clip("en/lj001-0010")
    dictation = live(tiny_en, decoding=DecodingOptions(sample_len=12, temperatures=(0.0,)))
    dictation.append(first, start=0)
    dictation.cut()
    dictation.append(second, start=len(first))
    transcript = dictation.finish(heard_speech=True)
    assert plain(transcript.segments[0].text) == plain("in being comparatively modern")
    assert transcript.text.startswith(transcript.segments[0].text + " ") and transcript.text.endswith(f" {MARK}")
    assert transcript.gaps_s == ((len(first) / SAMPLE_RATE_HZ, (len(first) + len(second)) / SAMPLE_RATE_HZ),)


def test_m8_speech_without_a_text_is_missing_and_silence_is_not() -> None:
    empty = Decoded((), "", "en", None, 0.0, -0.2, 0.0, no_speech_prob=0.1)
    assert has_gap(empty, "", 5.0, heard_speech=True)
    assert not has_gap(empty, "", 5.0, heard_speech=False)
    assert not has_gap(empty, "", 0.5, heard_speech=True), "a click"
    assert not has_gap(replace(empty, no_speech_prob=0.9), "", 5.0, heard_speech=True), "music"
    assert not has_gap(empty, "whole", 5.0, heard_speech=True)
