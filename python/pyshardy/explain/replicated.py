# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a program that waste most memory by being replicated.

1. A value wastes memory if an axis with several devices shards none of its dimensions, and one of
   them could carry the axis: with it, each device would hold a part of what it holds now.
2. The bytes saved are those of a device's shard now less those with all such axes together, as far
   as the sizes allow.
3. Values whose names differ in numbers only, with equal shapes, shardings and reasons up to these
   numbers, are one row: `layers.*.w`, 32 times. Rows are sorted by the bytes saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy.model import TensorSharding
from pyshardy.display import Displayed, Table
from pyshardy.explain.reasons import ProgramReasons, Reason
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.propagation.debugging.reasons import ReasonKind, tensors_of
from pyshardy.propagation.program import DATA_FLOW_EDGE

_NUMBER = re.compile(r"\d+")

_ONLY_SHARDED = frozenset({ReasonKind.SHARDED, ReasonKind.MANUAL, ReasonKind.INDIVISIBLE})
"""The reasons of axes that couldn't save memory."""


@dataclass(frozen=True)
class ReplicatedValue:
    """Values of equal layers that are replicated along axes.

    Attributes:
        name: the name of the value, with `*` for numbers in which the values differ.
        count: the number of values.
        spec: the global type of each value.
        sharding: its sharding, or None.
        axes: the axes that could shard it.
        nbytes_saved: the bytes that each device would save by them, for all values together.
        reason: the reason of the first axis, for the first value.
    """

    name: str
    count: int
    spec: TensorSpec
    sharding: TensorSharding | None
    axes: tuple[str, ...]
    nbytes_saved: int
    reason: Reason


class ReplicatedValues(Sequence[ReplicatedValue], Displayed):
    """The values that waste most memory by being replicated, the worst first.

    Args:
        items: the values.
    """

    def __init__(self, items: Iterable[ReplicatedValue]):
        self._items = tuple(items)

    def __getitem__(self, index: int) -> ReplicatedValue:  # type: ignore[override]
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def summary(self) -> str:
        """Return the number of groups, and the bytes that each device would save."""
        nbytes = sum(each.nbytes_saved for each in self._items)
        return f"{len(self._items)} groups of replicated values, {nbytes:,} bytes on each device"

    def tables(self) -> list[Table]:
        """Return a table of the groups."""
        rows = [
            (
                each.name,
                each.spec,
                ", ".join(each.axes),
                f"{each.reason.kind}: {each.reason.text}",
                "" if each.reason.remedy is None else each.reason.remedy.text,
                each.count,
                f"{each.nbytes_saved:,}",
            )
            for each in self._items
        ]
        headings = ("value", "global", "not sharded by", "reason", "remedy", "count", "bytes saved")
        title = "Largest replicated values (bytes that sharding would save on each device)"
        return [Table(title, headings, rows, num_numeric=2)]


def replicated_values(reasons: ProgramReasons, count: int) -> ReplicatedValues:
    """Return the groups of values that would save most bytes by being sharded.

    Args:
        reasons: the reasons of the program.
        count: the number of groups.
    """
    groups: dict[object, list[tuple[int, tuple[str, ...], int]]] = {}
    record, finder = reasons.record, reasons.finder
    program = record.engine.program
    for slot in tensors_of(record):
        maker = program.makers[slot]
        if program.names[maker] == DATA_FLOW_EDGE or program.is_result_of_function(slot):
            continue  # they are there as operands and as returned values
        tensor = record.tensor_type(slot)
        if tensor is None or not tensor.is_static:
            continue
        axes = [
            axis
            for axis in finder.axes(slot)
            if finder.reason(slot, axis).kind not in _ONLY_SHARDED
            and any(finder.can_carry(slot, dim, axis) for dim in range(tensor.rank))
        ]
        spec = TensorSpec(tensor.shape, tensor.element_type)
        saved = _saved(spec, finder.free_sizes(slot), [finder.size(slot, axis) for axis in axes])
        if saved:
            kinds = tuple(finder.reason(slot, axis).kind for axis in axes)
            name = _NUMBER.sub("*", record.tensor(slot).description)
            key = name, spec, finder.sharding(slot), tuple(axes), kinds
            groups.setdefault(key, []).append((slot, tuple(axes), saved))
    ordered = sorted(groups.values(), key=lambda group: -sum(saved for _, _, saved in group))
    return ReplicatedValues(_row(reasons, group) for group in ordered[:count])


def _row(
    reasons: ProgramReasons, group: Sequence[tuple[int, tuple[str, ...], int]]
) -> ReplicatedValue:
    record = reasons.record
    slot, axes, _ = group[0]
    names = list(dict.fromkeys(record.tensor(each).description for each, _, _ in group))
    tensor = record.tensor_type(slot)
    assert tensor is not None, "the group has tensors only"
    return ReplicatedValue(
        names[0] if len(names) == 1 else _NUMBER.sub("*", names[0]),
        len(group),
        TensorSpec(tensor.shape, tensor.element_type),
        reasons.finder.sharding(slot),
        axes,
        sum(saved for _, _, saved in group),
        reasons.of_tensor(slot)[axes[0]],
    )


def _saved(spec: TensorSpec, free_sizes: Sequence[int], counts: Sequence[int]) -> int:
    """Return the bytes that a device saves if each axis shards a dimension that it divides."""
    sizes = list(free_sizes)
    for count in sorted(counts, reverse=True):
        dim = next((at for at, size in enumerate(sizes) if size > 1 and size % count == 0), None)
        if dim is not None:
            sizes[dim] //= count
    return spec.with_shape(tuple(free_sizes)).nbytes - spec.with_shape(tuple(sizes)).nbytes
