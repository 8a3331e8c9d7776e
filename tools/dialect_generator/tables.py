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


def render(value: Any, depth: int = 0, before: str = "") -> str:
    """Return a Python expression for declarations, wrapped if it is long.

    Declarations with one or two fields, such as those of assembly formats, have arguments without
    names, and share lines.

    Args:
        value: a declaration, or what its fields hold.
        depth: the number of brackets around it that have lines of their own.
        before: what stands before it in its line.
    """
    padding = "    " * (depth + 1)

    def brackets(opening: str, items: list[tuple[str, Any]], closing: str) -> str:
        rendered = [f"{name}{render(item, depth + 1, name)}" for name, item in items]
        flat = opening + ", ".join(rendered) + closing
        width = 4 * depth + len(before) + len(flat)
        if "\n" not in flat and width < LINE_LENGTH:  # a comma follows
            return flat
        shares_lines = not any(name or _has_names(item) for name, item in items)
        lines = [""]
        for item in rendered:
            longer = f"{lines[-1]} {item}," if lines[-1] else f"{padding}{item},"
            if shares_lines and "\n" not in longer and len(longer) <= LINE_LENGTH:
                lines[-1] = longer
            else:
                lines.append(f"{padding}{item},")
        body = "\n".join(filter(None, lines))
        return f"{opening}\n{body}\n{padding[4:]}{closing.removeprefix(',')}"

    if is_dataclass(value):
        told = [
            (f"{field.name}=" * _has_names(value), getattr(value, field.name))
            for field in fields(value)
            if field.default is MISSING or getattr(value, field.name) != field.default
        ]
        return brackets(f"{type(value).__name__}(", told, ")")
    if isinstance(value, tuple):
        return brackets("(", [("", item) for item in value], ",)" if len(value) == 1 else ")")
    if isinstance(value, dict):
        return brackets("{", [(f"{json.dumps(key)}: ", item) for key, item in value.items()], "}")
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _has_names(value: Any) -> bool:
    """Whether the arguments of a declaration have their names."""
    return is_dataclass(value) and len(fields(value)) > 2


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
        name: replace(each, directives=()) for name, each in declarations.operations.items()
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
