# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with what the import passes work on.

Constants and broadcast scalars, groups, chains of constraints, loops, branches, manual
computations, calls of functions that are constant and of such that are not.
"""

import random

from programs import MESHES, Callee, ProgramWriter, Shape, random_sharding, tensor

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding

CONSTANT_SHAPE = (8, 4)
CONSTANT_FUNCTIONS = """
  func.func private @constant() -> tensor<8x4xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<8x4xf32>
    %1 = func.call @twice(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  func.func private @twice(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.add %a, %a : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func private @other(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<8x4xf32>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [1]
        : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x4xf32>
  }"""
CONSTANT_CALLEES = (
    Callee("constant", (), (CONSTANT_SHAPE,)),
    Callee("twice", (CONSTANT_SHAPE,), (CONSTANT_SHAPE,)),
    Callee("other", (CONSTANT_SHAPE,), (CONSTANT_SHAPE,)),
)


class ImportWriter(ProgramWriter):
    """Writes functions with constants, groups, data-flow operations and constraints."""

    sizes = (1, 2, 4, 8)
    with_manual_computations = True

    def operation(self) -> None:
        self.rng.choice(
            [
                super().operation,
                super().operation,
                self.constant,
                self.constant,
                self.iota,
                self.broadcast_scalar,
                self.group,
                self.chain,
                self.chain,
                self.optimization_barrier,
                self.loop,
                self.branches,
                *([self.manual_computation] * self.with_manual_computations),
            ]
        )()

    def some_shape(self) -> Shape:
        return self.rng.choice([self.pick()[1], CONSTANT_SHAPE, ()])

    def constant(self) -> None:
        shape = self.some_shape()
        value = self.rng.choice(["1.0", "2.0"])
        self.emit(f"stablehlo.constant{{attributes}} dense<{value}> : {tensor(shape)}", shape)

    def iota(self) -> None:
        shape = self.some_shape() or CONSTANT_SHAPE
        dim = self.rng.randrange(len(shape))
        self.emit(f"stablehlo.iota dim = {dim} : {tensor(shape)}", shape)

    def broadcast_scalar(self) -> None:
        scalars = [name for name, shape in self.values if shape == ()]
        if not scalars:
            self.emit("stablehlo.constant dense<3.0> : tensor<f32>", ())
            scalars = [self.values[-1][0]]
        shape = self.some_shape()
        self.emit(
            f"stablehlo.broadcast_in_dim {self.rng.choice(scalars)}, dims = [] : "
            f"(tensor<f32>) -> {tensor(shape)}",
            shape,
        )

    def group(self) -> None:
        """Ids are such that a group has values of one shape."""
        name, shape = self.pick()
        identity = int("".join(map(str, (len(shape), *shape)))) * 10 + self.rng.randrange(3)
        self.lines.append(f"    sdy.sharding_group {name} group_id={identity} : {tensor(shape)}")

    def closed_sharding(self, rank: int) -> str:
        assert self.mesh is not None
        sharding = random_sharding(self.rng, rank, self.mesh, self.mesh_name)
        return str(sharding.close() if self.rng.random() < 0.8 and rank else sharding)

    def chain(self) -> None:
        name, shape = self.pick()
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            self.emit(
                f"sdy.sharding_constraint {name} {self.closed_sharding(len(shape))} "
                f": {tensor(shape)}",
                shape,
            )
            name = self.values[-1][0]
            if self.rng.random() < 0.3:
                self.unary()

    def optimization_barrier(self) -> None:
        operands = [self.pick() for _ in range(self.rng.randint(1, 3))]
        shapes = [shape for _, shape in operands]
        name = f"%{next(self._names)}"
        attributes = ""
        if self.rng.random() < 0.3:
            shardings = ", ".join(self.sharding(len(shape)) for shape in shapes)
            attributes = f" {{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}}"
        self.lines.append(
            f"    {name}:{len(shapes)} = stablehlo.optimization_barrier{attributes} "
            f"{', '.join(operand for operand, _ in operands)} : {', '.join(map(tensor, shapes))}"
        )
        self.values.extend((f"{name}#{at}", shape) for at, shape in enumerate(shapes))

    def loop(self) -> None:
        """A loop whose body uses a value from outside."""
        name, shape = self.pick()
        other, _ = self.pick(shape)
        kind = tensor(shape)
        constrained = self.closed_sharding(len(shape))
        self.emit(
            f"stablehlo.while(%iter = {name}) : {kind}\n"
            "    cond {\n"
            "      %more = stablehlo.constant dense<true> : tensor<i1>\n"
            "      stablehlo.return %more : tensor<i1>\n"
            "    } do {\n"
            f"      %c = stablehlo.constant dense<4.0> : {kind}\n"
            f"      %in = sdy.sharding_constraint %iter {constrained} : {kind}\n"
            f"      %sum = stablehlo.add {other}, %c : {kind}\n"
            f"      %next = stablehlo.add %sum, {self.rng.choice(['%in', '%iter'])} : {kind}\n"
            f"      stablehlo.return %next : {kind}\n"
            "    }",
            shape,
        )

    def branches(self) -> None:
        one, shape = self.pick()
        other, _ = self.pick(shape)
        kind = tensor(shape)
        self.emit("stablehlo.constant dense<0> : tensor<i32>", ())
        index, _ = self.values.pop()
        self.emit(
            f'"stablehlo.case"({index}) ({{\n'
            f"      %n = stablehlo.negate {one} : {kind}\n"
            f"      %s = stablehlo.add %n, {other} : {kind}\n"
            f"      stablehlo.return %s : {kind}\n"
            "    }, {\n"
            f"      stablehlo.return {other} : {kind}\n"
            f"    }}){{attributes}} : (tensor<i32>) -> {kind}",
            shape,
        )

    def manual_computation(self) -> None:
        """One input that is split along one manual axis, with another one that may be unused."""
        assert self.mesh is not None
        name, shape = self.pick()
        axis = self.rng.choice(self.mesh.axes)
        fitting = [dim for dim, size in enumerate(shape) if size % axis.size == 0]
        manual = [axis.name]
        if self.rng.random() < 0.5:
            manual.append(self.rng.choice([each.name for each in self.mesh.axes]))
        manual = list(dict.fromkeys(manual))
        self.rng.shuffle(manual)
        where = self.rng.choice(fitting) if fitting and self.rng.random() < 0.8 else None
        sharding = str(
            TensorSharding(
                self.mesh_name,
                tuple(
                    DimensionSharding((AxisRef(axis.name),) if dim == where else (), closed)
                    for dim in range(len(shape))
                    for closed in [self.rng.random() < 0.8]
                ),
            )
        )
        local = tuple(size // axis.size if dim == where else size for dim, size in enumerate(shape))
        inner, outer = tensor(local), tensor(shape)
        self.emit(
            f"sdy.manual_computation({name}) in_shardings=[{sharding}] "
            f"out_shardings=[{sharding}] "
            f"manual_axes={{{', '.join(f'{chr(34)}{each}{chr(34)}' for each in manual)}}} "
            f"(%x: {inner}) {{\n"
            f"      %c = stablehlo.constant dense<5.0> : {inner}\n"
            f"      %y = stablehlo.multiply %x, %c : {inner}\n"
            f"      sdy.return %y : {inner}\n"
            f"    }} : ({outer}) -> {outer}",
            shape,
        )


class FlatImportWriter(ImportWriter):
    """Without manual computations."""

    with_manual_computations = False


def random_import_module(
    seed: int, max_operations: int = 14, writer_class: type[ImportWriter] = ImportWriter
) -> str:
    """A module of one function."""
    rng = random.Random(seed)
    mesh = rng.choice(MESHES)
    body = writer_class(rng, mesh).function("main", rng.randint(1, max_operations))
    return f"sdy.mesh @mesh = {mesh}\n{body}"


def random_import_module_with_calls(
    seed: int, max_operations: int = 8, writer_class: type[ImportWriter] = ImportWriter
) -> str:
    """A module whose functions call each other, and functions that are constant."""
    rng = random.Random(seed)
    mesh: Mesh = rng.choice(MESHES)
    callees = list(CONSTANT_CALLEES)
    bodies = [CONSTANT_FUNCTIONS]
    for name in ("f", "g", "h")[: rng.randint(0, 3)]:
        writer = writer_class(rng, mesh, callees=tuple(callees))
        bodies.append(writer.function(name, rng.randint(0, max_operations), "private "))
        callees.append(writer.signature)
    main = writer_class(rng, mesh, callees=tuple(callees))
    bodies.append(main.function("main", rng.randint(1, 2 * max_operations)))
    rng.shuffle(bodies)
    return "\n".join([f"sdy.mesh @mesh = {mesh}", *bodies])
