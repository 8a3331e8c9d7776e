# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-verify-unreduced-axes`: check where unreduced axes are introduced and removed.

An operand is *blessed* if it is, through propagation barriers, the result of a reshard or a
sharding constraint: these explicitly reduce the axes that the operand lacks.

| operation                                          | introduces      | removes          |
|----------------------------------------------------|-----------------|------------------|
| `sdy.reshard`, `sdy.sharding_constraint`           | any (verifier)  | any (verifier)   |
| `sdy.all_reduce`, `sdy.reduce_scatter`             | none (verifier) | their own (same) |
| `stablehlo.all_reduce`, `stablehlo.reduce_scatter` | none            | that of its body |
| `stablehlo.reduce`                                 | that of its body | none            |
| `stablehlo.dot`, `stablehlo.dot_general`           | sums            | none             |
| calls, returns: by the target shardings            | none            | none             |
| any other but terminators                          | one kind        | none             |

Entries with (verifier) are checked by the verifier of the operation. Of an operation with
several results, all unreduced ones must be of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from mlir_sdy.diagnostics import PassError
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, ReductionOp, TensorSharding, erase_manual_axes, mesh_of
from mlir_sdy.model.axis_lists import AxisTuple, lists_overlap, set_difference
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import (
    argument_shardings,
    get_sharding,
    look_through_barriers,
    manual_axes,
    result_shardings,
    result_shardings_of,
)
from mlir_sdy.verify.violation import ConstraintViolation
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.shardings import any_sharding
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_BLESSED = frozenset({"sdy.reshard", "sdy.sharding_constraint"})
_REDUCTIONS = frozenset({"sdy.all_reduce", "sdy.reduce_scatter"})
_REDUCTIONS_BY_BODY = frozenset({"stablehlo.all_reduce", "stablehlo.reduce_scatter"})
_PRODUCTS = frozenset({"stablehlo.dot", "stablehlo.dot_general"})
_RETURNS = frozenset({"func.return", "sdy.return"})
_BODY_KINDS = {
    "stablehlo.add": ReductionOp.SUM,
    "stablehlo.maximum": ReductionOp.MAX,
    "stablehlo.minimum": ReductionOp.MIN,
}
_Shardings = Sequence[TensorSharding]


@register_pass("sdy-verify-unreduced-axes", anchor="func.func", release="0.12")
def verify_unreduced_axes(function: ir.Operation | ir.OpView) -> Changes:
    """Verify where unreduced axes begin and end.

    An axis that is unreduced in the operands of an operation must be unreduced in its results;
    otherwise a reduction is missing. Only `sdy.reshard`, `sdy.sharding_constraint` and collectives
    may remove an unreduced axis. The results of the first two may be unreduced along any axes. The
    reduction kind of a new unreduced axis is a sum for matrix products, and the reduction in the
    body for `stablehlo.reduce`. All unreduced results of an operation have one kind.

    The unreduced axes of call operands and of values that regions and functions return must equal
    those of the values that they are passed to. The pass changes nothing.

    ```mlir
    // %a is sharded as <@mesh, [{}], unreduced={"x"}>, the result as <@mesh, [{}]>
    %0 = stablehlo.negate %a
    ```

    is an error, while

    ```mlir
    %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
    %1 = stablehlo.negate %0
    ```

    is valid.

    Raises:
        PassError: axes appear or disappear elsewhere, or under another reduction.
    """
    check = _Check(function.operation)
    for operation in check.operations():
        message = check.fault(operation)
        if message is not None:
            raise PassError(ConstraintViolation(message).diagnostic(operation))
    return UNCHANGED


