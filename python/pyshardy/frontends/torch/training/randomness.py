# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operations as functions of a seed.

Each random operation gets numbers by hashing the seed, the index of the operation, and the position
of the element. All operations are elementwise, so the numbers don't depend on the sharding, the
backend or the number of devices, and each device computes those of its own shards only.

The hash is the finalizer of SplitMix64 (Steele, Lea and Flood 2014), twice.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

_GOLDEN = 0x9E3779B97F4A7C15
_BITS = 24  # of a uniform number, as many as the mantissa of f32 has


class SeededRandomness:
    """Definitions of random operations that take numbers from a seed.

    Attributes:
        seed: a scalar of 64 bits, which must be set before the definitions are called.
    """

    def __init__(self) -> None:
        self.seed: torch.Tensor | None = None
        self._calls = 0

    def definitions(self) -> dict[Any, Callable[..., Any]]:
        """Return the definitions by operation, as `make_fx` takes decompositions."""
        aten = torch.ops.aten

        def native_dropout(x: torch.Tensor, p: float, train: bool | None) -> Any:
            if train is False or p == 0:
                return x.clone(), torch.ones_like(x, dtype=torch.bool)
            if p == 1:
                return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
            mask = self._uniform(x.shape) >= p
            return x * mask * (1 / (1 - p)), mask

        def bernoulli(x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
            return (self._uniform(x.shape) < x).to(x.dtype)

        def bernoulli_p(x: torch.Tensor, p: float = 0.5, **_: Any) -> torch.Tensor:
            return (self._uniform(x.shape) < p).to(x.dtype)

        def uniform(x: torch.Tensor, low: float = 0, high: float = 1, **_: Any) -> torch.Tensor:
            return (self._uniform(x.shape) * (high - low) + low).to(x.dtype)

        def normal(x: torch.Tensor, mean: float = 0, std: float = 1, **_: Any) -> torch.Tensor:
            return (self._normal(x.shape) * std + mean).to(x.dtype)

        def rand(size: Sequence[int], dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._uniform(size).to(dtype or torch.get_default_dtype())

        def randn(size: Sequence[int], dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._normal(size).to(dtype or torch.get_default_dtype())

        def rand_like(x: torch.Tensor, dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._uniform(x.shape).to(dtype or x.dtype)

        def randn_like(x: torch.Tensor, dtype: Any = None, **_: Any) -> torch.Tensor:
            return self._normal(x.shape).to(dtype or x.dtype)

        def randint(low: int, high: int, size: Sequence[int], dtype: Any = None, **_: Any) -> Any:
            numbers = _shifted(self._bits(size), 1)
            return (numbers % (high - low) + low).to(dtype or torch.int64)

        return {
            aten.native_dropout.default: native_dropout,
            aten.bernoulli.default: bernoulli,
            aten.bernoulli.p: bernoulli_p,
            aten.uniform.default: uniform,
            aten.normal_functional.default: normal,
            aten.rand.default: rand,
            aten.randn.default: randn,
            aten.rand_like.default: rand_like,
            aten.randn_like.default: randn_like,
            aten.randint.low: randint,
            aten.randint.default: partial(randint, 0),
        }

    def _bits(self, shape: Sequence[int]) -> torch.Tensor:
        """Return numbers with 64 random bits."""
        assert self.seed is not None
        stream = _mixed(self.seed + _signed(self._calls * _GOLDEN))
        self._calls += 1
        position: torch.Tensor | int = 0
        for dim, size in enumerate(shape):
            index = torch.arange(size, device=self.seed.device) * math.prod(shape[dim + 1 :])
            position = position + index.view([size] + [1] * (len(shape) - dim - 1))
        return _mixed((stream + position * _signed(_GOLDEN)).expand(tuple(shape)))

    def _uniform(self, shape: Sequence[int]) -> torch.Tensor:
        """Return numbers from 0 to 1, without 1."""
        bits = _shifted(self._bits(shape), 64 - _BITS)
        return bits.to(torch.float32) * 2.0**-_BITS

    def _normal(self, shape: Sequence[int]) -> torch.Tensor:
        """Return normally distributed numbers, by the transform of Box and Muller."""
        radius = torch.sqrt(-2 * torch.log1p(-self._uniform(shape)))
        return radius * torch.cos(2 * math.pi * self._uniform(shape))


def _mixed(x: torch.Tensor) -> torch.Tensor:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ _shifted(x, shift)) * _signed(factor)
    return x ^ _shifted(x, 31)


def _shifted(x: torch.Tensor, by: int) -> torch.Tensor:
    """Shift right, and fill with zeros; PyTorch has no unsigned shift."""
    shifted = torch.bitwise_right_shift(x, torch.full((), by, dtype=x.dtype, device=x.device))
    return shifted & (2 ** (64 - by) - 1)


def _signed(bits: int) -> int:
    """Return the signed integer of 64 bits."""
    bits %= 2**64
    return bits - 2**64 if bits >= 2**63 else bits
