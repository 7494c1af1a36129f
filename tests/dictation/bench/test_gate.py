"""Gates: what they catch, and what they leave alone."""

import dataclasses

import numpy as np
import pytest

from dictation.bench import gate
from dictation.bench.errors import BenchError
from dictation.bench.figures import BenchRun, figures
from dictation.bench.results import Conditions, Measured

CONDITIONS = Conditions("set", "corpus", 40, "m.gguf", "0", "m", "Q8_0", "fast", False, "given", 0, "{}")


def run(errors, release_ms=None, repeats=1, **more):
    """One clip of ten words per number of errors."""
    release_ms = [100.0] * len(errors) if release_ms is None else release_ms
    measured = [
        Measured(
            f"clip-{i:02}",
            repeat=repeat,
            language="en",
            reference="words",
            duration_s=3.0,
            hits=10 - n,
            substitutions=n,
            char_hits=50 - n,
            char_substitutions=n,
            release_to_text_ms=ms,
            cpu_s=0.3,
            **({"scored": True} | more),
        )
        for repeat in range(repeats)
        for i, (n, ms) in enumerate(zip(errors, release_ms, strict=True))
    ]
    return BenchRun(CONDITIONS, (), "", tuple(measured))


def verdict(text, now, before):
    (found,) = gate.judge([now], [gate.parse(text)], [before])
    return found


def test_a_run_is_never_worse_than_itself():
    some = run([0, 1, 2, 0] * 10, list(np.linspace(50, 400, 40)))
    for text in gate.DEFAULT:
        assert not verdict(text, some, some).failed


def test_more_errors_in_most_clips_fail_and_the_clips_are_named():
    found = verdict("error>+0", run([2] * 40), run([1] * 40))
    assert found.failed and found.p < 0.001
    assert found.clips[0] == "clip-00: 1 -> 2"


def test_errors_that_move_between_clips_pass():
    random = np.random.default_rng(0)
    before = random.integers(0, 3, 40)
    failed = [verdict("error>+0", run(random.permutation(before)), run(before)).failed for _ in range(40)]
    assert sum(failed) <= 5  # one in twenty is what the gate is made for


def test_fewer_errors_pass():
    assert not verdict("error>+0", run([0] * 40), run([1] * 40)).failed


def test_an_allowance_is_granted():
    before, now = run([1] * 40), run([2] * 40)  # 10 points more
    assert verdict("error>+5", now, before).failed
    assert not verdict("error>+12", now, before).failed


def test_one_clip_alone_is_no_proof_but_a_bound_needs_none():
    before, now = run([0] * 40), run([9, *[0] * 39])
    assert not verdict("error>+0", now, before).failed
    assert verdict("error>2%", now, before).failed
    assert not verdict("error>3%", now, before).failed


def test_slower_by_half_fails_and_noise_does_not():
    random = np.random.default_rng(1)
    before = random.uniform(100, 300, 40)
    assert verdict("p50>+25%", run([0] * 40, before * 1.6), run([0] * 40, before)).failed
    assert verdict("p95>+25%", run([0] * 40, before * 2), run([0] * 40, before)).failed
    noisy = [before * random.normal(1.0, 0.1, 40) for _ in range(8)]
    assert not any(verdict("p50>+25%", run([0] * 40, ms), run([0] * 40, before)).failed for ms in noisy)
    assert not any(verdict("p95>+25%", run([0] * 40, ms), run([0] * 40, before)).failed for ms in noisy)


def test_milliseconds_that_nobody_feels_do_not_fail():
    assert not verdict("p50>+25%", run([0] * 40, [12.0] * 40), run([0] * 40, [6.0] * 40)).failed


def test_what_repeats_differ_by_is_granted():
    slow_second = run([0] * 40, [100.0] * 40, repeats=2)
    slow_second = dataclasses.replace(
        slow_second,
        measured=tuple(
            dataclasses.replace(m, release_to_text_ms=m.release_to_text_ms * (1 + m.repeat))
            for m in slow_second.measured
        ),
    )
    assert not verdict("p50>+25%", run([0] * 40, [180.0] * 40), slow_second).failed
    assert verdict("p50>+25%", run([0] * 40, [500.0] * 40), slow_second).failed


def test_a_replay_that_fails_now_fails_the_gate():
    broken = run([0] * 40)
    broken = dataclasses.replace(
        broken, measured=(dataclasses.replace(broken.measured[0], failure="Gone."), *broken.measured[1:])
    )
    found = verdict("failed>+0", broken, run([0] * 40))
    assert found.failed and found.clips == ("clip-00: 1",)
    assert not verdict("failed>+0", broken, broken).failed


def test_what_can_not_be_measured_passes_no_gate():
    nothing = run([0] * 5, [None] * 5, scored=False)
    for text in ("error>5%", "p50>400ms"):
        (found,) = gate.judge([nothing], [gate.parse(text)], None)
        assert found.failed and " none" in found.sentence()
    assert verdict("p50>+25%", nothing, run([0] * 5)).failed
    assert not verdict("p50>+25%", nothing, nothing).failed


def test_only_clips_in_both_with_the_same_text_are_compared():
    before = run([0] * 20)
    now = run([0] * 20 + [9] * 20)
    assert not verdict("error>+0", now, before).failed
    other = dataclasses.replace(
        before, measured=tuple(dataclasses.replace(m, reference="others") for m in before.measured)
    )
    with pytest.raises(BenchError, match="no clip in common"):
        verdict("error>+0", now, other)


def test_a_baseline_without_the_run_says_which_it_has():
    other = dataclasses.replace(run([0]), variant="noise:10")
    with pytest.raises(BenchError, match=r"no run of m, fast; it has m, fast, noise:10"):
        gate.judge([run([0]), run([0])], [gate.parse("error>+0")], [other, other])
    with pytest.raises(BenchError, match="--baseline"):
        gate.judge([run([0])], [gate.parse("error>+0")], None)


@pytest.mark.parametrize(
    "text", ["error", "error>", "wer>5", "error>-1", "error>5ms", "p95>20%", "p95>+x", "p95>>1", "", "error>5%%"]
)
def test_what_is_no_limit_is_a_sentence(text):
    with pytest.raises(BenchError):
        gate.parse(text)


def test_limits_are_written_as_they_are_read():
    for text in ("error>5%", "error>+0.5 points", "p95>400ms", "p95>+20%", "p50>+50ms", "failed>0", "cpu>+10%"):
        assert str(gate.parse(text)) == text


def test_a_clip_replayed_many_times_counts_once():
    once, thrice = figures(run([1, 0, 2])), figures(run([1, 0, 2], repeats=3))
    assert once.error.error_rate == thrice.error.error_rate and once.error.low == thrice.error.low
    assert once.clips == thrice.clips == 3
