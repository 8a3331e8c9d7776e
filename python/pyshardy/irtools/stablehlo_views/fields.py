# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptors of op attributes, from which the views are composed.

A field reads and writes one attribute of the operation of a view, as a plain Python value. Reading
it looks up this attribute only, at each access: calls into the bindings dominate the run time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

from mlir_sdy.host import ir

Value = TypeVar("Value")
_Self = TypeVar("_Self", bound="Field[Any]")


class OperationView:
    """A typed view of an operation; subclasses declare a field for each attribute.

    A view is cheap to create and holds nothing but the operation. Its fields have the names of the
    attributes. They raise `KeyError` if the operation lacks the attribute, unless their docstring
    says otherwise.

    Attributes:
        operation: the operation.
    """

    __slots__ = ("operation",)

    def __init__(self, operation: ir.Operation):
        self.operation = operation


class Field(Generic[Value]):
    """A field of a view: an attribute of the operation as a Python value.

    Args:
        about: the meaning of the attribute, for `help`.

    Attributes:
        name: the name of the attribute, which is that of the field.
    """

    def __init__(self, about: str = ""):
        self.__doc__ = about
        self.name = ""

    def __set_name__(self, _: type[OperationView], name: str) -> None:
        self.name = name

    @overload
    def __get__(self: _Self, view: None, owner: type[OperationView]) -> _Self: ...

    @overload
    def __get__(self, view: OperationView, owner: type[OperationView]) -> Value: ...

    def __get__(self, view: OperationView | None, owner: type[OperationView]) -> Any:
        return self if view is None else self.of(view.operation)

    def __set__(self, view: OperationView, value: Value) -> None:
        self.set_on(view.operation, value)

    def of(self, operation: ir.Operation) -> Value:
        """Return the value for an operation, for code that is given a field as an argument."""
        return self.read(operation.attributes[self.name])

    def set_on(self, operation: ir.Operation, value: Value) -> None:
        """Set the attribute of an operation."""
        operation.attributes[self.name] = self.build(value, operation.context)

    def is_in(self, operation: ir.Operation) -> bool:
        """Whether an operation has the attribute."""
        return self.name in operation.attributes

    def remove_from(self, operation: ir.Operation) -> None:
        """Remove the attribute from an operation, if it has it."""
        if self.name in operation.attributes:
            del operation.attributes[self.name]

    def read(self, attribute: Any) -> Value:
        """Convert the attribute to its value."""
        raise NotImplementedError

    def build(self, value: Value, context: ir.Context) -> ir.Attribute:
        """Convert a value to the attribute."""
        raise NotImplementedError


class OptionalField(Field["Value | None"], Generic[Value]):
    """An attribute that may be missing, as None.

    Args:
        field: the field that reads and builds it.
        about: see `Field`.
    """

    def __init__(self, field: Field[Value], about: str):
        super().__init__(about)
        self.field = field

    def __set_name__(self, _: type[OperationView], name: str) -> None:
        self.name = self.field.name = name

    def of(self, operation: ir.Operation) -> Value | None:
        """Return the value for an operation, or None."""
        attribute = operation.attributes.get(self.name)
        return None if attribute is None else self.field.read(attribute)

    def set_on(self, operation: ir.Operation, value: Value | None) -> None:
        """Set the attribute of an operation, or remove it."""
        if value is None:
            self.remove_from(operation)
        else:
            self.field.set_on(operation, value)


class Raw(Field[Any]):
    """An attribute of any kind, as it is in the IR."""

    def read(self, attribute: Any) -> Any:
        """Return the attribute."""
        return attribute

    def build(self, value: ir.Attribute, context: ir.Context) -> ir.Attribute:
        """Return the attribute."""
        del context
        return value


class _Valued(Field[Value], Generic[Value]):
    """An attribute whose class in the bindings has its value as `value`."""

    def read(self, attribute: Any) -> Value:
        """Return the value."""
        return attribute.value


class Integer(_Valued[int]):
    """An `IntegerAttr` of type i64, as an int."""

    def build(self, value: int, context: ir.Context) -> ir.Attribute:
        """Return an attribute of type i64."""
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), value)


class DefaultInteger(Integer):
    """An `IntegerAttr` of type i64 that may be missing, as an int.

    Args:
        default: the value if the operation lacks it.
        about: see `Field`.
    """

    def __init__(self, default: int, about: str):
        super().__init__(about)
        self.default = default

    def of(self, operation: ir.Operation) -> int:
        """Return the value for an operation."""
        attribute = operation.attributes.get(self.name)
        return self.default if attribute is None else attribute.value


class Integers(Field[tuple[int, ...]]):
    """A `DenseI64ArrayAttr`, as a tuple."""

    def read(self, attribute: Any) -> tuple[int, ...]:
        """Return the integers."""
        return tuple(attribute)

    def build(self, value: Sequence[int], context: ir.Context) -> ir.Attribute:
        """Return an array attribute."""
        return ir.DenseI64ArrayAttr.get(list(value), context)


class PerDimension(Integers):
    """A `DenseI64ArrayAttr` with a number for each dimension; empty if the operation lacks it."""

    def of(self, operation: ir.Operation) -> tuple[int, ...]:
        """Return the integers of an operation."""
        attribute = operation.attributes.get(self.name)
        return () if attribute is None else tuple(attribute)


