# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants that are fitted to the times of hardware whose constants are known."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, collect
from pyshardy.calibration.fitting import (
    calibrate,
    largest_of,
    non_negative_least_squares,
    planned,
)
from pyshardy.calibration.measuring import (
    COLLECTIVES,
    CONVOLUTION,
    ELEMENTWISE,
    GRADIENT,
    PRODUCT,
    PRODUCTS,
    START,
    Measurements,
    Point,
    TimedStep,
    tasks,
)
from pyshardy.calibration.report import (
    constants_table,
    hardware_file,
    remarks,
    residuals_table,
    warnings_of,
)
from pyshardy.cost.hardware import Hardware, Link, load_hardware, warn_of_other_axes
from pyshardy.cost.op_work import Work
from pyshardy.explain.estimate import estimate
from pyshardy.timeline.durations import resource_use_of

MESH = {"data": 4, "model": 2}
TRUE = Hardware(
    "",
    2e13,
    1e12,
    16e9,
    Link(1e10, 1e-5),
    {"data": Link(1e10, 1e-5), "model": Link(1e11, 2e-6)},
    4e-6,
    {"f32": 1e13, "bf16": 2e13},
    half_rate_size=64,
    seconds_per_kernel=3e-6,
)


def seconds_on(hardware, step, mesh):
    """The time of a step on hardware with these constants."""
    if step.kind in COLLECTIVES:
        return planned(step, mesh).traffic(hardware).seconds
    if step.kind in PRODUCTS:
        smallest = step.amount / (2 * largest_of(step))
        return Work(step.amount, 0.0, step.element, smallest).seconds(hardware)
    return hardware.seconds_per_kernel + hardware.work_seconds(0.0, step.amount)


def measured(hardware, noise=0.0, mesh=MESH, *, left=0.8, hidden=0.0, keep=lambda _: True):
    """The measurements of hardware with these constants.

    Collectives leave a part of the rate of products, and hide a part of the other at once.
    """
    chance = random.Random(0)
    found = Measurements(dict(mesh), "8 x device", "jax 0", "2026-11-27", 16e9, interrupted=False)
    for steps in filter(keep, tasks(mesh, ("f32", "bf16"))):
        alone = [seconds_on(hardware, step, mesh) for step in steps]
        seconds = alone[0] * (1 + chance.uniform(-noise, noise))
        if len(steps) == 2:
            part = left if steps[1].kind == PRODUCT else hidden
            seconds = sum(alone) - part * min(alone)
        found.points.append(Point(steps, seconds, noise, tuple(alone) if len(steps) == 2 else ()))
    return found


def test_constants_come_back():
    found = calibrate(measured(TRUE))
    fitted = found.hardware
    assert fitted.bytes_per_second == pytest.approx(1e12, rel=0.02)
    assert fitted.seconds_per_kernel == pytest.approx(3e-6, rel=0.02)
    assert fitted.half_rate_size == pytest.approx(64, rel=0.1)
    assert fitted.flops_by_element == pytest.approx({"f32": 1e13, "bf16": 2e13}, rel=0.05)
    assert fitted.seconds_per_collective == pytest.approx(4e-6, rel=0.02)
    for axis, link in TRUE.axes.items():
        assert fitted.axes[axis].bytes_per_second == pytest.approx(link.bytes_per_second, rel=0.01)
        assert fitted.axes[axis].seconds_to_start == pytest.approx(link.seconds_to_start, rel=0.01)
        assert fitted.axes[axis].lane == "shared"
    assert fitted.compute_while_communicating == 0.8
    assert not found.unseen
    assert max(abs(each.error) for each in found.residuals) < 0.1
    assert fitted.link == Link(fitted.axes["data"].bytes_per_second, fitted.link.seconds_to_start)


