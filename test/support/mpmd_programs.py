"""Random programs of named computations, with assignments to meshes."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace

TENSOR = "tensor<4x8xf32>"
BINARY = ("add", "multiply", "subtract", "maximum")
UNARY = ("tanh", "negate", "exponential")


@dataclass
class NamedProgram:
    """A program and its partitioning.

    Attributes:
        text: a module, without the topology.
        topology: the meshes with their axes.
        assignment: the mesh of each name, or the mesh and the stage.
        options: the options of C++ Shardy.
        inputs: the mesh of each argument, if any is placed.
        outputs: the mesh of each result, likewise.
        donated: the arguments that the user gives away.
        name: what the program is about.
    """

    text: str
    topology: list[tuple[str, list[tuple[str, int]]]]
    assignment: dict[str, str | tuple[str, int]] = field(default_factory=dict)
    options: dict[str, bool] = field(default_factory=dict)
    inputs: list[str | None] = field(default_factory=list)
    outputs: list[str | None] = field(default_factory=list)
    donated: list[int] = field(default_factory=list)
    name: str = ""

    @property
    def with_topology(self) -> str:
        """The module, with the topology as an attribute of its function."""
        listed: list[str] = []
        for name, axes in self.topology:
            sizes = ", ".join(f'"{axis}"={size}' for axis, size in axes)
            listed.append(f'<"{name}" : <[{sizes}]>>')
        meshes = ", ".join(listed)
        attributes = f"attributes {{topology = #mpmd.topology<{meshes}>}} {{\n"
        return self.text.replace("{\n", attributes, 1)

    @property
    def pipeline(self) -> str:
        """The import pipeline with the options."""
        names = ",".join(
            f"{name}@{mesh if isinstance(mesh, str) else '/'.join(map(str, mesh))}"
            for name, mesh in self.assignment.items()
        )
        flags = "".join(
            f" {name.removeprefix('mpmd_').replace('_', '-')}={str(value).lower()}"
            for name, value in self.options.items()
        )
        for option, placed in (("input", self.inputs), ("output", self.outputs)):
            listed = [f"{index}@{mesh}" for index, mesh in enumerate(placed) if mesh]
            flags += f" {option}-assignment={','.join(listed)}" if listed else ""
        return f"mpmd-import-pipeline{{name-to-mesh-assignment={names}{flags}}}"


def random_program(seed: int) -> NamedProgram:
    """Return the program of a seed."""
    return _Writer(random.Random(seed)).program()


class _Writer:
    def __init__(self, choices: random.Random):
        self.choices = choices
        self.lines: list[str] = []
        self.values: list[str] = []
        # Operations on constants would be folded, which the host does in fewer cases.
        self.constants: list[str] = []
        self.count = 0

    def program(self) -> NamedProgram:
        choices = self.choices
        meshes = ["m1", "m2", "m3"][: choices.choice([2, 2, 3])]
        names = [f"s{index}" for index in range(choices.randint(1, 5))]
        assignment = {name: choices.choice(meshes) for name in names}
        arguments = [f"%a{index}" for index in range(choices.randint(1, 3))]
        self.values += arguments
        for name in names:
            for _ in range(choices.choice([0, 0, 1, 1, 2])):
                self.operation()
            self.named(name, assignment)
        for _ in range(choices.choice([0, 0, 1, 2])):
            self.operation()
        if choices.random() < 0.2:
            mesh = choices.choice(meshes)
            assignment["t"] = mesh
            self.define(f'mpmd.named_tensor {choices.choice(self.values)} name="t" : {TENSOR}')
        results = [choices.choice(self.values[-4:]) for _ in range(choices.randint(1, 3))]
        if choices.random() < 0.7:
            results = list(dict.fromkeys(results))
        types = ", ".join([TENSOR] * len(results))
        signature = ", ".join(f"{argument}: {TENSOR}" for argument in arguments)
        text = f"func.func public @main({signature}) -> ({types}) {{\n" + "\n".join(
            [*self.lines, f"return {', '.join(results)} : {types}", "}\n"]
        )
        options = choices.choice(
            [
                {"mpmd_infer_transfers": True},
                {"mpmd_infer_transfers": True},
                {"mpmd_infer_cross_mesh_reductions": True},
                {},
            ]
        )
        topology = [(name, [("x", 2)]) for name in meshes]
        return NamedProgram(text, topology, assignment, options)

    def define(self, operation: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {operation}")
        self.values.append(name)
        return name

    def operation(self) -> None:
        """Add an operation without a mesh."""
        choices = self.choices
        kind = choices.random()
        if kind < 0.15:
            number = choices.choice(["1.0", "2.0"])
            self.define(f"stablehlo.constant dense<{number}> : {TENSOR}")
            self.constants.append(self.values.pop())
        elif kind < 0.55:
            operands = choices.choices(self.values, k=2)
            self.define(f"stablehlo.{choices.choice(BINARY)} {', '.join(operands)} : {TENSOR}")
        elif kind < 0.95:
            self.define(
                f"stablehlo.{choices.choice(UNARY)} {choices.choice(self.values)} : {TENSOR}"
            )
        else:
            self.define(f"mpmd.broadcast {choices.choice(self.values)} : {TENSOR}")

    def named(self, name: str, assignment: dict[str, str]) -> None:
        """Add a named computation, perhaps with another one inside."""
        choices = self.choices
        operands = choices.choices(self.values, k=choices.randint(1, 3))
        arguments = [f"%b{index}" for index in range(len(operands))]
        if self.constants and choices.random() < 0.5:
            operands.append(choices.choice(self.constants))
        body: list[str] = []
        current = list(arguments)
        for index in range(choices.randint(1, 3)):
            if choices.random() < 0.5:
                pair = choices.choices(current, k=2)
                body.append(
                    f"%c{index} = stablehlo.{choices.choice(BINARY)} {', '.join(pair)} : {TENSOR}"
                )
            else:
                body.append(
                    f"%c{index} = stablehlo.{choices.choice(UNARY)} {choices.choice(current)} "
                    f": {TENSOR}"
                )
            current.append(f"%c{index}")
        if choices.random() < 0.15:
            inner = f"{name}_inner"
            assignment[inner] = assignment[name]
            body.append(
                f'%n = mpmd.named_computation<"{inner}"> ({current[-1]}) (%i: {TENSOR}) {{\n'
                f"%j = stablehlo.tanh %i : {TENSOR}\nmpmd.return %j : {TENSOR}\n}} "
                f": ({TENSOR}) -> {TENSOR}"
            )
            current.append("%n")
        returned = [current[-1]]
        kind = choices.random()
        if kind < 0.35:
            returned.append(choices.choice(current))
        elif kind < 0.45:
            body.append(f"%k = stablehlo.constant dense<3.0> : {TENSOR}")
            returned.append("%k")
        types = ", ".join([TENSOR] * len(returned))
        arguments += ["%d"] * (len(operands) - len(arguments))
        signature = ", ".join(f"{argument}: {TENSOR}" for argument in arguments)
        if len(operands) > len(self.used(arguments)):
            last = f"%e = stablehlo.multiply {returned[0]}, %d : {TENSOR}"
            body.append(last)
            returned[0] = "%e"
        results = [f"%v{self.count + index}" for index in range(len(returned))]
        head = f"%w{self.count}:{len(returned)}" if len(returned) > 1 else results[0]
        count = choices.choice(["", "", "", "(1)"])
        self.lines.append(
            f'{head} = mpmd.named_computation<"{name}"{count}> ({", ".join(operands)}) '
            f"({signature}) {{\n"
            + "\n".join(body)
            + f"\nmpmd.return {', '.join(returned)} : {types}\n}} "
            f": ({', '.join([TENSOR] * len(operands))}) -> "
            + (f"({types})" if len(returned) > 1 else TENSOR)
        )
        if len(returned) > 1:
            results = [f"%w{self.count}#{index}" for index in range(len(returned))]
        self.count += len(returned)
        self.values += [
            result for result, value in zip(results, returned, strict=True) if value != "%k"
        ]

    def used(self, arguments: list[str]) -> list[str]:
        """The arguments that are not the shared constant."""
        return [argument for argument in arguments if argument != "%d"]


def sharded(program: NamedProgram, seed: int) -> NamedProgram:
    """The program on meshes of 2 x 2, with random shardings, and arguments that are given away.

    Constants that C++ Shardy's folding would remove are others here.
    """
    choices = random.Random(seed)
    head, rest = program.text.split("{\n", 1)
    name, arguments, results = re.split(r"[(](?=%)|[)] -> ", head)
    given = [_sharded(each, choices) for each in arguments.split(", ")]
    returned = [_sharded(each, choices) for each in re.findall(r"tensor<[^>]*>", results)]
    text = (
        f'sdy.mesh @mesh = <["x"=2, "y"=2]>\n{name}({", ".join(given)}) -> '
        f"({', '.join(returned)}) {{\n{rest}"
    )
    return replace(
        program,
        text=re.sub(r"dense<[01]\.0>", "dense<5.0>", text),
        topology=[(mesh, [("x", 2), ("y", 2)]) for mesh, _ in program.topology],
        donated=[index for index in range(len(given)) if choices.random() < 0.3],
    )


def _sharded(declared: str, choices: random.Random) -> str:
    if choices.random() < 0.5:
        return declared
    axes, dims = ["x", "y"], []
    for _ in range(2):
        if choices.random() < 0.45:
            axis = axes.pop(choices.randrange(len(axes)))
            dims.append(f'{{"{axis}"{choices.choice(["", ", ?"])}}}')
        else:
            dims.append(choices.choice(["{}", "{?}"]))
    return f"{declared} {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>}}"


# --- Programs that are not random ---------------------------------------------------------------

TWO_MESHES = [("m1", [("x", 2)]), ("m2", [("x", 2)])]


def _named(name: str, operands: str, operation: str, count: int = 1) -> str:
    arguments = ", ".join(f"%b{index}: {TENSOR}" for index in range(count))
    values = ", ".join(f"%b{index}" for index in range(count))
    types = ", ".join([TENSOR] * count)
    return (
        f'mpmd.named_computation<"{name}"> ({operands}) ({arguments}) {{\n'
        f"%r = stablehlo.{operation} {values} : {TENSOR}\nmpmd.return %r : {TENSOR}\n}} "
        f": ({types}) -> {TENSOR}"
    )


_STEP = f"""
func.func private @step(%w: {TENSOR}, %x: {TENSOR}, %acc: {TENSOR}) -> ({TENSOR}, {TENSOR}) {{
%0 = {_named("s1", "%w", "tanh")}
%1 = {_named("s2", "%0, %x", "add", 2)}
%2 = stablehlo.add %acc, %1 : {TENSOR}
return %2, %1 : {TENSOR}, {TENSOR}
}}
"""

CALLS = NamedProgram(
    f"""func.func public @main(%w: {TENSOR}, %x: {TENSOR}, %y: {TENSOR}) -> ({TENSOR}, {TENSOR}) {{
%z = stablehlo.constant dense<0.0> : {TENSOR}
%0:2 = mpmd.call @step(%w, %x, %z) {{call_counter = 0 : ui32}}
    : ({TENSOR}, {TENSOR}, {TENSOR}) -> ({TENSOR}, {TENSOR})
%1:2 = mpmd.call @step(%w, %y, %0#0) {{call_counter = 1 : ui32}}
    : ({TENSOR}, {TENSOR}, {TENSOR}) -> ({TENSOR}, {TENSOR})
return %1#0, %0#1 : {TENSOR}, {TENSOR}
}}
{_STEP}""",
    TWO_MESHES,
    {"s1": "m1", "s2": "m2"},
    name="calls",
)

LOOP = NamedProgram(
    f"""func.func public @main(%w: {TENSOR}, %x: {TENSOR}) -> {TENSOR} {{
%0:2 = mpmd.for (%w, %x) {{iterations = 2 : ui32, unroll_factor = 2 : ui32}}
    (%a: {TENSOR}, %b: {TENSOR}, %index: tensor<ui32>) {{
  %1:2 = mpmd.call @step(%a, %b, %b) : ({TENSOR}, {TENSOR}, {TENSOR}) -> ({TENSOR}, {TENSOR})
  mpmd.return %a, %1#0 : {TENSOR}, {TENSOR}
}} : {TENSOR}, {TENSOR}
return %0#1 : {TENSOR}
}}
{_STEP}""",
    TWO_MESHES,
    {"s1": "m1", "s2": "m2"},
    name="loop",
)

PLACED = NamedProgram(
    f"""func.func public @main(%a: {TENSOR}, %b: {TENSOR}) -> ({TENSOR}, {TENSOR}, {TENSOR}) {{
%0 = {_named("s1", "%a", "tanh")}
%1 = {_named("s2", "%0", "tanh")}
%2 = stablehlo.tanh %b : {TENSOR}
%3 = mpmd.named_tensor %2 name="t" : {TENSOR}
return %1, %b, %3 : {TENSOR}, {TENSOR}, {TENSOR}
}}
""",
    TWO_MESHES,
    {"s1": "m1", "s2": "m2", "t": "m2#pinned_host"},
    {"mpmd_infer_transfers": True},
    inputs=["m2#pinned_host", "m1"],
    outputs=["m1", None, None],
    name="placed values",
)

SLICES = NamedProgram(
    f"""func.func public @main(%a: {TENSOR}, %b: {TENSOR}) -> {TENSOR} {{
%0 = {_named("s1", "%a", "tanh")}
%1 = {_named("s2", "%b", "tanh")}
%2 = stablehlo.reshape %0 : ({TENSOR}) -> tensor<1x4x8xf32>
%3 = stablehlo.reshape %1 : ({TENSOR}) -> tensor<1x4x8xf32>
%4 = stablehlo.concatenate %2, %3, dim = 0
    : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
%5 = stablehlo.constant dense<0.0> : tensor<f32>
%6 = stablehlo.reduce(%4 init: %5) applies stablehlo.add across dimensions = [0]
    : (tensor<2x4x8xf32>, tensor<f32>) -> {TENSOR}
return %6 : {TENSOR}
}}
""",
    TWO_MESHES,
    {"s1": "m1", "s2": "m2"},
    {"mpmd_infer_cross_mesh_reductions": True},
    name="slices",
)

UNEVEN = NamedProgram(
    f"""sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: {TENSOR}, %b: {TENSOR}) -> {TENSOR} {{
%0 = mpmd.named_computation<"s1"> (%a, %b) (%b0: {TENSOR}, %b1: {TENSOR}) {{
%1 = stablehlo.add %b0, %b1 : {TENSOR}
%2 = sdy.sharding_constraint %1 <@mesh, [{{"x"}}, {{}}]> : {TENSOR}
%3 = stablehlo.tanh %2 : {TENSOR}
mpmd.return %3 : {TENSOR}
}} : ({TENSOR}, {TENSOR}) -> {TENSOR}
%4 = {_named("s2", "%0", "tanh")}
return %4 : {TENSOR}
}}
""".replace(TENSOR, "tensor<6x8xf32>"),
    [("m1", [("x", 4)]), ("m2", [("x", 4)])],
    {"s1": "m1", "s2": "m2"},
    name="uneven",
)

SPLIT = NamedProgram(
    f"""func.func public @main(%a: {TENSOR}, %b: {TENSOR})
    -> ({TENSOR}, {TENSOR}, {TENSOR}, {TENSOR}) {{
%0:4 = mpmd.named_computation<"s1"(1)> (%a, %b) (%b0: {TENSOR}, %b1: {TENSOR}) {{
%1 = stablehlo.tanh %b1 : {TENSOR}
%2 = stablehlo.multiply %1, %b0 : {TENSOR}
%3 = stablehlo.multiply %1, %b1 : {TENSOR}
%4 = stablehlo.negate %3 : {TENSOR}
mpmd.return %2, %3, %1, %4 : {TENSOR}, {TENSOR}, {TENSOR}, {TENSOR}
}} : ({TENSOR}, {TENSOR}) -> ({TENSOR}, {TENSOR}, {TENSOR}, {TENSOR})
%5 = {_named("s0", "%0#0, %0#1", "add", 2).replace('"s0"', '"s0"(1)')}
return %0#1, %0#2, %0#3, %5 : {TENSOR}, {TENSOR}, {TENSOR}, {TENSOR}
}}
""",
    TWO_MESHES,
    {"s0": "m1", "s1": "m2"},
    {"mpmd_split_bwd_fragments": True},
    name="split",
)


def _computation(name: str, operands: str, products: list[str], returned: str) -> str:
    count = operands.count("%")
    arguments = ", ".join(f"%b{index}: {TENSOR}" for index in range(count))
    body = "\n".join(
        f"%p{index} = stablehlo.multiply {pair} : {TENSOR}" for index, pair in enumerate(products)
    )
    types = ", ".join([TENSOR] * returned.count("%"))
    return (
        f"mpmd.named_computation<{name}> ({operands}) ({arguments}) {{\n{body}\n"
        f"mpmd.return {returned} : {types}\n}} : ({', '.join([TENSOR] * count)}) -> ({types})"
    )


def training(
    stages: int = 2, microbatches: int = 4, *, meshes: int | None = None, split: bool = True
) -> NamedProgram:
    """A training step with accumulators that go from microbatch to microbatch.

    With fewer meshes than stages, stage s is on mesh s modulo their number.
    """
    numbers = range(stages)
    weights, gradients = ([f"%{name}{each}" for each in numbers] for name in "wg")
    types = ", ".join([TENSOR] * (stages + 1))
    lines: list[str] = []
    inputs = ["%x"]
    for each in numbers:
        operands = f"{weights[each]}, {inputs[-1]}"
        body = _computation(f'"s{each}"', operands, ["%b0, %b1", "%p0, %p0"], "%p1, %p0")
        lines.append(f"%h{each}:2 = {body}")
        inputs.append(f"%h{each}#0")
    for name, origin in (("%l", '"loss"'), ("%dy", '"loss"(1)')):
        lines.append(f"{name} = {_computation(origin, inputs[-1], ['%b0, %b0'], '%p0')}")
    given, added = "%dy", list(gradients)
    for each in reversed(numbers):
        operands = [given, f"%h{each}#1", weights[each], inputs[each]]
        products = ["%b0, %b1", "%p0, %b2", "%p0, %b3"]
        if each:
            returned, given, added[each] = "%p1, %p2", f"%d{each}#0", f"%d{each}#1"
        else:
            operands, products = [*operands[:2], operands[3]], products[:2]
            returned, added[each] = "%p1", "%d0"
        body = _computation(f'"s{each}"(1)', ", ".join(operands), products, returned)
        lines.append(f"%d{each}{':2' if each else ''} = {body}")
    lines += [
        f"%a{each} = stablehlo.add {gradients[each]}, {added[each]} : {TENSOR}" for each in numbers
    ]
    sums = ", ".join(f"%a{each}" for each in numbers)
    arguments = ", ".join(f"{each}: {TENSOR}" for each in (*weights, "%x", *gradients))
    body = "\n".join(lines)
    step = (
        f"func.func private @step({arguments}) -> ({types}) {{\n{body}\n"
        f"return %l, {sums} : {types}\n}}\n"
    )
    lines = [f"%z = stablehlo.constant dense<0.0> : {TENSOR}"]
    carried, total = ["%z"] * stages, ""
    for index in range(microbatches):
        operands = ", ".join([*weights, f"%x{index}", *carried])
        lines.append(
            f"%c{index}:{stages + 1} = mpmd.call @step({operands}) "
            f"{{call_counter = {index} : ui32}} : ({', '.join([TENSOR] * (2 * stages + 1))}) -> "
            f"({types})"
        )
        carried = [f"%c{index}#{each + 1}" for each in numbers]
        if total:
            lines.append(f"%t{index} = stablehlo.add {total}, %c{index}#0 : {TENSOR}")
        total = f"%t{index}" if total else "%c0#0"
    for each in numbers:
        operands = f"{weights[each]}, {carried[each]}"
        update = _computation(f'"u{each}"', operands, ["%b0, %b1"], "%p0")
        lines.append(f"%u{each} = {update}")
    updated = ", ".join(f"%u{each}" for each in numbers)
    lines.append(f"return {total}, {updated} : {types}")
    names = [*weights, *(f"%x{index}" for index in range(microbatches))]
    arguments = ", ".join(f"{name}: {TENSOR}" for name in names)
    body = "\n".join(lines)
    mesh = {each: f"m{each % (meshes or stages) + 1}" for each in numbers}
    placed = {each: (mesh[each], each) if meshes else mesh[each] for each in numbers}
    return NamedProgram(
        f"func.func public @main({arguments}) -> ({types}) {{\n{body}\n}}\n{step}",
        [(each, [("x", 2)]) for each in dict.fromkeys(mesh.values())],
        {
            **{f"s{each}": placed[each] for each in numbers},
            "loss": mesh[stages - 1],
            **{f"u{each}": mesh[each] for each in numbers},
        },
        {"mpmd_split_bwd_fragments": split},
        name="training step",
    )


TRAINING = training()
