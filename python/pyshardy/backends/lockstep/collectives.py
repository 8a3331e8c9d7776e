# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of StableHLO on NumPy arrays, as its specification defines them.

`exchanged` finds the groups of a collective, and the function that computes its results. Such a
function takes the arrays of the members of one group, in the order of the group, and returns
their results, in the same order. Members with equal results share an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of
from pyshardy.backends.engines import LocalEngine
from pyshardy.irtools.stablehlo_views import (
    AllGatherView,
    AllToAllView,
    CollectiveView,
    ReduceScatterView,
)
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Groups, Layout, process_groups, process_pairs
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.local_program.values import spec_of

Combine = Callable[[Array, Array], Array]
"""Combines two arrays of one shape elementwise, for example adds them."""

_REDUCE_TO_ROOT = "stablehlo.collective_reduce"
Exchange = Callable[[Sequence[Array]], "list[Array]"]
"""Returns the results of the processes of a group for their arrays."""

_SELECTING: dict[str, np.ufunc] = {
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.and": np.bitwise_and,
    "stablehlo.or": np.bitwise_or,
    "stablehlo.xor": np.bitwise_xor,
}
_ARITHMETIC: dict[str, np.ufunc] = {
    "stablehlo.add": np.add,
    "stablehlo.multiply": np.multiply,
}


def all_gather(parts: Sequence[Array], dim: int) -> list[Array]:
    """Concatenate the parts along `dim` for all members."""
    return [np.concatenate(parts, axis=dim)] * len(parts)


def all_reduce(parts: Sequence[Array], combine: Combine) -> list[Array]:
    """Combine the parts, from first to last, for all members."""
    return [reduce(combine, parts)] * len(parts)


def reduce_scatter(parts: Sequence[Array], dim: int, combine: Combine) -> list[Array]:
    """Combine the parts, and split the result along `dim`: member i gets shard i."""
    return np.split(reduce(combine, parts), len(parts), axis=dim)


def all_to_all(
    parts: Sequence[Array], split_dim: int, concat_dim: int, split_count: int
) -> list[Array]:
    """Concatenate for member i along `concat_dim` the i-th split along `split_dim` of each part."""
    pieces = [np.split(part, split_count, axis=split_dim) for part in parts]
    return [
        np.concatenate([pieces[sender][receiver] for sender in range(len(parts))], axis=concat_dim)
        for receiver in range(len(parts))
    ]


