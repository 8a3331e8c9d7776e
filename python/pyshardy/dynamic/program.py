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

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from mlir_sdy.attribute_base import value_of
from mlir_sdy.diagnostics import SdyError, UsageError, collect, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import argument_shardings, result_shardings
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.sharded_arrays import ShardedArray
from pyshardy.display import Displayed, Table, counted
from pyshardy.dynamic.guards import DynamicPort, Guard, Uneven, guards_of
from pyshardy.dynamic.padding import Shape, pad_ports
from pyshardy.dynamic.plan import GIVEN
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import result_names
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.local_program.entry import in_order
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.packages import require
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram
from pyshardy.sizes.signature import DynamicSignature, entry_of, signature_of
from pyshardy.sizes.size import Size
from pyshardy.sizes.static_program import static_program
from pyshardy.sizes.symbols import SizeSymbol, check_name, hint_values, with_hints

if TYPE_CHECKING:
    import jax

_LOG = logging.getLogger(__name__)

MOST_PROGRAMS = 16
"""The partitioned programs that a dynamic one keeps by default."""

_TRIM = "builtin.module(sdy-update-non-divisible-input-output-shardings)"
_OF_ONE_SIZE = frozenset({*dir(PartitionedProgram), *PartitionedProgram.__annotations__})
_MOST_TRIED = 4096


@dataclass(frozen=True, slots=True)
class _Padded:
    """The shapes of padded arguments and results by their positions; see `padding`."""

    arguments: Mapping[int, Shape]
    results: Mapping[int, Shape]


