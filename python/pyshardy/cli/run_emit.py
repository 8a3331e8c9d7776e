# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Output of a partitioned program in formats for other tools."""

from __future__ import annotations

from collections.abc import Callable

from pyshardy.backends import CompileOptions
from pyshardy.cli.output import write_output
from pyshardy.frontends.files import Kind, dump
from pyshardy.program import PartitionedProgram


def emit(
    program: PartitionedProgram, form: str, output: str, target: str, options: CompileOptions
) -> None:
    """Write a program to a file, or to standard output for "-".

    Args:
        program: the program.
        form: one of `FORMS`.
        output: the file.
        target: the target of IREE.
        options: the compile options.

    Raises:
        UsageError: the file can't be written, or a package is missing.
        ExecutionError: a compiler rejects the program.
    """
    write_output(output, _FORMS[form](program, target, options))


def _stablehlo(program: PartitionedProgram, _: str, __: CompileOptions) -> bytes:
    return dump(program.module, Kind.TEXT)


def _portable(program: PartitionedProgram, _: str, __: CompileOptions) -> bytes:
    return dump(program.module, Kind.PORTABLE)


def _hlo(program: PartitionedProgram, _: str, options: CompileOptions) -> bytes:
    from pyshardy.backends.xla.program import local_xla_program  # noqa: PLC0415
    from pyshardy.local_program.process_groups import Layout  # noqa: PLC0415

    layout = Layout(1, program.mesh.total_size)
    cache = options.cache_directory
    return local_xla_program(program.module, layout, cache_directory=cache).hlo.encode()


def _vmfb(program: PartitionedProgram, target: str, options: CompileOptions) -> bytes:
    from pyshardy.backends.iree.engine import vmfb_of  # noqa: PLC0415

    return vmfb_of(program.module, target, options.optimization)


_FORMS: dict[str, Callable[[PartitionedProgram, str, CompileOptions], bytes]] = {
    "stablehlo": _stablehlo,
    "portable": _portable,
    "hlo": _hlo,
    "vmfb": _vmfb,
}
