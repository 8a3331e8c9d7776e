# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrapping of a program so that its arguments and results are plain arrays.

A function around the entry converts to and from carriers (see `tensor_spec`), and builds complex
numbers from pairs of arrays. The engine computes these conversions, and they are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from mlir_sdy.diagnostics import UsageError, error, wrong_type
from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from mlir_sdy.suggest import did_you_mean
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import FunctionView, symbol_name
from pyshardy.local_program.tensor_spec import Array, TensorSpec

_INNER = "__main"
_Value = TypeVar("_Value")


def with_plain_edges(
    text: str, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], context: ir.Context
) -> str:
    """Return a wrapped program, which takes and returns plain arrays.

    Args:
        text: the program, entered at `@main`.
        inputs: the types of its arguments.
        outputs: the types of its results.
        context: a context with its dialects.
    """
    if not any(spec.is_carried or spec.is_complex for spec in (*inputs, *outputs)):
        return text
    module = ir.Module.parse(text, context)
    inner = ir.SymbolTable(module.operation)[ENTRY]
    FunctionView(inner.operation).sym_name = _INNER
    FunctionView(inner.operation).sym_visibility = "private"
    wrapper = ir.Module.parse(_wrapper(inputs, outputs), context)
    for function in list(wrapper.body.operations):
        if symbol_name(function.operation) == ENTRY:
            module.body.append(function)
    return str(module)


def _wrapper(inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> str:
    arguments: list[str] = []
    before: list[str] = []
    for index, spec in enumerate(inputs):
        plain = _plain_type(spec)
        if spec.is_complex:
            arguments += [f"%r{index}: {plain}", f"%i{index}: {plain}"]
            before.append(f"%a{index} = stablehlo.complex %r{index}, %i{index} : {spec}")
        else:
            arguments.append(f"%c{index}: {plain}")
            before.append(f"%a{index} = stablehlo.convert %c{index} : ({plain}) -> {spec}")
    after: list[str] = []
    results: list[str] = []
    types: list[str] = []
    for index, spec in enumerate(outputs):
        plain = _plain_type(spec)
        for name, operation in (
            (("re", "real"), ("im", "imag")) if spec.is_complex else (("o", "convert"),)
        ):
            value = f"%{name}{index}"
            after.append(f"{value} = stablehlo.{operation} %b#{index} : ({spec}) -> {plain}")
            results.append(value)
            types.append(plain)
    names = ", ".join(f"%a{index}" for index in range(len(inputs)))
    signature = f"({', '.join(map(str, inputs))}) -> ({', '.join(map(str, outputs))})"
    call = f"func.call @{_INNER}({names}) : {signature}"
    if outputs:
        call = f"%b:{len(outputs)} = {call}"
    returned = f"return {', '.join(results)} : {', '.join(types)}" if results else "return"
    body = "\n".join([*before, call, *after, returned])
    return (
        f"func.func private @{_INNER}{signature}\n"
        f"func.func @{ENTRY}({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{body}\n}}"
    )


def _plain_type(spec: TensorSpec) -> str:
    """Return the type of an argument or result of the wrapper: a carrier, or one of its parts."""
    if spec.is_complex:
        return str(spec.with_element(spec.element.removeprefix("complex<").removesuffix(">")))
    return str(spec.with_element(spec.carrier))


def to_plain(arrays: Sequence[Array], specs: Sequence[TensorSpec]) -> list[Array]:
    """Return the arrays for the arguments of the wrapper."""
    plain: list[Array] = []
    for array, spec in zip(arrays, specs, strict=True):
        exact = np.asarray(array, dtype=spec.dtype)
        plain += [exact.real, exact.imag] if spec.is_complex else [exact]
    return plain


def from_plain(plain: Sequence[Array], specs: Sequence[TensorSpec]) -> list[Array]:
    """Return the arrays of a program's results from those of the wrapper."""
    remaining = iter(plain)
    arrays: list[Array] = []
    for spec in specs:
        array = next(remaining)
        if spec.is_complex:
            pair = np.empty(spec.shape, spec.dtype)
            pair.real, pair.imag = array, next(remaining)
            array = pair
        arrays.append(array)
    return arrays


def in_order(
    inputs: Sequence[_Value] | Mapping[str, _Value],
    names: Sequence[str],
    function: str = "PartitionedProgram.run",
) -> Sequence[_Value]:
    """Return inputs by name in the order of the arguments, and a sequence as it is.

    Args:
        inputs: the inputs.
        names: the names of the arguments. In `inputs` a `%` in front is optional, and `arg1` is the
            second argument unless another one has that name.
        function: the function that takes the inputs, for errors.

    Raises:
        UsageError: there are no inputs, an argument has none, or a name no argument.
    """
    if not hasattr(inputs, "__len__"):
        raise wrong_type(function, "the arrays in a list, or by name", inputs)
    if not isinstance(inputs, Mapping):
        return inputs
    plain = [name.removeprefix("%") for name in names]
    numbered = {f"arg{index}": name for index, name in enumerate(plain)} | {n: n for n in plain}
    words = {word: word.removeprefix("%") for word in inputs}
    given = {numbered.get(name, name): inputs[word] for word, name in words.items()}
    listed = f"; the arguments are {', '.join(map(repr, plain))}"
    for name in given:
        if name not in plain:
            advice = did_you_mean(name, numbered) or listed
            raise UsageError(error(f"the program has no argument '{name}'{advice}"))
    for name in plain:
        if name not in given:
            raise UsageError(error(f"the inputs have no array '{name}'{listed}"))
    return [given[name] for name in plain]
