# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of operations within a module, which need the meshes and computations around them.

Large programs repeat few combinations of attributes and types many times, so valid ones are cached.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from mlir_sdy.attribute_search import operations_with_any
from mlir_sdy.diagnostics import Part
from mlir_sdy.discardable import CONTRACT
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Mesh
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.traversal import named_operations_in, operations_of
from mlir_sdy.values import get_sharding, result_types_key
from mlir_sdy.verify.collectives import COLLECTIVES, verify_collective
from mlir_sdy.verify.discardable import (
    verify_edges_attribute,
    verify_edges_list_attribute,
    verify_function,
    verify_place_of_contract,
    verify_sharding_attribute,
)
from mlir_sdy.verify.operations import bound_manual_axes
from mlir_sdy.verify.sharding import ManualAxes
from mlir_sdy.verify.sharding_rule import verify_rule_attribute
from mlir_sdy.verify.symbol_uses import SYMBOL_USE_VERIFIERS
from mlir_sdy.verify.violation import inside

WITH_INVARIANTS = frozenset({"func.func", *COLLECTIVES})
"""The operations that `ModuleChecks.check_invariants` checks."""

_SHARDING = "sdy.sharding"

_OTHER_ATTRIBUTES = (
    "sdy.sharding_rule",
    "sdy.propagation_edges",
    "sdy.result_propagation_edges",
    "sdy.block_arg_propagation_edges",
    CONTRACT,
)
"""The other attributes with rules, which few operations have."""

_WITH_SCOPES = frozenset({"builtin.module", "sdy.manual_computation"})
"""The operations whose regions have other meshes or manual axes than those around them."""

_SPECIAL = WITH_INVARIANTS | frozenset(SYMBOL_USE_VERIFIERS)
"""The operations with rules of their own."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The scope of all operations with the same parent.

    Attributes:
        meshes: those of the nearest module.
        manual_axes: those of the manual computations around.
        key: identifies both in the keys of the cache.
    """

    meshes: dict[str, Mesh]
    manual_axes: ManualAxes
    key: Hashable


class ModuleChecks:
    """Checks the operations of a module in turn, while it does not change."""

    def __init__(self) -> None:
        self._meshes: dict[ir.Operation | None, dict[str, Mesh]] = {}
        self._scopes: dict[ir.Operation | None, _Scope] = {}
        self._passed: set[Hashable] = set()

    def check_all(self, root: ir.Operation) -> None:
        """Check an operation and all those inside, in any order.

        Raises:
            Violation: a rule that is broken.
        """
        operations = named_operations_in(root)
        scopes = sum(1 for _, name in operations if name in _WITH_SCOPES)
        has_one_scope = scopes <= 1 and operations[0][1] in _WITH_SCOPES
        passed: set[Hashable] = set()
        for operation, name in operations:
            sharding = operation.attributes.get(_SHARDING)
            if sharding is not None:
                types = result_types_key(operation)
                scope = None if has_one_scope else self._scope(operation).key
                key = identity(sharding), types, scope
                if key not in passed:
                    self._check_attribute(_SHARDING, operation, sharding)
                    passed.add(key)
            if name in _SPECIAL:
                self.check_invariants(operation)
                self.check_symbol_uses(operation)
        for operation in (root, *operations_with_any(_OTHER_ATTRIBUTES, root)):
            self.check_attributes(operation)

    def check_given(self, root: ir.Operation) -> None:
        """Check what `check_all` does; faster if few operations have attributes with rules.

        Raises:
            Violation: a rule that is broken.
        """
        for operation in (root, *operations_with_any((_SHARDING, *_OTHER_ATTRIBUTES), root)):
            self.check_attributes(operation)
        for operation in operations_of(_SPECIAL, root):
            self.check_invariants(operation)
            self.check_symbol_uses(operation)

    def check_attributes(self, operation: ir.Operation) -> None:
        """Check the `sdy.*` attributes of an operation, in the order of their names.

        Raises:
            Violation: the first rule that is broken.
        """
        attributes = operation.attributes
        for name in attributes:
            if name.startswith("sdy."):
                self._check_attribute(name, operation, attributes[name])

    def _check_attribute(self, name: str, operation: ir.Operation, attribute: ir.Attribute) -> None:
        match name:
            case "sdy.sharding":
                scope = self._scope(operation)
                types = tuple(operation.results.types)
                key = attribute, types, scope.key
                if key not in self._passed:
                    verify_sharding_attribute(attribute, types, scope.meshes, scope.manual_axes)
                    self._passed.add(key)
            case "sdy.sharding_rule":
                operand_types = tuple([operand.type for operand in operation.operands])
                result_types = tuple(operation.results.types)
                key = attribute, operand_types, result_types
                if key not in self._passed:
                    with inside(Part("attribute", name)):
                        verify_rule_attribute(attribute, operand_types, result_types)
                    self._passed.add(key)
            case "sdy.propagation_edges":
                with inside(Part("attribute", name)):
                    verify_edges_attribute(operation, attribute, self._scope(operation).meshes)
            case "sdy.result_propagation_edges" | "sdy.block_arg_propagation_edges":
                with inside(Part("attribute", name)):
                    verify_edges_list_attribute(attribute)
            case "sdy.contract":
                verify_place_of_contract(operation)
            case _:
                pass  # any other name is allowed

    def check_invariants(self, operation: ir.Operation) -> None:
        """Check the rules that upstream checks together with the invariants of an operation.

        Raises:
            Violation: the first rule that is broken.
        """
        name = operation.name
        if name == "func.func":
            verify_function(operation, self._scope(operation).meshes)
        elif name in COLLECTIVES:
            self._check_collective(name, operation)

    def _check_collective(self, name: str, operation: ir.Operation) -> None:
        scope = self._scope(operation)
        source = get_sharding(operation.operands[0])
        result = operation.attributes["out_sharding"]
        key = name, source, result, operation.results[0].type, scope.key
        if key not in self._passed:
            verify_collective(operation, source, scope.meshes, scope.manual_axes)
            self._passed.add(key)

    def check_symbol_uses(self, operation: ir.Operation) -> None:
        """Check an operation of the dialect against the meshes that it names.

        Raises:
            Violation: the first rule that is broken.
        """
        check = SYMBOL_USE_VERIFIERS.get(operation.name)
        if check is not None:
            check(operation, self._scope(operation).meshes)

    def _scope(self, operation: ir.Operation) -> _Scope:
        parent = operation.parent
        scope = self._scopes.get(parent)
        if scope is None:
            meshes = self._meshes_of(enclosing_module(operation))
            manual_axes = bound_manual_axes(operation)
            scope = _Scope(meshes, manual_axes, (id(meshes), *manual_axes))
            if operation.name != "builtin.module":  # whose own meshes are not those around it
                self._scopes[parent] = scope
        return scope

    def _meshes_of(self, module: ir.Operation | None) -> dict[str, Mesh]:
        meshes = self._meshes.get(module)
        if meshes is None:
            meshes = self._meshes[module] = {} if module is None else meshes_of(module)
        return meshes
