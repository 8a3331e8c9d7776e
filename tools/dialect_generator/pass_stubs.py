# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs of the packages of passes, whose functions are imported when first used."""

from __future__ import annotations

import pkgutil
from pathlib import Path

from dialect_generator.layout import PASSES, PYTHON_HEADER
from pyshardy.pipeline.pass_package import STAGES


def pass_stubs() -> dict[Path, str]:
    """Return the stub of each package of passes, for type checkers and editors."""
    package = "pyshardy.passes"
    stages = {stage: f"{package}.{stage}" for stage in STAGES}
    stubs = {PASSES / "__init__.pyi": _stub([(package, stage) for stage in sorted(stages)])}
    for stage, name in stages.items():
        functions = sorted(module.name for module in pkgutil.iter_modules([str(PASSES / stage)]))
        stubs[PASSES / stage / "__init__.pyi"] = _stub(
            [(f"{name}.{function}", function) for function in functions]
        )
    return stubs


def _stub(imports: list[tuple[str, str]]) -> str:
    lines = [f"from {module} import {name} as {name}\n" for module, name in imports]
    return f"{PYTHON_HEADER}\n{''.join(lines)}"
