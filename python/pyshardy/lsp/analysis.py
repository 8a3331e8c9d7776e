# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The analysis of a program, of a text or a script: errors, shardings and collectives.

1. A text is cut at its lines `// -----`, and each part is a program.
2. The operations are numbered in the order of the text. The numbers are marks in locations, so that
   operations are recognized after propagation, also in programs with source locations.
3. The program is propagated, partitioned and explained. If this fails, the errors are the result,
   together with the shardings that it got.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import re
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyshardy
from mlir_sdy import assembly
from mlir_sdy.diagnostics import (
    Diagnostic,
    SdyError,
    Severity,
    SourceLocation,
    UsageError,
    collect,
    error,
)
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.model.equivalence import mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import get_sharding
from pyshardy.cli.source_files import split_input
from pyshardy.explain.program import ExplainedProgram, explain_program
from pyshardy.irtools.locations import scopes_of, tagged, tags_of
from pyshardy.irtools.modules import remember_text
from pyshardy.irtools.named_values import DEFINITION, FUNCTION, name_of
from pyshardy.irtools.tensor_types import shape_of, tensor_bytes, with_shape
from pyshardy.lsp.documents import CollectiveFact, DiagnosticData, Facts, ValueFact
from pyshardy.lsp.text_index import TextIndex

_MARK = "lsp"

_END_COLUMN = re.compile(r":\d+:\d+ to :(\d+)")
"""The column after an expression in the location of a traced operation."""

_Slot = tuple[int, int]
"""The number of an operation that defines values, and the number of one of them."""

_Place = tuple[str, int, int]
"""The name of a value with its line and column; empty and zeros if it is not in a text."""


class Analysis:
    """The analysis of one program, which also answers later questions.

    Args:
        first_key: the key of its first value.
        name: the name of the document, which locations have; empty for a traced program.

    Attributes:
        facts: the results.
    """

    def __init__(self, first_key: int = 0, name: str = ""):
        self.facts = Facts()
        self._name = name
        self._values: list[ir.Value] = []
        self._first_key = first_key
        self._explained: ExplainedProgram | None = None

    @classmethod
    def of_text(cls, text: str, name: str, first_line: int = 1, first_key: int = 0) -> Analysis:
        """Analyze a program in MLIR.

        Args:
            text: the program.
            name: the name of the document.
            first_line: the line of the document at which it begins.
            first_key: the key of its first value.
        """
        analysis = cls(first_key, name)
        try:
            module = assembly.parse(text, Context(), name, first_line=first_line)
        except SdyError as failure:
            analysis.facts = Facts(tuple(problem_of(each, name) for each in failure.diagnostics))
            return analysis
        remember_text(module, text)  # explanations name values as it does
        analysis._analyze(module, _places(text, first_line))
        return analysis

    @classmethod
    def of_module(cls, module: ir.Module, first_key: int = 0) -> Analysis:
        """Analyze a traced program, whose locations are in other files, and propagate it."""
        analysis = cls(first_key)
        analysis._analyze(module, {})
        return analysis

    def explanation(self, key: int) -> str:
        """Return why a value has its sharding, or an empty text.

        Args:
            key: the key of the value in `facts`.
        """
        if self._explained is None:
            return ""
        try:
            return str(self._explained.value(self._values[key - self._first_key]))
        except SdyError as failure:
            return failure.diagnostics[0].message

    # --- The stages ---------------------------------------------------------------------------

    def _analyze(self, module: ir.Module, places: Mapping[_Slot, _Place]) -> None:
        annotated = _mark(module)
        with collect() as found:
            try:
                self._explained = explain_program(module)
            except UsageError as failure:  # without a mesh or an entry, which is no mistake
                found.extend(replace(e, severity=Severity.REMARK) for e in failure.diagnostics)
            except SdyError as failure:
                found.extend(failure.diagnostics)
        problems = tuple(problem_of(each, self._name) for each in dict.fromkeys(found))
        values = tuple(self._value_facts(module, places, annotated))
        self.facts = Facts(problems, values, tuple(self._collectives()))

    def _value_facts(
        self,
        module: ir.Module,
        places: Mapping[_Slot, _Place],
        annotated: set[_Slot],
    ) -> Iterator[ValueFact]:
        meshes = meshes_of(module)
        seen: set[_Slot] = set()
        for operation in _makers(module):
            numbers = tags_of(operation.location, _MARK)
            own = operation.results if operation.name != "func.func" else _arguments(operation)
            for index, value in enumerate(own if numbers else ()):
                slot = numbers[-1], index
                if slot not in seen:  # a copy of the operation has the same number
                    seen.add(slot)
                    key = self._first_key + len(self._values)
                    self._values.append(value)
                    place = places.get(slot, ("", 0, 0))
                    fact = _fact(value, key, place, slot in annotated, meshes)
                    yield replace(fact, filename="") if fact.filename == self._name else fact

    def _collectives(self) -> Iterator[CollectiveFact]:
        if self._explained is None:
            return
        record = self._explained.record
        results = record.engine.program.results
        number_of = record.later_values.number
        keys = {number_of(value): self._first_key + at for at, value in enumerate(self._values)}
        for one in self._explained.collectives:
            decisions = one.wanted or (() if one.made is None else (one.made,))
            users = (results[each.operation] for each in decisions if each.operation is not None)
            yield CollectiveFact(
                one.summary(),
                -1 if one.made is None else keys.get(one.made.value, -1),
                tuple(keys[own[0]] for own in users if own and own[0] in keys),
            )


