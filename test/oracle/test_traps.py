# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where propagation is easily got wrong: as C++ Shardy does it, or better where that is wrong."""

import re

import pytest
from shardy import ShardyAborted, ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import PassError, collect
from pyshardy.pipeline import run_pipeline
from pyshardy.pipeline.errors import PipelineError

MESH = 'sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>\n'
T = "tensor<8x8xf32>"
BASIC = "sdy-basic-propagate"
AGGRESSIVE = "sdy-aggressive-propagate"
PIPELINE = "sdy-propagation-pipeline"


def given(sharding, kind=T):
    """The type of an argument or result with a sharding."""
    return f"{kind} {{sdy.sharding = #sdy.sharding<{sharding}>}}"


def own(sharding):
    """The attribute dictionary of an operation with a sharding."""
    return f"{{sdy.sharding = #sdy.sharding_per_value<[<{sharding}>]>}}"


def main(arguments, results, body):
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


A = given('@m, [{"a"}, {?}]')
B = given('@m, [{?}, {"b"}]')
X_A = f"%x: {A}"


@pytest.fixture
def ours(context):
    """What pyshardy makes of a program."""

    def run(text, pipeline):
        module = parse(text, context, "t.mlir")
        run_pipeline(module, pipeline)
        return asm(module)

    return run


@pytest.fixture
def both(shardy, context, ours):
    """What both make of a program, if they agree."""

    def run(text, pipeline):
        found = ours(text, pipeline)
        expected = shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})")
        assert found == asm(parse(expected, context))
        return found

    return run


@pytest.fixture
def only_ours(shardy, context, ours):
    """What pyshardy makes of a program that C++ Shardy has no answer for."""

    def run(text, pipeline):
        with pytest.raises((ShardyAborted, ShardyRefused)):
            shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})")
        return ours(text, pipeline)

    return run


# --- Where C++ Shardy aborts ----------------------------------------------------------------------


@pytest.mark.parametrize("pipeline", ["sdy-user-priority-propagate", PIPELINE])
def test_dead_operations_with_priorities(ours, pipeline):
    """C++ Shardy writes to where the operation was: mostly it aborts."""
    body = f'  %0 = stablehlo.tanh %x {own("""@m, [{"a"}p1, {?}]""")} : {T}\n  return %x : {T}'
    assert "tanh" not in ours(MESH + main(f"%x: {T}", T, body), pipeline)


def test_what_a_dead_operation_propagated_before_it_came_back(ours):
    """Its priority has no place to come back to; what was visible at first has its effect.

    C++ Shardy writes to where the operation was, which ends in this way or another.
    """
    body = (
        f'  %0 = stablehlo.tanh %x {own("""@m, [{"a"}p1, {"b"}]""")} : {T}\n'
        f"  %1 = stablehlo.abs %0 : {T}\n  return %y : {T}"
    )
    found = ours(MESH + main(f"%x: {T}, %y: {T}", T, body), "sdy-user-priority-propagate")
    assert '[{?}, {"b", ?}]' in found


@pytest.mark.parametrize("pipeline", [BASIC, AGGRESSIVE])
def test_several_functions_without_main(only_ours, pipeline):
    text = f"func.func @f(%x: {T}) {{\n  return\n}}\nfunc.func @g(%x: {T}) {{\n  return\n}}"
    with pytest.raises(
        PipelineError, match=r"t\.mlir:1:1: error: a module with several functions must"
    ):
        only_ours(text, pipeline)


def test_inlined_meshes(only_ours):
    sharded = given('mesh<["a"=2]>, [{"a"}, {}]')
    body = f"  %0 = stablehlo.tanh %x : {T}\n  return %0 : {T}"
    found = only_ours(main(f"%x: {sharded}", T, body), BASIC)
    assert found.count('<mesh<["a"=2]>, [{"a", ?}, {?}]>') == 2


