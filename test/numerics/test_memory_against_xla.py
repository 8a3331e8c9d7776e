# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated peak memory is near that of XLA's buffer assignment; see `bench/memory.py`."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("jax")

BENCH = Path(__file__).resolve().parents[2] / "bench"
PROGRAMS = ("mlp_training_donated", "attention_forward", "while_loop", "scan_over_layers")


@pytest.fixture
def bench(monkeypatch):
    """`bench/memory.py` as a module."""
    monkeypatch.syspath_prepend(BENCH)
    spec = importlib.util.spec_from_file_location("memory_bench", BENCH / "memory.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_peak_memory(bench):
    found = [bench.memories(name) for name in PROGRAMS]
    for name, (estimated, measured) in zip(PROGRAMS, found, strict=True):
        assert estimated == pytest.approx(measured, rel=0.15), name
    assert bench.rank_correlation(*map(list, zip(*found, strict=True))) == pytest.approx(1)
