# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lowering of integers that depend on the device.

StableHLO represents scalars by tensors of rank 0. An integer that is known for each device may be

1. put into a tensor by `tensor.from_elements` or `tensor.splat`;
2. returned from a function, whose result type becomes `tensor<i64>`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.lowering.device_values import Table

_INTO_TENSORS = frozenset({"tensor.from_elements", "tensor.splat"})


def lower_integers(operations: Iterable[ir.Operation], builder: GridBuilder) -> None:
    """Replace the uses of integers that depend on the device.

    Args:
        operations: the operations of the module, in order.
        builder: the builder with the known integers.
    """
    for operation in operations:
        if operation.name in _INTO_TENSORS:
            _into_tensor(operation, builder)
        elif operation.name == "func.return":
            _out_of_function(operation, builder)


def _into_tensor(operation: ir.Operation, builder: GridBuilder) -> None:
    tables = [builder.device_values.table(operand) for operand in operation.operands]
    known = [table for table in tables if table is not None]
    if not known or len(known) < len(tables):
        return
    tensor = ir.RankedTensorType(operation.results[0].type)
    if isinstance(tensor.element_type, ir.IndexType):
        reason = f"{tensor}: StableHLO has no 'index'; cast the elements by 'arith.index_cast'"
        raise cannot_lower(operation, reason)
    with ir.InsertionPoint(operation), operation.location:
        count = math.prod(tensor.shape)
        columns = known * count if operation.name == "tensor.splat" else known
        value = _row(np.stack(columns, axis=1), builder)
        value = builder.convert(builder.reshape(value, tensor.shape), tensor.element_type)
    operation.results[0].replace_all_uses_with(value)
    operation.erase()


def _row(table: np.ndarray, builder: GridBuilder) -> ir.Value:
    """Build the row of a table for the device that runs the program."""
    columns = table.shape[1]
    if (table == table[0]).all():
        return builder.constant(np.ascontiguousarray(table[0]))
    whole = builder.constant(np.ascontiguousarray(table))
    row = builder.slice_dim_at(whole, 0, builder.device_id(), 1)
    return builder.reshape(row, [columns])


def _out_of_function(operation: ir.Operation, builder: GridBuilder) -> None:
    tables: dict[int, Table] = {}
    for number, operand in enumerate(operation.operands):
        table = builder.device_values.table(operand)
        if table is not None:
            tables[number] = table
    if not tables:
        return
    with ir.InsertionPoint(operation), operation.location:
        for number, table in tables.items():
            operation.operands[number] = builder.scalar(table)
    parent = operation.parent
    assert parent is not None, "a return is in a function"
    function = parent.operation
    function_type = function_type_of(function)
    results = [operand.type for operand in operation.operands]
    FunctionView(function).function_type = ir.FunctionType.get(function_type.inputs, results)