def ragged_all_to_all(members: Sequence[Sequence[Array]]) -> list[Array]:
    """Send ranges of rows of all members to all members.

    Args:
        members: for each member its rows, the rows that it returns unless they are overwritten,
            and four vectors: where the ranges that it sends begin, their sizes, where they begin
            in the result of the receiver, and the sizes of those that it gets. With n members and
            k ranges for each, ranges i * k to i * k + k - 1 are for member i.

    Raises:
        ValueError: a range isn't within the rows.
    """
    results = [np.array(before) for _, before, *_ in members]
    for rows, _, *vectors in members:
        begins, sizes, ends = (vector.tolist() for vector in vectors[:3])
        for number, (begin, size, end) in enumerate(zip(begins, sizes, ends, strict=True)):
            target = results[number * len(members) // len(sizes)]
            if min(begin, size, end) < 0 or begin + size > len(rows) or end + size > len(target):
                raise ValueError(
                    f"range {number} of {size} rows, from {begin} to {end}, isn't within the "
                    f"{len(rows)} rows of the operand and the {len(target)} rows of the result"
                )
            target[end : end + size] = rows[begin : begin + size]
    return results


def collective_reduce(parts: Sequence[Array], combine: Combine) -> list[Array]:
    """Combine the parts, from first to last, for the first member; the others get zeros."""
    combined = reduce(combine, parts)
    return [combined, *(np.zeros_like(combined) for _ in parts[1:])]


def collective_broadcast(parts: Sequence[Array]) -> list[Array]:
    """Send the part of the first member to all members."""
    return [parts[0]] * len(parts)


def collective_permute(parts: Sequence[Array], pairs: Sequence[tuple[int, int]]) -> list[Array]:
    """Send the part of the source of each pair to its target; members without a source get zeros.

    Args:
        parts: the arrays of the members.
        pairs: the source and the target of each transfer, as positions in `parts`.
    """
    received: list[Array] = [np.zeros_like(part) for part in parts]
    for source, target in pairs:
        received[target] = parts[source]
    return received


def exchanged(
    operation: ir.Operation, layout: Layout, engine: LocalEngine
) -> tuple[Groups, list[Exchange]]:
    """Return the groups of a collective, and the exchange within each, for every operand.

    Args:
        operation: one of `COLLECTIVES`.
        layout: the replicas and partitions.
        engine: runs reduction bodies that are not a single known operation.
    """
    if operation.name == "stablehlo.collective_permute":
        pairs = process_pairs(operation, layout)
        everybody = (tuple(range(layout.size)),)
        return everybody, [partial(collective_permute, pairs=pairs)]
    groups = process_groups(operation, layout)
    if operation.name == _REDUCE_TO_ROOT and CollectiveView(operation).has_dynamic_root:
        message = "'stablehlo.collective_reduce' op with a dynamic root can't be run"
        raise ExecutionError(error(message, location_of(operation.location)))
    if operation.name in ("stablehlo.all_reduce", "stablehlo.reduce_scatter", _REDUCE_TO_ROOT):
        return groups, _reductions(operation, engine)
    return groups, [_move(operation)] * len(operation.operands)


def _move(operation: ir.Operation) -> Exchange:
    if operation.name == "stablehlo.all_gather":
        return partial(all_gather, dim=AllGatherView(operation).all_gather_dim)
    if operation.name == "stablehlo.all_to_all":
        view = AllToAllView(operation)
        return partial(
            all_to_all,
            split_dim=view.split_dimension,
            concat_dim=view.concat_dimension,
            split_count=view.split_count,
        )
    return collective_broadcast


def _reductions(operation: ir.Operation, engine: LocalEngine) -> list[Exchange]:
    exchanges: list[Exchange] = []
    place = location_of(operation.location)
    for operand, result in zip(operation.operands, operation.results, strict=True):
        spec = spec_of(operand.type, place).with_element(spec_of(result.type, place).element)
        combine = _combination(operation.regions[0], spec, engine)
        if operation.name == "stablehlo.all_reduce":
            exchange = partial(all_reduce, combine=combine)
        elif operation.name == _REDUCE_TO_ROOT:
            exchange = partial(collective_reduce, combine=combine)
        else:
            dim = ReduceScatterView(operation).scatter_dimension
            exchange = partial(reduce_scatter, dim=dim, combine=combine)
        exchanges.append(partial(_after_promotion, exchange, spec.dtype))
    return exchanges


def _after_promotion(
    exchange: Exchange, dtype: np.dtype[np.generic], parts: Sequence[Array]
) -> list[Array]:
    """Convert the operands of a reduction to its result type, which may be wider."""
    return exchange([part.astype(dtype, copy=False) for part in parts])


def _combination(body: ir.Region, spec: TensorSpec, engine: LocalEngine) -> Combine:
    """Return the elementwise function on arrays that `body` defines for two numbers.

    A body of one known operation becomes a NumPy function. The local engine runs any other body as
    a program that maps it over the two arrays. The same applies to arithmetic on element types that
    NumPy lacks, which rounds every result.

    Args:
        body: a region with two scalar arguments that returns one scalar.
        spec: the type of the arrays.
        engine: runs a body that is not a single known operation.
    """
    function = _numpy_function(body.blocks[0], spec)
    if function is None:
        return _evaluated(body, spec, engine)

    def combine(left: Array, right: Array) -> Array:
        with np.errstate(all="ignore"):
            # A function of arrays of rank 0 returns a bare number.
            return np.asarray(function(left, right), dtype=spec.dtype)

    return combine


def _numpy_function(block: ir.Block, spec: TensorSpec) -> np.ufunc | None:
    operations = [view.operation for view in block.operations]
    if len(operations) != 2:
        return None
    operation, terminator = operations
    function = _SELECTING.get(operation.name)
    if function is None and not spec.is_carried:
        function = _ARITHMETIC.get(operation.name)
    takes_both = {*operation.operands} == {*block.arguments}
    is_returned = list(terminator.operands) == list(operation.results)
    return function if takes_both and is_returned else None


def _evaluated(body: ir.Region, spec: TensorSpec, engine: LocalEngine) -> Combine:
    owner = body.owner.operation
    with owner.context, ir.Location.unknown():
        element = spec_of(body.blocks[0].arguments[0].type).element
        inner = spec.with_element(element)
        dims = ", ".join(map(str, range(len(spec.shape))))
        module = ir.Module.parse(
            f"func.func @main(%a: {spec}, %b: {spec}) -> {spec} {{\n"
            f"%l = stablehlo.convert %a : ({spec}) -> {inner}\n"
            f"%r = stablehlo.convert %b : ({spec}) -> {inner}\n"
            f'%m = "stablehlo.map"(%l, %r) ({{\n'
            f"^bb0(%x: tensor<{element}>, %y: tensor<{element}>):\n"
            f"stablehlo.return %x : tensor<{element}>\n"
            f"}}) {{dimensions = array<i64{': ' + dims if dims else ''}>}} : "
            f"({inner}, {inner}) -> {inner}\n"
            f"%o = stablehlo.convert %m : ({inner}) -> {spec}\n"
            f"return %o : {spec}\n}}"
        )
        function = module.body.operations[0]
        mapping = function.regions[0].blocks[0].operations[2].operation
        region = mapping.regions[0]
        copy = owner.clone(ip=False).operation
        region.blocks[0].append_to(copy.regions[0])
        copy.regions[0].blocks[0].append_to(region)
    program = engine.compile(module)

    def combine(left: Array, right: Array) -> Array:
        return program.run([[left, right]])[0][0]

    return combine
