# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random inputs for running a program."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from pyshardy.local_program.tensor_spec import Array, TensorSpec


def random_inputs(specs: Iterable[TensorSpec], seed: int) -> list[Array]:
    """Return a random array for each spec; equal seeds give equal arrays.

    Floating-point numbers are uniformly distributed from -1 to 1, those of matrices with a smaller
    width: as for initial weights, the variance is one over the fan-in, the size of the last
    dimension but one, so that the values of a deep program neither grow nor shrink much. Integers
    are 0 to 7 (0 or 1 for types of two bits), so that they are valid indices, tokens and labels.
    """
    generator = np.random.default_rng(seed)
    return [_random_array(spec, generator) for spec in specs]


def _random_array(spec: TensorSpec, generator: np.random.Generator) -> Array:
    kind = spec.dtype.kind
    if kind == "b":
        return generator.integers(0, 2, spec.shape).astype(spec.dtype)
    if kind in "iu":
        limit = 2 if spec.element.endswith("i2") else 8
        return generator.integers(0, limit, spec.shape).astype(spec.dtype)
    fan_in = spec.shape[-2] if len(spec.shape) > 1 else 1
    # The variance of a uniform distribution from -a to a is a * a / 3.
    width = min(1.0, math.sqrt(3 / max(fan_in, 1)))
    numbers = generator.uniform(-width, width, spec.shape)
    if kind == "c":
        numbers = numbers + 1j * generator.uniform(-width, width, spec.shape)
    return np.asarray(numbers, dtype=spec.dtype)
