# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The CPU to compile for."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir

CPU = "PYSHARDY_JIT_CPU"
"""The environment variable with the CPU to compile for; see `Target.parse`."""


_NEEDED = {"x86_64": ("+64bit", "+sse2")}.get(platform.machine(), ())
"""Features without which LLVM ends the process; CPUs unknown to LLVM lack them."""


@dataclass(frozen=True, slots=True)
class Target:
    """A CPU, by its name in LLVM.

    Attributes:
        cpu: the name, such as `x86-64`, which every x86-64 CPU can run.
        features: added and removed features: `+avx2`, `-x87`.
    """

    cpu: str
    features: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read `x86-64-v3` or `x86-64,+avx2,-x87`."""
        cpu, *features = (part.strip() for part in text.split(","))
        return cls(cpu, tuple(features))


def chosen_target() -> Target | None:
    """Return the CPU in the environment variable `PYSHARDY_JIT_CPU`; None for this machine's."""
    text = os.environ.get(CPU)
    return Target.parse(text) if text else None


def use_target(module: ir.Module, target: Target) -> None:
    """Compile all functions of a module of LLVM's dialect for a CPU, in place."""
    features = ", ".join(f'"{feature}"' for feature in (*target.features, *_NEEDED))
    with module.context:
        attributes = {
            "target_cpu": ir.StringAttr.get(target.cpu),
            # Also an empty list, since the default is the features of this machine.
            "target_features": ir.Attribute.parse(f"#llvm.target_features<[{features}]>"),
        }
        for function in _definitions(module):
            for name, attribute in attributes.items():
                set_discardable(function, name, attribute)


def _definitions(module: ir.Module) -> Iterator[ir.Operation]:
    for operation in module.body.operations:
        if operation.operation.name == "llvm.func" and len(operation.regions[0].blocks):
            yield operation.operation
