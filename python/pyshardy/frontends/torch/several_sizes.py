# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dynamic program of which static ones, for several sizes, are instances.

A front end that makes static programs only makes one for each of several values of its symbols. The
programs have the same operations, and differ in numbers, which become expressions:

| in the static programs               | in the dynamic one                                        |
|--------------------------------------|-----------------------------------------------------------|
| sizes of types                       | `?`                                                       |
| `broadcast_in_dim`, `iota`,          | operations with sizes as operands, such as                |
| `reshape`, `slice`, `pad`, `gather`  | `dynamic_broadcast_in_dim`                                |
| `reduce_window`                      | a call; see `reduce_windows`                              |
| a constant of one number             | a broadcast of a scalar, which may be computed from sizes |

Sizes are computed from those of the arguments. Each number is a linear function of a known size,
or of a product of two of them, at all values; a number for which there is none is an error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.late_numpy import np
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import replace_by
from pyshardy.irtools.constants import constant_integers, filled, splat_of
from pyshardy.irtools.functions import FreshNames, update_type
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, i64_attribute
from pyshardy.irtools.stablehlo_views import CustomCallView, FunctionView
from pyshardy.irtools.static_shapes import SIZES_OF
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.irtools.walks import tell_inserted
from pyshardy.partition.types.padding_builder import PaddingBuilder
from pyshardy.sizes.reduce_windows import (
    DYNAMIC_REDUCE_WINDOW,
    WINDOW_FIELDS,
    move_body,
    window_numbers,
)
from pyshardy.sizes.signature import entry_of, write_sizes
from pyshardy.sizes.size import Size
from pyshardy.sizes.size_reader import DIMENSION_SIZE
from pyshardy.sizes.static_program import inline_calls


def dynamic_program(
    programs: Sequence[tuple[Mapping[str, int], ir.Module]], sizes: Iterable[Size]
) -> ir.Module:
    """Return the dynamic program of which given ones are instances.

    Args:
        programs: at least three static programs with the values of the symbols, in one context. The
            first one is changed in place, and returned.
        sizes: known sizes.

    Raises:
        PassError: the programs differ in more than sizes; the error names the first operation.
    """
    for _, module in programs:
        inline_calls(module)
    values = [each for each, _ in programs]
    entries = [entry_of(module) for _, module in programs]
    aligned = _aligned(entries, values)
    generalization = _Generalization(programs[0][1], _Expressions(values, sizes))
    generalization.set_arguments(entries)
    for operations in aligned:
        generalization.generalize(operations)
    generalization.finish()
    return programs[0][1]


# --- Programs -------------------------------------------------------------------------------------


def _aligned(
    entries: Sequence[ir.Operation], values: Sequence[Mapping[str, int]]
) -> list[tuple[ir.Operation, ...]]:
    """Return the corresponding operations of the programs.

    Raises:
        PassError: the programs have others, or other operands.
    """
    walks = [[each.operation for each in operations_in(entry)][1:] for entry in entries]
    known: list[dict[int, int]] = [{} for _ in entries]
    for names, entry in zip(known, entries, strict=True):
        _number_values(names, entry)
    aligned: list[tuple[ir.Operation, ...]] = []
    for operations in itertools.zip_longest(*walks):
        uses = list(map(_number_values, known, operations))
        at = next((index for index, each in enumerate(uses) if each != uses[0]), None)
        if at is not None:
            told = [", ".join(f"{k} = {v}" for k, v in values[each].items()) for each in (0, at)]
            first = operations[0] or operations[at]
            message = "the operations of the program depend on its sizes: from this one on, they"
            raise _refusal(first, f"{message} differ between {' and '.join(told)}")
        aligned.append(operations)
    return aligned


def _number_values(known: dict[int, int], operation: ir.Operation | None) -> Any:
    """Number the values that an operation defines, and return what it is, and its operands."""
    if operation is None:
        return None
    operands = [known.get(identity(each)) for each in operation.operands]
    blocks = [block for region in operation.regions for block in region.blocks]
    arguments = (argument for block in blocks for argument in block.arguments)
    for value in (*operation.results, *arguments):
        known[identity(value)] = len(known)
    return operation.name, operands, len(operation.results)


