# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that report what an exported program should not have."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import Diagnostic, PassError, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    FRAGMENT_CALL,
    TRANSFER,
    body_of,
    is_user_fragment,
    mesh_name_of,
    operations_of,
    origins_of,
    producer,
)
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.locations import names_in
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import (
    FailOnBackwardDeps,
    FailOnInferredFragments,
    FailOnParamTransfers,
    FailOnReshards,
    ParamTransferPattern,
)
from pyshardy.mpmd.rewriting.marks import INFERRED_BY, inferred_by
from pyshardy.mpmd.rewriting.transfers import before_transfers
from pyshardy.pipeline import register_pass


@register_pass("mpmd-validate-no-param-transfers", release="0.10.2")
def validate_no_param_transfers(
    module: ir.Module,
    *,
    fail_on_param_transfers: FailOnParamTransfers = False,
    param_pattern: ParamTransferPattern = "params['transformer",
) -> None:
    """Report transfers of parameters between meshes, by the names in locations.

    Raises:
        PassError: there is one, and it is an error.
    """
    findings = list[_Finding]()
    for transfer in operations_named({TRANSFER}, module):
        (value,) = transfer.operands
        found = [name for name in names_in(value.location) if param_pattern in name]
        meshes = [MeshTensorType(each.type).mesh_name for each in (value, transfer.results[0])]
        if found and meshes[0] != meshes[1]:
            places = ", ".join(f'"{name}"' for name in found)
            message = (
                f'Detected cross-mesh transfer of a parameter matching "{param_pattern}" '
                f'from mesh "{meshes[0]}" to "{meshes[1]}". JAX locations: [{places}]'
            )
            findings.append((transfer, message, fail_on_param_transfers))
    _report(findings)


@register_pass("mpmd-validate-no-inferred-fragments", release="0.10.2")
def validate_no_inferred_fragments(
    module: ir.Module, *, fail_on_inferred_fragments: FailOnInferredFragments = False
) -> None:
    """Report inferred fragments that are left.

    Raises:
        PassError: there is one, and it is an error.
    """
    findings = list[_Finding]()
    for fragment in operations_named({FRAGMENT}, module):
        if not is_user_fragment(fragment):
            passes = ", ".join(inferred_by([fragment]))
            message = f"Inferred fragment has not been merged (inferred by {passes})"
            if not passes:
                message = f"Internal error: inferred fragment missing '{INFERRED_BY}' attribute"
            findings.append((fragment, message, fail_on_inferred_fragments or not passes))
    _report(findings)


@register_pass("mpmd-validate-no-reshards", release="0.10.2")
def validate_no_reshards(
    module: ir.Module, *, fail_on_reshard_only_fragments: FailOnReshards = False
) -> None:
    """Report fragments that only return their arguments, with other shardings.

    Raises:
        PassError: there is one, and it is an error.
    """
    findings = list[_Finding]()
    for call in copying_calls(module):
        is_of_user, message = bool(origins_of(call)), message_of(call)
        if is_of_user:
            name = callee_of(call)
            message = f"Internal error: reshard-only fragment '{name}' is not an inferred fragment"
        findings.append((call, message, fail_on_reshard_only_fragments or is_of_user))
    _report(findings)


def copying_calls(module: ir.Module) -> list[ir.Operation]:
    """Return the calls of fragments that only return their arguments."""
    functions = {symbol_name(each): each for each in functions_of(module)}
    calls = operations_named({FRAGMENT_CALL}, module)
    return [each for each in calls if len(operations_of(body_of(functions[callee_of(each)]))) == 1]


def changes_sharding(call: ir.Operation) -> bool:
    """Whether a copying call returns a value with a sharding that it takes no value with."""
    taken, returned = (
        {MeshTensorType(value.type).replaced(memory_kind=None) for value in values}
        for values in (call.operands, call.results)
    )
    return not returned <= taken


def message_of(call: ir.Operation) -> str:
    """Return the message of a copying call."""
    return (
        f"Detected reshard-only fragment '{callee_of(call)}'. This usually indicates an unexpected "
        f"reshard. Operands: {_listed(call.operands, with_places=True)}. Results: "
        f"{_listed(call.results)}"
    )


def _listed(values: Iterable[ir.Value], *, with_places: bool = False) -> str:
    texts: list[str] = []
    for value in values:
        found = MeshTensorType(value.type)
        sharding = found.sharding
        how = "Replicated" if sharding is None else f"#sdy.sharding{value_of(sharding)}"
        place = f" {value.location}" if with_places else ""
        texts.append(f"{how} {str(found.global_type).removeprefix('tensor')}{place}")
    return ", ".join(texts)


@register_pass("mpmd-validate-no-backward-deps", release="0.10.2")
def validate_no_backward_deps(
    module: ir.Module, *, fail_on_backward_deps: FailOnBackwardDeps = False
) -> None:
    """Report values that go to a mesh with an earlier name, if nothing is transposed.

    Raises:
        PassError: there is one, and it is an error.
    """
    calls = operations_named({FRAGMENT_CALL}, module)
    if any(origin.transpose_count for each in calls for origin in origins_of(each)):
        return
    findings = list[_Finding]()
    for call in calls:
        for value in call.operands:
            made = producer(before_transfers(value), FRAGMENT_CALL)
            if made is None or mesh_name_of(made) <= mesh_name_of(call):
                continue
            message = (
                "Detected backward dependency but expected forward-only pipeline since there are "
                f'no transpose fragments: fragment "{callee_of(made)}" mesh="{mesh_name_of(made)}" '
                f'produces a value consumed by fragment "{callee_of(call)}" '
                f'mesh="{mesh_name_of(call)}". In a forward-only pipeline, dependencies must go '
                "from earlier meshes to later meshes."
            )
            findings.append((call, message, fail_on_backward_deps))
    _report(findings)


_Finding = tuple[ir.Operation, str, bool]
"""An operation, what is to be told of it, and whether that is an error."""


def _report(findings: Iterable[_Finding]) -> None:
    errors: list[Diagnostic] = []
    for operation, message, fails in findings:
        place = location_of(operation.location)
        if fails:
            errors.append(error(message, place))
        else:
            emit(warning(message, place))
    if errors:
        raise PassError(*errors)
