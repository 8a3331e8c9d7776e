# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


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
