# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of all operations with a sharding rule, whose values depend on each other."""

import random
import re

from flow_programs import FlowWriter
from programs import MESHES, Shape, random_shape, tensor
from rule_cases import FAMILIES

from mlir_sdy.model import Mesh

_HEAD = re.compile(r"\((?P<arguments>[^)]*)\) \{\n(?P<body>.*)\n  return\n\}", re.DOTALL)
_NAME = re.compile(r"%([A-Za-z]\w*)")
_RESULTS = re.compile(r"^%\w+(:\d+)? = ")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+|complex<\w+>)>")


class OperationWriter(FlowWriter):
    """Writes a function that also has an operation of any family of rules here and there.

    The operands of such an operation are values of the same shape, or as many elements, that are
    there already; other ones become arguments of the function.
    """

    def __init__(
        self,
        rng: random.Random,
        mesh: Mesh,
        priorities: bool = False,
        shards_operations: bool = True,
    ):
        super().__init__(rng, mesh, priorities, shards_operations)
        self.extra_arguments: list[str] = []

    def operation(self) -> None:
        if self.rng.random() < 0.5:
            super().operation()
        elif self.rng.random() < 0.9:
            self.of_some_family()
        else:
            self.iota()

    def iota(self) -> None:
        shape = random_shape(self.rng, sizes=self.sizes) or (8,)
        dim = self.rng.randrange(len(shape))
        self.emit(f"stablehlo.iota dim = {dim}{{attributes}} : {tensor(shape)}", shape)

    def of_some_family(self) -> None:
        """An operation of a family, in place of its function's arguments values of this one."""
        family = self.rng.choice(FAMILIES)
        found = _HEAD.fullmatch(family(self.rng))
        assert found is not None, family
        names: dict[str, str] = {}
        for argument in filter(None, re.split(r", (?=%)", found["arguments"])):
            name, _, kind = argument.partition(": ")
            names[name[1:]] = self.value_of_type(kind)
        # Names inside of regions are of no concern, but have to be new ones all the same.
        body = _NAME.sub(lambda match: names.setdefault(match[1], self.new_name()), found["body"])
        *before, operation = map(str.strip, body.split("\n"))
        self.lines.extend(f"    {line}" for line in before)
        result_types = _TENSOR.findall(operation.rpartition(" : ")[2].rpartition(" -> ")[2])
        operation = _RESULTS.sub("", operation)
        result = self.new_name()
        self.lines.append(f"    {result}:{len(result_types)} = {operation}")
        self.values.extend(
            (f"{result}#{index}", _shape(shape))
            for index, (shape, element) in enumerate(result_types)
            if element == "f32"
        )

    def new_name(self) -> str:
        return f"%{next(self._names)}"

    def value_of_type(self, kind: str) -> str:
        """A value of a type: one that is there, or a reshaped one, or else a new argument."""
        found = _TENSOR.fullmatch(kind)
        assert found is not None, kind
        shape = _shape(found[1])
        if found[2] == "f32" and self.rng.random() < 0.9:
            if any(known == shape for _, known in self.values):
                return self.pick(shape)[0]
            same_size = [known for _, known in self.values if _size(known) == _size(shape)]
            if same_size:
                name, known = self.pick(self.rng.choice(same_size))
                self.emit(
                    f"stablehlo.reshape {name}{{attributes}} : "
                    f"({tensor(known)}) -> {tensor(shape)}",
                    shape,
                )
                return self.values[-1][0]
        name = f"%x{len(self.extra_arguments)}"
        attribute = ""
        if self.rng.random() < 0.6:
            attribute = f" {{sdy.sharding = #sdy.sharding{self.sharding(len(shape))}}}"
        self.extra_arguments.append(f"{name}: {kind}{attribute}")
        if found[2] == "f32":
            self.values.append((name, shape))
        return name

    def function(self, name: str, num_operations: int, visibility: str = "") -> str:
        text = super().function(name, num_operations, visibility)
        if not self.extra_arguments:
            return text
        # The first argument is always there.
        return text.replace(f"@{name}(", f"@{name}({', '.join(self.extra_arguments)}, ", 1)


def _shape(sizes: str) -> Shape:
    return tuple(int(size) for size in sizes.split("x") if size)


def _size(shape: Shape) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def random_operation_module(
    seed: int, max_operations: int = 12, *, priorities: bool = False, shards_operations: bool = True
) -> str:
    """A module of one function with operations of all families."""
    rng = random.Random(seed)
    mesh = rng.choice(MESHES)
    writer = OperationWriter(rng, mesh, priorities, shards_operations)
    body = writer.function("main", rng.randint(1, max_operations))
    return f"sdy.mesh @mesh = {mesh}\n{body}"
