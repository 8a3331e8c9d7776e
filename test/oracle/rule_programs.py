# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of operations whose sharding rules are in the program."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from flow_programs import FlowWriter
from programs import MESHES, ProgramWriter, Shape, tensor

NAMES = "ijklmnopqrstuvwxyz"
KINDS = ("reduction", "need_replication", "permutation")

Factors = list[list[int]]
"""The factors of each dimension of a tensor."""


@dataclass
class RandomRule:
    """A rule for operands of given shapes, with one or two results.

    Attributes:
        sizes: the size of each factor.
        operands: the factors of each operand.
        results: the factors of each result.
        clauses: what follows the sizes: the kinds of factors.
    """

    rng: random.Random
    sizes: list[int] = field(default_factory=list)
    operands: list[Factors] = field(default_factory=list)
    results: list[Factors] = field(default_factory=list)
    clauses: str = ""

    def fill(self, shapes: Sequence[Shape]) -> None:
        """Choose everything at random."""
        rng = self.rng
        self.operands = [self._of_operand(shape) for shape in shapes]
        self.results = [self._of_result() for _ in range(rng.randint(1, 2))]
        kinds: dict[str, list[int]] = {kind: [] for kind in KINDS}
        in_results = {each for dims in self.results for dim in dims for each in dim}
        for factor in range(len(self.sizes)):
            fitting = KINDS[1:] if factor in in_results else KINDS
            if rng.random() < 0.4:
                kinds[rng.choice(fitting)].append(factor)
        kinds["blocked_propagation"] = [f for f in range(len(self.sizes)) if rng.random() < 0.15]
        for kind, factors in kinds.items():
            if factors:
                self.clauses += f" {kind}={{{', '.join(NAMES[each] for each in factors)}}}"
        if rng.random() < 0.3:
            self.clauses += ", custom"

    def _new(self, size: int) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1

    def _of_operand(self, shape: Shape) -> Factors:
        used: set[int] = set()
        dims: Factors = []
        for size in shape:
            equal = [f for f, each in enumerate(self.sizes) if each == size and f not in used]
            divisors = [each for each in range(2, size) if size % each == 0]
            if equal and self.rng.random() < 0.6:
                dims.append([self.rng.choice(equal)])
            elif divisors and self.rng.random() < 0.3:
                major = self.rng.choice(divisors)
                dims.append([self._new(major), self._new(size // major)])
            else:
                dims.append([self._new(size)])
            used.update(dims[-1])
        return dims

    def _of_result(self) -> Factors:
        factors = [each for each in range(len(self.sizes)) if self.rng.random() < 0.6]
        self.rng.shuffle(factors)
        dims: Factors = []
        for factor in factors:
            merges = bool(dims) and min(self.sizes[dims[-1][-1]], self.sizes[factor]) > 1
            if merges and (len(dims) == 3 or self.rng.random() < 0.3):
                dims[-1].append(factor)
            elif len(dims) < 3:
                dims.append([factor])
        return dims

    def result_shapes(self) -> list[Shape]:
        """The shapes of the results."""
        shapes: list[Shape] = []
        for dims in self.results:
            shape: list[int] = []
            for dim in dims:
                shape.append(1)
                for factor in dim:
                    shape[-1] *= self.sizes[factor]
            shapes.append(tuple(shape))
        return shapes

    def __str__(self) -> str:
        operands, results = (
            ", ".join(
                f"[{', '.join(''.join(NAMES[each] for each in dim) for dim in dims)}]"
                for dims in tensors
            )
            for tensors in (self.operands, self.results)
        )
        sizes = ", ".join(f"{NAMES[each]}={size}" for each, size in enumerate(self.sizes))
        sizes = f" {{{sizes}}}" if sizes else ""
        return f"#sdy.op_sharding_rule<({operands})->({results}){sizes}{self.clauses}>"


class RuleWriter(FlowWriter):
    """Writes a function of custom calls that have rules, and of other operations."""

    barrier = ProgramWriter.unary
    constraint = ProgramWriter.unary

    def operation(self) -> None:
        if self.rng.random() < 0.3:
            ProgramWriter.operation(self)
        else:
            self.custom_call()

    def custom_call(self) -> None:
        """A call whose operands are there already."""
        operands = self.several(self.rng.randint(1, 2))
        rule = RandomRule(self.rng)
        rule.fill([shape for _, shape in operands])
        shapes = rule.result_shapes()
        attributes = [f"sdy.sharding_rule = {rule}"]
        if self.rng.random() < 0.5:
            shardings = ", ".join(self.sharding(len(shape)) for shape in shapes)
            attributes.append(f"sdy.sharding = #sdy.sharding_per_value<[{shardings}]>")
        name = f"%{next(self._names)}"
        types = ", ".join(tensor(shape) for _, shape in operands)
        self.lines.append(
            f"    {name}:{len(shapes)} = stablehlo.custom_call "
            f"@rule({', '.join(value for value, _ in operands)}) {{{', '.join(attributes)}}} : "
            f"({types}) -> ({', '.join(map(tensor, shapes))})"
        )
        self.values += [(f"{name}#{index}", shape) for index, shape in enumerate(shapes)]


def random_rule_module(seed: int, max_operations: int = 8, *, priorities: bool = False) -> str:
    """A module of one function with sharding rules."""
    rng = random.Random(seed)
    mesh = rng.choice(MESHES)
    body = RuleWriter(rng, mesh, priorities).function("main", rng.randint(1, max_operations))
    return f"sdy.mesh @mesh = {mesh}\n{body}"
