# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a propagation, which explains the shardings of values."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.values import OWN_SHARDING
from pyshardy.propagation.explanation import Explanation, explain
from pyshardy.propagation.record import Record

_INSERTED = OWN_SHARDING.keys() - {"sdy.sharding_constraint", "sdy.data_flow_edge"}
"""Operations that change the sharding of a value: reshards and collectives."""


class Propagation(Record):
    """Observer that records the steps of a propagation in order, and explains shardings.

    Only the changes are recorded; the details of a step are computed on demand.
    """

    def explain(self, value: ir.Value) -> str:
        """Explain a value's sharding as text: see `explanation`."""
        return str(self.explanation(value))

    def explanation(self, value: ir.Value) -> Explanation:
        """Explain why a value is sharded as it is, and why not further.

        Args:
            value: a value of the module, as it was when propagation started, or as later passes
                created it. For the result of a reshard or a collective, the explanation is that
                of the value before these operations.

        Raises:
            ValueError: propagation saw neither the value nor one that it replaces.
        """
        inserted: list[str] = []
        while (slot := self.later_values.slot(value)) is None:
            operation = None if isinstance(value, ir.BlockArgument) else value.owner.operation
            if operation is None or operation.name not in _INSERTED:
                message = (
                    "the value was not there when shardings were propagated, and it is not known "
                    "what it stands for; ask for one that it is made of"
                )
                raise ValueError(message)
            inserted.append(operation.name)
            value = operation.operands[0]
        return explain(self, slot, tuple(inserted))
