# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid modules with everything that the dialect has.

Modules are written as text, so that reading is tested, too. Values are sharded, computed and moved
at random; what follows from that (local types, the results of collectives) is derived by
`mlir_sdy.model`.
"""

import math
import random
from dataclasses import dataclass, replace

from random_collectives import collective_of, random_sharding

from mlir_sdy.model import (
    AxisRef,
    DimensionSharding,
    Mesh,
    MeshAxis,
    ReductionOp,
    TensorSharding,
    factor_name,
)
from mlir_sdy.model.text import braced, bracketed, quoted, symbol

AXIS_NAMES = ("u", "v", "w", "x_1", "an axis", 'qu"ote', "back\\slash", "tab\t", "ü", "")
MESH_NAMES = ("mesh", "other", "a mesh", 'qu"ote', "m.1", "9")
FUNCTION_NAMES = ("main", "callee", "a function", "f$1")
DICTIONARY_ENTRIES = (
    "tag",
    'note = "} // \\22 {"',
    "nested = {list = [1, {a = 2 : i32}, @m], unit}",
    "sdy.whatever = 1 : i64",
    '"quoted name" = dense<[1, 2]> : tensor<2xi64>',
)
SIZES = (1, 4, 6, 8, 12, 24, 24, 48, 0, 7, None)


@dataclass(frozen=True)
class Value:
    """A value that later operations can use; a token has no shape.

    Attributes:
        name: how it is written.
        shape: the sizes of its dimensions, None for a dynamic one; None for a token.
        element: the type of its elements.
        sharding: what is known of its sharding.
    """

    name: str
    shape: tuple[int | None, ...] | None
    element: str = "f32"
    sharding: TensorSharding | None = None

    @property
    def type(self) -> str:
        """The type as text."""
        if self.shape is None:
            return "!stablehlo.token"
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.shape)
        return f"tensor<{sizes}{self.element}>"

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return self.shape is not None and None not in self.shape


def random_mesh(rng: random.Random) -> Mesh:
    """A mesh with some axes and perhaps another order of its devices."""
    names = rng.sample(AXIS_NAMES, rng.randint(1, 4))
    mesh = Mesh(tuple(MeshAxis(name, rng.choice((1, 2, 2, 4, 6, 8))) for name in names))
    if mesh.total_size <= 16 and rng.random() < 0.4:
        devices = rng.sample(range(mesh.total_size), mesh.total_size)
        return Mesh(mesh.axes, tuple(devices))
    return mesh


def without_axes(mesh: Mesh, bound: frozenset[str]) -> Mesh:
    """The mesh as far as it can be used inside of manual computations."""
    return Mesh(tuple(axis for axis in mesh.axes if axis.name not in bound))


class ModuleWriter:
    """Writes one module.

    Args:
        rng: makes the choices.
        kinds: whether unreduced axes may be of other kinds than sum.
    """

    def __init__(self, rng: random.Random, *, kinds: bool = False):
        self.rng = rng
        self.kinds = kinds
        self.names = 0
        self.lines: list[str] = []
        self.meshes: dict[str, Mesh] = {}

    # --- Modules and functions ------------------------------------------------------------------

    def module(self, indent: str = "", *, nested: bool = False) -> None:
        """Write a module: meshes, functions, perhaps a module inside."""
        rng = self.rng
        outer, self.meshes = self.meshes, {}
        head = " @" + rng.choice(("inner", '"the inner one"')) if nested else ""
        inner = indent + "  "
        names = rng.sample(MESH_NAMES, rng.randint(2, 5))
        for name in names:
            match rng.randrange(8):
                case 0:
                    mesh = Mesh((), (rng.randrange(4),))
                case 1:
                    mesh = Mesh(())
                case 2 if self.meshes:
                    mesh = rng.choice(list(self.meshes.values()))
                case _:
                    mesh = random_mesh(rng)
            self.meshes[name] = mesh
        if rng.random() < 0.3:
            head += f" attributes {{test.note = {self.any_attribute()}}}"
        self.lines.append(f"{indent}module{head} {{")
        functions = rng.sample(FUNCTION_NAMES, rng.randint(1, 2))
        late = rng.random() < 0.2
        if not late:
            self.mesh_definitions(inner)
        for name in functions:
            self.function(inner, name)
        if late:
            self.mesh_definitions(inner)
        if not nested and rng.random() < 0.1:
            self.module(inner, nested=True)
        self.lines.append(indent + "}")
        self.meshes = outer

    def mesh_definitions(self, indent: str) -> None:
        """Write the meshes of the module."""
        for name, mesh in self.meshes.items():
            body = f"#sdy.mesh{mesh}" if self.rng.random() < 0.1 else str(mesh)
            self.lines.append(f"{indent}sdy.mesh {symbol(name)} = {body}{self.dictionary()}")

    def function(self, indent: str, name: str) -> None:
        """Write a function with sharded arguments and results."""
        rng = self.rng
        self.names = 0
        arguments = [self.new_value() for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.3:
            arguments.append(replace(arguments[0], name=self.new_name(), shape=None))
        arguments = [
            replace(value, sharding=self.maybe_sharding(value.shape)) for value in arguments
        ]
        listed = ", ".join(
            f"{value.name}: {value.type}{self.value_attributes(value.sharding)}"
            for value in arguments
        )
        start = len(self.lines)
        self.lines.append("")
        body = indent + "  "
        if rng.random() < 0.2 and arguments[-1].is_static:
            edge = self.result(arguments[-1], f"sdy.func_data_flow_edge {arguments[-1].name}", body)
            arguments[-1] = edge
        values = self.block(body, arguments, frozenset(), 0)
        returned = rng.sample(values, rng.randint(0, min(2, len(values))))
        results = ", ".join(
            value.type + self.value_attributes(self.maybe_sharding(value.shape))
            for value in returned
        )
        keyword = rng.choice(("", "public ", "private "))
        self.lines[start] = (
            f"{indent}func.func {keyword}{symbol(name)}({listed}) -> ({results})"
            f"{' attributes' + self.dictionary(1) if rng.random() < 0.2 else ''} {{"
        )
        types = ", ".join(value.type for value in returned)
        operands = ", ".join(value.name for value in returned)
        self.lines.append(f"{body}return {operands}{' : ' + types if types else ''}")
        self.lines.append(indent + "}")

    # --- Pieces ---------------------------------------------------------------------------------

    def new_name(self) -> str:
        """A name for a value."""
        self.names += 1
        return f"%v{self.names}"

    def new_value(self) -> Value:
        """A tensor of some type."""
        rng = self.rng
        shape = tuple(rng.choice(SIZES) for _ in range(rng.choice((0, 1, 2, 2, 3))))
        return Value(self.new_name(), shape, rng.choice(("f32", "i8")))

    def dictionary(self, probability: float = 0.15) -> str:
        """An attribute dictionary, or nothing."""
        if self.rng.random() >= probability:
            return ""
        entries = self.rng.sample(DICTIONARY_ENTRIES, self.rng.randint(1, 2))
        return f" {{{', '.join(entries)}}}"

    def value_attributes(self, sharding: TensorSharding | None) -> str:
        """The attributes of an argument or a result of a function."""
        return "" if sharding is None else f" {{sdy.sharding = #sdy.sharding{sharding}}}"

    def per_value(self, *shardings: TensorSharding | None) -> str:
        """The attribute dictionary with the shardings of an operation, if there are any."""
        if any(sharding is None for sharding in shardings):
            return self.dictionary()
        written = ", ".join(map(str, shardings))
        return f" {{sdy.sharding = #sdy.sharding_per_value<[{written}]>}}"

    def a_mesh(self) -> tuple[str | Mesh, Mesh]:
        """A mesh as written, which may be inlined, and what it is."""
        name = self.rng.choice(list(self.meshes))
        mesh = self.meshes[name]
        return (mesh if self.rng.random() < 0.15 else name), mesh

    def sharding(
        self,
        shape: tuple[int | None, ...] | None,
        bound: frozenset[str] = frozenset(),
        mesh: tuple[str | Mesh, Mesh] | None = None,
    ) -> TensorSharding:
        """A sharding for a value."""
        written, found = mesh or self.a_mesh()
        if found.is_maximal or shape is None:
            sharding = TensorSharding(written, ())
        else:
            sharding = random_sharding(self.rng, len(shape), without_axes(found, bound), written)
            if self.kinds and sharding.unreduced_axes:
                sharding = replace(sharding, reduction_kind=self.rng.choice(list(ReductionOp)))
        return sharding

    def maybe_sharding(
        self, shape: tuple[int | None, ...] | None, bound: frozenset[str] = frozenset()
    ) -> TensorSharding | None:
        """A sharding or none."""
        return self.sharding(shape, bound) if self.rng.random() < 0.5 else None

    def any_attribute(self) -> str:
        """One of the attributes of the dialect, in full, which is not checked where it stands."""
        sharding = self.sharding((8, 8))
        dims = sharding.dim_shardings
        axes = braced([axis for dim in dims for axis in dim.axes])
        mesh = self.rng.choice(list(self.meshes.values()))
        choices = [
            f"#sdy.mesh{mesh}",
            f"#sdy.sharding{sharding}",
            f"#sdy.sharding_per_value<[{sharding}, {sharding}]>",
            f"#sdy<axis_ref_list{axes}>",
            f"#sdy<list_of_axis_ref_lists[{axes}, {{}}]>",
            f"#sdy<manual_axes{braced(map(quoted, self.rng.sample(AXIS_NAMES, 2)))}>",
            f"#sdy.op_sharding_rule{self.rule((None, None))}",
            "#sdy<tensor_mapping[i, jz_2]>",
            '#sdy<all_to_all_param_list[{"u":(2)3}: 0->1]>',
            '#sdy<propagation_one_step{step-1 = [{"u" = operand-0 -> [result-2]}]}>',
        ]
        if dims:
            choices.append(f"#sdy<dimension_sharding{dims[0]}>")
        return self.rng.choice(choices)

    def rule(self, shape: tuple[int | None, ...]) -> str:
        """A sharding rule for an elementwise operation on two operands."""
        rng = self.rng
        factors: list[int] = []
        dims: list[str] = []
        for size in shape:
            divisors = [number for number in range(2, size or 2) if size and size % number == 0]
            if divisors and rng.random() < 0.4:
                sizes = [first := rng.choice(divisors), (size or first) // first]
            else:
                sizes = [size if size is not None else 5]
            dims.append("".join(factor_name(len(factors) + n) for n in range(len(sizes))))
            factors.extend(sizes)
        mapping = bracketed(dims)
        named = ", ".join(f"{factor_name(index)}={size}" for index, size in enumerate(factors))
        groups: dict[str, list[int]] = {"need_replication": [], "permutation": []}
        for index in range(len(factors)):
            if (group := rng.choice((*groups, None, None))) is not None:
                groups[group].append(index)
        groups["blocked_propagation"] = [
            index for index in range(len(factors)) if rng.random() < 0.2
        ]
        clauses = "".join(
            f" {group}={braced(map(factor_name, members))}"
            for group, members in groups.items()
            if members
        )
        custom = ", custom" if rng.random() < 0.3 else ""
        sizes = f" {{{named}}}" if named else ""
        return f"<({mapping}, {mapping})->({mapping}){sizes}{clauses}{custom}>"

    # --- Operations -----------------------------------------------------------------------------

    def result(
        self, like: Value, text: str, indent: str, sharding: TensorSharding | None = None
    ) -> Value:
        """Write an operation with one result, of the type of `like`."""
        value = replace(like, name=self.new_name(), sharding=sharding)
        self.lines.append(f"{indent}{value.name} = {text} : {value.type}")
        return value

    def block(
        self, indent: str, values: list[Value], bound: frozenset[str], depth: int
    ) -> list[Value]:
        """Write some operations on `values`; all values that there are then."""
        values = list(values)
        writers = [
            self.sharded_operation,
            self.constraint_or_reshard,
            self.constraint_or_reshard,
            self.mark,
            self.constant,
            self.edge,
            self.collective,
            self.collective,
            self.collective,
            self.with_rule,
            self.with_edges,
            self.several_results,
            self.no_results,
        ]
        if depth < 3:
            writers += [self.manual_computation, self.named_computation, self.case]
        for _ in range(self.rng.randint(1, 6 - depth)):
            values += self.rng.choice(writers)(indent, values, bound, depth)
        return values

    def tensor(self, values: list[Value], *, static: bool = False) -> Value | None:
        """One of the values that is a tensor, perhaps none."""
        found = [
            value for value in values if value.shape is not None and (value.is_static or not static)
        ]
        return self.rng.choice(found) if found else None

    def sharded_operation(self, indent, values, bound, _):
        value = self.tensor(values)
        if value is None:
            return []
        sharding = self.maybe_sharding(value.shape, bound)
        text = f"stablehlo.negate {value.name}{self.per_value(sharding)}"
        return [self.result(value, text, indent, sharding)]

    def constraint_or_reshard(self, indent, values, bound, _):
        value = self.rng.choice(values)
        sharding = self.sharding(value.shape, bound)
        name = self.rng.choice(("sharding_constraint", "reshard"))
        if self.kinds and sharding.unreduced_axes:
            # Axes can become unreduced for a sum only, and keep the kind that they have.
            sharding = replace(sharding, reduction_kind=ReductionOp.SUM)
            source = TensorSharding(sharding.mesh_or_ref, sharding.dim_shardings)
            text = f"sdy.reshard {value.name} {source}"
            value = self.result(value, text, indent, source)
        text = f"sdy.{name} {value.name} {sharding}{self.dictionary()}"
        return [self.result(value, text, indent, sharding)]

    def mark(self, indent, values, bound, _):
        value = self.tensor(values)
        if value is None:
            return []
        rng = self.rng
        if rng.random() < 0.5:
            number = rng.randint(-3, 2**40)
            text = f"sdy.sharding_group {value.name} group_id={number}{self.dictionary()}"
            self.lines.append(f"{indent}{text} : {value.type}")
            return []
        sharding = self.maybe_sharding(value.shape, bound)
        direction = rng.choice(("NONE", "FORWARD", "BACKWARD", '"FORWARD"'))
        text = f"sdy.propagation_barrier {value.name} allowed_direction={direction}"
        return [self.result(value, text + self.per_value(sharding), indent, sharding)]

    def constant(self, indent, values, bound, _):
        value = self.tensor(values, static=True)
        if value is None:
            return []
        number = "1.5" if value.element == "f32" else "-2"
        if value.shape == (4,):
            number = f"[{number}, {number}, {number}, {number}]"
        sharding = self.maybe_sharding(value.shape, bound)
        attributes = self.per_value(sharding)
        return [self.result(value, f"sdy.constant{attributes} dense<{number}>", indent, sharding)]

    def edge(self, indent, values, bound, _):
        value = self.tensor(values, static=True)
        if value is None:
            return []
        owner = self.result(value, f"stablehlo.negate {value.name}", indent)
        sharding = self.maybe_sharding(value.shape, bound)
        clause = "" if sharding is None else f" sharding={sharding}"
        text = f"sdy.data_flow_edge {owner.name}{clause}{self.dictionary()}"
        return [self.result(value, text, indent, sharding)]

    def collective(self, indent, values, bound, _):
        value = self.tensor(values)
        if value is None or not value.shape:
            return []
        written, mesh = self.a_mesh()
        if mesh.is_maximal or mesh.is_empty:
            return []
        usable = without_axes(mesh, bound)
        source = random_sharding(self.rng, len(value.shape), usable, written)
        name, axes, _, result = collective_of(self.rng, source, usable)
        if axes is not None and not len(axes) and name != "all_reduce":
            return []
        kind = ""
        if self.kinds and name in ("all_reduce", "reduce_scatter"):
            op = self.rng.choice(list(ReductionOp))
            if source.unreduced_axes:
                source = replace(source, reduction_kind=op)
            kind = f" {op}"
        text = f"stablehlo.negate {value.name}{self.per_value(source)}"
        operand = self.result(value, text, indent, source)
        listed = "" if axes is None else f" {axes}"
        text = f"sdy.{name}{kind}{listed} {operand.name} out_sharding={result}{self.dictionary()}"
        return [self.result(value, text, indent, result)]

    def with_rule(self, indent, values, *_):
        value = self.tensor(values, static=True)
        if value is None:
            return []
        text = (
            f"stablehlo.add {value.name}, {value.name} "
            f"{{sdy.sharding_rule = #sdy.op_sharding_rule{self.rule(value.shape)}}}"
        )
        return [self.result(value, text, indent)]

    def with_edges(self, indent, values, bound, _):
        value = self.tensor(values)
        if value is None:
            return []
        mesh = self.a_mesh()
        sharding = self.sharding(value.shape, bound, mesh)
        names = [axis.name for axis in mesh[1].axes]
        if not names:
            return []
        rng = self.rng
        steps = []
        for step in rng.sample(range(50), rng.randint(1, 3)):
            entries = ", ".join(
                f"{{{AxisRef(rng.choice(names))} = {source} -> [{target}]}}"
                for source, target in rng.sample(
                    [("operand-0", "result-0"), ("result-0", "operand-0, operand-1")],
                    rng.randint(1, 2),
                )
            )
            steps.append(f"{{step-{step} = [{entries}]}}")
        # The shardings of operand and result, if both are known, need a common mesh.
        bare = self.result(value, f"stablehlo.abs {value.name}", indent)
        text = (
            f"stablehlo.add {bare.name}, {bare.name} {{sdy.propagation_edges = "
            f"#sdy.propagation_edges<[{', '.join(steps)}]>, "
            f"sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}"
        )
        return [self.result(value, text, indent, sharding)]

    def several_results(self, indent, values, bound, _):
        operands = [self.rng.choice(values), self.rng.choice(values)]
        name = self.new_name()
        shardings = [self.maybe_sharding(value.shape, bound) for value in operands]
        types = ", ".join(value.type for value in operands)
        self.lines.append(
            f'{indent}{name}:2 = "stablehlo.optimization_barrier"({operands[0].name}, '
            f"{operands[1].name}){self.per_value(*shardings)} : ({types}) -> ({types})"
        )
        has_all = None not in shardings
        return [
            replace(value, name=f"{name}#{index}", sharding=sharding if has_all else None)
            for index, (value, sharding) in enumerate(zip(operands, shardings, strict=True))
        ]

    def no_results(self, indent, values, *_):
        value = self.rng.choice(values)
        shardings = self.rng.choice((f"[{self.sharding(None)}]", "[]"))
        self.lines.append(
            f"{indent}stablehlo.custom_call @note({value.name}) {{has_side_effect = true, "
            f"sdy.sharding = #sdy.sharding_per_value<{shardings}>}} : ({value.type}) -> ()"
        )
        return []

    def case(self, indent, values, bound, depth):
        """A region of another dialect, which sees the values around it."""
        value = self.tensor(values)
        if value is None:
            return []
        which = self.new_name()
        self.lines.append(f"{indent}{which} = stablehlo.constant dense<0> : tensor<i32>")
        name = self.new_name()
        self.lines.append(f'{indent}{name} = "stablehlo.case"({which}) ({{')
        inner = self.block(indent + "  ", [value], bound, depth + 1)
        same = [found for found in inner if found.type == value.type]
        returned = self.rng.choice(same)
        self.lines.append(f"{indent}  stablehlo.return {returned.name} : {value.type}")
        sharding = self.maybe_sharding(value.shape, bound)
        self.lines.append(f"{indent}}}){self.per_value(sharding)} : (tensor<i32>) -> {value.type}")
        return [replace(value, name=name, sharding=sharding)]

    # --- Computations ---------------------------------------------------------------------------

    def named_computation(self, indent, values, bound, depth):
        rng = self.rng
        operands = rng.sample(values, rng.randint(0, min(2, len(values))))
        ins = self.clause("in_shardings", operands, bound)
        name = quoted(rng.choice(("f", "a name", 'qu"ote', "")))
        arguments = [replace(value, name=self.new_name(), sharding=None) for value in operands]
        return self.computation(
            indent,
            f"sdy.named_computation<{name}>",
            operands,
            arguments,
            lambda returned: (
                ins + self.clause("out_shardings", returned, bound),
                [replace(value, sharding=None) for value in returned],
            ),
            bound,
            depth,
        )

    def clause(self, name: str, values: list[Value], bound: frozenset[str]) -> str:
        """The shardings of a named computation, which may be left out."""
        if self.rng.random() < 0.5:
            return ""
        shardings = [str(self.sharding(value.shape, bound)) for value in values]
        return f" {name}={bracketed(shardings)}"

    def manual_computation(self, indent, values, bound, depth):
        rng = self.rng
        written, mesh = self.a_mesh()
        if mesh.is_maximal:  # see docs/differences.md
            return []
        free = without_axes(mesh, bound)
        manual = frozenset(axis.name for axis in free.axes if rng.random() < 0.5)
        operands = rng.sample(values, rng.randint(0, min(2, len(values))))
        ins = [self.manual_sharding(value, (written, mesh), bound, manual) for value in operands]
        arguments = [
            replace(
                value,
                name=self.new_name(),
                shape=scaled(value.shape, sharding, mesh, manual, inwards=True),
                sharding=None,
            )
            for value, sharding in zip(operands, ins, strict=True)
        ]

        def results(returned):
            outs = [
                self.manual_sharding(value, (written, mesh), bound, manual, divides=False)
                for value in returned
            ]
            names = rng.sample(sorted(manual), len(manual))
            return (
                f" in_shardings={bracketed(map(str, ins))} out_shardings="
                f"{bracketed(map(str, outs))} manual_axes={braced(map(quoted, names))}",
                [
                    replace(
                        value,
                        shape=scaled(value.shape, sharding, mesh, manual, inwards=False),
                        sharding=sharding,
                    )
                    for value, sharding in zip(returned, outs, strict=True)
                ],
            )

        return self.computation(
            indent,
            "sdy.manual_computation",
            operands,
            arguments,
            results,
            bound | manual,
            depth,
        )

    def manual_sharding(self, value, mesh, bound, manual, *, divides=True) -> TensorSharding:
        """A sharding whose manual axes come first, and divide the dimensions if they have to."""
        sharding = self.sharding(value.shape, bound, mesh)
        dims: list[DimensionSharding] = []
        for index, dim in enumerate(sharding.dim_shardings):
            ordered = sorted(dim.axes, key=lambda axis: axis.name not in manual)
            # Parts that are neighbours only now would have to be merged.
            if len({axis.name for axis in ordered}) < len(ordered):
                ordered = [axis for axis in ordered if axis.sub_axis_info is None]
            size = value.shape[index]
            if divides and size is not None and size % manual_size(ordered, mesh[1], manual):
                ordered = [axis for axis in ordered if axis.name not in manual]
            changed = dim.with_axes(tuple(ordered))
            dims.append(changed if ordered or not dim.is_closed else DimensionSharding((), True))
        return sharding.with_dims(tuple(dims))

    def computation(self, indent, head, operands, arguments, results, bound, depth):
        """Write a computation whose body is random, and returns some of the values in it."""
        start = len(self.lines)
        self.lines.append("")
        if arguments:
            inside = self.block(indent + "  ", arguments, bound, depth + 1)
        else:
            made = Value(self.new_name(), (4,))
            text = f"{indent}  {made.name} = sdy.constant dense<0.0> : {made.type}"
            self.lines.append(text)
            inside = self.block(indent + "  ", [made], bound, depth + 1)
        returned = self.rng.sample(inside, self.rng.randint(0, min(2, len(inside))))
        clauses, outside = results(returned)
        listed = ", ".join(f"{value.name}: {value.type}" for value in arguments)
        name = self.new_name()
        assigned = f"{name}:{len(outside)} = " if outside else ""
        self.lines[start] = (
            f"{indent}{assigned}{head}({', '.join(value.name for value in operands)}){clauses} "
            f"({listed}) {{"
        )
        types = ", ".join(value.type for value in returned)
        names = ", ".join(value.name for value in returned)
        values = f" {names} : {types}" if returned else ""
        self.lines.append(f"{indent}  sdy.return{self.dictionary()}{values}")
        operand_types = ", ".join(value.type for value in operands)
        result_types = ", ".join(value.type for value in outside)
        self.lines.append(f"{indent}}}{self.dictionary()} : ({operand_types}) -> ({result_types})")
        return [
            replace(value, name=f"{name}#{index}" if len(outside) > 1 else name)
            for index, value in enumerate(outside)
        ]


def manual_size(axes: list[AxisRef], mesh: Mesh, manual: frozenset[str]) -> int:
    """The number of parts into which manual axes cut a dimension."""
    return math.prod(axis.size(mesh) for axis in axes if axis.name in manual)


def scaled(
    shape: tuple[int | None, ...] | None,
    sharding: TensorSharding,
    mesh: Mesh,
    manual: frozenset[str],
    *,
    inwards: bool,
) -> tuple[int | None, ...] | None:
    """The local shape of a global one, or the other way round, along manual axes."""
    if shape is None or not sharding.dim_shardings:
        return shape
    parts = [manual_size(list(dim.axes), mesh, manual) for dim in sharding.dim_shardings]
    return tuple(
        size if size is None else size // part if inwards else size * part
        for size, part in zip(shape, parts, strict=True)
    )


def random_module(seed: int, *, kinds: bool = False) -> str:
    """A valid module; `kinds` as in `ModuleWriter`."""
    writer = ModuleWriter(random.Random(seed), kinds=kinds)
    writer.module()
    return "\n".join(writer.lines) + "\n"
