# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure the collectives, the products and the memory of devices, with only JAX and NumPy.

    python measure.py --mesh=data:4,model:2 -o measured.json
    srun python measure.py --mesh=data:16,model:8 --distributed -o measured.json
    sdy-calibrate --from=measured.json -o hardware.toml    # where pyshardy is installed

This file is a module of pyshardy that runs alone; `sdy-calibrate --script` copies it.

1. A program is a loop of one or several independent steps, on all devices at once. Its time less
   that to start a program, divided by the number of iterations, is that of the steps.
2. Collectives are measured in short loops: devices that repeat a collective for long fall into
   step, and wait less for each other than in a program. To start a program contains what the first
   collective waits longer than others. Convolutions are measured without a loop.
3. The time is that of the fastest of several runs; the spread is how far the median is above it.
4. The sizes of each series alternate between small and large ones, so that measurements that are
   interrupted cover all. What would take more time or memory than there is, is left out.
5. With several processes, all measure alike: the first one decides how often and what is left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

VERSION = 1
"""The version of the format of files."""

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute")
PRODUCT, ELEMENTWISE, START = "product", "elementwise", "start"
CONVOLUTION, GRADIENT = "convolution", "gradient"
PRODUCTS = (PRODUCT, CONVOLUTION, GRADIENT)
KIB, MIB = 1 << 10, 1 << 20
SIZES = tuple(
    size * KIB for size in (64, 1024, 4, 16 * 1024, 256, 16, 4 * 1024, 64 * 1024, 256 * 1024)
)
"""The bytes of a collective's operand or result, whichever is larger, in the order of measuring."""

SHAPES = (
    *((size, size, size) for size in (256, 1024)),
    *((32, 1024, 1024), (1024, 32, 1024), (64, 64, 64), (512, 512, 512), (8, 1024, 1024)),
    *((128, 128, 128), (2048, 2048, 2048), (1024, 128, 1024), (4096, 4096, 4096)),
    *((128, 1024, 1024), (1, 1024, 1024), (8192, 8192, 8192)),
)
"""The rows, summands and columns of products, in the order of measuring."""

WINDOW, IMAGE = 9, 256
CONVOLUTIONS = tuple(
    (2 * IMAGE, WINDOW * each, channels) for channels, each in ((32, 32), (32, 1), (8, 8), (64, 64))
)
"""The pixels, summands and channels of convolutions of 3 x 3, and of their gradients.

The images have 16 x 16 pixels. One summand for each place of the window: each channel has a kernel
of its own.
"""

_FEWEST_ROUNDS, _MOST_ROUNDS = 2, 25
_SECONDS_OF_ROUNDS = 0.2
"""The time for repeated runs, if these are between the fewest and the most."""
_LEAST_SECONDS = 5e-3
"""The least time of a run without collectives, so that the start of the program matters little."""
_SHARE_OF_A_TASK = 0.05
_SHARE_OF_MEMORY = 0.25
_FIRST_REPEATS, _MOST_REPEATS = 8, 4096
_IN_SHORT_LOOPS = frozenset((*COLLECTIVES, CONVOLUTION, GRADIENT))
"""The kinds of steps that are repeated as often as the first number says."""


# --- What is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TimedStep:
    """A collective, a product, or a pass over the memory.

    Attributes:
        kind: a kind of collective or product, `elementwise`, or `start` for the smallest kernels.
        axes: the axes of a collective.
        nbytes: the bytes of a collective's operand; those that an elementwise operation accesses.
        element: the elements of products, as in MLIR.
        shape: the rows, summands and columns of a product; see `CONVOLUTIONS`.
        times: how many kernels, or pairs of products, are in an iteration.
    """

    kind: str
    axes: tuple[str, ...] = ()
    nbytes: int = 0
    element: str = "f32"
    shape: tuple[int, int, int] = (0, 0, 0)
    times: int = 1

    @property
    def amount(self) -> float:
        """The bytes, or the operations of a product."""
        return float(self.nbytes or 2 * math.prod(self.shape))

    @property
    def series(self) -> tuple[str, ...]:
        """The kind, the axes and the elements, which steps of several sizes have in common."""
        return self.kind, self.element, *self.axes

    def __str__(self) -> str:
        if self.kind in COLLECTIVES:
            return f"{self.kind} along {', '.join(self.axes)}, {size_text(self.nbytes)}"
        if self.kind in (ELEMENTWISE, START):
            return f"{self.kind}, {size_text(self.nbytes)}"
        return f"{self.kind} of {self.element}, {' x '.join(map(str, self.shape))}"


