# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of automatic sharding, and the checks of these and of the program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.values import get_sharding, result_shardings
from pyshardy.auto.strategies.costs import CostModel, HardwareCosts, SentBytes
from pyshardy.cost.hardware import Hardware
from pyshardy.display import bytes_of_text
from pyshardy.irtools.functions import entry_block, functions_of
from pyshardy.irtools.shardings import any_sharding

Objective: TypeAlias = Literal["time", "bytes"]

HIDE = 0.8
"""The part of the computation of a loop's body that hides communication by default."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of a search.

    Attributes:
        memory: the memory of a device, in bytes or as a text; None for any.
        axes: the axes that may be used; by default, all of the mesh.
        fixed: whether shardings in the program are kept.
        uneven: whether axes may shard dimensions that they don't divide.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide.
        once: whether results needn't have the shardings of the arguments that they replace.
        gap: the search ends when the gap is proven to be at most this fraction.
        timeout: the search ends after these seconds.
        solver: the name of the solver.
        overlap: what hides communication in the partitioned program, as for `partition`.
        hide: the part of the computation of a loop's body that can hide communication.

    Raises:
        UsageError: an option is out of its range.
    """

    memory: float | str | None = None
    axes: Sequence[str] | None = None
    fixed: bool = True
    uneven: bool = False
    sub_axes: bool = False
    once: bool = False
    gap: float = 0.01
    timeout: float = 60.0
    solver: str = "combined"
    overlap: str = "none"
    hide: float = HIDE

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise UsageError(error(f"the time limit must be positive, got: {self.timeout}"))
        if not 0 <= self.gap < math.inf:
            raise UsageError(error(f"the gap must be a fraction of at least 0, got: {self.gap}"))
        if self.overlap not in (known := ("none", "schedule", "all")):
            expected = f"expected the overlap {', '.join(map(repr, known))}, got: {self.overlap!r}"
            raise UsageError(error(f"{expected}{did_you_mean(self.overlap, known)}"))
        if not 0 <= self.hide <= 1:
            raise UsageError(error(f"'hide' must be a fraction from 0 to 1, got: {self.hide}"))
        if self.limit is not None and not self.limit > 0:
            raise UsageError(error(f"the memory must be positive, got: {self.memory}"))

    @cached_property
    def limit(self) -> float | None:
        """The bytes of a device; None for any number."""
        given = self.memory
        return float(bytes_of_text(given)) if isinstance(given, str) else given


def cost_model(objective: str, hardware: Hardware) -> CostModel:
    """Return the costs of an objective.

    Raises:
        UsageError: there is no such objective.
    """
    if objective not in ("time", "bytes"):
        raise UsageError(error(f"expected the objective 'time' or 'bytes', got: {objective!r}"))
    return HardwareCosts(hardware) if objective == "time" else SentBytes()


def check_axes(names: Iterable[str], mesh: Mesh) -> None:
    """Check that a mesh has some axes.

    Raises:
        UsageError: it hasn't.
    """
    for name in names:
        if name not in mesh.axis_names:
            known = ", ".join(f"'{each}'" for each in mesh.axis_names)
            hint = did_you_mean(name, mesh.axis_names) or f"; the mesh has the axes {known}"
            raise UsageError(error(f"the mesh has no axis '{name}'{hint}"))


def check_static_shapes(module: ir.Module) -> None:
    """Check that all tensors of a program have static shapes, on which costs depend.

    Raises:
        UsageError: one hasn't.
    """
    for function in functions_of(module):
        block = entry_block(function)
        if len(function.regions[0].blocks) > 1:
            message = "automatic sharding takes no function with several blocks"
            raise UsageError(error(message, location_of(function.location)))
        for number, argument in enumerate(block.arguments if block is not None else ()):
            _check_type(argument.type, f"argument {number}", function)
    for operation, name in named_operations_in(module, leaving_out=SCALAR_BODIES):
        for result in operation.results:
            _check_type(result.type, f"a result of {name}", operation)


def check_meshes(module: ir.Module, mesh: Mesh) -> None:
    """Check that all shardings of a program that have axes are on meshes with equal axes.

    Raises:
        UsageError: one isn't.
    """
    meshes = meshes_of(module)

    def is_on_another(sharding: TensorSharding) -> bool:
        name = sharding.mesh_or_ref
        own = meshes[name] if isinstance(name, str) else name
        return bool(own.axes) and own.axes != mesh.axes

    if any_sharding(module, is_on_another):
        message = (
            f"automatic sharding takes one mesh, but shardings of the program aren't on {mesh}"
        )
        advice = "shard it on that mesh alone, or drop them by '--free', or 'fixed=False'"
        raise UsageError(error(f"{message}: {advice}", location_of(module.operation.location)))


def check_complete(main: ir.Operation, block: ir.Block) -> None:
    """Check that no argument and no result of a program is given as unreduced.

    Raises:
        UsageError: one is: a plan has complete values alone.
    """
    inputs = [(f"argument {at}", get_sharding(each)) for at, each in enumerate(block.arguments)]
    outputs = [(f"result {at}", each) for at, each in enumerate(result_shardings(main))]
    for name, sharding in (*inputs, *outputs):
        if sharding is not None and sharding.unreduced_axes:
            message = f"automatic sharding takes no unreduced values, but {name} is: {sharding}"
            advice = "give it as complete, or leave its sharding out"
            raise UsageError(error(f"{message}; {advice}", location_of(main.location)))


def _check_type(value_type: ir.Type, subject: str, place: ir.Operation) -> None:
    """Check that a type isn't a tensor with a dynamic shape."""
    is_ranked = isinstance(value_type, ir.RankedTensorType)
    is_static = (
        value_type.has_static_shape
        if is_ranked
        else not isinstance(value_type, ir.UnrankedTensorType)
    )
    if not is_static:
        message = f"automatic sharding needs static shapes, but {subject} is a {value_type}"
        advice = "refine the shapes first, such as by tracing with the sizes"
        raise UsageError(error(f"{message}: {advice}", location_of(place.location)))
