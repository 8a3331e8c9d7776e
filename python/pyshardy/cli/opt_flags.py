# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of `sdy-opt`: its flags, and reading arguments by them.

Arguments are read as LLVM's tools read them: one or two dashes, `--flag=value` or `--flag value`,
booleans that may carry `=true` or `=false`, lists with commas. Any other flag names a pass; passes
run in the order of their flags.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.flags import (
    CACHE,
    LOAD_RULES,
    MESH,
    MESH_FORM,
    NO_GUARD,
    REMARKS,
    STRICT_RULES,
    VERBOSE,
    Flag,
    flag,
    flags_of,
)
from pyshardy.irtools.user_files import run_user_file

_BOOLEANS = {"": True, "true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class PassFlag:
    """A pass on the command line: its name, and its options as written after `=`."""

    name: str
    options: str = ""

    def __str__(self) -> str:
        return f"{self.name}{{{self.options}}}" if self.options else self.name


_text = partial(flag, group="Input and output")
_run = partial(flag, group="Running passes")
_watch = partial(flag, group="Watching passes")
_about = partial(flag, group="About the tool")


@dataclass(slots=True)
class Arguments:
    """The parsed command line; each field except the first two is a flag."""

    input: str = "-"
    passes: list[PassFlag] = field(default_factory=list[PassFlag])

    output: str = _text("-", "output file", "file", name="o")
    split_input_file: str = _text(
        "",
        "split the input at lines '// -----', or with another text, and process each part as a "
        "module",
        "separator",
        alone="true",
    )
    verify_diagnostics: str = _text(
        "",
        "check diagnostics against comments such as expected-error@+1 {{...}}",
        choices=("all", "only-expected"),
        alone="all",
    )
    allow_unregistered_dialect: bool = _text(False, "accept operations of unregistered dialects")
    mlir_print_op_generic: bool = _text(False, "print operations in generic form")
    mlir_print_debuginfo: bool = _text(False, "print locations")
    mlir_elide_elementsattrs_if_larger: int | None = _text(
        None, "print constants with more elements than this as dense_resource<__elided__>", "n"
    )
    mlir_elide_resource_strings_if_larger: int | None = _text(
        None, "elide resources with more characters than this", "n"
    )
    mlir_print_local_scope: bool = _text(
        False, "print each operation by itself, without aliases of attributes and locations"
    )
    mlir_use_nameloc_as_prefix: bool = _text(
        False, "name values by their named locations, such as %weights"
    )
    mlir_print_skip_regions: bool = _text(False, "print operations without their regions")
    mlir_print_value_users: bool = _text(False, "print the users of each value as a comment")
    verify_roundtrip: bool = _text(
        False, "check that the output is the same after printing and reading, as text and bytecode"
    )
    mesh: str = _text("", MESH, MESH_FORM)
    emit_bytecode: bool = _text(False, "write MLIR bytecode instead of text")
    no_implicit_module: bool = _text(
        False, "refuse a program without a 'module' around its operations"
    )
    mlir_print_unique_ssa_ids: bool = _text(
        False, "number values so that no two of the program have the same number"
    )

    schedule: str = _run("", "propagate by the tactics of this TOML file before the passes", "file")
    pass_pipeline: str = _run(
        "", "run this textual pass pipeline instead of pass flags", "pipeline"
    )
    verify_each: bool = _run(True, "verify after each pass")
    verify_inside_pipelines: bool = _run(
        False, "verify also between the passes of a named pipeline"
    )
    verify_analyses: bool = _run(
        False, "recompute the analyses that a pass preserves, and fail if they differ"
    )
    load_passes: tuple[str, ...] = _run(
        (),
        "load passes and pipelines from these Python files; rules in them count as well",
        "file,...",
    )
    load_rules: tuple[str, ...] = _run((), LOAD_RULES, "file,...")
    strict_rules: bool = _run(False, STRICT_RULES)
    cache: str | None = _run(None, CACHE, "dir", alone="true")
    run_reproducer: bool = _run(False, "run the pipeline of the input file, a reproducer")
    mlir_disable_threading: bool = _run(
        False, "accepted as in mlir-opt; passes run in a single thread anyway"
    )
    no_guard: bool = _run(False, NO_GUARD)

    mlir_print_ir_before: tuple[str, ...] = _watch(
        (), "print the IR before these passes", "pass,..."
    )
    mlir_print_ir_after: tuple[str, ...] = _watch((), "print the IR after these passes", "pass,...")
    mlir_print_ir_before_all: bool = _watch(False, "print the IR before each pass")
    mlir_print_ir_after_all: bool = _watch(False, "print the IR after each pass, changed or not")
    mlir_print_ir_after_change: bool = _watch(False, "print the IR after each pass that changes it")
    mlir_print_ir_after_failure: bool = _watch(False, "print the IR after a pass that fails")
    mlir_print_ir_module_scope: bool = _watch(
        False, "print the entire module, also for passes on functions"
    )
    mlir_print_ir_tree_dir: str = _watch(
        "",
        "print the IR into files of this directory: a folder for each operation, in which the "
        "files are numbered in the order of the passes",
        "dir",
    )
    remarks: bool = _watch(False, REMARKS)
    remarks_filter: str = _watch("", "report remarks that match this regular expression", "regex")
    mlir_disable_diagnostic_notes: bool = _watch(False, "print diagnostics without notes")
    log_actions_to: str = _watch(
        "", "log the beginning and the end of each pass to this file; - for standard error", "file"
    )
    dump_pass_pipeline: bool = _watch(
        False, "print the passes that run; named pipelines are expanded"
    )
    mlir_timing: bool = _watch(False, "print the execution time of each pass")
    mlir_timing_display: str = _watch(
        "",
        "order of the times: as the passes run, or the longest first",
        choices=("tree", "list"),
        alone="tree",
    )
    mlir_output_format: str = _watch("text", "form of the times", choices=("text", "json"))
    mlir_pass_statistics: bool = _watch(
        False, "print the number of operations that each pass adds and removes"
    )
    verbose: bool = _watch(False, VERBOSE)
    mlir_pass_pipeline_crash_reproducer: str = _watch(
        "", "write a reproducer to this file if a pass fails", "file"
    )
    mlir_generate_reproducer: str = _watch(
        "", "write a reproducer to this file before the first pass", "file"
    )
    mlir_print_op_on_diagnostic: bool = _watch(
        True, "add the operation to errors of the MLIR host, as a note"
    )
    mlir_print_stacktrace_on_diagnostic: bool = _watch(
        False, "print the Python traceback of a pass that fails"
    )

    help: str = _about("", "print this help, or the description of a pass", "pass", alone="true")
    help_all: bool = _about(False, "print this help with all passes and their options")
    version: bool = _about(False, "print the version")
    list_passes: bool = _about(False, "print the names of passes and pipelines")
    show_dialects: bool = _about(False, "print the names of the available dialects")


FLAGS: dict[str, Flag] = {each.name: each for each in flags_of(Arguments)}
_REPRODUCING = (
    "load_passes",
    "load_rules",
    "strict_rules",
    "allow_unregistered_dialect",
    "verify_inside_pipelines",
    "verify_analyses",
)
"""The fields of the flags that decide whether a pipeline fails."""

_ALIASES = {
    "h": "help",
    "help-hidden": "help-all",
    "help-list": "help",
    "help-list-hidden": "help-all",
    "p": "pass-pipeline",
    "v": "verbose",
}


def parse_arguments(arguments: Sequence[str]) -> Arguments:
    """Read the command line, without the name of the program.

    The names of passes are not checked here.

    Raises:
        UsageError: a value is missing or wrong, or there are two input files.
    """
    result = Arguments()
    inputs: list[str] = []
    given: dict[str, object] = {}
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            inputs += remaining
        elif argument == "-" or not argument.startswith("-"):
            inputs.append(argument)
        else:
            _read_flag(argument, remaining, result, given)
    if len(inputs) > 1:
        raise _error(f"more than one input file: '{inputs[0]}' and '{inputs[1]}'")
    if inputs:
        result.input = inputs[0]
    if result.passes and result.pass_pipeline:
        raise _error("'--pass-pipeline' cannot be combined with pass flags")
    if result.run_reproducer and (result.passes or result.pass_pipeline):
        raise _error(
            "'--run-reproducer' cannot be combined with passes: the input file contains them"
        )
    _check(result)
    return result


def _check(result: Arguments) -> None:
    """Raise an error for flags that cannot be combined, or need others."""
    for field_name in ("mlir_print_debuginfo", "mlir_use_nameloc_as_prefix"):
        if result.mlir_print_unique_ssa_ids and getattr(result, field_name):
            other = FLAGS[field_name.replace("_", "-")].spelling
            raise _error(f"'--mlir-print-unique-ssa-ids' cannot be combined with '{other}'")
    if result.mlir_print_ir_tree_dir and not (
        result.mlir_print_ir_before
        or result.mlir_print_ir_after
        or result.mlir_print_ir_before_all
        or result.mlir_print_ir_after_all
        or result.mlir_print_ir_after_change
        or result.mlir_print_ir_after_failure
    ):
        raise _error(
            "'--mlir-print-ir-tree-dir' needs a flag that says what to print, such as "
            "'--mlir-print-ir-after-change'"
        )
    try:
        re.compile(result.remarks_filter)
    except re.error as reason:
        message = f"'--remarks-filter' is no regular expression: {reason}"
        raise _error(message) from None


def load_passes(arguments: Arguments) -> None:
    """Run the files of `--load-passes`, each once.

    Raises:
        UsageError: a file can't be read, or fails.
    """
    for path in {Path(each).resolve(): each for each in arguments.load_passes}.values():
        run_user_file(path, "passes")


def reproducing_flags(arguments: Arguments, *others: str) -> str:
    """Return the flags without which a reproducer fails otherwise, each after a space.

    Args:
        arguments: the command line of the failure.
        others: the names of further fields that count.
    """
    names = (*_REPRODUCING, *others)
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name)}
    flags = ((FLAGS[name.replace("_", "-")], value) for name, value in given.items())
    return "".join(f" {shlex.quote(known.written(value))}" for known, value in flags)