@dataclass(frozen=True)
class Point:
    """A measurement.

    Attributes:
        steps: the steps, which run at once if there are several.
        seconds: the time of an iteration.
        spread: how far the median of the runs is above the fastest one, as a part of it.
        alone: the times of the steps alone, if there are several.
    """

    steps: tuple[TimedStep, ...]
    seconds: float
    spread: float
    alone: tuple[float, ...] = ()

    def __str__(self) -> str:
        return " beside ".join(map(str, self.steps))


@dataclass
class Measurements:
    """The measurements of a mesh.

    Attributes:
        mesh: the sizes of the axes.
        devices: the devices in words.
        versions: the versions of the software.
        date: the day.
        bytes_of_memory: the memory of a device.
        points: what was measured.
        left_out: what wasn't, with the reasons.
        interrupted: whether it ended before all was measured or left out.
        seconds_of_program: the time to start a program.
    """

    mesh: dict[str, int]
    devices: str
    versions: str
    date: str
    bytes_of_memory: float
    points: list[Point] = field(default_factory=list[Point])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    interrupted: bool = True
    seconds_of_program: float = 0.0

    def to_json(self) -> str:
        """Return the text of a file."""
        return json.dumps({"version": VERSION, **asdict(self)}, indent=1) + "\n"


def size_text(nbytes: float) -> str:
    """Return a number of bytes in KiB or MiB."""
    return f"{nbytes / MIB:g} MiB" if nbytes >= MIB else f"{nbytes / KIB:g} KiB"


def tasks(mesh: Mapping[str, int], elements: Sequence[str]) -> Iterator[tuple[TimedStep, ...]]:
    """Yield what to measure, in order: what all constants need comes first.

    Args:
        mesh: the sizes of the axes.
        elements: the elements of products.
    """
    yield (TimedStep(START, nbytes=16 * KIB, times=16),)
    axes = [axis for axis, size in mesh.items() if size > 1]
    pairs = [pair for at, axis in enumerate(axes) for pair in ((axis, b) for b in axes[at + 1 :])]
    groups: list[tuple[str, ...]] = [*((axis,) for axis in axes), *pairs]
    beside = TimedStep(PRODUCT, shape=(256, 256, 256))
    for index in range(max(len(SIZES), len(SHAPES))):
        if index < len(SHAPES):
            for element in elements:
                yield (TimedStep(PRODUCT, element=element, shape=SHAPES[index]),)
                if index < len(CONVOLUTIONS):
                    for kind in (CONVOLUTION, GRADIENT):
                        yield (TimedStep(kind, element=element, shape=CONVOLUTIONS[index]),)
        if index < len(SIZES):
            size = SIZES[index]
            yield (TimedStep(ELEMENTWISE, nbytes=2 * size),)
            for group in groups:
                devices = math.prod(mesh[axis] for axis in group)
                for kind in COLLECTIVES:
                    operand = size // devices if kind == "all_gather" else size
                    yield (TimedStep(kind, group, max(operand, 4 * devices)),)
        if index == 1:
            for axis in axes:
                yield (TimedStep(COLLECTIVES[0], (axis,), MIB), beside)
            for pair in pairs:
                yield tuple(TimedStep(COLLECTIVES[0], (axis,), MIB) for axis in pair)


# --- Measuring ------------------------------------------------------------------------------------


class Machine(Protocol):
    """The devices of a mesh."""

    @property
    def mesh(self) -> dict[str, int]:
        """The sizes of the axes."""
        ...

    @property
    def elements(self) -> Sequence[str]:
        """The elements whose products are measured."""
        ...

    @property
    def bytes_of_memory(self) -> float:
        """The memory of a device."""
        ...

    def program(self, steps: Sequence[TimedStep], repeats: int) -> Callable[[], None]:
        """Return a function that runs a loop of steps once and waits for its end."""
        ...

    def agreed(self, value: float) -> float:
        """Return the value of the first process."""
        ...

    def described(self) -> tuple[str, str]:
        """Return the devices and the versions in words."""
        ...


