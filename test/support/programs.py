# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of operations whose sharding rules are known, with random shardings."""

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, MeshAxis, TensorSharding

MESHES = (
    Mesh((MeshAxis("a", 2), MeshAxis("b", 2), MeshAxis("c", 4))),
    Mesh((MeshAxis("p", 8), MeshAxis("q", 3), MeshAxis("r", 2))),
)
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24)
UNARY = ("negate", "abs", "tanh", "exponential", "sqrt", "floor")
BINARY = ("add", "multiply", "maximum", "subtract", "divide")

Shape = tuple[int, ...]


def tensor(shape: Shape, element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def random_shape(rng: random.Random, max_rank: int = 3, sizes: Sequence[int] = SIZES) -> Shape:
    return tuple(rng.choice(sizes) for _ in range(rng.randint(0, max_rank)))


def random_sharding(rng: random.Random, rank: int, mesh: Mesh, name: str) -> TensorSharding:
    """A valid sharding: parts of shuffled axes, dealt to dimensions and replicated axes."""
    pieces: list[AxisRef] = []
    for axis in mesh.axes:
        if axis.size in (4, 8) and rng.random() < 0.4:
            cut = rng.choice([2, 4] if axis.size == 8 else [2])
            parts = [AxisRef.sub(axis.name, 1, cut), AxisRef.sub(axis.name, cut, axis.size // cut)]
            pieces.extend(part for part in parts if rng.random() < 0.7)
        else:
            pieces.append(AxisRef(axis.name))
    rng.shuffle(pieces)
    pieces = pieces[: rng.randint(0, len(pieces))]
    dims: list[list[AxisRef]] = [[] for _ in range(rank)]
    replicated: list[AxisRef] = []
    for piece in pieces:
        holder = replicated if not dims or rng.random() < 0.15 else rng.choice(dims)
        if not (holder and holder[-1].can_merge(piece)):
            holder.append(piece)
    ordered: list[AxisRef] = []
    for piece in sorted(replicated, key=mesh.sort_key):
        if not (ordered and ordered[-1].can_merge(piece)):
            ordered.append(piece)
    return TensorSharding(
        name,
        tuple(DimensionSharding(tuple(axes), rng.random() < 0.25) for axes in dims),
        tuple(ordered),
    )


def random_reshape(rng: random.Random, shape: Shape) -> Shape:
    """Another shape with as many elements."""
    primes: list[int] = []
    for size in shape:
        rest = size
        for prime in (2, 3, 5, 7, 11):
            while rest % prime == 0:
                primes.append(prime)
                rest //= prime
    if rng.random() < 0.3:
        rng.shuffle(primes)
    result: list[int] = []
    while primes:
        count = rng.randint(1, min(4, len(primes)))
        result.append(math.prod(primes[:count]))
        primes = primes[count:]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        result.insert(rng.randint(0, len(result)), 1)
    return tuple(result)


@dataclass(frozen=True)
class Callee:
    name: str
    arguments: tuple[Shape, ...]
    results: tuple[Shape, ...]


class ProgramWriter:
    """Writes one function of random operations.

    A subclass may choose the sizes of dimensions and the pointwise operations.
    """

    sizes: Sequence[int] = SIZES
    unary_operations: Sequence[str] = UNARY
    binary_operations: Sequence[str] = BINARY

    def __init__(
        self,
        rng: random.Random,
        mesh: Mesh | None,
        mesh_name: str = "mesh",
        callees: Sequence[Callee] = (),
    ):
        self.rng = rng
        self.mesh = mesh
        self.mesh_name = mesh_name
        self.callees = callees
        self.signature = Callee("", (), ())
        self.values: list[tuple[str, Shape]] = []
        self.lines: list[str] = []
        self._names = itertools.count()

    def sharding(self, rank: int) -> str:
        assert self.mesh is not None
        return str(random_sharding(self.rng, rank, self.mesh, self.mesh_name))

    def attribute(self, rank: int, probability: float) -> str:
        """An attribute dictionary with a sharding for the result, or nothing."""
        if self.mesh is None or self.rng.random() > probability:
            return ""
        return f" {{sdy.sharding = #sdy.sharding_per_value<[{self.sharding(rank)}]>}}"

    def emit(self, text: str, shape: Shape) -> None:
        """Append an operation; `{attributes}` stands for its sharding."""
        name = f"%{next(self._names)}"
        text = text.replace("{attributes}", self.attribute(len(shape), 0.12))
        self.lines.append(f"    {name} = {text}")
        self.values.append((name, shape))

    def pick(self, shape: Shape | None = None) -> tuple[str, Shape]:
        known = [value for value in self.values if shape is None or value[1] == shape]
        return self.rng.choice(known[-8:] if self.rng.random() < 0.7 else known)

    def operation(self) -> None:
        self.rng.choice(
            [
                self.unary,
                self.binary,
                self.binary,
                self.dot_general,
                self.dot_general,
                self.transpose,
                self.broadcast,
                self.reduce,
                self.reshape,
                self.reshape,
                self.select_or_clamp,
                *([self.constraint, self.barrier] if self.mesh is not None else []),
                *([self.call] * 3 if self.callees else []),
            ]
        )()

    def unary(self) -> None:
        name, shape = self.pick()
        operation = self.rng.choice(self.unary_operations)
        self.emit(f"stablehlo.{operation} {name}{{attributes}} : {tensor(shape)}", shape)

    def binary(self) -> None:
        name, shape = self.pick()
        other, _ = self.pick(shape)
        operation = self.rng.choice(self.binary_operations)
        self.emit(f"stablehlo.{operation} {name}, {other}{{attributes}} : {tensor(shape)}", shape)

    def select_or_clamp(self) -> None:
        name, shape = self.pick()
        other, _ = self.pick(shape)
        if self.rng.random() < 0.5:
            self.emit(
                f"stablehlo.clamp {other}, {name}, {other}{{attributes}} : {tensor(shape)}", shape
            )
            return
        self.emit(
            f"stablehlo.compare GT, {name}, {other} : "
            f"({tensor(shape)}, {tensor(shape)}) -> {tensor(shape, 'i1')}",
            shape,
        )
        predicate, _ = self.values.pop()
        self.emit(
            f"stablehlo.select {predicate}, {name}, {other}{{attributes}} : "
            f"{tensor(shape, 'i1')}, {tensor(shape)}",
            shape,
        )

    def dot_general(self) -> None:
        lhs, left = self.pick()
        rhs, right = self.pick()
        free = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
        self.rng.shuffle(free)
        batch: list[tuple[int, int]] = []
        contracting: list[tuple[int, int]] = []
        for i, j in free:
            taken = batch + contracting
            if all(i != x and j != y for x, y in taken):
                (batch if self.rng.random() < 0.35 else contracting).append((i, j))
        taken = batch + contracting
        shape = (
            *(left[i] for i, _ in batch),
            *(a for i, a in enumerate(left) if all(i != x for x, _ in taken)),
            *(b for j, b in enumerate(right) if all(j != y for _, y in taken)),
        )
        if len(shape) > 4:
            return
        clauses = ""
        for word, pairs in (("batching_dims", batch), ("contracting_dims", contracting)):
            if pairs or word == "contracting_dims":
                clauses += f", {word} = {[i for i, _ in pairs]} x {[j for _, j in pairs]}"
        self.emit(
            f"stablehlo.dot_general {lhs}, {rhs}{clauses}{{attributes}} : "
            f"({tensor(left)}, {tensor(right)}) -> {tensor(shape)}",
            shape,
        )

    def transpose(self) -> None:
        name, shape = self.pick()
        permutation = list(range(len(shape)))
        self.rng.shuffle(permutation)
        result = tuple(shape[dim] for dim in permutation)
        self.emit(
            f"stablehlo.transpose {name}, dims = {permutation}{{attributes}} : "
            f"({tensor(shape)}) -> {tensor(result)}",
            result,
        )

    def broadcast(self) -> None:
        name, shape = self.pick()
        result = list(shape)
        dims = list(range(len(shape)))
        for _ in range(self.rng.randint(0, 2)):
            if len(result) < 4:
                position = self.rng.randint(0, len(result))
                result.insert(position, self.rng.choice(self.sizes))
                dims = [dim + (dim >= position) for dim in dims]
        for dim in dims:
            if result[dim] == 1 and self.rng.random() < 0.6:
                result[dim] = self.rng.choice(self.sizes)
        self.emit(
            f"stablehlo.broadcast_in_dim {name}, dims = {dims}{{attributes}} : "
            f"({tensor(shape)}) -> {tensor(tuple(result))}",
            tuple(result),
        )

    def reduce(self) -> None:
        name, shape = self.pick()
        reduced = [dim for dim in range(len(shape)) if self.rng.random() < 0.5]
        result = tuple(size for dim, size in enumerate(shape) if dim not in reduced)
        self.emit("stablehlo.constant dense<0.0> : tensor<f32>", ())
        init, _ = self.values.pop()
        self.emit(
            f"stablehlo.reduce({name} init: {init}) applies stablehlo.add "
            f"across dimensions = {reduced}{{attributes}} : "
            f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}",
            result,
        )

    def reshape(self) -> None:
        name, shape = self.pick()
        result = random_reshape(self.rng, shape)
        self.emit(
            f"stablehlo.reshape {name}{{attributes}} : ({tensor(shape)}) -> {tensor(result)}",
            result,
        )

    def constraint(self) -> None:
        name, shape = self.pick()
        self.emit(
            f"sdy.sharding_constraint {name} {self.sharding(len(shape))} : {tensor(shape)}", shape
        )

    def barrier(self) -> None:
        name, shape = self.pick()
        direction = self.rng.choice(["NONE", "FORWARD", "BACKWARD"])
        self.emit(
            f"sdy.propagation_barrier {name} allowed_direction={direction} : {tensor(shape)}",
            shape,
        )

    def call(self) -> None:
        """A call, whose arguments are reshaped or made of constants where need be."""
        callee = self.rng.choice(self.callees)
        arguments: list[str] = []
        for shape in callee.arguments:
            if all(known != shape for _, known in self.values):
                scalar, _ = self.values[0]
                if self.values[0][1] == ():
                    self.emit(
                        f"stablehlo.broadcast_in_dim {scalar}, dims = [] : "
                        f"(tensor<f32>) -> {tensor(shape)}",
                        shape,
                    )
                else:
                    self.emit(f"stablehlo.constant dense<1.0> : {tensor(shape)}", shape)
            arguments.append(self.pick(shape)[0])
        name = f"%{next(self._names)}"
        types = ", ".join(map(tensor, callee.arguments))
        results = ", ".join(map(tensor, callee.results))
        attributes = ""
        if self.rng.random() < 0.15:
            shardings = ", ".join(self.sharding(len(shape)) for shape in callee.results)
            attributes = f" {{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}}"
        self.lines.append(
            f"    {name}:{len(callee.results)} = func.call @{callee.name}({', '.join(arguments)})"
            f"{attributes} : ({types}) -> ({results})"
        )
        self.values.extend((f"{name}#{at}", shape) for at, shape in enumerate(callee.results))

    def function(self, name: str, num_operations: int, visibility: str = "") -> str:
        """A function of its own arguments, with some results, others dead."""
        arguments: list[str] = []
        base = random_shape(self.rng, sizes=self.sizes) or (8, 4)
        for index in range(self.rng.randint(1, 4)):
            shape = base if self.rng.random() < 0.5 else random_shape(self.rng, sizes=self.sizes)
            attribute = self.attribute(len(shape), 0.6).replace("_per_value<[", "<")
            attribute = attribute.replace("sharding<<", "sharding<").replace(">]>}", ">}")
            arguments.append(f"%a{index}: {tensor(shape)}{attribute}")
            self.values.append((f"%a{index}", shape))
        for _ in range(num_operations):
            self.operation()
        returned = [self.pick() for _ in range(self.rng.randint(1, 3))]
        results: list[str] = []
        for _, shape in returned:
            attribute = self.attribute(len(shape), 0.3).replace("_per_value<[", "<")
            attribute = attribute.replace("sharding<<", "sharding<").replace(">]>}", ">}")
            results.append(f"{tensor(shape)}{attribute}")
        self.signature = Callee(
            name,
            tuple(shape for value, shape in self.values if value.startswith("%a")),
            tuple(shape for _, shape in returned),
        )
        types = ", ".join(tensor(shape) for _, shape in returned)
        names = ", ".join(value for value, _ in returned)
        signature = f"({', '.join(arguments)}) -> ({', '.join(results)})"
        return "\n".join(
            [
                f"  func.func {visibility}@{name}{signature} {{",
                *self.lines,
                f"    return {names} : {types}",
                "  }",
            ]
        )


def random_module(
    seed: int,
    max_operations: int = 14,
    *,
    meshes: Sequence[Mesh] = MESHES,
    writer_class: type[ProgramWriter] = ProgramWriter,
) -> str:
    """A module of one function, sometimes two, with shardings everywhere."""
    rng = random.Random(seed)
    mesh = rng.choice(meshes)
    functions = ["main"] if rng.random() < 0.85 else ["main", "other"]
    bodies = [
        writer_class(rng, mesh).function(name, rng.randint(1, max_operations)) for name in functions
    ]
    return "\n".join([f"sdy.mesh @mesh = {mesh}", *bodies])


def random_module_with_calls(
    seed: int,
    max_operations: int = 8,
    *,
    meshes: Sequence[Mesh] = MESHES,
    writer_class: type[ProgramWriter] = ProgramWriter,
) -> str:
    """A module whose main function calls others, which may call each other."""
    rng = random.Random(seed)
    mesh = rng.choice(meshes)
    callees: list[Callee] = []
    bodies: list[str] = []
    for name in ("f", "g", "h")[: rng.randint(1, 3)]:
        writer = writer_class(rng, mesh, callees=tuple(callees))
        bodies.append(writer.function(name, rng.randint(0, max_operations), "private "))
        callees.append(writer.signature)
    main = writer_class(rng, mesh, callees=tuple(callees))
    bodies.append(main.function("main", rng.randint(1, 2 * max_operations)))
    rng.shuffle(bodies)
    return "\n".join([f"sdy.mesh @mesh = {mesh}", *bodies])
