# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The negative log-likelihood, which cross-entropy consists of, and its gradient.

A class is chosen by comparing all of them with the target. So no operation mixes the elements of
the batch, and both the batch and the classes may be sharded. A gather of the chosen class would
bring all of them to each device, and lose the sharding of the batch in the backward pass.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition

_NONE, _MEAN = 0, 1  # `at::Reduction`


@decomposition("aten.nll_loss_forward", "aten.nll_loss2d_forward")
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Return the loss and the total weight."""
    chosen = _chosen(self, target)
    found = -torch.where(chosen, self, 0).sum(_class_dim(self))
    weights = _weights(self, target, weight, ignore_index)
    losses = torch.where(weights == 0, 0, found * weights)
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
    """Return whether each class is the target."""
    dim = _class_dim(scores)
    classes = torch.arange(scores.shape[dim], device=scores.device, dtype=target.dtype)
    return _of_classes(classes, scores) == target.unsqueeze(dim)


def _weights(scores: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> Tensor:
    """Return the weight of each target."""
    if weight is None:
        return (target != ignore_index).to(scores.dtype)
    of_classes = torch.where(_chosen(scores, target), _of_classes(weight, scores), 0)
    return torch.where(target != ignore_index, of_classes.sum(_class_dim(scores)), 0)
