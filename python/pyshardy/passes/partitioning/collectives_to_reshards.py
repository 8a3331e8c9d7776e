# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-collectives-to-reshards`: replace collectives of global values by reshards.

A collective of the dialect in a global program depends on the sharding of its operand.
Partitioning computes some values in other shardings: it doesn't shard dimensions of size 1,
removes propagation barriers, and removes uneven axes from arguments. A reshard is independent of
the sharding of its operand. In

    // %a is sharded by [{"y"}] in two, and %b alike
    %0 = stablehlo.dot %a, %b {sdy.sharding = ... [], unreduced={"x"}}
    %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, []> : tensor<f32>

the all-reduce completes the axis that is declared unreduced, and the partial results of the
product. The global values of %0 and %1 are equal:

    %1 = sdy.reshard %0 <@mesh, []> : tensor<f32>

An all-reduce of a complete value would multiply it, and is an error.

Three kinds of collectives are replaced:

1. those that complete partial results,
2. those between values with a dimension that its axes don't divide, and
3. those of the result of a propagation barrier.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy import sdy
from mlir_sdy.diagnostics import Diagnostic, PassError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisTuple, Mesh, ReductionOp, TensorSharding, mesh_of, set_difference
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    OWN_SHARDING,
    get_sharding,
    look_through_barriers,
    result_sharding_attribute,
)
from mlir_sdy.verify.collectives import COLLECTIVES
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.partial.completion import (
    COMPLETING,
    partial_axes_of,
    reduced_axes,
    reduction_kind,
)
from pyshardy.pipeline import register_pass


@register_pass("sdy-collectives-to-reshards", anchor="func.func", release="pyshardy")
def collectives_to_reshards(function: ir.OpView) -> Changes:
    """Convert collectives to reshards if the sharding of their operand may change.

    A collective in a global program assumes a sharding of its operand. Partitioning changes some
    shardings: those of dimensions that their axes do not divide, and those of values behind
    propagation barriers. The pass replaces their collectives, and all collectives that complete
    partial results, by reshards:

    ```mlir
    // %0 is sharded as <@mesh, [{}], unreduced={"x"}>
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
    ```

    A sum over values that are not partial would multiply them, and is an error. An operand is
    partial along its unreduced axes, and along the axes that shard the contracting dimensions of
    the operation that defines it.

    Raises:
        PassError: an `sdy.all_reduce` or `sdy.reduce_scatter` adds up complete values. The function
            is not changed then.
    """
    if not may_occur_at_start(COLLECTIVES, function):
        return UNCHANGED
    collectives = operations_named(COLLECTIVES, function)
    if not collectives:
        return UNCHANGED
    context = FunctionContext.of(function)
    completed = _Completed(context)
    for collective in collectives:
        if collective.name in COMPLETING:
            completed.check(collective)
    for collective in collectives:
        if collective.name in COMPLETING or _may_get_another_operand(collective, context.meshes):
            target = result_sharding_attribute(collective, OWN_SHARDING[collective.name])
            place = ir.InsertionPoint(collective)
            value = sdy.reshard(collective.operands[0], target, loc=collective.location, ip=place)
            replace_by(collective, value)
    return Changes({"sdy.reshard"}, OF_SHARDINGS)


class _Completed:
    """Partial values that the collectives of a function complete, in the order of the text.

    Args:
        context: the context of the function.
    """

    def __init__(self, context: FunctionContext):
        self._meshes = context.meshes
        self._rules = context.rules
        # For results of collectives, the axes along which they are still partial, and the
        # reduction.
        self._left: dict[ir.Value, tuple[AxisTuple, ReductionOp | None]] = {}

    def check(self, collective: ir.Operation) -> None:
        """Check that the operand of a collective is partial along the axes that it reduces.

        1. It is partial along the axes along which it is declared unreduced.
        2. It is partial along the axes along which the operation that defines it contracts.
        3. A maximum or minimum of a complete value is always valid.
        """
        value = collective.operands[0]
        sharding = get_sharding(value)
        target = get_sharding(collective.results[0])
        assert target is not None, "a collective has a sharding"
        mesh = mesh_of(target, self._meshes)
        assert mesh is not None, "the verifier refuses shardings without a mesh"
        axes = reduced_axes(collective, self._meshes)
        declared = () if sharding is None else sharding.unreduced_axes
        rest = set_difference(axes, declared, mesh)
        partial, kind = self._partial(value)
        complete = set_difference(rest, partial, mesh)
        wanted = reduction_kind(collective)
        if complete and wanted is ReductionOp.SUM:
            raise PassError(_multiplies(collective, complete, mesh, sharding))
        if rest != complete and kind is not wanted:
            raise PassError(_of_another_kind(collective, wanted, kind))
        self._left[collective.results[0]] = set_difference(partial, axes, mesh), kind

    def _partial(self, value: ir.Value) -> tuple[AxisTuple, ReductionOp | None]:
        """Return the axes along which a value is partial, and its reduction."""
        value = look_through_barriers(value)
        if isinstance(value, ir.BlockArgument):
            return (), None
        return self._left.get(value) or partial_axes_of(value, self._rules, self._meshes)


def _may_get_another_operand(collective: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    value = collective.operands[0]
    if look_through_barriers(value) != value:
        return True
    return any(
        (sharding := get_sharding(end)) is not None
        and (mesh := mesh_of(sharding, meshes)) is not None
        and not sharding.divides(shape_of(end.type), mesh)
        for end in (value, collective.results[0])
    )


def _multiplies(
    collective: ir.Operation, axes: AxisTuple, mesh: Mesh, sharding: TensorSharding | None
) -> Diagnostic:
    listed = ", ".join(map(str, axes))
    place = location_of(collective.location)
    given = "has no sharding" if sharding is None else f"is sharded as {sharding}"
    return error(
        f"'{collective.name}' op adds up complete values: its operand {given}, and is not "
        f"partial along {{{listed}}}, so the sum would be {mesh.axes_size(axes)} times the value",
        place,
        [
            note(
                f"declare the operand partial there by 'unreduced={{{listed}}}' in its sharding, "
                "or use 'sdy.reshard', which adds up partial results only",
                place,
            )
        ],
    )


def _of_another_kind(
    collective: ir.Operation, wanted: ReductionOp, kind: ReductionOp | None
) -> Diagnostic:
    place = location_of(collective.location)
    known = "in another way" if kind is None else f"by {kind.name.lower()}"
    return error(
        f"'{collective.name}' op combines partial results by {wanted.name.lower()}, but the "
        f"operation that defines its operand combines them {known}",
        place,
        [note("use 'sdy.reshard', which combines them correctly", place)],
    )