def test_values_in_two_groups(only_ours, both):
    body = (
        f"  sdy.sharding_group %x group_id=0 : {T}\n"
        f"  sdy.sharding_group %x group_id=1 : {T}\n  return %x : {T}"
    )
    text = MESH + main(f"%x: {T}", T, body)
    with pytest.raises(
        PipelineError, match="merge groups that overlap by sdy-sharding-group-import"
    ):
        only_ours(text, BASIC)
    both(text, PIPELINE)


def test_named_computations_in_the_input(only_ours):
    """Shardy puts two edges on each of their values."""
    body = (
        f'  %0 = sdy.named_computation<"f">(%x) (%i: {T}) {{\n'
        f"    %1 = stablehlo.tanh %i : {T}\n    sdy.return %1 : {T}\n"
        f"  }} : ({T}) -> {T}\n  return %0 : {T}"
    )
    text = MESH + main(X_A, T, body)
    assert 'stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {}]>]>}' in (
        only_ours(text, PIPELINE)
    )


def test_origins_without_data_flow_edges(shardy, context, ours):
    body = (
        '  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}, {}]>] '
        'out_shardings=[<@m, [{"a"}, {}]>] manual_axes={"a"} (%i: tensor<4x8xf32>) {\n'
        f"    sdy.return %i : tensor<4x8xf32>\n  }} : ({T}) -> {T}\n  return %0 : {T}"
    )
    text = MESH + main(f"%x: {T}", T, body)
    pipeline = f"{AGGRESSIVE}{{debug-sharding-origins=true}}"
    if shardy.release < (0, 12):
        with pytest.raises(ShardyAborted):
            shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})")
    else:
        theirs = shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})")
        assert "sharding_origins" not in theirs
    assert 'sdy.sharding_origins = {a = "mc_0_output: 0"}' in ours(text, pipeline)


# --- Where C++ Shardy is silent, or says little ---------------------------------------------------


def test_warnings_are_given_each_time(ours):
    text = main(
        f"%x: {T}",
        T,
        f"  %0 = stablehlo.custom_call @unheard_of(%x) : ({T}) -> {T}\n"
        f"  %1 = stablehlo.custom_call @unheard_of(%0) : ({T}) -> {T}\n  return %1 : {T}",
    )
    for _ in range(2):
        with collect() as diagnostics:
            ours(text, BASIC)
        assert [diagnostic.location.line for diagnostic in diagnostics] == [2, 3]
        with collect() as diagnostics:
            ours(text, f"{BASIC}{{compatible=true}}")
        assert [diagnostic.location.line for diagnostic in diagnostics] == [2]


def test_origins_of_ordinary_operations(shardy, context, ours):
    body = f'  %0 = stablehlo.tanh %x {own("""@m, [{"a"}, {?}]""")} : {T}\n  return %0 : {T}'
    text = MESH + main(f"%x: {T}", T, body)
    pipeline = f"{AGGRESSIVE}{{debug-sharding-origins=true}}"
    theirs = shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})")
    assert ('{a = ": 0"}' in theirs) == (shardy.release < (0, 12))
    assert ("sharding_origins" in theirs) == (shardy.release < (0, 12))
    assert '{a = "stablehlo.tanh: 0"}' in ours(text, pipeline)


def test_origins_of_a_value_that_is_returned_twice(shardy, context, ours):
    text = MESH + main(X_A, f"{T}, {T}", f"  return %x, %x : {T}, {T}")
    pipeline = f"{AGGRESSIVE}{{debug-sharding-origins=true}}"
    theirs = shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})")
    assert theirs.count('{a = "input: 0"}') == 1
    assert ours(text, pipeline).count('{a = "input: 0"}') == 2


def test_notes_of_merged_axes(shardy, context, ours):
    mesh = 'sdy.mesh @m = <["x"=4]>\n'
    body = f"  %0 = stablehlo.add %x, %y : {T}\n  return %0 : {T}"
    given = (
        f'%{name}: {T} {{sdy.sharding = #sdy.sharding<@m, [{{"x"{part}, ?}}, {{?}}]>}}'
        for name, part in (("x", ":(1)2"), ("y", ""))
    )
    text = mesh + main(", ".join(given), T, body)
    options = "debug-sharding-origins=true debug-propagation-edge-sharding=true"
    theirs = shardy.run(asm(parse(text, context)), f"builtin.module({AGGRESSIVE}{{{options}}})")
    part = '"x:(1)2" = "self"'
    assert part in theirs
    found = ours(text, f"{AGGRESSIVE}{{{options}}}")
    assert part not in found
    assert 'sdy.sharding_origins = {x = "input: 1"}' in found
    assert part in ours(text, f"{AGGRESSIVE}{{{options} compatible=true}}")


