# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows in types that `torch.export` refuses.

PyTorch computes them on CPUs, but its checks of types demand bfloat16.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import functools
from typing import Any

import torch


def grouped_mm(
    mat_a: torch.Tensor,
    mat_b: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Multiply matrices in groups: of rows, of columns, or of the contracted dimension.

    Args:
        mat_a: the first matrices, `(S, K)` or `(G, M, K)`; `(M, S)` with groups of `S`.
        mat_b: the second ones, `(G, K, N)` or `(K, S)`; `(S, N)` with groups of `S`.
        offs: the end of each group; None if both have a dimension of groups.
        bias: is added to the results.
        out_dtype: the type of the results.
    """
    if offs is None or mat_a.dim() == mat_b.dim() == 3:
        made = torch.bmm(mat_a, mat_b)
    else:
        made = _operation()(mat_a, mat_b, offs)
    made = made if bias is None else made + bias
    return made if out_dtype is None else made.to(out_dtype)


def takes(mat_a: Any, mat_b: Any, *_: Any, **__: Any) -> bool:
    """Whether `torch.export` refuses the types of a product that PyTorch computes."""
    return mat_a.dtype == mat_b.dtype and mat_a.dtype in (torch.float32, torch.float16)


@functools.cache
def _operation() -> Any:
    """Register the operation for matrices in groups, and its gradient, and return it."""
    library = torch.library.Library("pyshardy", "FRAGMENT")
    library.define("grouped_mm(Tensor lhs, Tensor rhs, Tensor offsets) -> Tensor")
    _LIBRARIES.append(library)
    operation = torch.ops.pyshardy.grouped_mm

    def types_of(lhs: torch.Tensor, rhs: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        groups = offsets.shape if lhs.dim() == rhs.dim() else ()
        return lhs.new_empty(*groups, lhs.shape[-2], rhs.shape[-1])

    def keep(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001 (the names count)
        ctx.save_for_backward(*inputs)

    def differentiate(ctx: Any, gradient: torch.Tensor) -> Any:
        lhs, rhs, offsets = ctx.saved_tensors
        return operation(gradient, rhs.mT, offsets), operation(lhs.mT, gradient, offsets), None

    name = "pyshardy::grouped_mm"
    torch.library.register_fake(name, types_of, lib=library)
    torch.library.register_autograd(name, differentiate, setup_context=keep, lib=library)
    return operation


_LIBRARIES: list[Any] = []
"""The registered libraries, kept alive: PyTorch unregisters operations with their library."""
