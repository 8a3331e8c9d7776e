# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of programs whose collectives will run beside the computation."""

from dataclasses import replace

import jax
import jax_devices  # noqa: F401 (before JAX)
import pytest
import scanned_layers
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from pyshardy.cost.hardware import Link

AXES = {"data": Link(5e10, 1e-5, "axis"), "model": Link(4e11, 2e-6, "axis")}
HARDWARE = replace(sdy.load_hardware("h100"), axes=AXES)
HOSTS = replace(sdy.load_hardware("h100"), axes={"data": Link(5e10, 1e-5)})


def traced(batch, count=8, **shardings):
    """Return layers whose stacked weights are sharded along both axes."""
    shapes = {"up": (count, 4096, 8192), "down": (count, 8192, 4096)}
    weights = {name: jax.ShapeDtypeStruct(shape, "bfloat16") for name, shape in shapes.items()}
    x = jax.ShapeDtypeStruct((batch, 512, 4096), "bfloat16")
    forward = scanned_layers.function_of("forward", scanned_layers.mlp)
    return sdy.jax.trace(forward, weights, x, mesh=sdy.Mesh({"data": 4, "model": 4}), **shardings)


def seconds_with_overlap(plan):
    """Return the time by the timeline of the plan's shardings, partitioned with overlap."""
    module = sdy.parse(sdy.asm(plan.module))
    sdy.propagate(module)
    program = sdy.partition(module, hardware=HARDWARE, overlap="all")
    return program.timeline(HARDWARE, order="written").seconds


def gathered(plan):
    """Return the bytes that a device sends to gather weights."""
    found = plan.program.collectives
    return sum(each.nbytes_total for each in found if each.kind == "all_gather")


def test_the_crossover_moves_toward_gathers_of_weights():
    """Tensor parallelism sends activations, FSDP weights: with prefetches from fewer rows on."""
    weights = {"up": P(None, "data", "model"), "down": P(None, "model", "data")}
    sent = []
    for batch in (4, 64, 128):
        module = traced(batch, in_shardings=(weights, P("data")))
        plain, found = (
            sdy.auto_shard(module, hardware=HARDWARE, overlap=overlap)
            for overlap in ("none", "all")
        )
        assert found.overlapped_seconds <= seconds_with_overlap(plain) * (1 + 1e-9)
        sent.append((gathered(plain), gathered(found)))
    assert sent[0][1] > 2 * sent[0][0]
    assert all(overlapped >= plain for plain, overlapped in sent)
    assert sent[2][0] > 4 * sent[1][0]  # gathers take over


def test_gathers_are_chosen_where_they_are_hidden():
    """The example of the guide: what slices of stacked weights exchange is not hidden."""
    weights = {"up": P(None, "data", "model"), "down": P(None, "model", "data")}
    module = traced(8, in_shardings=(weights, P("data")))
    plain = sdy.auto_shard(module, hardware=HARDWARE)
    found = sdy.auto_shard(module, hardware=HARDWARE, overlap="all")
    assert found.overlapped_seconds < 0.95 * seconds_with_overlap(plain)
    assert gathered(found) > gathered(plain)


def test_memory_counts_what_is_fetched_ahead():
    module = traced(32, count=3)
    found = sdy.auto_shard(module, hardware=HARDWARE, overlap="all")
    assert {each.kind for each in found.program.collectives} == {"all_gather"}
    gathered = 2 * 4096 * 8192
    plain = found.search.without_overlap()
    assert found.memory == plain.peak(found.choice) + gathered
    assert found.estimate.peak_bytes <= found.memory
    assert found.overlapped_seconds == pytest.approx(found.cost, rel=0.1)


SIZES = {"batch": 512, "length": 512, "width": 4096, "hidden": 8192, "element": "bfloat16"}


@pytest.mark.parametrize("kind", scanned_layers.KINDS)
@pytest.mark.parametrize("layer", scanned_layers.LAYERS)
def test_the_prediction_is_the_time_of_the_timeline(layer, kind):
    module, _ = scanned_layers.traced(kind, layer, 12, **SIZES, propagated=False)
    for overlap in ("schedule", "all"):
        plan = sdy.auto_shard(module, hardware=HOSTS, overlap=overlap)
        assert plan.search.hidden(plan.choice) > 0.1 * plan.cost
        check = plan.check()
        assert check.counted_seconds == pytest.approx(check.predicted_seconds, rel=0.05)
        assert any(f"overlap={overlap!r}" in note for note in plan.notes)
        assert "by the timeline" in check.summary()


def test_options():
    module = traced(32, count=2)
    with pytest.raises(sdy.UsageError, match="got: 'al'; did you mean 'all'"):
        sdy.auto_shard(module, overlap="al")
    with pytest.raises(sdy.UsageError, match="'hide' must be a fraction from 0 to 1, got: 80"):
        sdy.auto_shard(module, overlap="all", hide=80)
    nothing = sdy.auto_shard(module, hardware=HARDWARE, overlap="all", hide=0)
    assert nothing.search.hidden(nothing.choice) == 0
    fewest = sdy.auto_shard(module, hardware=HARDWARE, overlap="all", objective="bytes")
    assert fewest.search.hiding is None
    assert "time:" not in fewest.check().summary()
