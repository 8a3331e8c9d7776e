# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that PyTorch computes in one operation, by those of others."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition(
    "aten.replication_pad1d_backward",
    "aten.replication_pad2d_backward",
    "aten.replication_pad3d_backward",
)
def replication_pad_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Tensor:
    """Return the gradient of a padding; that of the padding goes to the elements at the ends."""
    made = grad_output
    for pair in range(len(padding) // 2):
        low, dim = padding[2 * pair], self.dim() - 1 - pair
        size = self.shape[dim]
        place = torch.clamp(torch.arange(made.shape[dim]) - low, 0, size - 1)
        is_source = (place.unsqueeze(1) == torch.arange(size)).to(made.dtype)
        made = (made.movedim(dim, -1) @ is_source).movedim(-1, dim)
    return made


@decomposition("aten._cdist_backward")
def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Tensor:
    """Return the gradient of the first vectors, of which those at distance 0 get none."""
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    of_pairs = (_of_norm(difference, cdist.unsqueeze(-1), p) * grad.unsqueeze(-1)).sum(-2)
    return of_pairs.sum_to_size(x1.shape)  # the batches of both are broadcast


@decomposition("aten._pdist_backward")
def pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> Tensor:
    """Return the gradient of vectors from those of the distances of all pairs."""
    count = self.shape[0]
    row, column = torch.arange(count).unsqueeze(1), torch.arange(count)
    low, high = torch.minimum(row, column), torch.maximum(row, column)
    place = low * (2 * count - low - 1) // 2 + high - low - 1
    place = torch.clamp(place, 0, pdist.shape[0] - 1).reshape(-1)
    matrices = [
        torch.where(row == column, 0.0, each.index_select(0, place).reshape(count, count))
        for each in (grad, pdist)
    ]
    return cdist_backward(matrices[0], self, self, p, matrices[1])


def _of_norm(difference: Tensor, norm: Tensor, p: float) -> Tensor:
    """Return the gradient of a norm, 0 where it is 0."""
    sign, size = torch.sign(difference), torch.abs(difference)
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return sign
    if p == float("inf"):
        return sign * (size == norm)
    is_zero = norm == 0
    ratio = torch.where(is_zero, 0.0, size / torch.where(is_zero, 1.0, norm))
    return sign * torch.where(ratio == 0, 0.0, ratio ** (p - 1))


@decomposition("aten._weight_norm_interface_backward")
def weight_norm_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """Return the gradients of directions and norms of the slices of a weight."""
    others = [each for each in range(saved_v.dim()) if each != dim % saved_v.dim()]
    along = torch.sum(grad_w * saved_v, others, keepdim=True)
    norms = saved_norms.reshape(along.shape)
    of_directions = saved_g.reshape(along.shape) / norms
    return of_directions * (grad_w - saved_v * along / norms**2), (along / norms).reshape(
        saved_g.shape
    )


_MEAN, _LARGEST = 1, 2


@decomposition("aten._embedding_bag_backward")
def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """Add the gradients of bags at their rows of a table."""
    zeros = grad.new_zeros(num_weights, grad.shape[1])
    if mode == _LARGEST:
        is_filled = (bag_size > 0).unsqueeze(1)
        return torch.scatter_add(zeros, 0, maximum_indices.long(), torch.where(is_filled, grad, 0))
    if mode == _MEAN:
        grad = grad / torch.clamp(bag_size, min=1).unsqueeze(1)
    rows = grad.index_select(0, offset2bag.long())
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        counts = torch.sum(indices.unsqueeze(1) == indices, 1, keepdim=True)
        rows = rows / counts
    if padding_idx >= 0:
        rows = torch.where((indices == padding_idx).unsqueeze(1), 0, rows)
    return zeros.index_add(0, indices.long(), rows)


@decomposition("aten.masked_scatter_backward")
def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return the gradient of the values that replaced those under a mask, in their order."""
    count = 1
    for size in sizes:
        count *= size
    inside = mask.expand(grad_output.shape).reshape(-1)
    place = torch.cumsum(inside.long(), 0) - 1
    place = torch.where(inside & (place < count), place, count)
    zeros = grad_output.new_zeros(count + 1)
    added = torch.scatter_add(zeros, 0, place, grad_output.reshape(-1))
    return added[:count].reshape(list(sizes))
