# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reasons of the collectives of a partitioned program.

A reshard exists because the sharding that a value is computed with differs from the sharding that
an operation requires. A completion of partial results exists because an operation reduces a sharded
dimension. Both shardings are traced back to annotations.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, TensorSharding
from mlir_sdy.values import get_sharding, rank_of
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Displayed
from pyshardy.explain.alternatives import Comparison, compare
from pyshardy.explain.moves import Move, MoveKind, MoveRecorder, ReshardingUse
from pyshardy.irtools.locations import user_place
from pyshardy.irtools.stablehlo_views import COLLECTIVES, symbol_name
from pyshardy.local_program.communication import Collective
from pyshardy.propagation.debugging.axis_chains import Root, roots_of
from pyshardy.propagation.debugging.explanation import Propagation, RefusedAxis, refused_axes
from pyshardy.rules import ShardingRuleLookup

_RESHARD = "sdy.reshard"

Place = tuple[int, str]
"""A dimension, and the name of an axis that shards it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The sharding of a value at its definition or at a use, with its reasons.

    Attributes:
        what: the value or the operand: `result 0 of stablehlo.dot_general`.
        location: its source location.
        sharding: its sharding; None without one.
        roots: the annotations that it follows from.
        refused: the axes that only the other end has, with the reasons.
        operation: the number of the operation in the record of propagation; None if unknown.
        value: the number of the value there; None for an operation, or if unknown.
        sources: the operands that share the axis over which a reduction sums.
    """

    what: str
    location: SourceLocation | None
    sharding: TensorSharding | None
    roots: tuple[Root, ...] = ()
    refused: tuple[RefusedAxis, ...] = ()
    operation: int | None = None
    value: int | None = None
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = "" if self.location is None else f" ({self.location})"
        return f"{self.what}{where}: {self.sharding or 'replicated'}"


@dataclass(frozen=True, slots=True, repr=False)
class CollectiveExplanation(Displayed):
    """The reason of a collective; its `str` is the explanation.

    Attributes:
        collective: the collective.
        kind: a reshard, a completion of partial results, or an operation whose local form
            communicates; None if unknown.
        made: the sharding of the value at its definition; None if unknown.
        wanted: the shardings that the uses require.
        in_form: writes the shardings in a text in the form of the program.
        compared: returns what the partitioner compared; see `comparison`.
    """

    collective: Collective
    kind: MoveKind | None
    made: Decision | None
    wanted: tuple[Decision, ...]
    in_form: Callable[[str], str] = field(default=str, compare=False)
    compared: Callable[[], Comparison] = field(default=partial(Comparison, ()), compare=False)

    @property
    def nbytes_total(self) -> int:
        """The bytes that a device sends in a run; per execution if their number is unknown."""
        return self.collective.nbytes_total

    @property
    def reason(self) -> str:
        """The reason as one sentence."""
        if self.kind is None or self.made is None:
            return "the collective is part of the input program, or its origin is unknown"
        if self.kind is MoveKind.OPERATION:
            if self.made.what in COLLECTIVES:
                return f"{self.made.what} is an operation of the program"
            if self.made.what == _RESHARD:
                return f"{_RESHARD} of the program has another sharding than its operand"
            return f"shards of {self.made.what} depend on elements of other shards"
        axes = ", ".join(self.collective.axes or ("several axes",))
        if self.kind is MoveKind.REDUCTION:
            operands = f" of {' and '.join(self.made.sources)}" if self.made.sources else ""
            return (
                f"{self.made.what} is a reduction over a dimension sharded along {axes}{operands}"
            )
        users = " and ".join(dict.fromkeys(each.what for each in self.wanted)) or "later operations"
        also = "is partial and " if self.collective.reduction is not None else ""
        return f"{self.made.what} {also}must be resharded for {users}"

    @property
    def comparison(self) -> Comparison:
        """The ways to compute the operation that the collective is for."""
        return self.compared()

    def summary(self) -> str:
        """Return the collective and its reason in one line."""
        return f"{self.collective.summary()}: {self.reason}"

    def plain(self) -> dict[str, object]:
        """Return the explanation as data for JSON."""
        comparison = self.comparison
        return {
            "collective": self.collective,
            "kind": self.kind,
            "reason": self.reason,
            "made": self.made,
            "wanted": self.wanted,
            "compared": [
                {"what": each.what, "nbytes_sent": each.nbytes_sent, "seconds": each.seconds}
                for each in comparison.choices
            ],
            "turn": comparison.turn,
        }

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __str__(self) -> str:
        one = self.collective
        where = "" if one.location is None else f" at {one.location}"
        axes = "" if one.axes is None else f" along {', '.join(one.axes)}"
        times = "" if one.repetitions == 1 else f", executed {one.repetitions or 'many'} times"
        lines = [
            f"{one.kind}{axes}{where}: {one.nbytes_sent:,} bytes sent{times}",
            f"  {self.reason}",
        ]
        for title, decisions in (
            ("definition", () if self.made is None else (self.made,)),
            ("use", self.wanted),
        ):
            for decision in decisions:
                lines.append(f"  {title}: {decision}")
                lines.extend(f"    {root}" for root in decision.roots)
                lines.extend(f"    refused: {refused}" for refused in decision.refused)
        lines.extend(f"  {line}" for line in self.comparison.lines(one.kind))
        return self.in_form("\n".join(lines))