def analyses_of_text(text: str, name: str) -> list[Analysis]:
    """Analyze all programs of a document.

    Args:
        text: the document.
        name: its name.
    """
    analyses: list[Analysis] = []
    first_key = 0
    for chunk in split_input(text):
        analyses.append(Analysis.of_text(chunk.text, name, chunk.first_line, first_key))
        first_key += len(analyses[-1].facts.values)
    return analyses


# --- Operations and their places ----------------------------------------------------------------


def _arguments(function: ir.Operation) -> list[ir.Value]:
    return [each for block in list(function.regions[0].blocks)[:1] for each in block.arguments]


def _makers(module: ir.Module) -> list[ir.Operation]:
    """The operations that define values: functions, and those with results."""
    operations = (view.operation for view in operations_in(module.operation))
    return [each for each in operations if each.name == "func.func" or len(each.results)]


def _mark(module: ir.Module) -> set[_Slot]:
    """Number the operations, and return the values that have shardings already."""
    annotated: set[_Slot] = set()
    for number, operation in enumerate(_makers(module)):
        operation.location = tagged(operation.location, _MARK, number)
        own = operation.results if operation.name != "func.func" else _arguments(operation)
        for index, value in enumerate(own):
            if get_sharding(value) is not None:
                annotated.add((number, index))
    return annotated


def _places(text: str, first_line: int) -> dict[_Slot, _Place]:
    """Return the definitions in a text by the numbers of their operations and values."""
    makers = sorted(
        [*FUNCTION.finditer(text), *DEFINITION.finditer(text)], key=lambda found: found.end()
    )
    counts = {name.start: name for name in TextIndex(text).names if name.is_definition}
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    places: dict[_Slot, _Place] = {}
    for number, maker in enumerate(makers):
        index = 0
        for start in _defined_by(text, maker):
            if (name := counts.get(start)) is None:
                continue
            line = bisect.bisect(lines, start)
            place = line + first_line - 1, start - lines[line - 1] + 1
            for part in range(name.count):
                suffix = f"#{part}" if name.count > 1 else ""
                places[number, index + part] = (name.text + suffix, *place)
            index += name.count
    return places


def _defined_by(text: str, maker: re.Match[str]) -> Iterator[int]:
    """Yield the offsets of the names that an operation or a function defines."""
    if maker.re is DEFINITION:
        if maker["names"]:
            for name in re.finditer(r"%[\w$.-]+", maker["names"]):
                yield maker.start("names") + name.start()
        return
    depth, position = 1, maker.end()
    pieces = re.compile(r'"[^"\n]*"|%[\w$.-]+|[()]')
    while depth and (piece := pieces.search(text, position)) is not None:
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if piece[0].startswith("%"):
            yield piece.start()
        position = piece.end()


# --- Facts --------------------------------------------------------------------------------------


