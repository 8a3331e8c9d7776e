# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constraints of the dialect's operations, collectives aside: those of many, then of each."""

from constraint_texts import PLAIN, X4, A, Constraint, T, barrier, function, manual, mesh, sharded

PLAIN_SOURCE = f" {{sdy.sharding = #sdy.sharding{PLAIN}}}"


A_SOURCE = f" {{sdy.sharding = #sdy.sharding{A}}}"


NO_AXES = "#sdy<list_of_axis_ref_lists[{}, {}]>"


def same_type(name, attributes, source=""):
    """An operation in generic form whose result has the type of its operand, or another one."""
    texts = [
        function(f'%0 = "sdy.{name}"(%a) <{{{attributes}}}> : ({T}) -> {result}', T, source)
        for result in (T, "tensor<8x8xf64>")
    ]
    return (texts[0],), (texts[1],)


def same_type_constraints():
    """SameOperandsAndResultType, a trait of 13 operations."""
    out = f"out_sharding = #sdy.sharding{PLAIN}"
    cases = {
        "all_gather": (f"gathering_axes = {NO_AXES}, {out}", PLAIN_SOURCE),
        "all_slice": (f"slicing_axes = {NO_AXES}, {out}", PLAIN_SOURCE),
        "all_to_all": (
            'params = #sdy<all_to_all_param_list[{"a"}: 0->1]>, '
            'out_sharding = #sdy.sharding<@m, [{}, {"a"}]>',
            A_SOURCE,
        ),
        "collective_permute": (out, PLAIN_SOURCE),
        "all_reduce": (f"reduction_axes = #sdy<axis_ref_list{{}}>, {out}", PLAIN_SOURCE),
        "reduce_scatter": (f"reduce_scatter_axes = {NO_AXES}, {out}", PLAIN_SOURCE),
        "sharded_to_unreduced": (f"axes = {NO_AXES}, {out}", PLAIN_SOURCE),
        "replicated_to_unreduced": (
            'axes = #sdy<axis_ref_list{"a"}>, '
            'out_sharding = #sdy.sharding<@m, [{}, {}], unreduced={"a"}>',
            PLAIN_SOURCE,
        ),
        "reshard": (f"sharding = #sdy.sharding{A}", ""),
        "sharding_constraint": (f"sharding = #sdy.sharding{A}", ""),
        "data_flow_edge": ("", ""),
        "propagation_barrier": ("allowed_direction = 1 : i32", ""),
    }
    for name, arguments in cases.items():
        accepted, refused = same_type(name, *arguments)
        yield Constraint(
            f"sdy.{name}",
            "Operand and result have the same type.",
            accepted,
            refused,
            "expected 'tensor",
        )


