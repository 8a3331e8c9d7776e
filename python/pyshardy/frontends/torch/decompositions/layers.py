# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, normalization, losses and variances."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the values of positions, weighted by the products of queries and keys.

    PyTorch chooses between forms for its own kernels, which compute more than this.
    """
    dtype = query.dtype
    wide = torch.promote_types(dtype, torch.float32)
    query, key, value = (each.to(wide) for each in (query, key, value))
    if enable_gqa:
        key, value = (
            each.repeat_interleave(query.shape[-3] // each.shape[-3], -3) for each in (key, value)
        )
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device)
        attn_mask = torch.tril(allowed)
    if attn_mask is None:
        weights = torch.softmax(scores, -1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask.to(wide)
        weights = (
            torch.softmax(scores, -1) if is_causal else torch.ops.aten._safe_softmax(scores, -1)
        )
    if dropout_p:
        weights = torch.dropout(weights, dropout_p, train=True)
    return torch.matmul(weights, value).to(dtype)


@decomposition("aten.native_group_norm")
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize groups of channels, and return their means and inverse deviations, too.

    PyTorch's form for CPUs reads the weights of channels by strides.
    """
    wide = torch.promote_types(input.dtype, torch.float32)
    groups = input.to(wide).reshape(N, group, C // group * HxW)
    mean = torch.mean(groups, 2, keepdim=True)
    difference = groups - mean
    deviation = torch.rsqrt(torch.mean(difference * difference, 2, keepdim=True) + eps)
    result = (difference * deviation).reshape(input.shape)
    per_channel = [C, *[1] * (input.dim() - 2)]
    if weight is not None:
        result = result * weight.reshape(per_channel)
    if bias is not None:
        result = result + bias.reshape(per_channel)
    mean, deviation = (each.reshape(N, group).to(input.dtype) for each in (mean, deviation))
    return result.to(input.dtype), mean, deviation


@decomposition("aten.var_mean.correction")
def var_mean(
    self: Tensor, dim: Any = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Return variances and means."""
    dims = [each % max(self.dim(), 1) for each in dim] if dim else list(range(self.dim()))
    count = math.prod(self.shape[each] for each in dims) if self.dim() else 1
    mean = torch.mean(self, dims, keepdim=True) if self.dim() else self
    difference = torch.abs(self - mean)
    square = difference * difference
    total = torch.sum(square, dims, keepdim=keepdim) if self.dim() else square
    variance = total / max(0.0, count - (1 if correction is None else correction))
    return variance, mean if keepdim or not self.dim() else torch.squeeze(mean, dims)


@decomposition("aten.var.correction")
def var(self: Tensor, dim: Any = None, **options: Any) -> Tensor:
    """Return variances."""
    return var_mean(self, dim, **options)[0]


_NONE, _MEAN = 0, 1  # `at::Reduction`


@decomposition("aten.nll_loss_forward", "aten.nll_loss2d_forward")
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Return the loss and the total weight."""
    chosen = _chosen(self, target)
    result = -torch.where(chosen, self, 0).sum(_class_dim(self))
    weights = _weights(self, target, weight, ignore_index)
    losses = torch.where(weights == 0, 0, result * weights)
    if reduction == _NONE:
        return losses, self.new_zeros(())
    total = weights.sum()
    return (losses.sum() / total if reduction == _MEAN else losses.sum()), total


@decomposition("aten.nll_loss_backward", "aten.nll_loss2d_backward")
def nll_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """Return the gradient of the loss."""
    gradient = grad_output / total_weight if reduction == _MEAN else grad_output
    weighted = -gradient * _weights(self, target, weight, ignore_index)
    return torch.where(_chosen(self, target), weighted.unsqueeze(_class_dim(self)), 0)


def _class_dim(scores: Tensor) -> int:
    return min(1, scores.dim() - 1)


def _of_classes(values: Tensor, scores: Tensor) -> Tensor:
    """Return values of all classes, in the dimension of classes."""
    return values.view([-1] + [1] * (scores.dim() - 1 - _class_dim(scores)))


def _chosen(scores: Tensor, target: Tensor) -> Tensor:
    """Return whether each class is the target, by a comparison with it.

    So no operation mixes the elements of the batch, and both the batch and the classes may be
    sharded. A gather of the chosen class would bring all of them to each device, and lose the
    sharding of the batch in the backward pass.
    """
    dim = _class_dim(scores)
    classes = torch.arange(scores.shape[dim], device=scores.device, dtype=target.dtype)
    return _of_classes(classes, scores) == target.unsqueeze(dim)


def _weights(scores: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> Tensor:
    """Return the weight of each target."""
    if weight is None:
        return (target != ignore_index).to(scores.dtype)
    of_classes = torch.where(_chosen(scores, target), _of_classes(weight, scores), 0)
    return torch.where(target != ignore_index, of_classes.sum(_class_dim(scores)), 0)


@decomposition("aten._weight_norm_interface_backward")
def weight_norm_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """Return the gradients of directions and norms of the slices of a weight."""
    others = [each for each in range(saved_v.dim()) if each != dim % saved_v.dim()]
    along = torch.sum(grad_w * saved_v, others, keepdim=True)
    norms = saved_norms.reshape(along.shape)
    directions = saved_g.reshape(along.shape) / norms * (grad_w - saved_v * along / norms**2)
    of_norms = (along / norms).reshape(saved_g.shape)
    return directions.to(saved_v.dtype), of_norms.to(saved_g.dtype)  # norms may be of 32 bits


@decomposition("aten.multilabel_margin_loss")
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """Return the margins between labels and other classes; a negative label ends the labels.

    PyTorch's decomposition counts the labels after the end as class 0.
    """
    scores, labels = torch.atleast_2d(self), torch.atleast_2d(target)
    is_given = torch.cumsum((labels < 0).long(), 1) == 0
    labels = torch.where(is_given, labels, 0)
    is_label = (torch.arange(scores.shape[1]) == labels.unsqueeze(-1)) & is_given.unsqueeze(-1)
    counts = is_given.unsqueeze(-1) & ~torch.any(is_label, 1, keepdim=True)
    margins = 1 - torch.gather(scores, 1, labels).unsqueeze(-1) + scores.unsqueeze(1)
    losses = torch.sum(torch.where(counts, torch.clamp(margins, min=0), 0), (1, 2))
    losses = losses.reshape(self.shape[:-1]) / scores.shape[1]
    return (losses, torch.mean(losses), torch.sum(losses))[reduction]