@pytest.mark.parametrize("kind", ["tuple", "dynamic"])
def test_unsupported_types(only_ours, kind):
    operation, message = {
        "tuple": (f"stablehlo.tuple %x : tuple<{T}>", "doesn't support tuples"),
        "dynamic": (
            f"stablehlo.custom_call @sdy_testonly(%x) : ({T}) -> tensor<?xf32>",
            "only supports ranked tensors with a static shape",
        ),
    }[kind]
    text = main(f"%x: {T}", T, f"  %0 = {operation}\n  return %x : {T}")
    with pytest.raises(PipelineError, match=rf"t\.mlir:2:8: error: .*{message}"):
        only_ours(text, BASIC)


# --- What is odd, and the same --------------------------------------------------------------------


def test_dead_operations_propagate_before_they_are_erased(both):
    body = (
        f'  %0 = stablehlo.tanh %x {own("""@m, [{"a"}, {?}]""")} : {T}\n'
        f"  %1 = stablehlo.abs %0 : {T}\n  return %x : {T}"
    )
    found = both(MESH + main(f"%x: {T}", T, body), BASIC)
    assert '%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", ?}, {?}]>}' in found


def test_of_two_updates_of_one_operand_the_last_one_counts(both):
    body = f'  %0 = stablehlo.dot %x, %x {own("""@m, [{"a"}, {"b"}]""")} : ({T}, {T}) -> {T}'
    text = MESH + main(f"%x: {T}", T, f"{body}\n  return %0 : {T}")
    assert '[{?}, {"b", ?}]' in both(text, BASIC)
    assert '[{"a", ?}, {"b", ?}]>})' in both(text, "sdy-op-priority-propagate")


def test_forward_restricts_who_contributes_not_who_receives(both):
    """Through a dynamic slice, at first forward only, its result shards it, and so on."""
    body = (
        "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
        f"  %0 = stablehlo.dynamic_update_slice %x, %y, %c, %c "
        f": ({T}, {T}, tensor<i32>, tensor<i32>) -> {T}\n  return %0 : {T}"
    )
    found = both(MESH + main(f"{X_A}, %y: {T}", T, body), "sdy-op-priority-propagate")
    assert '%arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", ?}, {?}]>}' in found


def test_meshes_are_compared_by_content(both):
    """And what is new is written with the name that the first operand has."""
    opened, sharded = given("@m, [{?}, {?}]"), given('@n, [{"a"}, {?}]')
    body = f"  %0 = stablehlo.add %x, %y : {T}\n  return %0 : {T}"
    meshes = 'sdy.mesh @m = <["a"=2]>\nsdy.mesh @n = <["a"=2]>\n'
    found = both(meshes + main(f"%x: {opened}, %y: {sharded}", T, body), BASIC)
    assert 'stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a", ?}' in (
        found
    )


@pytest.mark.parametrize("other", ['<["a"=4]>', "<[], device_ids=[0]>"])
def test_different_meshes_switch_an_operation_off(both, other):
    rank = "[{?}, {?}]" if "=4" in other else "[]"
    text = f"{MESH}sdy.mesh @n = {other}\n" + main(
        f"{X_A}, %y: {given(f'@n, {rank}')}",
        T,
        f"  %0 = stablehlo.add %x, %y : {T}\n  return %0 : {T}",
    )
    assert "%0 = stablehlo.add %arg0, %arg1 : " in both(text, BASIC)


