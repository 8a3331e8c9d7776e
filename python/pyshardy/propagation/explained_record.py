# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a propagation, which explains the shardings of values."""

from __future__ import annotations

import itertools

from mlir_sdy.host import ir
from mlir_sdy.values import OWN_SHARDING
from pyshardy.display import MOST_ROWS, Displayed, Table, counted
from pyshardy.irtools.defining_ops import defining_operation
from pyshardy.irtools.named_values import NamedValues
from pyshardy.propagation.explanation import Explanation, explain
from pyshardy.propagation.record import Record

_BARRIER = "stablehlo.optimization_barrier"
_INSERTED = {_BARRIER, *OWN_SHARDING} - {"sdy.sharding_constraint", "sdy.data_flow_edge"}
"""Operations that stand for a value of the program: reshards, collectives and barriers."""


class Propagation(Record, Displayed):
    """Observer that records the steps of a propagation in order, and explains shardings.

    Only the changes are recorded; the details of a step are computed on demand.
    """

    def summary(self) -> str:
        """Return the number of steps and of operations in one line."""
        if not self.has_started:
            return "nothing propagated"
        program = self.engine.program
        return f"{counted(len(self), 'step')} on {counted(len(program.operations), 'operation')}"

    def tables(self) -> list[Table]:
        """Return a table of the first steps."""
        rows = [
            (step.number, step.name, step.location or "", step.changes)
            for step in itertools.islice(self, MOST_ROWS)
        ]
        return [Table("Steps", ("step", "operation", "location", "change"), rows, len(self))]

    def explain(self, value: ir.Value | str) -> Explanation:
        """Explain why a value is sharded as it is, and why not further.

            print(record.explain("params['w']"))

        Args:
            value: a value of the module, as it was when propagation started, or as later passes
                created it; or a name of `pyshardy.values`. For the result of a reshard or a
                collective, the explanation is that of the value before these operations.

        Raises:
            UsageError: no value, or several ones, have the name.
            ValueError: propagation saw neither the value nor one that it replaces.
        """
        named = isinstance(value, str)
        known = NamedValues(self.engine.program.module)[value] if named else value
        slot, inserted = self._found(known)
        return explain(self, slot, inserted)

    def slot(self, value: ir.Value) -> int:
        """Return the number of the tensor that `explain` explains.

        Args:
            value: as for `explain`.

        Raises:
            ValueError: as for `explain`.
        """
        return self._found(value)[0]

    def _found(self, value: ir.Value) -> tuple[int, tuple[str, ...]]:
        """Return the slot of a value, and the operations inserted after propagation before it."""
        inserted: list[str] = []
        while (slot := self.later_values.slot(value)) is None:
            operation = defining_operation(value)
            if operation is None or operation.name not in _INSERTED:
                message = (
                    "the value was not there when shardings were propagated, and it is not known "
                    "what it stands for; ask for one that it is made of"
                )
                raise ValueError(message)
            inserted.append(operation.name)
            is_barrier = operation.name == _BARRIER
            value = operation.operands[ir.OpResult(value).result_number if is_barrier else 0]
        return slot, tuple(inserted)
