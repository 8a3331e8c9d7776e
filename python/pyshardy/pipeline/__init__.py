# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pass pipelines: syntax, registration of passes, and execution.

    from pyshardy.pipeline import register_pass, run_pipeline

    run_pipeline(module, "sdy-basic-propagate,func.func(canonicalize,cse)")

Importing this package doesn't load the MLIR host; running a pipeline does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyshardy.pipeline.options import Option, OptionType
from pyshardy.pipeline.registry import (
    PassInfo,
    PipelineInfo,
    declared_options,
    on_functions,
    passes,
    pipeline_of,
    pipelines,
    register_pass,
    register_pipeline,
    unregister,
    use,
)
from pyshardy.pipeline.syntax import OptionText, PassPipeline, PassUse, parse_pipeline

if TYPE_CHECKING:
    from pyshardy.pipeline.errors import PipelineError
    from pyshardy.pipeline.instrumentation import Instrumentation, IRPrinting
    from pyshardy.pipeline.plan import Step, plan_pipeline
    from pyshardy.pipeline.reproducer import CrashReproducer
    from pyshardy.pipeline.runner import run_pipeline
    from pyshardy.pipeline.timing import Timing

__all__ = [
    "CrashReproducer",
    "IRPrinting",
    "Instrumentation",
    "Option",
    "OptionText",
    "OptionType",
    "PassInfo",
    "PassPipeline",
    "PassUse",
    "PipelineError",
    "PipelineInfo",
    "Step",
    "Timing",
    "declared_options",
    "on_functions",
    "parse_pipeline",
    "passes",
    "pipeline_of",
    "pipelines",
    "plan_pipeline",
    "register_pass",
    "register_pipeline",
    "run_pipeline",
    "unregister",
    "use",
]

_NEEDS_HOST = {
    "CrashReproducer": "reproducer",
    "IRPrinting": "instrumentation",
    "Instrumentation": "instrumentation",
    "PipelineError": "errors",
    "Step": "plan",
    "Timing": "timing",
    "plan_pipeline": "plan",
    "run_pipeline": "runner",
}


def __getattr__(name: str) -> Any:
    if name not in _NEEDS_HOST:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_NEEDS_HOST[name]}"), name)
