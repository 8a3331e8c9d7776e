# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-schedule`: propagate the shardings of the tactics of a schedule.

sdy-opt --pass-pipeline='builtin.module(sdy-schedule{file=plan.toml},sdy-partition-pipeline)'

It stands for `sdy-propagation-pipeline`.
"""

from __future__ import annotations

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.irtools.modules import move_contents
from pyshardy.schedules.files import parse_tactics, read_tactics
from pyshardy.schedules.state import propagated_with


def schedule(module: ir.Module, *, file: str = "", tactics: str = "") -> None:
    """Import a program, apply tactics and propagate after each of them, and export it.

    Args:
        module: the annotated program, which is changed in place.
        file: the TOML file with the tactics.
        tactics: the tactics, as an array of inline tables of TOML.

    Raises:
        UsageError: neither or both of `file` and `tactics` are given, or they are invalid; a
            pattern matches nothing; the mesh has no such axis.
        PipelineError: propagation fails.
    """
    if bool(file) == bool(tactics):
        raise UsageError(error("'sdy-schedule' needs either the option 'file' or 'tactics'"))
    given = read_tactics(file) if file else parse_tactics(tactics)
    move_contents(propagated_with(module, given).operation, module.operation)
