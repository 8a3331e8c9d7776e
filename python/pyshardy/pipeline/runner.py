# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of pipelines that mix passes written in Python with the C++ passes of the host."""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext

from mlir_sdy import host
from mlir_sdy.diagnostics import Diagnostic, SdyError, emit, error, nesting_error, warning
from mlir_sdy.host import ir
from mlir_sdy.programs import AnyModule, module_to_change
from mlir_sdy.stages import stage
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import meshes_unchanged
from mlir_sdy.verify import verify, verify_shardings
from pyshardy.irtools.analyses import (
    UNCHANGED,
    UNKNOWN,
    Changes,
    analyses_cached,
    begin_pass,
    end_pass,
)
from pyshardy.irtools.modules import move_contents
from pyshardy.irtools.user_files import raised_at
from pyshardy.pipeline import canonicalize
from pyshardy.pipeline.collection import collection_paused
from pyshardy.pipeline.errors import PipelineError, describe
from pyshardy.pipeline.instrumentation import Instrumentation, operation_counts
from pyshardy.pipeline.plan import Step, operations_at, plan_pipeline
from pyshardy.pipeline.syntax import MODULE_ANCHOR, PassPipeline

VERIFY_ANALYSES = "PYSHARDY_VERIFY_ANALYSES"
"""The environment variable that switches the check of preserved analyses on."""

INTERNAL = "internal error"
"""The beginning of the error of a pass that raised an unexpected exception."""

_LOG = logging.getLogger(__name__)


def run_pipeline(
    module: AnyModule,
    pipeline: str | PassPipeline,
    *,
    instrumentation: Sequence[Instrumentation] = (),
    verify_each: bool = True,
    verify_inside: bool = False,
    verify_analyses: bool | None = None,
    restore_on_failure: bool = True,
) -> None:
    """Run the passes of `pipeline` on `module`, which is changed in place.

    Each pass is run on its own, over all the operations it applies to, before the next starts.
    Warnings and remarks of passes, those of C++ passes too, go through
    `mlir_sdy.diagnostics.emit`.

    Args:
        module: the module to work on, or a traced program that holds it.
        pipeline: a textual pipeline such as "sdy-basic-propagate,func.func(cse)", or its value.
        instrumentation: observers, told in this order before a pass and in reverse order after.
        verify_each: verify the module after every pass; a named pipeline counts as one.
        verify_inside: verify it also between the passes of a named pipeline.
        verify_analyses: recompute the cached analyses that hold after a pass by what it returns,
            and fail if they differ. By default, the environment variable
            `PYSHARDY_VERIFY_ANALYSES` decides.
        restore_on_failure: restore the operations when a pass fails. This requires a copy of the
            module, which costs less than one verification. References to operations from before
            the run then refer to `PipelineError.module_at_failure`. If False, a failure leaves
            the module as the failing pass left it.

    Raises:
        UsageError: the pipeline has an error, or there is no module; nothing was run.
        PipelineError: a pass failed, or the module is invalid after it.
    """
    module = module_to_change("run_pipeline", module)
    if verify_analyses is None:
        verify_analyses = bool(os.environ.get(VERIFY_ANALYSES))
    steps = plan_pipeline(pipeline)
    _warn_of_unknown_anchors(steps, module)
    before = module.operation.clone() if restore_on_failure and steps else None
    for observer in instrumentation:
        observer.before_pipeline(module, steps)
    try:
        with (
            host.diagnostics_emitted(module.context),
            collection_paused(),
            analyses_cached(instrumentation, verifies=verify_analyses),
        ):
            for step in steps:
                verify_it = verify_each and (verify_inside or not step.is_inside)
                begin_pass(tells_changes=step.info is None or step.info.tells_changes)
                stale = end_pass(_run_observed(step, module, instrumentation, verify_it))
                if stale:
                    raise PipelineError(step.argument, _stale_analyses(step, module, stale))
    except PipelineError as failure:
        for observer in reversed(instrumentation):
            observer.after_failed_pipeline(failure)
        if before is not None:
            failure.module_at_failure = _put_back(module, before.operation)
        raise
    for observer in reversed(instrumentation):
        observer.after_pipeline(module)


def _warn_of_unknown_anchors(steps: Sequence[Step], module: ir.Module) -> None:
    """Warn of passes on operations that don't exist, which MLIR leaves out silently."""
    for step in steps:
        for anchor in step.nesting:
            if (
                anchor == "any"
                or module.context.is_registered_operation(anchor)
                or any(operations_at(module, step.nesting))
            ):
                continue
            near = did_you_mean(anchor, operation_counts(module))
            message = f"'{step.argument}' never runs: the context has no operation '{anchor}'{near}"
            emit(warning(message, step.use.location))


def _stale_analyses(step: Step, module: ir.Module, names: Sequence[str]) -> Diagnostic:
    message = (
        f"pass '{step.argument}' changes {', '.join(names)}, but the 'Changes' that it returns "
        "don't say so"
    )
    return error(message, host.location_of(module.operation.location))


