# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build of the MLIR host that `host.py` supports, available without loading it.

`tools/check_host.py` checks whether another build does what the project relies on.
"""

from __future__ import annotations

DISTRIBUTION = "torch-mlir"
"""The package on the Python index with the bindings."""

BUILD = "20261001"
"""The version of it that `pyproject.toml` pins."""

LLVM = "24.0.0git"
"""The version of LLVM and MLIR in it."""

STABLEHLO = "1.19.0"
"""The version of StableHLO in it."""


def installed_build() -> str | None:
    """Return the version of the host that is installed, or None if none is."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (slow to load)

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def describe_build() -> str:
    """Return one line on the host that is installed, for `--version` and bug reports."""
    found = installed_build()
    if found is None:
        return f"{DISTRIBUTION} is not installed"
    if found != BUILD:
        return f"{DISTRIBUTION} {found}, which is not the tested build {BUILD}"
    return f"{DISTRIBUTION} {found} (LLVM {LLVM}, StableHLO {STABLEHLO})"
