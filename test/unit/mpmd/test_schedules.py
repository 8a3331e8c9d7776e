# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: their orders, and the closed formulas of their times, which the simulator confirms."""

import itertools
from fractions import Fraction

import pytest
from case_counts import spread

from mlir_sdy.diagnostics import UsageError
from pyshardy.mpmd.schedules.schedule import WrittenSchedule, read_schedule
from pyshardy.mpmd.schedules.units import Pipeline, order_text
from pyshardy.mpmd.simulator import simulate

ORDERS = {
    "gpipe": ["F0 F1 F2 F3 B0 B1 B2 B3"] * 3,
    "1f1b": ["F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"],
    "1f1b{warmup=eager}": [
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 F1 F2 B0 F3 B1 B2 B3",
        "F0 B0 F1 B1 F2 B2 F3 B3",
    ],
    "gpipe-1f1b-last": [
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 B0 F1 B1 F2 B2 F3 B3",
    ],
    "zb-h1": [
        "F0 F1 F2 B0 F3 B1 B2 B3",
        "F0 F1 Ba0 F2 Ba1 Bw0 F3 Ba2 Bw1 Ba3 Bw2 Bw3",
        "F0 Ba0 F1 Ba1 F2 Ba2 Bw0 F3 Ba3 Bw1 Bw2 Bw3",
    ],
    "zb-h2": [
        "F0 F1 F2 F3 B0 B1 B2 B3",
        "F0 F1 F2 Ba0 F3 Ba1 Ba2 Bw0 Ba3 Bw1 Bw2 Bw3",
        "F0 Ba0 F1 Ba1 F2 Ba2 F3 Ba3 Bw0 Bw1 Bw2 Bw3",
    ],
}
WITH_STAGES = {
    ("circular", 3): [
        "F0/0 F1/0 F2/0 F0/3 F1/3 F2/3 F3/0 F3/3 B0/3 B1/3 B2/3 B0/0 B1/0 B2/0 B3/3 B3/0",
        "F0/1 F1/1 F2/1 F0/4 F1/4 F2/4 F3/1 F3/4 B0/4 B1/4 B2/4 B0/1 B1/1 B2/1 B3/4 B3/1",
    ],
    ("circular{reversed}", 3): [
        "F0/0 F1/0 F2/0 F0/3 F1/3 F2/3 F3/0 F3/3 B3/3 B3/0 B2/3 B1/3 B0/3 B2/0 B1/0 B0/0"
    ],
    ("interleaved-1f1b", 2): [
        "F0/0 F1/0 F0/2 F1/2 F2/0 B0/2 F3/0 B1/2 F2/2 B0/0 F3/2 B1/0 B2/2 B3/2 B2/0 B3/0",
        "F0/1 F1/1 F0/3 B0/3 F1/3 B1/3 F2/1 B0/1 F3/1 B1/1 F2/3 B2/3 F3/3 B3/3 B2/1 B3/1",
    ],
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name):
    orders = read_schedule(name).orders(Pipeline(3, 4))
    assert [order_text(units, with_stages=False) for units in orders] == ORDERS[name]


@pytest.mark.parametrize(("name", "meshes"), WITH_STAGES)
def test_orders_of_several_stages(name, meshes):
    orders = read_schedule(name).orders(Pipeline(meshes, 4, 2))
    wanted = WITH_STAGES[name, meshes]
    found = [order_text(units, with_stages=True) for units in orders]
    assert found[: len(wanted)] == wanted


def test_wrap_around():
    orders = read_schedule("ParallelPipelinesWithWrapAround").orders(Pipeline(3, 3))
    assert [order_text(units, with_stages=False) for units in orders] == [
        "F0 F2 F1",
        "F1 F0 F2",
        "F2 F1 F0",
    ]
    assert simulate(orders, 3, lambda _: 1).total == 3


