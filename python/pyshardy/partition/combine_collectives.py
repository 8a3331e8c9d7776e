# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-combine-collectives`: few large collectives instead of many small ones.

Each collective waits for the slowest device and for the links. In a local program,

    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]>}> ({ ... add ... })
    %2 = stablehlo.negate %b
    %3 = "stablehlo.all_reduce"(%2) <{replica_groups = dense<[[0, 1]]>}> ({ ... add ... })

becomes

    %2 = stablehlo.negate %b
    %1:2 = "stablehlo.all_reduce"(%a, %2) <{replica_groups = dense<[[0, 1]]>}> ({ ... add ... })
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in
from pyshardy.partition.agreement import shape_of
from pyshardy.partition.sizes import element_bytes

_VARIADIC = frozenset({"stablehlo.all_gather", "stablehlo.all_reduce"})
"""What may have several operands. So may all-to-alls, but to XLA these are parts of one tensor."""

_CHANNEL = "channel_handle"


@dataclass(slots=True)
class _Bundle:
    """Collectives that will be one, at the place of the last.

    Attributes:
        members: the collectives, in the order of the text.
        nbytes: the bytes of their operands.
    """

    members: list[ir.Operation] = field(default_factory=list[ir.Operation])
    nbytes: int = 0


def combine_collectives(function: ir.OpView, *, max_bytes: int = 1 << 25) -> None:
    """Combine the collectives of a local function that don't need each other's results.

    1. All-reduces and all-gathers are combined with those that differ only in the shapes of
       operands, and in the channel.
    2. A bundle takes the place of its last member. It is closed when an operation uses the result
       of a member, also one inside a region, and when its operands would exceed `max_bytes`.

    Args:
        function: the `func.func`, after `sdy-convert-global-to-local`.
        max_bytes: the bytes of the operands of a combined collective on each device.
    """
    bundles = [
        bundle.members
        for operation in operations_in(function)
        for region in operation.regions
        for block in region.blocks
        for bundle in _bundles(block, max_bytes)
        if len(bundle.members) > 1
    ]
    for members in bundles:
        _combine(members)


def _bundles(block: ir.Block, max_bytes: int) -> Iterator[_Bundle]:
    open_bundles: dict[Hashable, _Bundle] = {}
    owners: dict[ir.Value, Hashable] = {}
    for view in block.operations:
        operation = view.operation
        for key in dict.fromkeys(owners[value] for value in _used_by(operation) if value in owners):
            if key in open_bundles:
                yield open_bundles.pop(key)
        if operation.name not in _VARIADIC:
            continue
        key = _kind(operation)
        nbytes = sum(map(_nbytes, operation.operands))
        bundle = open_bundles.setdefault(key, _Bundle())
        if bundle.members and bundle.nbytes + nbytes > max_bytes:
            yield open_bundles.pop(key)
            bundle = open_bundles[key] = _Bundle()
        bundle.members.append(operation)
        bundle.nbytes += nbytes
        # Results of a bundle that is closed already need no watching.
        owners |= dict.fromkeys(operation.results, key)
    yield from open_bundles.values()


def _used_by(operation: ir.Operation) -> Iterator[ir.Value]:
    """The operands of an operation and of those in its regions."""
    for inner in operations_in(operation):
        yield from inner.operands


def _kind(operation: ir.Operation) -> Hashable:
    """What collectives must have in common to be one."""
    attributes = tuple(
        (named, hash(operation.attributes[named]))
        for named in operation.attributes
        if named != _CHANNEL
    )
    bodies = tuple(
        inner.name
        for region in operation.regions
        for block in region.blocks
        for inner in block.operations
    )
    element_types = {ir.ShapedType(value.type).element_type for value in operation.operands}
    return operation.name, attributes, bodies, tuple(map(hash, element_types))


def _nbytes(value: ir.Value) -> int:
    return element_bytes(value) * math.prod(shape_of(value))


def _combine(members: list[ir.Operation]) -> None:
    """Replace collectives by one at the place of the last."""
    last = members[-1]
    operands = [value for member in members for value in member.operands]
    results = [value for member in members for value in member.results]
    with last.location, ir.InsertionPoint(last):
        combined = ir.Operation.create(
            last.name,
            results=[value.type for value in results],
            operands=operands,
            attributes={named: last.attributes[named] for named in last.attributes},
            regions=len(last.regions),
        )
    for empty, region in zip(combined.regions, last.regions, strict=True):
        for block in list(region.blocks):
            block.append_to(empty)
    for old, new in zip(results, combined.results, strict=True):
        old.replace_all_uses_with(new)
    for member in reversed(members):
        member.erase()
