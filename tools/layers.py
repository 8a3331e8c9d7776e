# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers of the project, and the imports between its modules.

`LAYERS` is the order in which packages may import each other; `test/unit/test_architecture.py`
enforces it, and `docs/guide/layers_picture.py` draws the imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SOURCES = {
    ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
    for root in (ROOT / "dialect", ROOT / "python")
    for path in sorted(root.rglob("*.py"))
}
"""The file of each module of the project."""

LAYERS = [
    ["mlir_sdy.model"],
    ["mlir_sdy"],
    [
        "pyshardy.packages",
        "pyshardy.drawing",
        "pyshardy.display",
        "pyshardy.forms",
        "pyshardy.processes",
        "pyshardy.toml",
    ],
    ["pyshardy.irtools"],
    ["pyshardy.pipeline"],
    ["pyshardy.rules", "pyshardy.cost"],
    ["pyshardy.sizes"],
    ["pyshardy.local_program"],
    ["pyshardy.contracts"],
    ["pyshardy.propagation", "pyshardy.backends"],
    ["pyshardy.calibration"],
    ["pyshardy.partition.types"],
    ["pyshardy.partition.function_context"],
    ["pyshardy.partition.op_facts"],
    ["pyshardy.partition.partial"],
    ["pyshardy.partition.resharding"],
    ["pyshardy.partition.halo"],
    ["pyshardy.partition.regions"],
    ["pyshardy.partition.padding"],
    ["pyshardy.partition.local"],
    ["pyshardy.partition.choice"],
    ["pyshardy.partition.records"],
    ["pyshardy.partition"],
    ["pyshardy.auto.problem"],
    ["pyshardy.auto.strategies", "pyshardy.auto.solvers"],
    ["pyshardy.auto.graph"],
    ["pyshardy.auto.search"],
    ["pyshardy.shard"],
    ["pyshardy.timeline"],
    ["pyshardy.pipelines"],
    ["pyshardy.schedules"],
    ["pyshardy.dynamic"],
    ["pyshardy.passes"],
    ["pyshardy.frontends"],
    ["pyshardy.caching"],
    ["pyshardy.program_interface"],
    ["pyshardy.program"],
    ["pyshardy.dynamic.program"],
    ["pyshardy.any_program"],
    ["pyshardy.api"],
    ["pyshardy.explain"],
    ["pyshardy.advised_partition"],
    ["pyshardy.schedules.plan"],
    ["pyshardy.schedules.schedule"],
    ["pyshardy.auto.plans"],
    ["pyshardy.auto"],
    ["pyshardy.mpmd"],
    ["pyshardy"],  # the public interface
    ["pyshardy.testing"],
    ["pyshardy.pytest_plugin"],
    ["pyshardy.cli"],
    ["pyshardy.lsp"],
    ["pyshardy.mcp"],
    ["pyshardy.__main__"],
]
"""Each layer may import those above it, and other modules of its own.

Layers in one pair of brackets are siblings, which do not import each other.
"""

BUDGETS = {
    "auto": 12_215,
    "backends": 8_080,
    "caching": 730,
    "calibration": 1_540,
    "cli": 5_835,
    "contracts": 750,
    "cost": 1_220,
    "drawing": 1_040,
    "dynamic": 2_010,
    "explain": 6_665,
    "frontends": 18_051,
    "irtools": 4_465,
    "local_program": 1_360,
    "lsp": 1_855,
    "mcp": 930,
    "mpmd": 12_670,
    "partition": 17_955,
    "passes": 14_850,
    "pipeline": 2_590,
    "pipelines": 830,
    "processes": 550,
    "propagation": 6_280,
    "rules": 3_550,
    "schedules": 1_660,
    "shard": 1_430,
    "sizes": 2_190,
    "testing": 360,
    "timeline": 3_010,
}
"""The most lines of each package of `pyshardy`.

A feature replaces what it makes unnecessary; one that needs a larger budget says in its commit what
it replaced. A smaller budget follows each time that a package shrinks.
"""

LEVELS = {layer: level for level, layers in enumerate(LAYERS) for layer in layers}


def lines_of(package: str) -> int:
    """Return the number of lines of a package of `pyshardy`."""
    files = (ROOT / "python" / "pyshardy" / package).rglob("*.py")
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def layer_of(module: str) -> str:
    """Return the layer with the longest name that contains a module."""
    return max((layer for layer in LEVELS if f"{module}.".startswith(f"{layer}.")), key=len)


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    """Return the nodes of the syntax tree of a module, the tree itself first."""
    return tuple(ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))))


def imports_of(module: str) -> Iterator[tuple[str, int]]:
    """Yield the modules that a module imports anywhere in its code, with the lines."""
    for name, line, _ in imports_with_depth(module):
        yield name, line


@cache
def imports_with_depth(module: str) -> tuple[tuple[str, int, bool], ...]:
    """Return the modules that a module imports, the lines, and whether they are in a function."""
    package = module if SOURCES[module].name == "__init__.py" else module.rpartition(".")[0]
    late = {
        inner
        for node in nodes_of(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    }
    found: list[tuple[str, int, bool]] = []
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, node in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}"
                found.append((name if name in SOURCES else base, node.lineno, node in late))
    return tuple(found)


def late_imports() -> dict[str, set[str]]:
    """Return the modules of the project that each module imports inside functions."""
    found: dict[str, set[str]] = {}
    for module in SOURCES:
        for name, _, is_late in imports_with_depth(module):
            if is_late and name in SOURCES:
                found.setdefault(module, set()).add(name)
    return found
