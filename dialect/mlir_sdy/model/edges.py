# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation edges: the record of the values between which axes propagated, step by step."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.enums import EdgeNodeType
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.text import TextRepr, bracketed
from mlir_sdy.model.value_list import ValueList


@dataclass(frozen=True, slots=True, repr=False)
class EdgeValueRef(TextRepr):
    """An operand or a result of an op: `operand-0`."""

    type: EdgeNodeType
    index: int

    def __str__(self) -> str:
        return f"{self.type.keyword}-{self.index}"


@dataclass(frozen=True, slots=True, repr=False)
class AxisToPropagationDetails(TextRepr):
    """An axis that propagated from a value to others: `{"x" = operand-1 -> [result-0]}`."""

    axis_name: AxisRef
    source: EdgeValueRef
    targets: tuple[EdgeValueRef, ...]

    def __str__(self) -> str:
        return f"{{{self.axis_name} = {self.source} -> {bracketed(self.targets)}}}"


@dataclass(frozen=True, slots=True, repr=False)
class PropagationOneStep(TextRepr):
    """The edges of one step of propagation: `{step-2 = [...]}`."""

    step_index: int
    axis_entries: tuple[AxisToPropagationDetails, ...]

    def __str__(self) -> str:
        return f"{{step-{self.step_index} = {bracketed(self.axis_entries)}}}"


@dataclass(frozen=True, slots=True, repr=False)
class PropagationEdges(ValueList[PropagationOneStep]):
    """The steps that changed the shardings of an operation: `<[{step-2 = [...]}]>`.

    Raises:
        ModelError: On construction, for the first step with one of these faults:

            1. its index is negative;
            2. its index is that of an earlier step;
            3. a target of an axis is the axis' source;
            4. a target of an axis is repeated.
    """

    value: tuple[PropagationOneStep, ...]

    def __post_init__(self) -> None:
        seen_steps: set[int] = set()
        for step in self.value:
            index = step.step_index
            if index < 0:
                raise ModelError(f"propagation edges have negative step index: {index}")
            if index in seen_steps:
                raise ModelError(f"propagation edges have duplicate step index: {index}")
            seen_steps.add(index)
            for entry in step.axis_entries:
                _check_targets(entry, index)

    def __str__(self) -> str:
        return f"<{bracketed(self.value)}>"


def _check_targets(entry: AxisToPropagationDetails, step_index: int) -> None:
    where = f"step index: {step_index} and axis: {entry.axis_name.name}"
    seen: set[EdgeValueRef] = set()
    for target in entry.targets:
        if target == entry.source:
            raise ModelError(
                "propagation edges have a source that is the same as a target for "
                f"{where}: {target}"
            )
        if target in seen:
            raise ModelError(f"propagation edges have duplicate targets for {where}: {target}")
        seen.add(target)
