# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parsing and printing: custom sdy syntax on top of MLIR's own parser and printer.

`parse` reads a module, `asm` prints one. Attributes and operations of sdy are rewritten between
custom and generic form (`reader` and `writer`, by the ODS formats in `op_syntax`); MLIR handles
everything else.
"""

from __future__ import annotations

import re
import sys

from mlir_sdy.assembly.attribute_names import misspelled_attributes
from mlir_sdy.assembly.host_messages import with_suggestion
from mlir_sdy.assembly.host_text import WITNESS, HostText
from mlir_sdy.assembly.places import pointed_at
from mlir_sdy.assembly.reader import Reader
from mlir_sdy.assembly.source import BLANK, STRING, SourceText, decoded
from mlir_sdy.assembly.syntax import SDY, Syntax
from mlir_sdy.assembly.writer import Writer
from mlir_sdy.diagnostics import (
    Diagnostic,
    ParseError,
    SdyError,
    SourceLocation,
    VerificationError,
    emit,
    error,
    nesting_error,
)
from mlir_sdy.host import ir, location_of, readable
from mlir_sdy.model.errors import ModelError
from mlir_sdy.on_demand import has_mpmd, module_of_mpmd, register_if_mentioned
from mlir_sdy.shard.spellings import in_current_spelling
from mlir_sdy.stages import stage
from mlir_sdy.verify import verify_shard, verify_shardings, violation_before_host

__all__ = ["asm", "decoded", "parse"]

_MODULE_FIRST = re.compile(
    rf"(?:{BLANK}[#!][A-Za-z_][\w$.-]*\s*=[^\n]*\n)*{BLANK}\"?(?:builtin\.)?module\b"
)
_COMMENT_STRING_OR_RESOURCES = re.compile(r'//[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|"|\{-#')
_LIST = r"\[[^\[\]]{0,200}\]\s*"
_LARGE_DIMENSION = rf"(?:{_LIST}x\s*(?:{_LIST}->\s*)?)?\[[^\[\]]{{0,200}}?\b\d{{7}}"
_LARGE_NUMBERS = {
    # Each begins with a literal, so that the search is fast.
    r"#\d{7}": "the number of the result is too large",
    rf"dim_numbers\s*=\s*{_LARGE_DIMENSION}": "the number of a dimension is too large",
    rf"conv<\s*{_LARGE_DIMENSION}": "the number of a dimension is too large",
    r"padding\s*=\s*dense<[^<>]*>\s*:\s*tensor<\d{7}": "there is too much padding",
}
"""Text in which a number makes MLIR's parser reserve memory, and the message for each."""

_PARAMETERS_OF_A_MESH = re.compile(r"#sdy\.mesh<\[[^\n]*\], array<i64")
"""The text of a mesh as the host prints it, in `str(module)`."""

_SEVERAL_OPERATIONS = "source must contain a single top-level operation"


def parse(text: str, context: ir.Context, filename: str = "-", *, first_line: int = 1) -> ir.Module:
    """Parse and verify a module in MLIR assembly with custom sdy syntax.

    Operations without a module around them are put into one. Also reads `str(module)`, in which the
    host prints attributes by their parameters.

    Args:
        text: the assembly.
        context: a context with the dialect registered (see `mlir_sdy.dialect`).
        filename: the name of the text in locations and diagnostics.
        first_line: the number of the text's first line, for a part of a larger file.

    Raises:
        ParseError: the text has a syntax error.
        VerificationError: an operation or attribute is invalid.
    """
    name = "the text" if filename == "-" else f"'{filename}'"
    part = f" from line {first_line} on" if first_line > 1 else ""
    try:
        with stage(f"parsing {name}{part}"):
            return _parsed(text, context, filename, first_line)
    except RecursionError:
        raise ParseError(nesting_error(SourceLocation(filename, 0, 0))) from None


def _parsed(text: str, context: ir.Context, filename: str, first_line: int) -> ir.Module:
    blank_lines = "\n" * (first_line - 1)
    text, insertions = in_current_spelling(readable(blank_lines + text))
    source = SourceText(text, filename, insertions=insertions)
    try:
        module = _read(source, context)
    except (ParseError, VerificationError) as failure:
        found = (pointed_at(each, source) for each in failure.diagnostics)
        raise type(failure)(*(_suggesting(each, source, context) for each in found)) from None
    for each in misspelled_attributes(source):
        emit(each)
    return module


def _suggesting(diagnostic: Diagnostic, source: SourceText, context: ir.Context) -> Diagnostic:
    place = diagnostic.location
    if place is None or place.filename != source.filename:
        return diagnostic
    at, end = (source.offset(place.line, column) for column in (place.column, sys.maxsize))
    start = max(source.text.rfind("func.func", 0, at), 0)
    return with_suggestion(diagnostic, source.text[start:end], at - start, context)


