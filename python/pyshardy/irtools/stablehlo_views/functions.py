# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of functions, calls, and operations that name functions."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views.fields import (
    Boolean,
    Dictionaries,
    FunctionTypeField,
    Integer,
    OperationView,
    OptionalField,
    Raw,
    Symbol,
    Text,
)


class FunctionView(OperationView):
    """A `func.func`; `sym_name` also serves other symbols.

    Attributes:
        sym_name: the name, without the `@`.
        sym_visibility: `public`, `private` or `nested`; public functions may lack it.
        function_type: the types of the arguments and results.
        arg_attrs: a dictionary for each argument; empty if no argument has attributes.
        res_attrs: likewise for the results.
    """

    __slots__ = ()

    sym_name = Text("sym_name")
    sym_visibility = OptionalField(Text("sym_visibility"))
    function_type = FunctionTypeField("function_type")
    arg_attrs = Dictionaries("arg_attrs")
    res_attrs = Dictionaries("res_attrs")


INTERFACE = (FunctionView.arg_attrs, FunctionView.res_attrs)
"""The attributes of functions, and of calls, that describe their arguments and results."""


class CallView(OperationView):
    """A `func.call`.

    Attributes:
        callee: the name of the function.
    """

    __slots__ = ()

    callee = Symbol("callee")


class CustomCallView(OperationView):
    """A `stablehlo.custom_call`.

    Attributes:
        call_target_name: the target.
        backend_config: the configuration, a string or a dictionary; may be missing.
        api_version: the version of the calling convention, an i32 attribute; may be missing.
        has_side_effect: whether it has a side effect.
        output_operand_aliases: an array of `OutputOperandAlias`; may be missing.
        operand_layouts: the orders of the dimensions of operands in memory; may be missing.
        result_layouts: likewise for the results.
    """

    __slots__ = ()

    call_target_name = Text("call_target_name")
    backend_config = OptionalField(Raw("backend_config"))
    api_version = OptionalField(Raw("api_version"))
    has_side_effect = Boolean("has_side_effect")
    output_operand_aliases = OptionalField(Raw("output_operand_aliases"))
    operand_layouts = Raw("operand_layouts")
    result_layouts = Raw("result_layouts")


class CompositeView(OperationView):
    """A `stablehlo.composite`.

    Attributes:
        decomposition: the name of the function that computes it.
    """

    __slots__ = ()

    decomposition = Symbol("decomposition")


class TupleElementView(OperationView):
    """A `stablehlo.get_tuple_element`.

    Attributes:
        index: the position of the element, an i32 attribute.
    """

    __slots__ = ()

    index = Integer("index")


def symbol_name(symbol: ir.Operation) -> str:
    """Return the name of a function, a mesh or another symbol, without the `@`."""
    return FunctionView(symbol).sym_name


def callee_of(call: ir.Operation) -> str:
    """Return the name of the function that a `func.call` calls."""
    return CallView(call).callee


def function_type_of(function: ir.Operation) -> ir.FunctionType:
    """Return the type of a `func.func`."""
    return FunctionView(function).function_type


def target_of(call: ir.Operation) -> str:
    """Return the target of a `stablehlo.custom_call`."""
    return CustomCallView(call).call_target_name
