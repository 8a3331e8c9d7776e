# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`bench/parts.py` separates what is done once from what is done for each operation."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"


@pytest.fixture
def parts(monkeypatch):
    """`bench/parts.py` as a module."""
    monkeypatch.syspath_prepend(str(BENCH))
    spec = importlib.util.spec_from_file_location("parts_bench", BENCH / "parts.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "parts_bench", module)
    spec.loader.exec_module(module)
    return module


def test_what_is_done_once(parts):
    def seconds(num_operations):
        return 0.5 + 2e-3 * num_operations

    found = parts.seconds_by_form((100, 300), (seconds(100), seconds(300)))
    assert found == pytest.approx(0.5)