TIMES = (1, 1, 1), (3, 2, 1), (2, 5, 2), (Fraction(1, 3), 1, Fraction(1, 7)), (4, 3, 3), (1, 2, 3)
PIPELINES = [*itertools.product(range(1, 7), range(1, 14))]


def simulated(name, pipeline, times, transfer=0):
    """The simulation of stages that share the times of a mesh equally."""
    forward, activations, weights = (Fraction(each) / pipeline.stages_per_mesh for each in times)
    seconds = {"F": forward, "B": activations + weights, "Ba": activations, "Bw": weights}
    return simulate(
        read_schedule(name).orders(pipeline),
        pipeline.stages,
        lambda unit: seconds[unit.kind],
        lambda *_: transfer,
        sums_after="reversed" in name,
    )


@pytest.mark.parametrize(("n", "m"), spread(PIPELINES, 12))
@pytest.mark.parametrize("times", TIMES)
def test_formulas_of_single_stages(n, m, times):
    forward, activations, weights = times
    both = forward + activations + weights
    pipeline = Pipeline(n, m)
    live = {
        "gpipe": lambda _: m,
        "1f1b": lambda d: min(n - d, m),
        "1f1b{warmup=eager}": lambda d: min(2 * (n - d) - 1, m),
        "gpipe-1f1b-last": lambda d: m if d < n - 1 else 1,
    }
    for name, peak in live.items():
        run = simulated(name, pipeline, times)
        assert run.total == (m + n - 1) * both
        assert run.bubble == Fraction(n - 1, m + n - 1)
        assert [run.peak_live(d) for d in range(n)] == [peak(d) for d in range(n)]
    if m >= n and weights <= min(forward, activations):
        run = simulated("zb-h1", pipeline, times)
        idle = (n - 1) * (forward + activations - weights)
        assert run.total == m * both + idle
        assert run.bubble == idle / Fraction(run.total)
        assert [run.peak_live(d) for d in range(n)] == [min(n - d, m) for d in range(n)]
        assert max(run.peak_residuals(d) for d in range(n)) == min(n, m)
    if m >= 2 * n - 1 and forward == activations == weights:
        run = simulated("zb-h2", pipeline, times)
        assert run.total == m * both + (n - 1) * forward
        assert [run.bubble_in_window(d) for d in range(n)] == [0] * n
        assert [run.peak_live(d) for d in range(n)] == [min(2 * (n - d) - 1, m) for d in range(n)]


