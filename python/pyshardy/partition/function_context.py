# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The common set-up of passes over a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.symbols import enclosing_module, meshes_of
from pyshardy.partition.op_facts.sharding_cache import ShardingCache
from pyshardy.rules import ShardingRuleLookup


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
