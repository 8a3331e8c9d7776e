# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.whatif`: the effect of another sharding of a value, without changing the program.

A change propagates and partitions a copy of the annotated program from the start: 0.1 to 0.2 s for
each thousand operations. Sharding rules and what else depends only on the signatures of operations
are kept by the context, and the costs of the program before are computed once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir_sdy.diagnostics import SdyError, UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    get_sharding,
    rank_of,
    result_shardings,
    set_result_shardings,
    set_sharding,
)
from mlir_sdy.verify import verify
from pyshardy.any_program import EXPLAIN_KEYWORDS, check_keywords
from pyshardy.contracts.attributes import without_contracts
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, report_hardware_of
from pyshardy.display import Printed, Table
from pyshardy.explain.checked_advice import (
    MOST_CANDIDATES,
    Candidate,
    CheckedAdvice,
    checked_advice,
)
from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.cost_difference import CostDifference, compare_explained
from pyshardy.explain.originals import annotated_module
from pyshardy.explain.program import explain_program
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.forms import ShardingSpec, check_axes, dims_of_spec
from pyshardy.forms import sharding as sharding_of
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import (
    NamedValues,
    mark_of,
    operations_with_results,
    result_names,
)
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.propagation.debugging.explanation import with_axis_on
from pyshardy.sizes.signature import takes_sizes
from pyshardy.sizes.static_program import static_at

if TYPE_CHECKING:
    from typing import TypeAlias

    Sharding: TypeAlias = ShardingSpec | None