class _Check:
    """The check of one function."""

    def __init__(self, function: ir.Operation):
        self._function = function
        self._module = enclosing_module(function)

    @cached_property
    def _meshes(self) -> Mapping[str, Mesh]:
        return {} if self._module is None else meshes_of(self._module)

    @cached_property
    def _symbols(self) -> Mapping[str, ir.OpView] | ir.SymbolTable:
        return {} if self._module is None else ir.SymbolTable(self._module)

    def _has_unreduced_axes(self) -> bool:
        """Whether a sharding in the function, or of a callee, has unreduced axes, which is rare."""
        if self._module is not None and not any_sharding(self._module, _is_unreduced):
            return False
        return any_sharding(self._function, _is_unreduced) or any(
            sharding is not None and _is_unreduced(sharding)
            for callee in self._callees()
            for sharding in (*argument_shardings(callee), *result_shardings(callee))
        )

    def _callees(self) -> Iterable[ir.Operation]:
        calls = operations_named({"func.call"}, self._function)
        return [
            self._symbols[name].operation
            for name in {callee_of(call) for call in calls}
            if name in self._symbols
        ]

    def operations(self) -> list[ir.Operation]:
        """Return the operations in the function to check, inner ones first."""
        if not self._has_unreduced_axes():
            return operations_named(_REDUCTIONS, self._function, ir.WalkOrder.POST_ORDER)
        found: list[ir.Operation] = []

        def collect(operation: ir.Operation) -> ir.WalkResult:
            if operation != self._function:
                found.append(operation)
            return ir.WalkResult.ADVANCE

        self._function.walk(collect, ir.WalkOrder.POST_ORDER)
        return found

    def fault(self, operation: ir.Operation) -> str | None:
        """Return an error about an operation; None if there is none."""
        name = operation.name
        if name in _BLESSED or name == "sdy.propagation_barrier":
            return None
        if name in _REDUCTIONS:
            is_sharded = _sharding(operation.operands[0]) is not None
            return None if is_sharded else "operand must be sharded."
        if name == "func.call":
            return self._fault_of_call(operation)
        if name in _RETURNS:
            return _fault_of_return(operation)
        if operation.has_trait(ir.IsTerminatorTrait):
            return None
        if name in _REDUCTIONS_BY_BODY:
            return broken_transition(
                _present([_sharding(operation.operands[0])]),
                result_shardings_of(operation)[:1],
                self._meshes,
                introduced_as=None,
                removed_as=_body_kind(operation),
            )
        inputs = list(operation.operands)
        results = _present(map(get_sharding, operation.results))
        if name == "stablehlo.reduce":
            inputs = inputs[: len(inputs) // 2]  # the initial values follow
            introduced_as = _body_kind(operation)
        elif name in _PRODUCTS:
            introduced_as = ReductionOp.SUM
        else:
            kinds = {result.reduction_kind for result in results if result.unreduced_axes}
            if len(kinds) > 1:
                return "results introduce unreduced axes with conflicting reduction ops"
            introduced_as = next(iter(kinds), None)
        return broken_transition(
            _present(_sharding(value) for value in inputs if not _is_blessed(value)),
            results,
            self._meshes,
            introduced_as=introduced_as,
        )

    def _fault_of_call(self, call: ir.Operation) -> str | None:
        name = callee_of(call)
        if name not in self._symbols:
            return None
        callee = self._symbols[name].operation
        arguments = zip(call.operands, argument_shardings(callee), strict=True)
        for index, (operand, inner) in enumerate(arguments):
            axes = [] if _is_blessed(operand) else _difference(_sharding(operand), inner)
            if axes:
                return _mismatch(axes, f"at call argument {index}.")
        results = zip(call.results, result_shardings(callee), strict=True)
        for index, (result, inner) in enumerate(results):
            axes = _difference(get_sharding(result), inner)
            if axes:
                return _mismatch(axes, f"at call result {index}.")
        return None


def _fault_of_return(terminator: ir.Operation) -> str | None:
    targets = _shardings_behind(terminator)
    for index, (value, target) in enumerate(zip(terminator.operands, targets, strict=True)):
        if target is None or _is_blessed(value):
            continue
        axes = _difference(_sharding(value), target)
        if axes:
            return _mismatch(
                axes,
                f"at return value {index} without a blessed operation (e.g., sdy.reshard). This "
                "is an invalid transition from unreduced to reduced.",
            )
    return None


def _shardings_behind(terminator: ir.Operation) -> list[TensorSharding | None]:
    """Return the target shardings of a terminator's operands, as the operands see them."""
    assert terminator.parent is not None, "a terminator is in a function or a computation"
    parent = terminator.parent.operation
    if parent.name == "func.func":
        return result_shardings(parent)
    targets = [get_sharding(result) for result in parent.results]
    if parent.name != "sdy.manual_computation":
        return targets
    manual = manual_axes(parent)
    return [None if target is None else erase_manual_axes(target, manual) for target in targets]


def _is_unreduced(sharding: TensorSharding) -> bool:
    return bool(sharding.unreduced_axes)


def _sharding(value: ir.Value) -> TensorSharding | None:
    return get_sharding(look_through_barriers(value))


def _is_blessed(value: ir.Value) -> bool:
    source = look_through_barriers(value)
    return not isinstance(source, ir.BlockArgument) and source.owner.operation.name in _BLESSED


def _present(shardings: Iterable[TensorSharding | None]) -> list[TensorSharding]:
    return [sharding for sharding in shardings if sharding is not None]


def _difference(first: TensorSharding | None, second: TensorSharding | None) -> list[AxisRef]:
    """Return the axes along which just one of two shardings is unreduced."""
    axes = [() if sharding is None else sharding.unreduced_axes for sharding in (first, second)]
    return sorted(set(axes[0]) ^ set(axes[1]))


def _mismatch(axes: Iterable[AxisRef], where: str) -> str:
    names = ", ".join(sorted({axis.name for axis in axes}))
    return f"has unreduced axes mismatch for '{names}' {where}"


def _body_kind(operation: ir.Operation) -> ReductionOp | None:
    """Return the reduction of each value in the body of an operation, if it is known."""
    terminator = terminator_of(operation.regions[0].blocks[0])
    if terminator.name != "stablehlo.return":
        return None
    kinds = {
        None if isinstance(value, ir.BlockArgument) else _BODY_KINDS.get(value.owner.operation.name)
        for value in terminator.operands
    }
    return kinds.pop() if len(kinds) == 1 else None


def broken_transition(
    operands: _Shardings,
    results: _Shardings,
    meshes: Mapping[str, Mesh],
    *,
    introduced_as: ReductionOp | None,
    removed_as: ReductionOp | None = None,
) -> str | None:
    """Return an error about the unreduced axes of an operation; None if there is none.

    Shardings on different meshes are not checked. Otherwise the error is about the first condition
    that doesn't hold:

    1. Axes that no operand but some result has are *introduced*. The operation must be able to
       introduce axes, and each result that has some of them is unreduced by `introduced_as`.
    2. Axes that no result but some operand has are *removed*. The operation must be able to remove
       axes, and each operand that has some of them is unreduced by `removed_as`.
    3. Other axes keep their reduction.

    From `unreduced={"x"}` to `unreduced={"x":(1)2, "y"}`, on an axis `"x"` of size 4, the axis
    `"y"` is introduced and `"x":(2)2` removed.

    Args:
        operands: the shardings of the operands that have one.
        results: the shardings of the results that have one.
        meshes: the meshes by the names of their symbols.
        introduced_as: the reduction of axes that the operation introduces; None if it can't.
        removed_as: the reduction that the operation carries out; None if it carries out none.
    """
    mesh = _only_mesh((*operands, *results), meshes)
    if mesh is None:
        return None
    introduced = _missing(results, operands, mesh)
    if introduced and introduced_as is None:
        return f"cannot add new unreduced axis '{introduced[0].name}'."
    for kind in _other_kinds(results, introduced, introduced_as):
        return f"cannot introduce '{kind}' unreduced axes. Expected '{introduced_as}'."
    removed = _missing(operands, results, mesh)
    if removed and removed_as is None:
        return (
            f"dropped unreduced axis '{removed[0].name}' without a blessed operation (e.g., "
            "sdy.reshard). This is an invalid transition from unreduced to reduced."
        )
    for kind in _other_kinds(operands, removed, removed_as):
        return f"cannot reduce '{kind}' unreduced axes. Expected '{removed_as}'."
    for operand in operands:
        for kind in _other_kinds(results, operand.unreduced_axes, operand.reduction_kind):
            return (
                "cannot change the reduction operator of kept unreduced axes from "
                f"{operand.reduction_kind} to {kind}."
            )
    return None


def _only_mesh(shardings: _Shardings, meshes: Mapping[str, Mesh]) -> Mesh | None:
    """Return the mesh of all shardings, by value; None if there are several, or none."""
    found = {mesh_of(sharding, meshes) for sharding in shardings}
    return found.pop() if len(found) == 1 else None


def _missing(shardings: _Shardings, others: _Shardings, mesh: Mesh) -> AxisTuple:
    """Return the unreduced axes of `shardings` that no sharding of `others` has."""
    axes = tuple(axis for sharding in shardings for axis in sharding.unreduced_axes)
    for other in others:
        axes = set_difference(axes, other.unreduced_axes, mesh)
    return axes


def _other_kinds(
    shardings: _Shardings, axes: AxisTuple, kind: ReductionOp | None
) -> Iterable[ReductionOp]:
    """Yield reductions unlike `kind` of shardings that are unreduced along any of `axes`."""
    return (
        sharding.reduction_kind
        for sharding in shardings
        if sharding.reduction_kind is not kind and lists_overlap(sharding.unreduced_axes, axes)
    )