@settings(max_examples=15, deadline=None)
@given(
    st.floats(1e9, 1e12),
    st.floats(1e9, 1e12),
    st.floats(1e-6, 1e-4),
    st.floats(0, 0.2),
)
def test_noisy_links(data, model, latency, noise):
    links = {"data": Link(data, latency), "model": Link(model, latency / 2)}
    true = replace(TRUE, axes=links)
    fitted = calibrate(measured(true, noise)).hardware
    for step in (
        TimedStep("all_gather", ("data",), 1 << 26),
        TimedStep("all_reduce", ("model",), 1 << 28),
    ):
        found, expected = (planned(step, MESH).traffic(each).seconds for each in (fitted, true))
        assert found == pytest.approx(expected, rel=noise + 0.05)
    constants = replace(fitted, measured=())
    large = TimedStep("all_gather", ("data",), 1 << 28)
    found, expected = (planned(large, MESH).traffic(each).seconds for each in (constants, true))
    assert found == pytest.approx(expected, rel=1.5 * noise + 0.05)


def test_measured_points_are_interpolated():
    """An all-to-all that is ten times as slow as the ring isn't seen in the constants, but kept."""
    found = measured(TRUE)
    found.points = [
        replace(point, seconds=10 * point.seconds) if point.steps[0].kind == "all_to_all" else point
        for point in found.points
    ]
    fitted = calibrate(found).hardware
    step = TimedStep("all_to_all", ("model", "data"), 3 << 20)
    expected = 10 * planned(step, MESH).traffic(TRUE).seconds
    assert planned(step, MESH).traffic(fitted).seconds == pytest.approx(expected, rel=0.01)
    other = {"data": 8, "model": 2}
    without = planned(step, other).traffic(replace(fitted, measured=()))
    found = planned(step, other).traffic(fitted)
    assert found.seconds > 5 * without.seconds, "groups of 8 are the nearest to those of 16"
    given = replace(fitted, origin=None)
    assert planned(step, other).traffic(given) == without, "who gives tables gives links, too"


CONVOLUTIONS = """
func.func @main(%x: tensor<2x16x16x32xf32>, %k: tensor<3x3xINxOUTxf32>, %dy: tensor<2x16x16x32xf32>)
    -> (tensor<2x16x16x32xf32>, tensor<3x3x32x32xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = GROUPS : i64}
    : (tensor<2x16x16x32xf32>, tensor<3x3xINxOUTxf32>) -> tensor<2x16x16x32xf32>
  %1 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x16x16x32xf32>, tensor<2x16x16x32xf32>) -> tensor<3x3x32x32xf32>
  return %0, %1 : tensor<2x16x16x32xf32>, tensor<3x3x32x32xf32>
}"""


