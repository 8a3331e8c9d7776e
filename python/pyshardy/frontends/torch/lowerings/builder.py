# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of lowerings, and the builder that they get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from pyshardy.frontends.torch.registry import Registry, short_name
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.tensor_types import element_type_of, shape_of


class LoweringBuilder(StablehloBuilder):
    """The builder of the operations that replace one of PyTorch.

    Attributes:
        node: the operation.
        result_types: the types of its results.
        functions: the functions for the graphs that it may refer to, by name.
    """

    def __init__(
        self, node: Any, result_types: Sequence[ir.Type], functions: Mapping[str, ir.Operation]
    ):
        super().__init__()
        self.node = node
        self.result_types = tuple(result_types)
        self.functions = functions

    def filled(self, tensor: ir.Type, number: complex) -> ir.Value:
        """Build a constant of a type that is filled with any number, also infinite or NaN."""
        element = element_type_of(tensor)
        if isinstance(element, ir.ComplexType):
            kinds = ("<f8", "u8") if element.element_type == ir.F64Type.get() else ("<f4", "u4")
            parts = np.array([number.real, number.imag], kinds[0]).view(kinds[1])
            text = ", ".join(f"0x{part:0{2 * part.itemsize}X}" for part in parts)  # also infinities
            return self.literal(ir.Attribute.parse(f"dense<({text})> : {tensor}"))
        if isinstance(element, ir.IntegerType):
            wraps = element.is_unsigned and number.real < 0
            return self.splat(tensor, int(number.real) + wraps * 2**element.width)
        splat = ir.FloatAttr.get(element, float(number.real))
        return self.literal(ir.DenseElementsAttr.get_splat(tensor, splat))

    def filled_like(self, value: ir.Value, number: complex) -> ir.Value:
        """Build a constant of the type of a value that is filled with a number."""
        return self.filled(value.type, number)

    def expanded(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Build a broadcast by the rules of PyTorch: dimensions correspond from the last one."""
        own = shape_of(value.type)
        first = len(shape) - len(own)
        dims = [dim for dim, size in enumerate(own, first) if size == shape[dim]]
        if len(dims) < len(own):
            value = self.reshape(value, [shape[dim] for dim in dims])
        return self.broadcast_in_dim(value, shape, dims)

    def dimensions(self, value: ir.Value, dim: int) -> list[int]:
        """Return the number of a dimension that may be counted from the last one.

        PyTorch takes a scalar as a tensor of one dimension, of which none is in StableHLO.

        Raises:
            PassError: the tensor has no such dimension.
        """
        rank = len(shape_of(value.type))
        most = max(rank, 1)
        if -most <= dim < most:
            return [dim % rank] if rank else []
        raise self._refusal(
            f"is along dimension {dim} of a tensor with {rank}; use one from {-most} to {most - 1}"
        )

    def widened(self, value: ir.Value) -> ir.Value:
        """Build a conversion of small floating-point numbers to f32, as PyTorch computes.

        Raises:
            PassError: the elements are integers or booleans.
        """
        element = element_type_of(value.type)
        if isinstance(element, ir.IntegerType):
            raise self._refusal("takes floating-point numbers only; convert its operand by float()")
        is_small = isinstance(element, ir.FloatType) and element.width < 32
        return self.convert(value, ir.F32Type.get()) if is_small else value

    def _refusal(self, reason: str) -> PassError:
        name = short_name(self.node.meta.get("origin", self.node.target))
        return PassError(error(f"'{name}' {reason}", location_of(ir.Location.current)))

    def scaled(self, value: ir.Value, factor: float) -> ir.Value:
        """Build a product with a number, unless it is 1."""
        if factor == 1:
            return value
        return self.binary("multiply", value, self.filled_like(value, factor))


BuildFunction = Callable[..., "ir.Value | Sequence[ir.Value]"]
"""Builds the operations that replace one of PyTorch."""

AnyBuildFunction = TypeVar("AnyBuildFunction", bound=BuildFunction)


@dataclass(frozen=True)
class Lowering:
    """A conversion of an operation of PyTorch to StableHLO.

    Attributes:
        build: builds the operations that replace it.
        applies: whether it takes an operation, given the arguments of this; None if it takes all.
    """

    build: BuildFunction
    applies: Callable[..., bool] | None = None


LOWERINGS: Registry[Lowering] = Registry()


def lowering(
    *names: str, applies: Callable[..., bool] | None = None
) -> Callable[[AnyBuildFunction], AnyBuildFunction]:
    """Return a decorator that registers a lowering for operations.

    Args:
        names: the names of the operations.
        applies: whether the lowering takes an operation, given the arguments of this, with nodes in
            the place of tensors. Others are decomposed. By default it takes all.
    """

    def add(build: AnyBuildFunction) -> AnyBuildFunction:
        LOWERINGS.register(*names)(Lowering(build, applies))
        return build

    return add


COMPLEX_LOWERINGS: Registry[BuildFunction] = Registry()

complex_lowering = COMPLEX_LOWERINGS.register
"""Register a lowering for operations on complex numbers only."""


def part_type_of(value: ir.Value) -> ir.Type | None:
    """Return the type of the parts of complex numbers; None for other numbers."""
    element = element_type_of(value.type)
    return element.element_type if isinstance(element, ir.ComplexType) else None


def is_unsigned(value: ir.Value | ir.Type) -> bool:
    """Whether the elements are booleans or unsigned integers."""
    element = element_type_of(value.type if isinstance(value, ir.Value) else value)
    if not isinstance(element, ir.IntegerType):
        return False
    return element.width == 1 or element.is_unsigned


def lowest(element: ir.Type) -> float:
    """Return the smallest number of an element type."""
    if not isinstance(element, ir.IntegerType):
        return -float("inf")
    return 0 if element.width == 1 or element.is_unsigned else -(2 ** (element.width - 1))


def highest(element: ir.Type) -> float:
    """Return the largest number of an element type."""
    if not isinstance(element, ir.IntegerType):
        return float("inf")
    is_signed = element.width > 1 and not element.is_unsigned
    return 2 ** (element.width - is_signed) - 1
