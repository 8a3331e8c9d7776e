# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives by `torch.func`, which stay calls in the graph of a module, as those of autograd do.

`torch.export` can't trace them. Here each outermost call becomes an operation of `autograd_calls`:

| call                               | in the graph                                           |
|------------------------------------|--------------------------------------------------------|
| `grad`, `grad_and_value`, `jvp`    | one operation                                          |
| `vmap`                             | one operation, if the module computes derivatives      |
| `vjp`                              | one operation, and one for each call of its result     |
| `jacrev`, `jacfwd`, `hessian`      | the operations of these                                |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._functorch import apis, eager_transforms
from torch.fx.experimental.proxy_tensor import (
    _temp_remove_pre_dispatch_torch_function_mode,
    disable_proxy_modes_tracing,
)
from torch.utils import _pytree as pytree

DERIVATIVES = tuple(
    (eager_transforms, name)
    for name in ("grad_impl", "grad_and_value_impl", "_jvp_with_argnums", "_vjp_with_argnums")
)
"""The functions of PyTorch that compute derivatives, with their modules."""

Keep = Callable[..., Any]
"""Adds the operation for a call to a graph, and returns its result."""


def kept_transforms(keep: Keep) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Yield owners, names of their attributes, and the functions that keep calls."""
    for owner, name in (*DERIVATIVES[:3], (apis, "vmap_impl")):
        yield owner, name, _kept(getattr(owner, name), keep)
    owner, name = DERIVATIVES[3]
    yield owner, name, _with_kept_calls(getattr(owner, name), keep)


def _kept(original: Callable[..., Any], keep: Keep) -> Callable[..., Any]:
    """Return a transform whose outermost calls are kept."""

    def transform(function: Any, *args: Any, **kwargs: Any) -> Any:
        def call(args: Any, kwargs: Any) -> Any:
            return original(function, *args, **kwargs)

        if torch._C._are_functorch_transforms_active():
            return call(args, kwargs)
        with disable_proxy_modes_tracing(), _temp_remove_pre_dispatch_torch_function_mode():
            example = call(args, kwargs)

        def same(*_: Any) -> Any:
            return example

        return keep(call, args, kwargs, example=same, referring=function)

    return transform


def _with_kept_calls(vjp: Callable[..., Any], keep: Keep) -> Callable[..., Any]:
    """Return `vjp`, whose result is a function, with calls that are kept."""

    def without_function(function: Any, *primals: Any, **options: Any) -> Any:
        value, _, *further = vjp(function, *primals, **options)
        return value, *further

    def transform(function: Any, *primals: Any, **options: Any) -> Any:
        def called(_: Any, primals: Any, *cotangents: Any, **others: Any) -> Any:
            return vjp(function, *primals, **options)[1](*cotangents, **others)

        def of_cotangents(*cotangents: Any, **others: Any) -> Any:
            # An operation takes what stands for a tensor of the trace.
            copies = pytree.tree_map_only(torch.Tensor, torch.clone, primals)
            return _kept(called, keep)(function, copies, *cotangents, **others)

        value, *further = _kept(without_function, keep)(function, *primals, **options)
        return value, of_cotangents, *further

    return transform