def _read_flag(
    argument: str, remaining: Iterator[str], result: Arguments, given: dict[str, object]
) -> None:
    written, equals, value = argument.partition("=")
    name = written.removeprefix("-").removeprefix("-")
    known = FLAGS.get(_ALIASES.get(name, name))
    if name in REFUSED:
        raise _error(f"the flag '--{name}' of mlir-opt isn't supported: {REFUSED[name]}")
    if known is None:
        result.passes.append(PassFlag(name, value))
        return
    if known.type != "bool" and known.alone is None and not equals:
        following = next(remaining, None)
        if following is None:
            raise _error(f"'{written}' requires a value: {known}")
        value = following
    found = _value(known, value, getattr(result, known.field))
    before = given.setdefault(known.field, found)
    if before != found and known.type != "tuple[str, ...]":
        raise _error(f"'{known.spelling}' is given as '{before}' and as '{found}'")
    setattr(result, known.field, found)


def _value(known: Flag, value: str, before: tuple[str, ...]) -> bool | int | str | tuple[str, ...]:
    if known.type == "bool":
        if value not in _BOOLEANS:
            raise _error(f"'--{known.name}' is '{value}': expected true or false")
        return _BOOLEANS[value]
    if known.choices:
        if value and value not in known.choices:
            raise _error(f"'--{known.name}' is '{value}': expected {' or '.join(known.choices)}")
        return value or known.alone
    if known.type == "int":
        return int(known.number(value))
    if known.alone is not None and _BOOLEANS.get(value) is not None:
        return "true" if _BOOLEANS[value] else ""
    known.text(value)
    if known.type == "tuple[str, ...]":
        return (*before, *(name.strip() for name in value.split(",") if name.strip()))
    return value