def test_passes_below_user_priorities_drop_those_of_what_they_change(both):
    with_priorities = given('@m, [{"a"}p1, {?}p2]')
    arguments = f"%x: {with_priorities}, %y: {B}, %z: {with_priorities}"
    body = f"  %0 = stablehlo.add %x, %y : {T}\n  return %0 : {T}"
    found = both(MESH + main(arguments, T, body), BASIC)
    assert '[{"a"}, {"b", ?}]' in found
    assert '[{"a"}p1, {?}p2]' in found


def test_a_rule_that_is_there_is_trusted(both):
    rule = "#sdy.op_sharding_rule<([i, j])->([k, l]) {i=8, j=8, k=8, l=8}>"
    body = f"  %0 = stablehlo.abs %x {{sdy.sharding_rule = {rule}}} : {T}\n  return %0 : {T}"
    found = both(MESH + main(X_A, T, body), BASIC)
    assert "stablehlo.abs %arg0 : " in found


def test_closed_results_and_constraints_never_open(both):
    text = MESH + main(
        X_A,
        given("@m, [{}, {?}]"),
        f"  %0 = sdy.sharding_constraint %x <@m, [{{}}, {{?}}]> : {T}\n"
        f"  %1 = stablehlo.tanh %x : {T}\n  return %1 : {T}",
    )
    found = both(text, "sdy-user-priority-propagate")
    assert "(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {?}]>})" in found
    assert "sdy.sharding_constraint %arg0 <@m, [{}, {?}]>" in found


def test_one_result_with_a_sharding_opens_the_others(both):
    call = f"%0:2 = stablehlo.custom_call @Qr(%x) : ({T}) -> ({T}, tensor<8xf32>)"
    body = f"  {call}\n  return %0#0 : {T}"
    assert '[<@m, [{"a", ?}, {?}]>, <@m, [{?}]>]' in both(MESH + main(X_A, T, body), BASIC)


def test_axes_of_size_one_take_part(both):
    first, second = given('@m, [{"u", "a"}, {?}]'), given('@m, [{"a", ?}, {?}]')
    body = f"  %0 = stablehlo.add %x, %y : {T}\n  return %0 : {T}"
    text = 'sdy.mesh @m = <["a"=2, "u"=1]>\n' + main(f"%x: {first}, %y: {second}", T, body)
    assert "%0 = stablehlo.add %arg0, %arg1 : " in both(text, BASIC)


def test_overflow_freezes_later_factors(both):
    result = "tensor<3x4xf32>"
    body = f"  %0 = stablehlo.reshape %x : (tensor<12xf32>) -> {result}\n  return %0 : {result}"
    argument = given('@m, [{"a", ?}]', "tensor<12xf32>")
    assert "stablehlo.reshape %arg0 : " in both(MESH + main(f"%x: {argument}", result, body), BASIC)


def test_edges_of_function_results_are_noted_at_the_first(both):
    body = f"  %0 = stablehlo.tanh %x : {T}\n  return %y, %0 : {T}, {T}"
    found = both(
        MESH + main(f"{X_A}, %y: {T}", f"{T}, {T}", body),
        f"{AGGRESSIVE}{{debug-propagation-edge-sharding=true}}",
    )
    assert found.index("sdy.propagation_edges") < found.index("stablehlo.tanh")


def test_constraints_of_groups_come_in_reverse_order(both):
    arguments = ", ".join(
        f"%{name}: {given(f'@m, [{sharding}, {{?}}]')}"
        for name, sharding in zip("xyz", ('{"a"}', "{}", "{?}"), strict=True)
    )
    groups = "\n".join(f"  sdy.sharding_group %{name} group_id=0 : {T}" for name in "xyz")
    text = MESH + main(
        arguments, f"{T}, {T}, {T}", f"{groups}\n  return %x, %y, %z : {T}, {T}, {T}"
    )
    with collect() as diagnostics:
        found = both(text, BASIC)
    assert len(diagnostics) == 1
    positions = [found.index(f"sdy.sharding_constraint %arg{index}") for index in range(3)]
    assert positions == sorted(positions, reverse=True)


