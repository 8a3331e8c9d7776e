# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of operations that take a part of a tensor.

They pad with zeros, which keeps the other dimensions sharded. PyTorch would write into zeros.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyshardy.frontends.torch.decompositions.registry import decomposition

if TYPE_CHECKING:
    from torch import Tensor


@decomposition("aten.slice_backward")
def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    """Return the gradient of a slice."""
    import torch  # noqa: PLC0415

    dim %= len(input_sizes)
    start, end, _ = slice(start, end).indices(input_sizes[dim])
    if step > 1:
        # Each element is followed by zeros, a dimension that is then merged.
        spread = _padded(grad_output.unsqueeze(dim + 1), dim + 1, 0, step - 1)
        length = grad_output.shape[dim] * step
        spread = torch.flatten(spread, dim, dim + 1).narrow(dim, 0, min(length, end - start))
    else:
        spread = grad_output
    after = input_sizes[dim] - start - spread.shape[dim]
    return _padded(spread, dim, start, after)


@decomposition("aten.select_backward")
def select_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int
) -> Tensor:
    """Return the gradient of an element of a dimension."""
    dim %= len(input_sizes)
    index %= input_sizes[dim]
    return _padded(grad_output.unsqueeze(dim), dim, index, input_sizes[dim] - index - 1)


def _padded(x: Tensor, dim: int, before: int, after: int) -> Tensor:
    import torch  # noqa: PLC0415

    if not before and not after:
        return x
    return torch.constant_pad_nd(x, [0, 0] * (x.dim() - dim - 1) + [before, after], 0)
