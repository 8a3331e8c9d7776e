# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts on results: equal up to rounding, wrong, or inconclusive."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from pyshardy.backends.arrays.comparison import (
    Difference,
    Verdict,
    compare,
    overall,
    random_inputs,
    with_last_places_moved,
)
from pyshardy.local_program.tensor_spec import TensorSpec

F32 = TensorSpec((4,), "f32")
NAN, INFINITE = np.nan, np.inf


def difference(relative: float, noise: float | None) -> Difference:
    return Difference(relative, relative, 1e-5, size=4, noise=noise)


@pytest.mark.parametrize(
    ("relative", "noise", "verdict"),
    [
        pytest.param(1e-6, None, Verdict.OK, id="within the tolerance"),
        pytest.param(1e-6, 1.2, Verdict.OK, id="within the tolerance of a noisy program"),
        pytest.param(3e-4, 1e-4, Verdict.OK, id="explained by rounding"),
        pytest.param(0.8, 1.2, Verdict.INCONCLUSIVE, id="hidden by rounding"),
        pytest.param(0.8, 1e-6, Verdict.FAILED, id="not explained"),
        pytest.param(3e-4, None, Verdict.FAILED, id="noise unknown"),
        pytest.param(np.inf, 1.2, Verdict.FAILED, id="finite on one side only"),
    ],
)
def test_rules(relative, noise, verdict):
    assert difference(relative, noise).verdict is verdict


@pytest.mark.parametrize("noise", [None, 1e-4, 1.2])
def test_a_tolerance_that_is_given_is_a_limit(noise):
    limited = replace(difference(3e-4, noise), is_limit=True)
    assert limited.verdict is Verdict.FAILED
    assert limited.allowed == 1e-5
    assert replace(limited, relative=1e-5).verdict is Verdict.OK


def test_values_that_are_not_finite_are_counted():
    values = np.array([NAN, INFINITE, -INFINITE, 1], np.float32)
    found = compare(values, values, F32)
    assert (found.num_nan, found.num_infinite, found.num_compared) == (1, 2, 1)
    assert found.verdict is Verdict.OK
    other = np.array([NAN, INFINITE, INFINITE, 1], np.float32)
    assert compare(values, other, F32).verdict is Verdict.FAILED


def test_a_program_of_which_nothing_is_compared():
    nothing = compare(*[np.full(4, NAN, np.float32)] * 2, F32)
    something = compare(*[np.ones(4, np.float32)] * 2, F32)
    empty = compare(*[np.ones(0, np.float32)] * 2, TensorSpec((0,), "f32"))
    assert nothing.verdict is Verdict.INCONCLUSIVE
    assert overall([nothing]) is Verdict.INCONCLUSIVE
    assert overall([nothing, something]) is Verdict.OK
    assert overall([empty]) is Verdict.OK
    assert overall([something, difference(0.8, 1.2)]) is Verdict.INCONCLUSIVE
    assert overall([difference(0.8, 1.2), difference(0.8, 0)]) is Verdict.FAILED


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
def test_last_places_are_moved(dtype):
    array = np.array([[1, -2], [0, 1e-3]], dtype)
    (moved,) = with_last_places_moved([array])
    assert moved.dtype == array.dtype
    assert ((moved != array) == (array != 0)).all()
    np.testing.assert_allclose(moved, array, rtol=4 * np.finfo(dtype).eps)


def test_other_elements_stay():
    arrays = [np.arange(4), np.array([True, False])]
    for before, after in zip(arrays, with_last_places_moved(arrays), strict=True):
        assert (before == after).all()


def test_small_types():
    array = np.array([1, -2, 0], ml_dtypes.bfloat16)
    (moved,) = with_last_places_moved([array])
    assert moved.dtype == array.dtype
    assert abs(moved.astype(float) - array.astype(float)).max() <= 2**-6


def test_random_matrices_preserve_magnitudes():
    weights = random_inputs([TensorSpec((3, 1024, 1024), "f32")], seed=0)[0]
    vector = random_inputs([TensorSpec((1024,), "f32")], seed=1)[0]
    assert 0.5 < abs(vector).max() <= 1
    product = vector
    for each in weights:
        product = product @ each
    assert 0.5 < product.std() / vector.std() < 2
