# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lit tests capture SSA names, so that they don't depend on the numbers of values."""

import re
from pathlib import Path

import pytest

LIT = Path(__file__).resolve().parents[1] / "lit"
LITERAL = re.compile(r"\s*//\s*[A-Z][A-Z0-9_-]*:.*?(?<!\[)%\d+")


def literal_names(text: str) -> list[str]:
    return [line for line in text.splitlines() if LITERAL.match(line) and "RUN:" not in line]


@pytest.mark.parametrize(
    "path", sorted(LIT.rglob("*.mlir")), ids=lambda path: str(path.relative_to(LIT))
)
def test_no_literal_names(path: Path):
    assert literal_names(path.read_text(encoding="utf-8")) == []


def test_literal_names_are_found():
    assert literal_names("// CHECK-NEXT: return %0") == ["// CHECK-NEXT: return %0"]
    assert literal_names("  // A: %[[X:.*]] = sdy.reshard %1") != []
    assert literal_names("// CHECK: %[[X:.*]] = add %[[Y]], %arg0") == []
