# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs whose dimensions may be smaller than their number of shards.

Meshes have up to 192 devices with axes of 2, 3, 4 and 6; dimensions have 1 to 16 elements. Any
value may be unreduced or replicated along axes and parts of axes, with constraints and propagation
barriers anywhere. Elements are integers, so that results are equal in whatever order sums are
taken.
"""

import math
import random

from programs import ProgramWriter, Shape, random_reshape, tensor

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, MeshAxis, TensorSharding

AXIS_SIZES = (2, 3, 4, 6)
MAX_DEVICES = 192
SEEDS_IN_BATCH = 100
MAX_ELEMENTS = 1024
"""The elements of a tensor: each of up to 192 devices is simulated."""


def random_mesh(rng: random.Random) -> Mesh:
    """A mesh of up to 192 devices, sometimes in another order."""
    while True:
        sizes = rng.choices(AXIS_SIZES, k=rng.randint(1, 4))
        if math.prod(sizes) <= MAX_DEVICES:
            break
    axes = tuple(map(MeshAxis, "xyzw", sizes))
    count = math.prod(sizes)
    shuffled = rng.random() < 0.1 and count <= 24
    return Mesh(axes, tuple(rng.sample(range(count), count)) if shuffled else ())


def random_sharding(
    rng: random.Random, rank: int, mesh: Mesh, name: str, *, unreduced: bool = True
) -> TensorSharding:
    """A valid sharding: axes and sub-axes for dimensions, unreduced and replicated ones."""
    pieces: list[AxisRef] = []
    for axis in mesh.axes:
        if axis.size in (4, 6) and rng.random() < 0.35:
            cut = rng.choice((2, 3)) if axis.size == 6 else 2
            parts = [AxisRef.sub(axis.name, 1, cut), AxisRef.sub(axis.name, cut, axis.size // cut)]
            pieces += rng.sample(parts, rng.randint(1, 2))
        else:
            pieces.append(AxisRef(axis.name))
    rng.shuffle(pieces)
    pieces = pieces[: rng.randint(0, len(pieces))]
    dims: list[list[AxisRef]] = [[] for _ in range(rank)]
    held: dict[str, list[AxisRef]] = {"unreduced": [], "replicated": []}
    for piece in pieces:
        choice = rng.random()
        if choice < 0.2 and unreduced:
            held["unreduced"].append(piece)
        elif choice < 0.3 or not dims:
            held["replicated"].append(piece)
        else:
            dim = rng.choice(dims)
            if not (dim and dim[-1].can_merge(piece)):
                dim.append(piece)
    return TensorSharding(
        name,
        tuple(DimensionSharding(tuple(axes), rng.random() < 0.4) for axes in dims),
        _ordered(held["replicated"], mesh),
        _ordered(held["unreduced"], mesh),
    )


def _ordered(axes: list[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """Axes in the order of the mesh, without those that would have to be merged."""
    ordered: list[AxisRef] = []
    for axis in sorted(axes, key=mesh.sort_key):
        if not (ordered and ordered[-1].can_merge(axis)):
            ordered.append(axis)
    return tuple(ordered)


class SmallWriter(ProgramWriter):
    """Writes one function of random operations on small tensors of integers."""

    sizes = (*range(1, 17), 1, 1, 2, 2, 3)
    unary_operations = ("negate", "abs")
    binary_operations = ("add", "multiply", "maximum", "subtract", "minimum")
    annotated = 0.35
    """How probable it is that an operation has a sharding of its own."""

    def sharding(self, rank: int) -> str:
        return self.some_sharding(rank, unreduced=False)

    def some_sharding(self, rank: int, *, unreduced: bool) -> str:
        assert self.mesh is not None
        return str(random_sharding(self.rng, rank, self.mesh, self.mesh_name, unreduced=unreduced))

    def emit(self, text: str, shape: Shape) -> None:
        if len(shape) > 3 or math.prod(shape) > MAX_ELEMENTS:
            return
        if "applies stablehlo.add" in text and self.rng.random() < 0.4:
            kind = self.rng.choice(("maximum", "minimum", "multiply"))
            text = text.replace("applies stablehlo.add", f"applies stablehlo.{kind}")
        if text.startswith("stablehlo.constant dense<0.0>") and self.rng.random() < 0.4:
            text = text.replace("0.0", self.rng.choice(("1.0", "-2.0", "3.0")))
        attributes, sharding, is_partial = "", "", False
        if self.rng.random() < self.annotated:
            sharding = self.some_sharding(len(shape), unreduced=True)
            attributes = f"sdy.sharding = #sdy.sharding_per_value<[{sharding}]>"
            is_partial = "attributes}" in text and "unreduced" in sharding
        text = text.replace("{and_attributes}", f", {attributes}" if attributes else "")
        text = text.replace("{attributes}", f" {{{attributes}}}" if attributes else "")
        super().emit(text, shape)
        if is_partial:
            if len(self.lines) < 100 and self.rng.random() < 0.3:
                self.continue_partial(sharding)
            if self.rng.random() < 0.9:
                self.complete()

    def continue_partial(self, sharding: str) -> None:
        """Compute on with the last value, and leave the result partial along the same axes."""
        name, shape = self.values.pop()
        others = [value for value, its_shape in self.values if its_shape == shape]
        operation = self.rng.choice(("negate", "abs", "add", "multiply", "subtract", "maximum"))
        operands = (
            [name] if operation in ("negate", "abs") else [name, self.rng.choice([name, *others])]
        )
        ProgramWriter.emit(
            self,
            f"stablehlo.{operation} {', '.join(operands)} "
            f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}} : {tensor(shape)}",
            shape,
        )

    def complete(self) -> None:
        """Reshard the last value, so that nothing else uses what may be partial."""
        name, shape = self.values.pop()
        operation = self.rng.choice(("reshard", "sharding_constraint"))
        sharding = self.some_sharding(len(shape), unreduced=False)
        self.emit(f"sdy.{operation} {name} {sharding} : {tensor(shape)}", shape)

    def operation(self) -> None:
        if self.rng.random() < 0.5:
            super().operation()
            return
        self.rng.choice(
            (
                self.slice,
                self.slice,
                self.pad,
                self.concatenate,
                self.gather,
                self.reverse,
                self.reduce,
                self.constraint,
                self.barrier,
                self.dynamic_slice,
                self.iota,
                self.convolution,
            )
        )()

    def reduce(self) -> None:
        before = len(self.values)
        name, shape = self.pick()
        reduced = [dim for dim in range(len(shape)) if self.rng.random() < 0.5]
        result = tuple(size for dim, size in enumerate(shape) if dim not in reduced)
        self.emit("stablehlo.constant dense<0.0> : tensor<f32>", ())
        init, _ = self.values[-1]
        del self.values[before:]
        self.emit(
            f"stablehlo.reduce({name} init: {init}) applies stablehlo.add "
            f"across dimensions = {reduced}{{attributes}} : "
            f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}",
            result,
        )

    def select_or_clamp(self) -> None:
        self.binary()

    def reshape(self) -> None:
        name, shape = self.pick()
        result = random_reshape(self.rng, shape)
        if math.prod(result) == math.prod(shape):
            self.emit(
                f"stablehlo.reshape {name}{{attributes}} : ({tensor(shape)}) -> {tensor(result)}",
                result,
            )

    def barrier(self) -> None:
        name, shape = self.pick()
        direction = self.rng.choice(("NONE", "FORWARD", "BACKWARD"))
        self.emit(
            f"sdy.propagation_barrier {name} allowed_direction={direction}{{attributes}} : "
            f"{tensor(shape)}",
            shape,
        )

    def slice(self) -> None:
        name, shape = self.pick()
        starts = [self.rng.choice((0, 0, self.rng.randrange(size))) for size in shape]
        limits = [
            self.rng.choice((size, self.rng.randint(start + 1, size), start + 1))
            for start, size in zip(starts, shape, strict=True)
        ]
        strides = [self.rng.choice((1, 1, 1, 1, 2, 3)) for _ in shape]
        result = tuple(
            -(-(limit - start) // stride)
            for start, limit, stride in zip(starts, limits, strides, strict=True)
        )
        taken = ", ".join(
            f"{start}:{limit}" + (f":{stride}" if stride > 1 else "")
            for start, limit, stride in zip(starts, limits, strides, strict=True)
        )
        self.emit(
            f"stablehlo.slice {name} [{taken}]{{attributes}} : "
            f"({tensor(shape)}) -> {tensor(result)}",
            result,
        )

    def pad(self) -> None:
        name, shape = self.pick()
        low = [self.rng.choice((0, 0, 1, 3, -1)) if size > 2 else 0 for size in shape]
        high = [self.rng.choice((0, 0, 1, 2, -1)) for size in shape]
        high = [
            max(edge, 1 - size - first) for edge, size, first in zip(high, shape, low, strict=True)
        ]
        interior = [self.rng.choice((0, 0, 0, 1)) for _ in shape]
        result = tuple(
            first + size + max(size - 1, 0) * between + last
            for first, size, between, last in zip(low, shape, interior, high, strict=True)
        )
        if any(size < 1 for size in result):
            return
        self.emit("stablehlo.constant dense<0.0> : tensor<f32>", ())
        value, _ = self.values.pop()
        self.emit(
            f"stablehlo.pad {name}, {value}, low = {low}, high = {high}, interior = {interior}"
            f"{{attributes}} : ({tensor(shape)}, tensor<f32>) -> {tensor(result)}",
            result,
        )

    def concatenate(self) -> None:
        name, shape = self.pick()
        if not shape:
            return
        dim = self.rng.randrange(len(shape))
        parts = [(name, shape)]
        for other, its_shape in self.rng.sample(self.values, min(4, len(self.values))):
            if len(its_shape) == len(shape) and all(
                at == dim or a == b for at, (a, b) in enumerate(zip(shape, its_shape, strict=True))
            ):
                parts.append((other, its_shape))
        parts = parts[: self.rng.randint(1, 3)]
        result = list(shape)
        result[dim] = sum(each[dim] for _, each in parts)
        types = ", ".join(tensor(each) for _, each in parts)
        self.emit(
            f"stablehlo.concatenate {', '.join(each for each, _ in parts)}, dim = {dim}"
            f"{{attributes}} : ({types}) -> {tensor(tuple(result))}",
            tuple(result),
        )

    def reverse(self) -> None:
        name, shape = self.pick()
        dims = [dim for dim in range(len(shape)) if self.rng.random() < 0.5]
        self.emit(f"stablehlo.reverse {name}, dims = {dims}{{attributes}} : {tensor(shape)}", shape)

    def dynamic_slice(self) -> None:
        name, shape = self.pick()
        scalars = [value for value, each in self.values if each == ()]
        if not scalars or not shape:
            return
        starts = [self.rng.choice(scalars) for _ in shape]
        sizes = tuple(self.rng.choice((size, self.rng.randint(1, size), 1)) for size in shape)
        types = ", ".join([tensor(shape), *("tensor<f32>" for _ in shape)])
        operands = ", ".join([name, *starts])
        self.emit(
            f"stablehlo.dynamic_slice {operands}, sizes = {list(sizes)}{{attributes}} : "
            f"({types}) -> {tensor(sizes)}",
            sizes,
        )

    def gather(self) -> None:
        """Rows of a tensor by indices, which may be out of bounds."""
        name, shape = self.pick()
        indices = [(value, each) for value, each in self.values if len(each) == 1]
        if not shape or not indices:
            return
        index, (count,) = self.rng.choice(indices)
        windows = [1, *(self.rng.choice((size, self.rng.randint(1, size))) for size in shape[1:])]
        result = (count, *windows[1:])
        self.emit(
            f'"stablehlo.gather"({name}, {index}) <{{dimension_numbers = #stablehlo.gather<'
            f"offset_dims = {list(range(1, len(shape)))}, collapsed_slice_dims = [0], "
            f"start_index_map = [0], index_vector_dim = 1>, "
            f"slice_sizes = array<i64: {', '.join(map(str, windows))}>}}>{{attributes}} : "
            f"({tensor(shape)}, {tensor((count,))}) -> {tensor(result)}",
            result,
        )

    def iota(self) -> None:
        _, shape = self.pick()
        if shape:
            dim = self.rng.randrange(len(shape))
            self.emit(f"stablehlo.iota dim = {dim}{{attributes}} : {tensor(shape)}", shape)

    def convolution(self) -> None:
        """A convolution along one dimension, often of groups of features."""
        candidates = [(value, shape) for value, shape in self.values if len(shape) == 3]
        if not candidates:
            return
        name, (batch, features, size) = self.rng.choice(candidates)
        groups = self.rng.choice([n for n in range(1, features + 1) if features % n == 0])
        kernel = (groups * self.rng.randint(1, 3), features // groups, self.rng.randint(1, 3))
        low, high, stride = (
            self.rng.randint(0, 1),
            self.rng.randint(0, 2),
            self.rng.choice((1, 1, 2)),
        )
        windows = (size + low + high - kernel[2]) // stride + 1
        count = len(self.values)
        self.emit(f"stablehlo.iota dim = 0{{attributes}} : {tensor(kernel)}", kernel)
        if windows < 1 or len(self.values) == count:
            return
        weights, _ = self.values[-1]
        result = (batch, kernel[0], windows)
        numbers = "[b, f, 0]x[o, i, 0]->[b, f, 0]"
        self.emit(
            f"stablehlo.convolution({name}, {weights}) dim_numbers = {numbers}, "
            f"window = {{stride = [{stride}], pad = [[{low}, {high}]]}} {{batch_group_count = 1 : "
            f"i64, feature_group_count = {groups} : i64{{and_attributes}}}} : "
            f"({tensor((batch, features, size))}, {tensor(kernel)}) -> {tensor(result)}",
            result,
        )

    def function(self, name: str, num_operations: int, visibility: str = "") -> str:
        text = super().function(name, num_operations, visibility)
        return text.replace("f32>", "i32>").replace(".0>", ">")


class WriterOnMeshes(SmallWriter):
    """Writes shardings on several meshes of the same devices."""

    meshes: dict[str, Mesh]

    def some_sharding(self, rank: int, *, unreduced: bool) -> str:
        name = self.rng.choice(list(self.meshes))
        return str(random_sharding(self.rng, rank, self.meshes[name], name, unreduced=unreduced))


def meshes_of_same_devices(rng: random.Random) -> dict[str, Mesh]:
    """Two or three meshes with as many devices, with other axes or another order of devices."""
    first = random_mesh(rng)
    meshes = {"mesh": first}
    for name in ("other", "third")[: rng.randint(1, 2)]:
        rest, axes = first.total_size, list[MeshAxis]()
        while rest > 1:
            size = rng.choice([n for n in range(2, rest + 1) if rest % n == 0])
            axes.append(MeshAxis("xabcdefg"[len(axes)], size))
            rest //= size
        ids = first.device_ids
        if rng.random() < 0.2:
            ids = tuple(rng.sample(range(first.total_size), first.total_size))
        meshes[name] = Mesh(tuple(axes), ids)
    return meshes


def small_program(seed: int, max_operations: int = 14, *, several_meshes: bool = False) -> str:
    """A module of one function; see the head of this file."""
    rng = random.Random(seed)
    if several_meshes:
        meshes = meshes_of_same_devices(rng)
        writer = WriterOnMeshes(rng, meshes["mesh"])
        writer.meshes = meshes
    else:
        meshes = {"mesh": random_mesh(rng)}
        writer = SmallWriter(rng, meshes["mesh"])
    body = writer.function("main", rng.randint(1, max_operations))
    return "".join(f"sdy.mesh @{name} = {mesh}\n" for name, mesh in meshes.items()) + body + "\n"
