"""The token choice, run on the CPU, against the NumPy filters."""

import numpy as np
import pytest

from engine.filters import Filters, choose
from engine.fused import forbidden, state_row
from engine.kernels import choose as kernels
from engine.runtime import Rules
from tests.engine.kernels.emulator import run
from tests.engine.kernels.test_matvec import matrix

N_VOCAB, ROWS, K = 51865, 51872, 256
PLAIN = Rules((1, 2, 7), (220, 50257), 50257, 50363, 50364)
TIMED = Rules((1, 2, 7), (220, 50257), 50257, 50363, 50364, timestamps=True)
SAMPLED = {
    "first": [],
    "opened": [50364],
    "text": [50364, 400],
    "closed": [50364, 400, 50400],
    "reopened": [50364, 400, 50400, 50400],
    "text again": [50364, 400, 50400, 50400, 500],
}


def kernel_choice(logits, sampled, rules, table="F16", position=9):
    never, first = forbidden(rules, N_VOCAB, ROWS)
    flags = (never * kernels.NEVER | first * kernels.NEVER_FIRST).astype(np.uint8)
    state = np.array(state_row(position, sampled, rules), np.int32)
    (scans,) = run(kernels.scan(rules, ROWS), [logits, flags, state], kernels.SCANS, [((kernels.SCANS, 6), np.float32)])
    format, arrays, values = matrix(table, 600, K)
    positions = np.random.default_rng(3).normal(0, 1, (12, K)).astype(np.float16)
    record, following, x = run(
        kernels.choose(rules, format, K),
        [scans, state, positions, *arrays],
        1,
        [((2,), np.float32), ((8,), np.int32), ((K,), np.float32)],
    )
    return record, following, x, values, positions


@pytest.mark.parametrize("boost", [-6.0, 0.0, 6.0])
@pytest.mark.parametrize("sampled", SAMPLED.values(), ids=SAMPLED)
@pytest.mark.parametrize("rules", [PLAIN, TIMED], ids=["plain", "timed"])
def test_choice_and_probability_equal_the_numpy_filters(rules, sampled, boost):
    logits = np.random.default_rng(len(sampled)).normal(0, 2, ROWS).astype(np.float32)
    logits[600:50000] -= 20  # so that the choice lies in the small table below
    logits[rules.timestamp_begin :] += boost
    expected = choose(Filters(rules, N_VOCAB).apply(logits[:N_VOCAB], sampled), 0, np.random.default_rng())
    never, first = forbidden(rules, N_VOCAB, ROWS)
    flags = (never * kernels.NEVER | first * kernels.NEVER_FIRST).astype(np.uint8)
    state = np.array(state_row(9, sampled, rules), np.int32)
    scan = kernels.scan(rules, ROWS)
    (scans,) = run(scan, [logits, flags, state], kernels.SCANS, [((kernels.SCANS, 6), np.float32)])
    format, arrays, _ = matrix("F16", ROWS, 8)
    outputs = [((2,), np.float32), ((8,), np.int32), ((8,), np.float32)]
    inputs = [scans, state, np.zeros((12, 8), np.float16), *arrays]
    record, following, _ = run(kernels.choose(rules, format, 8), inputs, 1, outputs)
    assert int(record[0]) == expected.token
    assert record[1] == pytest.approx(expected.logprob, abs=1e-4)
    assert list(following) == state_row(10, [*sampled, expected.token], rules)


@pytest.mark.parametrize("table", ["F16", "Q8_0", "Q4_0", "Q5_1", "Q6_K"])
def test_embedding_is_the_chosen_row_of_the_table_plus_the_position(table):
    logits = np.zeros(ROWS, np.float32)
    logits[443] = 9
    record, _, x, values, positions = kernel_choice(logits, [5], PLAIN, table)
    assert int(record[0]) == 443
    np.testing.assert_allclose(x, values[443] + positions[9].astype(np.float32), atol=1e-5)


def test_of_equal_logits_the_lower_id_is_chosen():
    logits = np.zeros(ROWS, np.float32)
    logits[[300, 17, 599]] = 3
    assert int(kernel_choice(logits, [5], PLAIN)[0][0]) == 17