def _fact(
    value: ir.Value,
    key: int,
    place: _Place,
    is_annotated: bool,
    meshes: dict[str, Mesh],
) -> ValueFact:
    name, line, column = place
    source = location_of(value.location)
    end = _END_COLUMN.search(str(value.location))
    sharding = get_sharding(value)
    nbytes, local_nbytes, local = 0, 0, value.type
    if isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape:
        nbytes = local_nbytes = tensor_bytes(value.type)
        mesh = None if sharding is None else mesh_of(sharding, meshes)
        if sharding is not None and mesh is not None and not mesh.is_maximal:
            local = with_shape(value.type, sharding.local_shape(shape_of(value.type), mesh))
            local_nbytes = tensor_bytes(local)
    return ValueFact(
        key=key,
        name=name or name_of(value) or "",
        line=line,
        column=column,
        filename="" if source is None else source.filename,
        source_line=0 if source is None else source.line,
        source_columns=(0, 0) if end is None or source is None else (source.column, int(end[1])),
        scope="/".join(scopes_of(value.location)),
        type=str(value.type),
        sharding="" if sharding is None else str(sharding),
        dims="" if sharding is None else str(sharding).partition(", ")[2].removesuffix(">"),
        local_type=str(local),
        nbytes=nbytes,
        local_nbytes=local_nbytes,
        is_annotated=is_annotated,
    )


def problem_of(diagnostic: Diagnostic, document: str = "") -> DiagnosticData:
    """Return a diagnostic as plain data.

    Args:
        diagnostic: the diagnostic.
        document: the name of the analyzed document.
    """
    place = diagnostic.location
    return DiagnosticData(
        severity=diagnostic.severity.value,
        message=diagnostic.message,
        filename="" if place is None or place.filename == document else place.filename,
        line=0 if place is None else place.line,
        column=0 if place is None else place.column,
        notes=tuple(note.message for note in diagnostic.notes),
    )


# --- Programs that a Python file traces -----------------------------------------------------------


def traced_by_script(path: str) -> tuple[list[str], tuple[Diagnostic, ...]]:
    """Run a script as `python script.py` does.

    Args:
        path: the script.

    Returns:
        The text of each program that it traces, and the exception that ended it, if any.
    """
    texts: list[str] = []
    problems: tuple[Diagnostic, ...] = ()
    with _recorded_traces(texts), _as_main(path):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit:
            pass
        except SdyError as failure:
            line = _line_in(path, failure)
            problems = tuple(
                each if each.location else _at(path, line, each.message)
                for each in failure.diagnostics
            )
        except Exception as failure:
            problems = (_at(path, _line_in(path, failure), f"{type(failure).__name__}: {failure}"),)
    return texts, problems


@contextlib.contextmanager
def _recorded_traces(texts: list[str]) -> Iterator[None]:
    """Append the text of each traced program to a list."""
    packages: list[ModuleType] = [pyshardy.jax, pyshardy.torch]
    originals = [package.trace for package in packages]

    def recording(trace: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*args: Any, **kwargs: Any) -> Any:
            result = trace(*args, **kwargs)
            module = getattr(result, "module", result)
            texts.append(assembly.asm(module, debug_info=True))
            return result

        return traced

    for package, original in zip(packages, originals, strict=True):
        vars(package)["trace"] = recording(original)
    try:
        yield
    finally:
        for package, original in zip(packages, originals, strict=True):
            vars(package)["trace"] = original


@contextlib.contextmanager
def _as_main(path: str) -> Iterator[None]:
    """Set the arguments, the import path and the working directory as Python does for a script."""
    arguments, search_path, folder = sys.argv, sys.path[:], Path.cwd()
    sys.argv = [path]
    sys.path.insert(0, str(Path(path).parent))
    os.chdir(Path(path).parent)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, search_path
        os.chdir(folder)


def _line_in(path: str, failure: BaseException) -> int:
    """Return the line of a script at which an exception passed it last."""
    frames = traceback.extract_tb(failure.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    return lines[-1] or 1 if lines else 1


def _at(path: str, line: int, message: str) -> Diagnostic:
    return error(message, SourceLocation(path, line, 1))
