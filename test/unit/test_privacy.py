# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests use public names only, so that they don't restrict how the code works inside."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
OURS = ("pyshardy", "mlir_sdy", "program_fuzzer", "dialect_generator")
GENERATED = "_gen"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and not name.endswith(GENERATED)


def private_uses(source: str) -> Iterator[str]:
    """Yield the private names of the project that a test imports, reads or replaces."""
    tree = ast.parse(source)
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS):
            yield from (alias.name for alias in node.names if is_private(alias.name))
            modules |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {a.asname or a.name for a in node.names if a.name.startswith(OURS)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if isinstance(node.value, ast.Name) and node.value.id in modules:
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
            names = [each.value for each in node.args if isinstance(each, ast.Constant)]
            last = [str(name).rpartition(".")[2] for name in names[:1]]
            yield from filter(is_private, last)


def test_no_private_names():
    # The representations of notebooks are an interface of IPython.
    found = [
        f"{path.relative_to(TESTS)}: {use}"
        for path in sorted(TESTS.rglob("*.py"))
        for use in private_uses(path.read_text(encoding="utf-8"))
        if "_repr_" not in use
    ]
    assert found == []


def test_private_names_are_found():
    source = """
from pyshardy.backends import _x, registry
monkeypatch.setattr(registry, "_REGISTRY", {})
monkeypatch.setattr("pyshardy.program._PIPELINE", "x")
registry._engine("jit")
"""
    assert sorted(private_uses(source)) == ["_PIPELINE", "_REGISTRY", "_x", "registry._engine"]