class Paddings(Field[Sequence[tuple[int, int]]]):
    """A `DenseElementsAttr` of type `tensor<?x2xi64>`, as pairs; empty if the operation lacks it.

    A pair has the numbers of elements before and after a dimension.
    """

    def of(self, operation: ir.Operation) -> list[tuple[int, int]]:
        """Return the pairs of an operation."""
        numbers: list[int] = list(operation.attributes.get(self.name, ()))
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def build(self, value: Sequence[tuple[int, int]], context: ir.Context) -> ir.Attribute:
        """Return the elements."""
        import numpy as np  # noqa: PLC0415 (an eighth of the start-up of a tool)

        pairs = np.array(list(value), np.int64).reshape(-1, 2)
        return ir.DenseElementsAttr.get(pairs, context=context)


class Number(_Valued[float]):
    """A `FloatAttr`, as a float."""

    def build(self, value: float, context: ir.Context) -> ir.Attribute:
        """Return an attribute of type f32."""
        return ir.FloatAttr.get(ir.F32Type.get(context), value)


class Boolean(Field[bool]):
    """A `BoolAttr`, as a bool; False if the operation lacks it."""

    def of(self, operation: ir.Operation) -> bool:
        """Return the value for an operation."""
        attribute = operation.attributes.get(self.name)
        return attribute is not None and attribute.value

    def build(self, value: bool, context: ir.Context) -> ir.Attribute:
        """Return a Boolean attribute."""
        return ir.BoolAttr.get(value, context)


class Unit(Field[bool]):
    """A `UnitAttr`, as a bool: whether the operation has it."""

    def of(self, operation: ir.Operation) -> bool:
        """Whether an operation has the attribute."""
        return self.name in operation.attributes

    def set_on(self, operation: ir.Operation, value: bool) -> None:
        """Add the attribute to an operation, or remove it."""
        if value:
            operation.attributes[self.name] = ir.UnitAttr.get(operation.context)
        else:
            self.remove_from(operation)


class Text(_Valued[str]):
    """A `StringAttr`, as a str."""

    def build(self, value: str, context: ir.Context) -> ir.Attribute:
        """Return a string attribute."""
        return ir.StringAttr.get(value, context)


class Symbol(_Valued[str]):
    """A `FlatSymbolRefAttr`, as the name without its `@`."""

    def build(self, value: str, context: ir.Context) -> ir.Attribute:
        """Return a symbol reference."""
        return ir.FlatSymbolRefAttr.get(value, context)


class Symbols(Field[Sequence[str]]):
    """An `ArrayAttr` of `FlatSymbolRefAttr`, as names without `@`; empty if it is missing."""

    def of(self, operation: ir.Operation) -> list[str]:
        """Return the names that an operation has."""
        attribute = operation.attributes.get(self.name)
        return [] if attribute is None else [ir.FlatSymbolRefAttr(each).value for each in attribute]

    def build(self, value: Sequence[str], context: ir.Context) -> ir.Attribute:
        """Return an array of symbol references."""
        return ir.ArrayAttr.get(
            [ir.FlatSymbolRefAttr.get(each, context) for each in value], context
        )


class Dictionaries(Field[Sequence[ir.DictAttr]]):
    """An `ArrayAttr` of dictionaries, as a list; empty if the operation lacks it."""

    def of(self, operation: ir.Operation) -> list[ir.DictAttr]:
        """Return the dictionaries of an operation."""
        attribute = operation.attributes.get(self.name)
        return [] if attribute is None else [ir.DictAttr(each) for each in attribute]

    def build(self, value: Sequence[ir.DictAttr], context: ir.Context) -> ir.Attribute:
        """Return an array attribute."""
        return ir.ArrayAttr.get(list(value), context)


class FunctionTypeField(_Valued[ir.FunctionType]):
    """A `TypeAttr` of a function type, as the type."""

    def build(self, value: ir.FunctionType, context: ir.Context) -> ir.Attribute:
        """Return a type attribute."""
        return ir.TypeAttr.get(value, context=context)


class EnumCase(Field[str]):
    """An enum attribute of StableHLO such as `#stablehlo<comparison_direction LT>`, as `LT`.

    The bindings return these as opaque attributes.
    """

    def read(self, attribute: Any) -> str:
        """Return the case."""
        return str(attribute).rpartition(" ")[2].rstrip(">")


class EnumCases(Field[Sequence[str]]):
    """An array of enum attributes, such as `[#stablehlo<precision HIGH>]`, as `["HIGH"]`.

    It is empty if the operation lacks it.
    """

    def of(self, operation: ir.Operation) -> list[str]:
        """Return the cases of an operation."""
        attribute = operation.attributes.get(self.name)
        each = EnumCase()
        return [] if attribute is None else [each.read(one) for one in attribute]


class DimensionNumbers(Field[Value]):
    """Dimension numbers, as the class of the bindings.

    Args:
        kind: the class, such as `stablehlo.GatherDimensionNumbers`.
        about: see `Field`.
    """

    def __init__(self, kind: Callable[[Any], Value], about: str = ""):
        super().__init__(about)
        self.kind = kind

    def read(self, attribute: Any) -> Value:
        """Convert the attribute to its class."""
        return self.kind(attribute)

    def build(self, value: Any, context: ir.Context) -> ir.Attribute:
        """Return the attribute."""
        del context
        return value


FieldValues = Mapping[Field[Any], Any]
"""New values of attributes of an operation."""


def set_fields(operation: ir.Operation, values: FieldValues) -> None:
    """Set attributes of an operation."""
    for field, value in values.items():
        field.set_on(operation, value)


def attribute_named(operation: ir.Operation, name: str) -> ir.Attribute | None:
    """Return an attribute by its name, or None: for rules, and where views read too much."""
    return operation.attributes.get(name)