def _refusal(operation: ir.Operation, problem: str) -> PassError:
    advice = "trace the program for each size, without dynamic ones"
    return PassError(error(f"{problem}; {advice}", location_of(operation.location)))


class _Generalization:
    """Changes a static program to the dynamic one; see the description of the module."""

    def __init__(self, module: ir.Module, expressions: _Expressions):
        self._module = module
        self._entry = entry = entry_of(module)
        self._expressions = expressions
        self._builder = StablehloBuilder()
        first = entry.regions[0].blocks[0].operations[0]
        with entry.context, entry.location, ir.InsertionPoint(first):
            self._start = self._builder.index(0).owner.operation  # where sizes are computed
            self._scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        self._symbols: dict[str, ir.Value] = {}
        self._sizes_builder = PaddingBuilder(AttributeCache(module.context), self._symbols)
        self._sources: dict[str, tuple[ir.Value, int, Size]] = {}
        self._computed: dict[Any, ir.Value] = {}
        self._windows: list[tuple[ir.Operation, list[ir.Value]]] = []

    def set_arguments(self, entries: Sequence[ir.Operation]) -> None:
        """Give the arguments their types, and the attributes with sizes."""
        blocks = [each.regions[0].blocks[0] for each in entries]
        written: dict[int, list[Size]] = {}
        for index, argument in enumerate(blocks[0].arguments):
            sizes = self._set_type([block.arguments[index] for block in blocks], self._entry)
            written[index] = sizes
            for dim, size in enumerate(sizes):
                for name in size.symbols if len(size.symbols) == 1 else ():
                    known = self._sources.get(name)
                    if known is None or len(str(size)) < len(str(known[2])):
                        self._sources[name] = argument, dim, size
        write_sizes(self._entry, written)

    def generalize(self, operations: Sequence[ir.Operation]) -> None:
        """Give an operation the types and the form that it has for all sizes.

        Args:
            operations: it, and the corresponding ones of the further programs.

        Raises:
            PassError: it has no such form.
        """
        first = operations[0]
        sizes = [
            self._set_type([each.results[index] for each in operations], first)
            for index in range(len(first.results))
        ]
        for regions in zip(*(each.regions for each in operations), strict=True):
            for blocks in zip(*(each.blocks for each in regions), strict=True):
                for index in range(len(blocks[0].arguments)):
                    self._set_type([each.arguments[index] for each in blocks], first)
        attributes = [dict(each.attributes.items()) for each in operations]
        differing = [
            name
            for name in dict.fromkeys(name for each in attributes for name in each)
            if any(name not in each for each in attributes)
            or any(each[name] != attributes[0][name] for each in attributes)
        ]
        is_dynamic = any(each.constant is None for shape in sizes for each in shape)
        with first.context, first.location:
            if first.name == "stablehlo.constant":
                if is_dynamic or differing:
                    replace_by(first, self._constant(operations, sizes[0]))
            elif first.name in _DYNAMIC_FORMS and (
                differing if _DYNAMIC_FORMS[first.name][1] else is_dynamic
            ):
                name, numbers = _DYNAMIC_FORMS[first.name]
                if not set(differing) <= set(numbers):
                    raise self._no_form(first, differing)
                lists = [[[*ir.DenseI64ArrayAttr(a[n])] for a in attributes] for n in numbers]
                arrays = [self._sizes(each, first) for each in lists] or sizes
                operands = [*first.operands, *map(self._array, arrays)]
                self._make_dynamic(first, name, operands, numbers)
            elif first.name == "stablehlo.reduce_window" and differing:
                numbers = zip(*map(window_numbers, operations), strict=True)
                arrays = [self._array(self._sizes(each, first)) for each in numbers]
                self._windows.append((first, arrays))
            elif differing or (is_dynamic and first.name in _WITHOUT_FORM):
                raise self._no_form(first, differing)

    def finish(self) -> None:
        """Give the entry its type."""
        self._start.erase()
        for window, numbers in self._windows:
            _make_windows_dynamic(self._module, window, numbers)
        update_type(self._entry)
        names = {each.operation.name for each in operations_in(self._entry)}
        tell_inserted(self._entry, *names)

    # --- Types and numbers --------------------------------------------------------------------

    def _set_type(self, values: Sequence[ir.Value], operation: ir.Operation) -> list[Size]:
        """Give a value the type that it has for all sizes, and return its sizes."""
        shapes = [shape_of(each.type) for each in values]
        sizes = self._sizes(shapes, operation, "dimensions of a result")
        if any(each.constant is None for each in sizes):
            shape = [_DYNAMIC if each.constant is None else each.constant for each in sizes]
            values[0].set_type(with_shape(values[0].type, shape))
        return sizes

    def _sizes(
        self, arrays: Sequence[Sequence[int]], operation: ir.Operation, what: str = "numbers"
    ) -> list[Size]:
        """Return the sizes that lists of numbers have at the same positions."""
        sizes = [self._expressions.of(numbers) for numbers in zip(*arrays, strict=True)]
        known = [each for each in sizes if each is not None]
        if len(known) < len(sizes):
            problem = f"{what} of '{operation.name}' are no expressions of the sizes"
            raise _refusal(operation, f"{problem}: {[*arrays[0]]} and {[*arrays[1]]}")
        return known

    def _no_form(self, operation: ir.Operation, differing: Sequence[str]) -> PassError:
        why = f": '{differing[0]}' depends on the sizes" if differing else ""
        return _refusal(operation, f"'{operation.name}' has no form with dynamic sizes{why}")

    # --- Operations ---------------------------------------------------------------------------

    def _make_dynamic(
        self,
        operation: ir.Operation,
        name: str,
        operands: Sequence[ir.Value],
        dropped: Sequence[str],
    ) -> None:
        kept = {key: each for key, each in operation.attributes.items() if key not in dropped}
        with ir.InsertionPoint(operation):
            made = self._builder.create(name, operands, [operation.results[0].type], kept)
        replace_by(operation, *made.results)

    def _constant(self, operations: Sequence[ir.Operation], sizes: Sequence[Size]) -> ir.Value:
        """Build a constant whose shape or number depends on sizes."""
        first = operations[0]
        result = first.results[0].type
        elements: list[Any] = [splat_of(each.results[0]) for each in operations]
        with ir.InsertionPoint(first):
            if any(each is None for each in elements):
                return self._elements(operations, sizes)
            if all(each == elements[0] for each in elements):
                literal = filled(with_shape(result, ()), elements[0])
                scalar = self._builder.literal(literal)
            elif any(isinstance(each, ir.ArrayAttr) for each in elements):  # complex numbers
                return self._elements(operations, sizes)
            else:
                scalar = self._number([float(each.value) for each in elements], first)
            if all(each.constant is not None for each in sizes):
                shape = shape_of(result)
                return self._builder.broadcast_in_dim(scalar, shape) if shape else scalar
            operands, name = [scalar, self._array(sizes)], "stablehlo.dynamic_broadcast_in_dim"
            none = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
            return self._builder.create(name, operands, [result], none).result

    def _elements(self, operations: Sequence[ir.Operation], sizes: Sequence[Size]) -> ir.Value:
        """Build a constant of few integers that depend on sizes."""
        first = operations[0]
        result = first.results[0].type
        literals = [constant_integers(each.results[0]) for each in operations]
        arrays = [list(each) for each in literals if each is not None]
        is_static = all(each.constant is not None for each in sizes)
        if not is_static or len(arrays) < len(literals) or len(arrays[0]) > _MOST_ELEMENTS:
            problem = f"the elements of a constant of shape [{', '.join(map(str, sizes))}] depend"
            raise _refusal(first, f"{problem} on the sizes")
        flat = self._builder.convert(
            self._array(self._sizes(arrays, first)), element_type_of(result)
        )
        return self._builder.reshape(flat, shape_of(result))

    def _number(self, numbers: Sequence[float], operation: ir.Operation) -> ir.Value:
        """Build a scalar that depends on sizes, of the element type of an operation."""
        element = element_type_of(operation.results[0].type)
        if all(each.is_integer() for each in numbers):
            size = self._expressions.of(tuple(map(int, numbers)))
            if size is not None:
                return self._builder.convert(self._size(size), element)
        ratio = self._expressions.ratio(numbers)
        if ratio is not None:
            sides = [self._builder.convert(self._size(each), element) for each in ratio]
            return self._builder.binary("divide", *sides)
        is_float = isinstance(element, ir.FloatType)
        scaled = self._expressions.scaled(numbers) if is_float else None
        if scaled is None:
            problem = f"a constant depends on the sizes: it is {numbers[0]} or {numbers[1]}"
            raise _refusal(operation, problem)
        factor, size, power = scaled
        base = self._builder.convert(self._size(size), element)
        if abs(power) < 1:
            base = self._builder.unary("sqrt", base)
        literal = ir.DenseElementsAttr.get_splat(base.type, ir.FloatAttr.get(element, factor))
        name = "multiply" if power > 0 else "divide"
        return self._builder.binary(name, self._builder.literal(literal), base)

    # --- Sizes --------------------------------------------------------------------------------

    def _array(self, sizes: Sequence[Size]) -> ir.Value:
        """Return an array with sizes, which is computed at the start of the program."""
        key = tuple(sizes)
        if key not in self._computed:
            with ir.InsertionPoint(self._start):
                numbers = [each.constant for each in sizes]
                constants = [each for each in numbers if each is not None]
                if len(constants) == len(numbers):
                    value = self._builder.constant(np.array(constants, np.int32))
                else:
                    parts = [self._builder.reshape(self._size(each), [1]) for each in sizes]
                    value = self._builder.concatenate(parts, 0)
            self._computed[key] = value
        return self._computed[key]

    def _size(self, size: Size) -> ir.Value:
        """Return a size as a scalar, which is computed at the start of the program."""
        if size not in self._computed:
            with ir.InsertionPoint(self._start):
                for name in sorted(size.symbols - self._symbols.keys()):
                    self._symbols[name] = self._symbol(name)
                self._computed[size] = self._sizes_builder.number(self._scalar, size)
        return self._computed[size]

    def _symbol(self, name: str) -> ir.Value:
        """Build the value of a symbol, from the size of an argument."""
        if name not in self._sources:
            problem = f"the size {name} can't be found from the shapes of the arguments"
            raise _refusal(self._entry, problem)
        argument, dim, size = self._sources[name]
        offset = size.evaluate({name: 0})
        factor = size.evaluate({name: 1}) - offset
        dimension = {"dimension": i64_attribute(dim)}
        value = self._builder.create(DIMENSION_SIZE, [argument], [self._scalar], dimension).result
        if offset:
            value = self._builder.binary("subtract", value, self._size(Size.of(offset)))
        if factor != 1:
            value = self._builder.binary("divide", value, self._size(Size.of(factor)))
        return value


