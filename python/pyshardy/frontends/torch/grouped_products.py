# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows in types that `torch.export` refuses.

PyTorch computes them on CPUs, but its checks of types demand bfloat16.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    import torch  # noqa: PLC0415

    ranks = mat_a.dim(), mat_b.dim()
    if offs is None or ranks == (3, 3):
        made = torch.bmm(mat_a, mat_b)
    elif ranks == (2, 3):
        made = torch.einsum("sgk,gkn->sn", _split(mat_a, 0, offs), mat_b)
    elif ranks == (3, 2):
        made = torch.einsum("gmk,ksg->ms", mat_a, _split(mat_b, 1, offs))
    else:
        made = torch.einsum("msg,sn->gmn", _split(mat_a, 1, offs), mat_b)
    made = made if bias is None else made + bias
    return made if out_dtype is None else made.to(out_dtype)


def takes(mat_a: Any, mat_b: Any, *_: Any, **__: Any) -> bool:
    """Whether `torch.export` refuses the types of a product that PyTorch computes."""
    import torch  # noqa: PLC0415

    return mat_a.dtype == mat_b.dtype and mat_a.dtype in (torch.float32, torch.float16)


def _split(value: torch.Tensor, dim: int, ends: torch.Tensor) -> torch.Tensor:
    """Add a dimension of groups after a dimension, with zeros in place of other groups."""
    import torch  # noqa: PLC0415

    position = torch.arange(value.shape[dim], device=value.device).unsqueeze(1)
    starts = torch.nn.functional.pad(ends[:-1], (1, 0))
    is_in_group = (position >= starts) & (position < ends)
    if dim == 0:
        is_in_group = is_in_group.unsqueeze(-1)
    return torch.where(is_in_group, value.unsqueeze(dim + 1), 0)
