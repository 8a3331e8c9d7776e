# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with what the export passes look for: constants, edges, groups, calls."""

from programs import ProgramWriter, tensor

from mlir_sdy.model import AxisRef, DimensionSharding, TensorSharding

VALUES = ("1.0", "2.0")


class ExportWriter(ProgramWriter):
    """Writes functions with equal constants, and operations through which values flow."""

    def operation(self) -> None:
        if self.rng.random() < 0.6:
            super().operation()
            return
        self.rng.choice(
            [
                self.constant,
                self.constant,
                self.scalar_broadcast,
                self.scalar_broadcast,
                self.optimization_barrier,
                self.group,
                self.loop,
                self.manual_computation,
            ]
        )()

    def constant(self) -> None:
        _, shape = self.pick()
        value = self.rng.choice(VALUES)
        self.emit(f"stablehlo.constant{{attributes}} dense<{value}> : {tensor(shape)}", shape)

    def scalar_broadcast(self) -> None:
        _, shape = self.pick()
        value = self.rng.choice(VALUES)
        self.emit(f"stablehlo.constant dense<{value}> : tensor<f32>", ())
        scalar, _ = self.values[-1]
        self.emit(
            f"stablehlo.broadcast_in_dim {scalar}, dims = []{{attributes}} : "
            f"(tensor<f32>) -> {tensor(shape)}",
            shape,
        )

    def optimization_barrier(self) -> None:
        values = [self.pick() for _ in range(self.rng.randint(1, 3))]
        names = ", ".join(name for name, _ in values)
        types = ", ".join(tensor(shape) for _, shape in values)
        self._emit_many(
            f"stablehlo.optimization_barrier {names} : {types}", [shape for _, shape in values]
        )

    def group(self) -> None:
        """A group of all values of a shape, so that they fit together."""
        name, shape = self.pick()
        number = sum(size * 31**place for place, size in enumerate(shape))
        self.lines.append(f"    sdy.sharding_group {name} group_id={number} : {tensor(shape)}")

    def loop(self) -> None:
        name, shape = self.pick()
        type_ = tensor(shape)
        self.emit("stablehlo.constant dense<0> : tensor<i32>", ())
        count, _ = self.values.pop()
        self._emit_many(
            f"""stablehlo.while(%i = {count}, %v = {name}) : tensor<i32>, {type_}
    cond {{
      %n = stablehlo.constant dense<4> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %k = stablehlo.constant dense<1> : tensor<i32>
      %l = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %k : tensor<i32>
      %m = stablehlo.add %j, %l : tensor<i32>
      %w = stablehlo.negate %v : {type_}
      stablehlo.return %m, %w : tensor<i32>, {type_}
    }}""",
            [None, shape],
        )

    def manual_computation(self) -> None:
        """A computation along one axis that splits one dimension evenly, if there is such."""
        assert self.mesh is not None
        name, shape = self.pick()
        fitting = [
            (dim, axis)
            for dim, size in enumerate(shape)
            for axis in self.mesh.axes
            if size % axis.size == 0
        ]
        if not fitting:
            return
        dim, axis = self.rng.choice(fitting)
        local = tuple(size // axis.size if at == dim else size for at, size in enumerate(shape))
        sharding = TensorSharding(
            self.mesh_name,
            tuple(
                DimensionSharding(
                    (AxisRef(axis.name),) if at == dim else (), self.rng.random() < 0.3
                )
                for at in range(len(shape))
            ),
        )
        self.emit(
            f"sdy.manual_computation({name}) in_shardings=[{sharding}] "
            f'out_shardings=[{sharding}] manual_axes={{"{axis.name}"}} (%x: {tensor(local)}) {{\n'
            f"      %y = stablehlo.negate %x : {tensor(local)}\n"
            f"      sdy.return %y : {tensor(local)}\n"
            f"    }} : ({tensor(shape)}) -> {tensor(shape)}",
            shape,
        )

    def _emit_many(self, text: str, shapes: list[tuple[int, ...] | None]) -> None:
        """Append an operation of several results; those without a shape can't be used."""
        name = f"%{next(self._names)}"
        self.lines.append(f"    {name}:{len(shapes)} = {text}")
        self.values.extend(
            (f"{name}#{at}", shape) for at, shape in enumerate(shapes) if shape is not None
        )