@pytest.mark.parametrize(("features", "depthwise"), [(32, False), (1, True)])
def test_convolutions_have_rates_of_their_own(features, depthwise):
    """Gradients have rates of their own, and so have depthwise convolutions."""
    slower = {CONVOLUTION: 3.0, GRADIENT: 50.0}
    found = measured(TRUE)
    found.points = [
        replace(
            point,
            seconds=3e-6
            + (point.seconds - 3e-6)
            * slower.get(point.steps[0].kind, 1.0)
            * (7.0 if point.steps[0].shape[1] == 9 else 1.0),
        )
        for point in found.points
    ]
    fitted = calibrate(found).hardware
    text = CONVOLUTIONS.replace("IN", str(features)).replace("OUT", "32")
    module = sdy.parse(text.replace("GROUPS", str(32 // features)))
    forward, gradient = resource_use_of(module).work.values()
    for work, factor in ((forward, 3.0 * (7.0 if depthwise else 1.0)), (gradient, 50.0)):
        plain, slow = (replace(work, nbytes=0.0).seconds(each) - 3e-6 for each in (TRUE, fitted))
        assert slow == pytest.approx(factor * plain, rel=0.02)


def test_lanes_and_overlap():
    own = calibrate(measured(TRUE, hidden=0.9, left=0.0)).hardware
    assert {link.lane for link in own.axes.values()} == {"axis"}
    assert own.compute_while_communicating == 0.01
    assert calibrate(measured(TRUE, left=1.3)).hardware.compute_while_communicating == 1


def test_constants_that_were_not_seen():
    kinds = {START, PRODUCT}
    found = measured(TRUE, keep=lambda steps: len(steps) == 1 and steps[0].kind in kinds)
    calibration = calibrate(found)
    names = [each.partition(":")[0] for each in calibration.unseen]
    assert names == [
        "bytes_per_second",
        'axes."data"',
        'axes."model"',
        "link",
        "compute_while_communicating",
    ]
    listed = "\n".join(remarks(found, calibration))
    assert "bytes_per_second: no elementwise operation was measured" in listed
    alone = calibrate(measured(TRUE, mesh={"data": 1}))
    assert 'axes."data": it has one device, the slowest of the others' in alone.unseen
    found = measured(TRUE)
    found.points = [replace(point, seconds=1.0) for point in found.points]
    flat = calibrate(found)
    assert any("times don't grow with the bytes" in each for each in flat.unseen)
    assert 0 < flat.hardware.axes["model"].bytes_per_second < 1e12
    with pytest.raises(UsageError, match=r"no measurements: .* interrupted too early; start it ag"):
        calibrate(measured(TRUE, keep=lambda _: False))


def test_the_file_is_read_back(tmp_path):
    calibration = calibrate(measured(TRUE, 0.1), "my cluster")
    path = tmp_path / "cluster.toml"
    path.write_text(hardware_file(calibration.hardware))
    hardware = load_hardware(str(path))
    assert hardware == calibration.hardware == load_hardware(hardware.text)
    assert hardware.title.startswith("my cluster (measured on 2026-11-27, 8 x device, data:4,mod")
    assert len(residuals_table(calibration).rows) < len(calibration.residuals)
    assert len(residuals_table(calibration, whole=True).rows) == len(calibration.residuals)
    assert constants_table(hardware).title == hardware.title


def test_noise_and_interruptions_are_reported():
    found = measured(TRUE, 0.1)
    assert not list(warnings_of(found))
    found.interrupted = True
    found.points[5] = replace(found.points[5], spread=0.5)
    noisy, interrupted = map(str, warnings_of(found))
    assert "1 measurement of" in noisy
    assert "more than 30%, up to 50%" in noisy
    assert "the rest takes the fitted constants; the file is marked" in interrupted
    hardware = calibrate(found).hardware
    assert hardware.origin.interrupted
    assert hardware.title.endswith(", interrupted)")


@pytest.mark.parametrize(
    ("sizes", "named"),
    [
        (MESH, None),
        ({**MESH, "expert": 1}, None),
        ({"data": 8, "model": 2}, "along data the measured groups"),
        ({**MESH, "expert": 2}, "along expert the measured"),
        ({"data": 2, "model": 4}, "along data, model the measured"),
    ],
)
def test_other_meshes_are_reported(sizes, named):
    hardware = calibrate(measured(TRUE)).hardware
    with collect() as found:
        warn_of_other_axes(hardware, sizes)
    if named is None:
        assert not found
    else:
        (warning,) = map(str, found)
        assert named in warning
        assert "sdy-calibrate --mesh=" + ",".join(f"{a}:{n}" for a, n in sizes.items()) in warning


def test_other_meshes_are_reported_once():
    hardware = calibrate(measured(TRUE)).hardware
    module = sdy.parse("""
        sdy.mesh @mesh = <["data"=8]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
            -> tensor<8xf32> {
          %0 = stablehlo.negate %x : tensor<8xf32>
          return %0 : tensor<8xf32>
        }""")
    sdy.propagate(module)
    with collect() as found:
        program = sdy.partition(module, hardware=hardware)
        estimate(program, hardware)
    assert len(found) == 1
    with collect() as found:
        estimate(program, replace(hardware, name="other"))
    assert len(found) == 1


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(5, 12))
def test_non_negative_least_squares(seed, columns, rows):
    """No gradient of a column points inside, and the gradients of positive columns are zero."""
    rng = np.random.default_rng(seed)
    table, right = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    found = non_negative_least_squares(table, right)
    gradient = table.T @ (right - table @ found)
    assert (found >= 0).all()
    assert (gradient < 1e-6).all()
    assert np.abs(gradient[found > 0]).max(initial=0) < 1e-6


def test_a_time_that_falls_is_raised():
    found = measured(TRUE)
    known = [p for p in found.points if p.steps[0].kind == ELEMENTWISE]
    first = min(known, key=lambda point: point.steps[0].amount)
    found.points[found.points.index(first)] = replace(first, seconds=1.0)
    curve = calibrate(found).hardware.curve(ELEMENTWISE)
    assert list(curve.values) == sorted(curve.values)
    assert curve.values[0] < 1.0
