# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations and errors are located where they stand in the source."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import ParseError, SdyError
from mlir_sdy.host import ir, location_of

MESH = 'sdy.mesh @m = <["x"=4, "y"=2]>\n'
SHARDED = '{sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}'

# An error is expected at each `§`, which is not part of the text.
ERRORS = {
    "in an attribute": MESH + "func.func @f(%a: f32 {sdy.sharding = #sdy.sharding<@m, [{§x}]>})",
    "on line 1": "sdy.mesh @m = §#sdy.sharding<@m, []>",
    "at the very start": "sdy.reshard §<@m, []> : f32",
    "behind an operation on the line": ('sdy.mesh @m = <["x"=4]> sdy.mesh @n = <["x"=§-]>'),
    "behind characters of several bytes": 'sdy.mesh @m = <["ü€"=4, "x"=§]>',
    "behind line breaks in an operation": (
        "func.func @f(%a: tensor<4xf32>) {\n  %0 = sdy.manual_computation(%a)\n"
        "    in_shardings=[]\n    out_shardings=§{} manual_axes={} () {} : () -> ()\n}"
    ),
    "in nested regions": (
        "func.func @f() {\n  sdy.manual_computation() in_shardings=[] out_shardings=[] "
        "manual_axes={} () {\n"
        "    %0 = sdy.constant §: tensor<4xf32>\n  } : () -> ()\n}"
    ),
    "in the tail of a region": (
        "func.func @f() {\n  sdy.manual_computation() in_shardings=[] out_shardings=[] "
        "manual_axes={} () {\n    sdy.return\n  } §-> ()\n}"
    ),
    "in properties": '"sdy.mesh"() <{mesh = #sdy.mesh<["x"=§"y"]>, sym_name = "m"}> : () -> ()',
    "of MLIR, before anything is rewritten": "func.func @f() { §func.nonsense }",
    "of MLIR, behind a longer text": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{ %0 = sdy.reshard %a <@m, [{{}}]> : "
        "tensor<4xf32> §func.nonsense }"
    ),
    "of MLIR, behind a shorter text": (
        f"{MESH}func.func @f(%a: tensor<4xf32> {SHARDED}) {{ §func.nonsense }}"
    ),
    "of MLIR, inside of what is rewritten: where that starts": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{\n  %0 = §sdy.reshard %a <@m, [{{}}]> {{tag = "
        "nonsense} : tensor<4xf32> }"
    ),
    "of MLIR, on the first line": "module { sdy.mesh @m = <[]> §func.nonsense }",
    "of MLIR, in a second module": "module {\n}\nmodule {\n  §func.nonsense\n}",
    "of an alias": "sdy.mesh @m = §#none",
    "of an alias before its definition": (
        "#b = #sdy.sharding_per_value<[§#a]>\n#a = #sdy.sharding<@m, []>"
    ),
    "of an alias in its own definition": '#a = #sdy<axis_ref_list{"x", §#a}>',
    "of the kind of an alias": "#a = #sdy<axis_ref_list{}>\nsdy.mesh @m = §#a",
    "of a type": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{\n"
        "  %0 = §sdy.reshard %a <@m, [{}]> : tensor<8xf32>\n  func.return\n}"
    ),
    "of verification": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{ %0 = sdy.reshard %a <@m, [{{}}]> : "
        'tensor<4xf32> %1 = sdy.reshard %a <@m, [{§"z"}]> : tensor<4xf32> func.return }'
    ),
}


def place_of(mark, text):
    """Line and column of the mark; columns count bytes."""
    before = text[: text.index(mark)]
    return before.count("\n") + 1, len(before.rpartition("\n")[2].encode()) + 1


def ports(sharding, rest=" { return }"):
    """Return a function of two arguments, the first of which has a sharding."""
    argument = f"%a: tensor<4xf32> {{sdy.sharding = {sharding}}}"
    return f'{MESH}func.func @"f("({argument},\n %b: tensor<4xf32>){rest}'


PARTS = {
    "the mesh of an argument": ports('#sdy.sharding<§@n, [{"x"}]>'),
    "the rank of an argument": ports('§#sdy.sharding<@m, [{"x"}, {}]>'),
    "an axis that is used again": ports('#sdy.sharding<@m, [{"x", "y", §"x"}]>'),
    "an inlined mesh": ports('#sdy.sharding<mesh<["x"=2]>, [{§"z"}]>'),
    "replicated axes out of order": ports('#sdy.sharding<@m, [{}], replicated={"y", §"x"}>'),
    "an alias": '#s = #sdy.sharding<@m, [{§"z"}]>\n' + ports("#s"),
    "a result": ports(
        '#sdy.sharding<@m, [{"x"}]>',
        '\n -> (tensor<4xf32>,\n tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{§"z"}]>})'
        " { return %a, %a : tensor<4xf32>, tensor<4xf32> }",
    ),
    "an argument in generic form": (
        f'{MESH}"func.func"() <{{arg_attrs = [{{}}, {{sdy.sharding = #sdy.sharding<§@n, [{{}}]>}}],'
        'function_type = (tensor<4xf32>, tensor<4xf32>) -> (), sym_name = "f"}> ({\n'
        '^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):\n  "func.return"() : () -> ()\n}) : () -> ()'
    ),
    "an operation with a region": (
        f'{MESH}func.func @f(%a: tensor<4xf32>) {{\n  %0 = "stablehlo.case"(%i) ({{\n'
        '    %1 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}'
        ' : tensor<4xf32>\n    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()\n'
        '  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{§"z"}]>]>}'
        " : (tensor<i32>) -> tensor<4xf32>\n  return\n}"
    ).replace("(%a: tensor<4xf32>)", "(%a: tensor<4xf32>, %i: tensor<i32>)"),
    "the second result": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{\n"
        '  %0:2 = "stablehlo.optimization_barrier"(%a, %a)'
        ' {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>, <@m, [{§"z"}]>]>}'
        " : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)\n  return\n}"
    ),
    "the axes of a collective": (
        f"{MESH}func.func @f(%a: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}]>}}) {{\n"
        '  %0 = sdy.all_slice [{"y", §"z"}] %a out_sharding=<@m, [{"y"}]> : tensor<4xf32>\n'
        "  return\n}"
    ),
    "the result of a collective": (
        f"{MESH}func.func @f(%a: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}]>}}) {{\n"
        '  %0 = sdy.all_slice [{"y"}] %a out_sharding=<@m, [§{"x"}]> : tensor<4xf32>\n'
        "  return\n}"
    ),
    "an operand": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{\n"
        '  %0 = sdy.all_gather [{}] §%a out_sharding=<@m, [{"x"}]> : tensor<4xf32>\n  return\n}'
    ),
    "a manual computation": (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{\n  %0 = sdy.manual_computation(%a)\n"
        '    in_shardings=[<@m, [{}]>]\n    out_shardings=[<@m, [{§"z"}]>] manual_axes={}'
        " (%b: tensor<4xf32>) {\n    sdy.return %b : tensor<4xf32>\n  }"
        " : (tensor<4xf32>) -> tensor<4xf32>\n  return\n}"
    ),
}
"""Programs in which a part of an operation is wrong, whose place has a mark."""

ERRORS.update(PARTS)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in ERRORS.items()])
def test_errors(text, context):
    with pytest.raises(SdyError) as failure:
        parse(text.replace("§", ""), context, "file.mlir")
    location = failure.value.diagnostics[0].location
    assert location.filename == "file.mlir"
    assert (location.line, location.column) == place_of("§", text), failure.value


def test_errors_know_the_line_of_the_operation(context):
    with pytest.raises(SdyError) as failure:
        parse(PARTS["a result"].replace("§", ""), context, "file.mlir")
    found = failure.value.diagnostics[0]
    assert (found.location.line, found.operation.line) == (5, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() { %0 = stablehlo.tanhh %a : T }", "did you mean 'stablehlo.tanh'?"),
        ("func.func @f() { retrun }", "did you mean 'return'?"),
        ('func.func @f() { "sdy.rehsard"() : () -> () }', "did you mean 'sdy.reshard'?"),
        ("func.func @f() { stablehl.abs %a }", "did you mean 'stablehlo'?"),
        ("func.func @f() { mhlo.abs %a }", "convert MHLO to StableHLO"),
        ('func.func @f() { "mhlo.abs"() : () -> () }', "'mhlo'; convert MHLO to StableHLO"),
        ("func.func @f() { nothing.like.it %a }", "'sdy-opt --show-dialects' lists"),
    ],
)
def test_unknown_names(text, message, context):
    with pytest.raises(ParseError) as failure:
        parse(text, context)
    assert message in str(failure.value)


