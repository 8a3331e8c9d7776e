# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of `docs/differences.md` about operations that have a sharding rule on one side only."""

import re

import pytest
from difference import program, rows, warnings_of_both
from rule_cases import example_case, examples_of, registrations

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import ParseError, SdyError, VerificationError
from pyshardy.pipeline import run_pipeline
from pyshardy.rules import registered_names, registered_rule, strict_rules


def test_warnings_without_a_rule(shardy, context):
    pipeline = "func.func(sdy-populate-op-sharding-rules)"
    unknown = program(
        "%x: !t",
        "!t",
        """
        %0 = stablehlo.custom_call @a(%x) : (!t) -> !t
        %1 = stablehlo.custom_call @b(%0) : (!t) -> !t
        return %1 : !t""",
    )
    found, ours = warnings_of_both(shardy, context, unknown, pipeline)
    assert len(found) == 1
    assert len(ours) == 2
    with (
        strict_rules(),
        pytest.raises(SdyError, match="custom call @a is unknown to SDY sharding rule registry"),
    ):
        run_pipeline(parse(unknown, context), pipeline)
    for operation in (
        'sdy.all_gather [{"x"}, {}] %x out_sharding=<@m, [{}, {}]> : !t',
        'sdy.all_reduce {"y"} %x out_sharding=<@m, [{"x"}, {}]> : !t',
        'sdy.all_slice [{}, {"y"}] %x out_sharding=<@m, [{"x"}, {"y"}]> : !t',
        'sdy.all_to_all [{"x"}: 0->1] %x out_sharding=<@m, [{}, {"x"}]> : !t',
        'sdy.collective_permute %x out_sharding=<@m, [{"y"}, {}]> : !t',
        'sdy.reduce_scatter [{}, {"y"}] %x out_sharding=<@m, [{"x"}, {"y"}]> : !t',
        "stablehlo.replica_id : tensor<ui32>",
        "stablehlo.tuple %x : tuple<!t>",
        "arith.constant dense<1.0> : tensor<8xf32>",
        "chlo.constant dense<1.0> : tensor<8xf32>",
    ):
        text = program("%x: !t {sdy.sharding = #rows}", "!t", f"%0 = {operation}\nreturn %x : !t")
        found, ours = warnings_of_both(shardy, context, text, pipeline)
        assert "is unknown to SDY sharding rule registry" in found[0]
        assert ours == []


WITHOUT_RULES = "`stablehlo.batch_norm_grad`, `batch_norm_training`"


def examples_without_rules() -> dict[str, str]:
    """Return an example of each operation that the row names."""
    (row,) = (row for row in rows() if row.startswith(WITHOUT_RULES))
    names = re.findall(r"`(?:stablehlo\.)?([a-z_]+)`", row)
    examples: dict[str, str] = {}
    for entry in registrations():
        for operation, _ in examples_of(entry.function.__doc__ or ""):
            for name in names:
                if re.search(rf"stablehlo\.{name}\b", operation):
                    examples.setdefault(name, operation)
    return {name: MORE_EXAMPLES.get(name) or examples.get(name, "") for name in names}


@pytest.mark.shardy_since(0, 12)
def test_no_rule(shardy, context):
    pipeline = "func.func(sdy-populate-op-sharding-rules)"
    for name, operation in examples_without_rules().items():
        assert operation, name
        text = f"func.func @main{example_case(operation)}\n{IDENTITY}"
        module = parse(text, context)
        run_pipeline(module, pipeline)
        assert "sdy.sharding_rule" in asm(module), name
        found = shardy.run(text, f"builtin.module({pipeline})")
        lines = [line for line in found.splitlines() if f"stablehlo.{name}" in line]
        assert lines, name
        assert not any("sdy.sharding_rule" in line for line in lines), name


MORE_EXAMPLES = {
    "batch_norm_grad": """
        %0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) <{
            epsilon = 0.001 : f32, feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>)
            -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)""",
    "collective_reduce": """
        %0 = "stablehlo.collective_reduce"(%a) <{
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.add %p, %q : tensor<f32>
            stablehlo.return %r : tensor<f32>
        }) : (tensor<4xf32>) -> tensor<4xf32>""",
    "composite": """
        %0 = stablehlo.composite "my.op" %a {decomposition = @g}
            : (tensor<4xf32>) -> tensor<4xf32>""",
    "map": """
        %0 = "stablehlo.map"(%a) ({ ^bb0(%p: tensor<f32>):
          stablehlo.return %p : tensor<f32>
        }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>""",
    "set_dimension_size": """
        %0 = stablehlo.set_dimension_size %a, %b, dim = 0
            : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>""",
}
IDENTITY = """
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}"""


RULES = "func.func(sdy-populate-op-sharding-rules)"
FLOATS, INTEGERS, BOOLEANS, NUMBERS = (
    f"tensor<4x{element}>" for element in ("f32", "i32", "i1", "complex<f32>")
)
FORMS = (
    f"(%f) : ({FLOATS}) -> {FLOATS}",
    f"(%f) : ({FLOATS}) -> {BOOLEANS}",
    f"(%c) : ({NUMBERS}) -> {NUMBERS}",
    f"(%f, %f) : ({FLOATS}, {FLOATS}) -> {FLOATS}",
    f"(%i, %i) : ({INTEGERS}, {INTEGERS}) -> {INTEGERS}",
    f"(%f, %f) : ({FLOATS}, {FLOATS}) -> {NUMBERS}",
    "(%f, %f) <{comparison_direction = #chlo<comparison_direction LT>}> : "
    f"({FLOATS}, {FLOATS}) -> {BOOLEANS}",
    f"(%b, %f, %f) : ({BOOLEANS}, {FLOATS}, {FLOATS}) -> {FLOATS}",
    f"(%f) <{{value = 1.0 : f32}}> : ({FLOATS}) -> {FLOATS}",
)
"""What operations of CHLO take and give: one of these fits each but for those with an example."""
CHLO = [
    name
    for name in registered_names()
    if name.startswith("chlo.") and (entry := registered_rule(name)) and entry.function
]


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", CHLO)
def test_no_rule_for_chlo(shardy, context, name):
    for text in forms_of(name):
        try:
            module = parse(text, context)
        except (ParseError, VerificationError):
            continue
        run_pipeline(module, RULES)
        assert "sdy.sharding_rule" in asm(module)
        assert "sdy.sharding_rule" not in shardy.run(text, f"builtin.module({RULES})")
        break
    else:
        pytest.fail(f"no form of {name} is valid")


def forms_of(name: str) -> list[str]:
    """Return functions around an operation, not all of which are valid."""
    arguments = f"%f: {FLOATS}, %i: {INTEGERS}, %b: {BOOLEANS}, %c: {NUMBERS}"
    forms = [f'func.func @main({arguments}) {{\n%0 = "{name}"{form}\nreturn\n}}' for form in FORMS]
    examples = [
        f"func.func @main{example_case(operation)}"
        for entry in registrations()
        for operation, _ in examples_of(entry.function.__doc__ or "")
        if re.search(rf"{name}\b", operation)
    ]
    return examples or forms