def _error(message: str) -> UsageError:
    return UsageError(error(message))


# --- Flags of mlir-opt that are refused -----------------------------------------------------------


_ASSERTIONS = "it needs an MLIR that is built with assertions; use --verbose"
_COUNTERS = "passes have no debug counters; use --pass-pipeline with fewer passes"
_CATEGORIES = "remarks have no categories here; use --remarks-filter"
_ONE_OUTPUT = "remarks are diagnostics here, on standard error"

REFUSED = {
    "color": "set the environment variable NO_COLOR or FORCE_COLOR",
    "debug": _ASSERTIONS,
    "debug-counter": _COUNTERS,
    "debug-only": _ASSERTIONS,
    "elide-resource-data-from-bytecode": "the bindings of the MLIR host can't ask for it",
    "emit-bytecode-version": "bytecode is that of the MLIR host; 'sdy-translate' writes portable "
    "artifacts for a version",
    "irdl-file": "operations of further dialects are accepted by --allow-unregistered-dialect",
    "load-dialect-plugin": "plugins are built for another MLIR than the host; use "
    "--allow-unregistered-dialect",
    "load-pass-plugin": "passes are written in Python; use --load-passes=FILE.py",
    "log-mlir-actions-filter": "--log-actions-to logs all passes",
    "mlir-debug-counter": _COUNTERS,
    "mlir-diagnostic-verbosity-level": "errors and warnings are always shown, and remarks by "
    "--remarks",
    "mlir-enable-debugger-hook": "the MLIR host has no debugger hook; --no-guard runs everything "
    "in one process",
    "mlir-pass-pipeline-local-reproducer": "use --mlir-pass-pipeline-crash-reproducer",
    "mlir-pass-statistics-display": "statistics are in the order of the passes",
    "mlir-pretty-debuginfo": "use --mlir-print-debuginfo",
    "mlir-print-debug-counter": _COUNTERS,
    "mlir-print-elementsattrs-with-hex-if-larger": "the bindings of the MLIR host can't ask for it",
    "mlir-very-unsafe-disable-verifier-on-parsing": "programs are verified when they are read; "
    "--verify-each=false is about passes",
    "output-split-marker": "outputs are separated by the text of --split-input-file",
    "print-debug-counter": _COUNTERS,
    "print-pipeline-passes": "use --dump-pass-pipeline",
    "profile-actions-to": "use --mlir-timing, or --log-actions-to",
    "remark-format": _ONE_OUTPUT,
    "remark-policy": "all remarks are shown",
    "remarks-filter-analyse": _CATEGORIES,
    "remarks-filter-failed": _CATEGORIES,
    "remarks-filter-missed": _CATEGORIES,
    "remarks-filter-passed": _CATEGORIES,
    "remarks-output-file": _ONE_OUTPUT,
    "stats": "use --mlir-pass-statistics",
    "threads": "passes run in a single thread",
    "verify-region-info": "it is about LLVM IR",
}
"""The reason, or what to use instead, by the name of a flag without dashes."""