OPERATION_CONSTRAINTS = [
    *same_type_constraints(),
    Constraint(
        "sdy.constant",
        "The result is a tensor of static shape, of the type of the value.",
        (
            function("%0 = sdy.constant dense<1.0> : tensor<2x2xf32>"),
            function("%0 = sdy.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>"),
            function(
                '%0 = "sdy.constant"() <{value = dense<1> : tensor<2xi8>}> : () -> '
                "tensor<2x!quant.uniform<i8:f32, 0.5>>"
            ),
        ),
        (
            function("%0 = sdy.constant dense<1.0> : tensor<?xf32>"),
            function(
                '%0 = "sdy.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>'
            ),
            function(
                '%0 = "sdy.constant"() <{value = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>}> : '
                "() -> tensor<3xcomplex<f32>>"
            ),
        ),
        "static shape|type",
    ),
    Constraint(
        "sdy.data_flow_edge",
        "Its input has no other uses.",
        (function(f"%0 = sdy.data_flow_edge %a : {T}"),),
        (function(f"%0 = sdy.data_flow_edge %a : {T} %1 = stablehlo.negate %a : {T}"),),
        "a single user",
    ),
    Constraint(
        "sdy.data_flow_edge",
        "Its input is not defined by an operation of the dialect.",
        (function(f"%0 = stablehlo.negate %a : {T} %1 = sdy.data_flow_edge %0 : {T}"),),
        (function(f"%0 = sdy.reshard %a {A} : {T} %1 = sdy.data_flow_edge %0 : {T}"),),
        "not be defined by an SdyDialect op",
    ),
    Constraint(
        "sdy.data_flow_edge",
        "Its input is not defined by an operation of the dialect: a manual or named computation.",
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %c : {T} }} '
                f": ({T}) -> {T} %1 = sdy.data_flow_edge %0 : {T}"
            ),
        ),
        unless="These own edges themselves.",
    ),
    Constraint(
        "sdy.data_flow_edge",
        "Input and result are shaped; their sharding keeps to the constraints of shardings.",
        (function(f"%0 = sdy.data_flow_edge %a sharding={A} : {T}"),),
        (
            function("%0 = sdy.data_flow_edge %a : i32", "i32"),
            function(f'%0 = sdy.data_flow_edge %a sharding=<@m, [{{"x"}}, {{}}]> : {T}'),
        ),
        "constraint|axis name",
    ),
    Constraint(
        "sdy.manual_computation",
        "in_shardings and out_shardings keep to the constraints of shardings.",
        (manual(A, A, '"a"', X4),),
        (
            manual('<@m, [{"x"}, {}]>', A, '"a"', X4),
            manual(A, '<@m, [{"a"}]>', '"a"', X4),
            manual(A, '<@unknown, [{"a"}, {}]>', '"a"', X4),
        ),
        "axis name|rank|unknown mesh",
    ),
    Constraint(
        "sdy.manual_computation",
        "There are as many global as local values, and shardings.",
        (manual(A, A, '"a"', X4),),
        (
            manual(f"{A}, {A}", A, '"a"', X4),
            manual(A, "", '"a"', X4),
            function(
                f"sdy.manual_computation(%a) in_shardings=[{A}] out_shardings=[] "
                f'manual_axes={{"a"}} (%c: {X4}) {{ sdy.return %c : {X4} }} : ({T}) -> ()'
            ),
        ),
        "number of|match",
    ),
    Constraint(
        "sdy.manual_computation",
        "In each dimension, manual axes come before free ones.",
        (manual('<@m, [{"a", "b"}, {}]>', A, '"a"', X4),),
        (manual('<@m, [{"b", "a"}, {}]>', A, '"a"', X4),),
        "before free axes",
    ),
    Constraint(
        "sdy.manual_computation",
        "Manual axes divide the dimensions that they split: there is no padding.",
        (
            manual(
                '<@m, [{"a"}]>',
                '<@m, [{"a"}]>',
                '"a"',
                "tensor<3xf32>",
                types=("tensor<6xf32>",) * 2,
            ),
        ),
        (
            manual(
                '<@m, [{"a"}]>',
                '<@m, [{"a"}]>',
                '"a"',
                "tensor<4xf32>",
                types=("tensor<7xf32>",) * 2,
            ),
        ),
        "not divisible",
    ),
    Constraint(
        "sdy.manual_computation",
        "Global and local shapes of arguments and results match.",
        (manual(A, '<@m, [{}, {"a"}]>', '"a"', X4, types=(T, "tensor<4x16xf32>")),),
        (manual(A, A, '"a"', T), manual(A, A, '"a"', X4, types=(T, "tensor<8x16xf32>"))),
        "Expected local shape",
    ),
    Constraint(
        "sdy.manual_computation",
        "Unranked tensors have shardings of rank 0.",
        (sharded("<@one, []>", "tensor<*xf32>"),),
        (
            manual("<@m, []>", "<@m, []>", "", "tensor<*xf32>", types=("tensor<*xf32>",) * 2),
            sharded("<@m, [{}]>", "tensor<*xf32>"),
        ),
        # Shardy refuses all shardings on unranked tensors but those on a single device.
        "rank",
    ),
    Constraint(
        "sdy.manual_computation",
        "Its one block sees nothing from outside, and ends with sdy.return.",
        (manual(A, A, '"a"', X4),),
        (
            manual(PLAIN, PLAIN, "", T, returned="%b"),
            function(
                "sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () "
                "{ %0 = sdy.constant dense<0> : tensor<i32> } : () -> ()"
            ),
            function(
                '"sdy.manual_computation"() <{in_shardings = #sdy.sharding_per_value<[]>, '
                "manual_axes = #sdy<manual_axes{}>, out_shardings = #sdy.sharding_per_value<[]>}> "
                '({ "sdy.return"() : () -> () ^bb1: "sdy.return"() : () -> () }) : () -> ()'
            ),
        ),
        "outside|sdy.return|one block|undeclared",
    ),
    Constraint(
        "sdy.manual_computation",
        "Manual axes are sorted by the mesh.",
        (
            manual(
                '<@m, [{"a", "b"}, {}]>', '<@m, [{"a", "b"}, {}]>', '"b", "a"', "tensor<2x8xf32>"
            ),
        ),
        unless="A pass sorts them.",
    ),
    Constraint(
        "sdy.manual_computation",
        "Every manual axis appears in all in_shardings and out_shardings.",
        (manual(PLAIN, PLAIN, '"a"', T),),
        unless="A pass adds them as replicated axes.",
    ),
    Constraint(
        "sdy.manual_computation",
        "All in_shardings and out_shardings have the same mesh.",
        (manual(A, A, '"a"', X4),),
        (manual(A, '<@small, [{"a"}, {}]>', '"a"', X4),),
        "same mesh",
    ),
    Constraint(
        "sdy.mesh",
        "It stands directly in a module.",
        (mesh('<["a"=2]>'), f"module {{ {mesh('<[]>')} }}"),
        (function(mesh('<["a"=2]>')),),
        "builtin.module",
    ),
    Constraint(
        "sdy.mesh",
        "It is a symbol of the module.",
        (mesh('<["a"=2]>'),),
        ('sdy.mesh @m = <["a"=2]>',),
        "redefinition",
    ),
    Constraint(
        "sdy.mesh",
        "All meshes of a module have the same number of devices, unless they have just one.",
        (mesh('<["a"=1024]>'),),
        unless="Shardy does not enforce it: programs with such meshes exist.",
    ),
    Constraint(
        "sdy.named_computation",
        "The arguments of the block have the types of the operands, the results those of the "
        "returned values.",
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %c : {T} }} '
                f": ({T}) -> {T}"
            ),
        ),
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) (%c: {X4}) {{ sdy.return %c : {X4} }} '
                f": ({T}) -> {X4}"
            ),
            function(
                f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %c : {T} }} '
                f": ({T}) -> {X4}"
            ),
            function(
                f'%0 = sdy.named_computation<"n">(%a) () {{ %c = sdy.constant dense<0.0> : {T} '
                f"sdy.return %c : {T} }} : ({T}) -> {T}"
            ),
        ),
        "block argument|inferred type",
    ),
    Constraint(
        "sdy.named_computation",
        "Its one block sees nothing from outside, and ends with sdy.return.",
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %c : {T} }} '
                f": ({T}) -> {T}"
            ),
        ),
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) (%c: {T}) {{ sdy.return %b : {T} }} '
                f": ({T}) -> {T}"
            ),
        ),
        "outside|undeclared",
    ),
    Constraint(
        "sdy.named_computation",
        "in_shardings and out_shardings, if given, keep to the constraints of shardings.",
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) in_shardings=[{A}] out_shardings=[{PLAIN}] '
                f"(%c: {T}) {{ sdy.return %c : {T} }} : ({T}) -> {T}"
            ),
        ),
        (
            function(
                f'%0 = sdy.named_computation<"n">(%a) in_shardings=[<@m, [{{"x"}}, {{}}]>] '
                f"(%c: {T}) {{ sdy.return %c : {T} }} : ({T}) -> {T}"
            ),
            function(
                f'%0 = sdy.named_computation<"n">(%a) out_shardings=[] '
                f"(%c: {T}) {{ sdy.return %c : {T} }} : ({T}) -> {T}"
            ),
        ),
        "shardings",
    ),
    Constraint(
        "sdy.propagation_barrier",
        "Its direction is not BOTH, which would be no barrier.",
        (barrier("FORWARD"), barrier("BACKWARD"), barrier("NONE")),
        (barrier("BOTH"),),
        "cannot specify `BOTH`",
    ),
    Constraint(
        "sdy.propagation_barrier",
        "Operand and result are ranked tensors.",
        (barrier("NONE", "tensor<?xf32>"),),
        (barrier("NONE", "tensor<*xf32>"), barrier("NONE", "vector<4xf32>")),
        "tensor",
    ),
    *(
        Constraint(
            f"sdy.{name}",
            "Its sharding keeps to the constraints of shardings.",
            (function(f"%0 = sdy.{name} %a {A} : {T}"),),
            (
                function(f'%0 = sdy.{name} %a <@m, [{{"x"}}, {{}}]> : {T}'),
                function(f"%0 = sdy.{name} %a <@m, [{{}}]> : {T}"),
                function(f"%0 = sdy.{name} %a <@unknown, [{{}}, {{}}]> : {T}"),
            ),
            "axis name|rank|unknown mesh|dimension",
        )
        for name in ("reshard", "sharding_constraint")
    ),
    *(
        Constraint(
            f"sdy.{name}",
            "Operand and result are shaped.",
            (function(f"%0 = sdy.{name} %a <@m, []> : !stablehlo.token", "!stablehlo.token"),),
            unless="Shardy takes tokens as well.",
        )
        for name in ("reshard", "sharding_constraint")
    ),
    Constraint(
        "sdy.sharding_group",
        "Its operand is a ranked tensor.",
        (function(f"sdy.sharding_group %a group_id=1 : {T}"),),
        (
            function("sdy.sharding_group %a group_id=1 : tensor<*xf32>", "tensor<*xf32>"),
            function("sdy.sharding_group %a group_id=1 : i32", "i32"),
        ),
        "tensor",
    ),
    Constraint(
        "sdy.sharding_group",
        "group_id has 64 bits.",
        (function(f"sdy.sharding_group %a group_id=9223372036854775807 : {T}"),),
        (
            function(f'"sdy.sharding_group"(%a) <{{group_id = 1 : i32}}> : ({T}) -> ()'),
            function(f'"sdy.sharding_group"(%a) <{{group_id = 1 : ui64}}> : ({T}) -> ()'),
        ),
        "i64|constraint",
    ),
    Constraint(
        "sdy.sharding_group",
        "group_id has no sign.",
        (function(f"sdy.sharding_group %a group_id=-1 : {T}"),),
        unless="It is a signless integer in Shardy.",
    ),
]
