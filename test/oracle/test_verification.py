# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is valid here is valid in C++ Shardy, and the other way round.

The tables hold one snippet a line, by the rule that it is about. `MESHES` are there in each.
"""

import pytest
from shardy import ShardyRefused, not_stated

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError

MESHES = """
sdy.mesh @mesh = <["x"=4, "y"=2, "z"=24]>
sdy.mesh @same = <["x"=4, "y"=2, "z"=24]>
sdy.mesh @other = <["x"=4, "w"=2]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
"""
T = "tensor<8x48xf32>"


def argument(sharding, type_=T):
    """A function with an argument of the sharding, in full or stripped form."""
    attribute = sharding if sharding.startswith("#") else f"#sdy.sharding{sharding}"
    return f"func.func @f(%a: {type_} {{sdy.sharding = {attribute}}}) {{ func.return }}"


def result(sharding, type_=T):
    return (
        f"func.func @f(%a: {type_}) -> ({type_} {{sdy.sharding = #sdy.sharding{sharding}}}) "
        f"{{ func.return %a : {type_} }}"
    )


def body(operations, type_=T):
    return f"func.func @f(%a: {type_}, %b: {type_}) {{ {operations} func.return }}"


def per_value(shardings, operation="stablehlo.negate %a"):
    attribute = f"{{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}}"
    return body(f"%0 = {operation} {attribute} : {T}")


def two_results(shardings):
    return body(
        '%0:2 = "stablehlo.optimization_barrier"(%a, %b) '
        f"{{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}} : ({T}, {T}) -> ({T}, {T})"
    )


def no_results(shardings):
    return body(
        f"stablehlo.custom_call @f(%a) {{has_side_effect = true, "
        f"sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}} : ({T}) -> ()"
    )


def constraint(sharding, type_=T):
    return body(f"%0 = sdy.sharding_constraint %a {sharding} : {type_}", type_)


def reshard(sharding, type_=T):
    return body(f"%0 = sdy.reshard %a {sharding} : {type_}", type_)


def manual(ins, outs, axes, local="tensor<2x48xf32>", inner="", returned="%c", local_out=None):
    return body(
        f"%0 = sdy.manual_computation(%a) in_shardings=[{ins}] out_shardings=[{outs}] "
        f"manual_axes={{{axes}}} (%c: {local}) {{ {inner} "
        f"sdy.return {returned} : {local_out or local} }} : ({T}) -> {T}"
    )


X, OPEN = '<@mesh, [{"x"}, {}]>', "<@mesh, [{?}, {?}]>"
XY = '<@mesh, [{"x", "y"}, {}]>'

VALID = {
    "mesh": [
        'sdy.mesh @m = <["a"=1]>',
        'sdy.mesh @m = <["a"=2, "b"=3], device_ids=[5, 4, 3, 2, 1, 0]>',
        'sdy.mesh @m = <["a"=2, "b"=2], device_ids=[0, 1, 2, 3]>',
        'sdy.mesh @"a name" = <["an axis"=2]>',
        "sdy.mesh @m = <[], device_ids=[0]>",
        "module { sdy.mesh @m = <[]> }",
    ],
    "dimensions": [
        argument(X),
        argument('<@mesh, [{"x", "y"}, {"z"}]>'),
        argument('<@mesh, [{"x", ?}, {"z", ?}p1]>'),
        argument("<@mesh, [{?}p0, {?}p7]>"),
        argument('<@mesh, [{"x"}p3, {}]>'),
        argument(OPEN),
        argument('<@"mesh", [{}, {}]>'),
        argument('<mesh<["a"=2]>, [{"a"}, {}]>'),
        argument('<@mesh, [{"z"}, {}]>'),  # 8 is not divisible by 24
        argument("<@mesh, []>", "tensor<f32>"),
        argument('<@mesh, [{"x"}]>', "tensor<?xf32>"),
        argument('<@mesh, [{"x"}]>', "tensor<0xf32>"),
        argument('<@mesh, [{"x"}]>', "vector<4xf32>"),
        argument('<@mesh, [{"x"}]>', "tuple<tensor<8xf32>>"),
        result(X),
    ],
    "replicated and unreduced axes": [
        argument('<@mesh, [{"x"}, {}], replicated={"y", "z"}>'),
        argument('<@mesh, [{}, {}], unreduced={"x"}>'),
        argument('<@mesh, [{}, {}], unreduced={"y"}, replicated={"x"}>'),
        argument('<@mesh, [{}, {}], replicated={"z":(1)2, "z":(4)3}>'),
    ],
    "sub-axes": [
        argument('<@mesh, [{"x":(1)2}, {}]>'),
        argument('<@mesh, [{"x":(2)2}, {"x":(1)2}]>'),
        argument('<@mesh, [{"x":(2)2, "x":(1)2}, {}]>'),
        argument('<@mesh, [{"z":(1)2, "z":(6)4}, {"z":(2)3}]>'),
        argument('<@mesh, [{"z":(4)6}, {"z":(1)2}], replicated={"z":(2)2}>'),
        argument('<@mesh, [{"x":(1)2}, {"y"}], replicated={"x":(2)2}>'),
    ],
    "maximal and empty meshes": [
        argument("<@one, []>"),
        argument("<@one, []>", "tensor<f32>"),
        argument("<mesh<[], device_ids=[0]>, []>"),
        argument("<@empty, [{}, {?}]>"),
        argument("<@one, []>", "tensor<*xf32>"),
    ],
    "values that are no tensors": [
        argument("<@mesh, []>", "!stablehlo.token"),
        argument("<@one, []>", "!stablehlo.token"),
        argument("<@mesh, []>", "i32"),
    ],
    "one sharding per value": [
        per_value(X),
        two_results(f"{X}, {OPEN}"),
        two_results('<@mesh, [{"x"}, {}]>, <@other, [{"w"}, {}]>'),
        no_results(""),
        no_results("<@one, []>"),
        no_results("<@mesh, []>"),
        body("func.return {sdy.sharding = #sdy.sharding_per_value<[]>}").replace(
            "} func.return }", "} }"
        ),
    ],
    "constraints and reshards": [
        constraint(X),
        constraint('<@mesh, [{"x", ?}, {}], replicated={"y"}>'),
        constraint("<@one, []>"),
        reshard(X),
        reshard('<mesh<["a"=8]>, [{"a"}, {}]>'),
        reshard('<@mesh, [{}, {}], unreduced={"x"}>'),
        body(f"%0 = sdy.reshard %a {X} : {T} %1 = sdy.reshard %0 {OPEN} : {T}"),
    ],
    "manual computations": [
        manual(X, X, '"x"'),
        manual("<@mesh, [{}, {}]>", "<@mesh, [{}, {}]>", "", T),
        manual(XY, XY, '"x"'),
        manual(XY, XY, '"x", "y"', "tensor<1x48xf32>"),
        manual(XY, XY, '"y", "x"', "tensor<1x48xf32>"),
        manual('<@mesh, [{"x":(1)2}, {}]>', '<@mesh, [{"x":(1)2}, {}]>', '"x"', "tensor<4x48xf32>"),
        manual(X, '<@same, [{"x"}, {}]>', '"x"'),
        manual('<@mesh, [{}, {}], replicated={"x"}>', OPEN, '"x"', T),
        manual(X, X, '"x"', inner='%d = sdy.reshard %c <@mesh, [{"y"}, {}]> : tensor<2x48xf32>'),
        manual(
            X,
            X,
            '"x"',
            inner=(
                "%d = sdy.manual_computation(%c) "
                'in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] '
                'manual_axes={"y"} (%e: tensor<1x48xf32>) { sdy.return %e : tensor<1x48xf32> } '
                ": (tensor<2x48xf32>) -> tensor<2x48xf32>"
            ),
            returned="%d",
        ),
        body(
            "sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} "
            "() { sdy.return } : () -> ()"
        ),
        body(
            "sdy.manual_computation() in_shardings=[] out_shardings=[] "
            'manual_axes={"nowhere"} () { sdy.return } : () -> ()'
        ),
    ],
    "data-flow edges": [
        body(f"%0 = sdy.data_flow_edge %a : {T}"),
        body(f"%0 = sdy.data_flow_edge %a sharding={X} : {T}"),
        body(f"%0 = stablehlo.negate %a : {T} %1 = sdy.data_flow_edge %0 : {T}"),
        body(f"%0 = sdy.func_data_flow_edge %a : {T}"),
    ],
    "other operations": [
        body(f"sdy.sharding_group %a group_id=3 : {T}"),
        body(f"sdy.sharding_group %a group_id=-3 : {T}"),
        body(f"%0 = sdy.propagation_barrier %a allowed_direction=NONE : {T}"),
        body(f"%0 = sdy.propagation_barrier %a allowed_direction=FORWARD : {T}"),
        body("%0 = sdy.constant dense<1.0> : tensor<4xf32>"),
        body(
            f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %c : {T} }} '
            f": ({T}) -> {T}"
        ),
        body(
            f'%0 = sdy.named_computation<"n">(%a) in_shardings=[{X}] out_shardings=[{OPEN}] '
            f"(%c: {T}) {{ sdy.return %c : {T} }} : ({T}) -> {T}"
        ),
    ],
    "other attributes": [
        body(f"%0 = stablehlo.negate %a {{sdy.whatever = 1 : i64}} : {T}"),
        body(
            "%0 = stablehlo.add %a, %b {sdy.sharding_rule = #sdy.op_sharding_rule<"
            f"([i, j], [i, j])->([i, j]) {{i=8, j=48}}>}} : {T}"
        ),
        body(
            "%0 = stablehlo.add %a, %b {sdy.sharding_rule = #sdy.op_sharding_rule<"
            f"([ij, k], [ij, k])->([ij, k]) {{i=2, j=4, k=48}} permutation={{k}}, custom>}} : {T}"
        ),
        body(
            f"%0 = stablehlo.negate %a {{sdy.sharding = #sdy.sharding_per_value<[{X}]>, "
            "sdy.propagation_edges = #sdy.propagation_edges<"
            f'[{{step-3 = [{{"x" = operand-0 -> [result-0]}}]}}]>}} : {T}'
        ),
    ],
}

INVALID = {
    "mesh": [
        'sdy.mesh @m = <["a"=0]>',
        'sdy.mesh @m = <["a"=2, "a"=2]>',
        'sdy.mesh @m = <["a"=2], device_ids=[0]>',
        'sdy.mesh @m = <["a"=2], device_ids=[1, 1]>',
        'sdy.mesh @m = <["a"=2], device_ids=[-1, 0]>',
        'sdy.mesh @m = <["a"=2], device_ids=[]>',
        "sdy.mesh @m = <[], device_ids=[0, 1]>",
        "sdy.mesh @m = <[], device_ids=[-1]>",
        "sdy.mesh @m = <>",
        'sdy.mesh @m = <["a"]>',
        "sdy.mesh @m = <[a=2]>",
        'sdy.mesh @mesh = <["a"=2]>',
        'func.func @f() { sdy.mesh @m = <["a"=2]> func.return }',
    ],
    "dimensions": [
        argument("<@unknown, [{}, {}]>"),
        argument('<@mesh, [{"a"}, {}]>'),
        argument('<@mesh, [{"x"}, {"x"}]>'),
        argument('<@mesh, [{"x", "x"}, {}]>'),
        argument("<@mesh, [{}]>"),
        argument("<@mesh, [{}, {}, {}]>"),
        argument("<@mesh, [{}p1, {}]>"),
        argument('<@mesh, [{"x"}p01, {}]>'),
        argument('<@mesh, [{"x"}p-1, {}]>'),
        argument('<@mesh, [{"x"}p, {}]>'),
        argument('<@mesh, [{"x"}q1, {}]>'),
        argument('<@mesh, [{"x" ?}, {}]>'),
        argument('<@mesh, [{?, "x"}, {}]>'),
        argument('<@mesh, [{"x",}, {}]>'),
        argument("<@mesh, [{x}, {}]>"),
        argument('<@mesh, [{"x"}p99999999999999999999, {}]>'),
        argument("<@mesh, [{}]>", "tensor<*xf32>"),
        argument("<@a::@b, [{}, {}]>"),
        argument('<["a"=2], [{}, {}]>'),
        argument('<@mesh [{"x"}, {}]>'),
        result('<@mesh, [{"a"}, {}]>'),
        result("<@mesh, []>"),
    ],
    "replicated and unreduced axes": [
        argument('<@mesh, [{"x"}, {}], replicated={"x"}>'),
        argument('<@mesh, [{"x"}, {}], unreduced={"x"}>'),
        argument('<@mesh, [{}, {}], replicated={"x"}, unreduced={"x"}>'),
        argument('<@mesh, [{}, {}], replicated={"y", "x"}>'),
        argument('<@mesh, [{}, {}], unreduced={"z", "x"}>'),
        argument('<@mesh, [{}, {}], replicated={"a"}>'),
        argument('<@mesh, [{}, {}], replicated={"a", "b"}>'),
        argument("<@mesh, [{}, {}], replicated={}>"),
        argument("<@mesh, [{}, {}], unreduced={}>"),
        argument('<@mesh, [{}, {}], replicated{"x"}>'),
        argument('<@mesh, [{}, {}], replicated={"x"}, replicated={"y"}>'),
        argument('<@mesh, [{}, {}], sharded={"x"}>'),
        argument("<@mesh, [{}, {}],>"),
        argument('<@mesh, [{}, {}], replicated={"z":(4)3, "z":(1)2}>'),
    ],
    "sub-axes": [
        argument('<@mesh, [{"x":(0)2}, {}]>'),
        argument('<@mesh, [{"x":(1)1}, {}]>'),
        argument('<@mesh, [{"x":(1)4}, {}]>'),
        argument('<@mesh, [{"x":(1)3}, {}]>'),
        argument('<@mesh, [{"x":(3)2}, {}]>'),
        argument('<@mesh, [{"x":(2)4}, {}]>'),
        argument('<@mesh, [{"x":(-1)2}, {}]>'),
        argument('<@mesh, [{"x":(1)2, "x":(2)2}, {}]>'),
        argument('<@mesh, [{"x"}, {"x":(1)2}]>'),
        argument('<@mesh, [{"x":(1)2}, {}], replicated={"x"}>'),
        argument('<@mesh, [{"x":(1)2}, {"x":(1)2}]>'),
        argument('<@mesh, [{"z":(1)4}, {"z":(2)6}]>'),
        argument('<@mesh, [{"z":(1)4}, {}], replicated={"z":(2)6}>'),
        argument('<@mesh, [{"x":2}, {}]>'),
        argument('<@mesh, [{"x":(2)}, {}]>'),
    ],
    "maximal and empty meshes": [
        argument("<@one, [{}, {}]>"),
        argument("<@one, [{?}]>", "tensor<8xf32>"),
        argument('<@one, [], replicated={"x"}>'),
        argument('<@empty, [{"x"}, {}]>'),
        argument("<mesh<[], device_ids=[0]>, [{}, {}]>"),
    ],
    "values that are no tensors": [
        argument("<@mesh, [{}]>", "!stablehlo.token"),
        argument('<@mesh, [], replicated={"x"}>', "!stablehlo.token"),
        argument("<@mesh, [{}]>", "i32"),
        argument("<@mesh, []>", "tuple<tensor<8xf32>, tensor<8xf32>>"),
        argument("<@unknown, []>", "!stablehlo.token"),
    ],
    "kinds of attributes": [
        argument("#sdy.sharding_per_value<[]>"),
        argument("1 : i64"),
        body(f"%0 = stablehlo.negate %a {{sdy.sharding = #sdy.sharding{X}}} : {T}"),
        body(f"%0 = stablehlo.negate %a {{sdy.sharding_rule = 1 : i64}} : {T}"),
        body(f"%0 = stablehlo.negate %a {{sdy.propagation_edges = 1 : i64}} : {T}"),
        body(f"%0 = stablehlo.negate %a {{sdy.sharding = #sdy.nothing<1>}} : {T}"),
    ],
    "one sharding per value": [
        per_value(""),
        per_value(f"{X}, {X}"),
        per_value('<@mesh, [{"a"}, {}]>'),
        two_results(X),
        two_results(f'{X}, <@mesh, [{{"a"}}, {{}}]>'),
        no_results(X),
        no_results("<@mesh, [{}]>"),
        no_results("<@one, [{}]>"),
        no_results("<@one, []>, <@one, []>"),
        no_results("<@unknown, []>"),
        no_results('<@mesh, [], replicated={"x"}>'),
        body(
            f"%0 = sdy.reshard %a {X} {{sdy.sharding = #sdy.sharding_per_value<[]>}} : {T}",
        ),
    ],
    "constraints and reshards": [
        constraint('<@mesh, [{"a"}, {}]>'),
        constraint("<@mesh, [{}]>"),
        constraint("<@unknown, [{}, {}]>"),
        constraint(f"#sdy.sharding{X}"),
        reshard('<@mesh, [{"x"}, {"x"}]>'),
        reshard("<@one, [{}, {}]>"),
        reshard(f"[{X}]"),
        body(f"%0 = sdy.reshard %a, %b {X} : {T}"),
        body(f"%0 = sdy.reshard {X} %a : {T}"),
        body(f"%0 = sdy.reshard %a : {T}"),
    ],
    "manual computations": [
        manual(X, X, '"x"', T),
        manual(X, X, '"x"', "tensor<2x48xf64>"),
        manual(X, X, '"x"', returned="%a", local_out=T),
        manual(f"{X}, {X}", X, '"x"'),
        manual(X, "", '"x"'),
        manual(X, X, '"a"', T),
        manual('<@mesh, [{"y", "x"}, {}]>', X, '"x"'),
        manual('<@mesh, [{"z"}, {}]>', '<@mesh, [{"z"}, {}]>', '"z"', "tensor<1x48xf32>"),
        manual(X, '<@other, [{"x"}, {}]>', '"x"'),
        manual('<@mesh, [{"a"}, {}]>', X, '"x"'),
        manual(X, X, '"x"', inner=f"%d = sdy.reshard %c {X} : tensor<2x48xf32>"),
        manual(
            X,
            X,
            '"x"',
            inner='%d = sdy.reshard %c <@mesh, [{}, {}], replicated={"x"}> : tensor<2x48xf32>',
        ),
        manual(
            X,
            X,
            '"x"',
            inner=(
                "%d = stablehlo.negate %c {sdy.sharding = #sdy.sharding_per_value<"
                '[<@mesh, [{"x":(1)2}, {}]>]>} : tensor<2x48xf32>'
            ),
        ),
        manual(
            X,
            X,
            '"x"',
            inner=(
                "%d = sdy.manual_computation(%c) "
                "in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] "
                'manual_axes={"x"} (%e: tensor<2x48xf32>) { sdy.return %e : tensor<2x48xf32> } '
                ": (tensor<2x48xf32>) -> tensor<2x48xf32>"
            ),
        ),
        body(
            f"%0 = sdy.manual_computation(%a) in_shardings=[{X}] out_shardings=[{X}] "
            f'manual_axes={{"x"}} (%c: tensor<2x48xf32>) {{}} : ({T}) -> {T}'
        ),
        body(
            f"%0 = sdy.manual_computation(%a) in_shardings=[{X}] out_shardings=[{X}] "
            f'manual_axes={{"x"}} (%c: tensor<2x48xf32>) {{ func.return }} : ({T}) -> {T}'
        ),
        # Values from outside the body are out of reach.
        manual(OPEN, OPEN, "", T, returned="%b"),
    ],
    "data-flow edges": [
        body(f"%0 = sdy.data_flow_edge %a : {T} %1 = stablehlo.negate %a : {T}"),
        body(f"%0 = sdy.reshard %a {X} : {T} %1 = sdy.data_flow_edge %0 : {T}"),
        body(f'%0 = sdy.data_flow_edge %a sharding=<@mesh, [{{"a"}}, {{}}]> : {T}'),
        body("%0 = sdy.data_flow_edge %a : tensor<?xf32>", "tensor<?xf32>"),
        body(f"%0 = stablehlo.negate %a : {T} %1 = sdy.func_data_flow_edge %0 : {T}"),
        body(f"%0 = sdy.func_data_flow_edge %a : {T} %1 = stablehlo.negate %a : {T}"),
    ],
    "other operations": [
        body(f"sdy.sharding_group %a group_id=x : {T}"),
        body(f'"sdy.sharding_group"(%a) {{group_id = 1 : i32}} : ({T}) -> ()'),
        body(
            f"%0 = sdy.data_flow_edge %a sharding=<@unknown, [{{}}, {{}}]> : {T} "
            f'%1 = sdy.all_gather [{{"x"}}, {{}}] %0 out_sharding=<@mesh, [{{}}, {{}}]> : {T}'
        ),
        body(f"%0 = sdy.propagation_barrier %a allowed_direction=BOTH : {T}"),
        body(f"%0 = sdy.propagation_barrier %a allowed_direction=SIDEWAYS : {T}"),
        body("%0 = sdy.constant : tensor<4xf32>"),
        body(f'%0 = "sdy.reshard"(%a) : ({T}) -> {T}'),
        body(f'%0 = "sdy.propagation_barrier"(%a) {{allowed_direction = 9 : i32}} : ({T}) -> {T}'),
        body(
            f'%0 = sdy.named_computation<"n">(%a) (%c: {T}, %d: {T}) {{ sdy.return %c : {T} }} '
            f": ({T}) -> {T}"
        ),
        body(
            f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %c : {T} }} '
            f": ({T}) -> tensor<4xf32>"
        ),
        body(
            f'%0 = sdy.named_computation<"n">(%a) in_shardings=[] out_shardings=[{X}] '
            f"(%c: {T}) {{ sdy.return %c : {T} }} : ({T}) -> {T}"
        ),
        body(
            f'%0 = sdy.named_computation<"n">(%a) in_shardings=[<@mesh, [{{"a"}}, {{}}]>] '
            f"out_shardings=[{X}] (%c: {T}) {{ sdy.return %c : {T} }} : ({T}) -> {T}"
        ),
        body(f"%0 = sdy.nothing %a : {T}"),
    ],
    "propagation edges": [
        body(
            f"%0 = stablehlo.negate %a {{sdy.sharding = #sdy.sharding_per_value<[{X}]>, "
            f"sdy.propagation_edges = #sdy.propagation_edges<{edges}>}} : {T}"
        )
        for edges in (
            '[{step-0 = [{"a" = operand-0 -> [result-0]}]}]',
            '[{step-0 = [{"x" = operand-1 -> [result-0]}]}]',
            '[{step-0 = [{"x" = operand-0 -> [result-1]}]}]',
            '[{step--1 = [{"x" = operand-0 -> [result-0]}]}]',
            '[{step-0 = [{"x" = result-0 -> [result-0]}]}]',
            '[{step-0 = [{"x" = operand-0 -> [result-0, result-0]}]}]',
            '[{step-0 = [{"x" = operand-0 -> []}]}]',
            "[]",
        )
    ],
    "sharding rules": [
        body(
            f"%0 = stablehlo.add %a, %b {{sdy.sharding_rule = #sdy.op_sharding_rule<{rule}>}} : {T}"
        )
        for rule in (
            "([i, j])->([i, j]) {i=8, j=48}",
            "([i, j], [i, j])->([i]) {i=8, j=48}",
            "([i, j], [i, j])->([i, j]) {i=8, j=48, k=2}",
            "([i, j], [i, j])->([i, k]) {i=8, j=48}",
            "([i, i], [i, j])->([i, j]) {i=8, j=48}",
            "([i, ], [i, j])->([i, j]) {i=8, j=48}",
            "([i, j], [i, j])->([i, j]) {i=8, j=48} reduction={j}",
            "([i, k], [i, k])->([i, j]) {i=8, j=48, k=48} reduction={k} permutation={k}",
            "([i, j], [i, j])->([i, j]) {i=8, j=48} permutation={j, i}",
            "([i, j], [i, j])->([i, j]) {i=8, j=48} blocked_propagation={k}",
            "([i, j], [i, j])->() {i=8, j=48}",
            "([i, j], [i, *])->([i, j]) {i=8, j=48}",
            "([i, j], [i, a])->([i, j]) {i=8, j=48}",
            "([i, j], [i, z_])->([i, j]) {i=8, j=48}",
            "([i, j], [i, z_01])->([i, j]) {i=8, j=48}",
            "([i, j], [i, j])->([i, j]) {j=8, i=48}",
            "([i, j], [i, j])->([i, j]) {ij=8}",
            "([i, j], [i, j])->([i, j]) {=8}",
            "([i, j], [i, j])->([i, j]) {i=8, j=48} reduction={i,}",
        )
    ],
}


OTHER_WORDS = (
    '#sdy.sharding<["a"=2]',  # the beginning of a list that isn't one
    'replicated={"a", "b"}',  # the first of several faults
    "replicated={}",  # each axis reports a fault
    "unreduced={}",
    "{ func.return }",  # the terminator reports a fault before the operation around
    "allowed_direction = 9",  # IRDL states the value
    "operand-0 -> []",  # each target reports a fault
    "propagation_edges<[]>",  # docs/differences.md
)
"""Parts of the snippets whose errors have other words than C++ Shardy's, and why."""


def cases(table):
    return [
        pytest.param(snippet, id=f"{rule}-{index}")
        for rule, snippets in table.items()
        for index, snippet in enumerate(snippets)
    ]


@pytest.mark.parametrize("snippet", cases(VALID))
def test_valid_for_both(snippet, context, shardy):
    parse(MESHES + snippet, context)
    shardy.run(MESHES + snippet)


@pytest.mark.parametrize("snippet", cases(INVALID))
def test_invalid_for_both(snippet, context, shardy):
    with pytest.raises(ShardyRefused) as theirs:
        shardy.run(MESHES + snippet)
    with pytest.raises(SdyError) as ours:
        parse(MESHES + snippet, context)
    if shardy.release >= (0, 12) and not any(part in snippet for part in OTHER_WORDS):
        assert not_stated(theirs.value, ours.value) == []
