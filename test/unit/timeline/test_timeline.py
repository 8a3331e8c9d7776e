# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines: the lanes, what is hidden and exposed, and why."""

from dataclasses import replace

import pytest
from corpus_programs import PROGRAMS
from local_programs import (
    HARDWARE,
    ONE_LANE,
    awaited,
    function,
    reduce,
    started,
    tanh,
    timeline,
)

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError
from pyshardy.api import propagate
from pyshardy.cost.hardware import load_hardware
from pyshardy.explain.estimate import estimate
from pyshardy.program import partition
from pyshardy.timeline.durations import resource_use_of
from pyshardy.timeline.run import run_timeline

ALONG_X, ALONG_Y = 2.0, 6.0
"""The microseconds of all-reduces in groups of 2 and of 4; a `tanh` takes 4."""

BODY = reduce("0", "a") + tanh("1", "b") + tanh("2", "0")


def close(value):
    return pytest.approx(value * 1e-6, rel=1e-6)


def test_written_order_of_a_synchronous_program(context):
    found = timeline(context, function(BODY, "1, 2"), order="written")
    assert found.seconds == close(ALONG_X + 4 + 4)
    (one,) = found.collectives
    assert (one.hidden, one.exposed, one.reason) == (0.0, close(ALONG_X), "it is synchronous")


def test_scheduled_order_hides_a_collective(context):
    found = timeline(context, function(BODY, "1, 2"))
    assert found.seconds == close(8.0)
    (one,) = found.collectives
    assert (one.hidden, one.exposed, one.reason) == (close(ALONG_X), 0.0, "")
    assert [event.name for event in found.events] == ["all_reduce", "tanh", "tanh"]
    assert found.events[0].lane == ("x",)


def test_an_asynchronous_program_as_written(context):
    body = started("0", "a", "y") + tanh("1", "b") + awaited("2", "0") + tanh("3", "2")
    found = timeline(context, function(body, "1, 3"), order="written")
    assert found.seconds == close(ALONG_Y + 4)
    (one,) = found.collectives
    assert (one.hidden, one.exposed) == (close(4.0), close(2.0))
    assert one.waiting.startswith("tanh at -:")


@pytest.mark.parametrize(
    ("hardware", "seconds", "lanes"),
    [(HARDWARE, ALONG_Y, {"x": 2, "y": 6}), (ONE_LANE, ALONG_X + ALONG_Y, {"link": 8})],
)
def test_lanes(context, hardware, seconds, lanes):
    found = timeline(context, function(reduce("0", "a") + reduce("1", "b", "y"), "0, 1"), hardware)
    assert found.seconds == close(seconds)
    assert found.lane_seconds == {name: close(busy) for name, busy in lanes.items()}


def test_a_collective_along_two_axes_occupies_both_lanes(context):
    body = reduce("0", "a", "x, y") + reduce("1", "b")
    found = timeline(context, function(body, "0, 1"))
    assert found.seconds == close(14.0 + ALONG_X)
    assert found.lane_seconds == {"x": close(16.0), "y": close(14.0)}


def test_the_needed_collective_goes_first(context):
    """The result of `%1` is on the longer path, though `%0` comes first in the text."""
    body = reduce("0", "a", "y") + reduce("1", "b") + tanh("2", "1") + tanh("3", "2")
    body += tanh("4", "3") + tanh("5", "0")
    found = timeline(context, function(body, "4, 5"), ONE_LANE)
    assert found.events[0].collective == 1


def test_a_loop_takes_its_trips_times_its_body(context):
    text = f"""func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %five = stablehlo.constant dense<5> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, tensor<4xf32>
      cond {{
        %less = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }} do {{
        {reduce("0", "c")} {tanh("1", "c")} {tanh("2", "1")} {tanh("3", "0")}
        %own = stablehlo.reverse %2, dims = [0] : tensor<4xf32>  // a kernel that needs no sum
        %4 = stablehlo.add %own, %3 : tensor<4xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %4 : tensor<i32>, tensor<4xf32>
      }}
      return %r#1 : tensor<4xf32>
    }}"""
    written = timeline(context, text, order="written")
    found = timeline(context, text)
    assert written.seconds - found.seconds == close(5 * ALONG_X)
    (one,) = found.collectives
    assert (one.times, one.hidden) == (5, close(5 * ALONG_X))
    loop = next(event for event in found.events if event.is_loop)
    inside = [event for event in found.events if not event.is_loop]
    assert sum(event.seconds for event in inside if not event.lane) == pytest.approx(loop.seconds)