@pytest.mark.parametrize(("n", "m"), spread(PIPELINES, 12))
@pytest.mark.parametrize("stages", [2, 3])
def test_formulas_of_several_stages(n, m, stages):
    times = 2, 5, 2
    both = sum(times)
    pipeline = Pipeline(n, m, stages)
    phases = -(-m // n)
    rest = m - (phases - 1) * n
    units = (phases - 1) * stages * n + (stages - 1) * n + rest + n - 1
    run = simulated("circular", pipeline, times)
    assert run.total == Fraction(units * both, stages)
    assert {run.peak_live(d) for d in range(n)} == {stages * m}
    if m % n:
        with pytest.raises(UsageError, match=rf"needs a multiple of {n} microbatches"):
            simulated("interleaved-1f1b", pipeline, times)
        return
    run = simulated("interleaved-1f1b", pipeline, times)
    assert run.total == Fraction((stages * m + n - 1) * both, stages)
    assert run.bubble == Fraction(n - 1, stages * m + n - 1)
    assert [run.peak_live(d) for d in range(n)] == [
        min(2 * (n - d - 1) + (stages - 1) * n + 1, stages * m) for d in range(n)
    ]


def test_transfers_decide_between_schedules():
    """The totals of the specification for N = 4, M = 8, with transfers of one unit."""
    totals = {
        name: simulated(name, Pipeline(4, 8), (1, 1, 1), transfer=1).total
        for name in ("gpipe", "1f1b", "1f1b{warmup=eager}", "zb-h1", "zb-h2", "zb-h2{latency=1}")
    }
    assert [*totals.values()] == [39, 49, 39, 41, 30, 32]


def test_links_and_blocking():
    orders = read_schedule("gpipe").orders(Pipeline(2, 3))
    slow = simulate(orders, 2, lambda _: 1, lambda *_: 2)
    sent = [(each.start, each.end) for (unit, _), each in slow.sendings.items() if not unit.stage]
    assert sent == [(1, 3), (3, 5), (5, 7)]
    waiting = simulate(orders, 2, lambda _: 1, lambda *_: 2, blocking=True)
    assert [waiting.intervals[unit].start for unit in orders[0][:3]] == [0, 3, 6]


def test_a_user_writes_orders():
    written = WrittenSchedule({"a": "F0 F1 B0 B1", "b": "F0 B0 F1 B1"})
    assert written.orders(Pipeline(2, 2)) == read_schedule("1f1b").orders(Pipeline(2, 2))
    split = WrittenSchedule({"a": "F0 F1 B0 B1", "b": "F0 Ba0 F1 Ba1 Bw0 Bw1"})
    assert split.splits_backward
    assert simulate(split.orders(Pipeline(2, 2)), 2, lambda _: 1).total == 7
    assert WrittenSchedule({"a": "F0", "b": "F0"}).orders(Pipeline(2, 1))[1][0].stage == 1
    # Its meshes may be in any order.
    for wrong in ("F0", {"a": ["F0"]}, {0: "F0"}):
        with pytest.raises(UsageError, match="a schedule is the units of each mesh as a text"):
            WrittenSchedule(wrong)
    turned = WrittenSchedule({"b": "F0 B0 F1 B1", "a": "F0 F1 B0 B1"}).of_meshes(["a", "b"])
    assert turned.orders(Pipeline(2, 2)) == written.orders(Pipeline(2, 2))


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ({"a": "F0 F1 B0 B1", "b": "F0 B0 F1"}, "mesh 'b' of the schedule lacks B1"),
        ({"a": "F0 F1 B0 B1", "b": "F0 B0 F1 B1 F2"}, "mesh 'b' of the schedule has F2, which"),
        ({"a": "F0 F1 B0 B1 B1", "b": "F0"}, "mesh 'a' of the schedule runs B1 2 times"),
        ({"a": "F0 X1", "b": "F0"}, "'X1' is no unit of a schedule: expected a unit such as 'F0'"),
        ({"a": "F0 F1 B0 B1"}, "the schedule is for 1 meshes, a, but there are 2"),
        (
            {"a": "F0 B0 F1 B1", "b": "F0 F1 B0 B1"},
            "the schedule never ends: mesh a waits at B0/0 for B0/1 of b; "
            "mesh b waits at F1/1 for F1/0 of a",
        ),
    ],
)
def test_wrong_orders(orders, message):
    with pytest.raises(UsageError, match=message):
        WrittenSchedule(orders).orders(Pipeline(2, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1f2b", "no schedule '1f2b'; did you mean '1f1b'?"),
        ("fast", "no schedule 'fast'; there are gpipe, 1f1b"),
        ("zb-h2{latnecy=1}", "schedule 'zb-h2': no option 'latnecy'; did you mean 'latency'?"),
        ("zb-h2{latency=x}", "schedule 'zb-h2': option 'latency' is 'x'"),
        ("1f1b,gpipe", "is no schedule: expected one name"),
    ],
)
def test_unknown_schedules(text, message):
    with pytest.raises(UsageError) as refused:
        read_schedule(text)
    assert message in str(refused.value)


def test_schedules_for_one_stage_say_so():
    with pytest.raises(UsageError, match=r"'1f1b' is for one stage on each mesh, got 2: use"):
        read_schedule("1f1b").orders(Pipeline(2, 4, 2))
    with pytest.raises(UsageError, match="a pipeline of 0 microbatches: at least 1 is needed"):
        Pipeline(2, 0)
