# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-optimize-reshards`: reduce the communication of reshards.

1. A reshard of a value that each device can compute by itself (a constant, an iota, a scalar
   broadcast, elementwise operations on these) is replaced by the value in the target sharding (see
   `Recomputation`).
2. A reshard starts from an earlier one of the same value, or of its transpose or reshape, if
   devices send fewer bytes: equal ones are merged, and a value that was gathered before is sliced
   (see `share_reshards`).

Before and after, reshards of reshards are merged, by the patterns of `canonicalize`. At last, an
all-reduce whose result is resharded becomes a reduce-scatter, if that takes less time (see
`scatter_all_reduces`).

The tensors of each operation are compatible, and `sdy-move-reshards` has moved reshards.
"""

from __future__ import annotations

from typing import NamedTuple

from mlir_sdy import sdy
from mlir_sdy.fold import canonicalize
from mlir_sdy.host import identity, ir
from mlir_sdy.model import (
    Mesh,
    TensorSharding,
    mesh_of,
)
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.resharding.completions import scatter_all_reduces
from pyshardy.partition.resharding.cost import Reshard, reshard_cost
from pyshardy.partition.resharding.recomputation import (
    Recomputation,
    made_in,
)
from pyshardy.partition.resharding.share_reshards import ReshardSharing
from pyshardy.pipeline import register_pass

_MANUAL, _RESHARD = "sdy.manual_computation", "sdy.reshard"


@register_pass("sdy-optimize-reshards", anchor="func.func", release="pyshardy")
def optimize_reshards(
    function: ir.OpView, *, hardware: HardwareOption = DEFAULT_HARDWARE
) -> Changes:
    """Reduce the communication of reshards.

    Computes constants, iotas and other values that need no communication in the sharding that a
    reshard requires. Reuses an earlier reshard of a value, or of its transposes, reshapes and
    conversions, as the source of a later one if that is cheaper. Makes an all-reduce whose result
    is only resharded a reduce-scatter, if that and the remaining reshards take less time.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}]>
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    model = load_hardware(hardware)
    # Halo exchanges are manual computations, and may leave unused operations, which are erased.
    if not operations_named({_RESHARD, _MANUAL}, function):
        return UNCHANGED
    canonicalize(function, {"sdy-reshard"})
    optimizer = _Optimizer(function.operation, model)
    optimizer.run()
    canonicalize(function, {"sdy-reshard"})
    optimizer.scatter_all_reduces()
    return Changes({_RESHARD, "sdy.reduce_scatter", "stablehlo.reshape"}, OF_SHARDINGS)


class _Ends(NamedTuple):
    source: TensorSharding
    target: TensorSharding
    mesh: Mesh


class _Optimizer:
    """One run over a function."""

    def __init__(self, function: ir.Operation, hardware: Hardware):
        context = FunctionContext.of(function)
        self.function = function
        self.hardware = hardware
        self.meshes = context.meshes
        self.cache = context.cache
        # By shardings and types, as layers repeat; addresses are valid as long as the context.
        self._costs: dict[tuple[int, TensorSharding, TensorSharding], float] = {}

    def run(self) -> None:
        self._erase_unused()
        for reshard in self._reshards():
            self._make_where_wanted(reshard)
        self._erase_unused()
        self._share()

    def scatter_all_reduces(self) -> None:
        """Replace all-reduces whose results are only resharded."""
        scatter_all_reduces(
            self.function,
            self.meshes,
            self.cache,
            self.hardware,
            lambda reshard: self._ends(reshard) is not None,
        )

    def _reshards(self) -> list[ir.Operation]:
        """Return all reshards in the order of the text."""
        return operations_named({_RESHARD}, self.function)

    def _erase_unused(self) -> None:
        """Erase unused reshards, which devices would carry out nevertheless."""
        for reshard in reversed(self._reshards()):
            if not any(reshard.results[0].uses):
                reshard.erase()

    def _ends(self, reshard: ir.Operation) -> _Ends | None:
        """Return source, target and mesh of a reshard that only moves axes of a static tensor."""
        source, target = get_sharding(reshard.operands[0]), get_sharding(reshard.results[0])
        assert target is not None, "a reshard has a sharding"
        if source is None or target.rank != source.rank:
            return None
        mesh = mesh_of(target, self.meshes)
        is_plain = not (source.unreduced_axes or target.unreduced_axes)
        has_size = all(size > 0 for size in shape_of(reshard.results[0].type))
        if mesh is None or mesh.is_maximal or not (is_plain and has_size):
            return None
        return _Ends(source, target, mesh) if mesh_of(source, self.meshes) == mesh else None

    # --- 1. Values that each device can compute -----------------------------------------------

    def _make_where_wanted(self, reshard: ir.Operation) -> None:
        value: ir.Value = reshard.operands[0]
        if not Recomputation().is_possible(value):
            return
        ends = self._ends(reshard)
        if ends is None:
            return
        result = made_in(value, ends.target, reshard, self.cache)
        replace_by(reshard, result)

    def _cost(
        self, value: ir.Value, source: TensorSharding, target: TensorSharding, mesh: Mesh
    ) -> float:
        """Return the seconds in which a value is resharded."""
        key = identity(value.type), source, target
        cost = self._costs.get(key)
        if cost is None:
            reshard = Reshard.of(value, source.dim_axes, target.dim_axes, mesh)
            cost = self._costs[key] = reshard_cost(reshard, self.hardware)
        return cost

    def _reshard(
        self, value: ir.Value, sharding: TensorSharding, at: ir.Operation, place: ir.InsertionPoint
    ) -> ir.Value:
        return sdy.reshard(value, self.cache[sharding], loc=at.location, ip=place)

    # --- 2. Reshards of one value -----------------------------------------------------------

    def _share(self) -> None:
        sharing = ReshardSharing(self._cost, self.cache)
        if any(mesh.is_maximal for mesh in self.meshes.values()):
            for reshard in self._reshards():
                self._replicate_before(reshard)
        for reshard in self._reshards():
            ends = self._ends(reshard)
            if ends is not None:
                sharing.add(reshard, *ends)

    def _replicate_before(self, reshard: ir.Operation) -> None:
        """Let a reshard to a single device start from the replicated value, which others may use.

        Without others, both are merged again.
        """
        value: ir.Value = reshard.operands[0]
        source, target = get_sharding(value), get_sharding(reshard.results[0])
        if source is None or target is None or source.is_fully_replicated:
            return
        meshes = [mesh_of(each, self.meshes) for each in (source, target)]
        if [mesh is not None and mesh.is_maximal for mesh in meshes] == [False, True]:
            replicated = TensorSharding.fully_closed(source.rank, source.mesh_or_ref)
            place = ir.InsertionPoint(reshard)
            reshard.operands[0] = self._reshard(value, replicated, reshard, place)
