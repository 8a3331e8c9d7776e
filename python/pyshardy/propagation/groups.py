# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding groups: values whose shardings are kept equal.

Before propagation the shardings of each group of several members are reconciled:

1. Members without a sharding, or with a fully open one without axes, are ignored.
2. If all others are equal, every member gets that sharding.
3. If two differ, each member is constrained to a fully open sharding, which replaces the member in
   the group and in all its uses, with a warning.

During propagation, each new sharding of a member is copied to the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, emit, error, note, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import get_sharding, rank_of, set_sharding
from pyshardy.propagation.program import NOWHERE, Program


def sharding_groups(program: Program) -> dict[int, list[int]]:
    """Return the members of each group in the order of the text by the id of the group, in order.

    Raises:
        PassError: a value is in two groups, or a group has values of different ranks.
    """
    members: defaultdict[int, list[int]] = defaultdict(list)
    group_of: dict[int, int] = {}
    first: dict[int, ir.Operation] = {}  # the operation with the first member of each group
    for operation in program.groups:
        (value,) = program.operands[operation]
        joins = program.operations[operation]
        group = _group_id(joins)
        if group_of.setdefault(value, group) != group:
            message = (
                f"the value is in sharding groups {group_of[value]} and {group}; "
                "merge groups that overlap by sdy-sharding-group-import"
            )
            raise PassError(error(message, location_of(joins.location)))
        _check_ranks(first.setdefault(group, joins), joins)
        if value not in members[group]:
            members[group].append(value)
    return dict(sorted(members.items()))


def _check_ranks(first: ir.Operation, other: ir.Operation) -> None:
    """Check that the members of a group have equal ranks, since they share a sharding."""
    types = [member.operands[0].type for member in (first, other)]
    if rank_of(types[0]) == rank_of(types[1]):
        return
    group = _group_id(first)
    raise PassError(
        error(
            f"sharding group {group} has values of different ranks, {types[0]} and {types[1]}, "
            "which can't have the same sharding; put them into different groups",
            location_of(other.location),
            [note(f"the group starts with a {types[0]} here", location_of(first.location))],
        )
    )


def slots_in_groups(program: Program) -> dict[int, tuple[int, ...]]:
    """Map the slot of a member of a group to the slots of the other members, in order."""
    others: dict[int, tuple[int, ...]] = {}
    for members in sharding_groups(program).values():
        slots = [program.slots[value] for value in members]
        for slot in slots:
            if slot != NOWHERE:
                others[slot] = tuple(other for other in slots if other not in (slot, NOWHERE))
    return others


def synchronize_groups(program: Program) -> bool:
    """Reconcile the shardings of each group in the IR; return whether anything changed.

    Raises:
        PassError: a value is in two groups, or a group has values of different ranks.
    """
    cache = AttributeCache(program.module.context)
    changed = False
    for group, members in sharding_groups(program).items():
        if len(members) < 2:
            continue
        values = [program.value(member) for member in members]
        shardings = [get_sharding(value) for value in values]
        given = [
            sharding
            for sharding in shardings
            if sharding is not None and not sharding.is_fully_replicated_and_open
        ]
        if not given:
            continue
        if all(sharding == given[0] for sharding in given):
            for value, sharding in zip(values, shardings, strict=True):
                if sharding != given[0]:
                    set_sharding(value, given[0], cache)
                    changed = True
        else:
            other = next(sharding for sharding in given if sharding != given[0])
            _warn(group, values[0], given[0], other)
            _constrain(values, given[0], cache)
            changed = True
    return changed


def _warn(group: int, value: ir.Value, first: TensorSharding, other: TensorSharding) -> None:
    """Warn about two shardings of a group, of which `value` is the first member."""
    message = (
        f"The initial operand shardings on the sharding groups of groupID: {group} do not match. "
        "Inserting an open sharding constraint to all constrained values. This can be caused when "
        "shardings from different values are grouped (e.g. from jax.shard_alike) but have separate "
        f"inconsistent sharding constraints on them. They include {first} and {other}."
    )
    emit(warning(message, location_of(_owner(value).location)))


def _constrain(values: Sequence[ir.Value], first: TensorSharding, cache: AttributeCache) -> None:
    """Constrain each value to a fully open sharding on the mesh of a sharding."""
    for value in values:
        if isinstance(value, ir.BlockArgument):
            place = ir.InsertionPoint.at_block_begin(value.owner)
        else:
            place = ir.InsertionPoint.after(value.owner)
        opened = TensorSharding.fully_open(rank_of(value.type), first.mesh_or_ref)
        constraint = sdy.ShardingConstraintOp(value, cache[opened], loc=value.location, ip=place)
        value.replace_all_uses_except(constraint.result, constraint.operation)


def _owner(value: ir.Value) -> ir.Operation:
    owner = value.owner
    return (owner.owner if isinstance(value, ir.BlockArgument) else owner).operation


def _group_id(member: ir.Operation) -> int:
    return view_as(sdy.ShardingGroupOp, member).group_id.value
