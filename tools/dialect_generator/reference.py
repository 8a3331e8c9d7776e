# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference documentation, by mlir-tblgen."""

from __future__ import annotations

import re

from dialect_generator.layout import NOTICE
from dialect_generator.tablegen import tblgen, without_notice


def reference(source: str, dialect: str) -> str:
    """Return the reference documentation of a dialect, by mlir-tblgen."""
    arguments = ("-gen-dialect-doc", f"-dialect={dialect}")
    text = without_notice(tblgen("mlir-tblgen", source, *arguments))
    text = text.replace("[TOC]\n\n", "")
    # Written for attributes without a custom format only, and not as they are written here.
    text = re.sub(r"Syntax:\n\n```\n#\w+\.\w+<.*?```\n\n", "", text, flags=re.DOTALL)
    return f"<!-- {NOTICE} -->\n\n{text.rstrip()}\n"
