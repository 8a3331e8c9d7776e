# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring by the backend `mpi`: each process of a job is a device, and runs compiled loops."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.dialect import Context
from mlir_sdy.host_build import describe_build
from pyshardy.backends.mpi_library import mpi_library
from pyshardy.backends.registry import CompileOptions, spmd_program
from pyshardy.calibration.measuring import (
    COLLECTIVES,
    CONVOLUTION,
    GRADIENT,
    PRODUCT,
    TimedStep,
    memory_of_machine,
    mesh_text,
)
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array

_FAST = CompileOptions(optimization=3)


class MpiMachine:
    """The processes of an MPI job; see `Machine`.

    Args:
        mesh: the sizes of the axes; if there are none, one axis `data` along all processes.

    Raises:
        UsageError: the job has another number of processes.
    """

    elements: Sequence[str] = ("f32", "f64")

    def __init__(self, mesh: Mapping[str, int]):
        self._library = mpi_library()
        number = self._library.size
        self.mesh = dict(mesh) or {"data": number}
        total = math.prod(self.mesh.values())
        if total != number:
            message = f"the mesh {mesh_text(self.mesh)} is of {total} devices, but {number}"
            advice = f"start it by 'mpiexec -n {total} sdy-calibrate --backend=mpi ...'"
            raise UsageError(error(f"{message} processes measure: {advice}"))
        self._context = Context()

    @property
    def is_first(self) -> bool:
        """Whether this process is the first one."""
        return self._library.rank == 0

    @property
    def bytes_of_memory(self) -> float:
        """The memory of a process, if all run on this machine."""
        return memory_of_machine() / self._library.size

    def described(self) -> tuple[str, str]:
        """See `Machine`."""
        number = self._library.size
        return f"{number} MPI processes on {platform.machine()}", f"MLIR {describe_build()}"

    def agreed(self, value: float) -> float:
        """See `Machine`."""
        return float(self._library.all_gather(np.array([value]))[0][0])

    def program(self, steps: Sequence[TimedStep], repeats: int) -> Callable[[], None]:
        """See `Machine`."""
        text, inputs = loop_text(self.mesh, steps, repeats)
        module = parse(text, self._context)
        layout = Layout(1, self._library.size)
        program = spmd_program("mpi", module, layout, _FAST)
        every = [inputs] * self._library.size

        def once() -> None:
            program.run(every)

        return once


def loop_text(
    mesh: Mapping[str, int], steps: Sequence[TimedStep], repeats: int
) -> tuple[str, list[Array]]:
    """Return the text of a loop of steps, which returns little, and its inputs.

    Raises:
        NotImplementedError: the dialect `shard` has no such collective, or it is a convolution.
    """
    types: list[str] = []
    inputs: list[Array] = []
    body: list[str] = []
    firsts: list[int] = []
    for number, step in enumerate(steps):
        if step.kind in (CONVOLUTION, GRADIENT):
            raise NotImplementedError("programs for MPI have no fast convolutions")
        first, element = len(types), "f64" if step.element == "f64" else "f32"
        for shape in _shapes(step):
            types.append(f"tensor<{'x'.join(map(str, shape))}x{element}>")
            values = np.sin(np.arange(math.prod(shape))) / math.sqrt(shape[-1])
            inputs.append(values.astype(element.replace("f", "float")).reshape(shape))
        body += _body(mesh, step, number, first, types[first:])
        firsts.append(first)
    if not steps:
        types, inputs = ["tensor<1xf32>"], [np.zeros(1, np.float32)]
    last = [f"%x{at}" for at in range(len(types))]
    for number, first in enumerate(firsts):
        last[first] = f"%new{number}"
    corners = [_corner(at, types[at]) for at in firsts or [0]]
    arguments = ", ".join(f"%a{at}: {kind}" for at, kind in enumerate(types))
    listed, kinds = ", ".join(types), ", ".join(kind for _, kind in corners)
    lines = [
        f"shard.grid @grid(shape = {'x'.join(map(str, mesh.values()))})",
        f"func.func @main({arguments}) -> ({kinds}) {{",
        "  %zero = stablehlo.constant dense<0> : tensor<i32>",
        "  %one = stablehlo.constant dense<1> : tensor<i32>",
        f"  %end = stablehlo.constant dense<{repeats}> : tensor<i32>",
        f"  %r:{len(types) + 1} = stablehlo.while(%i = %zero, "
        f"{', '.join(f'%x{at} = %a{at}' for at in range(len(types)))}) : tensor<i32>, {listed}",
        "  cond {",
        "    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "    stablehlo.return %more : tensor<i1>",
        "  } do {",
        *body,
        "    %next = stablehlo.add %i, %one : tensor<i32>",
        f"    stablehlo.return %next, {', '.join(last)} : tensor<i32>, {listed}",
        "  }",
        *(line for line, _ in corners),
        f"  return {', '.join(f'%out{at}' for at in firsts or [0])} : {kinds}",
        "}",
    ]
    return "\n".join(lines), inputs


