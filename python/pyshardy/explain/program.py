# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program, propagated and partitioned while it is watched, so that all about it can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.api import propagate
from pyshardy.explain.advice import Advice, advise
from pyshardy.explain.collectives import CollectiveExplanation, explain_collectives
from pyshardy.explain.moves import MoveRecorder
from pyshardy.program import PartitionedProgram, partition
from pyshardy.propagation.explanation import Explanation
from pyshardy.propagation.record import Propagation

if TYPE_CHECKING:
    from pyshardy.pipeline.options import OptionValue


@dataclass(frozen=True)
class ExplainedProgram:
    """A program with the answers to why it is as it is.

    Attributes:
        module: the propagated module.
        record: the steps of its propagation.
        program: the partitioned program.
        collectives: why there is each of its collectives, in their order.
    """

    module: ir.Module
    record: Propagation
    program: PartitionedProgram
    collectives: tuple[CollectiveExplanation, ...]

    def explanation(self, value: ir.Value) -> ValueExplanation:
        """Why a value is sharded as it is, and what would let it have what it was refused.

        Args:
            value: a value of the propagated module.

        Raises:
            UsageError: propagation has not seen the value.
        """
        try:
            explanation = self.record.explanation(value)
        except ValueError as reason:
            raise UsageError(error(str(reason))) from None
        advice = tuple(advise(explanation, refused) for refused in explanation.refused)
        return ValueExplanation(explanation, advice)


@dataclass(frozen=True, slots=True)
class ValueExplanation:
    """Why a value is sharded as it is.

    Attributes:
        explanation: how each axis came to it, and what it was refused.
        advice: for each axis that it was refused, what would let it have that.
    """

    explanation: Explanation
    advice: tuple[Advice, ...]

    def __str__(self) -> str:
        lines = [str(self.explanation)]
        told = dict.fromkeys(map(str, self.advice))
        if told:
            lines.append("  to settle that differently:")
            lines.extend(f"    {each}" for each in told)
        return "\n".join(lines)


def explain_program(module: ir.Module, **options: OptionValue) -> ExplainedProgram:
    """Propagate and partition a program, and explain both.

        explained = explain_program(sdy.parse("model.mlir", context))
        print(explained.collectives[0])

    Args:
        module: the annotated program, which is propagated in place.
        options: those of `sdy-propagation-pipeline`.

    Raises:
        PipelineError: it can't be propagated, or not partitioned.
        UsageError: it has no mesh or no entry; there is no such option.
    """
    record = propagate(module, **options)
    recorder = MoveRecorder(module)
    program = partition(module, instrumentation=[recorder])
    collectives = explain_collectives(program.collectives, recorder, record)
    return ExplainedProgram(module, record, program, collectives)
