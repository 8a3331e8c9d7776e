# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Window functions and frequencies of signals."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.bartlett_window")
def bartlett_window(length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return a triangle."""
    return 1 - torch.abs(_positions(length, periodic, **options))


@decomposition("aten.hann_window")
def hann_window(length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return a sum of cosines."""
    return _cosines((0.5, 0.5), length, periodic, **options)


@decomposition("aten.hamming_window")
def hamming_window(
    length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """Return a sum of cosines."""
    return _cosines((alpha, beta), length, periodic, **options)


@decomposition("aten.blackman_window")
def blackman_window(length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return a sum of cosines."""
    return _cosines((0.42, 0.5, 0.08), length, periodic, **options)


@decomposition("aten.kaiser_window")
def kaiser_window(length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """Return quotients of Bessel functions."""
    position = _positions(length, periodic, **options)
    largest = torch.i0(torch.full_like(position, beta))
    return torch.i0(beta * torch.sqrt(1 - position * position)) / largest


def _cosines(coefficients: Sequence[float], *args: Any, **options: Any) -> Tensor:
    """Return a sum of cosines whose frequencies are multiples of each other."""
    angle = math.pi * _positions(*args, **options)
    first, *others = coefficients
    terms = (each * torch.cos(order * angle) for order, each in enumerate(others, 1))
    return sum(terms, torch.full_like(angle, first))


def _positions(
    length: int,
    periodic: bool,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    **_: Any,
) -> Tensor:
    """Return positions in a window from -1 to 1, of which a periodic one leaves out the last."""
    kind = dtype or torch.get_default_dtype()
    if length == 1:
        return torch.zeros(1, dtype=kind, device=device)
    steps = length if periodic else length - 1
    return torch.arange(length, dtype=kind, device=device) * (2 / steps) - 1


@decomposition("aten.fft_fftfreq")
def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of a Fourier transform, the negative ones last."""
    first = torch.arange((n + 1) // 2, dtype=_dtype(options))
    last = torch.arange(-(n // 2), 0, dtype=first.dtype)
    return torch.cat((first, last)) * (1 / (n * d))


@decomposition("aten.fft_rfftfreq")
def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of a Fourier transform of real numbers."""
    return torch.arange(n // 2 + 1, dtype=_dtype(options)) * (1 / (n * d))


def _dtype(options: Mapping[str, Any]) -> torch.dtype:
    """Return the type in options of a tensor to make, or the default one."""
    return options.get("dtype") or torch.get_default_dtype()
