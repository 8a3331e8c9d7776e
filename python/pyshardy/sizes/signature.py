# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes of the arguments of a program, and the values of its symbols from shapes.

| source of a size                                   | its expression                           |
|----------------------------------------------------|------------------------------------------|
| an argument with `sdy.sizes = ["4*b", ""]`         | the text of its dimension                |
| any other `?` of an argument                       | a symbol of its own: `x0`, for dimension |
|                                                    | 0 of `x`; its bound is the largest value |
| a scalar with `jax.global_constant = "b"`          | the symbol; it is no argument for users  |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mlir_sdy.diagnostics import PassError, SourceLocation, UsageError, error, wrong_type
from mlir_sdy.host import ir, location_of
from mlir_sdy.values import interface_attributes, set_argument_attributes
from pyshardy.display import check_number_of_arrays
from pyshardy.irtools.functions import ENTRY, functions_of, has_body
from pyshardy.irtools.modules import text_of
from pyshardy.irtools.named_values import argument_names
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.tensor_types import bounds_of, is_bounded, shape_of
from pyshardy.sizes.size import Size
from pyshardy.sizes.symbols import SizeSymbol, check_name, read_symbols

SIZES = "sdy.sizes"
"""The attribute of an argument with the sizes of its dimensions; empty texts for static ones."""

EQUAL_SIZES = "sdy.equal_sizes"
"""The attribute of a module with the sizes that operations demand equal, as texts."""

GUARDS = "sdy.guards"
"""The attribute of a module with its guards, as texts."""

GLOBAL_CONSTANT = "jax.global_constant"
"""The attribute of a scalar argument that is the value of a symbol."""


@dataclass(frozen=True, slots=True)
class SizedArgument:
    """An argument that users pass, at an index in the program."""

    index: int
    name: str
    element: str
    sizes: tuple[Size, ...]
    place: SourceLocation | None

    def __str__(self) -> str:
        return f"{self.element}[{', '.join(map(str, self.sizes))}]"


class _Given(NamedTuple):
    """The number that a dimension of an argument has in a call, as a text says."""

    size: Size
    number: int
    text: str
    place: SourceLocation | None

    def error(self, problem: str) -> UsageError:
        return UsageError(error(f"{self.text}{problem}", self.place))