@pytest.mark.parametrize("wakes", [False, True])
def test_operands_of_manual_computations_wake_their_body_late(both, wakes):
    """A change that comes after the edge was visited reaches the body in a later run."""
    body = (
        f"  %0 = stablehlo.tanh %x : {T}\n"
        "  %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{?}, {?}]>] "
        f"out_shardings=[<@m, [{{?}}, {{?}}]>] manual_axes={{}} (%i: {T}) {{\n"
        f"    %2 = stablehlo.abs %i : {T}\n    sdy.return %2 : {T}\n  }} : ({T}) -> {T}\n"
        f'  %3 = stablehlo.add %0, %0 {own("""@m, [{"a"}, {?}]""")} : {T}\n'
        f"  return %1, %3 : {T}, {T}"
    )
    pipeline = "sdy-op-priority-propagate" if wakes else BASIC
    found = both(MESH + main(f"%x: {T}", f"{T}, {T}", body), f"sdy-add-data-flow-edges,{pipeline}")
    assert bool(re.search(r"stablehlo.abs %\d+ {sdy.sharding", found)) == wakes


def test_values_that_a_pass_error_leaves_alone(context):
    """Where propagation is refused, nothing has changed."""
    text = f"func.func @f(%x: {T}) {{\n  return\n}}\nfunc.func @g(%x: {T}) {{\n  return\n}}"
    module = parse(text, context)
    before = asm(module)
    with pytest.raises((PassError, PipelineError)):
        run_pipeline(module, BASIC)
    assert asm(module) == before


@pytest.mark.parametrize(
    ("operand", "sharding", "operation", "result", "expected"),
    [
        pytest.param(
            "5",
            '[{"c"}]',
            "tanh %x : tensor<5xf32>",
            "5",
            '[{"c", ?}]',
            id="the only factor of a dimension takes axes that don't divide it",
        ),
        pytest.param(
            "1",
            '[{"a"}]',
            "tanh %x : tensor<1xf32>",
            "1",
            '[{"a", ?}]',
            id="also if it has size 1",
        ),
        pytest.param(
            "4x6",
            '[{?}, {"b"}]',
            "reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>",
            "24",
            None,
            id="what would be strided vanishes",
        ),
        pytest.param(
            "8",
            '[{"a"}]',
            "pad %x, %c, low = [1], high = [-1], interior = [0] "
            ": (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>",
            "8",
            '[{"a", ?}]',
            id="a pad that keeps the size passes through",
        ),
        pytest.param(
            "8",
            '[{"a"}]',
            "concatenate %x, dim = 0 : (tensor<8xf32>) -> tensor<8xf32>",
            "8",
            '[{"a", ?}]',
            id="a concatenation of one operand",
        ),
        pytest.param(
            "6x4",
            '[{"c"}, {?}]',
            "reshape %x : (tensor<6x4xf32>) -> tensor<24xf32>",
            "24",
            '[{"c":(1)2, ?}]',
            id="a major factor takes what divides it",
        ),
    ],
)
@pytest.mark.parametrize("pipeline", [BASIC, AGGRESSIVE])
def test_sizes(both, pipeline, operand, sharding, operation, result, expected):
    body = (
        "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"  %0 = stablehlo.{operation}\n  return %0 : tensor<{result}xf32>"
    )
    argument = given(f"@m, {sharding}", f"tensor<{operand}xf32>")
    found = both(MESH + main(f"%x: {argument}", f"tensor<{result}xf32>", body), pipeline)
    if expected is None:
        assert "sharding_per_value" not in found
    else:
        assert f"#sdy.sharding_per_value<[<@m, {expected}>]>" in found


def test_who_is_visited_first_wins(both):
    """After edges have been added, the users of an edge are visited in the other order."""
    body = (
        f"  %0 = stablehlo.optimization_barrier %x : {T}\n"
        f"  %1 = stablehlo.add %0, %y : {T}\n  %2 = stablehlo.add %0, %z : {T}\n"
        f"  return %1, %2 : {T}, {T}"
    )
    other = given('@m, [{?}, {"a"}]')
    arguments = f"%x: {T}, %y: {A}, %z: {other}"
    text = MESH + main(arguments, f"{T}, {T}", body)
    both(text, f"sdy-add-data-flow-edges,{AGGRESSIVE}")
