# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Advice for a decoder with FSDP weights whose activations are not constrained."""

import importlib
import sys
from pathlib import Path

import jax

import pyshardy as sdy

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_advice_is_to_shard_activations_by_batch(monkeypatch):
    """With it, the program sends what the one with the author's constraints sends."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = importlib.import_module("llama_8b")
    monkeypatch.delitem(sys.modules, "llama_8b")
    constrained = sdy.explain(example.trace(1)).cost.nbytes_sent
    jax.clear_caches()  # else the traced loss would be that of before
    monkeypatch.setattr(jax.lax, "with_sharding_constraint", lambda value, _: value)
    what_if = sdy.whatif(example.trace(1))
    before = what_if.explained.cost.nbytes_sent
    assert before > 5 * constrained
    best = what_if.advice(most=2)[0]
    assert before - best.nbytes_saved <= 1.01 * constrained
    (constraint,) = best.candidates
    assert constraint.what == "gather in forward"
    assert constraint.location is not None
    line = (EXAMPLES / "llama_8b.py").read_text().split("\n")[constraint.location.line - 1]
    assert 'params["embedding"][tokens]' in line
    assert str(constraint.sharding) == '<@mesh, [{"data", ?}, {?}, {?}]>'
