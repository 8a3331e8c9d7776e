# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of the communication of functions, modules and files, and their contracts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.files import file_access
from mlir_sdy.suggest import did_you_mean
from pyshardy.any_program import Program as ProgramAlone
from pyshardy.any_program import traced_module
from pyshardy.backends.xla.preparation import text_to_partition
from pyshardy.contracts.contract import Contract, ContractViolation, MeasuredProgram
from pyshardy.contracts.files import read_contract
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.explain.against_xla import measure_by_xla
from pyshardy.explain.contract_advice import advice_on_contract
from pyshardy.explain.entry import explain
from pyshardy.explain.what_if import whatif
from pyshardy.program import PartitionedProgram, mesh_of_program

_PROGRAM_KEYWORDS = ("kwargs", "static_argnames", "mesh", "in_shardings", "out_shardings")

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Unpack

    from mlir_sdy.model import Mesh
    from pyshardy.explain.sizes import Sizes
    from pyshardy.frontends.jax.meshes import MeshOfJax
    from pyshardy.pipelines.propagation import PropagationOptions

    Program: TypeAlias = ProgramAlone | Callable[..., Any]
    Partitioner: TypeAlias = Literal["pyshardy", "xla"]


def measure_communication(
    program: Program,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    static_argnames: str | Sequence[str] = (),
    mesh: Mesh | MeshOfJax | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    backend: Partitioner = "pyshardy",
    sizes: Sizes | None = None,
    **options: Unpack[PropagationOptions],
) -> MeasuredProgram:
    """Return the collectives and the memory of a program.

    Args:
        program: a function of JAX, a module of PyTorch, or any other program that `sdy.explain`
            takes, with the same arguments.
        args: the arguments of a function, or the inputs of a module of PyTorch.
        kwargs: their keyword arguments.
        static_argnames: the names of arguments of a function that aren't arrays.
        mesh: the mesh of the shardings.
        in_shardings: the shardings of the arguments.
        out_shardings: the shardings of the results.
        hardware: the hardware that the program is partitioned for, as in `partition`.
        backend: the partitioner: ours, or XLA's, for which the collectives are those of optimised
            HLO for CPUs, and the memory is that of its buffer assignment.
        sizes: for a program with dynamic sizes, those at which it is measured, as in `sdy.explain`.
        options: the options of `sdy-propagation-pipeline`.

    Raises:
        UsageError: the arguments don't fit the program.
        PipelineError: propagation or partitioning fails.
        MissingPackageError: JAX, which compiles by XLA, is missing.
        ExecutionError: XLA rejects the program.
    """
    keywords: dict[str, Any] = {
        "kwargs": kwargs,
        "static_argnames": static_argnames,
        "mesh": mesh,
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
    }
    __tracebackhide__ = True  # for pytest
    try:
        return _measured(program, args, keywords, hardware, backend, sizes, options)
    except UsageError as mistake:
        raise mistake.with_traceback(None) from None  # it is in the call, not below it


def _measured(
    program: Program,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    hardware: Hardware | str,
    backend: str,
    sizes: Sizes | None,
    options: PropagationOptions,
) -> MeasuredProgram:
    """Return the collectives and the memory of a program; see `measure_communication`."""
    if backend == "pyshardy":
        explained = explain(program, *args, **keywords, hardware=hardware, sizes=sizes, **options)
        return explained.measured
    if backend != "xla":
        raise UsageError(error(f"unknown backend '{backend}': expected 'pyshardy' or 'xla'"))
    if options:
        names = ", ".join(options)
        raise UsageError(error(f"XLA propagates by itself and takes no options: drop {names}"))
    if isinstance(program, PartitionedProgram):
        raise UsageError(error("XLA partitions programs before propagation: pass the module"))
    module, _ = traced_module("testing.measure_communication", program, args, keywords)
    return measure_by_xla(text_to_partition(module), mesh_of_program(module))


def assert_communication(
    program: Program,
    *args: Any,
    contract: Contract | str | os.PathLike[str] | None = None,
    at_most: Mapping[str, int] | None = None,
    no_axes: Mapping[str, Sequence[str]] | None = None,
    max_bytes: int | str | None = None,
    max_memory: int | str | None = None,
    **keywords: Any,
) -> MeasuredProgram:
    """Assert that the collectives and the memory of a program are within limits.

        assert_communication(step, parameters, batch, mesh=mesh, in_shardings=shardings,
                             at_most={"all_reduce": 2}, no_axes={"data": ["all_gather"]})

    Args:
        program: the program, as in `measure_communication`.
        args: its arguments.
        contract: limits as a value, a text (see `pyshardy.contracts.contract`), or a path of a TOML
            file (see `pyshardy.contracts.files`).
        at_most: the maximum number of collectives by kind.
        no_axes: for each axis the kinds of collectives that must not be along it.
        max_bytes: the bytes that a device sends in a run: a number, `"8MB"`, or an expression of
            dynamic sizes: `"256*b"`.
        max_memory: the peak memory of a device, in the same forms.
        keywords: the other arguments of `measure_communication`.

    Returns:
        The collectives and the memory.

    Raises:
        ContractViolation: the program exceeds limits; an `AssertionError`, whose text has the
            collectives with their source lines and reasons, and constraints that were tried and
            send less.
        UsageError: there are no limits, or they are invalid; the arguments don't fit the program.
    """
    __tracebackhide__ = True  # for pytest
    try:
        limits = Contract.of(
            at_most=at_most, no_axes=no_axes, max_bytes=max_bytes, max_memory=max_memory
        )
        both = limits.merged(_contract(contract))
        if both == Contract():
            known = ("contract", "at_most", "no_axes", "max_bytes", "max_memory")
            hints = filter(None, (did_you_mean(each, known) for each in keywords))
            advice = next(hints, ": pass a contract, 'at_most' or 'max_bytes'")
            raise UsageError(error(f"there are no limits{advice}"))
        measured = measure_communication(program, *args, **keywords)
        both.warn_of_unknown_places(measured)
        violations = both.violations(measured)
    except UsageError as mistake:
        raise mistake.with_traceback(None) from None  # it is in the call, not below it
    if violations:
        raise ContractViolation(violations, _advice(program, args, keywords, both))
    return measured