@dataclass(frozen=True, slots=True)
class DynamicSignature:
    """The arguments of a program with sizes.

    Attributes:
        symbols: the symbols by their names.
        arguments: the arguments that users pass.
        constants: for scalar arguments that are filled in, their symbols, by their indices.
    """

    symbols: Mapping[str, SizeSymbol]
    arguments: tuple[SizedArgument, ...]
    constants: Mapping[int, str]

    def values_of(self, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """Return the values of the symbols for the shapes of the arguments.

        Raises:
            UsageError: the shapes don't fit the program; the error names the nearest sizes that do.
        """
        check_number_of_arrays(len(shapes), [argument.name for argument in self.arguments])
        given: list[_Given] = []
        for argument, shape in zip(self.arguments, shapes, strict=True):
            if len(shape) != len(argument.sizes):
                message = f"{argument.name} has shape {tuple(shape)}, expected {argument}"
                raise UsageError(error(message, argument.place))
            for dim, number in enumerate(shape):
                text = f"dimension {dim} of {argument.name} has size {number}"
                given.append(_Given(argument.sizes[dim], number, text, argument.place))
        values: dict[str, int] = {}
        sources: dict[str, _Given] = {}
        while any(self._solve(each, values, sources) for each in given):
            pass
        for name, symbol in self.symbols.items():
            if name not in values:
                message = f"the size {name} can't be found from the shapes of the arguments"
                advice = f"add an argument with it, or give its value: program.at({name}=...)"
                raise UsageError(error(f"{message}; {advice}"))
            if problem := symbol.problem_of(values[name]):
                raise sources[name].error(f": {problem}")
        for each in given:
            expected = each.size.evaluate(values)
            if each.number != expected:
                names = sorted(each.size.symbols)
                known = [f"{name} = {values[name]} ({sources[name].text})" for name in names]
                told = f" as {each.size} with {', '.join(known)}" if known else ""
                raise each.error(f", expected {expected}{told}")
        return values

    def check(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return the values of all symbols, given by their names.

        Raises:
            UsageError: a name or value is wrong, or one is missing.
        """
        for name in values:
            check_name(name, self.symbols, "sizes")
        for name, symbol in self.symbols.items():
            if name not in values:
                raise UsageError(error(f"the size {name} has no value: give {name}=..."))
            if not isinstance(values[name], int):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise wrong_type("sizes", f"an integer as '{name}'", values[name])
            if problem := symbol.problem_of(values[name]):
                raise UsageError(error(problem))
        return dict(values)

    def _solve(self, given: _Given, values: dict[str, int], sources: dict[str, _Given]) -> bool:
        """Find the symbol of a size in which it is the only unknown, and linear."""
        size, number = given.size, given.number
        factors = dict(size.replaced({n: Size.of(each) for n, each in values.items()}).terms)
        offset = factors.pop((), 0)
        if len(factors) != 1:
            return False
        ((monomial, factor),) = factors.items()
        (name, power), *others = monomial
        if others or power != 1 or not isinstance(name, str):
            return False
        value, rest = divmod(number - offset, factor)
        if rest:
            near = self.symbols[name].nearest((number - offset) / factor)
            told = " or ".join(str(each * factor + offset) for each in near)
            problem = f": {size} = {number} has no solution, as {factor} doesn't divide"
            raise given.error(f"{problem} {number - offset}; use {told}")
        values[name], sources[name] = value, given
        return True


def is_dynamic(module: ir.Module) -> bool:
    """Whether an argument of the entry has a size that is neither static nor bounded."""
    return _first_dynamic(module) is not None


def check_static(module: ir.Module) -> None:
    """Check that a program that becomes local isn't dynamic.

    Raises:
        PassError: it is.
    """
    argument = _first_dynamic(module)
    if argument is not None:
        message = f"an argument of type {argument.type} has no local type: 'sdy.partition'"
        advice = "partitions the program for each size, and --sdy-dynamic-to-static=sizes=NAME:N"
        place = location_of(argument.location)
        raise PassError(error(f"{message} {advice} makes it static", place))


def _first_dynamic(module: ir.Module) -> ir.Value | None:
    entry = _entry_of(module)
    arguments = () if entry is None else entry.regions[0].blocks[0].arguments
    return next((e for e in arguments if not is_static(e) and not is_bounded(e.type)), None)


def is_static(value: ir.Value) -> bool:
    """Whether a value is no tensor, or one whose sizes are numbers."""
    kind = value.type
    return not isinstance(kind, ir.RankedTensorType) or kind.has_static_shape


def takes_sizes(module: ir.Module, given: Mapping[str, object]) -> bool:
    """Whether a program has dynamic sizes, as given arguments for them demand, unless empty.

    Raises:
        UsageError: it has none, but an argument for them.
    """
    if is_dynamic(module):
        return True
    wrong = [f"'{name}'" for name, value in given.items() if value]
    if wrong:
        message = f"the program has no dynamic sizes, so it takes no {' and '.join(wrong)}"
        raise UsageError(error(message, location_of(module.operation.location)))
    return False


def entry_of(module: ir.Module) -> ir.Operation:
    """Return the entry of a dynamic program: `@main`, or the only function.

    Raises:
        UsageError: there is none.
    """
    entry = _entry_of(module)
    if entry is None:
        message = f"the program has no entry: expected '@{ENTRY}', or one function"
        raise UsageError(error(message, location_of(module.operation.location)))
    return entry


def _entry_of(module: ir.Module) -> ir.Operation | None:
    functions = [each for each in functions_of(module) if has_body(each)]
    named = (each for each in functions if symbol_name(each) == ENTRY)
    return next(named, functions[0] if len(functions) == 1 else None)


def signature_of(module: ir.Module) -> DynamicSignature:
    """Return the arguments of a program with their sizes.

    Raises:
        UsageError: an attribute with sizes is wrong.
    """
    main, declared = entry_of(module), read_symbols(module)
    given = [interface_attributes(main, each)[0] for each in (GLOBAL_CONSTANT, SIZES)]
    found = enumerate(argument_names(main, text_of(module)))
    names = [name or f"%arg{index}" for index, name in found]
    symbols: dict[str, SizeSymbol] = {}
    arguments: list[SizedArgument] = []
    constants: dict[int, str] = {}
    block = main.regions[0].blocks[0]
    for argument, name, constant, texts in zip(block.arguments, names, *given, strict=True):
        index, kind, place = argument.arg_number, argument.type, location_of(argument.location)
        if constant is not None:
            if not isinstance(constant, ir.StringAttr):
                message = f"the attribute '{GLOBAL_CONSTANT}' of argument {index} is {constant};"
                message += ' expected the name of a size, such as "b"'
                raise UsageError(error(message, place))
            constants[index] = constant.value
        elif isinstance(kind, ir.UnrankedTensorType):
            message = f"argument {name} has the type {kind}; give it a rank, with '?' for unknown"
            raise UsageError(error(f"{message} sizes, such as tensor<?x?xf32>", place))
        elif isinstance(kind, ir.RankedTensorType):
            sizes: list[Size] = []
            for dim, text in enumerate(_texts_of(texts, argument)):
                if kind.shape[dim] >= 0:
                    sizes.append(Size.of(kind.shape[dim]))
                    if text and Size.parse(text, place) != sizes[-1]:
                        message = f"the attribute '{SIZES}' of argument {index} gives '{text}' for"
                        message += f" dimension {dim}, which has size {sizes[-1]}"
                        raise UsageError(error(message, place))
                    continue
                fresh = re.sub(r"\W+", "_", name.lstrip("%")).strip("_") + str(dim)
                sizes.append(Size.parse(text, place) if text else Size.symbol(fresh))
                for each in sorted(sizes[-1].symbols):
                    known = SizeSymbol(each, high=None if text else bounds_of(kind)[dim])
                    symbols.setdefault(each, declared.get(each) or known)
            element = str(kind.element_type)
            arguments.append(SizedArgument(index, name, element, tuple(sizes), place))
    for name in constants.values():
        symbols.setdefault(name, declared.get(name) or SizeSymbol(name))
    for name in declared:
        place = location_of(module.operation.location)
        check_name(name, symbols, "the attribute 'sdy.symbols'", place)
    return DynamicSignature(symbols, tuple(arguments), constants)


def write_sizes(entry: ir.Operation, sizes: Mapping[int, Sequence[object]]) -> None:
    """Give arguments with `?`, by their indices, the attribute with the sizes of dimensions."""
    written: dict[int, ir.Attribute | None] = {}
    for argument in entry.regions[0].blocks[0].arguments:
        index, shape = argument.arg_number, shape_of(argument.type)
        if index in sizes and min(shape, default=0) < 0:
            pairs = zip(shape, sizes[index], strict=True)
            texts = ["" if number >= 0 else str(size) for number, size in pairs]
            with entry.context:
                written[index] = ir.ArrayAttr.get(list(map(ir.StringAttr.get, texts)))
    set_argument_attributes(entry, SIZES, written)


def _texts_of(given: ir.Attribute | None, argument: ir.BlockArgument) -> list[str]:
    """Return the texts of the sizes of an argument; empty for dimensions without."""
    rank = ir.RankedTensorType(argument.type).rank
    if given is None:
        return [""] * rank
    each_of = given if isinstance(given, ir.ArrayAttr) else ()
    texts = [each.value for each in each_of if isinstance(each, ir.StringAttr)]
    if len(texts) != rank:
        message = f"the attribute '{SIZES}' of argument {argument.arg_number} is {given}; expected"
        place = location_of(argument.location)
        raise UsageError(error(f'{message} {rank} texts, such as ["4*b", ""]', place))
    return texts
