# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of the declarations to Python data."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

from dialect_generator.declarations import Declarations, OperationDeclarations
from dialect_generator.layout import LINE_LENGTH, PYTHON_HEADER


def render(value: Any, depth: int = 0) -> str:
    """Return a Python expression for declarations, wrapped if it is long."""
    padding = "    " * (depth + 1)

    def brackets(opening: str, items: list[str], closing: str) -> str:
        flat = opening + ", ".join(items) + closing
        if "\n" not in flat and len(flat) + 4 * depth <= LINE_LENGTH - 20:
            return flat
        lines = "".join(f"{padding}{item},\n" for item in items)
        return f"{opening}\n{lines}{padding[4:]}{closing}"

    if is_dataclass(value):
        arguments = []
        for field in fields(value):
            item = getattr(value, field.name)
            if field.default is MISSING or item != field.default:
                arguments.append(f"{field.name}={render(item, depth + 1)}")
        return brackets(f"{type(value).__name__}(", arguments, ")")
    if isinstance(value, tuple):
        items = [render(item, depth + 1) for item in value]
        return (
            f"({items[0]},)"
            if len(items) == 1 and "\n" not in items[0]
            else brackets("(", items, ")")
        )
    if isinstance(value, dict):
        return brackets(
            "{",
            [f"{json.dumps(key)}: {render(item, depth + 1)}" for key, item in value.items()],
            "}",
        )
    if isinstance(value, str):
        return render_string(value, padding)
    return repr(value)


def render_string(value: str, padding: str) -> str:
    """Return a Python string literal, with a line for each line of the text."""
    literal = json.dumps(value, ensure_ascii=False)
    if "\n" not in value:
        return literal
    lines = [json.dumps(line, ensure_ascii=False) for line in value.splitlines(keepends=True)]
    return "(\n" + "".join(f"{padding}    {line}\n" for line in lines) + f"{padding})"


def tables_source(declarations: Declarations) -> str:
    """Return `tables.py`, the declarations as plain data."""
    return _source(
        "The declarations of the dialect, as plain data.",
        {
            "OPERATIONS": ("OperationDecl", declarations.operations, "Operations, by full name."),
            "ATTRIBUTES": ("AttributeDecl", declarations.attributes, "Attributes, by mnemonic."),
            "ENUMS": ("EnumDecl", declarations.enums, "Enums, by name."),
        },
    )


def mpmd_tables_source(declarations: OperationDeclarations) -> str:
    """Return `mpmd_tables.py`, the declarations of the mpmd dialect."""
    return _source(
        "The declarations of the mpmd dialect, as plain data.",
        {
            "OPERATIONS": (
                "OperationDecl",
                declarations.operations,
                "Operations of the mpmd dialect, by full name.",
            )
        },
    )


def shard_tables_source(declarations: OperationDeclarations) -> str:
    """Return `shard_tables.py`, the declarations of upstream's shard dialect.

    The host parses and prints its operations, so their assembly formats are left out.
    """
    operations = {
        name: replace(each, assembly_format="", directives=())
        for name, each in declarations.operations.items()
    }
    return _source(
        "The declarations of upstream's shard dialect, as plain data.",
        {
            "OPERATIONS": ("OperationDecl", operations, "Operations, by full name."),
            "ENUMS": ("EnumDecl", declarations.enums, "Enums, by name."),
        },
    )


def _source(title: str, tables: dict[str, tuple[str, dict[str, Any], str]]) -> str:
    module = "mlir_sdy.ods.declarations"
    body = "\n".join(
        f'{name}: dict[str, {kind}] = {render(table)}\n"""{doc}"""\n'
        for name, (kind, table, doc) in tables.items()
    )
    used = set(re.findall(r"\b[A-Z]\w+(?=\()", body)) | {kind for kind, *_ in tables.values()}
    known = sys.modules[module].__dict__
    names = "".join(f"    {name},\n" for name in sorted(used) if name in known)
    return f'{PYTHON_HEADER}"""{title}"""\n\nfrom {module} import (\n{names})\n\n{body}'
