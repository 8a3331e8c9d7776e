# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-lower-to-fragment-calls`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.discardable import get_discardable, set_discardable, text_of
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.building import attributes_of, create
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    CALL_COUNTER,
    FRAGMENT,
    FRAGMENT_CALL,
    MESH_SHAPE,
    REMAT,
    RESERVED_BYTES,
    RESULT_ATTRIBUTES,
    integer_of,
    mesh_name_of,
    mesh_type,
    origins_of,
)
from mlir_sdy.mpmd.values import UserOrigin
from mlir_sdy.mpmd.verify import mesh_in
from mlir_sdy.values import SHARDING, map_shardings
from pyshardy.irtools.stablehlo_views import CallView, FunctionView
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import NoEffect
from pyshardy.mpmd.rewriting.bodies import function_of_body
from pyshardy.mpmd.rewriting.functions import dictionaries, mpmd_functions
from pyshardy.mpmd.rewriting.marks import topology
from pyshardy.mpmd.rewriting.merging import STAGE
from pyshardy.pipeline import register_pass

_NUMBERED = re.compile(r"(.*)_(\d+)", re.DOTALL)
_PHASES = {0: "_fwd", 1: "_bwd"}
_LONGEST = 200
_CUT = "<...>"


@dataclass
class _Group:
    """Fragments of a mesh that share a function.

    Attributes:
        function: the function.
        origins: the origins of the first fragment.
        stage: the stage of the first fragment, if it has one.
        calls: the calls that replace the fragments.
        counters: the call counters of the fragments; None for those of other origins or stages.
        reserved: the most bytes that other values take.
    """

    function: ir.Operation
    origins: tuple[UserOrigin, ...]
    stage: int | None
    calls: list[ir.Operation] = field(default_factory=list[ir.Operation])
    counters: list[int | None] = field(default_factory=list[int | None])
    reserved: list[int] = field(default_factory=list[int])


@register_pass("mpmd-lower-to-fragment-calls", release="0.10.2")
def lower_to_fragment_calls(
    module: ir.Module,
    *,
    verbose_logging: NoEffect = False,  # noqa: ARG001 (an option of C++ Shardy)
) -> None:
    """Replace fragments by calls of functions, which equal fragments of a mesh share."""
    groups: dict[tuple[str, str], _Group] = {}
    counts: set[int] = set()
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            counts.update(origin.transpose_count for origin in origins_of(fragment))
            _lower(fragment, module, groups)
    name = text_of(module.operation, "sym_name") or "main"
    number = ir.IntegerType.get_signless(64, module.context)
    for index, group in enumerate(groups.values()):
        own = _function_name(
            index,
            group.origins,
            group.stage,
            group.counters,
            name,
            with_phase=bool(counts - {0}),
        )
        FunctionView(group.function).sym_name = own
        for call in group.calls:
            CallView(call).callee = own
        if group.reserved:
            reserved = ir.IntegerAttr.get(number, max(group.reserved))
            set_discardable(group.function, RESERVED_BYTES, reserved)


