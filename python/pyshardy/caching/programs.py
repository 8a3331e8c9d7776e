# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of pipelines, and other computations, that are replaced by their stored results.

The key of a run is a digest of all that its result depends on:

- the program, in bytecode with locations, and its text, which has the names of values;
- the pipeline, in which the content of files stands for their names;
- the rules and passes of users, and the modes of rules and remarks;
- the versions of this project, of the MLIR host and of Python.

The stored result is the module in bytecode, the diagnostics of the run, and data of the caller. It
contains no code. A run isn't replaced if its steps are observed, if it writes files or text, or if
the program refers to functions of this process.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlir_sdy
from mlir_sdy.diagnostics import (
    Diagnostic,
    Part,
    SdyError,
    Severity,
    SourceLocation,
    are_remarks_wanted,
    emit,
    noted,
    warning,
)
from mlir_sdy.host import ir
from mlir_sdy.host_build import installed_build
from pyshardy.caching.store import Entry, Store
from pyshardy.caching.user_code import UnknownContentError, content_of_user_code
from pyshardy.cost.hardware import load_hardware
from pyshardy.frontends.files import Kind, dump
from pyshardy.irtools.modules import move_contents, text_of
from pyshardy.irtools.user_files import is_installed
from pyshardy.local_program.front_end_hooks import refers_to_process
from pyshardy.pipeline import OptionText, PassPipeline, PassUse, parse_pipeline
from pyshardy.pipeline.runner import VERIFY_ANALYSES
from pyshardy.propagation.observer import current_observers
from pyshardy.rules.lookup import is_compatible, is_strict

_PACKAGES = (Path(mlir_sdy.__file__).parent, Path(__file__).parents[1])


@functools.cache
def producer() -> str:
    """Return the versions of this project, of the MLIR host and of Python.

    The files of a clone change without a new version: their sizes and times are added.
    """
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (slow to load)

    try:
        own = version("pyshardy")
    except PackageNotFoundError:  # on the search path only
        own = ""
    files = [
        f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}"
        for package in _PACKAGES
        if not is_installed(str(package))
        for file in _files_in(package)
    ]
    return "\n".join([own, str(installed_build()), sys.version, *files])


