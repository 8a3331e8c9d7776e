# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of collectives of the shard dialect, with the results that they must have."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from shard_model import Model, devices, update_halo

ELEMENTS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i8": np.int8}

SWAP_IN_BRANCHES = """
shard.grid @grid(shape = 2x3)
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %i = shard.process_multi_index on @grid axes = [0] : index
  %c0 = arith.constant 0 : index
  %isfirst = arith.cmpi eq, %i, %c0 : index
  %r = scf.if %isfirst -> tensor<2xf32> {
    %0 = shard.send %a on @grid grid_axes = [0] destination = [1]
      : (tensor<2xf32>) -> tensor<2xf32>
    %1 = shard.recv %a on @grid grid_axes = [0] source = [1] : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  } else {
    %double = stablehlo.add %a, %a : tensor<2xf32>
    %2 = shard.recv %a on @grid grid_axes = [0] source = [0] : (tensor<2xf32>) -> tensor<2xf32>
    %3 = shard.send %double on @grid grid_axes = [0] destination = [0]
      : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
"""


def orders_of_axes(rank):
    """All subsets of the axes of a grid, in all orders."""
    return [
        axes for count in range(rank + 1) for axes in itertools.permutations(range(rank), count)
    ]


@dataclass
class Program:
    """A program under construction: `main` takes and returns all that was added."""

    shape: tuple[int, ...]
    seed: int
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    inputs: list[dict] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    expected: list[dict] = field(default_factory=list)

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)

    def argument(self, shape, element="f32"):
        """A new argument with other whole numbers on each device."""
        dtype = ELEMENTS[element]
        held = {
            device: self.rng.integers(-4, 5, shape).astype(dtype) for device in devices(self.shape)
        }
        self.inputs.append(held)
        self.arguments.append(tensor(shape, element))
        return f"%arg{len(self.inputs) - 1}", held

    def result(self, line, result_type, expected):
        """A new result, which a line computes."""
        name = f"%r{len(self.results)}"
        self.lines.append(f"  {name} = {line}")
        self.results.append((name, result_type))
        self.expected.append(expected)

    def text(self):
        arguments = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(self.arguments))
        types = ", ".join(t for _, t in self.results)
        names = ", ".join(name for name, _ in self.results)
        grid = "x".join(map(str, self.shape))
        body = "\n".join(self.lines)
        return (
            f"shard.grid @grid(shape = {grid})\n"
            f"func.func @main({arguments}) -> ({types}) {{\n{body}\n"
            f"  return {names} : {types}\n}}\n"
        )

    def scattered(self):
        """The arguments of each device, in the order of linear indices."""
        return [[held[device] for held in self.inputs] for device in devices(self.shape)]

    def check(self, outputs):
        """Compare what devices give with what they must, where that is defined."""
        for device, arrays in zip(devices(self.shape), outputs, strict=True):
            for number, expected in enumerate(self.expected):
                if device in expected:
                    np.testing.assert_array_equal(
                        arrays[number],
                        expected[device],
                        err_msg=f"device {device}, {self.lines[number]}",
                        strict=True,
                    )


