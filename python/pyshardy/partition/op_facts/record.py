# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of an operation: all that the partitioner knows of operations of its name.

The records are in `partition/records/`, one family of operations per file, whose `RECORDS` maps
names to records. The files are found by their place, and read when the first record is looked up.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, ReductionOp, TensorSharding
from pyshardy.rules.signature import OperationSignature, TensorType

if TYPE_CHECKING:
    from pyshardy.cost.op_work import WorkFunction
    from pyshardy.irtools.stablehlo_views.fields import FieldValues
    from pyshardy.partition.types.exchange_plan import ExchangeForm
    from pyshardy.partition.types.local_builder import LocalBuilder
    from pyshardy.partition.types.padding_builder import Content, PaddingBuilder


_FAMILIES = "pyshardy.partition.records"


# --- The values of the fields -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Completion:
    """The completion of partial results.

    Attributes:
        kinds: for each result the kind of the all-reduce after the operation; none if the operation
            completes its results itself.
    """

    kinds: tuple[ReductionOp, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether the local form of the operation completes it."""
        return not self.kinds


@dataclass(frozen=True, slots=True)
class Linearity:
    """The operands of an operation that may be partial, so that its results are partial.

    Attributes:
        operands: their positions.
        together: whether all of them have to be partial; otherwise exactly one of them.
    """

    operands: tuple[int, ...]
    together: bool


Neutral = ir.Value | ir.DenseElementsAttr | int
"""A scalar: an existing value, a constant, or a number of the element type of an operand."""


@dataclass(frozen=True, slots=True)
class PaddingMask:
    """Padding of an operand that has to be overwritten.

    Attributes:
        operand: the position of the operand.
        dims: its dimensions.
        neutral: the scalar to write.
    """

    operand: int
    dims: Sequence[int]
    neutral: Neutral


Conversion = Callable[[ir.Operation, "LocalBuilder"], None]
"""Replaces an operation by its local form, or changes it in place."""

ContentShape = Callable[[ir.Value], "Content"]
"""Returns the shape of a value without its padding."""


@dataclass(frozen=True, slots=True)
class SlicedOff:
    """The elements that a slice with strides of 1 leaves out, for each dimension.

    Attributes:
        before: the number of elements at the beginning.
        behind: the number of elements at the end.
    """

    before: tuple[int, ...]
    behind: tuple[int, ...]


def rule_on_shards(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return the rule by which an operation is partitioned: its sharding rule, or a wider one."""
    widen = record_of(operation.name).rule_on_shards
    return rule if widen is None or rule.is_custom_rule else widen(operation, rule)


def signature_of(operation: ir.Operation) -> OperationSignature:
    """Return the signature of an operation, from which rules are built."""
    operands, results = (
        tuple(TensorType.of(value.type) for value in values)
        for values in (operation.operands, operation.results)
    )
    return OperationSignature(operation.name, operands, results, operation)


# --- The record ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecord:
    """All that the partitioner knows of operations of one name.

    Fields that are not given mean that nothing is special: operations have no local form, so that
    their operands are replicated; they have no halo exchange, and no partial results.

    Attributes:
        rule_on_shards: returns the rule by which an operation is partitioned, given its sharding
            rule, which determines propagation and is that of Shardy. It differs where the local
            form can be sharded along a dimension that has to be replicated by the sharding rule.
        blocked_factors: yields factors of the rule that must not be sharded, besides those that
            need replication, are permuted, or have no completion.
        completion: returns the completion of an operation whose reduced factors are sharded, or
            None if it can't be completed.
        linearity: returns the operands that may be partial with a kind of reduction, so that the
            results are partial; None if none may.
        linear_operands: returns the operands that the operation is linear in, each by itself, for
            sums: an all-reduce of the operand can be moved after the operation.
        halo_form: returns the exchange form of an operation with a rule; None if it has none.
        merge_slice: returns new values of attributes with which the operation takes the operands of
            slices that precede it in the local program of an exchange; None if it can't.
        local_form: replaces the operation by its local form, or changes it in place. It is called
            when the operands and results have their local types.
        replicated_because: the reason why there is no local form; empty if there is one.
        is_unchanged_locally: whether the operation is its own local form, given the shardings of
            its operands, then results. It is called before anything is converted, and once for
            operations of one signature.
        creates_any_shard: whether each device can compute any shard of the results, as there are no
            operands.
        is_device_dependent: whether results differ between devices that run the same operation, so
            that it is converted even if all types are unchanged.
        fit_sizes: sets the sizes in attributes by the types of operands and results.
        neutral_values: returns the scalars that the padding of reduced dimensions is overwritten
            by, by the position of the operand; None if there are none for a reduction.
        padding_masks: yields other padding that has to be overwritten.
        clamp_indices: clamps the indices into a padded operand.
        unpaddable_factors: yields factors whose dimensions can't be padded, besides blocked ones.
        keeps_padding: whether the operation is valid on its padded operands and results, whatever
            its rule, given the meshes of the module by name.
        resized_at_end: returns for each dimension whether it is only resized at its end.
        work: returns the work of a device; by default, one arithmetic operation for each element of
            the results, and the memory traffic of all operands and results.
    """

    # Sharding
    rule_on_shards: Callable[[ir.Operation, OpShardingRule], OpShardingRule] | None = None
    blocked_factors: Callable[[ir.Operation, OpShardingRule], Iterable[int]] | None = None
    completion: Callable[[ir.Operation], Completion | None] | None = None
    linearity: Callable[[ir.Operation, ReductionOp], Linearity | None] | None = None
    linear_operands: Callable[[ir.Operation], tuple[int, ...]] | None = None
    # Halo exchange
    halo_form: Callable[[ir.Operation, OpShardingRule], ExchangeForm | None] | None = None
    merge_slice: Callable[[ir.Operation, SlicedOff], FieldValues | None] | None = None
    # Local program
    local_form: Conversion | None = None
    replicated_because: str = ""
    is_unchanged_locally: Callable[[ir.Operation, Sequence[TensorSharding | None]], bool] | None = (
        None
    )
    creates_any_shard: bool = False
    is_device_dependent: bool = False
    fit_sizes: Callable[[ir.Operation], None] | None = None
    # Padding
    neutral_values: Callable[[ir.Operation], dict[int, Neutral] | None] | None = None
    padding_masks: Callable[[ir.Operation, ContentShape], Iterable[PaddingMask]] | None = None
    clamp_indices: Callable[[ir.Operation, ContentShape, PaddingBuilder], None] | None = None
    unpaddable_factors: Callable[[ir.Operation, OpShardingRule], Iterable[int]] | None = None
    keeps_padding: Callable[[ir.Operation, Mapping[str, Mesh]], bool] | None = None
    resized_at_end: Callable[[ir.Operation], list[bool]] | None = None
    # Cost
    work: WorkFunction | None = None


_EMPTY = PartitionRecord()


def record_of(name: str) -> PartitionRecord:
    """Return the record of operations of a name; an empty one if there is none."""
    return records().get(name, _EMPTY)


@functools.cache
def records() -> Mapping[str, PartitionRecord]:
    """Return the records of all families by the names of operations.

    Raises:
        ValueError: two families have records of one operation.
    """
    found: dict[str, PartitionRecord] = {}
    for family, of_family in records_by_family().items():
        if twice := found.keys() & of_family.keys():
            raise ValueError(f"{_FAMILIES}.{family}: other records of {', '.join(sorted(twice))}")
        found |= of_family
    return found


def records_by_family() -> Mapping[str, Mapping[str, PartitionRecord]]:
    """Return the records of each file of `partition/records/`, by its name."""
    package = importlib.import_module(_FAMILIES)
    return {
        module.name: importlib.import_module(f"{_FAMILIES}.{module.name}").RECORDS
        for module in pkgutil.iter_modules(package.__path__)
    }


def operations_where(has: Callable[[PartitionRecord], bool]) -> frozenset[str]:
    """Return the names of the operations whose records have some property.

    Example: `operations_where(lambda record: record.is_device_dependent)`.
    """
    return frozenset(name for name, record in records().items() if has(record))
