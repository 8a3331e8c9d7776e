# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text in and out: custom sdy syntax on top of MLIR's own parser and printer.

`parse` reads a module, `asm` prints one. What is sdy's is rewritten between the two forms
(`reader` and `writer`, as the ODS formats say: `op_syntax`); everything else is MLIR's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir_sdy.assembly.pieces import RewrittenText
from mlir_sdy.assembly.reader import Reader
from mlir_sdy.assembly.source import BLANK, Cursor, Source, on_one_line
from mlir_sdy.assembly.unverified import WITNESS, parse_unverified
from mlir_sdy.assembly.writer import Writer
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import ParseError, SourceLocation, VerificationError
from mlir_sdy.host import diagnostics_of, ir, location_of, parse_operation
from mlir_sdy.verify import verify_shardings, violation_before_host

__all__ = ["asm", "parse"]

_ALIAS_DEFINITION = re.compile(r"^[ \t]*[#!][A-Za-z_][\w$.-]*[ \t]*=[ \t]*", re.MULTILINE)
_MODULE_FIRST = re.compile(
    rf"(?:{BLANK}[#!][A-Za-z_][\w$.-]*\s*=[^\n]*\n)*{BLANK}\"?(?:builtin\.)?module\b"
)
_RESOURCES = re.compile(r"^\{-#", re.MULTILINE)
_COMMENT_STRING_OR_RESOURCES = re.compile(r'//[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|"|\{-#')
# An error at the first token of a line would be reported at the end of the line before.
_UNREADABLE = '"" ?'
_SEVERAL_OPERATIONS = "source must contain a single top-level operation"


def parse(text: str, context: ir.Context, filename: str = "-", *, first_line: int = 1) -> ir.Module:
    """Parse and verify a module in MLIR assembly with custom sdy syntax.

    Operations that stand in the text without a module around them are put into one.

    Args:
        text: the assembly.
        context: a context with the dialect registered (see `mlir_sdy.dialect`).
        filename: what locations and diagnostics call the text.
        first_line: the number of the text's first line, for a part of a larger file.

    Raises:
        ParseError: the text can't be read.
        VerificationError: an operation or attribute breaks a rule.
    """
    source = Source("\n" * (first_line - 1) + text, filename)
    _check_strings_of_resources(source)
    reader = Reader(source, AttributeCache(context))
    try:
        reader.rewrite()
    except ParseError:
        _HostText.wrapped(reader.rewritten, _definitions(reader)).check_beginning(context)
        raise
    rewritten, definitions = reader.rewritten, _definitions(reader)
    try:
        module = _parse_rewritten(rewritten, definitions, context)
    except ParseError:
        unverified = _HostText.wrapped(rewritten, definitions, WITNESS).parse_unverified(context)
        earlier = None if unverified is None else violation_before_host(unverified)
        if earlier is not None:
            raise VerificationError(earlier) from None
        raise
    verify_shardings(module)
    return module


def _definitions(reader: Reader) -> str:
    return "".join(f"{alias} = {text} " for alias, text in reader.definitions.items())


def _parse_rewritten(rewritten: RewrittenText, definitions: str, context: ir.Context) -> ir.Module:
    if _MODULE_FIRST.match(rewritten.source.text):
        try:
            return _HostText(rewritten, definitions).parse(context)
        except ParseError as failure:
            if not failure.diagnostics[0].message.startswith(_SEVERAL_OPERATIONS):
                raise
    return _HostText.wrapped(rewritten, definitions).parse(context)


def asm(
    module: ir.Module | ir.Operation | ir.OpView,
    *,
    generic: bool = False,
    debug_info: bool = False,
    large_elements_limit: int | None = None,
    assume_verified: bool = False,
) -> str:
    """The text of a module or an operation, in custom sdy syntax.

    Args:
        module: what to print.
        generic: print every operation in generic form.
        debug_info: print locations.
        large_elements_limit: elide constants with more elements than this.
        assume_verified: don't verify first. Printing an invalid operation in its custom syntax
            can crash, so MLIR verifies and falls back to the generic form.
    """
    operation = module.operation
    text = operation.get_asm(
        print_generic_op_form=generic,
        enable_debug_info=debug_info,
        large_elements_limit=large_elements_limit,
        assume_verified=assume_verified,
    )
    return Writer(operation.context, generic).rewrite(text)


