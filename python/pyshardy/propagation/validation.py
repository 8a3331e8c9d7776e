# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks for types that propagation does not support."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from pyshardy.propagation.program import Program
from pyshardy.rules import ShardingRuleLookup


def check_types(program: Program, lookup: ShardingRuleLookup) -> None:
    """Check that the results of all operations have static shapes and are not tuples.

    Arguments of functions may have any type.

    Raises:
        PassError: a result has an unsupported type; reports the first such operation.
    """
    doubtful = {
        key
        for key in set(program.types[1:])
        if (tensor := lookup.tensor_type(key)) is None or not tensor.is_static
    }
    if not doubtful:
        return
    types = program.types
    for operation, results in zip(program.operations, program.results, strict=True):
        for value in results:
            if types[value] in doubtful:
                _check(operation, operation.results[value - results.start].type)


def _check(operation: ir.Operation, value_type: ir.Type) -> None:
    if isinstance(value_type, ir.TupleType):
        problem = "Shardy propagation doesn't support tuples: "
    elif isinstance(value_type, ir.ShapedType) and not (
        value_type.has_rank and value_type.has_static_shape
    ):
        problem = "Shardy propagation only supports ranked tensors with a static shape. type: "
    else:
        return
    raise PassError(error(f"{problem}{value_type}", location_of(operation.location)))
