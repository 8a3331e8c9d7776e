# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-run`: propagates shardings, partitions, runs, and checks the result.

    sdy-run program.mlir
    sdy-run --print-module --no-check - < program.mlir

The partitioned program runs on simulated devices, as many as the mesh has, with random inputs; its
results are compared with those of the program before partitioning.

Exit status: 0 when the results agree, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from mlir_sdy.diagnostics import UsageError, emit, error, remarks, warning
from pyshardy.backends import backend_names
from pyshardy.cli.source_files import SourceFiles
from pyshardy.cli.tool import Tool, read_input

_PROPAGATION = "sdy-propagation-pipeline"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool.

    Args:
        argv: the arguments without the name of the program; those of the process by default.

    Returns:
        The exit status.
    """
    tool = Tool("sdy-run")
    return tool.run(lambda: _run(_parser().parse_args(argv), tool.sources))


class _Parser(argparse.ArgumentParser):
    """Reports a bad command line as all other errors are reported."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(error(f"{message}; see sdy-run --help"))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sdy-run",
        description="Propagates the shardings of a program, partitions it, runs it on simulated "
        "devices with random inputs, and compares the results with the unpartitioned program's.",
    )
    parser.add_argument("file", help="the program in MLIR assembly; - for standard input")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random inputs (default: 0)"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help="the largest difference allowed in floating-point results, relative to the largest "
        "value of the result (default: by the coarsest element type inside, 1e-5 for f32)",
    )
    parser.add_argument(
        "--backend",
        choices=backend_names(),
        default="interpreter",
        help="what runs the programs (default: %(default)s)",
    )
    parser.add_argument(
        "--strict-rules",
        action="store_true",
        help="make an operation without a sharding rule an error",
    )
    parser.add_argument(
        "--remarks",
        action="store_true",
        help="tell what is computed on whole data, and what that costs",
    )
    parser.add_argument(
        "--load-rules",
        action="append",
        default=[],
        metavar="FILE",
        help="run this Python file, which registers sharding rules",
    )
    parser.add_argument(
        "--print-module", action="store_true", help="print the partitioned program first"
    )
    parser.add_argument(
        "--no-check", action="store_true", help="don't run the unpartitioned program"
    )
    return parser


def _run(arguments: argparse.Namespace, sources: SourceFiles) -> int:
    # All of these load the MLIR host or are slow to load; --help and bad usage do without.
    from mlir_sdy.assembly import asm, parse  # noqa: PLC0415
    from mlir_sdy.dialect import Context  # noqa: PLC0415
    from pyshardy.backends.comparison import compare, tolerance_within  # noqa: PLC0415
    from pyshardy.backends.modules import copy_of  # noqa: PLC0415
    from pyshardy.backends.random_inputs import random_inputs  # noqa: PLC0415
    from pyshardy.cli.run_report import Report  # noqa: PLC0415
    from pyshardy.pipeline import run_pipeline  # noqa: PLC0415
    from pyshardy.program import partition, run_unpartitioned  # noqa: PLC0415
    from pyshardy.rules import load_rules, strict_rules  # noqa: PLC0415

    for path in arguments.load_rules:
        load_rules(path)
    filename = "<stdin>" if arguments.file == "-" else arguments.file
    text = _read(arguments.file)
    sources.add(filename, text)
    module = parse(text, Context(), filename)
    original = copy_of(module)
    strictness = strict_rules() if arguments.strict_rules else contextlib.nullcontext()
    telling = remarks() if arguments.remarks else contextlib.nullcontext()
    with _activity("partitioning"), strictness, telling:
        run_pipeline(module, _PROPAGATION, restore_on_failure=False)
        program = partition(module)
    if arguments.print_module:
        print(asm(program.module))
    report = Report(program, filename)
    report.print_inputs()
    report.print_collectives()
    if not any(
        port.sharding is not None and not port.sharding.is_fully_replicated
        for port in (*program.inputs, *program.outputs)
    ):
        emit(
            warning(
                "no argument or result is sharded, so each device has all of them; give one a "
                "'{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}'"
            )
        )
    inputs = random_inputs([port.spec for port in program.inputs], arguments.seed)
    with _activity(f"running on {program.mesh.total_size} devices"):
        outputs = program.run(inputs, backend=arguments.backend)
    if arguments.no_check:
        report.print_outputs()
        return 0
    with _activity("running the unpartitioned program"):
        expected = run_unpartitioned(original, inputs, backend=arguments.backend)
    tolerance = arguments.tolerance
    if tolerance is None:
        tolerance = tolerance_within(original)
    differences = [
        compare(found, wanted, port.spec, tolerance)
        for found, wanted, port in zip(outputs, expected, program.outputs, strict=True)
    ]
    report.print_outputs(differences)
    return 0 if all(difference.is_small for difference in differences) else 1


def _read(file: str) -> str:
    data = read_input(file)
    try:
        return data.decode()
    except UnicodeDecodeError as broken:
        raise UsageError(error(f"'{file}' is not text in UTF-8: {broken.reason}")) from None


@contextlib.contextmanager
def _activity(what: str) -> Iterator[None]:
    """Show on a terminal that work is under way."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status(f"{what} ..."):
        yield


if __name__ == "__main__":
    sys.exit(main())
