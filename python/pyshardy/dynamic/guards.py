# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards: the conditions on sizes under which a plan shards arguments and results evenly.

1. A dimension that axes of k devices shard needs a size that k divides. That is *proven* if the
   expression and the known divisors of its symbols say so.
2. If it isn't proven, a policy says what happens at other sizes: `guard` refuses them, `pad` pads
   the dimension to the next multiple, and `unshard` leaves it unsharded for these sizes.
3. By default, dimensions that the user sharded are padded, and those that only propagation sharded
   are left unsharded.
4. A guard covers those of the same size that hold if it does: 8 divides b, so 4 does.

Further conditions are sizes that operations demand equal (see `size_map`), and assertions of the
program itself, which are neither ranges nor divisors of symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, TypeAlias, get_args

from mlir_sdy.attribute_base import value_of
from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.discardable import get_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import SHARDING, interface_attributes
from pyshardy.dynamic.plan import GIVEN
from pyshardy.irtools.functions import returned_values
from pyshardy.irtools.named_values import result_names
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, i64_attribute
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.sizes.signature import EQUAL_SIZES, DynamicSignature, entry_of
from pyshardy.sizes.size import Size
from pyshardy.sizes.size_map import SizeMap
from pyshardy.sizes.size_reader import DIMENSION_SIZE
from pyshardy.sizes.static_program import ASSERTED, ASSERTION, assertions_in
from pyshardy.sizes.symbols import SizeSymbol

Uneven: TypeAlias = Literal["guard", "pad", "unshard"]

POLICIES: tuple[Uneven, ...] = get_args(Uneven)

_ACTIONS = {"guard": "checked at run time", "pad": "padded", "unshard": "left unsharded otherwise"}


