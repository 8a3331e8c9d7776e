# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Additions of front ends to partitioning and execution, which know no front end.

A module that a front end has traced may refer to Python functions of the process, by an attribute
of the module that copies and passes preserve. The front end registers under that attribute what is
done with them. A module of another process has the attribute, too: the front end tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir

Step = Callable[[ir.Operation, ir.Module], None]
"""Takes the entry function and the module, which it may change."""

Implementations = Callable[[ir.Module], Mapping[str, Callable[..., Any]]]
"""Returns functions for the targets of custom calls in a module."""

_steps: dict[str, Step] = {}
_implementations: dict[str, Implementations] = {}


def before_partitioning(attribute: str) -> Callable[[Step], Step]:
    """Register a step for propagated modules with an attribute, before they are partitioned."""

    def register(step: Step) -> Step:
        _steps[attribute] = step
        return step

    return register


def implementing_calls(attribute: str) -> Callable[[Implementations], Implementations]:
    """Register the functions for custom calls of modules with an attribute."""

    def register(implementations: Implementations) -> Implementations:
        _implementations[attribute] = implementations
        return implementations

    return register


def run_steps(entry: ir.Operation, module: ir.Module) -> None:
    """Run the steps for the attributes of a module, in the order of the attributes' names."""
    for attribute, step in sorted(_steps.items()):
        if has_discardable(module.operation, attribute):
            step(entry, module)


def implementations_of(module: ir.Module) -> dict[str, Callable[..., Any]]:
    """Return the functions for the custom calls of a module, by targets."""
    functions: dict[str, Callable[..., Any]] = {}
    for attribute, implementations in _implementations.items():
        if has_discardable(module.operation, attribute):
            functions |= implementations(module)
    return functions


def refers_to_process(module: ir.Module) -> bool:
    """Whether a module has an attribute that stands for Python functions of a process."""
    return any(has_discardable(module.operation, name) for name in (*_steps, *_implementations))
