# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-propagate-past-calls`: continue propagation into inlined functions.

Propagation may leave an argument of a function replicated, although the operand is sharded: if the
function is called several times, or, as in Shardy, if the operand is carried by a loop. Once the
function is inlined, the values that depend on the operand are sharded, too. XLA inlines functions
before it propagates.

1. A reshard is a candidate if it has the attribute `sdy.at_call` (see
   `sdy-inline-small-functions`), only gathers, and isn't used by a remaining call. All
   candidates are dropped together.
2. The shardings of values that are computed from their operands are opened. Values keep their
   axes. Reshards, calls, manual computations, and the arguments and results of functions are
   not changed.
3. Shardings propagate as in `sdy-op-priority-propagate`, and are closed again.
4. Both programs are partitioned until collectives can be counted (see `total_cost`). If the new
   one isn't cheaper, the old one is kept.

Constraints are reshards already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import SdyError, collect
from mlir_sdy.discardable import has_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    argument_shardings,
    get_sharding,
    rank_of,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
    set_sharding,
)
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import load_hardware
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.functions import functions_of, has_static_shape
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.resharding.cost import total_cost
from pyshardy.passes.partitioning.inline_small_functions import AT_CALL
from pyshardy.pipeline import PassPipeline, pipeline_of, pipelines, register_pass, run_pipeline

_PROPAGATION = (
    "sdy-constant-or-scalar-splitter,symbol-dce,sdy-add-data-flow-edges,sdy-op-priority-propagate,"
    "func.func(sdy-constant-or-scalar-merger,sdy-sink-data-flow-edges),sdy-close-shardings"
)
_RESHARD = "sdy.reshard"
_FIXED = frozenset({"func.call", "func.return", "sdy.manual_computation", _RESHARD})
"""Operations whose results have fixed shardings."""

_LOOP = "stablehlo.while"


