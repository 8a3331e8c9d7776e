# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs in `typings/` name nothing that the MLIR host lacks."""

import ast
import importlib
from pathlib import Path

import pytest

TYPINGS = Path(__file__).resolve().parents[2] / "typings"
STUBS = sorted(TYPINGS.rglob("*.pyi"))

DEFINED_BY_SUBCLASSES = {"OPERATION_NAME", "DIALECT_NAMESPACE"}


def missing(body, host, path=""):
    """The names that a stub declares and `host` doesn't have; a stub's helpers begin with `_`."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        else:
            continue
        if name.startswith("_") or name in DEFINED_BY_SUBCLASSES:
            continue
        if name not in dir(host):
            yield path + name
        elif isinstance(node, ast.ClassDef):
            yield from missing(node.body, getattr(host, name), f"{path}{name}.")


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: str(stub.relative_to(TYPINGS)))
def test_names_exist(stub):
    module_name = ".".join(stub.relative_to(TYPINGS).with_suffix("").parts)
    host = importlib.import_module(module_name.removesuffix(".__init__"))
    assert not list(missing(ast.parse(stub.read_text()).body, host))
