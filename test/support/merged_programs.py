# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs that merge dimensions by reshapes, compute with them, and split them again."""

import math
import random

SIZES = (2, 3, 4)
ELEMENTWISE = ("add", "multiply", "maximum")
UNARY = ("negate", "abs")


class MergingProgram:
    """A random program on integers, so that the order of sums doesn't matter.

    Attributes:
        text: the program.
        shapes: the shapes of its arguments.
    """

    def __init__(self, seed: int, length: int = 14):
        self._draw = random.Random(seed)
        self._lines: list[str] = []
        self._values: list[tuple[str, tuple[int, ...]]] = []
        self.shapes = [self._shape(self._draw.randint(3, 4)) for _ in range(2)]
        self.shapes.append(self.shapes[0])
        for index, shape in enumerate(self.shapes):
            self._values.append((f"%a{index}", shape))
        for _ in range(length):
            getattr(self, self._draw.choice(STEPS))()
        # The last values are results, so that few operations are dead.
        results = self._values[-3:]
        names = ", ".join(name for name, _ in results)
        types = ", ".join(tensor(shape) for _, shape in results)
        arguments = ", ".join(
            f"%a{index}: {tensor(shape)}" for index, shape in enumerate(self.shapes)
        )
        self.text = "\n".join(
            [
                f"func.func @main({arguments}) -> ({types}) {{",
                "  %zero = stablehlo.constant dense<0> : tensor<i32>",
                *self._lines,
                f"  return {names} : {types}",
                "}",
            ]
        )

    def _shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self._draw.choice(SIZES) for _ in range(rank))

    def _pick(self) -> tuple[str, tuple[int, ...]]:
        return self._draw.choice(self._values[-5:])

    def _add(
        self, right: str, shape: tuple[int, ...], kind: str = ""
    ) -> tuple[str, tuple[int, ...]]:
        value = f"%v{len(self._lines)}", shape
        self._lines.append(f"  {value[0]} = {right} : {kind or tensor(shape)}")
        self._values.append(value)
        return value

    def _reshape(self, value: tuple[str, tuple[int, ...]], shape: tuple[int, ...]):
        kind = f"({tensor(value[1])}) -> {tensor(shape)}"
        return self._add(f"stablehlo.reshape {value[0]}", shape, kind)

    # --- Steps ----------------------------------------------------------------------------------

    def merge(self):
        """Merge neighbouring dimensions."""
        value = self._pick()
        rank = len(value[1])
        if rank >= 2:
            start = self._draw.randrange(rank - 1)
            end = min(rank, start + self._draw.choice((2, 2, 3)))
            merged = math.prod(value[1][start:end])
            self._reshape(value, (*value[1][:start], merged, *value[1][end:]))

    def split(self):
        """Split a dimension."""
        value = self._pick()
        options = [
            (dim, part)
            for dim, size in enumerate(value[1])
            for part in range(2, size)
            if size % part == 0 and len(value[1]) < 6
        ]
        if options:
            dim, part = self._draw.choice(options)
            size = value[1][dim] // part
            self._reshape(value, (*value[1][:dim], part, size, *value[1][dim + 1 :]))

    def elementwise(self):
        """Combine two values of one shape, or a value and a constant."""
        name, shape = self._pick()
        other = self._draw.choice([each for each in self._values if each[1] == shape])
        if self._draw.random() < 0.3:
            other = self._add(f"stablehlo.constant dense<{self._draw.randint(-2, 2)}>", shape)
        self._add(f"stablehlo.{self._draw.choice(ELEMENTWISE)} {name}, {other[0]}", shape)

    def unary(self):
        """Apply an elementwise operation."""
        name, shape = self._pick()
        self._add(f"stablehlo.{self._draw.choice(UNARY)} {name}", shape)

    def transpose(self):
        """Permute dimensions."""
        name, shape = self._pick()
        order = self._draw.sample(range(len(shape)), len(shape))
        result = tuple(shape[dim] for dim in order)
        kind = f"({tensor(shape)}) -> {tensor(result)}"
        self._add(f"stablehlo.transpose {name}, dims = {order}", result, kind)

    def broadcast(self):
        """Add a dimension by a broadcast."""
        name, shape = self._pick()
        if len(shape) < 4:
            place = self._draw.randint(0, len(shape))
            result = (*shape[:place], self._draw.choice((2, 4, 6)), *shape[place:])
            dims = [dim for dim in range(len(result)) if dim != place]
            kind = f"({tensor(shape)}) -> {tensor(result)}"
            self._add(f"stablehlo.broadcast_in_dim {name}, dims = {dims}", result, kind)

    def reduce(self):
        """Reduce one or two dimensions."""
        name, shape = self._pick()
        if len(shape) > 1:
            dims = sorted(self._draw.sample(range(len(shape)), self._draw.choice((1, 1, 2))))
            result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
            applied = self._draw.choice(("maximum", "add"))
            kind = f"({tensor(shape)}, tensor<i32>) -> {tensor(result)}"
            text = f"stablehlo.reduce({name} init: %zero) applies stablehlo.{applied}"
            self._add(f"{text} across dimensions = {dims}", result, kind)

    def product(self):
        """Multiply two values along dimensions of equal sizes."""
        (left, lhs), (right, rhs) = self._pick(), self._pick()
        pairs: list[tuple[int, int]] = []
        for dim, size in enumerate(lhs):
            taken = [pair[1] for pair in pairs]
            equal = [each for each in range(len(rhs)) if rhs[each] == size and each not in taken]
            if equal and self._draw.random() < 0.8:
                pairs.append((dim, self._draw.choice(equal)))
        self._draw.shuffle(pairs)
        count = self._draw.randint(0, len(pairs))
        batch, contracted = pairs[:count], pairs[count:]
        used = [{pair[side] for pair in pairs} for side in (0, 1)]
        result = (
            *(lhs[dim] for dim, _ in batch),
            *(size for dim, size in enumerate(lhs) if dim not in used[0]),
            *(size for dim, size in enumerate(rhs) if dim not in used[1]),
        )
        if pairs and len(result) <= 5 and math.prod(result) < 2000:
            text = f"stablehlo.dot_general {left}, {right}"
            for name, dims in (("batching", batch), ("contracting", contracted)):
                sides = [[pair[side] for pair in dims] for side in (0, 1)]
                text += f", {name}_dims = {sides[0]} x {sides[1]}"
            kind = f"({tensor(lhs)}, {tensor(rhs)}) -> {tensor(result)}"
            self._add(text, result, kind)

    def rearrange(self):
        """Slice, pad, reverse, concatenate, or count along a dimension."""
        name, shape = self._pick()
        if not shape or max(shape) > 40:
            return
        dim = self._draw.randrange(len(shape))
        step = self._draw.choice(("slice", "pad", "reverse", "concatenate", "iota"))
        changed = list(shape)
        if step == "slice":
            changed[dim] = max(1, shape[dim] - 1)
            ranges = ", ".join(f"0:{size}" for size in changed)
            text = f"stablehlo.slice {name} [{ranges}]"
            operands = tensor(shape)
        elif step == "pad":
            amounts = [0] * len(shape)
            zeros = list(amounts)
            amounts[dim] = 1
            changed[dim] += 1
            text = f"stablehlo.pad {name}, %zero, low = {amounts}, high = {zeros}"
            text += f", interior = {zeros}"
            operands = f"{tensor(shape)}, tensor<i32>"
        elif step == "concatenate":
            changed[dim] *= 2
            text = f"stablehlo.concatenate {name}, {name}, dim = {dim}"
            operands = f"{tensor(shape)}, {tensor(shape)}"
        elif step == "reverse":
            self._add(f"stablehlo.reverse {name}, dims = [{dim}]", shape)
            return
        else:
            self._add(f"stablehlo.iota dim = {dim}", shape)
            return
        self._add(text, tuple(changed), f"({operands}) -> {tensor(tuple(changed))}")


STEPS = (
    *("merge", "merge", "merge", "split", "split", "split", "product", "product", "product"),
    *("elementwise", "elementwise", "unary", "transpose", "broadcast", "reduce", "rearrange"),
)
"""The names of the steps; those that are listed often are taken often."""


def tensor(shape: tuple[int, ...]) -> str:
    """The type of a tensor of a shape."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}i32>"