class ProgressFunction(Protocol):
    """Is told what is measured."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """Show the state: tasks that are done, all tasks, and the next one."""
        ...


class Measurer:
    """Measures tasks within a time.

    Args:
        machine: the devices.
        seconds: the time for all tasks; the first one may take more.
    """

    def __init__(self, machine: Machine, seconds: float):
        self._machine = machine
        self._seconds = seconds
        self._end = time.perf_counter() + seconds
        self._start = 0.0
        self._known: dict[tuple[str, ...], dict[float, float]] = {}
        devices, versions = machine.described()
        day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        self.found = Measurements(
            dict(machine.mesh), devices, versions, day, machine.bytes_of_memory
        )

    def run(self, progress: ProgressFunction) -> Measurements:
        """Measure all; an interrupt ends this early, and the result says so."""
        todo = list(tasks(self._machine.mesh, self._machine.elements))
        try:
            self._start = self._seconds_to_start()
            self.found.seconds_of_program = self._start
            for number, steps in enumerate(todo):
                progress(number, len(todo), " beside ".join(map(str, steps)))
                self._measure(steps)
            self.found.interrupted = False
            progress(len(todo), len(todo), "")
        except KeyboardInterrupt:
            pass
        return self.found

    def _seconds_to_start(self) -> float:
        """Return the time of a program without steps, or what one with a collective takes more."""
        starts = [self._times(self._machine.program((), 1))[0]]
        axis = max(self._machine.mesh, key=self._machine.mesh.__getitem__, default="")
        if self._machine.mesh.get(axis, 1) > 1:
            smallest = TimedStep(COLLECTIVES[0], (axis,), min(SIZES))
            once, often = (
                self._times(self._machine.program((smallest,), repeats))[0]
                for repeats in (1, _FIRST_REPEATS)
            )
            starts.append(once - (often - once) / (_FIRST_REPEATS - 1))
        return max(starts)

    def _measure(self, steps: tuple[TimedStep, ...]) -> None:
        name = " beside ".join(map(str, steps))
        reason = self._reason_against(steps)
        if reason:
            self.found.left_out[name] = reason
            return
        try:
            self.found.points.append(self._point(steps))
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as refusal:
            self.found.left_out[name] = str(refusal).strip().partition("\n")[0][:200]

    def _reason_against(self, steps: Sequence[TimedStep]) -> str:
        """Return why some steps aren't measured; nothing if they are."""
        memory = self._machine.bytes_of_memory
        if sum(map(self._bytes_of, steps)) > _SHARE_OF_MEMORY * memory:
            return "takes too much memory"
        if not self.found.points:
            return ""  # a file without measurements would be of no use
        expected = sum(map(self._expected, steps)) * (_FEWEST_ROUNDS + 1)
        left = self._end - time.perf_counter()
        too_long = left <= 0 or expected > min(left, _SHARE_OF_A_TASK * self._seconds)
        return "takes too much time" if self._machine.agreed(float(too_long)) else ""

    def _bytes_of(self, step: TimedStep) -> float:
        if step.kind in COLLECTIVES:
            devices = math.prod(self._machine.mesh[axis] for axis in step.axes)
            return step.nbytes * (2 + (devices if step.kind == "all_gather" else 1))
        if step.kind in (ELEMENTWISE, START):
            return step.nbytes
        rows, summands, columns = step.shape
        return 4 * (rows * (summands + columns) + 2 * summands * columns)

    def _expected(self, step: TimedStep) -> float:
        """Return the expected time: that of a larger step of the series; 0 without any step."""
        known = self._known.get(step.series)
        if not known:
            return 0.0
        largest = max(known)
        amount = min((each for each in known if each >= step.amount), default=largest)
        return known[amount] * step.times * max(step.amount / amount, 1.0)

    def _point(self, steps: tuple[TimedStep, ...]) -> Point:
        if len(steps) == 1:
            seconds, spread = self._seconds_of(steps)
            (step,) = steps
            self._known.setdefault(step.series, {})[step.amount] = seconds
            count = 2 if step.kind == PRODUCT else step.times  # products come in pairs
            return Point(steps, seconds / count, spread)
        first, second = steps
        alone = [self._seconds_of((first,))[0], self._seconds_of((second,))[0]]
        if second.kind == PRODUCT:
            times = min(max(round(alone[0] / alone[1]), 1), 64)
            second = TimedStep(PRODUCT, element=second.element, shape=second.shape, times=times)
            alone[1] = self._seconds_of((second,))[0]
        seconds, spread = self._seconds_of((first, second))
        return Point((first, second), seconds, spread, tuple(alone))

    def _seconds_of(self, steps: Sequence[TimedStep]) -> tuple[float, float]:
        """Return the time of an iteration, and its spread."""
        expected = [self._expected(step) for step in steps]
        is_short = all(step.kind in _IN_SHORT_LOOPS for step in steps)
        known = all(expected) and not is_short
        repeats = self._repeats(_LEAST_SECONDS / sum(expected) if known else _FIRST_REPEATS)
        tries = 1 if is_short else 3
        while True:
            run, tries = self._machine.program(steps, repeats), tries - 1
            fastest, median = self._times(run)
            seconds = max(fastest - self._start, 0.02 * fastest) / repeats
            enough = not tries or fastest >= _LEAST_SECONDS / 2 or repeats == _MOST_REPEATS
            if self._machine.agreed(float(enough)):
                return seconds, median / fastest - 1
            repeats = self._repeats(2 * _LEAST_SECONDS / seconds)

    def _repeats(self, wanted: float) -> int:
        return int(self._machine.agreed(min(max(math.ceil(wanted), 1), _MOST_REPEATS)))

    def _times(self, run: Callable[[], None]) -> tuple[float, float]:
        """Return the shortest and the median time of repeated runs, after a first that warms up."""
        run()
        times: list[float] = []
        rounds = _FEWEST_ROUNDS
        while len(times) < rounds:
            started = time.perf_counter()
            run()
            times.append(time.perf_counter() - started)
            if len(times) == 1:
                wanted = self._machine.agreed(_SECONDS_OF_ROUNDS / max(times[0], 1e-9))
                rounds = int(min(max(wanted, _FEWEST_ROUNDS), _MOST_ROUNDS))
        fastest, median = min(times), statistics.median(times)
        return self._machine.agreed(fastest), self._machine.agreed(median)


