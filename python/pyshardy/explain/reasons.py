# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`explanation.reasons()`: for each value and axis one reason, its remedy, and a check of it.

A remedy is a set of annotations with which the value would be sharded by the axis. It follows from
the kind of the reason:

| kind                           | remedy                                                          |
|--------------------------------|-----------------------------------------------------------------|
| given, constrained             | the annotation, or the constraint, with the axis                |
| refused by a closed dimension  | the annotation of the tensor that is closed, opened             |
| refused by a list of axes      | that annotation without the axis in the list                    |
| unoffered                      | the annotation of a root of the dimension, with the axis        |
| unreduced                      | the value constrained to have the axis in a dimension           |
| refused, reduced, needs        | the same; so are values whose roots can't take the axis, and    |
| replication                    | inner values with a size that the axis does not divide          |
| indivisible arguments and      | none: another size, or another axis                             |
| results, changed later         |                                                                 |
| manual                         | none: the specification of the manual computation decides       |

`verify` propagates the program with these annotations. A reason without a remedy is verified by an
annotation with the axis on the value itself, which must fail, or be removed again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from mlir_sdy.diagnostics import SdyError, UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, PropagationDirection, TensorSharding
from mlir_sdy.model.text import quoted
from mlir_sdy.suggest import did_you_mean
from pyshardy.display import DisplayedText, counted
from pyshardy.explain.annotated import Annotated, AnnotatedPlace, TensorPlaces, final_shardings
from pyshardy.forms import Form, in_form, spec_text
from pyshardy.propagation.debugging.axis_chains import Root, dim_of
from pyshardy.propagation.debugging.connections import Joint, Place
from pyshardy.propagation.debugging.explanation import (
    AbsentAxes,
    AxisExplanation,
    Explanation,
    Propagation,
    absent_axes,
    axes_of,
    with_axis_on,
)
from pyshardy.propagation.debugging.reason_texts import operation_text, sentence
from pyshardy.propagation.debugging.reasons import (
    NAMED_COMPUTATION,
    AxisReason,
    Frontier,
    ReasonFinder,
    ReasonKind,
    dims_with,
    tensors_of,
)
from pyshardy.propagation.debugging.refusals import RefusalReason as Refused

_WIDTH = 80
"""The width of an answer."""

_MOST_ROOTS = 4
"""The most roots that are tried as a remedy."""

_MOST_LINES = 12
"""The most lines of an answer about all axes of a value."""

_CONSTRAINT = "sdy.sharding_constraint"

_BOTH = PropagationDirection.BOTH

_NO_REMEDY = {
    ReasonKind.INDIVISIBLE: "use a size that the axis divides, or another axis",
    ReasonKind.CHANGED_LATER: "use a size that the axis divides, or another axis",
    ReasonKind.MANUAL: "change the specification of the manual computation",
    ReasonKind.SHARDED: "",
}


@dataclass(frozen=True, slots=True)
class Remedy:
    """Annotations with which a value would be sharded by an axis.

    Attributes:
        changes: the shardings of values by their names; empty if no annotation helps.
        text: what to do, as an imperative clause.
        places: the values, for `verify`.
        form: the form of the shardings in `what_if`.
    """

    changes: tuple[tuple[str, TensorSharding], ...]
    text: str
    places: tuple[tuple[AnnotatedPlace, TensorSharding], ...] = ()
    form: Form = "sdy"

    @property
    def what_if(self) -> tuple[str, ...]:
        """The values of `--what-if` that try it."""
        write = spec_text if self.form == "jax" and not self._is_open else _dims
        return tuple(f"{name}={write(sharding)}" for name, sharding in self.changes)

    @property
    def _is_open(self) -> bool:
        """Whether dimensions are open, which a `PartitionSpec` doesn't say."""
        dims = (dim for _, sharding in self.changes for dim in sharding.dim_shardings)
        return not all(dim.is_closed for dim in dims)

    def __str__(self) -> str:
        tries = "".join(f' --what-if="{each}"' for each in self.what_if)
        return f"{self.text}; try{tries}" if tries else self.text