def _shapes(step: TimedStep) -> list[tuple[int, ...]]:
    if step.kind in COLLECTIVES:
        return [(step.nbytes // 4,)]
    if step.kind != PRODUCT:
        return [(step.nbytes // 8,)]
    rows, summands, columns = step.shape
    return [(rows, summands), (summands, columns), (columns, summands)]


def _corner(at: int, kind: str) -> tuple[str, str]:
    """Return the slice of the first element of a value after the loop, and its type."""
    rank, element = kind.count("x"), kind.rpartition("x")[2]
    sliced = f"tensor<{'1x' * rank}{element}"
    ranges = ", ".join(["0:1"] * rank)
    return f"  %out{at} = stablehlo.slice %r#{at + 1} [{ranges}] : ({kind}) -> {sliced}", sliced


def _body(
    mesh: Mapping[str, int], step: TimedStep, number: int, first: int, types: Sequence[str]
) -> list[str]:
    """Return the lines that compute the next value `%newN` of a step's first operand `%xFIRST`."""
    own, kind = f"%x{first}", types[0]
    if step.kind == PRODUCT:
        return _products(step, number, first, types)
    if step.kind not in COLLECTIVES:
        lines = [f"    %half{number} = stablehlo.constant dense<0.5> : {kind}"]
        for time in range(step.times):
            new = f"%new{number}" if time == step.times - 1 else f"%t{number}_{time}"
            lines.append(f"    {new} = stablehlo.multiply {own}, %half{number} : {kind}")
            own = new
        return lines
    axes = list(mesh)
    places = [axes.index(axis) for axis in step.axes]
    group = math.prod(mesh[axis] for axis in step.axes)
    count = step.nbytes // 4
    sizes = {"all_gather": count * group, "reduce_scatter": count // group}
    result = f"tensor<{sizes.get(step.kind, count)}xf32>"
    along = f"{own} on @grid grid_axes = {places}"
    spelled = {
        "all_reduce": f"all_reduce {along}",
        "all_gather": f"all_gather {along} gather_axis = 0",
        "reduce_scatter": f"reduce_scatter {along} scatter_dim = 0",
        "all_to_all": f"all_to_all {along} split_axis = 0 concat_axis = 0",
        "collective_permute": f"shift {along} shift_axis = {places[0]} offset = 1 rotate",
    }
    if step.kind == "collective_permute" and len(places) > 1:
        raise NotImplementedError("the dialect shard shifts along one axis")
    n = number
    return [
        f"    %y{n} = shard.{spelled[step.kind]} : {kind} -> {result}",
        f"    %corner{n} = stablehlo.slice %y{n} [0:1] : ({result}) -> tensor<1xf32>",
        f"    %half{n} = stablehlo.constant dense<0.5> : tensor<1xf32>",
        f"    %small{n} = stablehlo.multiply %corner{n}, %half{n} : tensor<1xf32>",
        f"    %new{n} = stablehlo.dynamic_update_slice {own}, %small{n}, %zero"
        f" : ({kind}, tensor<1xf32>, tensor<i32>) -> {kind}",
    ]


def _products(step: TimedStep, number: int, first: int, types: Sequence[str]) -> list[str]:
    rows, _, columns = step.shape
    between = f"tensor<{rows}x{columns}x{types[0].rpartition('x')[2]}"
    contracting = "contracting_dims = [1] x [0]"
    lines: list[str] = []
    own, (kind, wide, narrow) = f"%x{first}", types
    for time in range(step.times):
        new = f"%new{number}" if time == step.times - 1 else f"%t{number}_{time}"
        inner = f"%p{number}_{time}"
        lines += [
            f"    {inner} = stablehlo.dot_general {own}, %x{first + 1}, {contracting}"
            f" : ({kind}, {wide}) -> {between}",
            f"    {new} = stablehlo.dot_general {inner}, %x{first + 2}, {contracting}"
            f" : ({between}, {narrow}) -> {kind}",
        ]
        own = new
    return lines
