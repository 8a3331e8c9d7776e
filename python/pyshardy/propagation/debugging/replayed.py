# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a propagation whose result came from a cache.

Steps aren't stored, as they refer to operations in memory. The first question about them repeats
the propagation on a copy of the annotated program; values of the propagated module are found in it
by their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mlir_sdy.diagnostics import collect
from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.propagation.debugging.record import Record
from pyshardy.propagation.observer import observed_by


class ReplayedPropagation(Propagation):
    """The record of a propagation that is repeated when the record is first asked for steps.

    Args:
        module: the propagated module.
        propagate: propagates a copy of the annotated module.
    """

    def __init__(self, module: ir.Module, propagate: Callable[[], object]):
        # The attributes of the base class are missing until `__getattr__` is asked for one.
        self._module = module
        self._propagate = propagate

    def __getattr__(self, name: str) -> Any:
        """Repeat the propagation, which sets the attributes of a record."""
        if name not in vars(Record()):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        super().__init__()
        with collect(), observed_by(self):  # the diagnostics were stored
            self._propagate()
        return getattr(self, name)

    @property
    def module(self) -> ir.Module:
        """The propagated module."""
        return self._module

    def _found(self, value: ir.Value) -> tuple[int, tuple[str, ...]]:
        """Return the slot of a value of either module, and the operations inserted before it."""
        values = list(_values_in(self._module))
        if value in values:
            own = list(_values_in(self.engine.program.module))
            if len(own) != len(values):
                raise ValueError("the module has changed since it was propagated")
            value = own[values.index(value)]
        return super()._found(value)


def _values_in(module: ir.Module) -> Iterator[ir.Value]:
    """Yield all values of a module, in the order of the text."""
    for view in operations_in(module.operation):
        yield from view.operation.results
        for region in view.operation.regions:
            for block in region.blocks:
                yield from block.arguments
