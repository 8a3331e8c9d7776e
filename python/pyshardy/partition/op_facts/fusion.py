# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of a program: which operations compilers compute as parts of their users.

An operation that isn't fused starts a kernel, which consists of it and of what is fused into it.

1. Elementwise operations, broadcasts, constants, iotas and reshapes may be fused into their users,
   if all of these are such operations or reductions of the same block. A reshape, or a transpose
   that moves only dimensions of size 1, is only fused after another fused operation.
2. An operation whose users are in one kernel becomes a part of it, however many users these are.
3. An operation whose users are in several kernels is computed in each of them if it is cheap, or if
   one of them is a reduction: to read its operands again takes less time than to write its result
   and to read that.
4. It isn't if that saves no bytes: with k kernels, if k times the bytes of what it is computed from
   are at least those bytes and k + 1 times its result.
5. A kernel reads each of its inputs once, and has at most 64.

| program                           | kernels                       | accesses of large tensors   |
|-----------------------------------|-------------------------------|-----------------------------|
| `sum(exp(2 x))`                   | the sum                       | reads x                     |
| `y / sum(y)`, y = exp(x - max(x)) | maximum, sum, quotient        | reads x thrice, writes      |
| `x * rsqrt(sum(x * x))`           | sum, product                  | reads x twice, writes       |
| `z * z`, z = x - mean(x), summed  | mean, sum of squares          | reads x twice               |
| `y * y + y`, y = tanh(x)          | the second sum                | reads x, writes             |
| `dot(y, w)`, y = tanh(x)          | y, as a dot reads only memory | reads x, writes and reads y |
| three sums of f(y), y = a + b     | y, the sums                   | a, b, y, and y three times  |

The bodies of functions that will be inlined stand in place of their calls: JAX makes a function of
`jnp.where`. Operations that only say how a value is sharded stand for their operands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from mlir_sdy.host import ir
from mlir_sdy.traversal import SCALAR_BODIES
from pyshardy.irtools.functions import entry_block, functions_of
from pyshardy.irtools.stablehlo_views import TransposeView
from pyshardy.irtools.tensor_types import shape_of, tensor_bytes
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_RESHAPE, _TRANSPOSE = "stablehlo.reshape", "stablehlo.transpose"
_REDUCE = "stablehlo.reduce"

FUSED_OPERATIONS = ELEMENTWISE_OPERATIONS | {
    "stablehlo.broadcast_in_dim",
    "stablehlo.constant",
    "stablehlo.iota",
    _RESHAPE,
}
"""The operations that may be parts of their users."""

_CHEAP = frozenset(
    f"stablehlo.{name}"
    for name in """
        abs add and broadcast_in_dim ceil clamp compare complex constant convert floor imag iota
        maximum minimum multiply negate not or real reduce_precision reshape round_nearest_afz
        round_nearest_even select shift_left shift_right_arithmetic shift_right_logical subtract xor
    """.split()  # noqa: SIM905 (a list would be taller than the screen)
)
"""The fused operations that are computed in several kernels without any reduction."""

FUSING_OPERATIONS = FUSED_OPERATIONS | {_REDUCE}
"""The operations that others are fused into."""

_MOST_INPUTS = 64

_Value = TypeVar("_Value", bound=Hashable)
_NO_KERNELS = frozenset[int]()


def name_in_kernels(operation: ir.Operation, name: str) -> str:
    """Return the name of an operation; that of a reshape for a transpose that is one.

    Args:
        operation: the operation.
        name: its name.
    """
    return _RESHAPE if name == _TRANSPOSE and is_reshape(operation) else name


def is_reshape(transpose: ir.Operation) -> bool:
    """Whether a transpose moves only dimensions of size 1, so that the memory stays as it is."""
    shape = shape_of(transpose.operands[0].type)
    moved = [dim for dim in TransposeView(transpose).permutation if shape[dim] != 1]
    return moved == sorted(moved)


