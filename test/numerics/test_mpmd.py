# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioned MPMD programs compute what the unpartitioned program does."""

import random
import time
from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import jax_devices
import numpy as np
import pytest
from case_counts import spread
from jax.sharding import PartitionSpec as P
from mpmd_models import FLAT, SHAPES, decoder, products

import pyshardy as sdy
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.comparison import (
    Difference,
    compare,
    tolerance_within,
    with_last_places_moved,
)
from pyshardy.cost.hardware import Link, load_hardware
from pyshardy.mpmd.execution import FragmentError, execute
from pyshardy.mpmd.reference import without_names
from pyshardy.program import compile_unpartitioned

SEVERAL = ["circular", "interleaved-1f1b"]
WRITTEN = "m0: F0 F1 B0 F2 B1 F3 B2 B3; m1: F0 F1 B0 F2 B1 F3 B2 B3"


QUICK = CompileOptions(optimization=0)
"""The JIT takes ten times as long to optimize the unpartitioned decoder as to compile it."""


def reference(module, inputs, backend):
    """Run the unpartitioned program with the inputs, and with their last places moved."""
    run = compile_unpartitioned(without_names(module), backend, QUICK)
    return run(inputs), run(with_last_places_moved(inputs))


def check(module, inputs, program, backend, compile_options=None, references=None, **options):
    """Compare the results with those of the unpartitioned program, by the rule of `sdy-run`."""
    expected, moved = references or reference(module, inputs, backend)
    found = program.run(inputs, backend, compile_options, **options)
    tolerance = tolerance_within(module)
    for array, right, noisy, port in zip(found, expected, moved, program.outputs, strict=True):
        noise = compare(noisy, right, port.spec, tolerance).relative
        difference = compare(array, right, port.spec, tolerance)
        assert Difference.with_noise(difference, noise).is_small, (port.name, difference, noise)
    return found


@pytest.fixture(scope="module")
def small():
    model = products(2)
    return model, model.trace(SHAPES["small"], layers=2)


@pytest.mark.parametrize("schedule", spread([WRITTEN, *FLAT], 3))
def test_schedules(small, schedule):
    model, module = small
    program = sdy.mpmd.partition(module, schedule=schedule)
    check(module, model.flat, program, "jit", workers="serial")


@pytest.mark.parametrize("backend", ["interpreter", "jit", "xla"])
def test_threads_compute_equal_bits(small, backend):
    model, module = small
    program = sdy.mpmd.partition(module, schedule="zb-h1")
    serial = check(module, model.flat, program, backend, workers="serial")
    threads = program.run(model.flat, backend, workers="threads")
    for one, other in zip(serial, threads, strict=True):
        np.testing.assert_array_equal(one, other)


def test_number_of_devices_of_xla(monkeypatch):
    """A mesh has virtual devices of its own, whatever flags JAX has here; GPUs may be too few."""
    assert len(jax.devices()) == jax_devices.COUNT  # the flags are for other processes only
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=1")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    model = products(2)
    module = model.trace([(1, 8)] * 2, layers=2)
    program = sdy.mpmd.partition(module)
    check(module, model.flat, program, "xla", workers="serial")
    with pytest.raises(
        FragmentError, match=r"of mesh m0 from .*: the program runs on 8 GPU devices"
    ):
        program.run(model.flat, "xla-gpu")


def test_delays_do_not_matter(small):
    model, module = small
    program = sdy.mpmd.partition(module)
    programs = {name: each.program for name, each in program.fragments.items()}
    delays = random.Random(0)

    def wait(_mesh):
        time.sleep(delays.random() / 100)

    expected = program.run(model.flat, "jit", workers="serial")
    for _ in range(3):
        found = execute(program.plan, programs, model.flat, "jit", workers="threads", before=wait)
        for one, other in zip(found.outputs, expected, strict=True):
            np.testing.assert_array_equal(one.gather(), other)


