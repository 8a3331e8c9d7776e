# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference documentation, by mlir-tblgen."""

from __future__ import annotations

import re

from dialect_generator.layout import NOTICE
from dialect_generator.tablegen import tblgen, without_notice


def reference(generator: str, source: str, heading: str = "", *arguments: str) -> str:
    """Return a page of the reference documentation, by mlir-tblgen."""
    text = without_notice(tblgen("mlir-tblgen", source, generator, *arguments))
    text = text.replace("[TOC]\n\n", "")
    # Written for attributes without a custom format only, and not as they are written here.
    text = re.sub(r"Syntax:\n\n```\n#\w+\.\w+<.*?```\n\n", "", text, flags=re.DOTALL)
    return f"<!-- {NOTICE} -->\n\n{heading}{text.rstrip()}\n"
