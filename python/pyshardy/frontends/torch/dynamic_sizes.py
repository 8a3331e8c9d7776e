# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs with symbols in the shapes of inputs.

1. `torch.export` checks that the program is right for all sizes in the ranges of its symbols.
2. It is traced again for values of the symbols, without memory or computation, so that the rest of
   the front end sees numbers only.
3. The StableHLO programs for three values are generalized (`several_sizes`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.dynamic_shapes import _combine_args, _tree_map_with_path
from torch.export.graph_signature import SymBoolArgument, SymFloatArgument, SymIntArgument
from torch.fx import Graph, GraphModule, Node, map_arg
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import PassError, UsageError, error
from mlir_sdy.host import ir
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.fragments import module_of
from pyshardy.frontends.torch.several_sizes import dynamic_program
from pyshardy.sizes.size import Size
from pyshardy.sizes.symbols import SizeSymbol, write_symbols


@dataclass(frozen=True)
class DynamicSizes:
    """The symbols of an exported program.

    Attributes:
        symbols: the symbols, by the names that PyTorch has for them.
        known: the sizes in the program.
    """

    symbols: Mapping[str, SizeSymbol]
    known: tuple[Size, ...]

    @staticmethod
    def of(
        program: ExportedProgram, module: Any = None, inputs: Any = None, dynamic_shapes: Any = None
    ) -> DynamicSizes:
        """Return the symbols of a program; none if it has none.

        Args:
            program: the program.
            module: the module that it was exported from, if it is known.
            inputs: the positional and keyword inputs of the module.
            dynamic_shapes: the dimensions of inputs that are symbols, as `torch.export` takes them.
                Symbols have the names of these.

        Raises:
            UsageError: an input or output is a size itself, or a size is a minimum or maximum.
            PassError: a size depends on the values of tensors.
        """
        placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
        found = {symbol for node in placeholders for symbol in _symbols_of(node.meta.get("val"))}
        if not found:
            return DynamicSizes({}, ())
        if (refusal := failures.of_data_dependence(program.graph_module, found)) is not None:
            raise PassError(refusal)
        _check_interface(program)
        names = _given_names(placeholders, module, inputs, dynamic_shapes)
        divisors = _divisors(placeholders)
        symbols: dict[str, SizeSymbol] = {}
        for symbol, limits in program.range_constraints.items():
            name = str(symbol)
            if name in found:
                high = int(limits.upper) if limits.upper.is_Integer else None
                low, divisor = max(1, int(limits.lower)), divisors.get(name, 1)
                symbols[name] = SizeSymbol(names.get(name, name), low, high, divisor)
        sizes: set[Size] = set()
        for node in program.graph.nodes:
            for number in _numbers_in(node.meta.get("val")):
                size = _size_of(number, symbols)
                if size is not None and size.constant is None:
                    sizes.add(size)
                elif "Max(" in str(number) or "Min(" in str(number):
                    raise UsageError(failures.of_cases(node, str(number)))
        known = sorted(sizes, key=lambda each: (len(str(each)), str(each)))
        return DynamicSizes(symbols, tuple(known))

    def points(self) -> list[dict[str, int]]:
        """Return three values of all symbols at which the known sizes differ.

        Raises:
            UsageError: there are none.
        """
        for shift in range(_MOST_TRIED):
            points = [
                {
                    each.name: number
                    for index, each in enumerate(self.symbols.values())
                    if (number := _nth_value(each, step, index, shift)) is not None
                }
                for step in range(3)
            ]
            if any(len(each) < len(self.symbols) for each in points):
                break
            numbers = [tuple(size.evaluate(each) for each in points) for size in self.known]
            if len({*numbers}) == len(numbers) and all(len({*each}) > 1 for each in numbers):
                return points
        told = ", ".join(map(str, self.symbols.values()))
        message = f"the sizes of the program can't be told apart in the ranges of {told}"
        raise UsageError(error(f"{message}; give the dimensions ranges of at least 8 sizes"))

    def program(
        self, instance: Callable[[ExportedProgram], ir.Module], program: ExportedProgram
    ) -> ir.Module:
        """Return the dynamic program.

        Args:
            instance: converts a program without symbols to StableHLO.
            program: the exported program.

        Raises:
            PassError: it depends on the sizes in a way that can't be expressed.
        """
        points = self.points()
        modules = [instance(self.at(program, each)) for each in points]
        result = dynamic_program([*zip(points, modules, strict=True)], self.known)
        write_symbols(result, self.symbols.values())
        return result

    def at(self, program: ExportedProgram, values: Mapping[str, int]) -> ExportedProgram:
        """Return the program for given values of the symbols."""
        graph_module = _Specialization(self.symbols, values).of(program.graph_module)
        return ExportedProgram(
            root=graph_module,
            graph=graph_module.graph,
            graph_signature=program.graph_signature,
            state_dict=program.state_dict,
            range_constraints={},
            module_call_graph=program.module_call_graph,
            constants=program.constants,
            verifiers=program.verifiers,
        )


_MOST_TRIED = 40

_STEPS = (6, 39, 221)
"""Numbers without a divisor for which they have equal remainders, up to 18."""


def _nth_value(symbol: SizeSymbol, step: int, index: int, shift: int) -> int | None:
    """Return a value of a symbol, which differs between symbols; None if it has too few."""
    away = _STEPS[step] + index * (step + 2) + shift * (2 * step + 1)
    unit = symbol.multiple_of
    least = -(-symbol.low // unit)
    room = None if symbol.high is None else symbol.high // unit - least
    if room is not None and room < _STEPS[-1] + 2 * _MOST_TRIED:
        away = (room * (step + 1)) // 4 + (shift * (step + 1) + index) % max(room // 4, 1)
        if room < 7:
            return None
    return (least + away) * unit


_DIVISIBLE = re.compile(
    r"Eq\((?:Python)?Mod\((?:(?P<factor>\d+)\*)?(?P<symbol>s\d+), (?P<divisor>\d+)\), 0\)"
)


def _divisors(placeholders: Sequence[Node]) -> dict[str, int]:
    """Return the known divisors of symbols, from the guards of `torch.export`."""
    found: dict[str, int] = {}
    environments = {
        id(environment): environment
        for node in placeholders
        for number in _numbers_in(node.meta.get("val"))
        if (environment := number.node.shape_env) is not None
    }
    for guard in (guard for each in environments.values() for guard in each.guards):
        match = _DIVISIBLE.fullmatch(str(guard.expr))
        if match is not None:
            divisor = int(match["divisor"])
            divisor //= math.gcd(divisor, int(match["factor"] or 1))
            found[match["symbol"]] = math.lcm(found.get(match["symbol"], 1), divisor)
    return found


def _numbers_in(value: Any) -> Iterator[torch.SymInt]:
    """Yield the sizes in a value that depend on symbols."""
    for leaf in pytree.tree_leaves(value):
        for number in leaf.shape if isinstance(leaf, torch.Tensor) else (leaf,):
            if isinstance(number, torch.SymInt):
                yield number


def _symbols_of(value: Any) -> set[str]:
    return {str(each) for number in _numbers_in(value) for each in number.node.expr.free_symbols}


def _size_of(number: torch.SymInt, symbols: Mapping[str, SizeSymbol]) -> Size | None:
    """Return an expression of PyTorch as a size; None if no size is like it."""
    text = re.sub(r"\b(?:Python)?Mod\(", "mod(", str(number.node.expr))
    text = re.sub(r"\bs\d+\b", lambda name: f"_{name[0]}_", text)
    for name, symbol in symbols.items():
        text = text.replace(f"_{name}_", symbol.name)
    try:
        size = Size.parse(text)
    except UsageError:
        return None
    return size if size.symbols <= {each.name for each in symbols.values()} else None


def _check_interface(program: ExportedProgram) -> None:
    """Raise an error for inputs and outputs that are sizes."""
    signature = program.graph_signature
    for what, specs in (("input", signature.input_specs), ("output", signature.output_specs)):
        for spec in specs:
            if isinstance(spec.arg, SymIntArgument | SymFloatArgument | SymBoolArgument):
                message = f"the {what} '{spec.arg.name}' of the program is a size, not a tensor"
                raise UsageError(error(f"{message}; use torch.tensor, or the shape of a tensor"))


def _given_names(
    placeholders: Sequence[Node], module: Any, inputs: Any, dynamic_shapes: Any
) -> dict[str, str]:
    """Return the names that users give symbols, by those of PyTorch."""
    if not dynamic_shapes:
        return {}
    args, kwargs = inputs
    combined: Any = _combine_args(module, args, kwargs)
    if isinstance(dynamic_shapes, tuple | list):
        combined = type(dynamic_shapes)(combined.values())
    specs: list[Any] = []

    def note(_: Any, __: Any, spec: Any) -> None:
        specs.append(spec)

    _tree_map_with_path(note, combined, dynamic_shapes, tree_name="inputs")
    found: dict[str, str] = {}
    for node, spec in zip(placeholders[-len(specs) :], specs, strict=True):
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or not spec:
            continue
        for dim, given in spec.items() if isinstance(spec, dict) else enumerate(spec):
            symbols = _symbols_of(value.shape[dim])
            name = getattr(getattr(given, "root", given), "__name__", None)
            if name is not None and len(symbols) == 1:
                found[symbols.pop()] = name
    return found


@dataclass
class _Specialization:
    """Replaces the symbols of graphs by numbers.

    Attributes:
        symbols: the symbols by the names that PyTorch has for them.
        values: the numbers, by the names of the symbols.
    """

    symbols: Mapping[str, SizeSymbol]
    values: Mapping[str, int]
    _mode: FakeTensorMode = field(
        default_factory=lambda: FakeTensorMode(allow_non_fake_inputs=True)
    )

    def of(self, module: GraphModule) -> GraphModule:
        """Return a graph for the values; its operations get types, but aren't run."""
        graph = Graph()
        made: dict[Node, Any] = {}
        types: dict[Node, Any] = {}
        for node in module.graph.nodes:
            if node.op == "get_attr":
                value = _attribute_of(module, str(node.target))
                types[node] = self.of(value) if isinstance(value, GraphModule) else value
            elif node.op == "placeholder":
                types[node] = pytree.tree_map(self._number_or_type, node.meta.get("val"))
            elif node.op == "call_function":
                args, kwargs = map_arg((node.args, node.kwargs), types.__getitem__)
                types[node] = self._result_of(node, args, kwargs)
                if _is_about_numbers(types[node], args):
                    made[node] = types[node]
                    continue
            made[node] = graph.node_copy(node, made.__getitem__)
            made[node].name = node.name  # names of Python, such as `input`, got a suffix
            for described in ("val", "tensor_meta"):  # for all sizes
                made[node].meta.pop(described, None)
            if node in types:
                made[node].meta["val"] = types[node]
        result = module_of(graph, module)
        for node, value in types.items():
            if node.op == "get_attr" and isinstance(value, GraphModule):
                setattr(result, str(node.target), value)
        return result

    def _result_of(self, node: Node, args: Any, kwargs: Any) -> Any:
        target: Any = node.target
        try:
            with self._mode:
                return target(*args, **kwargs)
        except Exception as failure:  # PyTorch has dozens of classes for it
            told = ", ".join(f"{name} = {value}" for name, value in self.values.items())
            advice = "say by which number it can be divided, as 4 * torch.export.Dim('b')"
            raise UsageError(failures.at_sizes(node, failure, f"{told}; {advice}")) from None

    def _number_or_type(self, value: Any) -> Any:
        if isinstance(value, torch.SymInt):
            return self._number(value)
        if not isinstance(value, torch.Tensor):
            return value
        shape, stride = map(self._number, value.shape), map(self._number, value.stride())
        with self._mode:
            return torch.empty_strided(
                tuple(shape), tuple(stride), dtype=value.dtype, requires_grad=value.requires_grad
            )

    def _number(self, number: Any) -> int:
        if not isinstance(number, torch.SymInt):
            return number
        size = _size_of(number, self.symbols)
        assert size is not None, "inputs have linear sizes"
        return size.evaluate(self.values)


def _is_about_numbers(result: Any, args: Any) -> bool:
    """Whether an operation computes a number, or checks numbers."""
    has_tensors = any(isinstance(each, torch.Tensor) for each in pytree.tree_leaves(args))
    return isinstance(result, int | float | bool) or (result is None and not has_tensors)


def _attribute_of(module: GraphModule, target: str) -> Any:
    value: Any = module
    for part in target.split("."):
        value = getattr(value, part)
    return value