_DYNAMIC = ir.ShapedType.get_dynamic_size()

_MOST_ELEMENTS = 64
"""The elements of a constant that may depend on sizes."""

_DYNAMIC_FORMS = {static: (name, numbers) for name, (static, _, numbers) in SIZES_OF.items()}
"""For operations with sizes in attributes or types, their forms with sizes as operands, and the
attributes with these; none if the type of the result has them."""

_WITHOUT_FORM = frozenset(
    f"stablehlo.{name}" for name in ("custom_call", "rng", "rng_bit_generator")
)
"""Operations whose results have sizes that follow from nothing else."""


# --- Windows --------------------------------------------------------------------------------------


def _make_windows_dynamic(
    module: ir.Module, window: ir.Operation, numbers: Sequence[ir.Value]
) -> None:
    """Replace a `stablehlo.reduce_window` by a call.

    Args:
        module: the program.
        window: the operation.
        numbers: the sizes, strides, dilations and padding of its windows.
    """
    source, name = window.regions[0].blocks[0], FreshNames(module).name("window_0")
    with window.context, window.location:
        scalars = [argument.type for argument in source.arguments]
        with ir.InsertionPoint(module.body):
            body = StablehloBuilder().create("func.func", (), (), regions=1)
        view = FunctionView(body)
        view.sym_name, view.sym_visibility = name, "private"
        view.function_type = ir.FunctionType.get(scalars, scalars[: len(scalars) // 2])
        move_body(source, body.regions[0], "func.return")
        own = [each.name for each in WINDOW_FIELDS]
        kept = {key: value for key, value in window.attributes.items() if key not in own}
        types = [result.type for result in window.results]
        with ir.InsertionPoint(window):
            operands = [*window.operands, *numbers]
            call = StablehloBuilder().custom_call(DYNAMIC_REDUCE_WINDOW, operands, types, kept)
        CustomCallView(call).called_computations = [name]
    tell_inserted(body, *{each.operation.name for each in body.regions[0].blocks[0].operations})
    replace_by(window, *call.results)


# --- Expressions ----------------------------------------------------------------------------------

Numbers = tuple[int, ...]
"""A number at each of the values of the symbols."""

_FEWEST_POINTS = 3
"""The points through which a line isn't taken by chance."""

_TOLERANCE = 1e-6


class _Expressions:
    """Finds the sizes that have given numbers at the values of symbols."""

    def __init__(self, values: Sequence[Mapping[str, int]], sizes: Iterable[Size]):
        known = dict.fromkeys([*map(Size.symbol, values[0]), *sizes])
        pairs = (left * right for left, right in itertools.combinations_with_replacement(known, 2))
        self._known = {
            each: tuple(each.evaluate(one) for one in values) for each in [*known, *pairs]
        }
        self._found: dict[Numbers, Size | None] = {}

    def of(self, numbers: Numbers) -> Size | None:
        """Return the size with given numbers; None if there is none."""
        if numbers not in self._found:
            self._found[numbers] = self._linear(numbers)
        return self._found[numbers]

    def _linear(self, numbers: Numbers) -> Size | None:
        if len(set(numbers)) == 1:
            return Size.of(numbers[0])
        if len(numbers) < _FEWEST_POINTS:
            return None
        for size, known in self._known.items():
            factor, rest = divmod(numbers[1] - numbers[0], (known[1] - known[0]) or math.inf)
            if rest or not factor:
                continue
            offset = numbers[0] - int(factor) * known[0]
            if all(n == factor * k + offset for n, k in zip(numbers, known, strict=True)):
                return int(factor) * size + int(offset)
        return None

    def ratio(self, numbers: Sequence[float]) -> tuple[Size, Size] | None:
        """Return sizes `n` and `n - 1` whose quotient has given numbers, as variances have it."""
        if min(numbers, default=0) <= 1:
            return None
        counts = [round(each / (each - 1)) for each in numbers]
        size = self.of(tuple(counts))
        pairs = zip(numbers, counts, strict=True)
        if size is None or not all(
            math.isclose(each * (n - 1), n, rel_tol=_TOLERANCE) for each, n in pairs
        ):
            return None
        return size, size - 1

    def scaled(self, numbers: Sequence[float]) -> tuple[float, Size, float] | None:
        """Return a factor, a size and a power whose product has given numbers; None for none."""
        for power in (-1.0, 0.5, -0.5):
            for size, known in self._known.items():
                if min(known) < 1:
                    continue
                factors = [n / k**power for n, k in zip(numbers, known, strict=True)]
                if math.isclose(min(factors), max(factors), rel_tol=_TOLERANCE):
                    return factors[0], size, power
        return None
