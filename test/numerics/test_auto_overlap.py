# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of programs whose collectives will run beside the computation."""

from dataclasses import replace

import jax
import pytest
import scanned_layers

import pyshardy as sdy
from pyshardy.cost.hardware import Link

AXES = {"data": Link(5e10, 1e-5, "axis"), "model": Link(4e11, 2e-6, "axis")}


@pytest.fixture(scope="module")
def module():
    shapes = {"up": (3, 4096, 8192), "down": (3, 8192, 4096)}
    weights = {name: jax.ShapeDtypeStruct(shape, "bfloat16") for name, shape in shapes.items()}
    x = jax.ShapeDtypeStruct((32, 512, 4096), "bfloat16")
    forward = scanned_layers.function_of("forward", scanned_layers.mlp)
    return sdy.jax.trace(forward, weights, x, mesh=sdy.Mesh({"data": 4, "model": 4}))


def test_weights_are_gathered_where_that_is_hidden(module):
    """Without overlap, sums of activations are cheaper than to gather the weights of each layer."""
    hardware = replace(sdy.load_hardware("h100"), axes=AXES)
    plain = sdy.auto_shard(module, hardware=hardware, memory="350MB")
    found = sdy.auto_shard(module, hardware=hardware, memory="350MB", overlap="all")
    assert {each.kind for each in plain.program.collectives} == {"all_reduce"}
    assert {each.kind for each in found.program.collectives} == {"all_gather"}
    assert plain.cost < found.cost
    propagated = sdy.parse(sdy.asm(plain.module))
    sdy.propagate(propagated)
    other = sdy.partition(propagated, hardware=hardware, overlap="all")
    seconds = other.timeline(hardware, order="written").seconds
    assert found.overlapped_seconds < 0.99 * seconds
    assert any("timeline" in note for note in found.notes)


def test_the_overlap_must_be_known(module):
    with pytest.raises(sdy.UsageError, match="got: 'al'; did you mean 'all'"):
        sdy.auto_shard(module, overlap="al")
