# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of `sdy-run`."""

from __future__ import annotations

import argparse

from pyshardy.backends import backend_names
from pyshardy.cli.tool import Parser

SAME = "the same"
"""The backend that compares: that of the program."""


def parser() -> argparse.ArgumentParser:
    """What reads the command line.

    It raises a `UsageError` where `argparse` would end the process.
    """
    made = Parser(
        prog="sdy-run",
        description="Propagates the shardings of a program, partitions it, runs it on simulated "
        "devices with random inputs, and compares the results with the unpartitioned program's.",
    )
    made.add_argument("file", help="the program in MLIR assembly; - for standard input")
    made.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random inputs (default: 0)"
    )
    made.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help="the largest difference allowed in floating-point results, relative to the largest "
        "value of the result (default: by the coarsest element type inside, 1e-5 for f32)",
    )
    made.add_argument(
        "--backend",
        choices=backend_names(),
        default="interpreter",
        metavar="NAME",
        help=f"what runs the program: {', '.join(backend_names())} (default: %(default)s)",
    )
    made.add_argument(
        "--mesh",
        metavar="[NAME=]AXIS:SIZE,...",
        help="the mesh to partition for, in place of the program's: data:4,model:2",
    )
    made.add_argument(
        "--inputs", metavar="FILE", help="take the inputs from this .npz file, by name or position"
    )
    made.add_argument("--outputs", metavar="FILE", help="write the outputs to this .npz file")
    made.add_argument(
        "--compare",
        nargs="?",
        const=SAME,
        choices=(SAME, *backend_names()),
        metavar="NAME",
        help="compare with the unpartitioned program, run by the same backend or by this one; "
        "done unless --no-check is given",
    )
    made.add_argument(
        "--profile",
        nargs="?",
        const=5,
        type=int,
        metavar="N",
        help="tell what takes how long; run N times more, and count the fastest (default: 5)",
    )
    made.add_argument(
        "--emit",
        choices=("stablehlo", "portable", "hlo", "vmfb"),
        help="don't run: write the partitioned program as text, as a portable artifact, as XLA "
        "has compiled it, or as a file for IREE",
    )
    made.add_argument(
        "--target",
        choices=("llvm-cpu", "cuda"),
        default="llvm-cpu",
        help="what --emit=vmfb compiles for (default: %(default)s)",
    )
    made.add_argument(
        "-o", dest="output", default="-", metavar="FILE", help="where --emit writes (default: -)"
    )
    made.add_argument(
        "--optimization",
        type=int,
        choices=range(4),
        help="from 0, to compile fast, to 3, to run fast (default: what the backend does)",
    )
    made.add_argument(
        "--cache", metavar="DIR", help="keep compiled programs in this directory, for later runs"
    )
    made.add_argument(
        "--strict-rules",
        action="store_true",
        help="make an operation without a sharding rule an error",
    )
    made.add_argument(
        "--remarks",
        action="store_true",
        help="tell what is computed on whole data, and what that costs",
    )
    made.add_argument(
        "--load-rules",
        action="append",
        default=[],
        metavar="FILE",
        help="run this Python file, which registers sharding rules",
    )
    made.add_argument(
        "--custom-call",
        action="append",
        default=[],
        metavar="TARGET=FILE:FUNCTION",
        help="let a function of a Python file do the custom calls of this target: it takes a NumPy "
        "array for each operand, as a device holds it, and returns those of the results",
    )
    made.add_argument(
        "--nan-safe",
        action="store_true",
        help="keep NaN in all-reduces by maximum and minimum, which drop it in XLA on CPUs",
    )
    made.add_argument(
        "--print-module", action="store_true", help="print the partitioned program first"
    )
    made.add_argument("--no-check", action="store_true", help="don't run the unpartitioned program")
    made.add_guard_flag()
    return made
