# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with control flow, manual computations, groups and priorities."""

import random
from collections.abc import Sequence
from dataclasses import replace

from programs import MESHES, ProgramWriter, Shape, random_sharding, tensor

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding


class FlowWriter(ProgramWriter):
    """Writes a function with regions into which values flow."""

    def __init__(
        self,
        rng: random.Random,
        mesh: Mesh,
        priorities: bool = False,
        shards_operations: bool = True,
    ):
        super().__init__(rng, mesh)
        self.priorities = priorities
        self.shards_operations = shards_operations
        self._groups: list[Shape] = []
        self._grouped: set[str] = set()

    def sharding(self, rank: int) -> str:
        assert self.mesh is not None
        sharding = random_sharding(self.rng, rank, self.mesh, self.mesh_name)
        if self.priorities:
            dims = tuple(
                replace(dim, priority=self.rng.choice([None, 0, 1, 2]))
                if dim.axes or not dim.is_closed
                else dim
                for dim in sharding.dim_shardings
            )
            sharding = replace(sharding, dim_shardings=dims)
        return str(sharding)

    def emit(self, text: str, shape: Shape) -> None:
        if not self.shards_operations:
            text = text.replace("{attributes}", "")
        super().emit(text, shape)

    def operation(self) -> None:
        if self.rng.random() < 0.6:
            super().operation()
            return
        self.rng.choice(
            [
                self.while_loop,
                self.while_loop,
                self.case,
                self.optimization_barrier,
                self.manual_computation,
                self.manual_computation,
                self.dynamic_slice,
                self.dynamic_update_slice,
                self.group,
            ]
        )()

    # --- Operations ---------------------------------------------------------------------------

    def several(self, count: int) -> list[tuple[str, Shape]]:
        return [self.pick() for _ in range(count)]

    def emit_several(self, lines: Sequence[str], shapes: Sequence[Shape]) -> None:
        """Append an operation of several results; `{results}` stands for their name."""
        name = f"%{next(self._names)}"
        result = name if len(shapes) == 1 else f"{name}:{len(shapes)}"
        first, *rest = lines
        attributes = ""
        if self.shards_operations and self.rng.random() < 0.15:
            shardings = ", ".join(self.sharding(len(shape)) for shape in shapes)
            attributes = f" {{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}}"
        self.lines.append(f"    {result} = {first}")
        self.lines.extend(line.replace("{attributes}", attributes) for line in rest)
        for at, shape in enumerate(shapes):
            self.values.append((name if len(shapes) == 1 else f"{name}#{at}", shape))

    def inner_lines(self, values: list[tuple[str, Shape]], captured: bool) -> list[str]:
        """A few element-wise operations; replaces the `values` by what is made of them."""
        lines: list[str] = []
        for _ in range(self.rng.randint(0, 4)):
            at = self.rng.randrange(len(values))
            value, shape = values[at]
            same = [name for name, other in values if other == shape]
            if captured:
                same += [name for name, other in self.values if other == shape]
            name = f"%{next(self._names)}"
            if self.rng.random() < 0.5:
                operation = f"stablehlo.{self.rng.choice(self.unary_operations)} {value}"
            else:
                operation = (
                    f"stablehlo.{self.rng.choice(self.binary_operations)} "
                    f"{value}, {self.rng.choice(same)}"
                )
            lines.append(f"      {name} = {operation} : {tensor(shape)}")
            values[at] = name, shape
        return lines

    def while_loop(self) -> None:
        operands = self.several(self.rng.randint(1, 3))
        shapes = [shape for _, shape in operands]
        labels = [f"%i{next(self._names)}" for _ in operands]
        types = ", ".join(map(tensor, shapes))
        inits = ", ".join(
            f"{label} = {name}" for label, (name, _) in zip(labels, operands, strict=True)
        )
        predicate = f"%{next(self._names)}"
        values = list(zip(labels, shapes, strict=True))
        body = self.inner_lines(values, captured=True)
        returned = ", ".join(name for name, _ in values)
        self.emit_several(
            [
                f"stablehlo.while({inits}) : {types}{{attributes}} cond {{".replace(
                    "{attributes}", ""
                ),
                f"      {predicate} = stablehlo.constant dense<true> : tensor<i1>",
                f"      stablehlo.return {predicate} : tensor<i1>",
                "    } do {",
                *body,
                f"      stablehlo.return {returned} : {types}",
                "    }",
            ],
            shapes,
        )

    def case(self) -> None:
        shapes = [shape for _, shape in self.several(self.rng.randint(1, 2))]
        types = ", ".join(map(tensor, shapes))
        index = f"%{next(self._names)}"
        self.lines.append(f"    {index} = stablehlo.constant dense<0> : tensor<i32>")
        branches: list[str] = []
        count = self.rng.randint(1, 3)
        for branch in range(count):
            values = [self.pick(shape) for shape in shapes]
            inner = self.inner_lines(values, captured=True)
            branches += [
                *inner,
                f"      stablehlo.return {', '.join(name for name, _ in values)} : {types}",
                "    }, {" if branch + 1 < count else "    }) : (tensor<i32>) -> " + f"({types})",
            ]
        self.emit_several([f'"stablehlo.case"({index}) ({{', *branches], shapes)

    def optimization_barrier(self) -> None:
        operands = self.several(self.rng.randint(1, 3))
        names = ", ".join(name for name, _ in operands)
        types = ", ".join(tensor(shape) for _, shape in operands)
        self.emit_several(
            [f"stablehlo.optimization_barrier {names} : {types}"], [shape for _, shape in operands]
        )

    def dynamic_slice(self) -> None:
        name, shape = self.pick()
        if not shape:
            return
        sizes = tuple(self.rng.choice([size, max(1, size // 2)]) for size in shape)
        self._with_indices(
            len(shape),
            lambda indices, types: (
                f"stablehlo.dynamic_slice {', '.join((name, *indices))}, sizes = {list(sizes)}"
                f"{{attributes}} : ({', '.join((tensor(shape), *types))}) -> {tensor(sizes)}"
            ),
            sizes,
        )

    def dynamic_update_slice(self) -> None:
        name, shape = self.pick()
        candidates = [
            (other, smaller)
            for other, smaller in self.values
            if len(smaller) == len(shape)
            and all(a <= b for a, b in zip(smaller, shape, strict=True))
        ]
        update, smaller = self.rng.choice(candidates)
        self._with_indices(
            len(shape),
            lambda indices, types: (
                f"stablehlo.dynamic_update_slice {', '.join((name, update, *indices))}"
                f"{{attributes}} : ({', '.join((tensor(shape), tensor(smaller), *types))}) "
                f"-> {tensor(shape)}"
            ),
            shape,
        )

    def _with_indices(self, rank, write, result: Shape) -> None:
        indices: list[str] = []
        for _ in range(rank):
            index = f"%{next(self._names)}"
            self.lines.append(f"    {index} = stablehlo.constant dense<0> : tensor<i32>")
            indices.append(index)
        self.emit(write(indices, ["tensor<i32>"] * rank), result)

    def group(self) -> None:
        """Put a value into a group of its shape, unless it is in one already."""
        name, shape = self.pick()
        if name in self._grouped:
            return
        self._grouped.add(name)
        fitting = [group for group, other in enumerate(self._groups) if other == shape]
        if fitting and self.rng.random() < 0.8:
            group = self.rng.choice(fitting)
        else:
            group = len(self._groups)
            self._groups.append(shape)
        self.lines.append(f"    sdy.sharding_group {name} group_id={group} : {tensor(shape)}")

    def manual_computation(self) -> None:
        """Operands and results with random manual parts, computed on their local parts."""
        assert self.mesh is not None
        rng, mesh = self.rng, self.mesh
        manual = [axis.name for axis in mesh.axes if rng.random() < 0.5]
        operands = self.several(rng.randint(1, 2))
        placed = [self._manual_sharding(shape, manual) for _, shape in operands]
        labels = [f"%m{next(self._names)}" for _ in operands]
        local = [
            self._local(shape, sharding, manual)
            for (_, shape), sharding in zip(operands, placed, strict=True)
        ]
        values = list(zip(labels, local, strict=True))
        body = self.inner_lines(values, captured=False)
        picked = [rng.randrange(len(values)) for _ in range(rng.randint(1, 2))]
        results = [operands[at][1] for at in picked]
        out = [self._like_manual(placed[at], manual) for at in picked]
        names = ", ".join(name for name, _ in operands)
        arguments = ", ".join(
            f"{label}: {tensor(shape)}" for label, shape in zip(labels, local, strict=True)
        )
        returned = ", ".join(values[at][0] for at in picked)
        local_types = ", ".join(tensor(local[at]) for at in picked)
        types = ", ".join(tensor(shape) for _, shape in operands)
        result_types = ", ".join(map(tensor, results))
        axes = ", ".join(f'"{name}"' for name in manual)
        self.emit_several(
            [
                f"sdy.manual_computation({names}) "
                f"in_shardings=[{', '.join(map(str, placed))}] "
                f"out_shardings=[{', '.join(map(str, out))}] "
                f"manual_axes={{{axes}}} ({arguments}) {{",
                *body,
                f"      sdy.return {returned} : {local_types}",
                f"    }} : ({types}) -> ({result_types})",
            ],
            results,
        )

    def _manual_sharding(self, shape: Shape, manual: Sequence[str]) -> TensorSharding:
        """A sharding with each manual axis in some dimension that it divides, or replicated."""
        assert self.mesh is not None
        rng, mesh = self.rng, self.mesh
        dims: list[list[AxisRef]] = [[] for _ in shape]
        sizes = list(shape)
        replicated: list[AxisRef] = []
        for name in manual:
            size = mesh.axis_size(name)
            fitting = [dim for dim, left in enumerate(sizes) if left % size == 0]
            if fitting and rng.random() < 0.8:
                dim = rng.choice(fitting)
                sizes[dim] //= size
                dims[dim].append(AxisRef(name))
            else:
                replicated.append(AxisRef(name))
        sharding = TensorSharding(
            self.mesh_name,
            tuple(DimensionSharding(tuple(axes), rng.random() < 0.2) for axes in dims),
            tuple(sorted(replicated, key=mesh.sort_key)),
        )
        return self._with_free_axes(sharding, manual)

    def _with_free_axes(self, sharding: TensorSharding, manual: Sequence[str]) -> TensorSharding:
        assert self.mesh is not None
        if not sharding.dim_shardings:
            return sharding
        for axis in self.mesh.axes:
            if axis.name not in manual and self.rng.random() < 0.25:
                dim = self.rng.randrange(sharding.rank)
                sharding = sharding.with_axis(dim, axis.name, force=True)
        return sharding

    def _like_manual(self, sharding: TensorSharding, manual: Sequence[str]) -> TensorSharding:
        """The same manual part, with other free axes."""
        dims = tuple(
            DimensionSharding(
                tuple(axis for axis in dim.axes if axis.name in manual), self.rng.random() < 0.2
            )
            for dim in sharding.dim_shardings
        )
        replicated = tuple(axis for axis in sharding.replicated_axes if axis.name in manual)
        return self._with_free_axes(TensorSharding(self.mesh_name, dims, replicated), manual)

    def _local(self, shape: Shape, sharding: TensorSharding, manual: Sequence[str]) -> Shape:
        assert self.mesh is not None
        local = list(shape)
        for at, dim in enumerate(sharding.dim_shardings):
            for axis in dim.axes:
                if axis.name in manual:
                    local[at] //= axis.size(self.mesh)
        return tuple(local)


def random_flow_module(
    seed: int,
    max_operations: int = 12,
    *,
    priorities: bool = False,
    shards_operations: bool = True,
) -> str:
    """A module of one function with control flow."""
    rng = random.Random(seed)
    mesh = rng.choice(MESHES)
    writer = FlowWriter(rng, mesh, priorities, shards_operations)
    body = writer.function("main", rng.randint(1, max_operations))
    return f"sdy.mesh @mesh = {mesh}\n{body}"
