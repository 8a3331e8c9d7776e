# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with dynamic sizes that have been propagated: partitioned once for each size.

    module = sdy.jax.trace(step, params, jax.ShapeDtypeStruct((b, 64), "f4"), mesh=mesh, ...)
    sdy.propagate(module, hints={"b": 128})
    program = sdy.partition(module)
    print(program)                          # sizes, guards, arguments and results
    outputs = program.run([params, x])      # any valid size; partitioned when needed
    program.at(b=16).collectives

The shardings of arguments, results and operations are those of the propagated program at every
size; collectives may differ, since the partitioner takes the cheapest.
"""

from __future__ import annotations

import itertools
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import numpy as np
import numpy.typing as npt

from mlir_sdy.diagnostics import UsageError, collect, emit, error, warning
from mlir_sdy.host import ir
from mlir_sdy.model import Shape
from mlir_sdy.values import set_interface_attributes
from pyshardy.backends import CompileOptions, SpmdProgram
from pyshardy.backends.arrays.sharded_arrays import ShardedArray
from pyshardy.display import Displayed, Table, counted
from pyshardy.dynamic.buckets import Bucket, Buckets, buckets_of, capacity, within
from pyshardy.dynamic.choices import FREEZES, ChoiceRecorder, Freeze
from pyshardy.dynamic.guards import (
    Condition,
    Guard,
    Uneven,
    check_word,
    conditions_of,
    guards_of,
    ports_of,
)
from pyshardy.dynamic.masks import capacity_program, check_capacities
from pyshardy.dynamic.padded_operations import CapacityError
from pyshardy.dynamic.plan import GIVEN, number_operations
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.local_program.entry import in_order
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.packages import require
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram
from pyshardy.sizes.signature import entry_of, signature_of
from pyshardy.sizes.size_map import SizeMap
from pyshardy.sizes.static_program import assertions_in, static_program
from pyshardy.sizes.symbols import check_name, hint_values, told_values, with_hints

if TYPE_CHECKING:
    import jax

_LOG = logging.getLogger(__name__)

MOST_PROGRAMS = 16
"""The partitioned programs that a dynamic one keeps by default."""

_TRIM = "builtin.module(sdy-update-non-divisible-input-output-shardings)"
_OF_ONE_SIZE = frozenset({*dir(PartitionedProgram), *PartitionedProgram.__annotations__})
_MOST_TRIED = 4096
_MOST_SHAPES = 4096


class _Made(NamedTuple):
    """A program that has been partitioned, and the symbols whose values are its last arguments.

    It needs a check if it may be invalid for some sizes that it runs.
    """

    program: PartitionedProgram
    symbols: tuple[str, ...]
    needs_check: bool


class DynamicProgram(Displayed):
    """A program for several sizes; see the description of the module.

    Args:
        module: the propagated program, which isn't changed.
        partition: partitions a static program, with `observers` of the pipeline.
        uneven: what is done at sizes that the shards don't divide; None for the defaults, see
            `guards`.
        buckets: the capacities of symbols, by their names; or those of all symbols. See `buckets`.
        max_programs: the number of partitioned programs that are kept; the least recently used one
            is dropped.
        freeze: what is the same at all sizes: `shardings`, or `all`, also the collectives.

    Attributes:
        sizes: the symbols by their names, with ranges and hints.
        hints: the values of the symbols at which the plan was found.
        inputs: the arguments.
        outputs: the results; sizes that don't follow from those of arguments are unknown.
        guards: the conditions on sizes: of shardings, of equal sizes, and of the program.

    Raises:
        UsageError: there is no such policy, or the program can't be partitioned at the hints.
        CapacityError: an operation can't be computed on padding, as buckets demand.
    """

    def __init__(
        self,
        module: ir.Module,
        partition: Callable[..., PartitionedProgram],
        uneven: Uneven | None = None,
        max_programs: int = MOST_PROGRAMS,
        buckets: Buckets | Bucket | None = None,
        freeze: Freeze = "shardings",
    ):
        check_word("freeze", freeze, FREEZES)
        if not isinstance(cast("object", max_programs), int) or max_programs < 1:
            raise UsageError(error(f"'max_programs' is at least 1, got {max_programs!r}"))
        self._module, self._partition, self._most = copy_of(module), partition, max_programs
        signature = signature_of(self._module)
        self.sizes = with_hints(signature.symbols, {}, self._module)
        self.hints = hint_values(self.sizes)
        self._signature = replace(signature, symbols=self.sizes)
        sizes = SizeMap(self._module, self._signature)
        self.inputs, self.outputs = ports_of(self._module, self._signature, sizes)
        self._guards = guards_of((*self.inputs, *self.outputs), self.sizes, uneven)
        conditions = conditions_of(self._module, sizes)
        self.guards: tuple[Guard | Condition, ...] = (*self._guards, *conditions)
        self._buckets = buckets_of(buckets, self.sizes)
        self._programs: OrderedDict[tuple[tuple[int, ...], tuple[str, ...]], _Made] = OrderedDict()
        self._values_at = lru_cache(_MOST_SHAPES)(self._signature.values_of)
        self._capacities_at = lru_cache(_MOST_SHAPES)(self._capacities_and_symbols)
        self._shapes_at = lru_cache(_MOST_SHAPES)(self._shapes_of_results)
        self._pads = True  # until an operation can't be computed on padding
        self._has_assertions = bool(assertions_in(self._module))
        self._is_full = False
        tried = {n: within(self._buckets.get(n, 1), hint) for n, hint in self.hints.items()}
        if freeze == "all":
            recorder = ChoiceRecorder()
            self._partition = partial(partition, observers=(recorder,))
            number_operations(self._module)
            self.at(**tried)
            recorder.freeze(self._module)
            self._partition = partition
            self._programs.clear()
        self.at(**tried)  # what can't be partitioned is told now

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and name in _OF_ONE_SIZE:
            sizes = ", ".join(f"{each}=..." for each in self.sizes)
            message = f"'{name}' depends on the sizes of the program: program.at({sizes}).{name}"
            raise AttributeError(message)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def summary(self) -> str:
        """Return the sizes, and the numbers of arguments, results and guards, in one line."""
        sizes = ", ".join(map(str, self.sizes.values()))
        unproven = sum(not each.is_proven for each in self.guards)
        counts = counted(len(self.inputs), "argument"), counted(len(self.outputs), "result")
        return f"sizes {sizes}; {', '.join(counts)}, {counted(unproven, 'unproven guard')}"

    def tables(self) -> list[Table]:
        """Return tables of the sizes, the guards, the arguments and the results."""
        headings = ("name", "type", "sharded along")
        arguments, results = (
            [(each.name, each.type, [", ".join(axes) for axes in each.axes]) for each in ports]
            for ports in (self.inputs, self.outputs)
        )
        return [
            Table("Sizes", ("size",), [(str(each),) for each in self.sizes.values()]),
            Table("Guards", ("guard",), [(str(each),) for each in self.guards]),
            Table("Arguments", headings, arguments),
            Table("Results", headings, results),
        ]

    # --- Programs for sizes -------------------------------------------------------------------

    def at(self, *shapes: Sequence[int], **sizes: int) -> PartitionedProgram:
        """Return the partitioned program for given sizes.

            program.at(b=16)
            program.at(*(x.shape for x in inputs))

        A program for a capacity runs all sizes up to it. Its arguments and results have the larger
        shapes, and the values of symbols are its last arguments; `run` pads, passes and cuts.

        Args:
            shapes: the shapes of all arguments.
            sizes: or the values of all symbols.

        Raises:
            UsageError: the sizes don't fit the program, or violate a guard.
            PipelineError: the program can't be partitioned.
        """
        return self._at(self._values(shapes, sizes)).program

    def values_of(self, *shapes: Sequence[int]) -> dict[str, int]:
        """Return the values of the symbols for the shapes of all arguments.

        Raises:
            UsageError: the shapes don't fit the program.
        """
        return self._signature.values_of(shapes)

    def static(self, **sizes: int) -> ir.Module:
        """Return the unpartitioned program for given sizes, with the shardings of the plan.

        Raises:
            UsageError: the sizes don't fit the program.
        """
        return static_program(self._module, self._signature.check(sizes), self._signature)

    def input_specs(self, **sizes: int) -> list[TensorSpec]:
        """Return the types of the arguments for given sizes.

        Raises:
            UsageError: the sizes don't fit the program.
        """
        values = self._signature.check(sizes)
        return [
            TensorSpec(tuple(size.evaluate(values) for size in each.sizes), each.element)
            for each in self._signature.arguments
        ]

    def compile(
        self, backend: str, options: CompileOptions | None = None, **sizes: int
    ) -> SpmdProgram:
        """Compile the program for given sizes, before it runs; see `PartitionedProgram.compile`.

        Args:
            backend: the name of a backend.
            options: the compile options.
            sizes: the values of symbols; others have their hints.

        Raises:
            UsageError: as for `at`, or there is no such backend.
            ExecutionError: the backend rejects the program.
        """
        return self.at(**(self.hints | sizes)).compile(backend, options)

    def run(
        self,
        inputs: Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike],
        backend: str = "interpreter",
        options: CompileOptions | None = None,
    ) -> list[Array]:
        """Run the program for the sizes of its inputs; see `PartitionedProgram.run`.

        Raises:
            UsageError: the inputs don't fit the program, or violate a guard.
            ExecutionError: the run failed.
        """
        return [array.gather() for array in self.run_sharded(inputs, backend, options)]

    def run_sharded(
        self,
        inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
        backend: str = "interpreter",
        options: CompileOptions | None = None,
    ) -> list[ShardedArray]:
        """Run the program, and keep the results on the devices.

        Inputs that are on devices stay there, whatever the sizes of the others: shardings don't
        depend on sizes. Results of a program for a capacity are cut when they are gathered.

        Raises:
            UsageError: as for `run`; or the shards don't divide a size, which `run` would pad.
            ExecutionError: the run failed.
        """
        given = in_order(inputs, self._names, "DynamicProgram.run")
        shapes = [e.shape if isinstance(e, ShardedArray) else np.shape(e) for e in given]
        values = self._values(shapes)
        made = self._at(values)
        found = made.program.run_sharded(_arguments(made, given, values, np.pad), backend, options)
        return [
            array if array.shape == shape else replace(array, content=shape)
            for array, shape in zip(found, self._result_shapes(values), strict=True)
        ]

    def as_jax(self, devices: jax.sharding.Mesh | None = None) -> Callable[..., Any]:
        """Return the program as a function of JAX arrays, which takes all valid sizes.

            step = program.as_jax()
            outputs = [step(weights, batch) for batch in batches]

        It may be called within functions that JAX traces, as shapes are known then. It pads, and
        cuts results, as `run` does. A call raises the errors of `at`.

        Args:
            devices: the mesh of JAX to run on, as in `PartitionedProgram.as_jax`.

        Raises:
            UsageError: JAX is missing.
        """
        require("jax", "'as_jax'", extra="jax")
        import jax  # noqa: PLC0415

        from pyshardy.frontends.jax.lowered import structure_of  # noqa: PLC0415 (loads JAX)

        numpy: Any = jax.numpy
        functions: dict[int, tuple[PartitionedProgram, Callable[..., Any]]] = {}
        counts = {"arguments": len(self._names), "results": len(self.outputs)}
        structure = structure_of(self._module, **counts)

        def call(*arguments: Any, **keywords: Any) -> Any:
            leaves: list[Any] = jax.tree.leaves((arguments, keywords))
            if structure is not None and len(leaves) == structure.in_tree.num_leaves:
                leaves = [leaves[index] for index in structure.kept]
            values = self._values([np.shape(each) for each in leaves])
            made = self._at(values)
            if id(made.program) not in functions:
                functions[id(made.program)] = made.program, made.program.as_jax(devices)
            function = functions[id(made.program)][1]
            if not made.symbols:
                return function(*arguments, **keywords)
            found = function(*_arguments(made, leaves, values, numpy.pad))
            pairs = zip(found, self._result_shapes(values), strict=True)
            cut = [e if e.shape == shape else e[tuple(map(slice, shape))] for e, shape in pairs]
            return tuple(cut) if structure is None else structure.out_tree.unflatten(cut)

        return call

    @property
    def _names(self) -> list[str]:
        return [each.name for each in self._signature.arguments]

    def _values(
        self, shapes: Sequence[Sequence[int]], sizes: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        if not shapes and sizes is not None:
            return self._signature.check(sizes)
        if sizes:
            for name in sizes:
                check_name(name, self.sizes, "sizes")
            raise UsageError(error("sizes are given by shapes or by names, not by both"))
        return self._values_at(tuple(map(tuple, shapes)))

    def _at(self, values: Mapping[str, int]) -> _Made:
        given = tuple(values.items())
        capacities, symbols = self._capacities_at(given)
        key = tuple(capacities.values()), symbols
        is_known = key in self._programs
        try:
            made = self._programs[key] if is_known else self._made(capacities, symbols)
            if symbols and (made.needs_check or self._has_assertions):
                self._shapes_at(given)  # refuses sizes that the program isn't for
        except CapacityError as refusal:
            if not self._pads or self._buckets.keys() >= {*symbols}:
                raise
            self._pads = False
            self._capacities_at.cache_clear()
            reason = refusal.diagnostics[0]
            message = f"dimensions aren't padded, but unsharded at uneven sizes: {reason.message}"
            emit(warning(message, reason.location))
            return self._at(values)
        self._programs[key] = made
        self._programs.move_to_end(key)
        if not is_known:
            _LOG.info("partitioned for %s", told_values(capacities))
            self._drop_least_used()
        return made

    def _made(self, capacities: Mapping[str, int], symbols: tuple[str, ...]) -> _Made:
        """Return the program for capacities, the values of all symbols.

        Some symbols may have smaller values.
        """
        needs_check = False
        if symbols:
            arguments = self._module, self._signature, symbols, capacities
            static, needs_check = capacity_program(*arguments)
        else:
            static = static_program(self._module, capacities, self._signature)
        entry = entry_of(static)
        types = function_type_of(entry)
        self._check_guards(capacities, types)
        without = ([None] * len(each) for each in (types.inputs, types.results))
        set_interface_attributes(entry, GIVEN, *without)  # only dynamic programs have it
        if not all(each.is_proven for each in self._guards):
            with collect():  # the guards say it
                run_pipeline(static, _TRIM)
        program = self._partition(static)
        named = zip(program.inputs, (*self._names, *symbols), strict=True)
        inputs = tuple(replace(port, name=name) for port, name in named)
        return _Made(replace(program, inputs=inputs), symbols, needs_check)

    def _capacities(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return the values for which the program is made that runs these."""
        found: dict[str, int] = {}
        for name, symbol in self.sizes.items():
            number = found[name] = values[name]
            if name in self._buckets:
                number = capacity(self._buckets[name], symbol, values[name])
                if symbol.high is not None:
                    number = max(min(number, symbol.high), values[name])
                found[name] = -(-number // symbol.multiple_of) * symbol.multiple_of
        padded = [each for each in self._guards if not each.is_proven and each.policy == "pad"]
        for guard in padded * 2:  # a second time, as one may change what another one depends on
            for name in () if guard.size is None else sorted(guard.size.symbols):
                if self._pads or name in self._buckets:
                    step = self.sizes[name].multiple_of
                    tried = range(found[name], found[name] + _MOST_TRIED * step, step)
                    even = (number for number in tried if guard.holds({**found, name: number}))
                    found[name] = next(even, found[name])
        return found

    def _capacities_and_symbols(
        self, values: Iterable[tuple[str, int]]
    ) -> tuple[dict[str, int], tuple[str, ...]]:
        """Return the capacities for values, and the symbols whose values the program takes.

        These have a smaller value, now or perhaps later.
        """
        given, found = dict(values), list[str]()
        capacities = self._capacities(given)
        for name, symbol in self.sizes.items():
            below = within(self._buckets.get(name, 1), capacities[name] - symbol.multiple_of)
            if given[name] < capacities[name] or (
                below >= symbol.low
                and self._capacities({**given, name: below})[name] == capacities[name]
            ):
                found.append(name)
        return capacities, tuple(found)

    def _shapes_of_results(self, values: Iterable[tuple[str, int]]) -> list[Shape]:
        """Return the shapes of the results, and check that the program is for these sizes."""
        given, (capacities, symbols) = dict(values), self._capacities_at(values)
        static = static_program(self._module, given, self._signature)
        if symbols:
            check_capacities(self._module, self._signature, given, capacities)
        return [shape_of(each) for each in function_type_of(entry_of(static)).results]

    def _result_shapes(self, values: Mapping[str, int]) -> list[Shape]:
        if any(None in port.sizes for port in self.outputs):
            return self._shapes_at(tuple(values.items()))
        sizes = ([each for each in port.sizes if each is not None] for port in self.outputs)
        return [tuple(each.evaluate(values) for each in of_port) for of_port in sizes]

    def _drop_least_used(self) -> None:
        if len(self._programs) <= self._most:
            return
        self._programs.popitem(last=False)
        if not self._is_full:
            self._is_full = True
            sizes = (dict(zip(self.sizes, numbers, strict=True)) for numbers, _ in self._programs)
            seen = "; ".join(map(told_values, sizes))
            message = f"more than {self._most} sizes were used, at last {seen}: programs are"
            names = ", ".join(f"'{name}': 'pow2'" for name in self.sizes)
            advice = f"pad inputs to fewer sizes by buckets={{{names}}}, or raise 'max_programs'"
            emit(warning(f"{message} partitioned again; {advice}"))

    def _check_guards(self, values: Mapping[str, int], types: ir.FunctionType) -> None:
        """Check the guards whose policy refuses the sizes of arguments and results."""
        of_ports = (*types.inputs[: len(self.inputs)], *types.results)
        for guard in self._guards:
            number = shape_of(of_ports[guard.index])[guard.dim]
            if guard.policy == "guard" and number % guard.divisor:
                raise guard.failure(number, self._nearest(guard, values))

    def _nearest(self, guard: Guard, values: Mapping[str, int]) -> list[str]:
        """Return the nearest sizes below and above for which a guard holds, as texts."""
        if guard.size is None or len(guard.size.symbols) != 1:
            return []
        (name,) = guard.size.symbols
        symbol, found = self.sizes[name], list[str]()
        for step in (-1, 1):
            most = min(_MOST_TRIED, guard.divisor * symbol.multiple_of)
            tried = ({**values, name: values[name] + step * away} for away in range(1, most + 1))
            valid = (n for n in tried if guard.holds(n) and not symbol.problem_of(n[name]))
            found += [str(guard.size.evaluate(each)) for each in itertools.islice(valid, 1)]
        return found


def _arguments(
    made: _Made, arrays: Sequence[Any], values: Mapping[str, int], pad: Callable[..., Any]
) -> list[Any]:
    """Return the arguments of a program: arrays with padding behind their dimensions, and sizes."""
    found: list[Any] = []
    for array, port in zip(arrays, made.program.inputs, strict=False):
        layout = (port.spec, port.sharding, port.mesh, port.local_spec)
        missing: list[tuple[int, int]] = []
        if not (isinstance(array, ShardedArray) and array.is_laid_out_as(*layout)):
            shapes = zip(port.spec.shape, np.shape(array), strict=True)
            missing = [(0, size - has) for size, has in shapes]
        found.append(pad(array, missing) if any(map(any, missing)) else array)
    return [*found, *(np.array(values[name], np.int32) for name in made.symbols)]
