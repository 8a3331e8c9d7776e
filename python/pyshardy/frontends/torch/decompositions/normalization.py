# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalization."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.native_group_norm")
def native_group_norm(
    input: Tensor,  # noqa: A002
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,  # noqa: N803
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
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
    made = (difference * deviation).reshape(input.shape)
    per_channel = [C, *[1] * (input.dim() - 2)]
    if weight is not None:
        made = made * weight.reshape(per_channel)
    if bias is not None:
        made = made + bias.reshape(per_channel)
    mean, deviation = (each.reshape(N, group).to(input.dtype) for each in (mean, deviation))
    return made.to(input.dtype), mean, deviation
