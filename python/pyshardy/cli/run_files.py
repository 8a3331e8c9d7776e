# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of `sdy-run`: inputs and outputs, functions of custom calls, and the program itself.

Inputs and outputs are NumPy's `.npz` files; one input may be an `.npy` file.
Arrays are identified by the names in the report, with or without the `%`: `weights`, `%x`; by the
numbers of arguments: `arg0`; or by position, as by `numpy.savez(file, first, second)`: `arr_0`.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.files import file_access, refusal_text
from mlir_sdy.suggest import did_you_mean
from pyshardy.backends import CompileOptions
from pyshardy.cli.output import write_output
from pyshardy.frontends.files import Kind, dump
from pyshardy.irtools.user_files import run_user_file
from pyshardy.local_program.entry import in_order
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array
from pyshardy.program import PartitionedProgram, Port


def load_inputs(path: str, ports: Sequence[Port]) -> list[Array]:
    """Return the arrays of a file, in the order of the arguments.

    Raises:
        UsageError: the file can't be read; an array is missing, superfluous, or has another type.
    """
    arrays = _read_arrays(path)
    by_position = all(name.startswith("arr_") for name in arrays) and bool(arrays)
    used: list[str] = []
    inputs: list[Array] = []
    for index, port in enumerate(ports):
        plain = f"arr_{index}" if by_position else port.name.removeprefix("%")
        choices = (plain, f"%{plain}", f"arg{index}", f"%arg{index}")
        key = next((name for name in choices if name in arrays), None)
        if key is None:
            advice = did_you_mean(plain, arrays)
            message = f"'{path}' has no array '{plain}' for {_wanted(port)}"
            message += f"; it has: {_listed(arrays)}{advice}"
            raise UsageError(error(message))
        used.append(key)
        inputs.append(_fitting(arrays[key], port, f"'{key}' in '{path}'"))
    if unknown := [name for name in arrays if name not in used]:
        names = ", ".join(f"'{port.name.removeprefix('%')}'" for port in ports)
        message = f"'{path}' has an array {_listed(unknown[:1])}, which matches no argument"
        advice = did_you_mean(unknown[0], [port.name.removeprefix("%") for port in ports])
        raise UsageError(error(f"{message}; the arguments are: {names}{advice}"))
    return inputs


def input_shapes(path: str, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays of a file, in the order of the arguments.

    Args:
        path: the file.
        names: the names of the arguments.

    Raises:
        UsageError: the file can't be read, or an array is missing.
    """
    arrays = _read_arrays(path)
    if all(name.startswith("arr_") for name in arrays):
        return [array.shape for array in arrays.values()]
    return [array.shape for array in in_order(arrays, names)]


def _arrays(path: str) -> dict[str, Array]:
    """Return the arrays of a file; the only one of an `.npy` file is the first argument."""
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"arr_0": loaded}
    with loaded as file:
        return dict(file)


def _read_arrays(path: str) -> dict[str, Array]:
    try:
        return _arrays(path)
    except OSError as refusal:
        raise UsageError(error(refusal_text(f"read the inputs from '{path}'", refusal))) from None
    except (ValueError, EOFError, TypeError, zipfile.BadZipFile):
        expected = "it is not an .npz or .npy file of plain arrays"
        raise UsageError(error(f"cannot read the inputs from '{path}': {expected}")) from None


def save_outputs(path: str, ports: Sequence[Port], outputs: Sequence[Array]) -> None:
    """Write arrays under the names of results, with numbers for equal names.

    Raises:
        UsageError: the file can't be written.
    """
    counts = Counter(port.name for port in ports)
    arrays: dict[str, Array] = {}
    for index, (port, array) in enumerate(zip(ports, outputs, strict=True)):
        name = port.name if counts[port.name] == 1 else f"{port.name} {index}"
        # Files can't represent types that are not NumPy's own.
        arrays[name] = array.astype(port.spec.dtype, copy=False)
    with file_access(f"write the outputs to '{path}'"), open(path, "wb") as file:
        np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]


def _fitting(array: Array, port: Port, name: str) -> Array:
    spec = port.spec
    if array.shape != spec.shape:
        fault = f"has shape {array.shape}"
    elif array.dtype != spec.dtype:
        fault = f"holds {array.dtype}"
    else:
        return array
    raise UsageError(error(f"{name} {fault}, but the program expects {_wanted(port)}"))


def _wanted(port: Port) -> str:
    return f"{port.name}, {port.spec.dtype} of shape {port.spec.shape}"


def _listed(names: Mapping[str, Array] | Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing"


# --- Functions of custom calls --------------------------------------------------------------------


def load_functions(given: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """Return the functions by the targets of the calls that they implement.

    Args:
        given: the values of the flag: `my_scale=kernels.py:scale`. A file is run once, and may
            have functions for several targets.

    Raises:
        UsageError: a value is malformed, or the file can't be read, fails, or has no such
            function.
    """
    files: dict[str, dict[str, Any]] = {}
    functions: dict[str, Callable[..., Any]] = {}
    for each in given:
        target, _, where = each.partition("=")
        path, _, name = where.rpartition(":")
        if not (target and path and name):
            raise UsageError(error(f"'--custom-call={each}' must be TARGET=FILE:FUNCTION"))
        if path not in files:
            files[path] = vars(run_user_file(path, "functions for custom calls"))
        functions[target] = _function_in(files[path], path, name, f"--custom-call={each}")
    return functions


def load_function(where: str, flag: str) -> Callable[..., Any]:
    """Return the function of a Python file.

    Args:
        where: the file and the function: `pipeline.py:module_of`.
        flag: the flag that needs it.

    Raises:
        UsageError: the text is malformed, or the file can't be read, fails, or has no such
            function.
    """
    path, _, name = where.rpartition(":")
    if not (path and name.isidentifier()):
        raise UsageError(error(f"'{flag}' needs a function, as FILE.py:FUNCTION, got '{where}'"))
    return _function_in(vars(run_user_file(path, "programs")), path, name, flag)


def _function_in(names: Mapping[str, Any], path: str, name: str, flag: str) -> Callable[..., Any]:
    function = names.get(name)
    if not callable(function):
        advice = did_you_mean(name, [each for each, value in names.items() if callable(value)])
        raise UsageError(error(f"'{path}' has no function '{name}' for '{flag}'{advice}"))
    return function


# --- Programs in formats for other tools ----------------------------------------------------------


def emit_program(
    program: PartitionedProgram, form: str, output: str, target: str, options: CompileOptions
) -> None:
    """Write a program to a file, or to standard output for "-".

    Args:
        program: the program.
        form: "stablehlo", "portable", "hlo" or "vmfb".
        output: the file.
        target: the target of IREE.
        options: the compile options.

    Raises:
        UsageError: the file can't be written, or a package is missing.
        ExecutionError: a compiler rejects the program.
    """
    if form == "hlo":
        from pyshardy.backends.xla.program import local_xla_program  # noqa: PLC0415

        layout = Layout(1, program.mesh.total_size)
        cache = options.cache_directory
        data = local_xla_program(program.module, layout, cache_directory=cache).hlo.encode()
    elif form == "vmfb":
        from pyshardy.backends.iree.engine import vmfb_of  # noqa: PLC0415

        data = vmfb_of(program.module, target, options.optimization)
    else:
        data = dump(program.module, Kind.PORTABLE if form == "portable" else Kind.TEXT)
    write_output(output, data)
