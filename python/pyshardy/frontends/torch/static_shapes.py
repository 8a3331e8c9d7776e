# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions whose results have shapes that don't depend on values, where PyTorch's have."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def unique(
    x: torch.Tensor,
    *,
    size: int,
    fill_value: float | None = None,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    """Return the sorted distinct elements of a tensor, as many as `size`.

        experts, counts = sdy.torch.unique(indices, size=8, fill_value=-1, return_counts=True)

    Unlike the shape of `torch.unique`, that of the result is known, so that it can be traced.

    Args:
        x: the tensor, which is flattened.
        size: the number of elements to return. Further ones are left out, the largest first.
        fill_value: the elements after the distinct ones; the smallest element by default.
        return_inverse: whether to return the position in the result of each element, too. The
            position of an element that is left out is `size` or larger.
        return_counts: whether to return how often each element occurs, too.
    """
    import torch  # noqa: PLC0415

    values, order = torch.sort(x.reshape(-1), stable=True)
    is_new = torch.cat((torch.ones_like(values[:1], dtype=torch.bool), values[1:] != values[:-1]))
    position = torch.cumsum(is_new.long(), 0) - 1
    kept = torch.clamp(position, max=size)  # all that are left out share the last place
    initial = values[:1] if fill_value is None else torch.full_like(values[:1], fill_value)
    made = initial.expand(size + 1).scatter(0, kept, values)[:size]
    results = [made]
    if return_inverse:
        inverse = torch.zeros_like(position).scatter(0, order, position)
        results.append(inverse.reshape(x.shape))
    if return_counts:
        counts = torch.zeros(size + 1, dtype=torch.int64, device=x.device)
        results.append(counts.scatter_add(0, kept, torch.ones_like(kept))[:size])
    return results[0] if len(results) == 1 else tuple(results)


def bincount(x: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0) -> Any:
    """Return the numbers of occurrences of integers below `minlength`."""
    import torch  # noqa: PLC0415

    is_number = x.unsqueeze(0) == torch.arange(minlength, device=x.device).unsqueeze(1)
    if weights is None:
        return torch.sum(is_number, 1)
    kind = weights.dtype if weights.is_floating_point() else torch.float64
    return torch.sum(torch.where(is_number, weights.to(kind), 0), 1)


@contextlib.contextmanager
def static_functions() -> Iterator[None]:
    """Replace functions inside the `with` block by those of this module, if they have a bound."""
    import torch  # noqa: PLC0415
    from torch.overrides import TorchFunctionMode  # noqa: PLC0415

    class Mode(TorchFunctionMode):
        """Calls `bincount` for `torch.bincount`."""

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if func in (torch.bincount, torch.Tensor.bincount) and (
                kwargs.get("minlength") or (args[2:] and args[2])
            ):
                given = dict(zip(("input", "weights", "minlength"), args, strict=False)) | kwargs
                return bincount(given.pop("input"), **given)
            return func(*args, **kwargs)

    with Mode():
        yield
