# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The application of tactics without costs, for passes and tools."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.host import ir
from pyshardy.pipelines.propagation import PropagationOptions
from pyshardy.schedules.state import ProgramState
from pyshardy.schedules.tactics import Tactic


def propagated_with(
    module: ir.Module,
    tactics: Iterable[Tactic],
    options: PropagationOptions = PropagationOptions(),
) -> ir.Module:
    """Return a program that is propagated with tactics, one after another.

    Args:
        module: the annotated program, which isn't changed.
        tactics: the tactics in order.
        options: the options of `sdy-propagation-pipeline`.

    Raises:
        UsageError: a pattern matches nothing; the mesh has no such axis; the program has no mesh or
            no entry.
        PipelineError: propagation fails.
    """
    state = ProgramState(module, options)
    for each in tactics:
        state.propagate()
        state.apply(each.effects(state.view()))
    last = state.propagate()
    last.values.remove_marks()
    return last.module