def test_errors_in_a_part_of_a_file(context):
    with pytest.raises(ParseError) as failure:
        parse("sdy.mesh @m = <]", context, "f", first_line=41)
    assert str(failure.value.diagnostics[0].location) == "f:41:16"


# --- Operations ---------------------------------------------------------------------------------

BODY = (
    (
        '%0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : T\n'
        "%1 = sdy.reshard %0 <@m, [{}]> : T\n"
        '%2 = "sdy.reshard"(%1) <{sharding = #sdy.sharding<@m, [{"y"}]>}> {tag} : (T) -> T\n'
        '%3 = sdy.manual_computation(%2) in_shardings=[<@m, [{"x"}]>] '
        'out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: L {lost = "}"}) {\n'
        "%5 = stablehlo.negate %b : L\n"
        '%6 = "sdy.named_computation"(%5) <{name = "n"}> ({\n'
        "^bb0(%c: L):\n"
        '"sdy.return"(%c) : (L) -> ()\n'
        "}) : (L) -> L\n"
        "sdy.return %6 : L\n"
        "} : (T) -> T\n"
        '%4 = "sdy.propagation_barrier"(%3) <{allowed_direction = 0 : i32}> : (T) -> T\n'
        "sdy.sharding_group %4 group_id=1 : T\n"
        "%7 = sdy.constant dense<1.0> : T\n"
        "func.return\n"
    )
    .replace("T", "tensor<8xf32>")
    .replace("L", "tensor<2xf32>")
)
PROGRAM = MESH + "func.func @f(%a: tensor<8xf32>) {\n" + BODY + "}\n"


