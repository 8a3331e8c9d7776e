# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-translate`: convert programs between file formats.

    sdy-translate program.mlir --to=portable --target-version=1.15.0 -o program.mlirbc
    sdy-translate program.mlirbc

The input is text, MLIR bytecode, a portable artifact of StableHLO, or a program that
`jax.export` has serialized; the tool detects the format.

Exit status: 0 when all went well, else 1.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.flags import GuardFlags, MeshFlag, argument, flag
from pyshardy.cli.output import refuse_binary_on_terminal, write_output
from pyshardy.cli.tool import Parser, Tool, entry_point


@dataclass(frozen=True, kw_only=True)
class TranslateFlags(MeshFlag, GuardFlags):
    """The flags of sdy-translate."""

    file: str = argument("input file; - for standard input", default="-")
    to: str = flag(
        "text",
        "output format: text, bytecode of this MLIR version, or a portable artifact of "
        "StableHLO (default: %(default)s)",
        choices=("text", "bytecode", "portable"),
    )
    target_version: str | None = flag(
        None,
        "StableHLO version of the portable artifact: 'current', 'minimum' or a version such "
        "as 1.15.0 (default: current)",
        "VERSION",
    )
    output: str = flag("-", "output file (default: -)", "FILE", name="o")


parser = partial(
    Parser[TranslateFlags],
    "sdy-translate",
    "Converts a program between text, MLIR bytecode and portable artifacts of StableHLO.",
    TranslateFlags,
)
"""Makes the parser of the command line."""


def _run(arguments: TranslateFlags, tool: Tool) -> int:
    if arguments.target_version and arguments.to != "portable":
        raise UsageError(error("'--target-version' requires '--to=portable'"))
    if arguments.to != "text":
        refuse_binary_on_terminal(arguments.to, arguments.output)
    tool.start(arguments, arguments.file)
    # These load the MLIR host; --help and bad usage do without.
    from pyshardy.cli.reading import read_program  # noqa: PLC0415
    from pyshardy.frontends.files import Kind, dump  # noqa: PLC0415

    module = read_program(arguments.file, tool, arguments.mesh, several_meshes=True)
    written = dump(module, Kind(arguments.to), arguments.target_version or "current")
    write_output(arguments.output, written)
    return 0


main = entry_point("sdy-translate", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
