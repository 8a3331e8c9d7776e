# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans with the fewest bytes send no more than those of authors; see `bench/auto.py`."""

import importlib.util
import sys
from pathlib import Path

import pytest

import pyshardy as sdy

pytest.importorskip("jax")

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("concatenations", "embedding_gradient", "flips_and_tiles")


@pytest.fixture
def bench(monkeypatch):
    """`bench/auto.py` as a module."""
    spec = importlib.util.spec_from_file_location("auto_bench", ROOT / "bench" / "auto.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "auto_bench", module)
    spec.loader.exec_module(module)
    return module


def test_fewest_bytes(bench):
    hardware = sdy.load_hardware("cpu")
    corpus = ROOT / "test" / "corpus" / "mlir"
    rows = [bench.compare_bytes(corpus / f"{name}.mlir", hardware) for name in PROGRAMS]
    for row in rows:
        assert row.ours == 0, row.name
        assert not row.is_worse, row.name
    assert any(row.within[0] for row in rows), "the memory of all programs suffices to replicate"


def test_larger_numbers_are_marked(bench):
    row = bench.BytesRow("worse", (20, 10), (1.0, 2.0), 0, (20, 11))
    assert row.is_worse
    assert row.cells() == ("worse", "20", "10", "0", "1", "20", "2", "**11**")
    assert bench.BytesRow("without", (20, 10), (1.0, 2.0), 0, (None, 10)).is_worse


def test_the_other_section_of_the_page_is_kept(bench):
    row = bench.BytesRow("program", (2, 1), (1.0, 2.0), 0, (0, 0))
    once = bench.with_section("", bench.time_section([], sdy.load_hardware("cpu")))
    both = bench.with_section(once, bench.bytes_section([]))
    again = bench.with_section(both, bench.bytes_section([row]))
    assert both.startswith(once)
    assert again.startswith(once)
    assert "| `program` | 2 | 1 | 0 | 1 | 0 | 2 | 0 |" in again
    assert again.count("\n## ") == 2