def tensor(shape, element):
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def every_collective(shape, axes, seed=0, *, bits=True, double="f64"):
    """One of each collective along some axes, of all kinds and along all dimensions.

    Args:
        shape: that of the grid.
        axes: those of the groups.
        seed: for the inputs.
        bits: whether bits are combined, too; XLA on CPU can't.
        double: what floats are converted to; IREE has no `f64`.
    """
    program = Program(shape, seed)
    model = Model(shape, axes)
    size = int(np.prod([shape[axis] for axis in axes], dtype=int))
    on = f"on @grid grid_axes = {list(axes)}" if axes else "on @grid"
    root = [int(program.rng.integers(shape[axis])) for axis in axes]
    small, x = program.argument((2, 3))
    small_type = tensor((2, 3), "f32")
    large_shape = (2 * size, 3 * size)
    large, y = program.argument(large_shape)
    large_type = tensor(large_shape, "f32")

    for dim in (0, 1):
        grown = tensor((2 * size, 3) if dim == 0 else (2, 3 * size), "f32")
        cut_shape = (2, 3 * size) if dim == 0 else (2 * size, 3)
        cut = tensor(cut_shape, "f32")
        program.result(
            f"shard.all_gather {small} {on} gather_axis = {dim} : {small_type} -> {grown}",
            grown,
            model.all_gather(x, dim),
        )
        program.result(
            f"shard.gather {small} {on} gather_axis = {dim} root = {root} "
            f": ({small_type}) -> {grown}",
            grown,
            model.gather(x, dim, root),
        )
        program.result(
            f"shard.all_slice {large} {on} slice_axis = {dim} : {large_type} -> {cut}",
            cut,
            model.all_slice(y, dim),
        )
        program.result(
            f"shard.scatter {large} {on} scatter_dim = {dim} root = {root} "
            f": ({large_type}) -> {cut}",
            cut,
            model.scatter(y, dim, root),
        )
        program.result(
            f"shard.reduce_scatter {large} {on} reduction = max scatter_dim = {dim} "
            f": {large_type} -> {tensor(cut_shape, double)}",
            tensor(cut_shape, double),
            model.reduce_scatter(y, "max", ELEMENTS[double], dim),
        )
        for concat in (0, 1):
            moved_shape = list(large_shape)
            moved_shape[dim] //= size
            moved_shape[concat] *= size
            moved = tensor(moved_shape, "f32")
            program.result(
                f"shard.all_to_all {large} {on} split_axis = {dim} concat_axis = {concat} "
                f": {large_type} -> {moved}",
                moved,
                model.all_to_all(y, dim, concat),
            )
    program.result(
        f"shard.broadcast {small} {on} root = {root} : ({small_type}) -> {small_type}",
        small_type,
        model.broadcast(x, root),
    )
    add_reductions(program, model, on, root, bits=bits, double=double)
    add_shifts(program, model, on, small, x)
    return program


def add_reductions(program, model, on, root, *, bits, double):
    """Every kind of reduction, with and without a conversion before it."""
    number, n = program.argument((2, 2), "i8")
    scalar, s = program.argument((), "f32")
    kinds = ["sum", "max", "min", "product"]
    if bits:
        kinds += ["bitwise_and", "bitwise_or", "bitwise_xor"]
    for kind in kinds:
        program.result(
            f"shard.all_reduce {number} {on} reduction = {kind} "
            f": {tensor((2, 2), 'i8')} -> {tensor((2, 2), 'i64')}",
            tensor((2, 2), "i64"),
            model.all_reduce(n, kind, np.int64),
        )
    program.result(
        f"shard.all_reduce {scalar} {on} reduction = average "
        f": {tensor((), 'f32')} -> {tensor((), double)}",
        tensor((), double),
        model.all_reduce(s, "average", ELEMENTS[double]),
    )
    program.result(
        f"shard.reduce {number} {on} root = {root} "
        f": ({tensor((2, 2), 'i8')}) -> {tensor((2, 2), 'i8')}",
        tensor((2, 2), "i8"),
        model.reduce(n, "sum", np.int8, root),
    )


def add_shifts(program, model, on, small, x):
    """Shifts along each of the axes, both ways, further than there are devices too."""
    small_type = tensor((2, 3), "f32")
    for axis in model.axes:
        count = program.shape[axis]
        for offset, rotate in ((1, False), (-1, True), (count, False), (count + 1, True)):
            program.result(
                f"shard.shift {small} {on} shift_axis = {axis} offset = {offset} "
                f"{'rotate ' if rotate else ''}: {small_type} -> {small_type}",
                small_type,
                model.shift(x, axis, offset, rotate),
            )


def halo_program(shape, split_axes, halos, core, seed=0):
    """One exchange of halos; `core` is the size of what a device has of its own."""
    program = Program(shape, seed)
    dims = [dim for dim, axes in enumerate(split_axes) if axes]
    sizes = [
        size + sum(halos[dims.index(dim)] if dim in dims else (0, 0))
        for dim, size in enumerate(core)
    ]
    value, held = program.argument(sizes)
    # Each element is another one, so that a slip by a place shows.
    for number, array in enumerate(held.values()):
        array[...] = np.arange(array.size).reshape(array.shape) + 1000 * number
    lists = str([list(axes) for axes in split_axes])
    flat = [size for pair in halos for size in pair]
    program.result(
        f"shard.update_halo {value} on @grid split_axes = {lists} halo_sizes = {flat} "
        f": {tensor(sizes, 'f32')}",
        tensor(sizes, "f32"),
        update_halo(shape, held, split_axes, halos),
    )
    return program