def test_backends_of_meshes(small):
    model, module = small
    program = sdy.mpmd.partition(module)
    found = program.run(model.flat, {"m0": "xla", "m1": "jit"})
    for one, other in zip(found, program.run(model.flat, "jit"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


SLOW = replace(load_hardware("default"), between_meshes=Link(1e6, 0))
"""Hardware on which each byte between meshes counts."""

WAYS = [("auto", SLOW, "gathered"), ("direct", SLOW, "direct")]
WAYS += [("same-sharding", SLOW, "direct"), ("auto", "default", "direct")]


@pytest.mark.parametrize(("transfers", "hardware", "way"), WAYS)
def test_ways_of_transfers(transfers, hardware, way):
    model = products(4)
    module = model.trace(SHAPES["pair"])
    program = sdy.mpmd.partition(module, transfers=transfers, hardware=hardware)
    check(module, model.flat, program, "jit", workers="serial")
    between = [each for each in program.transfers if each.source != each.target]
    assert {each.way for each in between} == {way}
    for each in between:
        told = {name: float(seconds) for name, seconds in each.ways}
        assert not told if transfers != "auto" else min(told, key=lambda name: told[name]) == way
        rows_of = dict(program.explain(each.name).tables()[0].rows)
        assert {f"estimate, {name}" for name in told} <= rows_of.keys()
    forward, backward = (next(each for each in between if each.source == m) for m in ("m0", "m1"))
    rows, columns = 4, 8
    for each in forward, backward:  # of the microbatches, each element once, or to each replica
        assert program.bytes_of(each) == rows * columns * 4 * (1 if way == "gathered" else 2)


@pytest.mark.parametrize("transfers", ["auto", "direct", "same-sharding"])
@pytest.mark.parametrize("to", spread([P(None, "data"), P(), P(("model", "data"))], 3))
def test_transfers_to_other_shardings(transfers, to):
    """A value goes to a mesh of the same shape, where the caller wants another sharding."""
    twice = sdy.mpmd.named_computation(lambda x: x * 2, name="twice")
    inputs = [np.arange(32, dtype=np.float32).reshape(4, 8)]
    module = sdy.mpmd.trace(
        lambda x: sdy.mpmd.named_tensor(twice(x), "moved"),
        *inputs,
        topology={name: {"data": 2, "model": 2} for name in ("m0", "m1")},
        assignment={"twice": "m0", "moved": "m1"},
        in_shardings=(P("data"),),
        out_shardings=to,
    )
    for hardware in (SLOW, "default"):
        program = sdy.mpmd.partition(module, transfers=transfers, hardware=hardware)
        check(module, inputs, program, "jit", workers="serial")
        if transfers == "direct":
            assert [each.way for each in program.transfers] == ["direct"]
            assert len(program.plan.calls) == 1


@pytest.mark.parametrize("options", spread([{"accumulate": "after"}, {}, {"combine": "sum"}], 1))
def test_different_meshes(options):
    model = products(4, **options)
    module = model.trace(SHAPES["different"])
    program = sdy.mpmd.partition(module)
    check(module, model.flat, program, "jit", workers="serial")
    assert {mesh.mesh.total_size for mesh in program.plan.topology.meshes} == {4, 2, 1}


STAGES = [
    "m0: F0/0 F1/0 F0/2 F1/2 B0/2 B1/2 B0/0 B1/0 F2/0 F3/0 F2/2 F3/2 B2/2 B3/2 B2/0 B3/0;"
    "m1: F0/1 F1/1 F0/3 F1/3 B0/3 B1/3 B0/1 B1/1 F2/1 F3/1 F2/3 F3/3 B2/3 B3/3 B2/1 B3/1"
]


@pytest.mark.parametrize("schedule", spread(STAGES + SEVERAL, 2))
def test_several_stages_on_a_mesh(schedule):
    model = products(4)
    module = model.trace(SHAPES["small"], stages=2)
    program = sdy.mpmd.partition(module, schedule=schedule)
    assert program.orders["m1"].startswith("F0/1 F1/1 F0/3")
    check(module, model.flat, program, "jit", workers="serial")


def test_a_mesh_without_the_last_stage():
    module = products(3, microbatches=2).trace(SHAPES["small"], stages=3, layers=3)
    program = sdy.mpmd.partition(module, schedule="interleaved-1f1b")
    assert program.orders["m1"] == "F0/1 F1/1 B0/1 B1/1"


def test_halves_of_backward_fragments_share_uneven_values():
    def layer(weights, x):
        return jnp.tanh(jax.lax.with_sharding_constraint(x @ weights, P(None, "data")))

    def loss(weights, x):
        for index in range(2):
            x = sdy.mpmd.named_computation(layer, name=f"layer{index}")(weights[index], x)
        return (x * x).sum()

    random = np.random.default_rng(0)
    inputs = [random.normal(size=shape).astype(np.float32) for shape in ((8, 8), (8, 8), (6, 8))]
    module = sdy.mpmd.trace(
        sdy.mpmd.microbatched(jax.grad(loss), 2),
        inputs[:2],
        inputs[2],
        topology={f"m{index}": {"data": 3} for index in range(2)},
        assignment={f"layer{index}": f"m{index}" for index in range(2)},
    )
    program = sdy.mpmd.partition(module, schedule="zb-h1")
    assert program.orders["m1"] == "F0 Ba0 F1 Ba1 Bw0 Bw1"
    check(module, inputs, program, "jit", workers="serial")


PLACES = ["m0", "m1", "m0#pinned_host", "m1#pinned_host"]


@pytest.mark.parametrize("place", spread(PLACES, 2))
def test_named_tensors_broadcasts_and_reductions(place):
    def layer(index):
        function = lambda weights, x: jnp.tanh(x @ weights)  # noqa: E731
        return sdy.mpmd.named_computation(function, name=f"layer{index}")

    def step(weights, other, x):
        first = layer(0)(weights, x)
        second = layer(1)(sdy.mpmd.named_tensor(other, "t"), first)
        sums = sdy.mpmd.reduce(first + second), first - second
        return *sums, sdy.mpmd.broadcast(second), weights, weights

    random = np.random.default_rng(0)
    inputs = [random.normal(size=(8, 8)).astype(np.float32) for _ in range(3)]
    module = sdy.mpmd.trace(
        step,
        *inputs,
        topology={"m0": {"data": 2}, "m1": {"data": 4}},
        assignment={"layer0": "m0", "layer1": "m1", "t": place},
        in_meshes=(None, None, "m1"),
        out_meshes=(None, "m0", None, None, None),
    )
    for hardware in ("default", SLOW):
        program = sdy.mpmd.partition(module, hardware=hardware)
        check(module, inputs, program, "jit", workers="serial")
    assert "gathered" in {each.way for each in program.transfers}


def test_peak_of_live_values(small):
    model, module = small
    for schedule in ("gpipe", "zb-h1"):
        program = sdy.mpmd.partition(module, schedule=schedule)
        programs = {name: each.program for name, each in program.fragments.items()}
        found = execute(program.plan, programs, model.flat, "jit")
        line = program.timeline("h100")
        assert found.peaks == {name: each.peak_live for name, each in line.meshes.items()}


def test_training_loop_with_donated_state():
    model = products(2)
    kept, donated = (
        sdy.mpmd.partition(
            model.trace(SHAPES["small"], layers=2, out_shardings=([None] * 2, None), **options)
        )
        for options in ({}, {"donate_argnums": 0})
    )
    for backend in ("jit", "xla"):
        runs, live = [], []
        for program in (kept, donated):
            parameters, data = model.flat[:2], model.flat[2:]
            programs = {name: each.program for name, each in program.fragments.items()}
            for _ in range(20):
                found = execute(program.plan, programs, [*parameters, *data], backend)
                parameters = found.outputs[:2]
                live.append(found.peaks)
            runs.append([each.gather() for each in parameters])
        assert live[1:20] == live[:1] * 19
        assert live[21:] == live[20:21] * 19
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one, other)


def test_equal_fragments_share_a_program():
    model = products(4)
    program = sdy.mpmd.partition(model.trace([(1, 1)] * 4), schedule="gpipe")
    assert len(program.programs) < len(program.fragments)


CASES = [
    (*case, backend)
    for backend in ("xla", "jit", "interpreter")
    for case in (
        *((shapes, None, schedule) for shapes in ("equal", "different") for schedule in FLAT),
        *(("pair", 2, schedule) for schedule in SEVERAL),
    )
]
"""With one stage on each of equal or different meshes, and with two; on each engine."""


@cache
def decoder_reference():
    """Run the unpartitioned decoder on XLA, which compiles it in a fraction of the JIT's time."""
    model = decoder()
    return reference(model.trace(SHAPES["pair"]), model.flat, "xla")


@pytest.mark.parametrize(("shapes", "stages", "schedule", "backend"), spread(CASES, 1))
def test_decoder(shapes, stages, schedule, backend):
    model = decoder()
    module = model.trace(SHAPES[shapes], stages)
    program = sdy.mpmd.partition(module, schedule=schedule)
    known = decoder_reference()
    serial = check(module, model.flat, program, backend, QUICK, known, workers="serial")
    threads = program.run(model.flat, backend, QUICK, workers="threads")
    for one, other in zip(serial, threads, strict=True):
        np.testing.assert_array_equal(one, other)
