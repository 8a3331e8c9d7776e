# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions that the tools print for `--version`."""

from __future__ import annotations

from mlir_sdy.host_build import describe_build


def version_text(tool: str) -> str:
    """Return the text of `--version`: versions of the package, of the MLIR host, and of Python.

    Args:
        tool: the name of the tool.
    """
    # Together a fifth of the time of `--help`.
    import platform  # noqa: PLC0415
    from importlib.metadata import version  # noqa: PLC0415

    system = f"{platform.system()} {platform.machine()}"
    return (
        f"{tool}, pyshardy {version('pyshardy')}\n"
        f"MLIR host: {describe_build()}\n"
        f"Python {platform.python_version()}, {system}\n"
    )
