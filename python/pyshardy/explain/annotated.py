# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The annotated program behind an explanation: its values by the tensors of a record.

A tensor of a record is a value of the program that the user wrote: an argument or a result of a
function, or a result of an operation, which is found by its mark (see `NamedValues.marked`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

from mlir_sdy.diagnostics import collect
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.values import (
    argument_shardings,
    get_sharding,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
    set_sharding,
)
from mlir_sdy.verify import verify
from pyshardy.api import propagate_with
from pyshardy.contracts.attributes import without_contracts
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import (
    NamedValues,
    argument_names,
    mark_of,
    operations_with_results,
    result_names,
)
from pyshardy.irtools.stablehlo_views import callee_of, function_type_of, symbol_name
from pyshardy.propagation.debugging.reasons import ReasonFinder
from pyshardy.propagation.debugging.record import Record

if TYPE_CHECKING:
    from pyshardy.pipeline.options import OptionValue
    from pyshardy.pipelines.propagation import PropagationOptions


@dataclass(frozen=True, slots=True)
class AnnotatedPlace:
    """A value of the annotated program.

    Attributes:
        owner: the name of the function, or the mark of the operation.
        index: the number of the argument or of the result.
        is_argument: whether it is an argument: of a function, or of the body of an operation, whose
            annotation is that of the function for a call, and which has none for others.
        copy: the number of the tensor among those that stand for the value, as in functions that
            are called several times.
    """

    owner: str | int
    index: int
    is_argument: bool = False
    copy: int = 0


class _Port(NamedTuple):
    """The name of an argument or a result of a function, and its annotation."""

    name: str
    sharding: TensorSharding | None


class Annotated:
    """The annotated program that a record is about.

    Args:
        module: the program, with marks, as it was before propagation; it isn't changed.
        values: its values by name.
        options: the options of its propagation.
    """

    def __init__(
        self, module: ir.Module, values: NamedValues, options: PropagationOptions | None = None
    ):
        self._module = module
        self._values = values.in_copy(module)
        self._options = cast("Mapping[str, OptionValue]", options or {})

    def sharding(self, place: AnnotatedPlace) -> TensorSharding | None:
        """Return the annotation on a value; None if it has none."""
        place = self._in_callee(place)
        if isinstance(place.owner, int):
            maker = None if place.is_argument else self._makers.get(place.owner)
            return None if maker is None else get_sharding(maker.results[place.index])
        port = self._ports.get(replace(place, copy=0))
        return None if port is None else port.sharding

    def can_annotate(self, place: AnnotatedPlace, operation: str) -> bool:
        """Whether a value can get an annotation.

        Args:
            place: the value.
            operation: the name of the operation of its tensor, which importing may have added.
        """
        place = self._in_callee(place)
        if not isinstance(place.owner, int):
            return replace(place, copy=0) in self._ports
        maker = None if place.is_argument else self._makers.get(place.owner)
        names = {operation, "func.call" if operation == "sdy.named_computation" else operation}
        return maker is not None and maker.name in names

    def name(self, place: AnnotatedPlace) -> str | None:
        """Return the name of a value, as `--what-if` takes it; None if it has none."""
        if isinstance(place.owner, int):
            maker = None if place.is_argument else self._makers.get(place.owner)
            return maker and self._values.name_of_result(maker, place.index)
        port = self._ports.get(replace(place, copy=0))
        return port.name if port is not None and place.owner == "main" else None

    def propagated(self, changes: Mapping[AnnotatedPlace, TensorSharding]) -> ReasonFinder:
        """Propagate a copy with other annotations, and return the reasons.

        Args:
            changes: the annotations by value.

        Raises:
            VerificationError: an annotation is invalid.
            PipelineError: propagation fails.
        """
        with without_contracts(self._module):
            module = copy_of(self._module)
        makers = _by_mark(module)
        functions = {symbol_name(each): each for each in functions_of(module)}
        for place, sharding in ((self._in_callee(one), each) for one, each in changes.items()):
            if isinstance(place.owner, int):
                set_sharding(makers[place.owner].results[place.index], sharding)
            elif place.is_argument:
                set_argument_shardings(functions[place.owner], {place.index: sharding})
            else:
                set_result_shardings(functions[place.owner], {place.index: sharding})
        verify(module)
        with collect():  # warnings about shardings that the user never wrote
            record = propagate_with(module, self._options, is_temporary=True)
        return ReasonFinder(record, None, final_shardings(record, module).get)

    def _in_callee(self, place: AnnotatedPlace) -> AnnotatedPlace:
        """Return a place; for an argument of the body of a call, that of the function."""
        maker = self._makers.get(place.owner) if isinstance(place.owner, int) else None
        if maker is None or not place.is_argument or maker.name != "func.call":
            return place
        return AnnotatedPlace(callee_of(maker), place.index, is_argument=True)

    @cached_property
    def _makers(self) -> Mapping[int, ir.Operation]:
        return _by_mark(self._module)

    @cached_property
    def _ports(self) -> Mapping[AnnotatedPlace, _Port]:
        """The arguments and results of all functions, read once."""
        ports: dict[AnnotatedPlace, _Port] = {}
        for function in functions_of(self._module):
            owner, types = symbol_name(function), function_type_of(function)
            if any(isinstance(each, ir.TupleType) for each in (*types.inputs, *types.results)):
                continue  # its tuples are tensors in the record
            names = argument_names(function, self._values.text)
            pairs = zip(names, argument_shardings(function), strict=False)  # none of a declaration
            for index, (name, sharding) in enumerate(pairs):
                place = AnnotatedPlace(owner, index, is_argument=True)
                ports[place] = _Port(name or f"arg{index}", sharding)
            pairs = zip(result_names(function), result_shardings(function), strict=True)
            for index, (name, sharding) in enumerate(pairs):
                ports[AnnotatedPlace(owner, index)] = _Port(name or f"result[{index}]", sharding)
        return ports


class TensorPlaces:
    """The annotated values for which the tensors of a record stand, and back.

    Args:
        record: the record.
    """

    def __init__(self, record: Record):
        self._record = record

    def place(self, slot: int) -> AnnotatedPlace | None:
        """Return the value of a tensor; None if importing has added the tensor."""
        return self._places.get(slot)

    def slot(self, place: AnnotatedPlace) -> int | None:
        """Return the tensor of a value; None if the program has it no more."""
        return self._slots.get(place)

    @cached_property
    def _places(self) -> Mapping[int, AnnotatedPlace]:
        program = self._record.engine.program
        names = {number: name for name, number in program.functions.items()}
        copies: defaultdict[AnnotatedPlace, int] = defaultdict(int)
        places: dict[int, AnnotatedPlace] = {}
        for slot in dict.fromkeys((*program.slots, *range(program.num_values, program.num_slots))):
            found = self._read(slot, names)
            if found is not None:
                count = copies[found]
                copies[found] = count + 1
                places[slot] = replace(found, copy=count) if count else found
        return places

    @cached_property
    def _slots(self) -> Mapping[AnnotatedPlace, int]:
        return {place: slot for slot, place in self._places.items()}

    def _read(self, slot: int, names: Mapping[int, str]) -> AnnotatedPlace | None:
        program = self._record.engine.program
        maker = program.makers[slot]
        if maker < 0:
            return None
        if maker in names:
            if program.is_result_of_function(slot):
                return AnnotatedPlace(names[maker], program.function_results[maker].index(slot))
            index = program.arguments[maker].index(slot)
            return AnnotatedPlace(names[maker], index, is_argument=True)
        made = self._record.result_place(slot)
        found = made or self._record.inner_argument_place(slot)
        mark = None if found is None else mark_of(found[0])
        if found is None or mark is None:
            return None
        return AnnotatedPlace(mark, found[1], is_argument=made is None)


def final_shardings(record: Record, module: ir.Module) -> Mapping[int, TensorSharding | None]:
    """Return the shardings of tensors after the passes that follow propagation.

    These change arguments and results of functions; reshards that they insert are other values.

    Args:
        record: the record of the propagation.
        module: the module as these passes left it.
    """
    program = record.engine.program
    final: dict[int, TensorSharding | None] = {}
    for function in functions_of(module):
        number = program.functions.get(symbol_name(function))
        if number is not None:
            slots: Sequence[int] = program.function_results[number]
            final.update(zip(slots, result_shardings(function), strict=False))
            arguments = program.arguments.get(number, ())
            final.update(zip(arguments, argument_shardings(function), strict=False))
    engine = record.engine
    return {slot: final.get(slot, engine.sharding(slot)) for slot in range(len(engine.state))}


def _by_mark(module: ir.Module) -> dict[int, ir.Operation]:
    found: dict[int, ir.Operation] = {}
    for operation in operations_with_results(module):
        mark = mark_of(operation.location)
        if mark is not None:
            found.setdefault(mark, operation)
    return found