def _files_in(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files_in(Path(entry.path))
        else:
            yield entry


Data = dict[str, Any]
"""Values of JSON by name."""

_OTHER_CONTENT = (SdyError, ir.MLIRError, ValueError, TypeError, LookupError, AttributeError)
"""The exceptions that reading an entry of another kind raises."""

_WITH_OUTPUT = ("print-", "view-", "snapshot-", "test-", "sdy-save-module")
"""The beginnings of the names of passes that write text or files."""


def stored_data(
    store: Store | None, module: ir.Module, request: str, compute: Callable[[], Data | None]
) -> Data | None:
    """Return the stored result of a computation on a module; else compute it, and store it.

    Args:
        store: the entries; None to compute always.
        module: the module, which the computation doesn't change.
        request: the computation and its options, with the content of their files.
        compute: returns the result; None for what isn't stored.
    """
    key = None if store is None else _key(module, request)
    if store is None or key is None:
        return compute()
    data: Data | None = None

    def run() -> tuple[Data, bytes] | None:
        nonlocal data
        data = compute()
        return None if data is None else (data, b"")

    def restore(stored: Data, _: bytes) -> None:
        nonlocal data
        data = stored

    _restored(store, key, restore, run)
    return data


def run_or_restore(
    store: Store | None,
    module: ir.Module,
    pipeline: str | PassPipeline,
    run: Callable[[], Data | None],
    restore: Callable[[Data], None] = lambda _: None,
) -> bool:
    """Give a module the stored result of a run, with its diagnostics; else run, and store it.

    Args:
        store: the entries; None to run always.
        module: the module, which is changed in place.
        pipeline: what is run on it.
        run: runs the pipeline on the module, and returns further results. They must follow from
            the module and the pipeline.
        restore: takes over such results.

    Returns:
        Whether the result was stored.
    """
    key = None if store is None else _pipeline_key(module, pipeline)
    if store is None or key is None:
        run()
        return False

    def run_and_dump() -> tuple[Data, bytes] | None:
        data = run()
        payload = dump(module, Kind.BYTECODE)
        return (data or {}, payload) if _is_readable(payload, module) else None

    def restore_module(data: Data, payload: bytes) -> None:
        if Kind.of(payload) is not Kind.BYTECODE:
            raise ValueError("the entry has no bytecode")
        result = ir.Module.parse(payload, module.context)
        restore(data)
        move_contents(result.operation, module.operation)
        module.operation.location = result.operation.location

    return _restored(store, key, restore_module, run_and_dump)


def _restored(
    store: Store,
    key: str,
    restore: Callable[[Data, bytes], None],
    compute: Callable[[], tuple[Data, bytes] | None],
) -> bool:
    """Restore the stored result of a key, with its diagnostics; else compute it, and store it.

    Args:
        store: the entries.
        key: the key.
        restore: takes over values and bytes. It changes nothing if these aren't those of a
            result, and raises one of `_OTHER_CONTENT`.
        compute: returns the values and bytes to store; None to store nothing.

    Returns:
        Whether the result was stored.
    """
    entry = store.read(key)
    if entry is not None:
        try:
            diagnostics = [_from_json(each) for each in entry.data["diagnostics"]]
            restore(entry.data["data"], entry.payload)
        except _OTHER_CONTENT:
            store.refuse(key)
        else:
            for diagnostic in diagnostics:
                emit(diagnostic)
            return True
    with noted() as diagnostics:
        result = compute()
    if result is not None:
        data, payload = result
        told = [_to_json(each) for each in diagnostics]
        store.write(key, Entry({"diagnostics": told, "data": data}, payload))
    return False


def _is_readable(payload: bytes, module: ir.Module) -> bool:
    """Whether bytecode stands for an equal module, with the same names of its resources."""
    try:
        return dump(ir.Module.parse(payload, module.context), Kind.BYTECODE) == payload
    except ir.MLIRError:
        return False


# --- Keys -----------------------------------------------------------------------------------------


def _pipeline_key(module: ir.Module, pipeline: str | PassPipeline) -> str | None:
    """Return the key of a run of a pipeline; None if its result can't be stored."""
    if isinstance(pipeline, str):
        pipeline = parse_pipeline(pipeline)
    if any(use.name.startswith(_WITH_OUTPUT) or _writes(use) for use in pipeline.passes()):
        return None
    return _key(module, str(_with_contents(pipeline)))


def _key(module: ir.Module, request: str) -> str | None:
    """Return the key of a computation on a module; None if its result can't be stored."""
    if current_observers() or os.environ.get(VERIFY_ANALYSES) or refers_to_process(module):
        return None
    try:
        code = content_of_user_code()
    except UnknownContentError as reason:
        emit(warning(f"cache of programs: not used, since {reason}, whose content isn't known"))
        return None
    modes = [is_strict(), is_compatible(), are_remarks_wanted()]
    digest = hashlib.blake2b(digest_size=20)
    for part in (
        producer().encode(),
        json.dumps([*modes, module.context.allow_unregistered_dialects]).encode(),
        request.encode(errors="surrogatepass"),
        code,
        (text_of(module) or "").encode(errors="surrogatepass"),
        dump(module, Kind.BYTECODE),
    ):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def _writes(use: PassUse) -> bool:
    return any(option.name.endswith("directory") and option.value for option in use.options)


def _with_contents(pipeline: PassPipeline) -> PassPipeline:
    """Return a pipeline whose options have the contents of files instead of their names."""
    elements = tuple(
        _with_contents(each)
        if isinstance(each, PassPipeline)
        else replace(each, options=tuple(map(_with_content, each.options)))
        for each in pipeline.elements
    )
    return replace(pipeline, elements=elements)


def _with_content(option: OptionText) -> OptionText:
    if not option.value:
        return option
    try:
        if option.name == "hardware":
            return replace(option, value=load_hardware(option.value).text)
        content = Path(option.value).read_bytes()
    except (SdyError, OSError, ValueError):  # the run reports what is wrong
        return option
    return replace(option, value=hashlib.blake2b(content).hexdigest())


# --- Diagnostics ----------------------------------------------------------------------------------


def _to_json(diagnostic: Diagnostic) -> list[Any]:
    return [
        diagnostic.severity.value,
        diagnostic.message,
        *(
            None if place is None else [place.filename, place.line, place.column]
            for place in (diagnostic.location, diagnostic.operation)
        ),
        list(map(_to_json, diagnostic.notes)),
        [[part.kind, part.key, part.occurrence] for part in diagnostic.parts],
    ]


def _from_json(told: list[Any]) -> Diagnostic:
    severity, message, location, operation, notes, parts = told
    return Diagnostic(
        Severity(severity),
        message,
        None if location is None else SourceLocation(*location),
        tuple(map(_from_json, notes)),
        tuple(Part(*part) for part in parts),
        None if operation is None else SourceLocation(*operation),
    )
