# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a program that take the most memory on each device."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.model import Mesh, TensorSharding
from pyshardy.explain.program import ExplainedProgram
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.propagation.debugging.record import RecordedTensor
from pyshardy.propagation.program import DATA_FLOW_EDGE


@dataclass(frozen=True, slots=True)
class LargeValue:
    """A value with its size on each device.

    Attributes:
        tensor: its description and location.
        spec: its global type.
        sharding: its sharding, or None.
        local_spec: its type on each device, padding included.
    """

    tensor: RecordedTensor
    spec: TensorSpec
    sharding: TensorSharding | None
    local_spec: TensorSpec


def largest_values(explained: ExplainedProgram, count: int) -> list[LargeValue]:
    """Return the intermediate values that take the most memory on each device, sorted by size.

    Args:
        explained: the program.
        count: the number of values to return.
    """
    values = _values(explained, explained.program.mesh)
    return heapq.nlargest(count, values, key=lambda value: value.local_spec.nbytes)


def _values(explained: ExplainedProgram, mesh: Mesh) -> Iterator[LargeValue]:
    record = explained.record
    program = record.engine.program
    for number in range(1, program.num_values):
        tensor, maker = program.tensor_type(number), program.makers[number]
        is_result = number in program.results[maker] and program.names[maker] != DATA_FLOW_EDGE
        if tensor is None or not tensor.is_static or not is_result:
            continue
        spec = TensorSpec(tensor.shape, tensor.element_type)
        sharding = record.engine.sharding(program.slots[number])
        fits = sharding is not None and len(sharding.dim_shardings) == len(spec.shape)
        shape = sharding.local_shape(spec.shape, mesh) if fits and sharding else spec.shape
        yield LargeValue(record.tensor(number), spec, sharding, spec.with_shape(shape))
