# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text for the host's parser, and conversion of its result and errors."""

from __future__ import annotations

import contextlib
import re
import sys
from dataclasses import dataclass, replace

from mlir_sdy.ambient import Ambient
from mlir_sdy.assembly.rewritten_text import RewrittenText
from mlir_sdy.assembly.source import BLANK, Cursor, SourceText, on_one_line
from mlir_sdy.diagnostics import Diagnostic, ParseError, SourceLocation
from mlir_sdy.host import diagnostics_of, ir, irdl, location_of, parse_operation

_ALIAS_DEFINITION = re.compile(r"^[ \t]*[#!][A-Za-z_][\w$.-]*[ \t]*=[ \t]*", re.MULTILINE)
_RESOURCES = re.compile(r"^\{-#", re.MULTILINE)
# An error at the first token of a line would be reported at the end of the line before.
_UNREADABLE = '"" ?'


@dataclass
class HostText:
    """A rewritten text with the definitions and the module that MLIR's parser needs."""

    rewritten: RewrittenText
    prefix: str
    body: str = ""
    suffix: str = ""

    def __post_init__(self) -> None:
        self.body = self.body or self.rewritten.text()
        self._source = SourceText(self.prefix + self.body + self.suffix, "")

    @classmethod
    def wrapped(cls, rewritten: RewrittenText, aliases: str, first: str = "") -> HostText:
        """Return the text inside a module, with its alias definitions moved in front of the module.

        `first` is the text of the first operation of the module.
        """
        body = rewritten.text()
        # Aliases of the source may use those of its attributes.
        for match in _ALIAS_DEFINITION.finditer(body):
            cursor = Cursor(SourceText(body, rewritten.source.filename), match.end())
            _skip_attribute_or_type(cursor)
            definition = body[match.start() : cursor.position]
            aliases += on_one_line(definition) + " "
            blank = re.sub(r"[^\n]", " ", definition)
            body = body[: match.start()] + blank + body[cursor.position :]
        resources = _RESOURCES.search(body)
        end = resources.start() if resources else len(body)
        return cls(rewritten, f"{aliases}module {{{first}", body[:end], f"\n}}{body[end:]}")

    def parse(self, context: ir.Context) -> ir.Module:
        """Parse the text as a module that the host has verified, with locations in the source.

        Raises:
            ParseError: the host refuses the text.
        """
        filename = self.rewritten.source.filename
        try:
            root = parse_operation(self._source.text, filename, context)
        except ir.MLIRError as failure:
            raise ParseError(*map(self._located, diagnostics_of(failure))) from None
        self._restore_locations(root)
        if self.suffix:
            root.location = ir.Location.file(filename, 0, 0, context)  # as MLIR's own module
        return _as_module(root, is_wrapped=bool(self.suffix))

    def parse_unverified(self, context: ir.Context) -> ir.Operation | None:
        """Parse a text that starts with a witness; None if it has a syntax error."""
        filename = self.rewritten.source.filename
        root = parse_unverified(self._source.text, filename, context)
        if root is not None:
            self._restore_locations(root)
        return root

    def failure_of_beginning(self, context: ir.Context) -> ParseError | None:
        """Return the host's parse error within an incomplete text, if there is one."""
        text = self.prefix + self.body
        try:
            parse_operation(text + _UNREADABLE, self.rewritten.source.filename, context)
        except ir.MLIRError as failure:
            diagnostics = diagnostics_of(failure)
            place = diagnostics[0].location
            # An error at the first token after white space is reported in the white space.
            end = len(text.rstrip())
            if place is not None and len(self.prefix) <= self._offset(place) < end:
                return ParseError(
                    *(diagnostic.moved(self._in_source) for diagnostic in diagnostics)
                )
        return None

    def _located(self, diagnostic: Diagnostic) -> Diagnostic:
        """Convert the location of a diagnostic of the host to the source."""
        if diagnostic.location is None:
            whole = SourceLocation(self.rewritten.source.filename, 0, 0)
            return replace(diagnostic, location=whole)
        return diagnostic.moved(self._in_source)

    def _offset(self, place: SourceLocation) -> int:
        return self._source.offset(place.line, place.column)

    def _in_source(self, location: SourceLocation) -> SourceLocation:
        """Map a location in the text for the host to the source."""
        source = self.rewritten.source
        if location.filename != source.filename:
            return location
        offset = self._offset(location) - len(self.prefix)
        return source.location(self.rewritten.source_offset(max(offset, 0)))

    def _restore_locations(self, root: ir.Operation) -> None:
        """Correct the locations on lines where columns have moved."""
        source = self.rewritten.source
        moved = {*self.rewritten.moved_lines, *source.lines_with_insertions}
        if self.prefix and not re.match(rf"{BLANK}\n", source.text):
            moved.add(1)
        if not moved:
            return
        # Operations have the places of their names, unless the text gives some of them others.
        last = sys.maxsize if "loc(" in source.text else max(moved)
        with root.context:

            def restore(operation: ir.Operation) -> ir.WalkResult:
                location = operation.location
                if not isinstance(location, ir.FileLineColLoc):
                    return ir.WalkResult.ADVANCE
                line = location.start_line
                if line in moved:
                    place = location_of(location)
                    if place is not None and place.filename == source.filename:
                        place = self._in_source(place)
                        operation.location = ir.Location.file(
                            place.filename, place.line, place.column
                        )
                return ir.WalkResult.ADVANCE if line <= last else ir.WalkResult.INTERRUPT

            root.walk(restore, ir.WalkOrder.PRE_ORDER)


