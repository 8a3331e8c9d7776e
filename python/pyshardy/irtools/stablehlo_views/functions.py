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
    Symbols,
    Text,
)


class FunctionView(OperationView):
    """A `func.func`; `sym_name` also serves other symbols."""

    sym_name = Text("the name, without the `@`.")
    sym_visibility = OptionalField(
        Text(), "`public`, `private` or `nested`; public functions may lack it."
    )
    function_type = FunctionTypeField("the types of the arguments and results.")
    arg_attrs = Dictionaries("a dictionary for each argument; empty if no argument has attributes.")
    res_attrs = Dictionaries("likewise for the results.")


INTERFACE = (FunctionView.arg_attrs, FunctionView.res_attrs)
"""The attributes of functions, and of calls, that describe their arguments and results."""


class CallView(OperationView):
    """A `func.call`."""

    callee = Symbol("the name of the function.")


class CustomCallView(OperationView):
    """A `stablehlo.custom_call`."""

    call_target_name = Text("the target.")
    backend_config = OptionalField(
        Raw(), "the configuration, a string or a dictionary; may be missing."
    )
    api_version = OptionalField(
        Raw(), "the version of the calling convention, an i32 attribute; may be missing."
    )
    has_side_effect = Boolean("whether it has a side effect.")
    called_computations = Symbols("the names of the functions that it calls.")
    output_operand_aliases = OptionalField(
        Raw(), "an array of `OutputOperandAlias`; may be missing."
    )
    operand_layouts = Raw("the orders of the dimensions of operands in memory; may be missing.")
    result_layouts = Raw("likewise for the results.")


class CompositeView(OperationView):
    """A `stablehlo.composite`."""

    decomposition = Symbol("the name of the function that computes it.")


class TupleElementView(OperationView):
    """A `stablehlo.get_tuple_element`."""

    index = Integer("the position of the element, an i32 attribute.")


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
