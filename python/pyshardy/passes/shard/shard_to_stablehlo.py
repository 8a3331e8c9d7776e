# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-to-stablehlo`: lower collectives of the shard dialect to StableHLO.

A device of StableHLO has the linear index in the grid as its id.

1. Branches around messages are flattened, and values that devices compute from their indices
   are evaluated.
2. Each collective is replaced by its StableHLO form, each pair of messages by a permutation.
3. Integers that depend on the device become tables where tensors or results need them.
4. The grids and the queries are erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import grids_of, is_shard_operation
from mlir_sdy.shard.values import Grid
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.collectives import first_free_channel
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.local.preconditions import check_no_inner_modules
from pyshardy.pipeline import register_pass
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering import collectives as _collectives  # noqa: F401 (registers)
from pyshardy.shard.lowering.builder import LOWERINGS, GridBuilder, check_static
from pyshardy.shard.lowering.device_values import DeviceValues, Table
from pyshardy.shard.lowering.messages import (
    MESSAGES,
    Message,
    flattened,
    lower_integers,
    lower_messages,
    read_message,
)

MakeBuilder = Callable[[ir.Module, Mapping[str, Grid], DeviceValues], GridBuilder]
"""Builds the operations of a module, given its grids and the known values of its integers."""


@register_pass("shard-to-stablehlo")
def shard_to_stablehlo(module: ir.Module, *, replicas: bool = False) -> None:
    """Lower collectives and queries of the shard dialect to StableHLO.

    Lowers a local program with collectives of the `shard` dialect to StableHLO. Grids are replaced
    by device ids: device `i` is the process with the linear index `i`.

    - Values that depend on the device (its indices, those of its neighbors, shapes of shards, and
      integers computed from them) become tables with an entry for each device.
    - `gather` and `reduce` return the result on all devices, not only on the root.
    - A `send` and a `recv` become one `collective_permute` if their partners are known: each
      message that is both sent and received is a pair. An `scf.if` around them is resolved.
    - A device that receives nothing, by `shift` or `recv`, holds zeros.

    ```mlir
    shard.grid @grid(shape = 2x2)
    func.func @f(%a: tensor<2xf32>) -> tensor<4xf32> {
      %0 = shard.all_gather %a on @grid grid_axes = [1] gather_axis = 0
          : tensor<2xf32> -> tensor<4xf32>
    ```

    becomes

    ```mlir
    func.func @f(%a: tensor<2xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0, replica_groups = dense<[[0, 1], [2, 3]]>,
          ...} : (tensor<2xf32>) -> tensor<4xf32>
    ```

    Options:
        replicas: whether devices are replicas of the program rather than partitions.

    Raises:
        PassError: an operation has no static form in StableHLO.
    """

    def make(module: ir.Module, grids: Mapping[str, Grid], values: DeviceValues) -> GridBuilder:
        channel = first_free_channel(module)
        return GridBuilder(grids, values, replicas=replicas, first_channel=channel)

    lower_collectives(module, make)
    for grid in operations_named({"shard.grid"}, module):
        grid.erase()


def lower_collectives(module: ir.Module, make: MakeBuilder) -> None:
    """Lower the collectives and queries of a module by a builder; the grids are kept.

    Args:
        module: a program for one device.
        make: creates the builder for a module, given its grids and the known values of its
            integers.

    Raises:
        PassError: an operation has no static form.
    """
    operations = [view.operation for view in operations_in(module.operation)][1:]
    found = [operation for operation in operations if is_shard_operation(operation)]
    if not found:
        return
    check_no_inner_modules(operations)
    _Lowering(module, found, make).run()


class _Lowering:
    """One run over a module."""

    def __init__(self, module: ir.Module, found: list[ir.Operation], make: MakeBuilder):
        self.module = module
        grids = grids_of(module)
        _check_grids([op for op in found if op.name == "shard.grid"], grids)
        self.found = [op for op in found if op.name != "shard.grid"]
        self.builder = make(module, grids, DeviceValues(grids))
        self.everybody = np.ones(next(iter(grids.values())).size, np.bool_)

    def run(self) -> None:
        messages: list[Message] = []
        lowered: list[ir.Operation] = []
        for position, (operation, takes_part) in enumerate(self._operations()):
            self.builder.device_values.learn(operation)
            if operation.name in MESSAGES:
                messages.append(read_message(operation, position, takes_part, self.builder))
                lowered.append(operation)
            elif operation.name in LOWERINGS:
                self._lower(operation)
                lowered.append(operation)
        lower_messages(messages, self.builder)
        lower_integers(
            [view.operation for view in operations_in(self.module.operation)], self.builder
        )
        self._erase_unused([*lowered, *self.found, *self.builder.device_values.operations])

    def _operations(self) -> Iterator[tuple[ir.Operation, Table]]:
        """Yield all operations inside of functions, with the devices that run them."""
        for view in self.module.body.operations:
            for region in view.operation.regions:
                for block in region.blocks:
                    yield from self._nested(block)

    def _nested(self, block: ir.Block) -> Iterator[tuple[ir.Operation, Table]]:
        for operation, takes_part in flattened(block, self.everybody, self.builder):
            yield operation, takes_part
            for region in operation.regions:
                for inner in region.blocks:
                    yield from self._nested(inner)

    def _lower(self, operation: ir.Operation) -> None:
        check_static(operation)
        with ir.InsertionPoint(operation), operation.location:
            value = LOWERINGS[operation.name](operation, self.builder)
        operation.results[0].replace_all_uses_with(value)

    def _erase_unused(self, operations: Iterable[ir.Operation]) -> None:
        """Erase lowered operations; others must not remain.

        Users come after their operands, so one pass in reverse suffices.
        """
        left = {op: place for place, op in enumerate(operations_in(self.module.operation))}
        ordered = sorted(
            dict.fromkeys(operations), key=lambda operation: left[operation], reverse=True
        )
        for operation in ordered:
            if not any(True for result in operation.results for _ in result.uses):
                operation.erase()
            elif is_shard_operation(operation):
                raise cannot_lower(operation, _why_left(operation))


def _check_grids(operations: list[ir.Operation], grids: Mapping[str, Grid]) -> None:
    sizes: set[int] = set()
    for operation, grid in zip(operations, grids.values(), strict=True):
        if not grid.is_static:
            raise cannot_lower(operation, f"axes of unknown size ({grid}) have no static groups")
        sizes.add(grid.size)
        if len(sizes) > 1:
            counts = " and ".join(map(str, sorted(sizes)))
            raise cannot_lower(operation, f"all grids must have as many devices, not {counts}")


def _why_left(operation: ir.Operation) -> str:
    """Return the reason why an operation on device indices remains."""
    if operation.name == "shard.shard":
        fix = "run 'convert-shard-to-sdy' on the global program, and partition it"
        return f"annotations are for global tensors, but collectives for local ones; {fix}"
    users = {use.owner.operation.name for result in operation.results for use in result.uses}
    if users:
        known = "other integers, shard operations, tensors made of integers, and function results"
        return f"{' and '.join(sorted(users))} can't use its result; supported users are {known}"
    return "it depends on values that are not known before the program runs"
