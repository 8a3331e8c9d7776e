# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of operations with sizes as operands to those with sizes in attributes or types.

Sizes in operands are those of global tensors. If all types are static, and numbers that do not
follow from the types are constants, there is an equivalent operation without these operands:

    %sizes = stablehlo.constant dense<[8, 4]> : tensor<2xi32>
    %0 = stablehlo.dynamic_broadcast_in_dim %a, %sizes, dims = [1]
        : (tensor<4xf32>, tensor<2xi32>) -> tensor<8x4xf32>

becomes

    %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from mlir_sdy.uses import replace_by
from mlir_sdy.values import SHARDING
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.stablehlo_views import DimensionSizeView, target_of
from pyshardy.irtools.walks import operations_named, tell_inserted


@dataclass(frozen=True)
class StaticForm:
    """The static form of an operation.

    Attributes:
        name: the name of the operation without its dialect.
        num_operands: the number of leading operands that it keeps.
        attributes: additional attributes.
        dropped: the attributes of the operation that it drops.
    """

    name: str
    num_operands: int
    attributes: dict[str, ir.Attribute] = field(default_factory=dict[str, ir.Attribute])
    dropped: tuple[str, ...] = ()


CALL = "stablehlo.custom_call"
SHAPE_OPERANDS = "indices_of_shape_operands"
"""The attribute of a call with the positions of the shapes of its results."""

_LAYOUTS = "operand_layouts"
CALL_ATTRIBUTES = ("api_version", "backend_config", "call_target_name", "called_computations")
"""The attributes that a call has and the operation that it stands for doesn't."""


FormFunction = Callable[[ir.Operation], StaticForm | None]

SIZES_OF: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "stablehlo.dynamic_broadcast_in_dim": ("stablehlo.broadcast_in_dim", 1, ()),
    "stablehlo.dynamic_gather": ("stablehlo.gather", 2, ("slice_sizes",)),
    "stablehlo.dynamic_iota": ("stablehlo.iota", 0, ()),
    "stablehlo.dynamic_pad": (
        "stablehlo.pad",
        2,
        ("edge_padding_low", "edge_padding_high", "interior_padding"),
    ),
    "stablehlo.dynamic_reshape": ("stablehlo.reshape", 1, ()),
    "stablehlo.real_dynamic_slice": (
        "stablehlo.slice",
        1,
        ("start_indices", "limit_indices", "strides"),
    ),
}
"""For operations with sizes as operands, their static forms, the first operand that is a size, and
the attributes of the static form with these; none if the type of the result has them."""

FORMS: dict[str, FormFunction] = {}
"""The functions that find the static form of an operation, by its name."""


def make_static(function: ir.OpView | ir.Operation) -> bool:
    """Replace all operations of a function that have static forms by these.

    Returns:
        Whether there was one.
    """
    made = map(static_form, operations_named(FORMS, function))
    inserted = {each.name for each in made if each is not None}
    tell_inserted(function, *inserted)
    return bool(inserted)


def static_form(operation: ir.Operation) -> ir.Operation | None:
    """Replace an operation by its static form, and return that; None if it has none."""
    find, values = FORMS.get(operation.name), (*operation.operands, *operation.results)
    if find is None or not all(_is_static(value.type) for value in values):
        return None
    with operation.context, operation.location, ir.InsertionPoint(operation):
        form = find(operation)
        return None if form is None else _replaced(operation, form)


def _replaced(operation: ir.Operation, form: StaticForm) -> ir.Operation:
    """Replace an operation by its static form, and return that."""
    kept = {
        name: attribute
        for name, attribute in operation.attributes.items()
        if name not in form.dropped and (form.name != "constant" or name == SHARDING)
    }
    static = ir.Operation.create(
        f"stablehlo.{form.name}",
        results=[result.type for result in operation.results],
        operands=list(operation.operands)[: form.num_operands],
        attributes=kept | form.attributes,
    )
    replace_by(operation, *static.results)
    return static


def _form_of(name: str) -> Callable[[FormFunction], FormFunction]:
    """Register the function that finds the static form of an operation."""

    def register(function: FormFunction) -> FormFunction:
        FORMS[f"stablehlo.{name}"] = function
        return function

    return register


@_form_of("dynamic_conv")
def _convolution(operation: ir.Operation) -> StaticForm | None:
    numbers = constant_integers(operation.operands[2])
    if numbers is None:
        return None
    padding = ir.DenseElementsAttr.get(np.array(numbers, np.int64).reshape(-1, 2))
    return StaticForm("convolution", 2, {"padding": padding})


def shape_operands_of(call: ir.Operation) -> list[int]:
    """Return the positions of the operands of a call that are shapes of its results."""
    given, count = get_discardable(call, SHAPE_OPERANDS), len(call.operands)
    is_list = isinstance(given, ir.DenseIntElementsAttr)
    return [index for index in given if 0 <= index < count] if is_list else []


@_form_of("custom_call")
def _call(operation: ir.Operation) -> StaticForm | None:
    """Return the form without the shapes of results, which are the last operands."""
    if target_of(operation) == "stablehlo.dynamic_rng_bit_generator":  # of JAX
        return StaticForm("rng_bit_generator", 1, dropped=CALL_ATTRIBUTES)
    shapes, layouts = shape_operands_of(operation), get_discardable(operation, _LAYOUTS)
    if not shapes:
        return None
    count = len(operation.operands) - len(shapes)
    if sorted(shapes) != list(range(count, len(operation.operands))):
        return None
    kept: dict[str, ir.Attribute] = {}
    if layouts is not None:
        kept[_LAYOUTS] = ir.ArrayAttr.get([*ir.ArrayAttr(layouts)][:count])
    return StaticForm("custom_call", count, kept, (SHAPE_OPERANDS, _LAYOUTS))


@_form_of("get_dimension_size")
def _dimension_size(operation: ir.Operation) -> StaticForm:
    size = _size(operation)
    result = ir.RankedTensorType(operation.results[0].type)
    literal = ir.IntegerAttr.get(result.element_type, size)
    return StaticForm("constant", 0, {"value": ir.DenseElementsAttr.get_splat(result, literal)})


@_form_of("set_dimension_size")
def _resized(operation: ir.Operation) -> StaticForm | None:
    """Return the form for a dimension that keeps its size: a reshape to the same shape."""
    size = constant_integers(operation.operands[1])
    if size != (_size(operation),):
        return None
    return StaticForm("reshape", 1, dropped=("dimension",))


def _with_attributes(operation: ir.Operation) -> StaticForm | None:
    """Return the form with attributes instead of sizes as operands, if these are constants."""
    name, first, attributes = SIZES_OF[operation.name]
    arrays: dict[str, ir.Attribute] = {}
    for attribute, value in zip(attributes, list(operation.operands)[first:], strict=False):
        numbers = constant_integers(value)
        if numbers is None:
            return None
        arrays[attribute] = ir.DenseI64ArrayAttr.get(list(numbers))
    dropped = ("known_expanding_dimensions", "known_nonexpanding_dimensions")
    return StaticForm(name.removeprefix("stablehlo."), first, arrays, dropped)


FORMS.update(dict.fromkeys(SIZES_OF, _with_attributes))


def _size(operation: ir.Operation) -> int:
    dim = DimensionSizeView(operation).dimension
    return ir.RankedTensorType(operation.operands[0].type).shape[dim]


def _is_static(value_type: ir.Type) -> bool:
    return isinstance(value_type, ir.RankedTensorType) and value_type.has_static_shape
