# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of optional packages and their versions.

The metadata of this project specifies the versions of the packages of each extra.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from mlir_sdy.diagnostics import Diagnostic, UsageError, emit, error, warning

_OWN_NAME = "pyshardy"


class MissingPackageError(UsageError, ImportError):
    """An optional package is missing or too old."""


def installation(extra: str) -> str:
    """Return the command that installs an extra from where this package comes from.

    That is a clone, an archive, or the index (see PEP 610).
    """
    try:
        text = distribution(_OWN_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    origin: dict[str, Any] = {} if text is None else json.loads(text)
    url = str(origin.get("url", ""))
    if origin.get("dir_info", {}).get("editable"):
        return f"pip install -e '{unquote(urlsplit(url).path)}[{extra}]'"
    return f"pip install '{_OWN_NAME}[{extra}]{f' @ {url}' if url else ''}'"


def require(package: str, feature: str, *, extra: str) -> None:
    """Check that a package is installed and recent enough, before its import.

    Args:
        package: the package.
        feature: the name of the feature that needs it.
        extra: the extra of this project that installs it.

    Raises:
        MissingPackageError: it isn't installed, or older than the extra requires.
    """
    if find_spec(package) is None:
        raise MissingPackageError(missing(package, feature, extra))
    lowest, found = _lowest_version(package, extra), _installed_version(package)
    if lowest is not None and found is not None and found < lowest:
        hint = f"upgrade it by: {installation(extra)}"
        message = f"{feature} needs {package} {lowest} or newer, got {found}; {hint}"
        raise MissingPackageError(error(message))
    warn_of_versions(extra)


def missing(package: str, feature: str, extra: str) -> Diagnostic:
    """Return the error for a missing package; see `require`."""
    hint = f"install it by: {installation(extra)}"
    return error(f"{feature} needs the package '{package}', which is missing; {hint}")


@cache
def warn_of_versions(extra: str) -> None:
    """Warn of installed packages that are older or newer than an extra of this project supports.

    There is one warning for each package per process.

    Args:
        extra: the extra that installs them.
    """
    for package, supported in supported_versions(extra).items():
        found = _installed_version(package)
        if found is None or supported.contains(found, prereleases=True):
            continue
        lowest = _lowest_version(package, extra)
        how = "older" if lowest is not None and found < lowest else "newer"
        versions = ",".join(sorted(map(str, supported), reverse=True))  # the lower bound first
        message = f"{package} {found} is {how} than the versions that pyshardy supports, {versions}"
        emit(warning(f"{message}; install one of these by: {installation(extra)}"))


@cache
def supported_versions(extra: str) -> dict[str, SpecifierSet]:
    """Return the versions that an extra supports, by package."""
    try:
        declared = requires(_OWN_NAME) or []
    except PackageNotFoundError:  # This project isn't installed, but on the search path.
        return {}
    requirements = map(Requirement, declared)
    return {
        each.name: each.specifier
        for each in requirements
        if each.marker is not None and each.marker.evaluate({"extra": extra})
    }


def _lowest_version(package: str, extra: str) -> Version | None:
    """Return the lowest version of a package in an extra, or None."""
    supported = supported_versions(extra).get(package, SpecifierSet())
    bounds = [Version(each.version) for each in supported if each.operator in (">=", "==")]
    return max(bounds, default=None)


@cache
def _installed_version(package: str) -> Version | None:
    try:
        return Version(version(package))
    except PackageNotFoundError:
        return None
