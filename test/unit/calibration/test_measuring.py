# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring: by a machine that takes no time, by JAX, and as a script of its own."""

import json
import os
import signal
import subprocess
import sys

import pytest

from mlir_sdy.diagnostics import UsageError
from pyshardy.calibration.measuring import Measurer, TimedStep, mesh_of, show_nothing, tasks
from pyshardy.calibration.report import read_measurements
from pyshardy.cost.hardware import load_hardware

MESH = {"data": 2, "model": 2}


class Clock:
    """A clock that runs by what is measured."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


class Machine:
    """Takes a microsecond to start a program, and a nanosecond for a byte or a product's row."""

    elements = ("f32",)
    bytes_of_memory = 1e9
    mesh = MESH

    def __init__(self, clock, *, interrupted_after=None, refused="none"):
        self._clock = clock
        self._left = interrupted_after
        self._refused = refused

    def described(self):
        return "4 x nothing", "version 1"

    def agreed(self, value):
        return value

    def program(self, steps, repeats):
        if any(step.kind == self._refused for step in steps):
            raise RuntimeError("no such collective\nat all")
        work = sum((each.nbytes or each.shape[0] * each.times) for each in steps)

        def run():
            if self._left is not None:
                self._left -= 1
                if self._left < 0:
                    raise KeyboardInterrupt
            self._clock.now += 1e-6 + 1e-9 * work * repeats

        return run


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("pyshardy.calibration.measuring.time", clock)
    return clock


def test_times_are_those_of_a_step(clock):
    told = []
    found = Measurer(Machine(clock), 1000).run(lambda *state: told.append(state))
    assert not found.interrupted
    total = len(list(tasks(MESH, ("f32",))))
    assert told[0][:2] == (0, total)
    assert told[-1] == (total, total, "")
    assert len(found.points) + len(found.left_out) == total
    for point in found.points:
        first = point.steps[0]
        if len(point.steps) == 1 and first.nbytes:
            assert point.seconds * first.times == pytest.approx(1e-9 * first.nbytes, rel=0.01)
        assert point.spread == pytest.approx(0, abs=1e-9)
    assert set(found.left_out.values()) == {"takes too much memory"}
    at_once = [point for point in found.points if len(point.steps) == 2]
    assert len(at_once) == 3
    assert all(point.seconds == pytest.approx(sum(point.alone), rel=0.01) for point in at_once)


class SlowToStart(Machine):
    """The first collective of a program takes two microseconds more."""

    def program(self, steps, repeats):
        run = super().program(steps, repeats)

        def late():
            run()
            self._clock.now += 2e-6 * any(step.axes for step in steps)

        return late


def test_the_start_contains_what_the_first_collective_waits(clock):
    found = Measurer(SlowToStart(clock), 1000).run(show_nothing)
    assert found.seconds_of_program == pytest.approx(3e-6, rel=0.01)
    singles = [point for point in found.points if len(point.steps) == 1 and point.steps[0].axes]
    assert all(
        point.seconds == pytest.approx(1e-9 * point.steps[0].nbytes, rel=0.01) for point in singles
    )


def test_what_takes_too_long_is_left_out(clock):
    found = Measurer(Machine(clock), 3).run(show_nothing)
    assert "takes too much time" in found.left_out.values()
    assert clock.now < 4
    kinds = {(point.steps[0].kind, point.steps[0].axes) for point in found.points}
    assert ("all_reduce", ("data", "model")) in kinds, "small sizes of all are measured first"


def test_one_task_is_measured_on_a_machine_that_takes_all_time_to_start(clock):
    found = Measurer(Machine(clock), 0).run(show_nothing)
    assert len(found.points) == 1
    assert {*found.left_out.values()} == {"takes too much time", "takes too much memory"}


def test_an_interrupt_keeps_what_was_measured(clock):
    found = Measurer(Machine(clock, interrupted_after=600), 1000).run(show_nothing)
    assert found.interrupted
    assert 3 < len(found.points) < 40


def test_what_the_devices_refuse_is_left_out(clock):
    found = Measurer(Machine(clock, refused="all_to_all"), 1000).run(show_nothing)
    reasons = {why for what, why in found.left_out.items() if what.startswith("all_to_all")}
    assert reasons == {"no such collective", "takes too much memory"}


def test_names():
    assert str(TimedStep("all_reduce", ("a", "b"), 65536)) == "all_reduce along a, b, 64 KiB"
    assert str(TimedStep("product", shape=(1, 2, 3))) == "product of f32, 1 x 2 x 3"
    assert mesh_of("a:2,b:3") == {"a": 2, "b": 3}
    for text in ("a", "a:0", "a:2,a:2", ":2", "a:x"):
        with pytest.raises(ValueError, match="expected AXIS:SIZE"):
            mesh_of(text)


