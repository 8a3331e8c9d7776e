# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that are taken out of tensors, as tensors without dimensions.

`torch.export` represents `x.sum().item()` as a symbolic number. A symbolic number becomes a tensor
of 64 bits, as Python has them, and operations on it those on tensors:

| graph                                      | becomes                                       |
|--------------------------------------------|-----------------------------------------------|
| `a = x.sum().item(); y = torch.full(3, a)` | `a = x.sum().double(); y = a.expand(3)`       |
| `b = a * 2 + 1; z = x > b`                 | `b = a * 2 + 1; z = torch.gt(x, b)`           |

Results have the types that PyTorch gives them. Shapes can't depend on such numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node, map_arg

from mlir_sdy.diagnostics import PassError
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.fragments import (
    Call,
    fake_mode_of,
    is_mutation,
    module_of,
    splice,
    tensor_nodes,
    trace_fragment,
)
from pyshardy.frontends.torch.registry import Registry, name_of

_FUNCTIONS: Registry[Callable[..., Any]] = Registry()

_function = _FUNCTIONS.register
"""Register the function of tensors for operations that take numbers, given by their names."""

_ASSERTION = "aten._assert_scalar.default"


def numbers_as_tensors(module: GraphModule) -> GraphModule:
    """Return a graph with tensors in the place of the numbers that it takes out of tensors.

    Raises:
        PassError: the shape of a tensor depends on a number, or an operation needs a number.
    """
    if not any(map(_is_number, module.graph.nodes)):
        return module
    if (refusal := failures.of_data_dependence(module)) is not None:
        raise PassError(refusal)
    graph = Graph()
    values: dict[Node, Any] = {}
    for node in module.graph.nodes:
        if name_of(node.target) == _ASSERTION:
            continue
        if node.op != "call_function" or not any(map(_is_number, (node, *node.all_input_nodes))):
            values[node] = graph.node_copy(node, values.__getitem__)
            continue
        args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
        try:
            with fake_mode_of(module):
                values[node] = _add(graph, node, args, kwargs)
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            raise PassError(failures.of_number(node)) from None
    return module_of(graph, module)


def type_of_number(number: Any) -> torch.dtype | None:
    """Return the type of the tensor for a symbolic number, or None for other values."""
    if isinstance(number, torch.SymFloat):
        return torch.float64
    if isinstance(number, torch.SymInt):
        return torch.int64
    return torch.bool if isinstance(number, torch.SymBool) else None


def _is_number(node: Node) -> bool:
    return type_of_number(node.meta.get("val")) is not None


def _add(graph: Graph, node: Node, args: Any, kwargs: Any) -> Any:
    """Add an operation with tensors in the place of numbers, and return its node."""
    target: Any = node.target
    if is_mutation(node):
        given = map_arg((args, kwargs), lambda one: one.meta["val"])
        result = graph.call_function(_overload(target, *given), args, kwargs)
        result.meta.update(node.meta)
        return result
    value: Any = node.meta["val"]
    dtype = type_of_number(value) or value.dtype
    if isinstance(target, torch._ops.OpOverload):
        function = _FUNCTIONS.get(target) or target.overloadpacket
    else:
        function = functools.partial(_with_wide_tensors, _of_numbers(name_of(target)), dtype)

    def typed(*args: Any, **kwargs: Any) -> Tensor:
        return function(*args, **kwargs).to(dtype)

    fragment = trace_fragment(Call(typed, args, kwargs))
    result = splice(fragment.graph, graph, tensor_nodes(args, kwargs), node)
    assert isinstance(result, Node)
    return result


def _overload(target: Any, args: Any, kwargs: Any) -> Any:
    """Return the overload of an operation for arguments of other types."""
    packet = target.overloadpacket
    name = torch._C._jit_resolve_packet(packet._qualified_op_name, *args, **kwargs)
    return getattr(packet, name)


def _with_wide_tensors(function: Callable[..., Any], dtype: torch.dtype, *args: Any) -> Any:
    """Call a function with numbers as tensors of 64 bits, as Python has them."""
    is_float = dtype.is_floating_point or any(map(_is_floating_point, args))
    wide = torch.float64 if is_float else torch.int64
    return function(*(_tensor(each, wide) for each in args))


def _is_floating_point(value: Any) -> bool:
    return (
        value.is_floating_point() if isinstance(value, torch.Tensor) else isinstance(value, float)
    )


def _tensor(value: Any, dtype: torch.dtype) -> Tensor:
    if isinstance(value, torch.Tensor):
        return value if value.dtype is torch.bool else value.to(dtype)
    return torch.full((), value, dtype=dtype)


@_function("aten.item", "aten._local_scalar_dense")
def _item(self: Tensor) -> Tensor:
    return self.detach().reshape(()).clone()


_OF_PYTHON = {
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and_": "logical_and",
    "or_": "logical_or",
    "pos": "clone",
    "sym_float": "clone",
    "sym_int": "trunc",
    "sym_max": "maximum",
    "sym_min": "minimum",
    "sym_not": "logical_not",
    "sym_ite": "where",
}
"""The functions of `torch` for those of Python on numbers with other names."""


def _of_numbers(name: str) -> Callable[..., Any]:
    """Return the function of tensors for a function of Python on numbers."""
    return _round if name == "round" else getattr(torch, _OF_PYTHON.get(name, name))


def _round(number: Tensor, digits: Tensor | None = None) -> Tensor:
    """Round to the nearest number with so many digits, the even one of two."""
    if digits is None:
        return torch.round(number)
    scale = torch.pow(10.0, digits)
    return torch.round(number * scale) / scale


@_function("aten.full", "aten.new_full.default")
def _full(*args: Any, **_: Any) -> Tensor:
    *_rest, size, value = args
    return value.expand(size).clone()


@_function("aten.full_like")
def _full_like(self: Tensor, value: Tensor, **_: Any) -> Tensor:
    return value.expand(self.shape).clone()


@_function("aten.scalar_tensor")
def _scalar_tensor(value: Tensor, **_: Any) -> Tensor:
    return value.clone()


@_function("aten.add")
def _add_scaled(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    return self + other * alpha


@_function("aten.sub")
def _subtract_scaled(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    return self - other * alpha


@_function("aten.rsub")
def _subtract_from(self: Any, other: Any, alpha: Any = 1) -> Tensor:
    return other - self * alpha


@_function("aten.clamp")
def _clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    low, high = (
        each if each is None or isinstance(each, torch.Tensor) else torch.full((), each)
        for each in (min, max)
    )
    return torch.clamp(self, low, high)


@_function("aten.masked_fill")
def _masked_fill(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return torch.where(mask, value.to(self.dtype), self)


@_function("aten.lerp")
def _lerp(self: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    return self + weight * (end - self)


@_function("aten.leaky_relu")
def _leaky_relu(self: Tensor, slope: Tensor) -> Tensor:
    return torch.where(self > 0, self, self * slope)


@_function("aten.addcmul")
def _addcmul(self: Tensor, first: Tensor, second: Tensor, *, value: Any) -> Tensor:
    return self + value * first * second


@_function("aten.addcdiv")
def _addcdiv(self: Tensor, first: Tensor, second: Tensor, *, value: Any) -> Tensor:
    return self + value * first / second


@_function("aten.scatter.value")
def _scatter(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    return self.scatter(dim, index, value.to(self.dtype).expand(index.shape))


@_function("aten.select.int")
def _select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    from_start = torch.where(index < 0, index + self.shape[dim], index)
    return torch.index_select(self, dim, from_start.reshape(1)).squeeze(dim)