@register_pass("sdy-propagate-past-calls", release="pyshardy")
def propagate_past_calls(
    module: ir.Module, *, hardware: HardwareOption = DEFAULT_HARDWARE
) -> Changes | None:
    """Propagate shardings past calls that have been inlined.

    Propagation may leave a function argument unsharded although the operand of a call is sharded,
    for example if the function is called several times or in a loop. After inlining, the pass drops
    the reshard that gathers the argument, which `sdy-inline-small-functions` marks by
    `sdy.at_call`, and propagates the sharding of the operand. All other values keep their axes. The
    pass changes nothing unless devices send fewer bytes.

    ```mlir
    // %w is sharded as [{"x"}, {}]
    %0 = sdy.reshard %w <@mesh, [{}, {}]> {sdy.at_call} : tensor<8x4xf32>
    %1 = stablehlo.tanh %0 : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.tanh %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
        : tensor<8x4xf32>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    load_hardware(hardware)  # an unknown one is an error in every program
    marked = _marked(module) if may_occur_at_start({_RESHARD}, module) else []
    if not marked:
        return UNCHANGED
    for reshard in marked:
        remove_discardable(reshard, AT_CALL)
    if not any(map(_only_gathers, marked)):
        return UNCHANGED
    for reshard in marked:
        if _only_gathers(reshard):
            set_discardable(reshard, AT_CALL, ir.UnitAttr.get(module.context))
    with collect():
        before, after = copy_of(module), copy_of(module)
        is_cheaper = _carry_on(after) and _cost(copy_of(after), hardware) < _cost(before, hardware)
    if is_cheaper:
        _replace(module, after)
    for reshard in _marked(module):
        remove_discardable(reshard, AT_CALL)
    return None


def _marked(module: ir.Module) -> list[ir.Operation]:
    """Return the reshards to the sharding of an argument of an inlined function."""
    reshards = operations_named({_RESHARD}, module)
    return [reshard for reshard in reshards if has_discardable(reshard, AT_CALL)]


def _only_gathers(reshard: ir.Operation) -> bool:
    """Whether a reshard removes axes from the ends of dimensions, and no call needs its result."""
    value, result = reshard.operands[0], reshard.results[0]
    source, target = get_sharding(value), get_sharding(result)
    if source is None or target is None or source == target:
        return False
    if source.mesh_or_ref != target.mesh_or_ref or source.unreduced_axes or target.unreduced_axes:
        return False
    if any(use.owner.operation.name == "func.call" for use in result.uses):
        return False
    pairs = zip(source.dim_axes, target.dim_axes, strict=True)
    return source.dim_axes != target.dim_axes and all(
        before[: len(after)] == after for before, after in pairs
    )


def _carry_on(module: ir.Module) -> bool:
    """Drop the marked reshards and propagate; return whether that succeeds."""
    cache = AttributeCache(module.context)
    missing = _close_interfaces(module, cache)
    for reshard in _marked(module):
        value = reshard.operands[0]
        replace_by(reshard, value)
        _open_reached(value, cache)
    try:
        run_pipeline(module, _PROPAGATION, verify_each=False, restore_on_failure=False)
    except SdyError:
        return False
    for function, arguments, results in missing:
        set_argument_shardings(function, dict.fromkeys(arguments), cache)
        set_result_shardings(function, dict.fromkeys(results), cache)
    return True


def _close_interfaces(
    module: ir.Module, cache: AttributeCache
) -> list[tuple[ir.Operation, list[int], list[int]]]:
    """Make arguments and results of functions without a sharding explicitly replicated.

    Returns:
        The functions with the indices of these arguments and results.
    """
    shardings = (get_sharding(each.results[0]) for each in _marked(module))
    mesh_or_ref = next(each.mesh_or_ref for each in shardings if each is not None)
    changed: list[tuple[ir.Operation, list[int], list[int]]] = []
    for function in functions_of(module):
        signature = function_type_of(function)
        arguments = _missing(signature.inputs, argument_shardings(function), mesh_or_ref)
        results = _missing(signature.results, result_shardings(function), mesh_or_ref)
        set_argument_shardings(function, arguments, cache)
        set_result_shardings(function, results, cache)
        changed.append((function, list(arguments), list(results)))
    return changed


def _missing(
    types: Sequence[ir.Type], given: Sequence[TensorSharding | None], mesh_or_ref: str | Mesh
) -> dict[int, TensorSharding]:
    """Return closed shardings for the tensors that have none."""
    return {
        index: TensorSharding.fully_closed(rank_of(value_type), mesh_or_ref)
        for index, (value_type, old) in enumerate(zip(types, given, strict=True))
        if old is None and has_static_shape(value_type)
    }


def _open_reached(start: ir.Value, cache: AttributeCache) -> None:
    """Open the dimensions of all values that are computed from one."""
    seen: set[ir.Value] = set()
    waiting = [start]
    while waiting:
        for user in waiting.pop().uses:
            for reached in _reached_by(user.owner.operation, user.operand_number):
                if reached in seen:
                    continue
                seen.add(reached)
                waiting.append(reached)
                sharding = get_sharding(reached)
                if sharding is not None:
                    dims = range(sharding.rank)
                    set_sharding(reached, sharding.open(*dims), cache)


def _reached_by(operation: ir.Operation, index: int) -> Iterator[ir.Value]:
    """Yield the values that depend on an operand and may be opened."""
    if operation.name in _FIXED:
        return
    if operation.name == _LOOP:
        yield from _carried(operation, index)
    elif operation.name == "sdy.named_computation":
        yield operation.regions[0].blocks[0].arguments[index]
    elif operation.name == "stablehlo.optimization_barrier":
        yield operation.results[index]
    elif len(operation.results):
        yield from operation.results
    elif operation.name in ("sdy.return", "stablehlo.return") and operation.parent is not None:
        parent = operation.parent.operation
        if parent.name == _LOOP:
            if operation.block == parent.regions[1].blocks[0]:
                yield from _carried(parent, index)
        elif parent.name in DATA_FLOW_OPERATIONS and parent.name not in _FIXED:
            yield parent.results[index]


def _carried(loop: ir.Operation, index: int) -> Iterator[ir.Value]:
    """Yield the values at one position of a loop: its result, and the arguments of its regions."""
    yield loop.results[index]
    for region in loop.regions:
        yield region.blocks[0].arguments[index]


def _cost(module: ir.Module, hardware: str) -> float:
    """Return the cost of the partitioned module; infinite if it can't be partitioned."""
    try:
        run_pipeline(module, _to_collectives(hardware), verify_each=False, restore_on_failure=False)
    except SdyError:
        return float("inf")
    return total_cost(module, load_hardware(hardware))


def _to_collectives(hardware: str) -> PassPipeline:
    """Return the steps of the partitioner until collectives can be counted, without halo exchange.

    They begin where this pass stands in the pipeline.
    """
    steps = pipelines()["sdy-partition-pipeline"].build(hardware=hardware).elements
    names = [next(pipeline_of(step).passes()).name for step in steps]
    first, last = names.index("sdy-close-shardings"), names.index("sdy-reassociate-reductions")
    return pipeline_of(
        *(
            step
            for step, name in list(zip(steps, names, strict=True))[first : last + 1]
            if name != "sdy-resolve-permutation-factors"
        )
    )


def _replace(module: ir.Module, new: ir.Module) -> None:
    """Replace the functions of a module by those of another module."""
    for view in list(module.body.operations):
        view.operation.erase()
    for view in list(new.body.operations):
        module.body.append(view.operation.clone(ip=False))
