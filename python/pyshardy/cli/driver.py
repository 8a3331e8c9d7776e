# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver of `sdy-opt`: read the input, run passes, check diagnostics, write."""

from __future__ import annotations

import pkgutil
import re
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

from mlir_sdy import host
from mlir_sdy.assembly import asm, decoded, parse
from mlir_sdy.diagnostics import (
    Diagnostic,
    SdyError,
    Severity,
    UsageError,
    VerificationError,
    collect,
    emit,
    error,
    note,
    redirect,
    remarks,
)
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir, location_of
from mlir_sdy.stages import listening, stage
from mlir_sdy.suggest import did_you_mean
from pyshardy.caching.store import Store, folder_of
from pyshardy.cli.mesh_flag import give_mesh
from pyshardy.cli.opt_flags import FLAGS, Arguments, load_passes, reproducing_flags
from pyshardy.cli.output import write_output
from pyshardy.cli.printing import with_unique_names, with_value_users
from pyshardy.cli.source_files import SEPARATOR, Chunk, near_misses, split_input
from pyshardy.cli.tool import Tool
from pyshardy.cli.verify_diagnostics import DiagnosticVerifier
from pyshardy.frontends.files import Kind, dump, load
from pyshardy.irtools.modules import remember_text
from pyshardy.irtools.user_files import RAISED_HERE
from pyshardy.pipeline import PipelineError, parse_pipeline, passes, pipeline_of, pipelines
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.host_passes import knows
from pyshardy.pipeline.instrumentation import (
    ActionLog,
    Everything,
    Instrumentation,
    IRPrinting,
    Statistics,
)
from pyshardy.pipeline.plan import PASSES as DEPRECATED_PASSES
from pyshardy.pipeline.plan import plan_pipeline
from pyshardy.pipeline.reproducer import (
    CrashReproducer,
    ReproducerWriter,
    pipeline_of_steps,
    read_reproducer,
)
from pyshardy.pipeline.runner import INTERNAL, run_pipeline
from pyshardy.pipeline.syntax import SOURCE_NAME
from pyshardy.pipeline.timing import Timing
from pyshardy.sizes.signature import is_dynamic

_WATCHING = (
    "log-actions-to",
    "mlir-generate-reproducer",
    "mlir-pass-statistics",
    "mlir-timing",
    "mlir-timing-display",
    "verify-analyses",
    "verify-inside-pipelines",
)
"""Flags for which passes run even if their result is in the cache, beside `mlir-print-ir-*`."""

_OPERATION = "see current operation:"
"""The beginning of the note of the host with the operation of an error."""


