# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random attributes and programs come back as they were written."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_sdy import model
from mlir_sdy.assembly import asm, parse
from mlir_sdy.assembly.attribute_text import BODIES, full_text, read_full_attribute
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.attributes import VALUE_CLASSES, attribute_of, mnemonic_of

# --- Values of every kind -----------------------------------------------------------------------

NAMES = st.one_of(
    st.sampled_from(["x", "y", "a b", 'qu"ote', "back\\slash", "line\nbreak", "tab\t", "ü", ""]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
SYMBOLS = NAMES.filter(bool)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
SMALL = st.integers(0, 40)


def tuples(elements, min_size=0):
    return st.lists(elements, min_size=min_size, max_size=3).map(tuple)


SUB_AXES = st.builds(model.SubAxisInfo, NUMBERS, NUMBERS)
AXES = st.builds(model.AxisRef, NAMES, st.none() | SUB_AXES)
AXIS_LISTS = st.builds(model.AxisRefList, tuples(AXES))
MESH_AXES = st.builds(model.MeshAxis, NAMES, st.integers(1, 2**63 - 1))


@st.composite
def meshes(draw):
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    if not names:
        return model.Mesh((), draw(st.just(()) | st.tuples(st.integers(0, 9))))
    axes = tuple(model.MeshAxis(name, draw(st.integers(1, 3))) for name in names)
    size = model.Mesh(axes).total_size
    return model.Mesh(axes, tuple(draw(st.just(()) | st.permutations(range(size)))))


DIMENSIONS = st.builds(
    model.DimensionSharding, tuples(AXES), st.booleans(), st.none() | st.integers(0, 2**63 - 1)
)
# A kind without axes to reduce over has no text.
SHARDINGS = st.builds(
    model.TensorSharding, SYMBOLS | meshes(), tuples(DIMENSIONS), tuples(AXES), tuples(AXES)
) | st.builds(
    model.TensorSharding,
    SYMBOLS,
    tuples(DIMENSIONS),
    unreduced_axes=tuples(AXES, 1),
    reduction_kind=st.sampled_from(model.ReductionOp),
)
DIM_MAPPINGS = st.builds(model.DimMapping, tuples(SMALL, 1))
TENSOR_MAPPINGS = st.builds(model.TensorMapping, tuples(DIM_MAPPINGS))
FACTORS = tuples(SMALL)
RULES = st.builds(
    model.OpShardingRule,
    st.lists(NUMBERS, max_size=25).map(tuple),
    tuples(TENSOR_MAPPINGS, 1),
    tuples(TENSOR_MAPPINGS, 1),
    FACTORS,
    FACTORS,
    FACTORS,
    FACTORS,
    st.booleans(),
)
ALL_TO_ALL = st.builds(model.AllToAllParam, tuples(AXES, 1), NUMBERS, NUMBERS)
EDGE_VALUES = st.builds(model.EdgeValueRef, st.sampled_from(model.EdgeNodeType), NUMBERS)
DETAILS = st.builds(
    lambda axis, values: model.AxisToPropagationDetails(axis, values[0], tuple(values[1:])),
    AXES,
    st.lists(EDGE_VALUES, min_size=2, max_size=4, unique=True),
)
STEPS = st.builds(model.PropagationOneStep, NUMBERS, tuples(DETAILS, 1))
VALID_STEPS = st.lists(
    st.builds(model.PropagationOneStep, st.integers(0, 2**63 - 1), tuples(DETAILS, 1)),
    min_size=1,
    max_size=3,
    unique_by=lambda step: step.step_index,
)

VALUES = {
    "all_to_all_param": ALL_TO_ALL,
    "all_to_all_param_list": st.builds(model.AllToAllParamList, tuples(ALL_TO_ALL)),
    "axis_ref": AXES,
    "axis_ref_list": AXIS_LISTS,
    "axis_to_propagation_details": DETAILS,
    "dim_mapping": DIM_MAPPINGS,
    "dimension_sharding": DIMENSIONS,
    "edge_value_ref": EDGE_VALUES,
    "list_of_axis_ref_lists": st.builds(model.ListOfAxisRefLists, tuples(AXIS_LISTS)),
    "manual_axes": st.builds(model.ManualAxes, tuples(NAMES)),
    "mesh": meshes(),
    "mesh_axis": MESH_AXES,
    "op_sharding_rule": RULES,
    "propagation_edges": st.builds(model.PropagationEdges, VALID_STEPS.map(tuple)),
    "propagation_one_step": STEPS,
    "sharding": SHARDINGS,
    "sharding_per_value": st.builds(model.TensorShardingPerValue, tuples(SHARDINGS)),
    "sub_axis_info": SUB_AXES,
    "tensor_mapping": TENSOR_MAPPINGS,
}


def test_there_are_values_of_every_kind():
    assert set(VALUES) == set(BODIES) == set(VALUE_CLASSES)


@pytest.mark.parametrize("mnemonic", VALUES)
def test_text_of_attributes(mnemonic, context):
    @given(VALUES[mnemonic])
    def check(value):
        assert mnemonic_of(value) == mnemonic
        text = full_text(mnemonic, value)
        cursor = Cursor(SourceText(text, "-"))
        assert read_full_attribute(cursor) == (mnemonic, value)
        assert cursor.position == len(text)
        # Through MLIR: in the dictionary of an operation, alone and in an array.
        module = f"module attributes {{test.a = {text}, test.b = [{text}, {{}}]}} {{\n}}\n"
        parsed = parse(module, context)
        assert asm(parsed) == module
        attribute = parsed.operation.attributes["test.a"]
        assert attribute.value == value
        assert attribute == attribute_of(value, context)
        assert parsed.operation.attributes["test.b"][0] == attribute

    check()


# --- Programs -----------------------------------------------------------------------------------

TYPE = "tensor<8x8xf32>"
CLOSED = '<@"the mesh", [{}, {}]>'
STATEMENTS = [
    'sdy.sharding_constraint A <@"the mesh", [{"x", ?}, {?}p1]> : T',
    'sdy.reshard A <@"the mesh", [{"z"}, {}]> {tag = "} // {"} : T',
    "sdy.propagation_barrier A allowed_direction=NONE : T",
    "stablehlo.add A, B : T",
    'stablehlo.negate B {sdy.sharding = #sdy.sharding_per_value<[<@"the mesh", [{}, {"z"}]>]>} : T',
    "sdy.constant dense<1.000000e+00> : T",
    'stablehlo.custom_call @f(A) {backend_config = "sdy.reshard %0 <"} : (T) -> T',
]
COMPUTATIONS = [
    f"sdy.manual_computation(A, B) in_shardings=[{CLOSED}, {CLOSED}] "
    f"out_shardings=[{CLOSED}] manual_axes={{}} ",
    'sdy.named_computation<"n \\22">(A, B) ',
]


class ProgramWriter:
    """Writes a random program; `draw` makes the choices."""

    def __init__(self, draw):
        self.draw = draw
        self.lines = []
        self.names = 0

    def new_name(self):
        self.names += 1
        return f"%value_{self.names}"

    def block(self, indent, values, depth):
        """Write some operations on `values`; the last one is returned."""
        for _ in range(self.draw(st.integers(0, 3))):
            kind = self.draw(st.sampled_from(STATEMENTS + COMPUTATIONS[: 2 * (depth < 3)]))
            for mark, text in (
                ("A", self.draw(st.sampled_from(values))),
                ("B", self.draw(st.sampled_from(values))),
                ("T", TYPE),
            ):
                kind = re.sub(rf"\b{mark}\b", text, kind)
            values.append(self.new_name())
            self.lines.append(f"{indent}{values[-1]} = {kind}")
            if kind.startswith(("sdy.manual", "sdy.named")):
                self.body(indent, depth + 1)
        return values[-1]

    def body(self, indent, depth):
        """Finish the computation on the last line; its body sees its own arguments only."""
        arguments = [self.new_name(), self.new_name()]
        typed = ", ".join(f"{argument}: {TYPE}" for argument in arguments)
        self.lines[-1] += f"({typed}) {{"
        returned = self.block(indent + "  ", arguments, depth)
        self.lines.append(f"{indent}  sdy.return {returned} : {TYPE}")
        self.lines.append(f"{indent}}} : ({TYPE}, {TYPE}) -> {TYPE}")


@st.composite
def programs(draw):
    writer = ProgramWriter(draw)
    returned = writer.block("    ", ["%a", "%b"], 0)
    body = "\n".join([*writer.lines, f"    return {returned} : {TYPE}"])
    return (
        'module {\n  sdy.mesh @"the mesh" = <["x"=4, "y"=2, "z"=2]>\n'
        f"  func.func @main(%a: {TYPE}, %b: {TYPE}) -> {TYPE} {{\n{body}\n  }}\n}}\n"
    )


def renamed(text):
    """The text with values numbered as they are defined; bodies side by side may share names."""
    numbers = {}
    definitions = itertools.count()

    def rename(match):
        string, name, definition = match.groups()
        if string:
            return string
        if definition:
            numbers[name] = next(definitions)
        return f"%v{numbers[name]}{definition}"

    return re.sub(r'("[^"]*")|(%\w+)( = |: |)', rename, text)


@given(programs())
def test_programs(context, text):
    module = parse(text, context)
    printed = asm(module)
    assert renamed(printed) == renamed(text)
    assert asm(parse(printed, context)) == printed
    generic = asm(module, generic=True)
    assert asm(parse(generic, context), generic=True) == generic
    assert asm(parse(generic, context)) == printed


@pytest.mark.parametrize("sizes", [", , sizes = []", ", sizes = []"])
def test_slices_of_scalars(context, sizes):
    """The host prints the former, which it doesn't read."""
    types = "(tensor<f32>) -> tensor<f32>"
    module = parse(f"%a = stablehlo.constant dense<1.0> : tensor<f32>\n"
                   f"%b = stablehlo.dynamic_slice %a{sizes} : {types}", context)  # fmt: skip
    assert asm(parse(asm(module), context)) == asm(module)