class WhatIf:
    """A program whose shardings can be changed to see what happens.

        what_if = sdy.whatif(step, parameters, batch, mesh=mesh, in_shardings=shardings)
        change = what_if.shard("parameters['w']", ("model", None))
        change.difference.second.nbytes_sent
        better = change.keep()

    Args:
        module: the annotated program, which isn't changed.
        hardware: the hardware that the program is partitioned for.
        report_hardware: the hardware of the cost estimate.

    Attributes:
        explained: the program as it is.
    """

    def __init__(
        self, module: ir.Module, hardware: Hardware | str, report_hardware: Hardware, title: str
    ):
        self._module = module
        self._hardware = hardware
        self._report_hardware = report_hardware
        self._title = title
        self.explained = self._explain(copy_of(module))

    def __repr__(self) -> str:
        return f"WhatIf({self.explained!r})"

    def shard(self, name: str, sharding: Sharding) -> Change:
        """Return the effect of another sharding of a value.

        Args:
            name: an argument, a result or another value, as `sdy.values` takes it.
            sharding: its sharding; as for `sdy.sharding`, a text or the axes of each dimension,
                such as `("model", None)`; a text may leave out the mesh: `[{"model"}, {}]` or
                `P("model", None)`, which may be shorter than the value has dimensions. None removes
                its annotation.

        Raises:
            UsageError: there is no such value or annotation; the sharding has another rank.
            VerificationError: the sharding is invalid on the mesh.
            PipelineError: propagation or partitioning fails.
        """
        return self.shard_all({name: sharding})

    def shard_all(self, shardings: Mapping[str, Sharding]) -> Change:
        """Return the effect of other shardings of several values together.

        Args:
            shardings: the shardings by name, as for `shard`.

        Raises:
            UsageError: as for `shard`, as the other exceptions.
        """
        start = time.perf_counter()
        changed = copy_of(self._module)
        for name, given in shardings.items():
            _annotate(changed, name, given)
        return self._changed(tuple(shardings), changed, start)

    def constrain(self, candidates: Sequence[Candidate]) -> Change:
        """Return the effect of constraints on values that propagation has sharded otherwise.

        Args:
            candidates: the constraints; arguments of functions are left as they are.

        Raises:
            SdyError: as for `shard`.
        """
        start = time.perf_counter()
        changed = self.constrained(self._module, candidates)
        return self._changed(tuple(map(str, candidates)), changed, start)

    def constrained(self, module: ir.Module, candidates: Sequence[Candidate]) -> ir.Module:
        """Return a copy of a program with constraints.

        Args:
            module: the annotated program, as this one or with other attributes.
            candidates: the constraints.
        """
        changed = copy_of(module)
        makers = operations_with_results(changed)
        record = self.explained.record
        for candidate in candidates:
            for slot in candidate.slots:
                place = record.result_place(slot)
                if place is not None and (number := mark_of(place[0])) is not None:
                    set_sharding(makers[number].results[place[1]], candidate.sharding)
        return changed

    def advice(self, most: int = MOST_CANDIDATES) -> tuple[CheckedAdvice, ...]:
        """Return constraints with which devices send fewer bytes, the best first; each was tried.

            for each in sdy.whatif(step, parameters, batch, mesh=mesh).advice():
                print(each)

        Args:
            most: the number of constraints to try; each takes as long as `sdy.explain`.
        """
        return checked_advice(self, most)

    def advice_on(self, name: str) -> tuple[CheckedAdvice, ...]:
        """Return the shardings that the explanation of a value proposes; each was tried.

        Those with which devices don't send fewer bytes are left out; the best comes first.

            for each in sdy.whatif(module).advice_on("%hidden"):
                print(each)

        Args:
            name: the value, as for `shard`.

        Raises:
            UsageError: there is no such value, or there are several ones.
        """
        explanation = self.explained.value(name)
        own = explanation.explanation.tensor
        sharding = explanation.explanation.sharding
        proposed = {
            with_axis_on(sharding, refused.axis, refused.target_dim): None
            for refused in explanation.explanation.refused
            if sharding is not None
        }
        found: list[CheckedAdvice] = []
        for other in proposed:
            try:
                change = self.shard(name, other)
            except SdyError:  # the sharding contradicts another annotation
                continue
            if change.difference.second.nbytes_sent < change.difference.first.nbytes_sent:
                candidate = Candidate((), own.description, own.location, other, 0)
                found.append(CheckedAdvice((candidate,), change))
        return tuple(sorted(found, key=lambda each: -each.nbytes_saved))

    def kept(self, module: ir.Module) -> WhatIf:
        """Return the what-if of a changed program."""
        return WhatIf(module, self._hardware, self._report_hardware, self._title)

    def _changed(self, names: tuple[str, ...], changed: ir.Module, start: float) -> Change:
        verify(changed)
        explained = self._explain(copy_of(changed))
        difference = compare_explained(self.explained, explained)
        return Change(names, self, changed, explained, difference, time.perf_counter() - start)

    def _explain(self, module: ir.Module) -> ProgramExplanation:
        explained = explain_program(
            module,
            hardware=self._hardware,
            report_hardware=self._report_hardware,
            title=self._title,
        )
        return ProgramExplanation.of(explained)


@dataclass(frozen=True, slots=True, repr=False)
class Change(Printed):
    """The effect of other shardings.

    Attributes:
        names: the values with other shardings.
        before: the program before.
        module: the annotated program with the change, before propagation.
        explained: the program with the change.
        difference: the costs, collectives and shardings that differ.
        seconds: the time that it took.
    """

    names: tuple[str, ...]
    before: WhatIf
    module: ir.Module
    explained: ProgramExplanation
    difference: CostDifference
    seconds: float

    @property
    def added(self) -> tuple[CollectiveExplanation, ...]:
        """The collectives of kinds and axes that send more than before, with their reasons."""
        more = {
            (each.kind, each.axes)
            for each in self.difference.collectives
            if each.nbytes_sent[1] > each.nbytes_sent[0]
        }
        return tuple(
            each
            for each in self.explained.collectives
            if (each.collective.kind, ", ".join(each.collective.axes or ())) in more
        )

    def keep(self) -> WhatIf:
        """Return the program with the change, for more changes."""
        return self.before.kept(self.module)

    def summary(self) -> str:
        """Return the values, and the change of bytes, time and memory in one line."""
        return f"{', '.join(self.names)}: {self.effect()}"

    def effect(self) -> str:
        """Return the change of bytes, time and memory in one line."""
        return self.difference.summary()

    def tables(self) -> list[Table]:
        """Return tables of the costs and of the collectives that differ."""
        return self.difference.tables()


