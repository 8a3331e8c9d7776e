# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages that not every installation has."""

from __future__ import annotations

from importlib.util import find_spec

from mlir_sdy.diagnostics import UsageError, error


def require(package: str, feature: str, *, extra: str) -> None:
    """Check that a package is there before something imports it.

    Args:
        package: the package that is needed.
        feature: what needs it, as the user calls it.
        extra: the extra of this project that installs it.

    Raises:
        UsageError: it isn't installed.
    """
    if find_spec(package) is None:
        mend = f"install it by: pip install 'pyshardy[{extra}]'"
        raise UsageError(
            error(f"{feature} needs the package '{package}', which is missing; {mend}")
        )
