# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manual axes of a `sdy.manual_computation`, and the parts of a sharding on them."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model.text import braced, quoted


@dataclass(frozen=True, slots=True)
class ManualAxes:
    """Names of the full axes that a body handles by hand: `{"x", "y"}`."""

    value: tuple[str, ...] = ()

    def __str__(self) -> str:
        return braced(map(quoted, self.value))
