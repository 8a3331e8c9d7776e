# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verification: attributes, operations, whole modules.

Three moments (the third needs all meshes and so runs on modules only):

1. `operations`: an operation by itself, whenever MLIR verifies.
2. `discardable`, `sharding_rule`, `edges`: `sdy.*` attributes on operations and functions of any
   dialect; `collectives`: what all collectives have in common.
3. `symbol_uses`: operations of the dialect against the meshes that they name.
"""

from __future__ import annotations

from collections.abc import Hashable

from mlir_sdy.diagnostics import Diagnostic, VerificationError
from mlir_sdy.host import diagnostics_of, ir
from mlir_sdy.model import Mesh
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import get_sharding
from mlir_sdy.verify.collectives import COLLECTIVES, verify_collective
from mlir_sdy.verify.discardable import verify_function, verify_sharding_attribute
from mlir_sdy.verify.edges import verify_edges_attribute, verify_edges_list_attribute
from mlir_sdy.verify.operations import bound_manual_axes
from mlir_sdy.verify.sharding_rule import verify_rule_attribute
from mlir_sdy.verify.symbol_uses import SYMBOL_USE_VERIFIERS
from mlir_sdy.verify.violation import Violation

__all__ = ["verify", "verify_shardings"]


def verify(module: ir.Module | ir.Operation | ir.OpView) -> None:
    """Verify a module as MLIR does, and all that is sdy's in it.

    Raises:
        VerificationError: the first rule that is broken, with its place.
    """
    try:
        module.operation.verify()
    except ir.MLIRError as failure:
        raise VerificationError(*diagnostics_of(failure)) from None
    verify_shardings(module)


def verify_shardings(module: ir.Module | ir.Operation | ir.OpView) -> None:
    """Verify what MLIR does not: `sdy.*` attributes, and the use of meshes.

    Raises:
        VerificationError: the first rule that is broken, with its place.
    """
    _ModuleVerifier().verify(module.operation)


class _ModuleVerifier:
    """One walk over a module; the checks against meshes come after those of attributes."""

    def __init__(self) -> None:
        self._meshes: dict[ir.Operation, dict[str, Mesh]] = {}
        self._meshes_by_parent: dict[ir.Operation | None, dict[str, Mesh]] = {}
        self._passed: set[Hashable] = set()
        self._symbol_uses: list[tuple[int, ir.Operation]] = []
        self._top_level = 0
        self._has_manual_computations = False
        self._failure: Diagnostic | None = None

    def verify(self, root: ir.Operation) -> None:
        root.walk(self._visit, ir.WalkOrder.PRE_ORDER)
        if self._failure is None:
            # As upstream: functions from last to first, and within one as they stand.
            for _, operation in sorted(self._symbol_uses, key=lambda use: -use[0]):
                check = SYMBOL_USE_VERIFIERS[operation.name]
                if not self._passes(check, operation, self._meshes_around(operation)):
                    break
        if self._failure is not None:
            raise VerificationError(self._failure)

    def _visit(self, operation: ir.Operation) -> ir.WalkResult:
        name = operation.name
        if name.startswith("sdy."):
            if name in SYMBOL_USE_VERIFIERS:
                self._symbol_uses.append((self._top_level, operation))
                self._has_manual_computations |= name == "sdy.manual_computation"
        elif name == "func.func":
            self._top_level += 1
            if not self._passes(verify_function, operation, self._meshes_around(operation)):
                return ir.WalkResult.INTERRUPT
        attributes = operation.attributes
        for entry in attributes:
            if entry.startswith("sdy.") and not self._passes_attribute(
                entry, operation, attributes[entry]
            ):
                return ir.WalkResult.INTERRUPT
        if name in COLLECTIVES and not self._passes_collective(operation):
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    def _passes_attribute(
        self, name: str, operation: ir.Operation, attribute: ir.Attribute
    ) -> bool:
        match name:
            case "sdy.sharding":
                return self._passes_sharding(operation, attribute)
            case "sdy.sharding_rule":
                return self._passes(verify_rule_attribute, operation, attribute)
            case "sdy.propagation_edges":
                meshes = self._meshes_around(operation)
                return self._passes(verify_edges_attribute, operation, attribute, meshes)
            case "sdy.result_propagation_edges" | "sdy.block_arg_propagation_edges":
                return self._passes(verify_edges_list_attribute, operation, attribute)
            case _:
                return True

    def _passes_sharding(self, operation: ir.Operation, attribute: ir.Attribute) -> bool:
        """Check `sdy.sharding`: large programs repeat few of them on values of few types."""
        meshes = self._meshes_around(operation)
        manual_axes = bound_manual_axes(operation) if self._has_manual_computations else {}
        types = [result.type for result in operation.results]
        key = attribute, *types, id(meshes), *manual_axes
        if key in self._passed:
            return True
        check = verify_sharding_attribute
        passed = self._passes(check, operation, attribute, types, meshes, manual_axes)
        if passed:
            self._passed.add(key)
        return passed

    def _passes_collective(self, operation: ir.Operation) -> bool:
        meshes = self._meshes_around(operation)
        manual_axes = bound_manual_axes(operation) if self._has_manual_computations else {}
        source = get_sharding(operation.operands[0])
        result = operation.attributes["out_sharding"]
        value_type = operation.results[0].type
        key = operation.name, source, result, value_type, id(meshes), *manual_axes
        if key in self._passed:
            return True
        passed = self._passes(verify_collective, operation, source, meshes, manual_axes)
        if passed:
            self._passed.add(key)
        return passed

    def _meshes_around(self, operation: ir.Operation) -> dict[str, Mesh]:
        parent = operation.parent
        meshes = self._meshes_by_parent.get(parent)
        if meshes is None:
            module = enclosing_module(operation)
            if module is None:
                return {}
            meshes = self._meshes.get(module)
            if meshes is None:
                meshes = self._meshes[module] = meshes_of(module)
            if operation.name != "builtin.module":  # whose own meshes are not those around it
                self._meshes_by_parent[parent] = meshes
        return meshes

    def _passes(self, check: object, operation: ir.Operation, *arguments: object) -> bool:
        try:
            check(operation, *arguments)  # type: ignore[operator]
        except Violation as violation:
            self._failure = violation.diagnostic(operation)
        return self._failure is None