def check_locations(text, context, first_line=1):
    """Each operation is located at its name; those that the text has are counted."""
    lines = text.split("\n")
    located = []

    def visit(operation):
        place = location_of(operation.location)
        if operation.name == "builtin.module":
            return ir.WalkResult.ADVANCE
        line = lines[place.line - first_line].encode()[place.column - 1 :].decode()
        assert line.removeprefix('"').startswith(operation.name), (operation.name, str(place))
        located.append(operation.name)
        return ir.WalkResult.ADVANCE

    module = parse(text, context, first_line=first_line)
    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    assert len(located) == 14


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PROGRAM, id="a line each"),
        pytest.param(PROGRAM.replace("\n", " "), id="one line"),
        pytest.param("module {" + PROGRAM.replace("\n", " ") + "}", id="one line in a module"),
        pytest.param(PROGRAM.replace("\n", "\n    // a comment }\n  "), id="comments"),
        pytest.param(PROGRAM.replace(" : ", "\n  : "), id="operations of several lines"),
        pytest.param(PROGRAM.replace(">] ", ">]\n\n  "), id="headers of several lines"),
        pytest.param("\n\n" + PROGRAM, id="blank lines first"),
    ],
)
def test_operations(text, context):
    check_locations(text, context)


def test_operations_in_a_part_of_a_file(context):
    check_locations(PROGRAM, context, first_line=100)


def test_locations_in_the_text_win(context):
    text = 'sdy.mesh @m = <["x"=4]> loc("model.py":3:7)\n'
    module = parse(text, context)
    (mesh,) = module.body.operations
    assert str(location_of(mesh.location)) == "model.py:3:7"


def test_operations_behind_one_with_a_given_location(context):
    """The first operation claims to be behind the last line with a rewritten operation."""
    text = (
        f"{MESH}func.func @f(%a: tensor<4xf32>) {{\n"
        '  %0 = stablehlo.abs %a : tensor<4xf32> loc("f":9:1)\n'
        "  %1 = sdy.reshard %0 <@m, [{}]> : tensor<4xf32> %2 = stablehlo.abs %1 : tensor<4xf32>\n"
        "  return\n}"
    )
    module = parse(text, context, "f")
    _, function = module.body.operations
    places = [str(location_of(each.location)) for each in function.regions[0].blocks[0].operations]
    columns = [text.splitlines()[3].index(name) + 1 for name in ("sdy.reshard", "stablehlo.abs")]
    assert places == ["f:9:1", *(f"f:4:{column}" for column in columns), "f:5:3"]