class Driver:
    """A run of the tool.

    Args:
        arguments: the command line.
        tool: reads the input, and keeps the source texts for diagnostics.
        started: when the tool began to load the modules that this file imports.
    """

    def __init__(self, arguments: Arguments, tool: Tool, started: float):
        self._arguments = arguments
        self._tool = tool
        self._sources = tool.sources
        self._filename = "<stdin>" if arguments.input == "-" else arguments.input
        self._pipeline = arguments.pass_pipeline or ",".join(map(str, arguments.passes))
        self._verify_each = arguments.verify_each
        self._timing = Timing(started)
        self._timing.add_imports()
        self._statistics = Statistics()
        self._log = ActionLog(arguments.log_actions_to) if arguments.log_actions_to else None
        split = arguments.split_input_file
        self._separator = SEPARATOR if split == "true" else split
        self._expectations_failed = False

    def run(self) -> int:
        """Do the work; returns the exit status.

        Raises:
            UsageError: the command line is invalid.
        """
        if self._arguments.show_dialects:
            sys.stdout.write(_dialects())
            return 0
        if self._arguments.verbose:
            self._tool.enable_logging()
        with listening(self._timing.on_stages):
            status = self._transform()
        if self._arguments.mlir_timing or self._arguments.mlir_timing_display:
            as_list = self._arguments.mlir_timing_display == "list"
            as_json = self._arguments.mlir_output_format == "json"
            sys.stderr.write(self._timing.report(as_list=as_list, as_json=as_json))
        if self._arguments.mlir_pass_statistics:
            sys.stderr.write(self._statistics.report())
        return status

    def _transform(self) -> int:
        """Read, transform and write the program; returns the exit status."""
        with self._timing.measure("Imports"):
            load_passes(self._arguments)
            self._check_names()
            self._check_pipeline()
            self._load_rules()
        with self._timing.measure("Dialects"):
            context = Context(allow_unregistered=self._arguments.allow_unregistered_dialect)
        data = self._tool.read_input(self._arguments.input)
        if Kind.of(data) is not Kind.TEXT:
            outputs = [self._output_for(data, context)]
        else:
            outputs = [self._output_for(chunk, context) for chunk in self._chunks(data)]
        ok = None not in outputs
        if ok or self._arguments.output == "-":
            with self._timing.measure("Output"):
                self._write(outputs)
        return 0 if ok and not self._expectations_failed else 1

    def _load_rules(self) -> None:
        if self._arguments.load_rules:
            from pyshardy.rules import load_rules  # noqa: PLC0415 (passes load rules)

            loaded = set(map(Path.resolve, map(Path, self._arguments.load_passes)))
            for path in map(Path, self._arguments.load_rules):
                if path.resolve() not in loaded:
                    loaded.add(path.resolve())
                    load_rules(path)

    def _strict_rules(self) -> AbstractContextManager[None]:
        if not self._arguments.strict_rules:
            return nullcontext()
        from pyshardy.rules import strict_rules  # noqa: PLC0415 (passes load rules)

        return strict_rules()

    def _check_names(self) -> None:
        """Raise an error if the command line names an unknown pass."""
        arguments = self._arguments
        printed = (*arguments.mlir_print_ir_before, *arguments.mlir_print_ir_after)
        if not arguments.passes and not printed:
            return  # the declarations of all pipelines need not be loaded
        known = [*passes(), *pipelines()]
        for flag in arguments.passes:
            if flag.name not in (*known, *DEPRECATED_PASSES) and not knows(flag.name):
                names = [*known, *WELL_KNOWN_HOST_PASSES, *FLAGS]
                advice = did_you_mean(flag.name, names, prefix="--")
                raise UsageError(error(f"unknown flag or pass '--{flag.name}'{advice}"))
        for name in printed:
            if name not in known and not knows(name):
                advice = did_you_mean(name, [*known, *WELL_KNOWN_HOST_PASSES])
                raise UsageError(
                    error(f"unknown pass '{name}' in '--mlir-print-ir-before/-after'{advice}")
                )

    def _check_pipeline(self) -> None:
        """Raise an error for an invalid pipeline before reading the input."""
        self._sources.add(SOURCE_NAME, self._pipeline)
        with collect():  # the run repeats the warnings
            steps = plan_pipeline(self._pipeline)
        if self._arguments.dump_pass_pipeline:
            pipeline = pipeline_of_steps(steps)
            sys.stderr.write(f"Pass Manager with {len(steps)} passes:\n{pipeline}\n\n")

    def _chunks(self, data: bytes) -> list[Chunk]:
        self._sources.add(self._filename, data.decode("utf-8-sig", errors="replace"))
        text = decoded(data, self._filename)
        if self._arguments.run_reproducer:
            reproducer = read_reproducer(text)
            if reproducer is None:
                raise UsageError(
                    error(f"'{self._filename}' is not a reproducer: it has no pipeline")
                )
            text = reproducer.module_text
            self._pipeline, self._verify_each = reproducer.pipeline, reproducer.verify_each
            self._check_pipeline()
        if not self._separator:
            return [Chunk(text)]
        if self._separator == SEPARATOR:
            for diagnostic in near_misses(text, self._filename):
                self._show(diagnostic)
        return split_input(text, self._separator)

    def _output_for(self, source: Chunk | bytes, context: Context) -> bytes | None:
        """Return the output for one module, or None after an unexpected failure."""
        if not self._arguments.verify_diagnostics:
            with redirect(self._show), host.diagnostics_emitted(context):
                return self._transformed(source, context)
        verifier = DiagnosticVerifier(
            source.text if isinstance(source, Chunk) else "",
            self._filename,
            first_line=source.first_line if isinstance(source, Chunk) else 1,
            only_expected=self._arguments.verify_diagnostics == "only-expected",
        )
        with redirect(verifier), host.diagnostics_emitted(context):
            output = self._transformed(source, context)
        failures = verifier.failures()
        for failure in failures:
            self._show(failure)
        self._expectations_failed |= bool(failures)
        return output or b""

    def _scheduled(self, module: ir.Module) -> ir.Module:
        from pyshardy.schedules.schedule import load_schedule  # noqa: PLC0415 (for --schedule only)

        with self._timing.measure("Schedule"):
            return load_schedule(self._arguments.schedule).propagated(module)

    def _transformed(self, source: Chunk | bytes, context: Context) -> bytes | None:
        try:
            with self._timing.measure("Parser"):
                module = self._read(source, context)
            with (
                self._strict_rules(),
                remarks() if self._wants_remarks else nullcontext(),
            ):
                if self._arguments.schedule:
                    module = self._scheduled(module)
                self._run_or_restore(module)
            if self._arguments.verify_roundtrip:
                _check_round_trip(module)
            with self._timing.measure("Output"), stage("writing the program"):
                return self._serialized(module)
        except SdyError as failure:
            if isinstance(failure, PipelineError):
                if self._is_whole_pipeline:
                    self._advise(failure, source, context)
                self._hint_at_traceback(failure)
            for diagnostic in failure.diagnostics:
                emit(diagnostic)
            if self._arguments.mlir_print_stacktrace_on_diagnostic:
                traceback.print_exception(failure)
            return None

    def _run_or_restore(self, module: ir.Module) -> None:
        """Run the passes, unless the result is in the cache."""
        run = partial(
            run_pipeline,
            module,
            self._pipeline,
            instrumentation=self._instrumentation(),
            verify_each=self._verify_each,
            verify_inside=self._arguments.verify_inside_pipelines,
            verify_analyses=self._arguments.verify_analyses or None,
            restore_on_failure=False,  # a module that failed is thrown away
        )
        folder = folder_of(self._arguments.cache)
        if folder is None or not self._verify_each or self._watches_passes:
            run()
            return
        from pyshardy.caching.programs import run_or_restore  # noqa: PLC0415 (for --cache only)

        run_or_restore(Store.at(folder), module, self._pipeline, run)

    @property
    def _watches_passes(self) -> bool:
        """Whether a flag asks for something that a run shows or checks beside its result."""
        given = (name for name, flag in FLAGS.items() if getattr(self._arguments, flag.field))
        return any(name in _WATCHING or name.startswith("mlir-print-ir-") for name in given)

    @property
    def _wants_remarks(self) -> bool:
        return self._arguments.remarks or bool(self._arguments.remarks_filter)

    def _hint_at_traceback(self, failure: PipelineError) -> None:
        """Add a note on the flag for tracebacks to an error that is a bug of a pass or a rule."""
        first, *others = failure.diagnostics
        is_bug = first.message.startswith(INTERNAL) or any(
            each.message == RAISED_HERE for each in first.notes
        )
        if not is_bug or self._arguments.mlir_print_stacktrace_on_diagnostic:
            return
        text = "use --mlir-print-stacktrace-on-diagnostic for a traceback"
        hint = note(text, first.location)
        failure.diagnostics = (replace(first, notes=(*first.notes, hint)), *others)

    @property
    def _is_whole_pipeline(self) -> bool:
        """Whether the passes are those of propagation and partitioning with default options."""
        whole = pipeline_of("sdy-propagation-pipeline", "sdy-partition-pipeline")
        return not self._arguments.schedule and parse_pipeline(self._pipeline) == whole

    def _advise(self, failure: PipelineError, source: Chunk | bytes, context: Context) -> None:
        """Add advice to the error of a violated contract, for which the input is read again."""
        # Rarely needed, and slow to load.
        from pyshardy.explain.contract_advice import add_advice, is_violation  # noqa: PLC0415

        if is_violation(failure):
            add_advice(failure, self._read(source, context))

    def _read(self, source: Chunk | bytes, context: Context) -> ir.Module:
        """Return the input, on the mesh of the flags."""
        module = self._parsed(source, context)
        place = location_of(module.operation.location)
        if self._arguments.no_implicit_module and place is not None and place.line == 0:
            message = "the program has no 'module' around its operations"
            raise UsageError(error(message, replace(place, line=1, column=1)))
        if self._arguments.mesh:
            give_mesh(module, self._arguments.mesh, self._sources)
        return module

    def _parsed(self, source: Chunk | bytes, context: Context) -> ir.Module:
        if isinstance(source, Chunk):
            module = parse(source.text, context, self._filename, first_line=source.first_line)
            if is_dynamic(module):
                remember_text(module, source.text)  # sizes without a name have that of arguments
            return module
        return load(source, context, self._filename)

    def _serialized(self, module: ir.Module) -> bytes:
        if self._arguments.emit_bytecode:
            return dump(module, Kind.BYTECODE)
        return (self._text(module).rstrip("\n") + "\n").encode()

    def _text(self, module: ir.Module | ir.OpView) -> str:
        """Return the text of an operation in the form of the flags."""
        arguments = self._arguments
        text = (
            with_unique_names(module, self._asm)
            if arguments.mlir_print_unique_ssa_ids
            else self._asm(module)
        )
        return with_value_users(text, module) if arguments.mlir_print_value_users else text

    def _asm(self, module: ir.Module | ir.OpView | ir.Operation) -> str:
        arguments = self._arguments
        return asm(
            module,
            generic=arguments.mlir_print_op_generic,
            debug_info=arguments.mlir_print_debuginfo,
            large_elements_limit=arguments.mlir_elide_elementsattrs_if_larger,
            large_resource_limit=arguments.mlir_elide_resource_strings_if_larger,
            local_scope=arguments.mlir_print_local_scope,
            names_of_locations=arguments.mlir_use_nameloc_as_prefix
            or arguments.mlir_print_unique_ssa_ids,
            skip_regions=arguments.mlir_print_skip_regions,
        )

    def _instrumentation(self) -> list[Instrumentation]:
        arguments = self._arguments
        after_all = arguments.mlir_print_ir_after_all or (
            arguments.mlir_print_ir_after_change and not arguments.mlir_print_ir_after
        )
        observers: list[Instrumentation] = []
        flags = reproducing_flags(arguments)
        if arguments.mlir_pass_pipeline_crash_reproducer:
            path = Path(arguments.mlir_pass_pipeline_crash_reproducer)
            observers.append(CrashReproducer(path, self._verify_each, flags))
        if arguments.mlir_generate_reproducer:
            path = Path(arguments.mlir_generate_reproducer)
            observers.append(ReproducerWriter(path, self._verify_each, flags))
        observers.append(
            IRPrinting(
                before=Everything()
                if arguments.mlir_print_ir_before_all
                else arguments.mlir_print_ir_before,
                after=Everything() if after_all else arguments.mlir_print_ir_after,
                only_changed=arguments.mlir_print_ir_after_change,
                after_failure=arguments.mlir_print_ir_after_failure,
                module_scope=arguments.mlir_print_ir_module_scope,
                text_of=self._text,
                directory=Path(arguments.mlir_print_ir_tree_dir)
                if arguments.mlir_print_ir_tree_dir
                else None,
            )
        )
        if self._log is not None:
            observers.append(self._log)
        if arguments.mlir_pass_statistics:
            observers.append(self._statistics)
        # Innermost, so that the time of the others isn't counted as the pass's time.
        return [*observers, self._timing]

    def _write(self, outputs: list[bytes | None]) -> None:
        separator = f"{self._separator or SEPARATOR}\n".encode()
        write_output(self._arguments.output, separator.join(output or b"" for output in outputs))

    def _show(self, diagnostic: Diagnostic) -> None:
        pattern = self._arguments.remarks_filter
        if diagnostic.severity is Severity.REMARK and not re.search(pattern, diagnostic.message):
            return
        if self._arguments.mlir_disable_diagnostic_notes:
            diagnostic = replace(diagnostic, notes=())
        if not self._arguments.mlir_print_op_on_diagnostic:
            kept = (each for each in diagnostic.notes if not each.message.startswith(_OPERATION))
            diagnostic = replace(diagnostic, notes=tuple(kept))
        self._tool.show(diagnostic)