@dataclass(frozen=True, slots=True)
class Operations(Generic[_Value]):
    """The operations of a program by their numbers, in an order in which users follow producers.

    Attributes:
        names: their `name_in_kernels`.
        blocks: their blocks, or what stands for these.
        operands: their operands.
        results: their results.
    """

    names: Sequence[str]
    blocks: Sequence[Hashable]
    operands: Sequence[Sequence[_Value]]
    results: Sequence[Sequence[_Value]]


@dataclass(frozen=True, slots=True)
class Kernels(Generic[_Value]):
    """The kernels of a program.

    Attributes:
        fused: for the numbers of the operations that are parts of their users those of the
            operations that start their kernels.
        reads: for each operation that is fused, or that others may be fused into, how often each of
            its operands is read for it: 0 for those that are fused, or that another operation of
            the kernel reads; the number of kernels for an operation that is in several.
        inputs: by the number of the operation that starts a kernel, what the operations that are
            fused into it read.
    """

    fused: Mapping[int, Collection[int]]
    reads: Mapping[int, tuple[int, ...]]
    inputs: Mapping[int, Sequence[_Value]]


def kernels_of(
    operations: Operations[_Value], nbytes: Callable[[_Value], float]
) -> Kernels[_Value]:
    """Return the kernels of a program.

    Args:
        operations: its operations.
        nbytes: returns the bytes of a value.
    """
    names, results = operations.names, operations.results
    users: dict[int, list[int]] = {}
    producers = {
        results[number][0]: number for number, name in enumerate(names) if name in FUSED_OPERATIONS
    }
    for number, operands in enumerate(operations.operands):
        for operand in operands:
            producer = producers.get(operand)
            if producer is not None:
                users.setdefault(producer, []).append(number)
    possible = {
        number: found
        for number, found in reversed(users.items())
        if all(
            names[user] in FUSING_OPERATIONS
            and operations.blocks[user] == operations.blocks[number]
            for user in found
        )
    }
    # What starts a kernel by its bytes is found in an order in which all that it reads is known.
    starts = _starts(operations, producers, _kernels(names, possible, ()), nbytes)
    kernels = _kernels(names, possible, starts)
    return _with_reads(operations, producers, kernels)


def _kernels(
    names: Sequence[str], users: Mapping[int, Sequence[int]], starts: Collection[int]
) -> dict[int, frozenset[int]]:
    """Return the kernels that each fused operation is computed in.

    Args:
        names: the names of the operations.
        users: for each operation that may be fused its users.
        starts: operations that aren't fused.
    """
    found: dict[int, frozenset[int]] = {}
    for number in sorted(users, reverse=True):
        if number in starts:
            continue
        own = _NO_KERNELS.union(*[found.get(user, (user,)) for user in users[number]])
        is_certain = len(own) == 1 or names[number] in _CHEAP
        if is_certain or any(names[each] == _REDUCE for each in own):
            found[number] = own
    return found


def _starts(
    operations: Operations[_Value],
    producers: Mapping[_Value, int],
    kernels: Mapping[int, Collection[int]],
    nbytes: Callable[[_Value], float],
) -> set[int]:
    """Return the operations that aren't fused since that would cost bytes."""
    read_by: dict[int, tuple[_Value, ...]] = {}
    starts = set[int]()
    for number in sorted(kernels):
        read: dict[_Value, None] = {}
        for operand in operations.operands[number]:
            inner = read_by.get(producers.get(operand, -1))
            read.update(dict.fromkeys((operand,) if inner is None else inner))
        count, taken = len(kernels[number]), sum(map(nbytes, read))
        made = nbytes(operations.results[number][0])
        is_dearer = count > 1 and taken > 0 and count * taken >= taken + (count + 1) * made
        is_moved = operations.names[number] == _RESHAPE and not any(
            producers.get(operand, -1) in read_by for operand in operations.operands[number]
        )
        if is_dearer or is_moved or len(read) > _MOST_INPUTS:
            starts.add(number)
        else:
            read_by[number] = tuple(read)
    return starts


