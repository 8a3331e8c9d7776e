# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are propagated and partitioned with a record of all decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.api import propagate
from pyshardy.cost.hardware import DEFAULT_HARDWARE, Hardware
from pyshardy.explain.advice import Advice, advise
from pyshardy.explain.collectives import CollectiveExplanation, explain_collectives
from pyshardy.explain.moves import MoveRecorder
from pyshardy.program import PartitionedProgram, partition
from pyshardy.propagation.explained_record import Propagation
from pyshardy.propagation.explanation import Explanation

if TYPE_CHECKING:
    from pyshardy.pipeline.options import OptionValue


@dataclass(frozen=True)
class ExplainedProgram:
    """A program with the reasons of its shardings and collectives.

    Attributes:
        module: the propagated module.
        record: the steps of its propagation.
        program: the partitioned program.
        collectives: the explanations of its collectives, in their order.
    """

    module: ir.Module
    record: Propagation
    program: PartitionedProgram
    collectives: tuple[CollectiveExplanation, ...]

    def explanation(self, value: ir.Value) -> ValueExplanation:
        """Explain the sharding of a value and its refused axes.

        Args:
            value: a value of the propagated module.

        Raises:
            UsageError: the value was not propagated.
        """
        try:
            explanation = self.record.explain(value)
        except ValueError as reason:
            raise UsageError(error(str(reason))) from None
        advice = tuple(advise(explanation, refused) for refused in explanation.refused)
        return ValueExplanation(explanation, advice)


@dataclass(frozen=True, slots=True)
class ValueExplanation:
    """The reasons of the sharding of a value.

    Attributes:
        explanation: the source of each axis, and the refused axes.
        advice: for each refused axis, the change with which the value would take it.
    """

    explanation: Explanation
    advice: tuple[Advice, ...]

    def __str__(self) -> str:
        lines = [str(self.explanation)]
        told = dict.fromkeys(map(str, self.advice))
        if told:
            lines.append("  to change this:")
            lines.extend(f"    {each}" for each in told)
        return "\n".join(lines)


def explain_program(
    module: ir.Module, *, hardware: Hardware | str = DEFAULT_HARDWARE, **options: OptionValue
) -> ExplainedProgram:
    """Propagate and partition a program, and explain both.

        explained = explain_program(sdy.parse("model.mlir", context))
        print(explained.collectives[0])

    Args:
        module: the annotated program, which is propagated in place.
        hardware: the hardware that the program is partitioned for; see `partition`.
        options: the options of `sdy-propagation-pipeline`.

    Raises:
        PipelineError: propagation or partitioning fails.
        UsageError: the program has no mesh or no entry; there is no such option or
            hardware.
    """
    record = propagate(module, **options)
    recorder = MoveRecorder(module)
    program = partition(module, hardware=hardware, instrumentation=[recorder])
    collectives = explain_collectives(program.collectives, recorder, record)
    return ExplainedProgram(module, record, program, collectives)
