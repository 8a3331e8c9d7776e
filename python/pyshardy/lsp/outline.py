# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The features that need only the text of a program, so that they answer at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.lsp.documents import Document
from pyshardy.lsp.text_index import Declaration, Name

_KINDS = {
    "func.func": types.SymbolKind.Function,
    "sdy.mesh": types.SymbolKind.Struct,
    "module": types.SymbolKind.Module,
}
_WORD = re.compile(r"[A-Za-z_][\w$.-]*")
_COMMENTS = re.compile(r"^[ \t]*//.*(?:\n[ \t]*//.*)+", re.M)

_TYPES = (
    types.SemanticTokenTypes.Comment,
    types.SemanticTokenTypes.String,
    types.SemanticTokenTypes.Keyword,
    types.SemanticTokenTypes.Type,
    types.SemanticTokenTypes.Number,
    types.SemanticTokenTypes.Variable,
    types.SemanticTokenTypes.Parameter,
    types.SemanticTokenTypes.Function,
    types.SemanticTokenTypes.Struct,
    types.SemanticTokenTypes.EnumMember,
)
_NUMBERS = {str(kind.value): number for number, kind in enumerate(_TYPES)}

LEGEND = types.SemanticTokensLegend(
    token_types=list(_NUMBERS),
    token_modifiers=[types.SemanticTokenModifiers.Declaration.value],
)
"""The types of semantic tokens."""

_WORDS = re.compile(
    r"(?P<comment>//[^\n]*)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|[%@#^!][\w$.-]+"  # names
    r"|(?P<type>\b(?:tensor|complex|tuple|memref|vector|index|none"
    r"|(?<![\w.])(?:[su]?i\d+|bf16|tf32|f\d+(?:E\d+M\d+\w*)?))\b)"
    r"|(?P<keyword>\b[a-z_]\w*(?:\.[a-z_]\w*)+\b(?!\s*=)|\b(?:return|call|module|applies)\b)"
    r"|(?P<number>(?<![\w.])-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w.]))"
)


# --- Symbols and folds --------------------------------------------------------------------------


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """Return the modules, meshes and functions; those in a module are its children."""
    roots: list[types.DocumentSymbol] = []
    around: list[tuple[int, types.DocumentSymbol]] = []
    for each in () if document.is_python else document.index.declarations:
        while around and around[-1][0] <= each.start:
            around.pop()
        own = types.DocumentSymbol(
            each.name.text,
            _KINDS[each.keyword],
            document.range(each.start, each.end),
            document.range(each.name.start, each.name.end),
            detail=_detail(document, each),
            children=[],
        )
        siblings = around[-1][1].children if around else roots
        assert isinstance(siblings, list)
        siblings.append(own)
        around.append((each.end, own))
    return roots


def _detail(document: Document, declaration: Declaration) -> str:
    mesh = document.index.meshes.get(declaration.name.text.removeprefix("@"))
    if declaration.keyword != "sdy.mesh" or mesh is None:
        return ""
    return ", ".join(f"{axis}={size}" for axis, (_, size) in mesh.axes.items())


def folds(document: Document) -> list[types.FoldingRange]:
    """Return the lines of regions and of comments."""
    if document.is_python:
        return []
    found: list[types.FoldingRange] = []
    for region in document.index.regions:
        first, last = document.position(region.start).line, document.position(region.end).line - 1
        if last > first:  # the line of the closing brace is shown
            found.append(types.FoldingRange(first, last, kind=types.FoldingRangeKind.Region))
    for run in _COMMENTS.finditer(document.text):
        first, last = document.position(run.start()).line, document.position(run.end()).line
        found.append(types.FoldingRange(first, last, kind=types.FoldingRangeKind.Comment))
    return found


# --- Semantic tokens ----------------------------------------------------------------------------


def tokens(document: Document, wanted: types.Range | None = None) -> types.SemanticTokens:
    """Return the tokens of a range or of the document, encoded as the protocol says.

    Names say what they stand for: a value, an argument, a function, a mesh or an axis.

    Args:
        document: the document.
        wanted: the range.
    """
    start, end = 0, len(document.text)
    if wanted is not None:
        start, end = document.offset(wanted.start), document.offset(wanted.end)
    data: list[int] = []
    line, column = 0, 0
    for first, last, kind, is_declaration in sorted(_spans(document, start, end)):
        place = document.position(first)
        length = document.units(document.text[first:last])
        is_same_line = place.line == line
        data += [
            place.line - line,
            place.character - column if is_same_line else place.character,
            length,
            _NUMBERS[kind],
            int(is_declaration),
        ]
        line, column = place.line, place.character
    return types.SemanticTokens(data)


def _spans(document: Document, start: int, end: int) -> Iterator[tuple[int, int, str, bool]]:
    """Yield the offsets, the type, and whether it is a declaration, of each token."""
    if document.is_python:
        return
    index = document.index
    axes: set[int] = set()
    for name in index.names:
        if start <= name.start < end:
            yield name.start, name.end, index.kind_of(name), name.is_definition
            if name.text[0] not in "%@":
                axes.add(name.start)
    for word in _WORDS.finditer(document.text, start, end):
        if word.lastgroup is not None and word.start() not in axes:
            yield word.start(), word.end(), word.lastgroup, False


# --- Renaming -----------------------------------------------------------------------------------


def renamed_place(document: Document, position: types.Position) -> types.Range | None:
    """Return the place of the name that would be renamed at a position; None without one."""
    name = None if document.is_python else document.index.at(document.offset(position))
    if name is None or name.definition < 0:
        return None
    return document.range(*_bare(name))


def renamed(document: Document, position: types.Position, new: str) -> types.WorkspaceEdit:
    """Return the edits that rename a value, a function, a mesh or an axis.

    Args:
        document: the document.
        position: a place where it is defined or used.
        new: the new name, with or without `%`, `@` or quotes.

    Raises:
        UsageError: there is no name that the text defines; the new one is none, or is taken.
    """
    name = None if document.is_python else document.index.at(document.offset(position))
    if name is None or name.definition < 0:
        raise UsageError(error("there is no name here that this file defines"))
    mark = name.text[0] if name.text[0] in "%@" else ""
    word = new.strip('"').removeprefix(mark)
    if not _WORD.fullmatch(word) and not (mark == "%" and word.isdigit()):
        message = f"'{new}' is no name: it takes a letter or '_' before letters and digits"
        raise UsageError(error(message))
    start, end = _scope(document, name)
    for each in document.index.names:
        if each.text == f"{mark}{word}" and start <= each.start < end:
            raise UsageError(error(f"'{mark}{word}' is a name there already"))
    edits = [
        types.TextEdit(document.range(*_bare(each)), word)
        for each in document.index.references(name)
    ]
    return types.WorkspaceEdit({document.uri: edits})


def _scope(document: Document, name: Name) -> tuple[int, int]:
    """Return the offsets between which a name must be unique: those of the function of a value."""
    around = [(0, len(document.text))]
    if name.text.startswith("%"):
        spans = ((each.start, each.end) for each in document.index.declarations)
        around += [(start, end) for start, end in spans if start <= name.start < end]
    return around[-1]


def _bare(name: Name) -> tuple[int, int]:
    """Return the offsets of a name without its mark, or without its quotes."""
    return (name.start + 1, name.end) if name.text[0] in "%@" else (name.start + 1, name.end - 1)