# --- JAX ------------------------------------------------------------------------------------------


_TYPES = {"f32": "float32", "f32-highest": "float32", "bf16": "bfloat16", "f16": "float16"}


class JaxMachine:
    """The devices of JAX, in one process or several.

    Args:
        mesh: the sizes of the axes; if there are none, one axis `data` along all devices.

    Raises:
        ValueError: JAX has another number of devices.
    """

    def __init__(self, mesh: Mapping[str, int]):
        jax = _jax()
        devices = jax.devices()
        self.mesh = dict(mesh) or {"data": len(devices)}
        total = math.prod(self.mesh.values())
        several = jax.process_count() > 1
        if total > len(devices) or (several and total != len(devices)):
            raise ValueError(
                f"the mesh {mesh_text(self.mesh)} is of {total} devices, but JAX has "
                f"{len(devices)} ({devices[0].platform})"
            )
        self._jax = jax
        self._is_cpu = devices[0].platform == "cpu"
        self._device = jax.local_devices()[0]
        grid = np.array(devices[:total]).reshape(tuple(self.mesh.values()))
        self._mesh = jax.sharding.Mesh(grid, tuple(self.mesh))
        self._spec = jax.sharding.PartitionSpec(tuple(self.mesh))
        self.elements = ("f32", "bf16") if self._is_cpu else tuple(_TYPES)

    @property
    def bytes_of_memory(self) -> float:
        """The memory of a device; its part of the machine's for virtual devices."""
        stats = None if self._is_cpu else self._device.memory_stats()
        if stats and "bytes_limit" in stats:
            return float(stats["bytes_limit"])
        return memory_of_machine() / self._jax.local_device_count()

    def described(self) -> tuple[str, str]:
        """See `Machine`."""
        hosts = self._jax.process_count()
        number = math.prod(self.mesh.values())
        devices = f"{number} x {self._device.device_kind}"
        devices += f" of {hosts} processes" if hosts > 1 else ""
        return devices, f"jax {self._jax.__version__}, jaxlib {version('jaxlib')}"

    def agreed(self, value: float) -> float:
        """See `Machine`."""
        if self._jax.process_count() == 1:
            return value
        several: Any = import_module("jax.experimental.multihost_utils")
        return float(several.broadcast_one_to_all(np.float32(value)))

    def program(self, steps: Sequence[TimedStep], repeats: int) -> Callable[[], None]:
        """See `Machine`."""
        jax = self._jax
        jnp, lax = jax.numpy, jax.lax
        shapes: list[tuple[tuple[int, ...], str]] = []
        bodies: list[tuple[int, int, Callable[..., Any]]] = []
        for step in steps:
            operands, body = self._step(step)
            bodies.append((len(shapes), len(operands), body))
            shapes += operands
        if not steps:
            shapes = [((8,), "float32")]

        def iteration(_: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            changed = list(state)
            for first, count, body in bodies:
                changed[first] = body(*state[first : first + count])
            return tuple(changed)

        def whole(*state: Any) -> tuple[Any, ...]:
            if not steps:
                return (state[0] + 1,)
            # XLA has other, far slower kernels for gradients of convolutions in loops on CPUs.
            is_unrolled = any(step.kind in (CONVOLUTION, GRADIENT) for step in steps)
            return lax.fori_loop(0, repeats, iteration, state, unroll=is_unrolled)

        count = len(shapes)
        specs = (self._spec,) * count
        run = jax.jit(_on_shards(self._mesh, whole, specs), donate_argnums=range(count))
        total = math.prod(self.mesh.values())
        sharding = jax.sharding.NamedSharding(self._mesh, self._spec)

        def values() -> tuple[Any, ...]:
            return tuple(
                (jnp.sin(jnp.arange(math.prod(shape) * total)) / math.sqrt(shape[-1]))
                .reshape(shape[0] * total, *shape[1:])
                .astype(kind)
                for shape, kind in shapes
            )

        state = jax.jit(values, out_shardings=(sharding,) * count)()

        def once() -> None:
            nonlocal state
            state = jax.block_until_ready(run(*state))

        return once

    def _step(
        self, step: TimedStep
    ) -> tuple[list[tuple[tuple[int, ...], str]], Callable[..., Any]]:
        """Return the shapes of a step's operands, and the function that changes the first."""
        lax = self._jax.lax
        if step.kind in COLLECTIVES:
            communicate = self._collective(step)

            def exchange(x: Any) -> Any:
                # Only one element depends on the result, so that little is computed.
                return x.at[0].set(0.5 * lax.optimization_barrier(communicate(x))[0])

            return [((step.nbytes // 4,), "float32")], exchange
        if step.kind == ELEMENTWISE:
            return [((step.nbytes // 8,), "float32")], _halved_and_raised
        if step.kind == START:

            def compute(x: Any) -> Any:
                # A sum and its user are two kernels.
                for _ in range(step.times // 2):
                    x = 0.5 * x + x.sum()
                return x

            return [((step.nbytes // 8,), "float32")], compute
        kind = _TYPES[step.element]
        rows, summands, columns = step.shape
        if step.kind != PRODUCT:
            return self._convolution(step, kind)
        precision = "highest" if step.element.endswith("-highest") else None

        def multiply(x: Any, wide: Any, narrow: Any) -> Any:
            for _ in range(step.times):
                between = lax.dot(x, wide, precision=precision)
                x = lax.dot(between, narrow, precision=precision)
            return x

        shapes = ((rows, summands), (summands, columns), (columns, summands))
        return [(shape, kind) for shape in shapes], multiply

    def _convolution(
        self, step: TimedStep, kind: str
    ) -> tuple[list[tuple[tuple[int, ...], str]], Callable[..., Any]]:
        jax = self._jax
        rows, summands, channels = step.shape
        size = math.isqrt(IMAGE)
        images, kernel = (rows // IMAGE, size, size, channels), (3, 3, summands // WINDOW, channels)

        def convolved(x: Any, weights: Any) -> Any:
            return jax.lax.conv_general_dilated(
                x,
                weights,
                (1, 1),
                "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
                feature_group_count=channels * WINDOW // summands,
                precision="highest" if step.element.endswith("-highest") else None,
            )

        def corrected(x: Any, weights: Any, y: Any) -> Any:
            # The images change, so that no gradient is that of the iteration before.
            return x + jax.vjp(partial(convolved, x), weights)[1](y)[0][0, 0, 0, 0]

        if step.kind == CONVOLUTION:
            return [(images, kind), (kernel, kind)], convolved
        return [(images, kind), (kernel, kind), (images, kind)], corrected

    def _collective(self, step: TimedStep) -> Callable[[Any], Any]:
        lax, axes = self._jax.lax, step.axes
        devices = math.prod(self.mesh[axis] for axis in axes)
        ring = [(at, (at + 1) % devices) for at in range(devices)]
        functions: dict[str, Callable[[Any], Any]] = {
            "all_reduce": partial(lax.psum, axis_name=axes),
            "all_gather": partial(lax.all_gather, axis_name=axes, tiled=True),
            "reduce_scatter": partial(lax.psum_scatter, axis_name=axes, tiled=True),
            "all_to_all": partial(
                lax.all_to_all, axis_name=axes, split_axis=0, concat_axis=0, tiled=True
            ),
            "collective_permute": partial(lax.ppermute, axis_name=axes, perm=ring),
        }
        return functions[step.kind]


def _halved_and_raised(x: Any) -> Any:
    return 0.5 * x + 1


def _jax() -> Any:
    """Return JAX, loaded when devices are asked for: after `use_cpu_devices`."""
    return import_module("jax")


def _on_shards(mesh: Any, function: Callable[..., Any], specs: Sequence[Any]) -> Any:
    """Return `shard_map` of a function, in this release of JAX, without checks of replication."""
    about = {"mesh": mesh, "in_specs": specs, "out_specs": specs}
    if hasattr(_jax(), "shard_map"):
        return _jax().shard_map(function, check_vma=False, **about)
    return import_module("jax.experimental.shard_map").shard_map(function, check_rep=False, **about)


def use_cpu_devices(number: int) -> None:
    """Give JAX as many virtual devices as a mesh has, for machines without others."""
    if "host_platform_device_count" not in os.environ.get("XLA_FLAGS", "") and number > 1:
        _jax().config.update("jax_num_cpu_devices", number)


def memory_of_machine() -> float:
    """Return the bytes of the machine's memory."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


# --- The command ----------------------------------------------------------------------------------


def mesh_text(mesh: Mapping[str, int]) -> str:
    """Return a mesh as the flag `--mesh` takes it."""
    return ",".join(f"{axis}:{size}" for axis, size in mesh.items())


def mesh_of(text: str) -> dict[str, int]:
    """Return the sizes of the axes of a text such as `data:4,model:2`.

    Raises:
        ValueError: it is no such text.
    """
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        axis, _, size = part.partition(":")
        if not axis or not size.isdecimal() or int(size) < 1 or axis in found:
            raise ValueError(f"'{part}' in the mesh '{text}': expected AXIS:SIZE, once for an axis")
        found[axis] = int(size)
    return found


def show_progress(done: int, total: int, what: str) -> None:
    """Print the state of measuring on standard error: on one line of a terminal, else sometimes."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r\033[K{done}/{total} {what}"[:100], end=end, file=sys.stderr, flush=True)
    elif done % max(total // 10, 1) == 0:
        print(f"{done}/{total} {what}".rstrip(), file=sys.stderr, flush=True)


def show_nothing(done: int, total: int, what: str) -> None:
    """Stand for the progress in other processes than the first."""


def measure_with_jax(
    mesh: Mapping[str, int], seconds: float, progress: ProgressFunction = show_progress
) -> tuple[Measurements, bool]:
    """Return the measurements of JAX's devices, and whether this is the first process.

    Raises:
        ValueError: JAX has fewer devices than the mesh.
    """
    machine = JaxMachine(mesh)
    is_first = _jax().process_index() == 0
    found = Measurer(machine, seconds).run(progress if is_first else show_nothing)
    return found, is_first


def end_as_by_keyboard() -> None:
    """Treat the signal of a scheduler that ends a job as an interrupt from the keyboard."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mesh", default="", help="axes: data:4,model:2 (default: one axis)")
    parser.add_argument("--seconds", type=float, default=150, help="time (default: %(default)s)")
    parser.add_argument("--distributed", action="store_true", help="several processes")
    parser.add_argument("-o", "--output", default="measured.json", help="default: %(default)s")
    options = parser.parse_args()
    end_as_by_keyboard()
    try:
        if not 0 <= options.seconds < math.inf:
            raise ValueError(f"--seconds is {options.seconds}: expected a number of at least 0")
        mesh = mesh_of(options.mesh)
        if options.distributed:
            _jax().distributed.initialize()
        else:
            use_cpu_devices(math.prod(mesh.values()))
        if _jax().process_index() == 0:
            Path(options.output).open("a").close()  # fails before the time is spent
        found, is_first = measure_with_jax(mesh, options.seconds)
    except (OSError, ValueError) as reason:
        print(f"{sys.argv[0]}: {reason}", file=sys.stderr)
        return 1
    if is_first:
        Path(options.output).write_text(found.to_json(), encoding="utf-8")
        ending = ", interrupted" if found.interrupted else ""
        print(f"{options.output}: {len(found.points)} measurements{ending}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