def _check_round_trip(module: ir.Module) -> None:
    """Check that a module stays the same if it is written and read.

    As text in custom and in generic form, and as bytecode.

    Raises:
        VerificationError: it doesn't, or what was written can't be read.
    """
    expected = asm(module, generic=True)
    written = {
        "text": asm(module).encode(),
        "generic text": expected.encode(),
        "bytecode": dump(module, Kind.BYTECODE),
    }
    for form, data in written.items():
        try:
            read = load(data, module.context, f"<{form}>")
        except SdyError as failure:
            message = f"the program can't be read again from its {form}"
            place = location_of(module.operation.location)
            raise VerificationError(error(message, place), *failure.diagnostics) from None
        if asm(read, generic=True) != expected:
            message = f"the program differs after writing and reading it as {form}"
            raise VerificationError(error(message, location_of(module.operation.location)))


def _dialects() -> str:
    """Return the names of the dialects that a new context has."""
    context = Context()
    package = import_module(host.ods_common.__name__.rpartition(".")[0])
    candidates = {module.name for module in pkgutil.iter_modules(package.__path__)}
    candidates |= {"builtin", "chlo", "sdy", "stablehlo", "vhlo"}
    known = sorted(name for name in candidates if context.is_dialect_loaded(name))
    return f"Available Dialects: {', '.join(known)}\n"
