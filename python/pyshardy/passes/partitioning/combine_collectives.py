# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-combine-collectives`: combine small collectives into large ones.

Each collective has a latency and waits for the slowest device.

1. All-reduces and all-gathers are combined with those of their block that differ only in the
   shapes of operands, and in the channel.
2. A collective joins a bundle unless its operands need the result of a member, also through
   other bundles and in regions, or the operands of all would exceed `max_bytes`.
3. A bundle is inserted at its last member. Operations between its members that need a result of
   it are moved after it. Those with effects keep their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import operands_inside
from pyshardy.irtools.plain_operations import keeps_its_place
from pyshardy.irtools.stablehlo_views import CollectiveView
from pyshardy.irtools.tensor_types import tensor_bytes
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Natural

_VARIADIC = frozenset({"stablehlo.all_gather", "stablehlo.all_reduce"})
"""Collectives that may have several operands.

All-to-alls may, too, but XLA takes their operands for parts of one tensor.
"""


@dataclass(slots=True, eq=False)
class _Bundle:
    """Collectives to combine.

    Attributes:
        members: the collectives, in the order of the text.
        nbytes: the bytes of their operands.
        waits_for: the bundles whose results the operands of a member need.
    """

    members: list[ir.Operation] = field(default_factory=list[ir.Operation])
    nbytes: int = 0
    waits_for: dict[_Bundle, None] = field(default_factory=dict["_Bundle", None])


@register_pass("sdy-combine-collectives", anchor="func.func", release="pyshardy")
def combine_collectives(function: ir.OpView, *, max_bytes: Natural = 1 << 25) -> None:
    """Combine independent collectives.

    Merges all-reduces and all-gathers of a local program that differ only in their operands and do
    not depend on each other into one collective, at the position of the last one.

    ```mlir
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]>}> ({ ... })
    %2 = stablehlo.negate %b
    %3 = "stablehlo.all_reduce"(%2) <{replica_groups = dense<[[0, 1]]>}> ({ ... })
    ```

    becomes

    ```mlir
    %2 = stablehlo.negate %b
    %1:2 = "stablehlo.all_reduce"(%a, %2) <{replica_groups = dense<[[0, 1]]>}> ({ ... })
    ```

    Options:
        max_bytes: maximum number of bytes of the operands of a combined collective on each device.
    """
    # All plans come first: the bodies of combined collectives are blocks, too.
    plans = [
        _Plan(block, max_bytes)
        for operation in operations_in(function)
        for region in operation.regions
        for block in region.blocks
    ]
    for plan in plans:
        if any(len(bundle.members) > 1 for bundle in plan.bundles):
            plan.carry_out()


class _Plan:
    """The bundles of a block.

    Args:
        block: the block. It isn't changed before `carry_out`.
        max_bytes: the bytes of the operands of a bundle.

    Attributes:
        bundles: the bundles, by their first members.
    """

    def __init__(self, block: ir.Block, max_bytes: int):
        self.bundles: list[_Bundle] = []
        self._operations = [view.operation for view in block.operations]
        self._bundle_of: dict[ir.Value, _Bundle] = {}  # by the first result of a member
        self._waits: dict[ir.Value, dict[_Bundle, None]] = {}
        open_bundles: dict[Hashable, _Bundle] = {}
        effects: dict[_Bundle, None] = {}
        self._waits_of: list[dict[_Bundle, None]] = []
        for operation in self._operations:
            waits: dict[_Bundle, None] = {}
            for value in operands_inside(operation):
                waits |= self._waits.get(value, {})
            if operation.name in _VARIADIC:
                bundle = self._bundle_for(operation, waits, open_bundles, max_bytes)
                self._bundle_of[operation.results[0]] = bundle
                results = {bundle: None}
            else:
                if _may_have_effects(operation):
                    waits = effects = waits | effects
                results = waits
            self._waits_of.append(waits)
            if results:
                self._waits |= dict.fromkeys(operation.results, results)

    def _bundle_for(
        self,
        operation: ir.Operation,
        waits: dict[_Bundle, None],
        open_bundles: dict[Hashable, _Bundle],
        max_bytes: int,
    ) -> _Bundle:
        """Return the bundle of a collective, which may be a new one."""
        key = _kind(operation)
        nbytes = sum(tensor_bytes(operand.type) for operand in operation.operands)
        bundle = open_bundles.get(key)
        if bundle is None or bundle.nbytes + nbytes > max_bytes or bundle in _closure(waits):
            bundle = open_bundles[key] = _Bundle()
            self.bundles.append(bundle)
        bundle.members.append(operation)
        bundle.nbytes += nbytes
        bundle.waits_for |= waits
        return bundle

    def carry_out(self) -> None:
        """Combine the members of each bundle, and move its users after it."""
        missing = {bundle: len(bundle.members) for bundle in self.bundles}
        done: set[_Bundle] = set()
        place = self._operations[-1]  # the terminator, before which all operations are ordered
        waiting = deque(zip(self._operations[:-1], self._waits_of[:-1], strict=True))
        passed_over: list[tuple[ir.Operation, dict[_Bundle, None]]] = []
        while waiting:
            operation, waits = waiting.popleft()
            if not done.issuperset(waits):
                passed_over.append((operation, waits))
                continue
            operation.move_before(place)
            if operation.name not in _VARIADIC:
                continue
            bundle = self._bundle_of[operation.results[0]]
            missing[bundle] -= 1
            if not missing[bundle]:
                _combine(bundle.members, operation)
                done.add(bundle)
                # Operations that waited come before those that follow in the text, which may need
                # them.
                waiting.extendleft(reversed(passed_over))
                passed_over.clear()


def _closure(bundles: Iterable[_Bundle]) -> dict[_Bundle, None]:
    """Return bundles and all bundles for which they wait."""
    found: dict[_Bundle, None] = {}
    remaining = list(bundles)
    while remaining:
        bundle = remaining.pop()
        if bundle not in found:
            found[bundle] = None
            remaining += bundle.waits_for
    return found


def _may_have_effects(operation: ir.Operation) -> bool:
    """Whether an operation must keep its order among others with effects."""
    return any(keeps_its_place(inner.operation) for inner in operations_in(operation))


def _kind(operation: ir.Operation) -> Hashable:
    """Return a key that collectives must share to be combined."""
    attributes = tuple(
        (name, identity(attribute))
        for name, attribute in operation.attributes.items()
        if name != CollectiveView.channel_handle.name
    )
    bodies = tuple(
        inner.name
        for region in operation.regions
        for block in region.blocks
        for inner in block.operations
    )
    element_types = {ir.ShapedType(value.type).element_type for value in operation.operands}
    return operation.name, attributes, bodies, tuple(map(hash, element_types))


def _combine(members: list[ir.Operation], last: ir.Operation) -> None:
    """Replace several collectives by one at the position of the last."""
    if len(members) == 1:
        return
    operands = [value for member in members for value in member.operands]
    results = [value for member in members for value in member.results]
    with last.location, ir.InsertionPoint(last):
        combined = ir.Operation.create(
            last.name,
            results=[value.type for value in results],
            operands=operands,
            attributes=dict(last.attributes.items()),
            regions=len(last.regions),
        )
    for empty, region in zip(combined.regions, last.regions, strict=True):
        for block in list(region.blocks):
            block.append_to(empty)
    for old, new in zip(results, combined.results, strict=True):
        old.replace_all_uses_with(new)
    for member in reversed(members):
        member.erase()