def _run_observed(
    step: Step, module: ir.Module, instrumentation: Sequence[Instrumentation], verify_each: bool
) -> Changes:
    """Run a pass; return what it may have changed."""
    for observer in instrumentation:
        observer.before_pass(step, module)
    try:
        changes = _run_step(step, module, verify_each)
    except PipelineError:
        for observer in reversed(instrumentation):
            observer.after_failed_pass(step, module)
        raise
    for observer in reversed(instrumentation):
        observer.after_pass(step, module)
    return changes


def _run_step(step: Step, module: ir.Module, verify_each: bool) -> Changes:
    with stage(f"running pass '{step.argument}'"):
        if not _LOG.isEnabledFor(logging.INFO):
            return _run_and_verify(step, module, verify_each)
        started, before = time.perf_counter(), operation_counts(module)
        changes = _run_and_verify(step, module, verify_each)
        seconds, after = time.perf_counter() - started, operation_counts(module)
        added, removed = (each.total() for each in (after - before, before - after))
        _LOG.info(
            "%s: %.3f s, %d operations (+%d -%d)", step.use, seconds, after.total(), added, removed
        )
        return changes


def _run_and_verify(step: Step, module: ir.Module, verify_each: bool) -> Changes:
    try:
        if step.info is None:
            changes = _run_host_pass(step, module, verify_each)
            if verify_each:
                verify_shardings(module)  # the host has verified the rest
        else:
            changes = _run_python_pass(step, module)
            if verify_each:
                verify(module)
    except PipelineError:
        raise
    except SdyError as failure:
        raise PipelineError(step.argument, *failure.diagnostics) from failure
    except ir.MLIRError as failure:
        raise PipelineError(step.argument, *_reported(failure, step, module)) from failure
    except Exception as bug:
        raise PipelineError(step.argument, _internal_error(step, module.operation, bug)) from bug
    return changes


def _run_python_pass(step: Step, module: ir.Module) -> Changes:
    """Run a pass on each operation that it applies to; report all their errors."""
    assert step.info is not None
    targets = list(operations_at(module, step.nesting)) if step.nesting else [module]
    failures: list[SdyError | ir.MLIRError] = []
    changes: list[Changes | None] = []
    # As in MLIR, a pass on an operation must not change what is around it.
    is_on_modules = not step.nesting or step.nesting[-1] in (MODULE_ANCHOR, "any")
    with nullcontext() if is_on_modules else meshes_unchanged():
        for target in targets:
            with module.context, target.operation.location:
                try:
                    changes.append(step.info.run(target, step.keywords))
                except (SdyError, ir.MLIRError) as failure:
                    failures.append(failure)
                except Exception as bug:
                    place = target.operation
                    raise PipelineError(step.argument, _internal_error(step, place, bug)) from bug
    if len(failures) == 1:
        raise failures[0]
    if failures:
        reported = [_diagnostics_of(failure, step, module) for failure in failures]
        diagnostics = dict.fromkeys(itertools.chain.from_iterable(reported))
        raise PipelineError(step.argument, *diagnostics) from failures[0]
    return Changes.all_of(changes)


def _run_host_pass(step: Step, module: ir.Module, verify_each: bool) -> Changes:
    def run() -> None:
        with module.context:
            manager = host.passmanager.PassManager.parse(str(step.pipeline))
            manager.enable_verifier(verify_each)
            manager.run(module.operation)

    if step.argument == canonicalize.NAME:
        return canonicalize.run_canonicalize(step, module, run)
    if not verify_each and canonicalize.is_needless_symbol_dce(step, module):
        return UNCHANGED
    run()
    return Changes() if step.argument == canonicalize.SYMBOL_DCE else UNKNOWN


def _internal_error(step: Step, place: ir.Operation, bug: Exception) -> Diagnostic:
    if isinstance(bug, RecursionError):
        return nesting_error(host.location_of(place.location))
    message = f"{INTERNAL} in pass '{step.argument}': {describe(bug)}"
    return error(message, host.location_of(place.location), raised_at(bug))


def _diagnostics_of(
    failure: SdyError | ir.MLIRError, step: Step, module: ir.Module
) -> tuple[Diagnostic, ...]:
    if isinstance(failure, SdyError):
        return failure.diagnostics
    return _reported(failure, step, module)


def _reported(failure: ir.MLIRError, step: Step, module: ir.Module) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of `failure`, or one with the name of the pass if there are none."""
    if failure.error_diagnostics:
        return host.diagnostics_of(failure)
    location = host.location_of(module.operation.location)
    return (error(f"pass '{step.argument}' failed without a diagnostic", location),)


def _put_back(module: ir.Module, before: ir.Operation) -> ir.Module:
    """Restore `module` from the copy `before`; return a module with its current content."""
    with module.operation.location:
        replaced = ir.Module.create()
    move_contents(module.operation, replaced.operation)
    move_contents(before, module.operation)
    return replaced
