# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random inputs for running a program."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pyshardy.local_program.tensor_spec import Array, TensorSpec


def random_inputs(specs: Iterable[TensorSpec], seed: int) -> list[Array]:
    """Return a random array for each spec; equal seeds give equal arrays.

    Floating-point numbers are uniformly distributed from -1 to 1. Integers are 0 to 7 (0 or 1 for
    types of two bits), so that they are valid indices, tokens and labels.
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
    numbers = generator.uniform(-1, 1, spec.shape)
    if kind == "c":
        numbers = numbers + 1j * generator.uniform(-1, 1, spec.shape)
    return np.asarray(numbers, dtype=spec.dtype)
