# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of `sdy-run`."""

from __future__ import annotations

from pyshardy.backends import backend_names
from pyshardy.cli.tool import Parser

SAME = "the same"
"""The value of `--compare` that selects the backend of the program."""


def parser() -> Parser:
    """Return the parser of the command line.

    It raises a `UsageError` where `argparse` would end the process.
    """
    made = Parser(
        prog="sdy-run",
        description="Propagates and partitions a program, runs it on simulated devices with random "
        "inputs, and compares the results with those of the unpartitioned program.",
    )
    made.add_argument("file", help="input file; - for standard input")
    made.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the random inputs (default: 0)"
    )
    made.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help="maximum difference of floating-point results, relative to the largest absolute value "
        "of the result (default: depends on the least precise element type; 1e-5 for f32)",
    )
    made.add_argument(
        "--backend",
        choices=backend_names(),
        default="interpreter",
        metavar="NAME",
        help=f"backend that runs the program: {', '.join(backend_names())} (default: %(default)s)",
    )
    made.add_mesh_flag()
    made.add_schedule_flag()
    made.add_argument(
        "--hardware",
        default="default",
        metavar="NAME|FILE.toml",
        help="hardware that the program is partitioned for: a preset or a TOML file "
        "(default: %(default)s)",
    )
    made.add_argument(
        "--inputs",
        metavar="FILE",
        help="read the inputs from this .npz file, by name or position; an .npy file has one",
    )
    made.add_argument("--outputs", metavar="FILE", help="write the outputs to this .npz file")
    made.add_argument(
        "--compare",
        nargs="?",
        const=SAME,
        choices=(SAME, *backend_names()),
        metavar="NAME",
        help="backend that runs the unpartitioned program for the comparison (default: the backend "
        "of the program)",
    )
    made.add_argument(
        "--profile",
        nargs="?",
        const=5,
        type=int,
        metavar="N",
        help="report the time of each stage; run N more times and report the fastest (default: 5)",
    )
    made.add_argument(
        "--emit",
        choices=("stablehlo", "portable", "hlo", "vmfb"),
        help="do not run; write the partitioned program as text, as a portable artifact, as HLO "
        "compiled by XLA, or as a module for IREE",
    )
    made.add_argument(
        "--target",
        choices=("llvm-cpu", "cuda"),
        default="llvm-cpu",
        help="target of --emit=vmfb (default: %(default)s)",
    )
    made.add_argument(
        "-o", dest="output", default="-", metavar="FILE", help="output file of --emit (default: -)"
    )
    made.add_argument(
        "--optimization",
        type=int,
        choices=range(4),
        help="optimization level; 0 compiles fastest, 3 runs fastest (default: the backend's)",
    )
    made.add_argument("--cache", metavar="DIR", help="cache compiled programs in this directory")
    made.add_rule_flags()
    made.add_argument(
        "--custom-call",
        action="append",
        default=[],
        metavar="TARGET=FILE:FUNCTION",
        help="implement custom calls of this target by a function in a Python file, which takes "
        "the local operands as NumPy arrays and returns the local results",
    )
    made.add_argument(
        "--nan-safe",
        action="store_true",
        help="preserve NaN in max and min all-reduces, which XLA drops on CPUs",
    )
    made.add_argument(
        "--print-module", action="store_true", help="print the partitioned program first"
    )
    made.add_argument(
        "--no-check", action="store_true", help="do not run the unpartitioned program"
    )
    made.add_guard_flag()
    return made