@dataclass
class _HostText:
    """A rewritten text with what has to stand around it for MLIR's parser."""

    rewritten: RewrittenText
    prefix: str
    body: str = ""
    suffix: str = ""

    def __post_init__(self) -> None:
        self.body = self.body or self.rewritten.text()
        self._source = Source(self.prefix + self.body + self.suffix, "")

    @classmethod
    def wrapped(cls, rewritten: RewrittenText, aliases: str, first: str = "") -> _HostText:
        """The text inside a module, with its own alias definitions moved in front of that.

        `first` is the text of an operation to start the module with.
        """
        body = rewritten.text()
        # Those of the source may use those of the attributes in it.
        for match in _ALIAS_DEFINITION.finditer(body):
            cursor = Cursor(Source(body, rewritten.source.filename), match.end())
            _skip_attribute_or_type(cursor)
            definition = body[match.start() : cursor.position]
            aliases += on_one_line(definition) + " "
            blank = re.sub(r"[^\n]", " ", definition)
            body = body[: match.start()] + blank + body[cursor.position :]
        resources = _RESOURCES.search(body)
        end = resources.start() if resources else len(body)
        return cls(rewritten, f"{aliases}module {{{first}", body[:end], f"\n}}{body[end:]}")

    def parse(self, context: ir.Context) -> ir.Module:
        filename = self.rewritten.source.filename
        try:
            root = parse_operation(self._source.text, filename, context)
        except ir.MLIRError as failure:
            raise ParseError(
                *(diagnostic.moved(self._in_source) for diagnostic in diagnostics_of(failure))
            ) from None
        self._restore_locations(root)
        if self.suffix:
            root.location = ir.Location.file(filename, 0, 0, context)  # as MLIR's own module
        return _as_module(root)

    def parse_unverified(self, context: ir.Context) -> ir.Operation | None:
        """The module of a text that starts with a witness; None if it can't be read."""
        filename = self.rewritten.source.filename
        root = parse_unverified(self._source.text, filename, context)
        if root is not None:
            self._restore_locations(root)
        return root

    def check_beginning(self, context: ir.Context) -> None:
        """Check with the host the syntax of a text that is not complete.

        Raises:
            ParseError: the host can't read it up to its end.
        """
        text = self.prefix + self.body
        try:
            parse_operation(text + _UNREADABLE, self.rewritten.source.filename, context)
        except ir.MLIRError as failure:
            diagnostics = diagnostics_of(failure)
            place = diagnostics[0].location
            if place is not None and len(self.prefix) <= self._offset(place) < len(text):
                raise ParseError(
                    *(diagnostic.moved(self._in_source) for diagnostic in diagnostics)
                ) from None

    def _offset(self, place: SourceLocation) -> int:
        return self._source.offset(place.line, place.column)

    def _in_source(self, location: SourceLocation) -> SourceLocation:
        """Where in the source a place in the text for the host comes from."""
        source = self.rewritten.source
        if location.filename != source.filename:
            return location
        offset = self._offset(location) - len(self.prefix)
        return source.location(self.rewritten.source_offset(max(offset, 0)))

    def _restore_locations(self, root: ir.Operation) -> None:
        """Correct the locations on lines where columns have moved."""
        source = self.rewritten.source
        moved = set(self.rewritten.moved_lines)
        if self.prefix and not re.match(rf"{BLANK}\n", source.text):
            moved.add(1)
        if not moved:
            return
        with root.context:

            def restore(operation: ir.Operation) -> ir.WalkResult:
                location = operation.location
                if isinstance(location, ir.FileLineColLoc) and location.start_line in moved:
                    place = location_of(location)
                    if place is not None and place.filename == source.filename:
                        place = self._in_source(place)
                        operation.location = ir.Location.file(
                            place.filename, place.line, place.column
                        )
                return ir.WalkResult.ADVANCE

            root.walk(restore)


def _check_strings_of_resources(source: Source) -> None:
    """Refuse a resource whose string is not closed: MLIR's parser would crash on it."""
    if "{-#" not in source.text:
        return
    in_resources = False
    for match in _COMMENT_STRING_OR_RESOURCES.finditer(source.text):
        if match[0] == "{-#":
            in_resources = True
        elif match[0] == '"' and in_resources:
            raise source.error("the string is not closed on its line", match.start())


def _skip_attribute_or_type(cursor: Cursor) -> None:
    """Pass over the right-hand side of an alias definition, which ends its line or its brackets."""
    cursor.skip_blank()
    text = cursor.text
    while cursor.position < len(text) and not text.startswith(("\n", "//"), cursor.position):
        match text[cursor.position]:
            case "<" | "(" | "[" | "{":
                cursor.balanced()
            case '"':
                cursor.string("a string")
            case _:
                cursor.position += 1


def _as_module(root: ir.Operation) -> ir.Module:
    """`root` as a module: itself, the only module that it wraps, or a module around it."""
    if root.name == "builtin.module":
        inner = list(root.regions[0].blocks[0].operations)
        if len(inner) == 1 and inner[0].operation.name == "builtin.module" and not root.attributes:
            root = inner[0].operation
    module = ir.Module.create(root.location)
    if root.name != "builtin.module":
        module.body.append(root)
        return module
    for name, attribute in root.attributes.items():
        module.operation.attributes[name] = attribute
    for operation in list(root.regions[0].blocks[0].operations):
        module.body.append(operation)
    return module
