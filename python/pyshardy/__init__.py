# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pyshardy: sharding for StableHLO programs, from Python, on stock MLIR wheels.

    import pyshardy as sdy

    context = sdy.Context()
    module = sdy.parse("transformer_block.mlir", context)
    record = sdy.propagate(module)
    program = sdy.partition(module)
    outputs = program.run(inputs)
    print(sdy.asm(program.module))

The package also exports the classes and builders of the dialect: `sdy.AllGatherOp`,
`sdy.all_gather`, `sdy.TensorShardingAttr`. Names are imported at the first use, so that the tools
start fast.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mlir_sdy.notebook import set_renderer

if TYPE_CHECKING:
    from mlir_sdy.diagnostics import (
        Diagnostic,
        ParseError,
        PassError,
        SdyError,
        UsageError,
        VerificationError,
    )
    from mlir_sdy.dialect import Context, register
    from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, ModelError, TensorSharding
    from mlir_sdy.sdy import *  # noqa: F403 (the classes and builders of the dialect)
    from mlir_sdy.values import get_sharding, set_sharding
    from mlir_sdy.verify import verify
    from pyshardy import mpmd as mpmd
    from pyshardy import passes as passes
    from pyshardy import shard as shard
    from pyshardy.advised_partition import partition
    from pyshardy.any_program import parse
    from pyshardy.api import asm, propagate, values, write
    from pyshardy.auto.entry import auto_shard
    from pyshardy.auto.plans.plan import ShardingPlan
    from pyshardy.auto.strategies.costs import CostModel
    from pyshardy.backends import CompileOptions, Registration, register_backend
    from pyshardy.contracts.contract import Contract, ContractViolation
    from pyshardy.cost.hardware import Hardware, Link, load_hardware
    from pyshardy.drawing import Drawing, draw, draw_mesh
    from pyshardy.dynamic.program import DynamicProgram
    from pyshardy.explain.entry import explain
    from pyshardy.explain.program_explanation import ProgramExplanation
    from pyshardy.explain.what_if import WhatIf, whatif
    from pyshardy.forms import sharding
    from pyshardy.frontends import AUTO
    from pyshardy.frontends import jax as jax
    from pyshardy.frontends import torch as torch
    from pyshardy.pipeline import PipelineError, register_pass, register_pipeline, run_pipeline
    from pyshardy.processes.crash import HostCrashError
    from pyshardy.program import PartitionedProgram, ShardedArray
    from pyshardy.propagation.debugging.explanation import Propagation
    from pyshardy.propagation.observer import observed_by
    from pyshardy.rules import load_rules, rule, sharding_rule
    from pyshardy.schedules.library import (
        auto,
        batch,
        expert,
        manual,
        megatron,
        sequence,
        spatial,
        vocabulary,
        zero,
    )
    from pyshardy.schedules.plan import Plan
    from pyshardy.schedules.schedule import Schedule, load_schedule
    from pyshardy.schedules.tactics import Assignment, SeparateReshards, tactic

__all__ = [
    "AUTO",
    "Assignment",
    "AxisRef",
    "CompileOptions",
    "Context",
    "Contract",
    "ContractViolation",
    "CostModel",
    "Diagnostic",
    "DimensionSharding",
    "Drawing",
    "DynamicProgram",
    "Hardware",
    "HostCrashError",
    "Link",
    "Mesh",
    "ModelError",
    "ParseError",
    "PartitionedProgram",
    "PassError",
    "PipelineError",
    "Plan",
    "ProgramExplanation",
    "Propagation",
    "Registration",
    "Schedule",
    "SdyError",
    "SeparateReshards",
    "ShardedArray",
    "ShardingPlan",
    "TensorSharding",
    "UsageError",
    "VerificationError",
    "WhatIf",
    "asm",
    "auto",
    "auto_shard",
    "batch",
    "draw",
    "draw_mesh",
    "expert",
    "explain",
    "get_sharding",
    "load_hardware",
    "load_rules",
    "load_schedule",
    "manual",
    "megatron",
    "observed_by",
    "parse",
    "partition",
    "propagate",
    "register",
    "register_backend",
    "register_pass",
    "register_pipeline",
    "rule",
    "run_pipeline",
    "sequence",
    "set_sharding",
    "sharding",
    "sharding_rule",
    "spatial",
    "tactic",
    "values",
    "verify",
    "vocabulary",
    "whatif",
    "write",
    "zero",
]

