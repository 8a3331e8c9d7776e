# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of `sdy-opt`: a table of flags, and reading arguments by it.

Arguments are read as LLVM's tools read them: one or two dashes, `--flag=value` or `--flag value`,
booleans that may carry `=true` or `=false`. A flag that isn't in the table names a pass; passes
run in the order of their flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.tool import (
    LOAD_RULES,
    MESH,
    MESH_FORM,
    NO_GUARD,
    REMARKS,
    SCHEDULE_FIRST,
    STRICT_RULES,
    VERBOSE,
)

_BOOLEANS = {"": True, "true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class PassFlag:
    """A pass on the command line: its name, and its options as written after `=`."""

    name: str
    options: str = ""

    def __str__(self) -> str:
        return f"{self.name}{{{self.options}}}" if self.options else self.name


Kind = Literal["switch", "text", "number", "mode", "optional", "names"]


def _flag(
    kind: Kind, group: str, description: str, *, name: str = "", metavar: str = ""
) -> dict[str, str]:
    """Return the metadata of a flag; `name` overrides the field name with dashes."""
    return {
        "kind": kind,
        "group": group,
        "description": description,
        "name": name,
        "metavar": metavar,
    }


def switch(group: str, description: str, *, default: bool = False) -> bool:
    """A flag that is on or off."""
    return field(default=default, metadata=_flag("switch", group, description))


def text(group: str, description: str, metavar: str, *, default: str = "", name: str = "") -> str:
    """A flag with a value."""
    metadata = _flag("text", group, description, name=name, metavar=metavar)
    return field(default=default, metadata=metadata)


def number(group: str, description: str) -> int | None:
    """A flag with an integer that isn't negative."""
    return field(default=None, metadata=_flag("number", group, description, metavar="n"))


def optional(group: str, description: str, metavar: str) -> str:
    """A flag that is given alone or with a text; its value is "", "true", or the text."""
    return field(default="", metadata=_flag("optional", group, description, metavar=metavar))


def mode(group: str, description: str, choices: str) -> str:
    """A flag that is given alone, for the first of the `choices`, or with one of them."""
    return field(default="", metadata=_flag("mode", group, description, metavar=choices))


def names(group: str, description: str, metavar: str = "pass") -> tuple[str, ...]:
    """A flag with a comma-separated list, which may be given again to add to it."""
    return field(default=(), metadata=_flag("names", group, description, metavar=f"{metavar},..."))


_TEXT = "Input and output"
_RUN = "Running passes"
_WATCH = "Watching passes"
_ABOUT = "About the tool"


@dataclass(slots=True)
class Arguments:
    """The parsed command line; each field except the first two is a flag."""

    input: str = "-"
    passes: list[PassFlag] = field(default_factory=list[PassFlag])

    output: str = text(_TEXT, "output file", "file", default="-", name="o")
    split_input_file: str = optional(
        _TEXT,
        "split the input at lines '// -----', or with another text, and process each part as a "
        "module",
        "separator",
    )
    verify_diagnostics: str = mode(
        _TEXT,
        "check diagnostics against comments such as expected-error@+1 {{...}}",
        "all|only-expected",
    )
    allow_unregistered_dialect: bool = switch(_TEXT, "accept operations of unregistered dialects")
    mlir_print_op_generic: bool = switch(_TEXT, "print operations in generic form")
    mlir_print_debuginfo: bool = switch(_TEXT, "print locations")
    mlir_elide_elementsattrs_if_larger: int | None = number(
        _TEXT, "print constants with more elements than this as dense_resource<__elided__>"
    )
    mlir_elide_resource_strings_if_larger: int | None = number(
        _TEXT, "elide resources with more characters than this"
    )
    mlir_print_local_scope: bool = switch(
        _TEXT, "print each operation by itself, without aliases of attributes and locations"
    )
    mlir_use_nameloc_as_prefix: bool = switch(
        _TEXT, "name values by their named locations, such as %weights"
    )
    mlir_print_skip_regions: bool = switch(_TEXT, "print operations without their regions")
    mlir_print_value_users: bool = switch(_TEXT, "print the users of each value as a comment")
    verify_roundtrip: bool = switch(
        _TEXT, "check that the output is the same after printing and reading, as text and bytecode"
    )
    mesh: str = text(_TEXT, MESH, MESH_FORM)
    schedule: str = text(_RUN, SCHEDULE_FIRST, "file")
    emit_bytecode: bool = switch(_TEXT, "write MLIR bytecode instead of text")

    pass_pipeline: str = text(
        _RUN, "run this textual pass pipeline instead of pass flags", "pipeline"
    )
    verify_each: bool = switch(_RUN, "verify after each pass", default=True)
    verify_inside_pipelines: bool = switch(
        _RUN, "verify also between the passes of a named pipeline"
    )
    verify_analyses: bool = switch(
        _RUN, "recompute the analyses that a pass preserves, and fail if they differ"
    )
    load_passes: tuple[str, ...] = names(
        _RUN, "load passes and pipelines from these Python files", "file"
    )
    load_rules: tuple[str, ...] = names(_RUN, LOAD_RULES, "file")
    strict_rules: bool = switch(_RUN, STRICT_RULES)
    run_reproducer: bool = switch(_RUN, "run the pipeline of the input file, a reproducer")
    mlir_disable_threading: bool = switch(
        _RUN, "accepted as in mlir-opt; passes run in a single thread anyway"
    )
    no_guard: bool = switch(_RUN, NO_GUARD)

    mlir_print_ir_before: tuple[str, ...] = names(_WATCH, "print the IR before these passes")
    mlir_print_ir_after: tuple[str, ...] = names(_WATCH, "print the IR after these passes")
    mlir_print_ir_before_all: bool = switch(_WATCH, "print the IR before each pass")
    mlir_print_ir_after_all: bool = switch(_WATCH, "print the IR after each pass")
    mlir_print_ir_after_change: bool = switch(
        _WATCH, "print the IR after each pass that changes it"
    )
    mlir_print_ir_after_failure: bool = switch(_WATCH, "print the IR after a pass that fails")
    mlir_print_ir_module_scope: bool = switch(
        _WATCH, "print the entire module, also for passes on functions"
    )
    remarks: bool = switch(_WATCH, REMARKS)
    dump_pass_pipeline: bool = switch(
        _WATCH, "print the passes that run; named pipelines are expanded"
    )
    mlir_timing: bool = switch(_WATCH, "print the execution time of each pass")
    mlir_timing_display: str = mode(
        _WATCH, "order of the times: as the passes run, or the longest first", "tree|list"
    )
    mlir_pass_statistics: bool = switch(
        _WATCH, "print the number of operations that each pass adds and removes"
    )
    verbose: bool = switch(_WATCH, VERBOSE)
    mlir_pass_pipeline_crash_reproducer: str = text(
        _WATCH, "write a reproducer to this file if a pass fails", "file"
    )
    mlir_generate_reproducer: str = text(
        _WATCH, "write a reproducer to this file before the first pass", "file"
    )
    mlir_print_op_on_diagnostic: bool = switch(
        _WATCH, "add the operation to errors of the MLIR host, as a note", default=True
    )
    mlir_print_stacktrace_on_diagnostic: bool = switch(
        _WATCH, "print the Python traceback of a pass that fails"
    )

    help: str = optional(_ABOUT, "print this help, or the description of a pass", "pass")
    help_all: bool = switch(_ABOUT, "print this help with all passes and their options")
    version: bool = switch(_ABOUT, "print the version")
    list_passes: bool = switch(_ABOUT, "print the names of passes and pipelines")
    show_dialects: bool = switch(_ABOUT, "print the names of the available dialects")


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of the table."""

    name: str
    field: str
    kind: str
    group: str
    description: str
    metavar: str

    def __str__(self) -> str:
        dashes = "-" if len(self.name) == 1 else "--"
        optional = f"[=<{self.metavar}>]"
        value = {"switch": "", **dict.fromkeys(("mode", "optional"), optional)}.get(
            self.kind, f"=<{self.metavar}>"
        )
        return f"{dashes}{self.name}{value}"


def _flags() -> Iterator[Flag]:
    for declared in fields(Arguments):
        if declared.metadata:
            about = declared.metadata
            name = about["name"] or declared.name.replace("_", "-")
            yield Flag(
                name,
                declared.name,
                about["kind"],
                about["group"],
                about["description"],
                about["metavar"],
            )


FLAGS: dict[str, Flag] = {flag.name: flag for flag in _flags()}
_ALIASES = {"h": "help", "v": "verbose"}


def parse_arguments(arguments: Sequence[str]) -> Arguments:
    """Read the command line, without the name of the program.

    The names of passes are not checked here.

    Raises:
        UsageError: a value is missing or wrong, or there are two input files.
    """
    result = Arguments()
    inputs: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            inputs += remaining
        elif argument == "-" or not argument.startswith("-"):
            inputs.append(argument)
        else:
            _read_flag(argument, remaining, result)
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
    return result


def _read_flag(argument: str, remaining: Iterator[str], result: Arguments) -> None:
    written, equals, value = argument.partition("=")
    name = written.removeprefix("-").removeprefix("-")
    flag = FLAGS.get(_ALIASES.get(name, name))
    if flag is None:
        result.passes.append(PassFlag(name, value))
        return
    if flag.kind in ("text", "number", "names") and not equals:
        following = next(remaining, None)
        if following is None:
            raise _error(f"'{written}' requires a value: {flag}")
        value = following
    setattr(result, flag.field, _value(flag, value, getattr(result, flag.field)))


def _value(flag: Flag, value: str, before: tuple[str, ...]) -> bool | int | str | tuple[str, ...]:
    if flag.kind == "switch":
        if value not in _BOOLEANS:
            raise _error(f"'--{flag.name}' is '{value}': expected true or false")
        return _BOOLEANS[value]
    if flag.kind == "mode":
        choices = flag.metavar.split("|")
        if value and value not in choices:
            raise _error(f"'--{flag.name}' is '{value}': expected {' or '.join(choices)}")
        return value or choices[0]
    if flag.kind == "number":
        if not value.isdecimal():
            raise _error(f"'--{flag.name}' is '{value}': expected a number")
        return int(value)
    if flag.kind == "optional" and _BOOLEANS.get(value) is not None:
        return "true" if _BOOLEANS[value] else ""
    if flag.kind == "names":
        return (*before, *(name.strip() for name in value.split(",") if name.strip()))
    return value


def _error(message: str) -> UsageError:
    return UsageError(error(message))