def _read(source: SourceText, context: ir.Context) -> ir.Module:
    text = source.text
    _check_strings_of_resources(source)
    _check_numbers(source)
    register_if_mentioned(text, context)
    syntax = _syntax_of(context)
    reader = Reader(source, syntax.cache(context), syntax)
    try:
        if _PARAMETERS_OF_A_MESH.search(text):
            reader.rewritten.copy(0, len(text))
        else:
            reader.rewrite()
    except ParseError as failure:
        raise _host_failure_before(reader, context) or failure from None
    if "shard.grid" in text:
        _verify_shard_before_host(reader, context)
    try:
        module = _parse_rewritten(reader, context)
    except ParseError as failure:
        raise _violation_before_host(reader, context) or failure from None
    try:
        verify_shardings(module)
    except ModelError as invalid:  # in parameters, which the host doesn't check
        raise VerificationError(
            error(str(invalid), SourceLocation(source.filename, 0, 0))
        ) from None
    return module


def asm(
    module: ir.Module | ir.Operation | ir.OpView,
    *,
    generic: bool = False,
    debug_info: bool = False,
    large_elements_limit: int | None = None,
    large_resource_limit: int | None = None,
    local_scope: bool = False,
    names_of_locations: bool = False,
    skip_regions: bool = False,
    assume_verified: bool = False,
) -> str:
    """Return the text of a module or an operation, in custom sdy syntax.

    Args:
        module: the operation to print.
        generic: print every operation in generic form.
        debug_info: print locations.
        large_elements_limit: elide constants with more elements than this.
        large_resource_limit: elide resources with more characters than this.
        local_scope: print each operation by itself: attributes, types and locations without
            aliases.
        names_of_locations: name values by their named locations, such as `%weights`.
        skip_regions: omit regions.
        assume_verified: don't verify first. Printing an invalid operation in its custom syntax
            can crash, so MLIR verifies and falls back to the generic form.

    Raises:
        SdyError: operations of the dialect are nested too deeply.
    """
    operation = module.operation
    text = operation.get_asm(
        print_generic_op_form=generic,
        enable_debug_info=debug_info,
        large_elements_limit=large_elements_limit,
        large_resource_limit=large_resource_limit,
        use_local_scope=local_scope,
        use_name_loc_as_prefix=names_of_locations,
        skip_regions=skip_regions,
        assume_verified=assume_verified,
    )
    try:
        return Writer(operation.context, _syntax_of(operation.context), generic).rewrite(text)
    except RecursionError:
        raise SdyError(nesting_error(location_of(operation.location))) from None


def _syntax_of(context: ir.Context) -> Syntax:
    return module_of_mpmd("syntax").SYNTAX if has_mpmd(context) else SDY


def _parse_rewritten(reader: Reader, context: ir.Context) -> ir.Module:
    if _MODULE_FIRST.match(reader.source.text):
        try:
            return HostText(reader.rewritten, _definitions(reader)).parse(context)
        except ParseError as failure:
            if not failure.diagnostics[0].message.startswith(_SEVERAL_OPERATIONS):
                raise
    return HostText.wrapped(reader.rewritten, _definitions(reader)).parse(context)


def _definitions(reader: Reader) -> str:
    return "".join(f"{alias} = {text} " for alias, text in reader.definitions.items())


def _host_failure_before(reader: Reader, context: ir.Context) -> ParseError | None:
    """Return the host's parse error, if it precedes that of the reader."""
    try:
        beginning = HostText.wrapped(reader.rewritten, _definitions(reader))
    except ParseError:
        return None  # the text ends within the definition of an alias
    return beginning.failure_of_beginning(context)


def _verify_shard_before_host(reader: Reader, context: ir.Context) -> None:
    """Check the preconditions of upstream's verifier of the shard dialect."""
    try:
        text = HostText.wrapped(reader.rewritten, _definitions(reader), WITNESS)
    except ParseError:
        return  # the host reports its parse error
    unverified = text.parse_unverified(context)
    if unverified is not None:
        verify_shard(unverified)


def _violation_before_host(reader: Reader, context: ir.Context) -> VerificationError | None:
    """Return the violation that precedes what the host's verifier found; None without."""
    text = HostText.wrapped(reader.rewritten, _definitions(reader), WITNESS)
    unverified = text.parse_unverified(context)
    violation = None if unverified is None else violation_before_host(unverified)
    return None if violation is None else VerificationError(violation)


def _check_strings_of_resources(source: SourceText) -> None:
    """Refuse resources with an unterminated string, on which MLIR's parser would crash."""
    if "{-#" not in source.text:
        return
    in_resources = False
    for match in _COMMENT_STRING_OR_RESOURCES.finditer(source.text):
        if match[0] == "{-#":
            in_resources = True
        elif match[0] == '"' and in_resources:
            raise source.error("the string is not closed on its line", match.start())


def _check_numbers(source: SourceText) -> None:
    """Refuse numbers of a million and more that would exhaust memory."""
    for pattern, message in _LARGE_NUMBERS.items():
        if re.search(pattern, source.text) is None:
            continue
        for match in re.finditer(rf"//[^\n]*|{STRING}|(?P<large>{pattern})", source.text):
            if match["large"]:
                raise source.error(message, match.start())
