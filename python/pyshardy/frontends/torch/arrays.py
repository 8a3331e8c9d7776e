# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of PyTorch tensors to NumPy arrays and back; see `local_program.tensor_spec`."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import is_fake

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.dtensors import gathered, is_dtensor
from pyshardy.local_program.tensor_spec import Array


def array_of(tensor: torch.Tensor | Any, name: str) -> Array:
    """Return the values of a tensor; types that NumPy lacks become `float32`.

    The values of a DTensor are gathered, which all processes of its mesh must do at once.

    Args:
        tensor: the tensor.
        name: its name in diagnostics.

    Raises:
        UsageError: it isn't a tensor.
    """
    if not isinstance(tensor, torch.Tensor):
        message = f"'{name}' must be a torch.Tensor, got: {type(tensor).__name__}"
        raise UsageError(error(message))
    if tensor.is_meta or is_fake(tensor):
        message = f"'{name}' has no values, only a shape; give the model weights with values"
        raise UsageError(error(message))
    if is_dtensor(tensor):
        tensor = gathered(tensor)
    values = tensor.detach().cpu()
    # f32 represents all values of smaller types.
    lacking = values.is_floating_point() and values.dtype not in (
        torch.float16,
        torch.float32,
        torch.float64,
    )
    return (values.to(torch.float32) if lacking else values).resolve_conj().numpy()


def tensor_of(array: Array, dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor of a type with the values of an array."""
    # PyTorch doesn't support the small types that `ml_dtypes` adds to NumPy.
    taken = array.astype(np.float32) if array.dtype.kind == "V" else np.array(array)
    return torch.from_numpy(taken).to(dtype)


def value_of(array: Array, dtype: torch.dtype | None) -> torch.Tensor | complex:
    """Return a tensor of a type with the values of an array, or its number for the type None."""
    return array.item() if dtype is None else tensor_of(array, dtype)