if TYPE_CHECKING:
    from mlir_sdy.ods import _sdy_names_gen as _names

    __version__: str
    __all__ += _names.__all__
    __all__ += ["jax", "mpmd", "passes", "shard", "torch"]

_HOMES = {
    "mlir_sdy.diagnostics": (
        "Diagnostic",
        "ParseError",
        "PassError",
        "SdyError",
        "UsageError",
        "VerificationError",
    ),
    "mlir_sdy.dialect": ("Context", "register"),
    "pyshardy.drawing": ("Drawing", "draw", "draw_mesh"),
    "mlir_sdy.model": ("AxisRef", "DimensionSharding", "Mesh", "ModelError", "TensorSharding"),
    "mlir_sdy.values": ("get_sharding", "set_sharding"),
    "mlir_sdy.verify": ("verify",),
    "pyshardy.any_program": ("parse",),
    "pyshardy.api": ("asm", "propagate", "values", "write"),
    "pyshardy.auto.strategies.costs": ("CostModel",),
    "pyshardy.auto.entry": ("auto_shard",),
    "pyshardy.auto.plans.plan": ("ShardingPlan",),
    "pyshardy.contracts.contract": ("Contract", "ContractViolation"),
    "pyshardy.explain.entry": ("explain",),
    "pyshardy.explain.program_explanation": ("ProgramExplanation",),
    "pyshardy.explain.what_if": ("WhatIf", "whatif"),
    "pyshardy.forms": ("sharding",),
    "pyshardy.frontends": ("AUTO",),
    "pyshardy.processes.crash": ("HostCrashError",),
    "pyshardy.pipeline": ("PipelineError", "register_pass", "register_pipeline", "run_pipeline"),
    "pyshardy.backends": ("CompileOptions", "Registration", "register_backend"),
    "pyshardy.cost.hardware": ("Hardware", "Link", "load_hardware"),
    "pyshardy.advised_partition": ("partition",),
    "pyshardy.program": ("PartitionedProgram", "ShardedArray"),
    "pyshardy.dynamic.program": ("DynamicProgram",),
    "pyshardy.propagation.observer": ("observed_by",),
    "pyshardy.propagation.debugging.explanation": ("Propagation",),
    "pyshardy.rules": ("load_rules", "rule", "sharding_rule"),
    "pyshardy.schedules.library": (
        "auto",
        "batch",
        "expert",
        "manual",
        "megatron",
        "sequence",
        "spatial",
        "vocabulary",
        "zero",
    ),
    "pyshardy.schedules.plan": ("Plan",),
    "pyshardy.schedules.schedule": ("Schedule", "load_schedule"),
    "pyshardy.schedules.tactics": ("Assignment", "SeparateReshards", "tactic"),
}
_SUBPACKAGES = {
    "jax": "pyshardy.frontends.jax",
    "mpmd": "pyshardy.mpmd",
    "passes": "pyshardy.passes",
    "shard": "pyshardy.shard",
    "torch": "pyshardy.frontends.torch",
}
_EXTENSION = "load_ipython_extension"
"""The function that `%load_ext pyshardy` calls."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def _html_of(text: str, value: Any) -> str:
    """Return an attribute as HTML with a picture of its mesh."""
    from pyshardy.drawing import html_of  # noqa: PLC0415 (only for notebooks)

    return html_of(text, value)


set_renderer(_html_of)


def _load(name: str) -> Any:
    """Import a name of the API at its first use."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 (slow)

        return version("pyshardy")
    if name == _EXTENSION:
        return importlib.import_module("pyshardy.notebook").load_ipython_extension
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _SUBPACKAGES:
        return importlib.import_module(_SUBPACKAGES[name])
    home = importlib.import_module(_HOME_OF.get(name, "mlir_sdy.sdy"))
    try:
        value = getattr(home, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # Type checkers are to find unknown names.
    __getattr__ = _load


def __dir__() -> list[str]:
    from mlir_sdy.ods import _sdy_names_gen  # noqa: PLC0415 (only for completion)

    return sorted({*__all__, *_SUBPACKAGES, *_sdy_names_gen.__all__, "__version__"})


class _Package(ModuleType):
    """The package's module type: names of the API win over subpackages of the same name.

    Importing `pyshardy.partition`, as passes do, would otherwise hide the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME_OF or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
