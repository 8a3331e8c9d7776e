# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of modules to portable artifacts and back."""

from __future__ import annotations

import re
from importlib.util import find_spec

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import (
    Diagnostic,
    ParseError,
    PassError,
    SourceLocation,
    UsageError,
    error,
    redirect,
)
from mlir_sdy.host import diagnostics_emitted, ir, passmanager, stablehlo
from mlir_sdy.verify import verify
from pyshardy.backends.jax_internals import text_of_artifact
from pyshardy.frontends.portable.from_strings import from_strings
from pyshardy.frontends.portable.to_strings import to_strings
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.packages import installation

_HOLDS_SDY = "BytecodeOpInterface for sdy."
_CHLO_TO_STABLEHLO = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
_CURRENT, _MINIMUM = "current", "minimum"
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def serialize(module: ir.Module, version: str = _CURRENT) -> bytes:
    """Return the artifact of a module, in which strings represent the sdy dialect.

    Operations of CHLO are decomposed to StableHLO, since an artifact contains no other dialects.

    Args:
        module: the module. It isn't changed.
        version: the version of StableHLO that must read it: `current`, `minimum` or `1.2.3`.

    Raises:
        UsageError: there is no such version.
        PassError: an operation can't be represented in artifacts, or not in this version.
    """
    version = target_version(version)
    copy = copy_of(module)
    expand_ragged_dots(copy)
    to_strings(copy)
    found: list[Diagnostic] = []
    try:
        with redirect(found.append), diagnostics_emitted(copy.context):
            with copy.context:
                passmanager.PassManager.parse(_CHLO_TO_STABLEHLO).run(copy.operation)
            return stablehlo.serialize_portable_artifact(copy, version)
    except (ValueError, ir.MLIRError) as refusal:
        reason = found[0] if found else error(str(refusal))
        told = reason.message.partition(": %")[0].replace("vhlo.", "stablehlo.", 1)
        message = f"cannot write the program for StableHLO {version}: {told}"
        raise PassError(error(message, reason.location)) from None


def deserialize(data: bytes, context: ir.Context, filename: str = "-") -> ir.Module:
    """Return the module of an artifact.

    Args:
        data: the artifact.
        context: a context with the dialect.
        filename: the name of the file in diagnostics.

    Raises:
        ParseError: it can't be parsed.
    """
    found: list[Diagnostic] = []
    try:
        with redirect(found.append), diagnostics_emitted(context):
            module = stablehlo.deserialize_portable_artifact(context, data)
    except ValueError as refusal:
        reasons = [one.message for one in found] or [str(refusal)]
        if any(_HOLDS_SDY in reason for reason in reasons):
            return parse(_text_by_jax(data, filename), context, filename)
        place = SourceLocation(filename, 0, 0)
        message = f"cannot read the portable artifact: {'; '.join(reasons)}"
        raise ParseError(error(message, place)) from None
    from_strings(module)
    verify(module)
    return module


def _text_by_jax(data: bytes, filename: str) -> str:
    """Return the text of an artifact with binary sdy attributes, which only C++ Shardy can read."""
    if find_spec("jaxlib") is None:
        message = (
            "the portable artifact contains sdy in binary form, which only C++ Shardy reads; "
            f"install the package 'jaxlib' by: {installation('jax')}"
        )
        raise ParseError(error(message, SourceLocation(filename, 0, 0)))
    return text_of_artifact(data)


def target_version(wanted: str) -> str:
    """Return the version for `current`, `minimum`, or three numbers.

    Raises:
        UsageError: it isn't a version, or this installation can't write it.
    """
    current, minimum = stablehlo.get_current_version(), stablehlo.get_minimum_version()
    if wanted in (_CURRENT, _MINIMUM):
        return current if wanted == _CURRENT else minimum
    if _VERSION.fullmatch(wanted) is None:
        expected = f"expected '{_CURRENT}', '{_MINIMUM}' or three numbers, as in '{current}'"
        raise UsageError(error(f"'{wanted}' is not a version of StableHLO: {expected}"))
    if not _numbers(minimum) <= _numbers(wanted) <= _numbers(current):
        message = f"portable artifacts support StableHLO {minimum} to {current}, not {wanted}"
        raise UsageError(error(message))
    return wanted


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