def test_the_longest_branch_counts(context):
    text = f"""func.func @main(%p: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {{
      %r = "stablehlo.if"(%p) ({{
        {reduce("0", "a", "y")}
        stablehlo.return %0 : tensor<4xf32>
      }}, {{
        {reduce("0", "a")}
        stablehlo.return %0 : tensor<4xf32>
      }}) : (tensor<i1>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }}"""
    found = timeline(context, text)
    assert found.seconds == close(ALONG_Y)
    assert [each.times for each in found.collectives] == [1, 0]


def test_computation_is_slower_beside_a_collective(context):
    slow = replace(HARDWARE, compute_while_communicating=0.5)
    body = started("0", "a") + tanh("1", "b") + awaited("2", "0")
    found = timeline(context, function(body, "1, 2"), slow, "written")
    assert found.seconds == close(2.0 + 3.0)  # in the first 2 us, it does the work of one


TWO = "tensor<4xf32>, tensor<4xf32>"

REASONS = {
    "its operand is computed just before: tanh": tanh("0", "a") + reduce("1", "0") + tanh("2", "1"),
    "nothing independent to compute in this block": reduce("1", "a") + tanh("2", "1"),
    "the lane is busy with all_reduce": reduce("0", "a", "y")
    + reduce("1", "b", "y")
    + "%2 = stablehlo.add %0, %1 : tensor<4xf32>\n",
    "variadic": reduce("0", "a")
    .replace('"(%a)', '"(%a, %b)')
    .replace("%0 =", "%0:2 =")
    .replace("}) : (tensor<4xf32>) -> tensor<4xf32>", f"}}) : ({TWO}) -> ({TWO})")
    + "%2 = stablehlo.tanh %0#0 : tensor<4xf32>\n",
}


@pytest.mark.parametrize("reason", REASONS)
def test_reasons(context, reason):
    found = timeline(context, function(REASONS[reason], "2"))
    assert any(each.reason.startswith(reason) for each in found.collectives), found.collectives


def test_used_at_once(context):
    body = tanh("0", "b") + started("1", "a", "y") + awaited("2", "1") + tanh("3", "2")
    found = timeline(context, function(body, "0, 3"), order="written")
    assert found.collectives[0].reason.startswith("its result is used at once by tanh")


def test_no_memory(context):
    """A value that is fetched early lives beside four values, whose sum is left."""
    kind = "tensor<4xf32>"
    body, total = "", "b"
    for name in ("0", "1", "2", "3"):
        body += tanh(f"t{name}", "b")
        body += f"%{name} = stablehlo.reverse %t{name}, dims = [0] : {kind}\n"
    for name in ("0", "1", "2", "3"):
        body += f"%s{name} = stablehlo.add %{total}, %{name} : {kind}\n"
        total = f"s{name}"
    body += f"%r = stablehlo.reverse %{total}, dims = [0] : {kind}\n" + reduce("4", "a", "y")
    text = function(f"{body}%5 = stablehlo.add %r, %4 : {kind}\n", "5")
    whole, small = (
        timeline(context, text, replace(HARDWARE, bytes_of_memory=size)) for size in (1e9, 1.0)
    )
    assert whole.peak_bytes == small.peak_bytes + 16
    assert (whole.exposed, small.exposed) == (0.0, close(ALONG_Y))
    assert small.collectives[0].reason == "no memory: needs 16 bytes more"


def test_unknown_order(context):
    with pytest.raises(UsageError, match=r"unknown order 'schedule'.*did you mean 'scheduled'"):
        timeline(context, function(BODY, "1, 2"), order="schedule")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_corpus(context, path):
    """Estimates of whole programs are consistent, and scheduling gains or changes nothing."""
    module = parse(path.read_text(), context)
    propagate(module)
    program = partition(module)
    use = resource_use_of(program.module)
    for hardware in (load_hardware("h100"), load_hardware("tpu-v5p")):
        written = run_timeline(use, program.collectives, hardware, "written")
        found = run_timeline(use, program.collectives, hardware)
        cost = estimate(program, hardware, use, found)
        both = written.compute_seconds + sum(each.busy for each in written.collectives)
        assert written.seconds == pytest.approx(both, rel=1e-9)
        assert cost.seconds <= both * (1 + 1e-9)
        assert cost.predicted == found.seconds
        assert cost.overlapped <= found.seconds * (1 + 1e-9)
        assert found.seconds <= written.seconds * (1 + 1e-9)
        assert found.seconds == pytest.approx(found.compute_seconds + found.exposed, rel=1e-9)
        for each in found.collectives:
            assert each.hidden >= -1e-15
            assert each.hidden + each.exposed == pytest.approx(each.queued + each.busy)
        assert sorted(each.index for each in found.collectives) == [
            *range(len(program.collectives))
        ]
