# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-sharding-group-import`: check, merge and renumber sharding groups.

1. Members of a group must have the same shape, and must all be added in the body of the same
   manual computation, or all outside of any.
2. Groups with a common member are merged.
3. The groups are numbered by the order of their original ids, each group by the id that
   `DisjointSets` keeps as its representative: values are processed in the order in which they
   are first added to a group, and the ids of each value in the order of the text.
4. A value is added to its group once: later duplicates are erased.

With `%a` in 5, `%c` in 7, `%b` in 3 and then in 5, the group of `%c` is 0, the other one 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from mlir_sdy import sdy
from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.op_classes import view_as
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_Element = TypeVar("_Element", bound=Hashable)


@register_pass("sdy-sharding-group-import", release="0.10.2")
def sharding_group_import(module: ir.Module) -> Changes:
    """Verify, merge and renumber sharding groups.

    Makes the sharding groups of a module disjoint: merges groups that share a value, renumbers the
    groups from 0, and removes duplicate memberships.

    All values of a group must have the same shape, and must be members within the same manual
    computation or all outside of manual computations.

    ```mlir
    sdy.sharding_group %a group_id=7 : tensor<8xf32>
    sdy.sharding_group %a group_id=9 : tensor<8xf32>
    sdy.sharding_group %b group_id=9 : tensor<8xf32>
    ```

    becomes

    ```mlir
    sdy.sharding_group %a group_id=0 : tensor<8xf32>
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    ```

    Raises:
        PassError: a group violates rule 1. The module is not changed then.
    """
    groups = operations_named({"sdy.sharding_group"}, module)
    _check(groups)
    ids_of_values: dict[ir.Value, list[int]] = {}
    for group in groups:
        ids_of_values.setdefault(group.operands[0], []).append(_id_of(group))
    classes = DisjointSets[int]()
    for first, *others in ids_of_values.values():
        classes.add(first)
        for other in others:
            classes.unite(first, other)
    numbers = {representative: index for index, representative in enumerate(classes)}
    i64 = ir.IntegerType.get_signless(64, module.context)
    attributes = {number: ir.IntegerAttr.get(i64, number) for number in numbers.values()}
    seen: set[ir.Value] = set()
    for group in groups:
        value = group.operands[0]
        if value in seen:
            group.erase()
        else:
            seen.add(value)
            view_as(sdy.ShardingGroupOp, group).group_id = attributes[
                numbers[classes.find(_id_of(group))]
            ]
    return Changes()


def _id_of(group: ir.Operation) -> int:
    return view_as(sdy.ShardingGroupOp, group).group_id.value


def _check(groups: list[ir.Operation]) -> None:
    first_members: dict[int, tuple[ir.Operation, tuple[ir.Operation, ...]]] = {}
    for group in groups:
        computation = _manual_computation_around(group)
        first, expected = first_members.setdefault(_id_of(group), (group, computation))
        if computation != expected:
            _refuse("cannot cross ManualComputationOp boundaries", group, first)
        shape = ir.ShapedType(group.operands[0].type).shape
        if shape != ir.ShapedType(first.operands[0].type).shape:
            _refuse("must have the same shape", group, first)


def _refuse(rule: str, group: ir.Operation, first: ir.Operation) -> None:
    message = f"ShardingGroupOps values {rule} for groupId: {_id_of(group)}"
    member = note(
        f"another member, of type {first.operands[0].type}, is here; "
        f"the one of type {group.operands[0].type} needs a group of its own",
        location_of(first.location),
    )
    raise PassError(error(message, location_of(group.location), [member]))


def _manual_computation_around(operation: ir.Operation) -> tuple[ir.Operation, ...]:
    """Return the nearest enclosing manual computation in a tuple; empty if there is none.

    Operations of the bindings can't be compared with None.
    """
    parent = operation.parent
    while parent is not None:
        if parent.operation.name == "sdy.manual_computation":
            return (parent.operation,)
        parent = parent.operation.parent
    return ()


class DisjointSets(Generic[_Element]):
    """Disjoint sets, each with an element as its representative.

    After `add(5)`, `add(7)` and `unite(3, 5)` the sets are {7} and {3, 5} with 3 as the latter's
    representative, and iteration gives 7, 3: elements were added in the order 5, 7, 3.
    """

    def __init__(self) -> None:
        self._parents: dict[_Element, _Element] = {}

    def add(self, element: _Element) -> None:
        """Make a new element a set of its own; a known one keeps its set."""
        self._parents.setdefault(element, element)

    def unite(self, first: _Element, second: _Element) -> None:
        """Unite the sets of both elements; the representative is that of `first`."""
        self.add(first)
        self.add(second)
        self._parents[self.find(second)] = self.find(first)

    def find(self, element: _Element) -> _Element:
        """Return the representative of an element's set."""
        parents = self._parents
        while (parent := parents[element]) != element:
            parents[element] = parents[parent]  # Path compression.
            element = parent
        return element

    def __iter__(self) -> Iterator[_Element]:
        """Yield the representatives in the order in which they were added."""
        return (element for element, parent in self._parents.items() if element == parent)
