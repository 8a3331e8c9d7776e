# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The features of the server, as functions of documents.

Those at the end need only the text of a program, so that they answer at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.lsp.documents import CollectiveFact, DiagnosticData, Document, ValueFact, is_same_file
from pyshardy.lsp.text_index import Declaration, Name
from pyshardy.pipeline.registry import pass_summaries, passes, pipelines

SOURCE = "pyshardy"
EXPLAIN, TRACE = "pyshardy.explain", "pyshardy.trace"
"""The commands of the server."""

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "remark": types.DiagnosticSeverity.Information,
    "note": types.DiagnosticSeverity.Hint,
}
_SUGGESTION = re.compile(
    r"did you mean (?:(?P<quote>['\"])(?P<name>[^'\"]+)(?P=quote)|(?P<symbol>@[\w.$-]+))\?"
)
_PASS_NAME = re.compile(r"-{0,2}[a-z][\w-]*")
_TAKES_PASSES = re.compile(r"sdy-opt|pass-pipeline|run_pipeline\(")
_NUMBER = re.compile(r"\d+")
_MOST_SHOWN = 8


# --- Diagnostics --------------------------------------------------------------------------------


def diagnostics(document: Document, problems: Iterable[DiagnosticData]) -> list[types.Diagnostic]:
    """Return the problems of a document for the editor."""
    found: list[types.Diagnostic] = []
    for problem in problems:
        message = "\n".join([problem.message, *(f"note: {note}" for note in problem.notes)])
        line, column = problem.line, problem.column
        if problem.filename and not is_same_file(problem.filename, document.path):
            # In the source that the program was traced from, which may not be open.
            message, line, column = f"{problem.filename}:{line}: {message}", 1, 1
        where = document.word_at(line, column)
        severity = _SEVERITIES[problem.severity]
        found.append(types.Diagnostic(where, message, severity=severity, source=SOURCE))
    return found