def explain_collectives(
    collectives: Iterable[Collective],
    recorder: MoveRecorder,
    record: Propagation | None,
    in_form: Callable[[str], str] = str,
    hardware: Hardware | None = None,
) -> tuple[CollectiveExplanation, ...]:
    """Explain the collectives of a program, in their order.

    Args:
        collectives: the collectives of the partitioned program.
        recorder: the recorder of its partitioning.
        record: the record of its propagation; without it there are no roots.
        in_form: writes the shardings in a text in the form of the program.
        hardware: the hardware that the program is partitioned for; without it, there are no
            comparisons.
    """
    moves = list(zip(collectives, recorder.of_collectives, strict=True))
    explainer = _Explainer(record, hardware, moves)
    return tuple(
        replace(explainer.explain(collective, move), in_form=in_form) for collective, move in moves
    )


class _Explainer:
    """Explains moves; remembers what it has found about values."""

    def __init__(
        self,
        record: Propagation | None,
        hardware: Hardware | None,
        moves: Sequence[tuple[Collective, Move | None]],
    ):
        self._record = record
        self._hardware = hardware
        self._kinds = defaultdict[int, set[str]](set)  # of operands and completions
        self._later_kinds = defaultdict[int, set[str]](set)  # of what later operations require
        for collective, move in moves:
            for use in () if move is None else move.uses:
                self._kinds[id(use.operation)].add(collective.kind)
            if move and move.value and not isinstance(move.value, ir.BlockArgument):
                is_later = move.kind is MoveKind.RESHARD
                kinds = self._later_kinds if is_later else self._kinds
                kinds[id(move.value.owner.operation)].add(collective.kind)
        self._compared: dict[int, Comparison] = {}
        self._slots: dict[ir.Value, int | None] = {}
        self._operations: dict[int, Decision] = {}
        self._known_roots: dict[int, list[tuple[int, AxisRef, Root]]] = {}
        self._known_refused: dict[int, tuple[RefusedAxis, ...]] = {}

    def explain(self, collective: Collective, move: Move | None) -> CollectiveExplanation:
        if move is None:
            return CollectiveExplanation(collective, None, None, ())
        if move.kind is MoveKind.OPERATION:
            made = None if move.operation is None else self._of_operation_once(move.operation)
            return CollectiveExplanation(collective, move.kind, made, ())
        if move.kind is MoveKind.REDUCTION:
            made = self._of_contraction(move, collective)
            value = None if isinstance(move.value, ir.BlockArgument) else move.value
            compared = partial(self._comparison, value and value.owner.operation)
            return CollectiveExplanation(collective, move.kind, made, (), compared=compared)
        made = self._of_value(move)
        wanted = tuple(self._of_use(use, move) for use in move.uses)
        compared = partial(self._comparison, next((use.operation for use in move.uses), None))
        return CollectiveExplanation(collective, move.kind, made, wanted, compared=compared)

    def _comparison(self, operation: ir.Operation | None) -> Comparison:
        """Return what the partitioner compared for an operation, found once."""
        if operation is None or self._hardware is None or self._record is None:
            return Comparison(())
        known = self._compared.get(id(operation))
        if known is None:
            values = (*operation.operands, *operation.results)
            names = [self._description(value) for value in values]
            meshes = self._record.engine.program.meshes
            known = compare(operation, meshes, self._hardware, names)
            kinds, later = self._kinds[id(operation)], self._later_kinds[id(operation)]
            known = known.in_program(kinds | later, is_result_moved=bool(later))
            self._compared[id(operation)] = known
        return known

    def _of_operation_once(self, operation: ir.Operation) -> Decision:
        """Return `_of_operation`: one operation of many operands may have many collectives."""
        key = id(operation)  # the recorder keeps the object
        known = self._operations.get(key)
        if known is None:
            known = self._operations[key] = self._of_operation(operation)
        return known

    def _of_operation(self, operation: ir.Operation) -> Decision:
        """Return the sharding of an operation whose local form communicates, with all roots."""
        values = [*operation.operands, *operation.results]
        roots = [root for value in values for root in self._roots(value, None)]
        sharding = get_sharding(values[-1]) if values else None
        place = user_place(operation.location)
        number = self._number(operation)
        roots = tuple(dict.fromkeys(roots))
        return Decision(operation.name, place, sharding, roots, operation=number)

    def _of_contraction(self, move: Move, collective: Collective) -> Decision:
        """Return the sharding of a contraction, with the roots of its operands' axes."""
        value = move.value
        if value is None or isinstance(value, ir.BlockArgument):
            return Decision("a partial value", collective.location, move.before)
        operation = value.owner.operation
        names = _names(collective)
        roots = [root for each in operation.operands for root in self._roots(each, names)]
        return Decision(
            self._description(value),
            user_place(operation.location),
            move.before,
            tuple(dict.fromkeys(roots)),
            operation=self._number(operation),
            value=self._number_of_value(value),
            sources=self._summed(value, names),
        )

    def _summed(self, value: ir.Value, names: Collection[str]) -> tuple[str, ...]:
        """Return the operands that have axes of some names along a dimension that is summed."""
        slot = self._slot(value)
        if self._record is None or slot is None:
            return ()
        reasons = (self._record.reasons.sum_of(slot, name) for name in sorted(names))
        slots = dict.fromkeys(slot for each in reasons if each for slot in each.sources)
        return tuple(self._record.tensor(each).description for each in slots)

    def _of_value(self, move: Move) -> Decision:
        value = move.value
        if value is None:
            return Decision("a value that the partitioner inserted", None, move.before)
        before, after = _places(move.before), _places(move.after)
        lost = before - after or before
        gained = _axis_names(move.after) - _axis_names(move.before)
        is_argument = isinstance(value, ir.BlockArgument)
        return Decision(
            self._description(value),
            user_place(value.location),
            move.before,
            tuple(dict.fromkeys(self._roots_of_places(value, lost, move.before))),
            self._refused(value, gained),
            None if is_argument else self._number(value.owner.operation),
            self._number_of_value(value),
        )

    def _of_use(self, use: ReshardingUse, move: Move) -> Decision:
        operation = use.operation
        lost = _axis_names(move.before) - _axis_names(move.after)
        moved = _places(move.after) - _places(move.before)
        gained = {name for _, name in moved} or lost or _axis_names(move.after)
        others = [value for index, value in enumerate(operation.operands) if index != use.operand]
        if operation.name == "func.return":
            returned = operation.operands[use.operand]
            roots = self._roots_of_places(returned, _places(move.after), move.after)
        else:
            values = (*others, *operation.results)
            roots = [root for value in values for root in self._roots(value, gained)]
            own = self._roots_of(operation.operands[use.operand])
            opposed = [root for root in roots if all(root != each for _, _, each in own)]
            roots = opposed or roots
        refused = [r for value in operation.results for r in self._refused(value, lost)]
        number = self._number(operation)
        what = f"operand {use.operand} of {operation.name}"
        if number is not None and self._record is not None:
            what = f"operand {use.operand} of {self._record.scoped_name(number) or operation.name}"
        if operation.name == "func.return" and operation.parent:
            what = f"result {use.operand} of @{symbol_name(operation.parent.operation)}"
        return Decision(
            what,
            user_place(operation.location),
            move.after,
            tuple(dict.fromkeys(roots)),
            tuple(dict.fromkeys(refused)),
            number,
        )

    def _roots_of_places(
        self, value: ir.Value, places: Collection[Place], sharding: TensorSharding | None
    ) -> list[Root]:
        """Return the annotations from which dimensions of a value have axes.

        1. Axes that propagation gave to the value come first.
        2. Otherwise the axes of the operands along the same factors, since the partitioner may
           have changed the sharding of the operation.
        3. Otherwise the annotations from which any dimension of the value has the axes.

        The result of a reshape may be resharded on a shape between those of the operand and the
        result. The places in `sharding` are none of the value then: only names of axes count, those
        of the operand first, which has them before.
        """
        names = {name for _, name in places}
        if sharding is not None and sharding.rank != rank_of(value.type):
            operands = () if isinstance(value, ir.BlockArgument) else value.owner.operation.operands
            above = [root for operand in operands for root in self._roots(operand, names)]
            return above or list(self._roots(value, names))
        roots = self._given_at(value, places)
        if not roots and not isinstance(value, ir.BlockArgument):
            operation = value.owner.operation
            rule = ShardingRuleLookup.shared(operation.context).rule(operation)
            result = ir.OpResult(value).result_number
            for operand, mapping in zip(
                operation.operands, () if rule is None else rule.operand_mappings, strict=False
            ):
                assert rule is not None, "one without a rule has no mappings"
                made = rule.result_mappings[result].dim_mappings
                same = {
                    (at, name)
                    for dim, name in places
                    for at, dim_mapping in enumerate(mapping.dim_mappings)
                    if set(made[dim].factor_indices) & set(dim_mapping.factor_indices)
                }
                roots += self._given_at(operand, same)
        return roots or list(self._roots(value, names))

    def _given_at(self, value: ir.Value, places: Collection[Place]) -> list[Root]:
        return [root for dim, axis, root in self._roots_of(value) if (dim, axis.name) in places]

    def _roots(self, value: ir.Value, names: Collection[str] | None) -> Iterator[Root]:
        """Yield the annotations from which a value has axes of some names, or any axes."""
        for _, axis, root in self._roots_of(value):
            if names is None or axis.name in names:
                yield root

    def _refused(self, value: ir.Value, names: Collection[str]) -> tuple[RefusedAxis, ...]:
        slot = self._slot(value) if names else None
        if self._record is None or slot is None:
            return ()
        known = self._known_refused.get(slot)
        if known is None:
            known = self._known_refused[slot] = refused_axes(self._record, slot)
        return tuple(each for each in known if each.axis.name in names)

    def _roots_of(self, value: ir.Value) -> list[tuple[int, AxisRef, Root]]:
        slot = self._slot(value)
        if self._record is None or slot is None:
            return []
        known = self._known_roots.get(slot)
        if known is None:
            known = self._known_roots[slot] = roots_of(self._record, slot)
        return known

    def _slot(self, value: ir.Value) -> int | None:
        """Return the number of a value's tensor; None if it was not propagated."""
        if value not in self._slots:
            try:
                self._slots[value] = None if self._record is None else self._record.slot(value)
            except ValueError:
                self._slots[value] = None
        return self._slots[value]

    def _description(self, value: ir.Value) -> str:
        """Return the name of a value; for values that propagation has not seen a description."""
        slot = self._slot(value)
        if self._record is None or slot is None:
            return _description(value)
        return self._record.tensor(slot).description

    def _number(self, operation: ir.Operation) -> int | None:
        return None if self._record is None else self._record.later_values.operation(operation)

    def _number_of_value(self, value: ir.Value) -> int | None:
        return None if self._record is None else self._record.later_values.number(value)


def _names(collective: Collective) -> set[str]:
    """Return the names of the axes and sub-axes of a collective."""
    axes = collective.axes or ()
    return {text.split('"')[1] if '"' in text else text for text in axes}


def _places(sharding: TensorSharding | None) -> set[Place]:
    """Return the pairs of dimensions and axes of a sharding."""
    dims = enumerate(() if sharding is None else sharding.dim_axes)
    return {(dim, axis.name) for dim, axes in dims for axis in axes}


def _axis_names(sharding: TensorSharding | None) -> set[str]:
    return set() if sharding is None else {axis.name for axis in sharding.all_axes()}


def _description(value: ir.Value) -> str:
    if isinstance(value, ir.BlockArgument):
        owner = value.owner.owner.operation
        name = f"@{symbol_name(owner)}" if owner.name == "func.func" else owner.name
        return f"argument {value.arg_number} of {name}"
    return f"result {ir.OpResult(value).result_number} of {value.owner.operation.name}"