def whatif(
    program: Any,
    *args: Any,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
    **keywords: Any,
) -> WhatIf:
    """Return a program whose shardings can be changed to see what happens.

    Contracts in the program aren't checked.

        change = sdy.whatif(module).shard("%hidden", ("data", "model"))

    Args:
        program: a program as for `sdy.explain`; one with dynamic sizes is taken at its hints.
        args: its arguments.
        hardware: the hardware that the program is partitioned for, as in `partition`.
        report_hardware: the hardware of the cost estimate; by default `hardware`, or an H100.
        keywords: `mesh`, `in_shardings`, `out_shardings`, `kwargs` and `static_argnames`.

    Raises:
        UsageError: the arguments don't fit the program.
        PipelineError: propagation or partitioning fails.
    """
    model = report_hardware_of(hardware, report_hardware)
    check_keywords("whatif", keywords, EXPLAIN_KEYWORDS)
    module, title, _ = annotated_module("whatif", program, args, keywords, with_options=False)
    module = static_at(module, {}) if takes_sizes(module, {}) else module
    with without_contracts(module):
        return WhatIf(copy_of(module), hardware, model, title)


def _annotate(module: ir.Module, name: str, given: Sharding) -> None:
    """Set the annotation of the value of a name."""
    main = main_function(module)
    mesh = None if main is None else device_mesh_of(main)
    if main is None or mesh is None:
        raise UsageError(error("the program has no mesh or no entry '@main'"))
    meshes = meshes_of(module)
    results = [each or f"result[{index}]" for index, each in enumerate(result_names(main))]
    if name in results:
        index = results.index(name)
        rank = rank_of(function_type_of(main).results[index])
        before = result_shardings(main)[index]
        set_result_shardings(main, {index: _sharding(name, given, rank, before, mesh, meshes)})
        return
    values = NamedValues(module).find(name)
    if given is None and not any(map(get_sharding, values)):
        raise UsageError(error(f"'{name}' has no annotation that could be removed"))
    for value in values:
        rank = rank_of(value.type)
        set_sharding(value, _sharding(name, given, rank, get_sharding(value), mesh, meshes))


def _sharding(
    name: str,
    given: Sharding,
    rank: int,
    before: TensorSharding | None,
    mesh: str,
    meshes: Mapping[str, Mesh],
) -> TensorSharding:
    on_symbol = before is not None and isinstance(before.mesh_or_ref, str)
    name_of_mesh = str(before.mesh_or_ref) if before is not None and on_symbol else mesh
    if given is None:
        return TensorSharding.fully_open(rank, name_of_mesh)
    found = sharding_of_rank(given, rank, name_of_mesh)
    if found.rank != rank:
        message = f"'{name}' has {rank} dimensions, but its sharding has {found.rank}: {found}"
        raise UsageError(error(message))
    check_axes(name, found, meshes)
    return found


def sharding_of_rank(spec: ShardingSpec, rank: int, mesh: str) -> TensorSharding:
    """Return the sharding that users wrote for a value.

    Args:
        spec: the sharding; its text in the form of sdy, as `<@mesh, [{"x"}, {}]>` or `[{'x'}, {}]`,
            or of JAX, as `P('x', None)`; or the axes of each dimension.
        rank: the rank of the value: a `PartitionSpec` with fewer dimensions leaves the others
            unsharded. Other forms may have another rank.
        mesh: the name of the mesh; for forms without one.

    Raises:
        ParseError: the text can't be read.
        UsageError: a dimension is no axis, tuple of axes or None.
    """
    if isinstance(spec, TensorSharding):
        return spec
    if isinstance(spec, str):
        return sharding_of(dims_of_spec(spec, rank) or spec, mesh)
    axes = list(spec)
    if type(spec).__module__.partition(".")[0] == "jax":
        axes += [None] * (rank - len(axes))
    return sharding_of(axes, mesh)