def _with_reads(
    operations: Operations[_Value],
    producers: Mapping[_Value, int],
    kernels: Mapping[int, Collection[int]],
) -> Kernels[_Value]:
    """Return the kernels with what they read."""
    seen = set[tuple[int, _Value]]()
    reads: dict[int, tuple[int, ...]] = {}
    inputs: defaultdict[int, list[_Value]] = defaultdict(list)
    for number, name in enumerate(operations.names):
        if name not in FUSING_OPERATIONS:
            continue
        fused_into = kernels.get(number)
        counts: list[int] = []
        for operand in operations.operands[number]:
            readers = () if producers.get(operand, -1) in kernels else fused_into or (number,)
            new = [each for each in readers if (each, operand) not in seen]
            seen.update([(each, operand) for each in new])
            if fused_into is not None:
                for each in new:
                    inputs[each].append(operand)
            counts.append(len(new))
        reads[number] = tuple(counts)
    return Kernels(kernels, reads, inputs)


# --- Values that are fused into their users -------------------------------------------------------


_RETURN = "func.return"
_SAME_VALUE = frozenset({"sdy.propagation_barrier", "sdy.reshard", "sdy.sharding_constraint"})
_NONE: Mapping[ir.Operation, ir.Block] = MappingProxyType({})


class FusedValues:
    """Finds the values of a program that are fused into their users.

    Args:
        module: the program, in which each function is called once.
        bodies: the bodies of the calls that are inlined.
    """

    def __init__(self, module: ir.Module, bodies: Mapping[ir.Operation, ir.Block] = _NONE):
        self._sources: dict[ir.Value, ir.Value] = {}
        self._numbers: dict[ir.Operation, int] = {}
        self._names: list[str] = []
        self._blocks: list[ir.Block] = []
        self._operands: list[list[ir.Value]] = []
        self._results: list[list[ir.Value]] = []
        replaced = {*bodies.values()}
        for function in functions_of(module):
            block = entry_block(function)
            if block is not None and block not in replaced:
                self._read(block, block, bodies)
        found = Operations(self._names, self._blocks, self._operands, self._results)
        self._kernels = kernels_of(found, lambda value: tensor_bytes(value.type))

    def is_fused(self, value: ir.Value) -> bool:
        """Whether a value is fused into its users."""
        source = self._source(value)
        if not isinstance(source, ir.OpResult):
            return False
        return self._numbers.get(source.owner.operation, -1) in self._kernels.fused

    def accesses(self, operation: ir.Operation) -> list[int]:
        """Return how often the operands of an operation are read, then its results written."""
        number = self._numbers.get(operation, -1)
        reads = self._kernels.reads.get(number) or [1] * len(operation.operands)
        return [*reads, *(int(not self.is_fused(each)) for each in operation.results)]

    def _read(
        self, block: ir.Block, place: ir.Block, bodies: Mapping[ir.Operation, ir.Block]
    ) -> None:
        """Read the operations of a block, which will be in another one.

        Args:
            block: the block.
            place: the block that its operations are inlined into.
            bodies: the bodies of the calls that are inlined.
        """
        for view in block.operations:
            operation = view.operation
            name, operands = operation.name, [self._source(each) for each in operation.operands]
            body = bodies.get(operation)
            if body is not None:
                self._sources.update(zip(body.arguments, operands, strict=True))
                self._read(body, place, bodies)
                returned = list(body.operations)[-1].operation.operands
                sources = zip(operation.results, map(self._source, returned), strict=True)
                self._sources.update(sources)
            elif name in _SAME_VALUE:
                self._sources[operation.results[0]] = operands[0]
            elif name != _RETURN or place == block:
                self._numbers[operation] = len(self._names)
                self._names.append(name_in_kernels(operation, name))
                self._blocks.append(place)
                self._operands.append(operands)
                self._results.append(list(operation.results))
                if name not in SCALAR_BODIES:
                    for region in operation.regions:
                        for inner in region.blocks:
                            self._read(inner, inner, bodies)

    def _source(self, value: ir.Value) -> ir.Value:
        return self._sources.get(value, value)