@dataclass(frozen=True, repr=False)
class Reason(DisplayedText):
    """The reason why a value is, or isn't, sharded by an axis; its `str` is a sentence.

    Attributes:
        found: the reason as propagation has it.
        reasons: the reasons of the program.
    """

    found: AxisReason
    reasons: ProgramReasons

    @property
    def kind(self) -> ReasonKind:
        """The kind, which equals its name: `reason.kind == "unoffered"`."""
        return self.found.kind

    @property
    def axis(self) -> str:
        """The name of the axis."""
        return self.found.axis

    @property
    def value(self) -> str:
        """The value, by the name that the user gave it, or by its operation and scope."""
        return self.reasons.record.tensor(self.found.slot).description

    @property
    def by(self) -> str | None:
        """The operation that causes it, with its scope and place; None if no single one does."""
        number = self.found.operation
        return None if number is None else operation_text(self.reasons.record, number)

    @cached_property
    def chain(self) -> tuple[AxisExplanation, ...]:
        """The steps by which the axis came to the value, back to an annotation."""
        axes = axes_of(self.reasons.record, self.found.slot)
        return tuple(each for each in axes if each.axis.name == self.axis)

    @property
    def root(self) -> Root | None:
        """The annotation from which the value has the axis; None if it isn't sharded by it."""
        return self.chain[0].root if self.chain else None

    @cached_property
    def frontier(self) -> Frontier | None:
        """The places from which the axis could come; None unless the kind is `unoffered`."""
        if self.kind is not ReasonKind.UNOFFERED:
            return None
        return self.reasons.finder.frontier(self.found)

    @cached_property
    def remedy(self) -> Remedy | None:
        """The change that would make the value sharded by the axis; None if it is."""
        return None if self.kind is ReasonKind.SHARDED else self.reasons.remedy(self.found)

    @cached_property
    def text(self) -> str:
        """The reason as a sentence in which "it" is the axis."""
        return self.reasons.in_form(sentence(self.reasons.finder, self.found))

    def verify(self) -> bool:
        """Apply the remedy, propagate, and return whether the value is sharded by the axis.

        Without a remedy, return whether an annotation of the value with the axis fails.
        """
        return self.reasons.verify(self.found)

    def __str__(self) -> str:
        word = "sharded" if self.kind is ReasonKind.SHARDED else "not sharded"
        lines = [f'{self.value} is {word} by "{self.axis}": {self.text}']
        if self.kind in (ReasonKind.SHARDED, ReasonKind.ELSEWHERE):
            links = (link for each in self.chain for link in each.chain)
            lines.extend(self.reasons.in_form(f"  {link}") for link in links)
        elif self.remedy is not None:
            lines.append(f"  to change it: {self.remedy}")
        return "\n".join(lines)

    def plain(self) -> dict[str, object]:
        """Return the reason as data for JSON."""
        remedy = self.remedy
        return {
            "value": self.value,
            "axis": self.axis,
            "kind": self.kind.value,
            "dims": self.found.dims,
            "text": self.text,
            "by": self.by,
            "root": None if self.root is None else str(self.root),
            "remedy": None if remedy is None else remedy.text,
            "what_if": () if remedy is None else remedy.what_if,
        }


@dataclass(frozen=True, repr=False)
class ValueExplanation(DisplayedText):
    """The reasons of the sharding of a value; its `str` is the answer in a few lines.

    Attributes:
        explanation: the steps of its axes, and the reasons of the absent ones.
        axes: the reason of each axis of the mesh that has several devices, by its name.
        value: the value, such as for `sdy.draw`.
    """

    explanation: Explanation
    axes: Mapping[str, Reason]
    value: ir.Value = field(compare=False)

    def __str__(self) -> str:
        lines = self._wrapped(in_full=True)
        if len(lines) > _MOST_LINES:
            lines = self._wrapped(in_full=False)
        if len(lines) > _MOST_LINES:
            lines = [*lines[: _MOST_LINES - 1], "  ... ('--axis' shows one axis in full)"]
        return "\n".join(lines)

    def _wrapped(self, *, in_full: bool) -> list[str]:
        reason = next(iter(self.axes.values()), None)
        lines = self._lines(in_full=in_full)
        return _wrapped(lines if reason is None else map(reason.reasons.in_form, lines))

    def _lines(self, *, in_full: bool) -> Iterator[str]:
        explanation = self.explanation
        yield from (f"{name}, inserted after propagation, of" for name in explanation.inserted)
        yield f"{explanation.tensor}: {explanation.sharding or 'no sharding'}"
        if isinstance(self.value.type, ir.RankedTensorType) and not self.value.type.rank:
            yield "  it is a scalar, which has no dimension to shard"
        for each in explanation.axes:
            place = f"  dimension {each.dim}, {each.axis}"
            if in_full or len(each.chain) < 2:
                yield f"{place}:"
                yield from (f"    {link}" for link in each.chain)
            else:
                count = counted(len(each.chain) - 1, "step")
                yield f"{place}, {count} from {each.chain[-1]}"
        for absent in explanation.absent:
            yield f"  {absent}"
            if absent.kind is not ReasonKind.ELSEWHERE:
                yield f"    to change it: {self.axes[absent.axes[0]].remedy}"

    def plain(self) -> dict[str, object]:
        """Return the explanation as data for JSON."""
        explanation = self.explanation
        return {
            "value": explanation.tensor.description,
            "location": explanation.tensor.location,
            "sharding": explanation.sharding,
            "inserted": explanation.inserted,
            "steps": explanation.axes,
            "axes": {axis: reason.plain() for axis, reason in self.axes.items()},
        }


