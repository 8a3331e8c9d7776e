# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of arguments by name patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import AxisRef, TensorSharding
from mlir_sdy.suggest import unmatched_pattern
from pyshardy.frontends.meshes import DEFAULT_NAME

Axes = Sequence[str | Sequence[str] | None]
"""For each dimension of a tensor an axis of the mesh, several, or None."""


def sharding_of(written: object) -> TensorSharding:
    """Return a sharding that is given as such, or as the axes of each dimension.

    `("model", None)` is `<@mesh, [{"model"}, {}]>`.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(written, TensorSharding):
        return written
    if isinstance(written, str) or not isinstance(written, Sequence):
        message = (
            "expected a TensorSharding, or a tuple with an axis, a tuple of axes or None for each "
            f"dimension, got: {written!r}"
        )
        raise UsageError(error(message))
    dims = [_names(axes) for axes in cast("Axes", written)]
    return TensorSharding.from_axes(DEFAULT_NAME, [tuple(map(AxisRef, names)) for names in dims])


def _names(axes: str | Sequence[str] | None) -> Sequence[str]:
    if axes is None:
        return ()
    return (axes,) if isinstance(axes, str) else axes


def match(
    patterns: Mapping[str, TensorSharding | Axes], ranks: Mapping[str, int]
) -> dict[str, TensorSharding]:
    """Return the shardings of arguments.

    1. Patterns are those of `fnmatch`: `*` matches any text, including dots.
    2. The first pattern that matches a name determines its sharding.
    3. Each pattern must match a name, even if an earlier one determines its sharding.

    `{"*.bias": (None,), "*": ("data", None)}` replicates biases and shards all other arguments.

    Args:
        patterns: shardings by patterns of names.
        ranks: the number of dimensions of each argument by its name.

    Raises:
        UsageError: a pattern matches no name, or the rank of its sharding differs from that of a
            matching argument.
    """
    matched: dict[str, TensorSharding] = {}
    for pattern, written in patterns.items():
        matching = [name for name in ranks if fnmatchcase(name, pattern)]
        if not matching:
            hint = unmatched_pattern(pattern, ranks, fnmatchcase)
            raise UsageError(error(f"no argument matches '{pattern}'{hint}"))
        sharding = sharding_of(written)
        for name in matching:
            if name in matched:
                continue
            if ranks[name] != sharding.rank:
                message = (
                    f"'{pattern}' matches '{name}', which has {ranks[name]} dimensions, but its "
                    f"sharding has {sharding.rank}: {sharding}; add an earlier pattern for it"
                )
                raise UsageError(error(message))
            matched[name] = sharding
    return matched