def _lower(
    fragment: ir.Operation, module: ir.Module, groups: dict[tuple[str, str], _Group]
) -> None:
    mesh = mesh_name_of(fragment)
    with ir.InsertionPoint(fragment), fragment.location:
        kept = {"mesh_name", "origin", REMAT}
        attributes = {name: each for name, each in attributes_of(fragment).items() if name in kept}
        attributes["callee"] = ir.FlatSymbolRefAttr.get("f")
        types = [each.type for each in fragment.results]
        call = create(FRAGMENT_CALL, types, list(fragment.operands), attributes)
    for old, new in zip(fragment.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    function = _function(fragment, module)
    # Printing verifies, and numbers the values of, the whole module otherwise.
    key = mesh, function.get_asm(assume_verified=True, use_local_scope=True)
    origins, stage = origins_of(fragment), integer_of(fragment, STAGE)
    counter, reserved = (integer_of(fragment, name) for name in (CALL_COUNTER, RESERVED_BYTES))
    if key in groups:
        function.erase()
    else:
        groups[key] = _Group(function, origins, stage)
    group = groups[key]
    group.calls.append(call)
    is_alike = (group.origins, group.stage) == (origins, stage)
    group.counters.append(counter if is_alike else None)
    group.reserved += [] if reserved is None else [reserved]
    fragment.erase()


def _function(fragment: ir.Operation, module: ir.Module) -> ir.Operation:
    """Make a function at the end of a module with the body of a fragment, which loses it."""
    mesh = mesh_in(topology(fragment), mesh_name_of(fragment)).mesh
    attributes: dict[str, ir.Attribute] = {MESH_SHAPE: attribute_of(mesh, module.context)}
    for name, values in (
        (ARGUMENT_ATTRIBUTES, fragment.operands),
        (RESULT_ATTRIBUTES, fragment.results),
    ):
        entries = [_sharding(each) for each in values]
        if (listed := get_discardable(fragment, name)) is not None:
            for entry, given in zip(entries, listed, strict=True):
                entry.update({named.name: named.attr for named in given})
        if any(entries):
            attributes[name] = dictionaries(entries, module.context)
    built = function_of_body(fragment, module, attributes)
    _move_manual_computations(built, fragment)
    return built


def _sharding(value: ir.Value) -> dict[str, ir.Attribute]:
    found = mesh_type(value)
    return {} if found is None or found.sharding is None else {SHARDING: found.sharding}


def _move_manual_computations(function: ir.Operation, fragment: ir.Operation) -> None:
    """Move the shardings of manual computations to the mesh that those of the fragment have."""
    for value in (*fragment.operands, *fragment.results):
        sharding = _sharding(value).get(SHARDING)
        if sharding is None:
            continue
        mesh = value_of(sharding).mesh_or_ref

        def moved(each: TensorSharding, mesh: str = mesh) -> TensorSharding:
            return each.with_mesh(mesh)

        for computation in operations_named({"sdy.manual_computation"}, function):
            map_shardings(computation, moved)
        return


def _function_name(
    index: int,
    origins: Sequence[UserOrigin],
    stage: int | None,
    counters: Sequence[int | None],
    module: str,
    *,
    with_phase: bool,
) -> str:
    """Return the name of the function of some fragments with equal bodies.

    Examples are `p0_s1.main`, `p2_loss..._bwd_calls2from0.step` and `p1_layer_0:3_fwd.step`.

    Args:
        index: the number of the function.
        origins: the origins of the fragments.
        stage: their stage, if they have one.
        counters: the microbatches of the fragments in their order, which the name tells if it
            is ascending or descending without gaps.
        module: the name of the module.
        with_phase: whether to tell forward from backward fragments.
    """
    name = _base_name(origins) if stage is None else f"stage{stage}"
    if with_phase:
        for count in sorted({each.transpose_count for each in origins}):
            name += _PHASES.get(count, f"_transpose{count}")
    first, last = counters[0], counters[-1]
    if len(counters) == 1 and first is not None:
        name += f"_call{first}"
    elif first is not None and last is not None:
        step, word = (1, "to") if first < last else (-1, "from")
        if list(counters) == list(range(first, last + step, step)):
            name += f"_calls{first}{word}{last}"
    name = f"p{index}_{name}"
    if len(name) > _LONGEST:
        name = name[: _LONGEST - len(_CUT)] + _CUT
    return f"{name}.{module.removeprefix('jit_')}"


def _base_name(origins: Sequence[UserOrigin]) -> str:
    """Return the most frequent name without numbers at the end, and its numbers."""
    if not origins:
        return "inferred"
    numbers: dict[str, list[int]] = {}
    counts: dict[str, int] = {}
    for name in sorted(each.name for each in origins):
        match = _NUMBERED.fullmatch(name)
        base = name if match is None else match[1]
        counts[base] = counts.get(base, 0) + 1
        numbers.setdefault(base, []).extend([int(match[2])] if match else [])
    base = max(sorted(counts), key=counts.__getitem__)
    name, ends = base, sorted({min(numbers[base]), max(numbers[base])}) if numbers[base] else []
    if ends:
        is_backward = all(each.transpose_count == 1 for each in origins)
        name += "_" + ":".join(map(str, reversed(ends) if is_backward else ends))
    return name if len(counts) == 1 else f"{name}..."
