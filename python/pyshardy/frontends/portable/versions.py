# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target versions of StableHLO for artifacts."""

from __future__ import annotations

import re

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import stablehlo

CURRENT, MINIMUM = "current", "minimum"
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def target_version(wanted: str) -> str:
    """Return the version for `current`, `minimum`, or three numbers.

    Raises:
        UsageError: it isn't a version, or this installation can't write it.
    """
    current, minimum = stablehlo.get_current_version(), stablehlo.get_minimum_version()
    if wanted in (CURRENT, MINIMUM):
        return current if wanted == CURRENT else minimum
    if _VERSION.fullmatch(wanted) is None:
        expected = f"expected '{CURRENT}', '{MINIMUM}' or three numbers, as in '{current}'"
        raise UsageError(error(f"'{wanted}' is not a version of StableHLO: {expected}"))
    if not _numbers(minimum) <= _numbers(wanted) <= _numbers(current):
        message = f"portable artifacts support StableHLO {minimum} to {current}, not {wanted}"
        raise UsageError(error(message))
    return wanted


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
