# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties of operations for graphs, computed once for equal names and types.

The layers of a model have the same operations, and to ask the bindings for a shape takes a
microsecond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.host import identity, ir
from pyshardy.auto.strategies.alternatives import Alternatives, AlternativesOf
from pyshardy.cost.op_work import Work
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.work import depends_on_sizes_only
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """The properties of a type. There is one object for each type.

    Attributes:
        shape: the shape; empty for scalars and other values.
        element_bytes: the bytes of an element.
        nbytes: the bytes of the tensor.
    """

    shape: Shape
    element_bytes: int
    nbytes: int


@dataclass(eq=False, slots=True)
class OperationForm:
    """The properties of operations with equal names and types, and with the same operands fused.

    Attributes:
        is_elementwise: whether all operands that are no scalars are sharded like the only result.
        work: the unsharded work; None if it depends on more than the types.
        alternatives: the strategies of an elementwise operation whose operands must be computed,
            and whose result may be sharded in any way; None if they are unknown so far.
    """

    is_elementwise: bool
    work: Work | None
    alternatives: Alternatives | None = None


class OperationForms:
    """The properties of the types and operations of a program.

    Args:
        of: finds the work of operations.
    """

    def __init__(self, of: AlternativesOf) -> None:
        self._of = of
        self._tensors: dict[int, Tensor] = {}
        self._forms: dict[tuple[object, ...], OperationForm] = {}

    def tensor(self, value: ir.Value) -> Tensor:
        """Return the properties of the type of a value."""
        value_type = value.type
        known = self._tensors.get(identity(value_type))
        if known is None:
            shape, nbytes = shape_of(value_type), element_bytes(value_type)
            known = Tensor(shape, nbytes, nbytes * math.prod(shape))
            self._tensors[identity(value_type)] = known
        return known

    def of(
        self,
        operation: ir.Operation,
        name: str,
        operands: Sequence[Tensor],
        results: Sequence[Tensor],
        fused: Sequence[bool],
    ) -> OperationForm:
        """Return the properties of an operation.

        Args:
            operation: the operation.
            name: its name.
            operands: the types of its operands.
            results: the types of its results.
            fused: for each operand, then for each result whether it is computed as a part of its
                users.
        """
        key = name, len(operands), *operands, *results, *fused
        known = self._forms.get(key)
        if known is None:
            work = self._of.work(operation, fused) if depends_on_sizes_only(name) else None
            known = OperationForm(_is_elementwise(name, operands, results), work)
            self._forms[key] = known
        return known


def _is_elementwise(name: str, operands: Sequence[Tensor], results: Sequence[Tensor]) -> bool:
    if name not in ELEMENTWISE_OPERATIONS or len(results) != 1:
        return False
    is_known = record_of(name).local_form is not None or name.startswith("sdy.")
    return is_known and all(each.shape in ((), results[0].shape) for each in operands)