GOOD = {"kind": "start", "axes": [], "nbytes": 8, "element": "f32", "shape": [0, 0, 0], "times": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.clear(), "no measurements of sdy-calibrate's script"),
        (lambda f: f.update(version=9), "version 9, expected 1; measure again"),
        (lambda f: f.pop("mesh"), "the entry 'mesh' is missing"),
        (lambda f: f.update(bytes_of_memory=0), "'bytes_of_memory' of the file is 0: expected"),
        (lambda f: f["points"][0].update(seconds=-1), "'seconds' of point 1 is -1: expected a pos"),
        (lambda f: f["points"][0].update(steps=[]), "point 1 has 0 steps and 0 times of single"),
        (lambda f: f["points"][0]["steps"][0].update(kind="al"), "'kind' of point 1 is 'al': exp"),
        (lambda f: f["points"][0]["steps"][0].update(axes=["x"]), "point 1 is along 'x', which it"),
        (lambda f: f["points"][0]["steps"][0].update(nbytes=-4), "point 1 has sizes or axes that"),
        (lambda f: f.update(points=3), "'int' object is not iterable; measure again"),
    ],
)
def test_bad_files(tmp_path, clock, change, message):
    found = Measurer(Machine(clock, interrupted_after=200), 1000).run(show_nothing)
    path = tmp_path / "measured.json"
    path.write_text(found.to_json())
    assert read_measurements(path) == found
    entries = json.loads(found.to_json())
    change(entries)
    path.write_text(json.dumps(entries))
    with pytest.raises(UsageError, match=rf"measured\.json: .*{message}"):
        read_measurements(path)
    path.write_text("{")
    with pytest.raises(UsageError, match=r"measured\.json:1:2: it is no JSON of sdy-calibrate's"):
        read_measurements(path)


def test_the_script_runs_alone(tmp_path):
    """It needs JAX and NumPy, and what it writes becomes hardware."""
    tool = [sys.executable, "-m", "pyshardy.cli.calibrate"]
    script, output = tmp_path / "measure.py", tmp_path / "measured.json"
    subprocess.run([*tool, f"--script={script}"], check=True, capture_output=True)
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {packages()!r}; {RUN}"]
    command += [str(script), "--mesh=data:2", "--seconds=3", f"--output={output}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr
    hardware = tmp_path / "mine.toml"
    done = subprocess.run(
        [*tool, f"--from={output}", f"-o={hardware}", "--points"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "start, 16 KiB" in done.stdout
    assert load_hardware(str(hardware)).origin.mesh == "data:2"


RUN = "sys.argv = sys.argv[1:]; import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"


def packages():
    """The folders of packages, without those of this project."""
    return [path for path in sys.path if path.endswith("site-packages")]


TWO_STEPS = (
    "import sys; from pyshardy.calibration import measuring as m; "
    "steps = [m.TimedStep('all_reduce', ('data',), 65536), m.TimedStep('product', shape=(64,) * 3)]"
    "; m.tasks = lambda mesh, elements: iter([(each,) for each in steps]); sys.exit(m.main())"
)


def test_several_processes(tmp_path):
    """They find each other by Slurm's variables, and the first one writes what all measured."""
    output = tmp_path / "measured.json"
    job = {
        "XLA_FLAGS": "",  # of other tests: each process has one device
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_NTASKS": "2",
        "SLURM_STEP_NUM_NODES": "1",
    }
    command = [sys.executable, "-c", TWO_STEPS, "--mesh=data:2", "--distributed", f"-o={output}"]
    runs = [
        subprocess.Popen(
            command,
            env=os.environ | job | {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for run in runs:
        _, said = run.communicate(timeout=120)
        assert run.returncode == 0, said
    found = read_measurements(output)
    assert found.devices == "2 x cpu of 2 processes"
    assert [point.steps[0].kind for point in found.points] == ["all_reduce", "product"]
    assert not found.interrupted


def test_interrupted_from_the_keyboard(tmp_path):
    hardware = tmp_path / "mine.toml"
    # The signal is ignored where a shell runs the tests in the background.
    code = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('pyshardy.cli.calibrate', run_name='__main__')"
    )
    command = [sys.executable, "-c", code, "--mesh=data:1", f"-o={hardware}"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr.readline().startswith("0/")
        run.stderr.readline()
        run.send_signal(signal.SIGINT)
        said = run.stderr.read()
        run.stdout.read()
    assert run.returncode == 0, said
    assert "measuring was interrupted after" in said
    assert load_hardware(str(hardware)).origin.interrupted
