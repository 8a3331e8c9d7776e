# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites of a local program that XLA requires, in a child and in `as_jax`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decompose
from pyshardy.backends.xla.layouts import lay_out_transforms
from pyshardy.backends.xla.nan_safe import keep_nans
from pyshardy.backends.xla.split_collectives import split_collectives
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.local_program.resources import use_dense_constants

_FOLDED_WRONGLY = ("convert",)
"""The operations whose decomposition XLA needs on its way from StableHLO to HLO."""


def prepare_for_xla(module: ir.Module, platform: str, *, nan_safe: bool = False) -> None:
    """Rewrite operations to the forms that XLA supports.

    Args:
        module: a local program, which is changed in place.
        platform: the platform by its name in JAX: `cpu`, `gpu`, `cuda` ...
        nan_safe: whether maxima and minima of several devices keep NaN on a CPU.
    """
    use_dense_constants(module)
    split_collectives(module)
    decompose(module, _FOLDED_WRONGLY)
    if platform == "cpu":
        expand_ragged_dots(module)
        if nan_safe:
            keep_nans(module)
        lay_out_transforms(module)