class AxisReasons(dict[str, Reason]):
    """The reasons of a value by the name of the axis.

    Look-up of another name raises `UnknownAxisError`.
    """

    def __missing__(self, axis: str) -> Reason:
        if not self:
            raise UnknownAxisError(error("the value is a scalar, which no axis shards"))
        names = ", ".join(map(quoted, self))
        hint = did_you_mean(axis, self) or f": the axes are {names}"
        message = f"the mesh of the value has no axis {quoted(axis)} of several devices{hint}"
        raise UnknownAxisError(error(message))


class UnknownAxisError(UsageError, KeyError):
    """A value's mesh has no axis of a name."""

    __str__ = UsageError.__str__  # that of a KeyError quotes the message


@dataclass(frozen=True, slots=True)
class ProgramForm:
    """A function that writes the shardings in a text in the form of a program.

    Attributes:
        record: the record of the program's propagation.
        form: the form.
    """

    record: Propagation
    form: Form

    def __call__(self, text: str) -> str:
        """Return a text with its shardings in the form."""
        mesh = next(iter(self.record.engine.program.meshes.values()), None)
        return text if mesh is None else in_form(text, self.form, mesh)


class ProgramReasons:
    """The reasons of all values of a program.

    Args:
        record: the record of its propagation.
        annotated: the program that the user wrote.
        module: the propagated module.
        form: the form of shardings in texts.
    """

    def __init__(
        self, record: Propagation, annotated: Annotated, module: ir.Module, form: Form = "sdy"
    ):
        self.form: Form = form
        self.in_form = ProgramForm(record, form)
        self.record = record
        self.annotated = annotated
        self._places = TensorPlaces(record)
        final = final_shardings(record, module)
        self.finder = ReasonFinder(record, self._written, final.get)

    def _written(self, slot: int) -> TensorSharding | None:
        place = self._places.place(slot)
        return None if place is None else self.annotated.sharding(place)

    def __iter__(self) -> Iterator[Reason]:
        for slot in tensors_of(self.record):
            for axis in self.finder.axes(slot):
                yield Reason(self.finder.reason(slot, axis), self)

    def of_tensor(self, slot: int) -> AxisReasons:
        """Return the reasons of a tensor by axis; none for a scalar."""
        axes = self.finder.axes(slot) if self.finder.shape(slot) else ()
        return AxisReasons({axis: Reason(self.finder.reason(slot, axis), self) for axis in axes})

    def absent(self, slot: int) -> tuple[AbsentAxes, ...]:
        """Return the axes that don't shard a tensor, grouped by reason."""
        return absent_axes(self.finder, slot)

    # --- Remedies -----------------------------------------------------------------------------

    def remedy(self, reason: AxisReason) -> Remedy:
        """Return the remedy of a reason; see the table of this module."""
        slot, axis, kind = reason.slot, reason.axis, reason.kind
        remedy = None
        if kind is ReasonKind.REFUSED:
            remedy = self._of_blocker(reason)
        elif kind is ReasonKind.UNOFFERED:
            remedy = self._of_root(reason)
        elif kind is ReasonKind.CONSTRAINED:
            remedy = self._of_constraint(reason)
        if remedy is not None:
            return remedy
        names = self.record.engine.program.names
        if kind is ReasonKind.CONSTRAINED and names[reason.operation or 0] == NAMED_COMPUTATION:
            return Remedy((), "change the shardings of the named computation")
        shape = self.finder.shape(slot)
        able = [dim for dim in range(len(shape)) if self.finder.can_carry(slot, dim, axis)]
        maker = self.finder.maker(slot)
        is_manual = kind is ReasonKind.MANUAL or axis in self.record.manual_axes(maker)
        if kind is ReasonKind.SHARDED or is_manual:
            return Remedy((), _NO_REMEDY[ReasonKind.MANUAL if is_manual else kind])
        if kind in _NO_REMEDY and not able:
            if self.finder.is_port(self.finder.operand_of_call(slot)):
                return Remedy((), _NO_REMEDY[kind])
            dim = max(reason.dims, key=lambda each: shape[each])
            return self._constrained(slot, axis, dim, "with padding")
        dims = [dim for dim in reason.dims if dim in able] or able
        return self._constrained(slot, axis, dims[0] if dims else 0)

    def _of_constraint(self, reason: AxisReason) -> Remedy | None:
        """Return the remedy that changes the constraint that holds a tensor; None without one."""
        program = self.record.engine.program
        if reason.operation is None or program.names[reason.operation] != _CONSTRAINT:
            return None
        (result,) = program.results[reason.operation]
        slot, dim = program.slots[result], reason.dims[0]
        return self._constrained(slot, reason.axis, dim, like=reason.slot)

    def _of_blocker(self, reason: AxisReason) -> Remedy | None:
        """Return the remedy for a refusal that an annotation decides; None for others."""
        refusal, relation = reason.refusal, reason.relation
        if refusal is None or relation is None or refusal.blocker is None:
            return None
        blocker = relation.tensors[refusal.blocker]
        given = self.record.given(blocker)
        if given is None:
            return None
        if refusal.reason is Refused.CLOSED:
            dim = dim_of(relation.family.rule, refusal.blocker, refusal.factor)
            word, opened = "open", given.open(dim)
            what = f"dimension {dim} of"
        elif refusal.reason in (Refused.REPLICATED, Refused.UNREDUCED):
            word, what = "take it out of the lists of", ""
            kept = tuple(each for each in given.replicated_axes if each.name != reason.axis)
            left = tuple(each for each in given.unreduced_axes if each.name != reason.axis)
            opened = given.with_replicated_axes(kept).with_unreduced_axes(left)
        else:
            return None
        description = self.record.tensor(blocker).description
        return self._remedy(blocker, opened, " ".join(filter(None, (word, what, description))))

    def _of_root(self, reason: AxisReason) -> Remedy | None:
        """Return the remedy that shards a root of a dimension; None if none can take the axis."""
        frontier = self.finder.frontier(reason)
        if frontier.nearest is not None or frontier.summed is not None:
            return None
        for dim in reason.dims:
            for root in frontier.roots.get(dim, ())[:_MOST_ROOTS]:
                if self.finder.is_port(root[0]) and self._can_flow(
                    root, (reason.slot, dim), reason
                ):
                    remedy = self._constrained(root[0], reason.axis, root[1])
                    if remedy.places:
                        return remedy
        return None

    def _can_flow(self, root: Place, end: Place, reason: AxisReason) -> bool:
        """Whether an axis on a root would come to another place.

        The root and all places on the way must be able to take it, and have no axes so far; no two
        may be dimensions of one tensor; and no barrier may let axes flow one way only. So must
        the results of elementwise operations on the way, without which their operands don't.
        """
        axis, way = reason.axis, self.finder.connections.way(end, root)
        if way is None or self._places.place(root[0]) is None:
            return False
        touched = {*way.places, *(place for joint in way.joints for place in joint.places)}
        if len({slot for slot, _ in touched}) < len(touched):  # no axis shards two dimensions
            return False
        for slot, dim in touched:
            for sharding in (self.finder.sharding(slot), self.record.engine.sharding(slot)):
                if sharding is not None and (sharding.dim_axes[dim] or dims_with(sharding, axis)):
                    return False
        count = self.finder.size(root[0], axis)
        if any(self._is_held(joint, count) for joint in way.joints):
            return False
        for slot, dim in way.places:
            kind = self.finder.reason(slot, axis, dim).kind
            is_given = kind is ReasonKind.GIVEN and (slot, dim) == root
            if kind is not ReasonKind.UNOFFERED and not is_given:
                return False
        return True

    def _is_held(self, joint: Joint, count: int) -> bool:
        """Whether a factor, or a closed result of an elementwise operation, can't take an axis."""
        engine = self.record.engine
        relation = None if joint.operation is None else engine.relations[joint.operation]
        if relation is None:
            return False
        sizes = {self.finder.shape(slot)[dim] for slot, dim in joint.places}
        if len(sizes) > 1 and joint.operation in engine.program.edges:
            return True  # manual axes shard the dimension
        rule, factor = relation.family.rule, joint.factor
        if factor is not None and (rule.factor_sizes[factor] % count or rule.is_minor(factor)):
            return True
        kind = self.record.final_kind(relation.family)
        if kind is not None and factor is not None and kind.directions[factor] is not _BOTH:
            return True
        if kind is None or not kind.is_elementwise:
            return False
        shardings = (
            (self.finder.sharding(slot), dim)
            for slot, dim in joint.places
            if engine.program.makers[slot] == joint.operation
        )
        return any(one is not None and one.dim_shardings[dim].is_closed for one, dim in shardings)

    def _constrained(
        self, slot: int, axis: str, dim: int, how: str = "", like: int | None = None
    ) -> Remedy:
        """Return the remedy that shards a dimension of a tensor.

        An argument of the body of a call is what the call takes.

        Args:
            slot: the tensor.
            axis: the axis.
            dim: the dimension.
            how: more about it in words.
            like: the tensor whose axes the dimension keeps; by default this one.
        """
        slot = self.finder.operand_of_call(slot)
        given = self.record.given(slot)
        after = self.finder.sharding(slot if like is None else like)
        if given is None:
            meshes = self.record.engine.program.meshes.items()
            mesh = next(name for name, mesh in meshes if axis in mesh.axis_names)
            given = TensorSharding.fully_open(len(self.finder.shape(slot)), mesh)
        before = () if after is None else after.dim_axes[dim]
        kept = given.with_dim(dim, given.dim_shardings[dim].with_axes(before))
        sharding = with_axis_on(kept, AxisRef(axis), dim)
        replicated = tuple(each for each in sharding.replicated_axes if each.name != axis)
        unreduced = tuple(each for each in sharding.unreduced_axes if each.name != axis)
        sharding = sharding.with_replicated_axes(replicated).with_unreduced_axes(unreduced)
        word = "shard" if self.finder.is_port(slot) else "constrain"
        description = self.record.tensor(slot).description
        text = f"{word} dimension {dim} of {description} by {quoted(axis)} {how}".rstrip()
        return self._remedy(slot, sharding, text)

    def _remedy(self, slot: int, sharding: TensorSharding, text: str) -> Remedy:
        """Return the remedy that annotates a tensor; without changes if it can't be annotated."""
        place = self._places.place(slot)
        operation = self.record.engine.program.names[self.finder.maker(slot)]
        if place is None or not self.annotated.can_annotate(place, operation):
            return Remedy((), text)
        name = self.annotated.name(place)
        changes = () if name is None else ((name, sharding),)
        return Remedy(changes, text, ((place, sharding),), self.form)

    def verify(self, reason: AxisReason) -> bool:
        """Return whether the remedy of a reason holds; see `Reason.verify`."""
        places = dict(self.remedy(reason).places)
        if places:
            return self._is_sharded_with(places, reason)
        if reason.kind is ReasonKind.SHARDED:
            return self._is_sharded_with({}, reason)
        slot = self.finder.operand_of_call(reason.slot)
        own = self._constrained(slot, reason.axis, reason.dims[0] if reason.dims else 0)
        reason = replace(reason, slot=slot)
        return not own.places or not self._is_sharded_with(dict(own.places), reason, whole=True)

    def _is_sharded_with(
        self,
        places: Mapping[AnnotatedPlace, TensorSharding],
        reason: AxisReason,
        *,
        whole: bool = False,
    ) -> bool:
        """Return whether annotations shard a tensor by an axis, or at least by a part of it."""
        try:
            finder = self.annotated.propagated(places)
        except SdyError:
            return False
        place = self._places.place(reason.slot)
        slot = None if place is None else TensorPlaces(finder.record).slot(place)
        sharding = None if slot is None else finder.sharding(slot)
        return sharding is not None and any(
            axis.name == reason.axis and not (whole and axis.sub_axis_info)
            for axes in sharding.dim_axes
            for axis in axes
        )


# --- Text -----------------------------------------------------------------------------------------


def _dims(sharding: TensorSharding) -> str:
    """Return the dimensions of a sharding, as `--what-if` takes them: `[{'data'}, {}]`."""
    text = str(sharding)
    return text[text.index("[") : -1].replace('"', "'")


def _wrapped(lines: Iterable[str]) -> list[str]:
    """Return the lines of an answer, wrapped."""
    wrapped: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        wrapped += textwrap.wrap(
            line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return wrapped
