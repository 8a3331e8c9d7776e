# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-partition` of upstream, with errors where it would be incorrect.

Not supported are

1. a dimension that doesn't divide evenly: its remainder would be lost;
2. a reshard that upstream converts incorrectly (see `reshards`);
3. a body of linalg that reads its indices, which would be those of a shard;
4. a matrix product of tosa along a sharded dimension, whose sums would stay partial.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from mlir_sdy.host import ir, passmanager
from mlir_sdy.shard.reading import grids_of, read_sharding
from mlir_sdy.shard.values import Axes, Grid, GridSharding
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.traversal import operations_in
from pyshardy.pipeline import register_pass
from pyshardy.shard.errors import refusal

_WHERE = "upstream's 'shard-partition' would generate wrong code"
_FIX = "run 'convert-shard-to-sdy' and partition by 'sdy-partition-pipeline'"
_CONTRACTIONS = {"tosa.matmul": ((0, 2), (1, 1))}
"""Contracted operand dimensions of operations that don't declare them to upstream."""


@register_pass("shard-partition", anchor="func.func")
def shard_partition(function: ir.OpView) -> None:
    """Run upstream's partitioning by annotations if it is correct.

    Runs upstream's pass for functions of linalg, tosa and tensor operations. Programs that upstream
    partitions incorrectly are errors: uneven dimensions, some reshards, `linalg.index`, and
    `tosa.matmul` with a sharded contracting dimension.

    Raises:
        PassError: the function contains one of these.
    """
    operation = function.operation
    module = enclosing_module(operation)
    grids = {} if module is None else grids_of(module)
    annotations = [
        view.operation for view in operations_in(operation) if view.operation.name == "shard.shard"
    ]
    for annotation in annotations:
        sharding = _sharding(annotation)
        if sharding is not None and sharding.grid in grids:
            _check_evenness(annotation, sharding, grids[sharding.grid])
            _check_reshard(annotation, sharding)
    if annotations:
        _check_operations(operation)
    passmanager.PassManager.parse("func.func(shard-partition)").run(operation)


def _sharding(annotation: ir.Operation) -> GridSharding | None:
    definition = annotation.operands[1].owner
    if isinstance(definition, ir.Block) or definition.operation.name != "shard.sharding":
        return None
    return read_sharding(definition.operation)


def _check_evenness(annotation: ir.Operation, sharding: GridSharding, grid: Grid) -> None:
    shape = ir.RankedTensorType(annotation.operands[0].type).shape
    for dim in sharding.split_dims if not sharding.sharded_dims_offsets else ():
        num_shards = grid.axes_size(sharding.split_axes[dim]) if grid.is_static else 1
        if shape[dim] >= 0 and shape[dim] % num_shards:
            reason = (
                f"dimension {dim} of size {shape[dim]} is not divisible by {num_shards}; {_FIX}"
            )
            raise refusal(_WHERE, reason, annotation)


def _check_reshard(annotation: ir.Operation, target: GridSharding) -> None:
    made = annotation.operands[0].owner
    if isinstance(made, ir.Block) or made.operation.name != "shard.shard":
        return
    source = _sharding(made.operation)
    if source is None or source.grid != target.grid:
        return
    rank = ir.RankedTensorType(annotation.operands[0].type).rank
    before, after = _axes(source, rank), _axes(target, rank)
    if verdict_on(before, after) is UpstreamOutcome.WRONG:
        shown = f"the reshard from {list(map(list, before))} to {list(map(list, after))}"
        raise refusal(_WHERE, f"of {shown}; {_FIX}", annotation)


def _axes(sharding: GridSharding, rank: int) -> list[Axes]:
    return [sharding.axes(dim) for dim in range(rank)]


def _check_operations(function: ir.Operation) -> None:
    for view in operations_in(function):
        operation = view.operation
        if operation.name == "linalg.index":
            reason = f"'linalg.index' would count from the beginning of each shard; {_FIX}"
            raise refusal(_WHERE, reason, operation)
        for number, dim in _CONTRACTIONS.get(operation.name, ()):
            owner = operation.operands[number].owner
            if isinstance(owner, ir.Block) or owner.operation.name != "shard.shard":
                continue
            sharding = _sharding(owner.operation)
            if sharding is not None and sharding.axes(dim):
                reason = f"sums of '{operation.name}' along a sharded dimension stay partial"
                raise refusal(_WHERE, f"{reason}; {_FIX}", operation)


# --- Reshards that upstream supports -------------------------------------------------------------


class UpstreamOutcome(enum.Enum):
    """The outcome of a reshard in upstream."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


def verdict_on(source: Sequence[Axes], target: Sequence[Axes]) -> UpstreamOutcome:
    """Return upstream's outcome for a reshard; both lists have an entry for each dimension.

    Upstream visits the dimensions once, in order, and applies the first of these that matches:

    1. *move*: the last axis of the dimension moves to another dimension, before the axes there.
       Incorrect if that dimension has axes, since it is appended after these.
    2. *split*: the dimension is split along one more axis. Incorrect if another dimension is
       currently split along that axis, since each device slices different data.
    3. *unsplit*: the last axes of the dimension are gathered.

    If the result isn't the target sharding, upstream fails.

    `[[0], []]` to `[[], [0]]` is correct, `[[], [0]]` to `[[0], []]` incorrect, and `[[0]]` to
    `[[1]]` unsupported.
    """
    current = list(source)
    is_right = True
    for dim, wanted in enumerate(target):
        axes = current[dim]
        if axes == wanted:
            continue
        other = _move_target(dim, current, target)
        if other is not None:
            is_right &= not current[other]
            current[dim], current[other] = wanted, target[other]
        elif wanted[:-1] == axes:
            is_right &= all(wanted[-1] not in others for others in current)
            current[dim] = wanted
        elif axes[: len(wanted)] == wanted:
            current[dim] = wanted
    if current != list(target):
        return UpstreamOutcome.UNKNOWN
    return UpstreamOutcome.RIGHT if is_right else UpstreamOutcome.WRONG


def _move_target(dim: int, current: Sequence[Axes], target: Sequence[Axes]) -> int | None:
    """Return the dimension that the last axis of a dimension moves to, or None."""
    axes = current[dim]
    if not axes or axes[:-1] != target[dim]:
        return None
    return next(
        (
            other
            for other in range(len(current))
            if other != dim and target[other] == (axes[-1], *current[other])
        ),
        None,
    )