def actions(document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return replacements for names that diagnostics suggest, and the explanation of a value."""
    found: list[types.CodeAction] = []
    for diagnostic in params.context.diagnostics:
        suggestion = _SUGGESTION.search(diagnostic.message)
        if diagnostic.source != SOURCE or suggestion is None:
            continue
        name = suggestion["name"] or suggestion["symbol"]
        start, end = (document.offset(p) for p in (diagnostic.range.start, diagnostic.range.end))
        old = document.text[start:end]
        new = f'"{name}"' if old.startswith('"') and not name.startswith('"') else name
        if old.startswith("@") and not new.startswith("@"):
            new = f"@{new}"
        edit = types.WorkspaceEdit({document.uri: [types.TextEdit(diagnostic.range, new)]})
        found.append(
            types.CodeAction(
                f"Change to {new}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                edit=edit,
                is_preferred=True,
            )
        )
    name = document.index.at(document.offset(params.range.start))
    if name is not None and document.values_of(name):
        position = params.range.start
        command = types.Command(
            f"Explain {name.text}",
            EXPLAIN,
            arguments=[document.uri, position.line, position.character],
        )
        found.append(types.CodeAction(command.title, command=command))
    return found


# --- Hover and hints ----------------------------------------------------------------------------


def hover(
    document: Document, position: types.Position, others: Sequence[Document]
) -> tuple[str, list[tuple[Document, ValueFact]]]:
    """Return the text for a position without explanations, and the values to explain below it.

    Args:
        document: the document.
        position: the position.
        others: all documents with facts; programs may have been traced from this one.
    """
    if document.is_python:
        return _hover_in_python(document, position, others)
    offset = document.offset(position)
    name = document.index.at(offset)
    if name is None or name.text.startswith("%"):
        values = [] if name is None else document.values_of(name)
        text = [_value_text(value) for value in values[:_MOST_SHOWN]]
        if name is None:
            text += _pass_summary(document, offset)
        text += _collective_lines(document.collectives_at(name, offset))
        return "\n\n".join(text), [(document, each) for each in values[:1]]
    mesh = document.index.meshes.get(name.text.removeprefix("@"))
    if mesh is not None:
        axes = ", ".join(f'"{axis}"={size}' for axis, (_, size) in mesh.axes.items())
        total = 1
        for _, size in mesh.axes.values():
            total *= size
        return f"mesh `@{mesh.name}` of {total} devices: `<[{axes}]>`", []
    for mesh in document.index.meshes.values():
        if mesh.axes.get(name.text, (-1, 0))[0] == name.definition:
            return f'axis `"{name.text}"` of `@{mesh.name}`: {mesh.axes[name.text][1]} devices', []
    return "", []


def _hover_in_python(
    document: Document, position: types.Position, others: Sequence[Document]
) -> tuple[str, list[tuple[Document, ValueFact]]]:
    parts: list[str] = []
    explained: list[tuple[Document, ValueFact]] = []
    for other in others:
        values = other.values_on(document.path, position.line + 1, position.character)
        groups = _grouped(values)
        parts += groups[:_MOST_SHOWN]
        if len(groups) > _MOST_SHOWN:
            parts.append(f"and {len(groups) - _MOST_SHOWN} more kinds of values")
        parts += _collective_lines(other.collectives_of(values))
        largest = sorted(values, key=lambda value: -value.nbytes)
        explained += [(other, value) for value in largest[:1]]
    return "\n\n".join(parts), explained[:1]


def _grouped(values: Iterable[ValueFact]) -> list[str]:
    """Return the text for each group of values that differ in the numbers of their layers only."""
    groups: dict[tuple[str, ...], list[ValueFact]] = {}
    for value in values:
        name, scope = (_NUMBER.sub("*", text) for text in (value.name, value.scope))
        groups.setdefault((name, scope, value.type, value.sharding), []).append(value)
    texts: list[str] = []
    for (name, scope, *_), group in groups.items():
        text = _value_text(group[0], name if len(group) > 1 else group[0].name)
        where = f" in {scope if len(group) > 1 else group[0].scope}" if scope else ""
        count = f"{len(group)} values{where}" if len(group) > 1 else where.removeprefix(" ")
        texts.append(f"{text}\n\n{count}" if count else text)
    return texts


def _value_text(value: ValueFact, name: str | None = None) -> str:
    name = value.name if name is None else name
    name = f"{name} : " if name else ""
    lines = [f"```mlir\n{name}{value.type}\n```"]
    if not value.sharding:
        lines.append("replicated" if value.nbytes else "")
    else:
        share = f", {value.local_nbytes:,} of {value.nbytes:,} bytes" if value.nbytes else ""
        lines.append(f"`{value.sharding}`: `{value.local_type}` on each device{share}")
    return "\n".join(line for line in lines if line)


def _collective_lines(collectives: Sequence[CollectiveFact]) -> Iterator[str]:
    for one in collectives[:_MOST_SHOWN]:
        yield f"**collective**: {one.summary}"


def _pass_summary(document: Document, offset: int) -> Iterator[str]:
    line = document.lines[document.position(offset).line]
    if not _TAKES_PASSES.search(line):
        return
    start = document.text.rfind("\n", 0, offset) + 1
    for word in _PASS_NAME.finditer(document.text, start):
        if word.start() <= offset <= word.end():
            info = passes().get(word[0].lstrip("-")) or pipelines().get(word[0].lstrip("-"))
            if info is not None:
                yield f"`{word[0].lstrip('-')}`: {info.summary}"
        elif word.start() > offset:
            return


def hints(
    document: Document, wanted: types.Range, others: Sequence[Document]
) -> list[types.InlayHint]:
    """Return the shardings of values that have no annotation, behind their definitions."""
    if document.is_python:
        return list(_hints_in_python(document, wanted, others))
    start, end = document.offset(wanted.start), document.offset(wanted.end)
    found: list[types.InlayHint] = []
    for name in document.index.names:
        if not name.is_definition or not start <= name.start <= end:
            continue
        shown = [each for each in document.values_of(name) if each.dims and not each.is_annotated]
        if shown:
            label = " ".join(dict.fromkeys(each.dims for each in shown))
            found.append(
                types.InlayHint(
                    document.position(name.end + _part_length(document, name.end)),
                    label,
                    kind=types.InlayHintKind.Type,
                    padding_left=True,
                    tooltip=", ".join(dict.fromkeys(each.local_type for each in shown)),
                )
            )
    return found


def _part_length(document: Document, end: int) -> int:
    part = re.match(r":\d+", document.text[end : end + 8])
    return 0 if part is None else len(part[0])


def _hints_in_python(
    document: Document, wanted: types.Range, others: Sequence[Document]
) -> Iterator[types.InlayHint]:
    last = min(wanted.end.line, len(document.lines) - 1)
    for line in range(wanted.start.line, last + 1):
        values = [each for other in others for each in other.values_on(document.path, line + 1)]
        shown = [value for value in values if value.dims]
        if shown:
            largest = max(shown, key=lambda value: value.nbytes)
            column = document.units(document.lines[line].rstrip("\r\n"))
            yield types.InlayHint(
                types.Position(line, column),
                largest.dims,
                kind=types.InlayHintKind.Type,
                padding_left=True,
                tooltip=f"{largest.type} is {largest.local_type} on each device",
            )


# --- Names --------------------------------------------------------------------------------------


def definition(document: Document, position: types.Position) -> types.Location | None:
    """Return where a value, a function, a mesh or an axis is defined."""
    name = document.index.at(document.offset(position))
    if name is None or name.definition < 0:
        return None
    own = next(each for each in document.index.references(name) if each.is_definition)
    return types.Location(document.uri, document.range(own.start, own.end))


def references(document: Document, position: types.Position) -> list[types.Location]:
    """Return all occurrences of a name, with its definition."""
    name = document.index.at(document.offset(position))
    found = [] if name is None else document.index.references(name)
    return [types.Location(document.uri, document.range(each.start, each.end)) for each in found]


# --- Completion ---------------------------------------------------------------------------------


def completions(document: Document, position: types.Position) -> list[types.CompletionItem]:
    """Return axes in shardings, meshes and functions after `@`, and passes in pipelines."""
    offset = document.offset(position)
    line = document.text[document.text.rfind("\n", 0, offset) + 1 : offset]
    if _TAKES_PASSES.search(line) and (word := re.search(r"-{0,2}[\w-]*\Z", line)) is not None:
        return list(_pass_items(document, offset, word[0]))
    if document.is_python:
        return []
    if re.search(r'[{,]\s*"[^"]*\Z', line):
        mesh = document.index.mesh_at(offset)
        axes = {} if mesh is None else mesh.axes
        kind = types.CompletionItemKind.EnumMember
        return [
            types.CompletionItem(axis, kind=kind, detail=f"{size} devices")
            for axis, (_, size) in axes.items()
        ]
    if re.search(r"@[\w.$-]*\Z", line):
        defined = [name.text for name in document.index.names if name.is_definition]
        symbols = dict.fromkeys(name for name in defined if name.startswith("@"))
        kind = types.CompletionItemKind.Reference
        return [types.CompletionItem(name.removeprefix("@"), kind=kind) for name in symbols]
    return []


def _pass_items(document: Document, offset: int, word: str) -> Iterator[types.CompletionItem]:
    where = document.range(offset - len(word.lstrip("-")), offset)
    of_pipelines = {name: info.summary for name, info in pipelines().items()}
    for name, summary in sorted({**pass_summaries(), **of_pipelines}.items()):
        yield types.CompletionItem(
            name,
            kind=types.CompletionItemKind.Function,
            detail=summary,
            text_edit=types.TextEdit(where, name),
        )


# --- Features that need only the text -------------------------------------------------------------


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
