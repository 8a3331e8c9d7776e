# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages that not every installation has, or has in another version."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from mlir_sdy.diagnostics import UsageError, error

_OWN_NAME = "pyshardy"
_LOWER_BOUND = re.compile(r">=\s*([\d.]+)")


def require(package: str, feature: str, *, extra: str) -> None:
    """Check that a package is there, and new enough, before something imports it.

    Args:
        package: the package that is needed.
        feature: what needs it, as the user calls it.
        extra: the extra of this project that installs it.

    Raises:
        UsageError: it isn't installed, or older than the extra asks for.
    """
    if find_spec(package) is None:
        mend = f"install it by: pip install 'pyshardy[{extra}]'"
        raise UsageError(
            error(f"{feature} needs the package '{package}', which is missing; {mend}")
        )
    wanted, found = _lowest_version(package), _installed_version(package)
    if found and _numbers(found) < _numbers(wanted):
        mend = f"upgrade it by: pip install 'pyshardy[{extra}]'"
        raise UsageError(error(f"{feature} needs {package} {wanted} or newer, got {found}; {mend}"))


@cache
def _lowest_version(package: str) -> str:
    """Return the lower bound that an extra of this project gives a package; empty for none."""
    try:
        declared = requires(_OWN_NAME) or []
    except PackageNotFoundError:  # This project isn't installed, but on the search path.
        return ""
    for requirement in declared:
        name, bound = re.split(r"[^\w-]", requirement, maxsplit=1)[0], None
        if name == package:
            bound = _LOWER_BOUND.search(requirement.partition(";")[0])
        if bound is not None:
            return bound[1]
    return ""


@cache
def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _numbers(text: str) -> list[int]:
    """Return the release in a version: [2, 13, 0] of `2.13.0+cpu`."""
    release = re.match(r"\d+(\.\d+)*", text)
    return [int(number) for number in release[0].split(".")] if release else []