@dataclass(frozen=True, slots=True)
class DynamicPort:
    """An argument or a result of a program with dynamic sizes.

    Attributes:
        name: its name.
        element: its element type.
        sizes: the sizes of its dimensions; None for one of a result whose expression is unknown.
        axes: the axes that shard each dimension.
        shards: the number of shards of each dimension.
        is_given: whether the user sharded each dimension.
        place: where it is.
    """

    name: str
    element: str
    sizes: tuple[Size | None, ...]
    axes: tuple[tuple[str, ...], ...]
    shards: tuple[int, ...]
    is_given: tuple[bool, ...]
    place: SourceLocation | None

    @property
    def type(self) -> str:
        """The type as text: `f32[4*b, 16]`."""
        return f"{self.element}[{', '.join('?' if s is None else str(s) for s in self.sizes)}]"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that is checked at run time, as a text that says why it is demanded.

    Its kind is `equal`, for sizes, or `front end`.
    """

    kind: str
    text: str
    is_proven: ClassVar[bool] = False
    policy: ClassVar[Uneven] = "guard"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on the size of a dimension.

    Attributes:
        divisor: the number that divides the size.
        size: the size; None for one of a result whose expression is unknown.
        port: the argument or result.
        index: its position among the arguments and results.
        dim: its dimension.
        is_proven: whether it always holds.
        policy: what is done if it doesn't hold.
    """

    divisor: int
    size: Size | None
    port: DynamicPort
    index: int
    dim: int
    is_proven: bool
    policy: Uneven
    kind: ClassVar[str] = "divides"

    def covers(self, other: Guard) -> bool:
        """Whether another guard holds, or does the same, if this one holds or is applied."""
        if self.size != other.size or self.size is None or self.divisor % other.divisor:
            return False
        return self.is_proven or other.policy in (self.policy, "unshard")

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds for values of symbols, or its size is unknown."""
        return self.size is None or self.size.evaluate(values) % self.divisor == 0

    @property
    def _axes(self) -> str:
        return ", ".join(f'"{axis}"' for axis in self.port.axes[self.dim])

    def failure(self, number: int, nearest: Sequence[str]) -> UsageError:
        """Return the error of a size that violates the guard, with the nearest valid sizes.

        Sizes that follow from no symbol have none.
        """
        message = f"dimension {self.dim} of {self.port.name} has size {number}, which"
        why = f"{self.divisor} doesn't divide: it is sharded along {self._axes}"
        advice = f"use {' or '.join(nearest)}, or uneven='pad'" if nearest else "use uneven='pad'"
        return UsageError(error(f"{message} {why}; {advice}", self.port.place))

    def __str__(self) -> str:
        dimension = f"dimension {self.dim} of {self.port.name}"
        size = f"the size of {dimension}" if self.size is None else str(self.size)
        action = "proven" if self.is_proven else _ACTIONS[self.policy]
        place = "" if self.port.place is None else f" ({self.port.place})"
        why = f"{dimension}{place} is sharded along {self._axes}"
        return f"{self.divisor} divides {size}: {action}; {why}"


def check_word(option: str, word: str, words: Sequence[str]) -> None:
    """Check an option that has one of several words.

    Raises:
        UsageError: it has another one.
    """
    if word not in words:
        near = did_you_mean(str(word), words) or f"; it is one of {', '.join(words)}"
        raise UsageError(error(f"'{option}' can't be '{word}'{near}"))


def ports_of(
    module: ir.Module, signature: DynamicSignature, sizes: SizeMap
) -> tuple[tuple[DynamicPort, ...], tuple[DynamicPort, ...]]:
    """Return the arguments of a propagated program that users pass, and the results."""
    entry, known = entry_of(module), signature.symbols.keys()
    given, found = interface_attributes(entry, GIVEN), interface_attributes(entry, SHARDING)
    place, port = location_of(entry.location), partial(_port, meshes_of(module))
    inputs = (
        port(each.name, each.element, each.sizes, given[0][at], found[0][at], each.place)
        for each in signature.arguments
        for at in (each.index,)
    )
    outputs: list[DynamicPort] = []
    values, names = returned_values(entry) or (), result_names(entry)
    columns = zip(values, names, given[1], found[1], strict=True)
    for at, (value, name, of_user, sharding) in enumerate(columns):
        of_value = [size if size.symbols <= known else None for size in sizes.sizes(value)]
        element = str(element_type_of(value.type))
        outputs.append(port(name or f"result {at}", element, of_value, of_user, sharding, place))
    return tuple(inputs), tuple(outputs)


def _port(
    meshes: Mapping[str, Mesh],
    name: str,
    element: str,
    sizes: Sequence[Size | None],
    given: ir.Attribute | None,
    found: ir.Attribute | None,
    place: SourceLocation | None,
) -> DynamicPort:
    sharding = TensorSharding.fully_closed(len(sizes), Mesh()) if found is None else value_of(found)
    mesh = mesh_of(sharding, meshes) or Mesh()
    axes = tuple(tuple(axis.name for axis in each) for each in sharding.dim_axes)
    shards = tuple(each.sharded_size(mesh) for each in sharding.dim_shardings)
    dims = [each.value for each in given] if isinstance(given, ir.ArrayAttr) else []
    is_given = tuple(dim in dims for dim in range(len(sizes)))
    return DynamicPort(name, element, tuple(sizes), axes, shards, is_given, place)


def guards_of(
    ports: Iterable[DynamicPort], symbols: Mapping[str, SizeSymbol], policy: Uneven | None
) -> list[Guard]:
    """Return the guards of arguments and results; covered guards are left out.

    The policy is what is done where one doesn't hold; None for the defaults.

    Raises:
        UsageError: there is no such policy.
    """
    if policy is not None:
        check_word("uneven", policy, POLICIES)
    found: list[Guard] = []
    for index, port in enumerate(ports):
        for dim, (size, count) in enumerate(zip(port.sizes, port.shards, strict=True)):
            if count == 1 or (size is not None and size.constant is not None):
                continue
            is_proven = size is not None and size.divisible_by(count, symbols) is True
            chosen = policy or ("pad" if port.is_given[dim] else "unshard")
            guard = Guard(count, size, port, index, dim, is_proven, chosen)
            if not any(each.covers(guard) for each in found):
                found = [each for each in found if not guard.covers(each)] + [guard]
    return found


def assert_guards(module: ir.Module, signature: DynamicSignature, guards: Iterable[Guard]) -> None:
    """Write assertions that other tools check, at the end of a propagated program, in place.

    They are guards that refuse sizes, also those that a program of pyshardy proves by declarations,
    and that dimensions of arguments have one size.
    """
    entry, builder = entry_of(module), StablehloBuilder()
    block = entry.regions[0].blocks[0]
    values: list[ir.Value] = [block.arguments[each.index] for each in signature.arguments]
    values += returned_values(entry) or ()
    first: dict[Size, tuple[ir.Value, str]] = {}
    with entry.context, entry.location, ir.InsertionPoint.at_block_terminator(block):
        scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))

        def size_of_dim(value: ir.Value, dim: int) -> ir.Value:
            dimension = {"dimension": i64_attribute(dim)}
            return builder.create(DIMENSION_SIZE, [value], [scalar], dimension).result

        def check(size: ir.Value, expected: ir.Value, message: str) -> None:
            attributes = {
                "error_message": ir.StringAttr.get(message),
                "has_side_effect": ir.BoolAttr.get(True),
                "api_version": ir.IntegerAttr.get(scalar.element_type, 2),
            }
            builder.custom_call(ASSERTION, [builder.compare("EQ", size, expected)], (), attributes)

        for guard in guards:
            if guard.policy == "guard":
                size = size_of_dim(values[guard.index], guard.dim)
                rest = builder.binary("remainder", size, builder.splat(scalar, guard.divisor))
                check(rest, builder.splat(scalar, 0), str(replace(guard, is_proven=False)))
        for value, argument in zip(values, signature.arguments, strict=False):
            for dim, expression in enumerate(argument.sizes):
                if expression.constant is None:
                    number, place = size_of_dim(value, dim), f"dimension {dim} of {argument.name}"
                    other, of = first.setdefault(expression, (number, place))
                    if other != number:
                        check(number, other, f"{place} has the size of {of}")


def conditions_of(module: ir.Module, sizes: SizeMap) -> list[Condition]:
    """Return the conditions of a program without calls, but ranges, divisors and shardings."""
    kept = get_discardable(module.operation, EQUAL_SIZES)
    texts = [*(each.value for each in kept or ()), *map(str, sizes.equalities)]
    found = [Condition("equal", each) for each in texts]
    for call in assertions_in(module):
        holds = sizes.read(call.operands[0])
        if not holds or holds[0] != 1:
            message = text_of(call, "error_message") or "an assertion"
            asserted, place = ASSERTED.search(message), location_of(call.location)
            told = f"{asserted[1] if asserted else message}: checked at run time; an assertion"
            found.append(Condition("front end", told if place is None else f"{told} at {place}"))
    return list(dict.fromkeys(found))