def _advice(
    program: Program, args: Sequence[Any], keywords: Mapping[str, Any], contract: Contract
) -> list[str]:
    """Return constraints with which devices send fewer bytes, for a program that isn't partitioned.

    They are for our partitioner with default options.
    """
    given = {name: keywords[name] for name in _PROGRAM_KEYWORDS if name in keywords}
    if isinstance(program, PartitionedProgram) or given.keys() != keywords.keys():
        return []
    found = advice_on_contract(whatif(program, *args, **given), contract)
    return [each.message for each in found]


def _contract(given: Contract | str | os.PathLike[str] | None) -> Contract:
    if given is None:
        return Contract()
    if isinstance(given, Contract):
        return given
    return read_contract(given)


# --- Golden files ---------------------------------------------------------------------------------

# A later version of the program is compared with the file, so that a test shows each collective
# that appears, disappears, or sends another number of bytes.


_OTHER_GROUPS = "other groups"


class _Key(NamedTuple):
    """The collectives that a golden file counts together."""

    line: str
    kind: str
    axes: str


class _Sum(NamedTuple):
    """Their number and the bytes that a device sends in a run."""

    number: int
    nbytes: int


class GoldenMismatch(AssertionError):
    """The collectives of a program differ from those of its golden file."""


def golden_text(measured: MeasuredProgram) -> str:
    """Return the golden file of a program."""
    rows = [
        {"line": line, "collective": kind, "axes": axes, "count": number, "nbytes": nbytes}
        for (line, kind, axes), (number, nbytes) in sorted(_sums(measured).items())
    ]
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    collectives = f"[\n{lines}\n  ]" if rows else "[]"
    axes = json.dumps(list(measured.axes))
    return f'{{\n  "axes": {axes},\n  "collectives": {collectives}\n}}\n'


def assert_equals_golden(
    measured: MeasuredProgram, path: str | os.PathLike[str], *, update: bool = False
) -> None:
    """Assert that the collectives of a program are those of a golden file.

    Args:
        measured: the collectives.
        path: the file.
        update: write the file instead.

    Raises:
        GoldenMismatch: they differ; the text is a table of the differences.
        UsageError: the file can't be read or written, or isn't a golden file.
    """
    __tracebackhide__ = True  # for pytest
    with file_access(f"use the golden file '{path}'"):
        if update:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(golden_text(measured), encoding="utf-8")
            return
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            message = f"there is no golden file '{path}': write it by 'pytest --sdy-update'"
            raise UsageError(error(message)) from None
    expected = _parsed(text, path)
    found = _sums(measured)
    if expected != found:
        raise GoldenMismatch(_differences(expected, found, path))


def _sums(measured: MeasuredProgram) -> dict[_Key, _Sum]:
    sums: dict[_Key, _Sum] = {}
    for each in measured.collectives:
        place = each.place
        line = "" if place is None else f"{PurePath(place.filename).name}:{place.line}"
        axes = _OTHER_GROUPS if each.axes is None else ", ".join(each.axes)
        key = _Key(line, each.kind, axes)
        number, nbytes = sums.get(key, _Sum(0, 0))
        sums[key] = _Sum(number + 1, nbytes + each.nbytes_total)
    return sums


def _parsed(text: str, path: str | os.PathLike[str]) -> dict[_Key, _Sum]:
    try:
        rows: list[dict[str, Any]] = json.loads(text)["collectives"]
        return {
            _Key(row["line"], row["collective"], row["axes"]): _Sum(row["count"], row["nbytes"])
            for row in rows
        }
    except (ValueError, KeyError, TypeError) as reason:
        message = f"'{path}' is not a golden file ({reason!r}): write it by 'pytest --sdy-update'"
        raise UsageError(error(message)) from None


def _differences(
    expected: Mapping[_Key, _Sum], found: Mapping[_Key, _Sum], path: str | os.PathLike[str]
) -> str:
    none = _Sum(0, 0)
    rows: list[tuple[str, ...]] = [("line", "collective", "axes", "count", "bytes sent")]
    for key in sorted(expected.keys() | found.keys()):
        before, after = expected.get(key, none), found.get(key, none)
        if before != after:
            rows.append(
                (
                    key.line or "unknown",
                    key.kind,
                    key.axes,
                    _change(before.number, after.number),
                    _change(before.nbytes, after.nbytes),
                )
            )
    lines = [f"the collectives differ from those of '{path}':", *_aligned(rows)]
    return "\n".join([*lines, "if this is intended, update the file by 'pytest --sdy-update'"])


def _change(before: int, after: int) -> str:
    return f"{before:,}" if before == after else f"{before:,} -> {after:,}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
