# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with a constant of any element type, whose uses are sharded."""

import random
from math import prod

ELEMENTS = (
    *("i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64"),
    *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FN"),
    *("f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f16", "f32", "f64"),
    *("complex<f32>", "complex<f64>"),
)
MESHES = ('<["x"=4, "y"=2]>', '<["x"=2, "y"=3]>')
SIZES = (1, 4, 5, 6, 8, 12)
POWERS = "f8E8M0FNU"


class ConstantProgram:
    """A function of a constant, an argument of its type, a mask and an index.

    Attributes:
        kind: how the constant is used: the name of a method.
        element: the element type.
        text: the program.
    """

    def __init__(self, seed: int, element: str):
        self.element = element
        self._random = random.Random(f"{seed} {element}")
        self._lines: list[str] = []
        self._resources: list[str] = []
        self.text = self._written()

    def _written(self) -> str:
        choose = self._random.choice
        shape = (choose(SIZES), choose(SIZES))
        shardings = [self._sharding(2) for _ in range(4)]
        constant = self._constant(shape, shardings[0])
        self.kind = choose([name for name in dir(self) if name.startswith("use_")])
        value, shape = getattr(self, self.kind)(constant, shape)
        tensor, mask = _tensor(shape, self.element), _tensor(shape, "i1")
        attributes = f"{{sdy.sharding = {self._sharding(len(shape))}}}"
        marked = [
            f"{{sdy.sharding = {self._sharding(len(shape))}}}"
            if choose((True, True, False))
            else ""
            for _ in range(2)
        ]
        body = "\n  ".join(self._lines)
        resources = ", ".join(
            f'data{number}: "0x08000000{digits}"' for number, digits in enumerate(self._resources)
        )
        return f"""// {self.kind}
sdy.mesh @mesh = {choose(MESHES)}
func.func @main(%mask: {mask} {attributes}, %a: {tensor} {marked[0]}, %i: tensor<i32>)
    -> ({tensor} {marked[1]}, {tensor}) {{
  {body}
  %last = stablehlo.select %mask, {value}, %a : {mask}, {tensor}
  return %last, {value} : {tensor}, {tensor}
}}
{{-# dialect_resources: {{ builtin: {{ {resources} }} }} #-}}"""

    def _sharding(self, rank: int) -> str:
        axes = [self._random.choice(('{"x"}', '{"y"}', '{"x", "y"}', "{}", "{?}"))]
        axes += [{'{"x"}': '{"y"}', '{"y"}': '{"x"}', "{}": '{"x"}'}.get(axes[0], "{}")]
        self._random.shuffle(axes)
        return f"#sdy.sharding<@mesh, [{', '.join([*axes, '{}', '{}'][:rank])}]>"

    # --- Constants --------------------------------------------------------------------------

    def _number(self) -> str:
        choose, element = self._random.choice, self.element
        if element.startswith("complex"):
            parts = ("0.0", "-0.0", "1.0", "-2.5", "0.1", "1.0e-30")
            return f"({choose(parts)}, {choose(parts)})"
        if element == "i1":
            return choose(("true", "false"))
        if element == POWERS:
            return choose(("1.0", "2.0", "0.5", "0xFF", "0x00"))
        if "f" in element:
            return choose(("0.0", "-0.0", "1.0", "-2.0", "0.5", "1.5"))
        return choose(("0", "1", "1") if element.startswith("u") else ("0", "1", "-1", "-2"))

    def _constant(self, shape: tuple[int, ...], sharding: str) -> str:
        form = self._random.choice(("splat", "splat", "dense", "dense", "bytes", "resource"))
        tensor = _tensor(shape, self.element)
        width = _WIDTHS.get(self.element)
        name = self._random.choice(("stablehlo.constant", "stablehlo.constant", "sdy.constant"))
        if form in ("bytes", "resource") and width is not None:
            digits = self._random.choices("0123", k=2 * width * prod(shape))
            if form == "bytes":
                literal = f'dense<"0x{"".join(digits)}">'
            else:
                literal = f"dense_resource<data{len(self._resources)}>"
                self._resources.append("".join(digits))
        elif form == "splat":
            literal = f"dense<{self._number()}>"
        else:
            rows = [[self._number() for _ in range(shape[1])] for _ in range(shape[0])]
            listed = ", ".join(f"[{', '.join(row)}]" for row in rows)
            literal = f"dense<[{listed}]>"
        marked = ""
        if self._random.random() < 0.3:
            marked = f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding[13:]}]>}} "
        return self._add(f"{name} {marked}{literal} : {tensor}")

    def _add(self, text: str) -> str:
        name = f"%{len(self._lines)}"
        self._lines.append(f"{name} = {text}")
        return name

    def _scalar(self) -> str:
        return self._add(f"stablehlo.constant dense<{self._number()}> : tensor<{self.element}>")

    # --- Uses -------------------------------------------------------------------------------

    def use_itself(self, value, shape):
        return value, shape

    def use_slice(self, value, shape):
        starts = [self._random.randrange(size) for size in shape]
        limits = [
            self._random.randint(start + 1, size) for start, size in zip(starts, shape, strict=True)
        ]
        steps = [self._random.randint(1, 2) for _ in shape]
        taken = tuple(
            (limit - start + step - 1) // step
            for start, limit, step in zip(starts, limits, steps, strict=True)
        )
        ranges = ", ".join(
            f"{start}:{limit}:{step}"
            for start, limit, step in zip(starts, limits, steps, strict=True)
        )
        types = f"({self._tensor(shape)}) -> {self._tensor(taken)}"
        return self._add(f"stablehlo.slice {value} [{ranges}] : {types}"), taken

    def use_pad(self, value, shape):
        low = [self._random.randint(-1 if size > 1 else 0, 2) for size in shape]
        high = [self._random.randint(0, 3) for _ in shape]
        inside = [self._random.randint(0, 1) for _ in shape]
        padded = tuple(
            size + before + after + between * (size - 1)
            for size, before, after, between in zip(shape, low, high, inside, strict=True)
        )
        return self._add(
            f"stablehlo.pad {value}, {self._scalar()}, low = {low}, high = {high}, "
            f"interior = {inside} : ({self._tensor(shape)}, tensor<{self.element}>) "
            f"-> {self._tensor(padded)}"
        ), padded

    def use_concatenation(self, value, shape):
        dim = self._random.randrange(2)
        joined = tuple(2 * size if at == dim else size for at, size in enumerate(shape))
        other = self._constant(shape, self._sharding(2))
        tensor = self._tensor(shape)
        return self._add(
            f"stablehlo.concatenate {value}, {other}, dim = {dim} : ({tensor}, {tensor}) "
            f"-> {self._tensor(joined)}"
        ), joined

    def use_broadcast(self, value, shape):
        shapes = self._random.choice((((*shape, 4), "[0, 1]"), ((6, *shape), "[1, 2]")))
        types = f"({self._tensor(shape)}) -> {self._tensor(shapes[0])}"
        text = f"stablehlo.broadcast_in_dim {value}, dims = {shapes[1]} : {types}"
        return self._add(text), shapes[0]

    def use_broadcast_scalar(self, _, shape):
        types = f"(tensor<{self.element}>) -> {self._tensor(shape)}"
        text = f"stablehlo.broadcast_in_dim {self._scalar()}, dims = [] : {types}"
        return self._add(text), shape

    def use_reshape(self, value, shape):
        merged = self._random.choice(((prod(shape),), (*shape, 1), (1, *shape)))
        types = f"({self._tensor(shape)}) -> {self._tensor(merged)}"
        return self._add(f"stablehlo.reshape {value} : {types}"), merged

    def use_transpose(self, value, shape):
        types = f"({self._tensor(shape)}) -> {self._tensor(shape[::-1])}"
        return self._add(f"stablehlo.transpose {value}, dims = [1, 0] : {types}"), shape[::-1]

    def use_reverse(self, value, shape):
        return self._add(f"stablehlo.reverse {value}, dims = [0] : {self._tensor(shape)}"), shape

    def use_dynamic_slice(self, value, shape):
        sizes = tuple(self._random.randint(1, size) for size in shape)
        return self._add(
            f"stablehlo.dynamic_slice {value}, %i, %i, sizes = {list(sizes)} : "
            f"({self._tensor(shape)}, tensor<i32>, tensor<i32>) -> {self._tensor(sizes)}"
        ), sizes

    def use_dynamic_update(self, value, shape):
        sizes = tuple(self._random.randint(1, size) for size in shape)
        part = self._constant(sizes, self._sharding(2))
        tensors = f"{self._tensor(shape)}, {self._tensor(sizes)}, tensor<i32>, tensor<i32>"
        return self._add(
            f"stablehlo.dynamic_update_slice {value}, {part}, %i, %i : ({tensors}) "
            f"-> {self._tensor(shape)}"
        ), shape

    def use_loop(self, value, shape):
        tensor, name = self._tensor(shape), f"%{len(self._lines)}"
        self._lines.append(f"""{name}, %counter = stablehlo.while(%c = {value}, %n = %i)
      : {tensor}, tensor<i32> cond {{
    %limit = stablehlo.constant dense<5> : tensor<i32>
    %below = stablehlo.compare LT, %n, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %below : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %turned = stablehlo.reverse %c, dims = [0] : {tensor}
    stablehlo.return %turned, %next : {tensor}, tensor<i32>
  }}""")
        return name, shape

    def use_branches(self, value, shape):
        tensor = self._tensor(shape)
        return self._add(f""""stablehlo.case"(%i) ({{
    stablehlo.return {value} : {tensor}
  }}, {{
    %other = stablehlo.constant dense<{self._number()}> : {tensor}
    stablehlo.return %other : {tensor}
  }}) : (tensor<i32>) -> {tensor}"""), shape

    def use_barrier(self, value, shape):
        text = f"stablehlo.optimization_barrier {value} : {self._tensor(shape)}"
        return self._add(text), shape

    def use_constraint(self, value, shape):
        sharding = self._sharding(2)[13:]
        text = f"sdy.sharding_constraint {value} {sharding} : {self._tensor(shape)}"
        return self._add(text), shape

    def use_reduction(self, value, shape):
        if self.element == "i1":
            return value, shape
        dim = self._random.randrange(2)
        kinds = ("add",) if self.element.startswith("complex") else ("add", "maximum")
        text = (
            f"stablehlo.reduce({value} init: {self._scalar()}) applies "
            f"stablehlo.{self._random.choice(kinds)} across dimensions = [{dim}] : "
            f"({self._tensor(shape)}, tensor<{self.element}>) -> {self._tensor((shape[1 - dim],))}"
        )
        return self._add(text), (shape[1 - dim],)

    def use_product(self, value, shape):
        if self.element == "i1":
            return value, shape
        other = self._constant((shape[1], 3), self._sharding(2))
        types = f"({self._tensor(shape)}, {self._tensor((shape[1], 3))})"
        product = (shape[0], 3)
        return self._add(
            f"stablehlo.dot_general {value}, {other}, contracting_dims = [1] x [0] : "
            f"{types} -> {self._tensor(product)}"
        ), product

    def use_conversion(self, value, shape):
        """Convert the constant to another type and back."""
        others = [
            element
            for element in ELEMENTS
            if element.startswith("complex") == self.element.startswith("complex")
        ]
        there = _tensor(shape, self._random.choice(others))
        tensor = self._tensor(shape)
        other = self._add(f"stablehlo.convert {value} : ({tensor}) -> {there}")
        return self._add(f"stablehlo.convert {other} : ({there}) -> {tensor}"), shape

    def _tensor(self, shape) -> str:
        return _tensor(shape, self.element)


_WIDTHS = {
    **{f"{sign}i{8 * size}": size for sign in ("", "u") for size in (1, 2, 4, 8)},
    **{element: 1 for element in ELEMENTS if element.startswith("f8")},
    "bf16": 2,
    "f16": 2,
    "f32": 4,
    "f64": 8,
    "complex<f32>": 8,
    "complex<f64>": 16,
}
"""The bytes of the element types whose constants may be written as such."""


def _tensor(shape, element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