def _skip_attribute_or_type(cursor: Cursor) -> None:
    """Skip the right-hand side of an alias definition, up to its end of line or brackets."""
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


def _as_module(root: ir.Operation, *, is_wrapped: bool) -> ir.Module:
    """Return `root` as a module: itself, the only module in the wrapper, or a module around it."""
    if is_wrapped:
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


# --- Programs that aren't verified ----------------------------------------------------------------

# The host's parser verifies its result, and returns nothing if that fails. The verifier of a
# witness, the first operation of the module, copies the module before any other operation is
# verified.


WITNESS = '"sdy_unverified.witness"() : () -> () '
"""Text of the witness, to be put at the front of the module to parse."""

_DECLARATION = "irdl.dialect @sdy_unverified { irdl.operation @witness {} }"

_seen = Ambient[list[ir.Operation]]("mlir_sdy_unverified_modules", [])


class _Witness(ir.DynamicOpTrait):
    """Copies the module around an operation when the operation is verified."""

    @staticmethod
    def verify_invariants(witness: ir.OpView) -> bool:
        parent = witness.operation.parent
        if parent is not None and _uses_only_enclosing_values(parent.operation):
            _seen.get().append(parent.operation.clone(ip=False).operation)
        return False  # Stop here, since verifying the clone of an invalid operation can crash.


def _uses_only_enclosing_values(
    operation: ir.Operation, enclosing: frozenset[ir.Block] = frozenset()
) -> bool:
    """Whether every operand inside of `operation` is defined in a region around its use.

    MLIR's parser resolves a use to a definition in another function, which the verifier refuses.
    A clone of such a use refers to the original value, and so crashes the process when the
    original is erased.
    """
    for region in operation.regions:
        blocks = enclosing.union(region.blocks)
        for block in region.blocks:
            for inner in block.operations:
                for operand in inner.operands:
                    owner = operand.owner
                    block_of_owner = owner if isinstance(owner, ir.Block) else owner.operation.block
                    if block_of_owner not in blocks:
                        return False
                if not _uses_only_enclosing_values(inner.operation, blocks):
                    return False
    return True


def parse_unverified(text: str, filename: str, context: ir.Context) -> ir.Operation | None:
    """Parse `text`, which starts with `WITNESS`; return the module without it, or None."""
    if not context.is_dialect_loaded("sdy_unverified"):
        with context, ir.Location.unknown():
            irdl.load_dialects(ir.Module.parse(_DECLARATION))
            _Witness.attach("sdy_unverified.witness")
    seen: list[ir.Operation] = []
    with _seen.bound(seen), contextlib.suppress(ir.MLIRError):
        parse_operation(text, filename, context)
    if not seen:
        return None
    root = seen[0]
    root.regions[0].blocks[0].operations[0].operation.erase()
    return root