class DynamicProgram(Displayed):
    """A program for several sizes; see the description of the module.

    Args:
        module: the propagated program, which isn't changed.
        partition: partitions a static program.
        uneven: what is done at sizes that the shards don't divide; None for the defaults, see
            `guards`.
        max_programs: the number of partitioned programs that are kept; the least recently used one
            is dropped.

    Raises:
        UsageError: there is no such policy, or the program can't be partitioned at the hints.
    """

    def __init__(
        self,
        module: ir.Module,
        partition: Callable[[ir.Module], PartitionedProgram],
        uneven: Uneven | None = None,
        max_programs: int = MOST_PROGRAMS,
    ):
        if max_programs < 1:
            raise UsageError(error(f"'max_programs' is at least 1, got {max_programs}"))
        self._module = copy_of(module)
        self._partition = partition
        self._uneven: Uneven | None = uneven
        self._most = max_programs
        signature = signature_of(self._module)
        symbols = with_hints(signature.symbols, {}, self._module)
        self._signature = DynamicSignature(symbols, signature.arguments, signature.constants)
        self._programs: OrderedDict[tuple[int, ...], tuple[PartitionedProgram, _Padded]] = (
            OrderedDict()
        )
        self._is_full = False
        self.at(**self.hints)  # what can't be partitioned is told now

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and name in _OF_ONE_SIZE:
            sizes = ", ".join(f"{each}=..." for each in self.sizes)
            message = f"'{name}' depends on the sizes of the program: program.at({sizes}).{name}"
            raise AttributeError(message)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    # --- Interface ----------------------------------------------------------------------------

    @property
    def sizes(self) -> Mapping[str, SizeSymbol]:
        """The symbols by their names, with ranges and hints."""
        return self._signature.symbols

    @property
    def hints(self) -> dict[str, int]:
        """The values of the symbols at which the plan was found."""
        return hint_values(self._signature.symbols)

    @cached_property
    def inputs(self) -> tuple[DynamicPort, ...]:
        """The arguments."""
        entry = entry_of(self._module)
        block, shardings = entry.regions[0].blocks[0], argument_shardings(entry)
        given = FunctionView(entry).arg_attrs
        return tuple(
            self._port(
                each.name,
                each.element,
                each.sizes,
                shardings[each.index],
                given[each.index] if given else None,
                block.arguments[each.index].location,
            )
            for each in self._signature.arguments
        )

    @cached_property
    def outputs(self) -> tuple[DynamicPort, ...]:
        """The results; sizes that aren't linear in a symbol are unknown."""
        entry = entry_of(self._module)
        shardings, given = result_shardings(entry), FunctionView(entry).res_attrs
        types = function_type_of(entry).results
        names = result_names(entry)
        shapes = _ResultShapes(self._module, self._signature)
        return tuple(
            self._port(
                names[index] or f"result {index}",
                str(ir.RankedTensorType(each).element_type),
                tuple(shapes.size(index, dim) for dim in range(len(shape_of(each)))),
                shardings[index],
                given[index] if given else None,
                entry.location,
            )
            for index, each in enumerate(types)
        )

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """The conditions under which arguments and results are sharded evenly."""
        multiples = {each.name: each.multiple_of for each in self.sizes.values()}
        return tuple(
            guard
            for ports in (self.inputs, self.outputs)
            for guard in guards_of(ports, multiples, self._uneven)
        )

    def summary(self) -> str:
        """Return the sizes, and the numbers of arguments, results and guards, in one line."""
        sizes = ", ".join(map(str, self.sizes.values()))
        counts = (
            counted(len(items), noun)
            for items, noun in (
                (self.inputs, "argument"),
                (self.outputs, "result"),
                ([each for each in self.guards if not each.is_proven], "unproven guard"),
            )
        )
        return f"sizes {sizes}; {', '.join(counts)}"

    def tables(self) -> list[Table]:
        """Return tables of the sizes, the guards, the arguments and the results."""
        return [
            Table("Sizes", ("size",), [(str(each),) for each in self.sizes.values()]),
            Table("Guards", ("guard",), [(str(each),) for each in self.guards]),
            *(
                Table(
                    title,
                    ("name", "type", "sharded along"),
                    [(p.name, p.type, [", ".join(axes) for axes in p.axes]) for p in ports],
                )
                for title, ports in (("Arguments", self.inputs), ("Results", self.outputs))
            ),
        ]

    # --- Programs for sizes -------------------------------------------------------------------

    def at(self, *shapes: Sequence[int], **sizes: int) -> PartitionedProgram:
        """Return the partitioned program for given sizes.

            program.at(b=16)
            program.at(*(x.shape for x in inputs))

        Arguments and results that are padded have the larger shapes; `run` pads and cuts them.

        Args:
            shapes: the shapes of all arguments.
            sizes: or the values of all symbols.

        Raises:
            UsageError: the sizes don't fit the program, or violate a guard.
            PipelineError: the program can't be partitioned.
        """
        return self._at(self._values(shapes, sizes))[0]

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
        arrays = [np.asarray(each) for each in in_order(inputs, self._names)]
        program, padded = self._at(self._values([each.shape for each in arrays], {}))
        for index, shape in padded.arguments.items():
            missing = zip(shape, arrays[index].shape, strict=True)
            arrays[index] = np.pad(arrays[index], [(0, more - size) for more, size in missing])
        found = program.run(arrays, backend, options)
        for index, shape in padded.results.items():
            found[index] = found[index][tuple(slice(size) for size in shape)]
        return found

    def run_sharded(
        self,
        inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
        backend: str = "interpreter",
        options: CompileOptions | None = None,
    ) -> list[ShardedArray]:
        """Run the program, and keep the results on the devices.

        Inputs that are on devices stay there, whatever the sizes of the others: shardings don't
        depend on sizes.

        Raises:
            UsageError: as for `run`; or the shards don't divide a size, which `run` would pad.
            ExecutionError: the run failed.
        """
        given = in_order(inputs, self._names)
        shapes = [
            each.spec.shape if isinstance(each, ShardedArray) else np.shape(each) for each in given
        ]
        program, padded = self._at(self._values(shapes, {}))
        if padded.arguments or padded.results:
            message = "shards on devices aren't padded: use sizes that they divide, or 'run'"
            raise UsageError(error(message))
        return program.run_sharded(given, backend, options)

    def as_jax(self, devices: jax.sharding.Mesh | None = None) -> Callable[..., Any]:
        """Return the program as a function of JAX arrays, which takes all valid sizes.

            step = program.as_jax()
            outputs = [step(weights, batch) for batch in batches]

        It may be called within functions that JAX traces, as shapes are known then. A call raises
        the errors of `at`, and a `UsageError` for sizes that `run` would pad.

        Args:
            devices: the mesh of JAX to run on, as in `PartitionedProgram.as_jax`.

        Raises:
            UsageError: JAX is missing.
        """
        require("jax", "'as_jax'", extra="jax")
        import jax  # noqa: PLC0415

        functions: dict[int, tuple[PartitionedProgram, Callable[..., Any]]] = {}

        def call(*arguments: Any, **keywords: Any) -> Any:
            shapes = [np.shape(each) for each in jax.tree.leaves((arguments, keywords))]
            program, padded = self._at(self._values(shapes, {}))
            if padded.arguments or padded.results:
                message = "arrays of JAX aren't padded: use sizes that the shards divide, or 'run'"
                raise UsageError(error(message))
            if id(program) not in functions:
                functions[id(program)] = program, program.as_jax(devices)
            return functions[id(program)][1](*arguments, **keywords)

        return call

    @property
    def _names(self) -> list[str]:
        return [each.name for each in self._signature.arguments]

    def _values(self, shapes: Sequence[Sequence[int]], sizes: Mapping[str, int]) -> dict[str, int]:
        if not shapes:
            return self._signature.check(sizes)
        if sizes:
            for name in sizes:
                check_name(name, self.sizes, "sizes")
            raise UsageError(error("sizes are given by shapes or by names, not by both"))
        return self._signature.values_of(shapes)

    def _at(self, values: Mapping[str, int]) -> tuple[PartitionedProgram, _Padded]:
        key = tuple(values[name] for name in self.sizes)
        known = self._programs.get(key)
        if known is not None:
            self._programs.move_to_end(key)
            return known
        static = static_program(self._module, values, self._signature)
        entry = entry_of(static)
        function_type = function_type_of(entry)
        padded, cut = self._padded(values, function_type)
        pad_ports(entry, padded.arguments, padded.results)
        _remove_own_attributes(entry)
        if any(each.policy == "unshard" for each in self.guards):
            with collect():  # the guards say it
                run_pipeline(static, _TRIM)
        made = self._partition(static), replace(padded, results=cut)
        self._programs[key] = made
        _LOG.info("partitioned for %s", self._told(key))
        if len(self._programs) > self._most:
            self._programs.popitem(last=False)
            if not self._is_full:
                self._is_full = True
                seen = "; ".join(map(self._told, self._programs))
                message = f"more than {self._most} sizes were used, at last {seen}: programs"
                advice = "are partitioned again; pad inputs to fewer sizes, or raise 'max_programs'"
                emit(warning(f"{message} {advice}"))
        return made

    def _told(self, key: tuple[int, ...]) -> str:
        return ", ".join(f"{name} = {number}" for name, number in zip(self.sizes, key, strict=True))

    def _padded(
        self, values: Mapping[str, int], function_type: ir.FunctionType
    ) -> tuple[_Padded, dict[int, Shape]]:
        """Return the shapes of padded arguments and results, and those to which results are cut.

        Raises:
            UsageError: a guard doesn't hold.
        """
        shapes = (
            [shape_of(each) for each in function_type.inputs],
            [shape_of(each) for each in function_type.results],
        )
        larger: tuple[dict[int, Shape], dict[int, Shape]] = ({}, {})
        for guard in self.guards:
            ports = 0 if any(guard.port is each for each in self.inputs) else 1
            found = (self.inputs, self.outputs)[ports]
            index = next(at for at, each in enumerate(found) if each is guard.port)
            number = shapes[ports][index][guard.dim]
            if guard.is_proven or number % guard.divisor == 0 or guard.policy == "unshard":
                continue
            if guard.policy == "guard":
                raise guard.failure(number, self._nearest(guard, values))
            shape = list(larger[ports].get(index, shapes[ports][index]))
            shape[guard.dim] = -(-number // guard.divisor) * guard.divisor
            larger[ports][index] = tuple(shape)
        return _Padded(*larger), {index: shapes[1][index] for index in larger[1]}

    def _nearest(self, guard: Guard, values: Mapping[str, int]) -> list[str]:
        """Return the nearest sizes below and above for which a guard holds, as texts."""
        if guard.size is None or len(guard.size.symbols) != 1:
            return []
        (name,) = guard.size.symbols
        found: list[str] = []
        for step in (-1, 1):
            for away in range(
                1, min(_MOST_TRIED, guard.divisor * self.sizes[name].multiple_of) + 1
            ):
                value = values[name] + step * away
                size = guard.size.evaluate({**values, name: value})
                if size % guard.divisor == 0 and not self.sizes[name].problem_of(value):
                    found.append(str(size))
                    break
        return found

    def _port(
        self,
        name: str,
        element: str,
        sizes: tuple[Size | None, ...],
        sharding: TensorSharding | None,
        attributes: ir.DictAttr | None,
        location: ir.Location,
    ) -> DynamicPort:
        rank = len(sizes)
        mesh = None if sharding is None else mesh_of(sharding, meshes_of(self._module))
        axes: tuple[tuple[str, ...], ...] = ((),) * rank
        shards, is_given = (1,) * rank, (False,) * rank
        if sharding is not None and mesh is not None:
            axes = tuple(tuple(axis.name for axis in each) for each in sharding.dim_axes)
            shards = tuple(each.sharded_size(mesh) for each in sharding.dim_shardings)
        if attributes is not None and GIVEN in attributes:
            before: Any = value_of(attributes[GIVEN])
            is_given = tuple(bool(each) for each in before.dim_axes)
        return DynamicPort(name, element, sizes, axes, shards, is_given, location_of(location))


def _remove_own_attributes(entry: ir.Operation) -> None:
    """Remove the attributes that only dynamic programs have from a static one."""
    view = FunctionView(entry)
    arguments, results = view.arg_attrs, view.res_attrs
    with entry.context:
        if arguments:
            view.arg_attrs = list(map(_without_given, arguments))
        if results:
            view.res_attrs = list(map(_without_given, results))


def _without_given(attributes: ir.DictAttr) -> ir.DictAttr:
    return ir.DictAttr.get({each.name: each.attr for each in attributes if each.name != GIVEN})


class _ResultShapes:
    """The sizes of results, found from static programs for several sizes.

    A size is taken for linear in a symbol if it is so at four values of it, with the others at
    their hints.
    """

    def __init__(self, module: ir.Module, signature: DynamicSignature):
        self._signature = signature
        hints = hint_values(signature.symbols)
        self._at_hints = _shapes_of_results(module, hints, signature)
        self._at: dict[str, list[tuple[int, list[Shape]]]] = {}
        for name, symbol in signature.symbols.items():
            found: list[tuple[int, list[Shape]]] = []
            for value in _other_values(symbol):
                try:
                    with collect():
                        shapes = _shapes_of_results(module, {**hints, name: value}, signature)
                except SdyError:
                    continue
                found.append((value, shapes))
            self._at[name] = found

    def size(self, index: int, dim: int) -> Size | None:
        """Return the size of a dimension of a result; None if it isn't linear in one symbol."""
        number = self._at_hints[index][dim]
        hints = hint_values(self._signature.symbols)
        changing = [
            name
            for name, found in self._at.items()
            if any(shapes[index][dim] != number for _, shapes in found)
        ]
        if not changing:
            return Size.of(number)
        if len(changing) > 1:
            return None
        (name,) = changing
        points = [(value, shapes[index][dim]) for value, shapes in self._at[name]]
        away, there = points[0]
        factor, rest = divmod(there - number, away - hints[name])
        if rest:
            return None
        size = Size.of(factor) * Size.symbol(name) + Size.of(number - factor * hints[name])
        is_linear = all(size.evaluate({name: value}) == found for value, found in points)
        return size if is_linear else None


def _shapes_of_results(
    module: ir.Module, values: Mapping[str, int], signature: DynamicSignature
) -> list[Shape]:
    static = static_program(module, values, signature)
    return [shape_of(each) for each in function_type_of(entry_of(static)).results]


def _other_values(symbol: SizeSymbol) -> list[int]:
    hint, step = symbol.hint or symbol.low, symbol.multiple_of
    tried = (hint + step, hint + 2 * step, hint - step, hint + 7 * step, hint - 3 * step)
    return [value for value in tried if not symbol.problem_of(value)][:3]
