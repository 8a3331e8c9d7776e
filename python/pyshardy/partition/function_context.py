# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The common set-up of passes over a function."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    OWN_SHARDING,
    argument_shardings,
    get_sharding,
    look_through_barriers,
    result_sharding_attribute,
)
from pyshardy.rules import ShardingRuleLookup

READ_APART = DATA_FLOW_OPERATIONS | OPERATIONS.keys()
"""Operations whose results may have their shardings elsewhere, or before a barrier."""


def sharding_of(value: ir.Value) -> TensorSharding | None:
    """Return the sharding of an operand; that of the input for propagation barriers."""
    return get_sharding(look_through_barriers(value))


class ShardingCache(dict[ir.Value, TensorSharding | None]):
    """A cache of `sharding_of`: `known[value]` reads it the first time.

    It must be updated when a sharding changes (`known[value] = sharding`), and when an operation is
    erased (`forget`), since a new operation may get the same address.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lists: dict[int, tuple[TensorSharding, ...]] = {}

    def __missing__(self, value: ir.Value) -> TensorSharding | None:
        sharding = self[value] = sharding_of(value)
        return sharding

    def read(
        self, operation: ir.Operation, name: str, results: Sequence[ir.Value]
    ) -> Sequence[TensorSharding | None]:
        """Return the shardings of all results; much faster than for each result.

        Args:
            operation: the operation.
            name: its name, which callers have already read.
            results: its results.
        """
        own = OWN_SHARDING.get(name)
        if own is None and name in READ_APART:
            return [self[result] for result in results]
        attribute = result_sharding_attribute(operation, own)
        if attribute is None:
            shardings = (None,) * len(results)
        elif own is not None:
            shardings = (value_of(attribute),)
        else:
            key = identity(attribute)
            shardings = self._lists.get(key)
            if shardings is None:
                shardings = self._lists[key] = value_of(attribute).shardings
        for result, sharding in zip(results, shardings, strict=False):
            self[result] = sharding
        return shardings

    def read_arguments(self, function: ir.Operation) -> None:
        """Read the shardings of a function's arguments; much faster than for each argument."""
        blocks = function.regions[0].blocks
        if len(blocks):
            self.update(zip(blocks[0].arguments, argument_shardings(function), strict=True))

    @property
    def lists(self) -> Collection[tuple[TensorSharding, ...]]:
        """Return the distinct lists of shardings that `read` has found at operations."""
        return self._lists.values()

    def forget(self, operation: ir.Operation) -> None:
        """Drop the shardings of an operation's results, to be read again."""
        for result in operation.results:
            self.pop(result, None)


@dataclass(frozen=True)
class FunctionContext:
    """Symbols, attributes, rules and shardings for a pass over a function or a module.

    Attributes:
        module: the module; None for a function outside of a module.
        meshes: the meshes of the module by name; none outside of a module.
        cache: makes attributes, each once.
        rules: finds the sharding rules of operations.
        shardings: the shardings of values as seen by their users, each read once. A pass that
            changes shardings updates it.
    """

    module: ir.Operation | None
    meshes: Mapping[str, Mesh]
    cache: AttributeCache
    rules: ShardingRuleLookup
    shardings: ShardingCache = field(default_factory=ShardingCache)

    @classmethod
    def of(cls, function: ir.Operation | ir.OpView | ir.Module) -> FunctionContext:
        """Return the context of a function, or of all functions of a module.

        Args:
            function: the `func.func`, or the module.
        """
        operation = function.operation
        module = enclosing_module(operation)
        return cls(
            module,
            {} if module is None else meshes_of(module),
            AttributeCache(operation.context),
            ShardingRuleLookup.shared(operation.context),
        )

    @cached_property
    def symbols(self) -> ir.SymbolTable | None:
        """The symbols of the module; None outside of a module."""
        return None if self.module is None else ir.SymbolTable(self.module)

    def mesh(self, sharding: TensorSharding) -> Mesh:
        """Return the mesh of a sharding; an empty one if undeclared, which the verifier rejects."""
        return mesh_of(sharding, self.meshes) or Mesh()
