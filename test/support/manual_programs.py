# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with manual computations, one in the other, and what they compute.

All operations treat the elements of dimension 0 alike, so that a body, which sees a part of them
along its manual axes, computes what it would compute of the whole.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from partition_programs import random_axes
from programs import Shape, tensor

from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding

BATCH = 24
MESH_SIZES = ((2, 2, 2), (2, 3, 2), (4, 2), (2, 6), (3, 2, 2))


@dataclass
class ManualProgram:
    """A program under construction, with manual computations and without.

    Attributes:
        rng: the source of randomness.
        mesh: the devices.
        manual: the lines with manual computations.
        plain: the lines without, of the global program.
        count: how many values there are.
        products: how many products there are, which make numbers large.
    """

    rng: random.Random
    mesh: Mesh
    manual: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    count: int = 0
    products: int = 0

    def name(self) -> str:
        """A name for a value."""
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text: str, batch: int, sharding: TensorSharding | None) -> None:
        """Write an operation with `{B}` for the size of dimension 0 and `{S}` for its sharding."""
        given = (
            "" if sharding is None else f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}"
        )
        self.manual.append(text.replace("{B}", str(batch)).replace("{S}", given))
        self.plain.append(text.replace("{B}", str(BATCH)).replace("{S}", ""))

    def sharding(self, bound: Sequence[str]) -> TensorSharding:
        """A sharding by axes that are not manual around."""
        free = Mesh(tuple(axis for axis in self.mesh.axes if axis.name not in bound) or ())
        axes = random_axes(self.rng, free, 3) if free.axes else ((), (), ())
        return TensorSharding.from_axes("mesh", axes)

    def body(self, value: str, batch: int, bound: tuple[str, ...], depth: int) -> str:
        """Some operations on a value of `batch` x 4 x 4; the last result."""
        for _ in range(self.rng.randint(1, 3)):
            choices = [self.pointwise, self.transpose, self.reshard]
            if self.products < 2:
                choices.append(self.product)
            if depth < 2 and len(bound) < len(self.mesh.axes):
                choices += [self.computation, self.computation]
            operation = self.rng.choice(choices)
            if operation == self.computation:
                value = self.computation(value, batch, bound, depth)
            else:
                value = operation(value, batch, bound)
        return value

    def pointwise(self, value: str, batch: int, bound: tuple[str, ...]) -> str:
        result = self.name()
        name = self.rng.choice(["add", "subtract", "maximum"])
        text = f"{result} = stablehlo.{name} {value}, {value} {{S}} : tensor<{{B}}x4x4xf32>"
        self.emit(text, batch, self.sharding(bound))
        return result

    def transpose(self, value: str, batch: int, bound: tuple[str, ...]) -> str:
        result = self.name()
        shape = "tensor<{B}x4x4xf32>"
        text = (
            f"{result} = stablehlo.transpose {value}, dims = [0, 2, 1] {{S}} : ({shape}) -> {shape}"
        )
        self.emit(text, batch, self.sharding(bound))
        return result

    def product(self, value: str, batch: int, bound: tuple[str, ...]) -> str:
        self.products += 1
        result = self.name()
        shape = "tensor<{B}x4x4xf32>"
        self.emit(
            f"{result} = stablehlo.dot_general {value}, {value}, batching_dims = [0] x [0], "
            f"contracting_dims = [2] x [1] {{S}} : ({shape}, {shape}) -> {shape}",
            batch,
            self.sharding(bound),
        )
        return result

    def reshard(self, value: str, batch: int, bound: tuple[str, ...]) -> str:
        result = self.name()
        shape: Shape = (batch, 4, 4)
        self.manual.append(
            f"{result} = sdy.reshard {value} {self.sharding(bound)} : {tensor(shape)}"
        )
        self.plain.append(f"{result} = stablehlo.convert {value} : {tensor((BATCH, 4, 4))}")
        return result

    def computation(self, value: str, batch: int, bound: tuple[str, ...], depth: int) -> str:
        """A manual computation along some of the axes that are free, which split dimension 0."""
        free = [axis for axis in self.mesh.axes if axis.name not in bound]
        chosen = self.rng.sample(free, self.rng.randint(1, len(free)))
        fitting: list[MeshAxis] = []
        local = batch
        for axis in chosen:
            if local % axis.size == 0:
                local //= axis.size
                fitting.append(axis)
        names = tuple(axis.name for axis in fitting)
        sharding = TensorSharding.from_axes("mesh", (tuple(map(AxisRef, names)), (), ()))
        result, argument = self.name(), self.name()
        outer, inner = tensor((batch, 4, 4)), tensor((local, 4, 4))
        axes = ", ".join(f'"{name}"' for name in names)
        self.manual.append(
            f"{result} = sdy.manual_computation({value}) in_shardings=[{sharding}] "
            f"out_shardings=[{sharding}] manual_axes={{{axes}}} ({argument}: {inner}) {{"
        )
        self.plain.append(f"{argument} = stablehlo.convert {value} : {tensor((BATCH, 4, 4))}")
        last = self.body(argument, local, (*bound, *names), depth + 1)
        self.manual.append(f"sdy.return {last} : {inner}\n}} : ({outer}) -> {outer}")
        self.plain.append(f"{result} = stablehlo.convert {last} : {tensor((BATCH, 4, 4))}")
        return result


def random_manual_program(rng: random.Random) -> tuple[str, str]:
    """A program with manual computations, and one that computes the same without any."""
    sizes = rng.choice(MESH_SIZES)
    mesh = Mesh(tuple(map(MeshAxis, "abcd", sizes)))
    if rng.random() < 0.5:
        devices = list(range(mesh.total_size))
        rng.shuffle(devices)
        mesh = Mesh(mesh.axes, tuple(devices))
    program = ManualProgram(rng, mesh)
    start = program.computation("%a", BATCH, (), 0) if rng.random() < 0.7 else "%a"
    last = program.body(start, BATCH, (), 0)
    whole = tensor((BATCH, 4, 4))
    given = f"{{sdy.sharding = #sdy.sharding{program.sharding(())}}}"
    return tuple(
        f"sdy.mesh @mesh = {mesh}\nfunc.func @main(%a: {whole} {given}) -> {whole} {{\n  "
        + "\n  ".join(lines)
        + f"\n  return {last} : {whole}\n}}\n"
        for lines in (program.manual, program.plain)
    )
