# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every constraint that the documents of the dialect state, with what it allows and what not.

`DIALECT` follows the reference of the dialect, operation by operation and attribute by attribute;
`REPRESENTATION` follows the description of the sharding representation. Where Shardy does not
enforce a statement, the snippet that breaks it is accepted here, too, and `unless` says why.
"""

from dataclasses import dataclass

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from mlir_sdy.ods.tables import ATTRIBUTES, OPERATIONS

MESHES = """
sdy.mesh @m = <["a"=2, "b"=2, "c"=4, "d"=2, "e"=24]>
sdy.mesh @turned = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @small = <["a"=2, "b"=2]>
sdy.mesh @renamed = <["a"=2, "x"=2]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
"""
T = "tensor<8x8xf32>"


@dataclass(frozen=True)
class Constraint:
    """One statement of a document.

    Attributes:
        about: the operation or attribute it belongs to.
        says: the statement.
        accepted: texts that keep to it.
        refused: texts that break it.
        because: what the message for the refused texts holds.
        unless: why it is not enforced; then nothing is refused, and `accepted` breaks it.
    """

    about: str
    says: str
    accepted: tuple[str, ...]
    refused: tuple[str, ...] = ()
    because: str = ""
    unless: str = ""


def mesh(body):
    return f"sdy.mesh @new = {body}\n"


def function(operations, type_=T, attributes=""):
    return (
        f"func.func @f(%a: {type_}{attributes}, %b: {type_}) {{\n"
        f"  {operations}\n  func.return\n}}\n"
    )


def sharded(body, type_=T):
    """An argument with a sharding."""
    return function("", type_, f" {{sdy.sharding = #sdy.sharding{body}}}")


def collective(name, axes, source, out, type_=T):
    """A collective of an argument that is sharded as `source`."""
    operation = f"%0 = sdy.{name} {axes} %a out_sharding={out} : {type_}"
    return function(operation, type_, f" {{sdy.sharding = #sdy.sharding{source}}}")


def manual(ins, outs, axes, local, result=None, *, types=(T, T), body="", returned="%c"):
    """A manual computation on one value."""
    return function(
        f"%0 = sdy.manual_computation(%a) in_shardings=[{ins}] out_shardings=[{outs}] "
        f"manual_axes={{{axes}}} (%c: {local}) {{ {body} sdy.return {returned} : "
        f"{result or local} }} : ({types[0]}) -> {types[1]}",
        types[0],
    )


def rule(body, operation="stablehlo.add %a, %b", type_=T):
    return function(
        f"%0 = {operation} {{sdy.sharding_rule = #sdy.op_sharding_rule<{body}>}} : {type_}", type_
    )


def on_result(attribute, type_=T):
    return function(f"%0 = stablehlo.negate %a {{sdy.sharding = {attribute}}} : {type_}", type_)


def barrier(direction, type_=T):
    return function(
        f"%0 = sdy.propagation_barrier %a allowed_direction={direction} : {type_}", type_
    )


def same_type(name, attributes, source=""):
    """An operation in generic form whose result has the type of its operand, or another one."""
    texts = [
        function(f'%0 = "sdy.{name}"(%a) <{{{attributes}}}> : ({T}) -> {result}', T, source)
        for result in (T, "tensor<8x8xf64>")
    ]
    return (texts[0],), (texts[1],)


PLAIN = "<@m, [{}, {}]>"
A = '<@m, [{"a"}, {}]>'
X8 = "tensor<8x8xf32>"
X4 = "tensor<4x8xf32>"
PLAIN_SOURCE = f" {{sdy.sharding = #sdy.sharding{PLAIN}}}"
A_SOURCE = f" {{sdy.sharding = #sdy.sharding{A}}}"
NO_AXES = "#sdy<list_of_axis_ref_lists[{}, {}]>"


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


COLLECTIVES = {
    # The axes of the operation, the sharding of the operand and that of the result.
    "all_gather": ('[{"a"}, {}]', A, PLAIN),
    "all_slice": ('[{"a"}, {}]', PLAIN, A),
    "all_to_all": ('[{"a"}: 0->1]', A, '<@m, [{}, {"a"}]>'),
    "collective_permute": ("", A, '<@m, [{"b"}, {}]>'),
    "all_reduce": ('{"b"}', A, A),
    "reduce_scatter": ('[{"a"}, {}]', PLAIN, A),
    "sharded_to_unreduced": ('[{"a"}, {}]', A, '<@m, [{}, {}], unreduced={"a"}>'),
    "replicated_to_unreduced": ('{"a"}', PLAIN, '<@m, [{}, {}], unreduced={"a"}>'),
}


def collective_constraints():
    """What all collectives have in common."""
    for name, (axes, source, out) in COLLECTIVES.items():
        yield Constraint(
            f"sdy.{name}",
            "It keeps to the constraints of the collective interface: its out_sharding is valid.",
            (collective(name, axes, source, out),),
            (
                collective(name, axes, source, '<@m, [{"nowhere"}, {}]>'),
                collective(name, axes, source, "<@m, [{}]>"),
                collective(name, axes, source, "<@unknown, [{}, {}]>"),
            ),
            "axis name|rank|unknown mesh|dimension",
        )
        if name != "collective_permute":
            yield Constraint(
                f"sdy.{name}",
                "It keeps to the constraints of the collective interface: operand and result have "
                "the same mesh.",
                (collective(name, axes, source, out),),
                (collective(name, axes, source, out.replace("@m", 'mesh<["a"=2, "b"=2]>')),),
                "mesh",
            )
        if name in ("all_gather", "all_to_all", "collective_permute") or "unreduced" in name:
            yield Constraint(
                f"sdy.{name}",
                "It keeps to the constraints of the collective interface: the operand has a "
                "sharding.",
                (collective(name, axes, source, out),),
                (function(f"%0 = sdy.{name} {axes} %a out_sharding={out} : {T}"),),
                "sharding",
            )
        if axes:
            yield Constraint(
                f"sdy.{name}",
                "Its axes keep to the constraints of a list of axes: they are on the mesh, and no "
                "axis occurs twice.",
                (collective(name, axes, source, out),),
                (
                    collective(name, axes.replace('"a"', '"x"').replace('"b"', '"x"'), source, out),
                    collective(
                        name,
                        axes.replace('"a"', '"a", "a"').replace('"b"', '"b", "b"'),
                        source,
                        out,
                    ),
                ),
                "unknown axis|duplicate",
            )


DIALECT = [
    *same_type_constraints(),
    *collective_constraints(),
    # --- Operations ---------------------------------------------------------------------------
    Constraint(
        "sdy.all_gather",
        "Gathering along gathering_axes from the operand's sharding gives out_sharding.",
        (
            collective(
                "all_gather",
                '[{"b", "c"}, {"d"}]',
                '<@m, [{"a", "b", "c"}, {"d"}]>',
                '<@m, [{"a"}, {}]>',
            ),
        ),
        (
            collective("all_gather", '[{"b"}, {}]', '<@m, [{"a", "b"}, {}]>', PLAIN),
            collective("all_gather", '[{"a"}, {}]', '<@m, [{"a", "b"}, {}]>', '<@m, [{"b"}, {}]>'),
        ),
        "gather|expected",
    ),
    Constraint(
        "sdy.all_reduce",
        "reduction_axes are sorted by the mesh.",
        (collective("all_reduce", '{"b", "d"}', A, A),),
        (collective("all_reduce", '{"d", "b"}', A, A),),
        "order",
    ),
    Constraint(
        "sdy.all_reduce",
        "Operand sharding and out_sharding have equivalent dimension shardings.",
        (collective("all_reduce", '{"b"}', A, '<@m, [{"a", ?}p1, {}]>'),),
        (collective("all_reduce", '{"b"}', A, PLAIN),),
        "sharded alike",
    ),
    Constraint(
        "sdy.all_reduce",
        "reduction_axes do not overlap dimension or replicated axes of the operand; they may "
        "overlap its unreduced axes.",
        (collective("all_reduce", '{"b"}', '<@m, [{"a"}, {}], unreduced={"b"}>', A),),
        (
            collective("all_reduce", '{"a"}', A, A),
            collective("all_reduce", '{"c":(1)2}', '<@m, [{"c"}, {}]>', '<@m, [{"c"}, {}]>'),
            collective("all_reduce", '{"b"}', '<@m, [{"a"}, {}], replicated={"b"}>', A),
        ),
        "overlap",
    ),
    Constraint(
        "sdy.all_reduce",
        "reduction_axes do not overlap unreduced axes of out_sharding.",
        (collective("all_reduce", '{"b"}', '<@m, [{}, {}], unreduced={"b"}>', PLAIN),),
        (
            collective(
                "all_reduce",
                '{"b"}',
                '<@m, [{}, {}], unreduced={"b"}>',
                '<@m, [{}, {}], unreduced={"b"}>',
            ),
        ),
        "overlap",
    ),
    Constraint(
        "sdy.all_slice",
        "Slicing the operand's sharding along slicing_axes gives out_sharding.",
        (collective("all_slice", '[{"b", "c"}, {"d"}]', A, '<@m, [{"a", "b", "c"}, {"d"}]>'),),
        (collective("all_slice", '[{"b"}, {}]', A, '<@m, [{"b", "a"}, {}]>'),),
        "expected",
    ),
    Constraint(
        "sdy.all_to_all",
        "The list of params is not empty.",
        (collective("all_to_all", '[{"a"}: 0->1]', A, '<@m, [{}, {"a"}]>'),),
        (collective("all_to_all", "[]", A, A),),
        "empty|at least one",
    ),
    Constraint(
        "sdy.all_to_all",
        "src_dim and tgt_dim are not negative and below the rank.",
        (collective("all_to_all", '[{"a"}: 0->1]', A, '<@m, [{}, {"a"}]>'),),
        (
            collective("all_to_all", '[{"a"}: 0->2]', A, '<@m, [{}, {"a"}]>'),
            collective("all_to_all", '[{"a"}: -1->1]', A, '<@m, [{}, {"a"}]>'),
        ),
        "dimension",
    ),
    Constraint(
        "sdy.all_to_all",
        "Every src_dim and tgt_dim is used once among all params.",
        (
            collective(
                "all_to_all",
                '[{"a"}: 0->1, {"b"}: 2->3]',
                '<@m, [{"a"}, {}, {"b"}, {}]>',
                '<@m, [{}, {"a"}, {}, {"b"}]>',
                "tensor<8x8x8x8xf32>",
            ),
        ),
        (
            collective("all_to_all", '[{"a"}: 0->0]', A, A),
            collective(
                "all_to_all",
                '[{"a"}: 0->1, {"b"}: 1->2]',
                '<@m, [{"a"}, {"b"}, {}]>',
                '<@m, [{}, {"a"}, {"b"}]>',
                "tensor<8x8x8xf32>",
            ),
        ),
        "dimension",
    ),
    Constraint(
        "sdy.all_to_all",
        "Params are in ascending order of src_dim.",
        (
            collective(
                "all_to_all",
                '[{"a"}: 0->1, {"b"}: 2->3]',
                '<@m, [{"a"}, {}, {"b"}, {}]>',
                '<@m, [{}, {"a"}, {}, {"b"}]>',
                "tensor<8x8x8x8xf32>",
            ),
        ),
        (
            collective(
                "all_to_all",
                '[{"b"}: 2->3, {"a"}: 0->1]',
                '<@m, [{"a"}, {}, {"b"}, {}]>',
                '<@m, [{}, {"a"}, {}, {"b"}]>',
                "tensor<8x8x8x8xf32>",
            ),
        ),
        "order|ascending|sorted",
    ),
    Constraint(
        "sdy.all_to_all",
        "Moving the axes from src_dim to tgt_dim of the operand's sharding gives out_sharding.",
        (
            collective(
                "all_to_all",
                '[{"b"}: 0->1]',
                '<@m, [{"a", "b"}, {"c"}]>',
                '<@m, [{"a"}, {"c", "b"}]>',
            ),
        ),
        (
            collective(
                "all_to_all",
                '[{"b"}: 0->1]',
                '<@m, [{"a", "b"}, {"c"}]>',
                '<@m, [{"a"}, {"b", "c"}]>',
            ),
            collective("all_to_all", '[{"b"}: 0->1]', A, '<@m, [{"a"}, {"b"}]>'),
        ),
        "expected|gather",
    ),
    Constraint(
        "sdy.collective_permute",
        "Different meshes have the same axes and different device ids.",
        (collective("collective_permute", "", '<@small, [{"a"}, {}]>', '<@turned, [{"b"}, {}]>'),),
        (
            collective(
                "collective_permute", "", '<@small, [{"a"}, {}]>', '<@renamed, [{"a"}, {}]>'
            ),
            collective(
                "collective_permute",
                "",
                '<@small, [{"a"}, {}]>',
                '<mesh<["a"=2, "b"=2]>, [{"a"}, {}]>',
            ),
        ),
        "mesh|device",
    ),
    Constraint(
        "sdy.collective_permute",
        "Each dimension is cut into as many parts as before.",
        (
            collective(
                "collective_permute",
                "",
                '<@m, [{"a", "c"}, {"d"}]>',
                '<@m, [{"c":(1)2, "b", "d"}, {"a"}]>',
            ),
        ),
        (collective("collective_permute", "", A, '<@m, [{"c"}, {}]>'),),
        "size",
    ),
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
        ),
        "static shape|type",
    ),
    Constraint(
        "sdy.data_flow_edge",
        "Its input has no other uses.",
        (function(f"%0 = sdy.data_flow_edge %a : {T}"),),
        (function(f"%0 = sdy.data_flow_edge %a : {T} %1 = stablehlo.negate %a : {T}"),),
        "only use",
    ),
    Constraint(
        "sdy.data_flow_edge",
        "Its input is not defined by an operation of the dialect.",
        (function(f"%0 = stablehlo.negate %a : {T} %1 = sdy.data_flow_edge %0 : {T}"),),
        (function(f"%0 = sdy.reshard %a {A} : {T} %1 = sdy.data_flow_edge %0 : {T}"),),
        "not the result of an sdy operation",
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
        (manual(A, '<@m, [{}, {"a"}]>', '"a"', X4, types=(X8, "tensor<4x16xf32>")),),
        (manual(A, A, '"a"', X8), manual(A, A, '"a"', X4, types=(X8, "tensor<8x16xf32>"))),
        "local type",
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
        "block argument|body returns",
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
        "other than BOTH",
    ),
    Constraint(
        "sdy.propagation_barrier",
        "Operand and result are ranked tensors.",
        (barrier("NONE", "tensor<?xf32>"),),
        (barrier("NONE", "tensor<*xf32>"), barrier("NONE", "vector<4xf32>")),
        "tensor",
    ),
    Constraint(
        "sdy.reduce_scatter",
        "Reducing and slicing along reduce_scatter_axes gives out_sharding.",
        (
            collective(
                "reduce_scatter",
                '[{"b"}, {}]',
                '<@m, [{"a"}, {}], unreduced={"b"}>',
                '<@m, [{"a", "b"}, {}]>',
            ),
        ),
        (collective("reduce_scatter", '[{"b"}, {}]', A, '<@m, [{"b", "a"}, {}]>'),),
        "expected",
    ),
    Constraint(
        "sdy.replicated_to_unreduced",
        "axes are sorted by the mesh.",
        (
            collective(
                "replicated_to_unreduced",
                '{"a", "c"}',
                PLAIN,
                '<@m, [{}, {}], unreduced={"a", "c"}>',
            ),
        ),
        (
            collective(
                "replicated_to_unreduced",
                '{"c", "a"}',
                PLAIN,
                '<@m, [{}, {}], unreduced={"a", "c"}>',
            ),
        ),
        "order",
    ),
    Constraint(
        "sdy.replicated_to_unreduced",
        "axes are not empty.",
        (collective("replicated_to_unreduced", '{"a"}', PLAIN, '<@m, [{}, {}], unreduced={"a"}>'),),
        (collective("replicated_to_unreduced", "{}", PLAIN, PLAIN),),
        "at least one axis",
    ),
    Constraint(
        "sdy.replicated_to_unreduced",
        "Operand and result have the same dimension shardings.",
        (
            collective(
                "replicated_to_unreduced",
                '{"b"}',
                '<@m, [{"a", ?}p1, {}]>',
                '<@m, [{"a", ?}p1, {}], unreduced={"b"}>',
            ),
        ),
        (
            collective(
                "replicated_to_unreduced", '{"b"}', A, '<@m, [{"a", ?}, {}], unreduced={"b"}>'
            ),
            collective("replicated_to_unreduced", '{"b"}', A, '<@m, [{}, {}], unreduced={"b"}>'),
        ),
        "dimension",
    ),
    Constraint(
        "sdy.replicated_to_unreduced",
        "axes are replicated in the operand, implicitly or explicitly.",
        (
            collective(
                "replicated_to_unreduced",
                '{"a", "c"}',
                '<@m, [{"b"}, {}], replicated={"c", "d"}, unreduced={"e"}>',
                '<@m, [{"b"}, {}], replicated={"d"}, unreduced={"a", "c", "e"}>',
            ),
        ),
        (
            collective("replicated_to_unreduced", '{"a"}', A, '<@m, [{"a"}, {}], unreduced={"b"}>'),
            collective(
                "replicated_to_unreduced",
                '{"b"}',
                '<@m, [{}, {}], unreduced={"b"}>',
                '<@m, [{}, {}], unreduced={"b"}>',
            ),
        ),
        "overlap",
    ),
    Constraint(
        "sdy.replicated_to_unreduced",
        "The unreduced axes of the result are those of the operand and axes.",
        (
            collective(
                "replicated_to_unreduced",
                '{"a"}',
                '<@m, [{}, {}], unreduced={"b"}>',
                '<@m, [{}, {}], unreduced={"a", "b"}>',
            ),
        ),
        (
            collective(
                "replicated_to_unreduced",
                '{"a"}',
                '<@m, [{}, {}], unreduced={"b"}>',
                '<@m, [{}, {}], unreduced={"a"}>',
            ),
        ),
        "unreduced axes",
    ),
    Constraint(
        "sdy.sharded_to_unreduced",
        "Making axes unreduced in the operand's sharding gives out_sharding.",
        (
            collective(
                "sharded_to_unreduced",
                '[{"b", "c"}, {"d"}]',
                '<@m, [{"a", "b", "c"}, {"d"}], unreduced={"e"}>',
                '<@m, [{"a"}, {}], unreduced={"b", "c", "d", "e"}>',
            ),
        ),
        (
            collective(
                "sharded_to_unreduced", '[{"a"}, {}]', A, '<@m, [{"a"}, {}], unreduced={"b"}>'
            ),
            collective(
                "sharded_to_unreduced", '[{"a"}, {}]', A, '<@m, [{}, {}], unreduced={"a", "b"}>'
            ),
        ),
        "expected|unreduced axes",
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
    # --- Attributes ---------------------------------------------------------------------------
    Constraint(
        "#sdy.axis_ref",
        "Its name is that of an axis of the mesh.",
        (sharded(A),),
        (sharded('<@m, [{"x"}, {}]>'), sharded('<@renamed, [{"b"}, {}]>')),
        "unknown axis name",
    ),
    Constraint(
        "#sdy.axis_ref",
        "Its sub_axis_info keeps to the constraints of sub-axes.",
        (sharded('<@m, [{"c":(1)2}, {}]>'),),
        (sharded('<@m, [{"c":(1)3}, {}]>'),),
        "divide",
    ),
    Constraint(
        "#sdy.axis_ref_list",
        "No axis is repeated, and sub-axes do not overlap.",
        (sharded('<@m, [{"e":(1)2, "a", "e":(2)3}, {}]>'),),
        (
            sharded('<@m, [{"a", "a"}, {}]>'),
            sharded('<@m, [{"e":(1)4, "a", "e":(2)6}, {}]>'),
            sharded('<@m, [{"e", "e":(2)6}, {}]>'),
        ),
        "duplicate|overlap|both sub-axis and full-axis",
    ),
    Constraint(
        "#sdy.axis_ref_list",
        "No two neighbours could be merged to one axis or sub-axis.",
        (sharded('<@m, [{"e":(2)3, "e":(1)2}, {}]>'),),
        (sharded('<@m, [{"e":(1)2, "e":(2)3}, {}]>'), sharded('<@m, [{"c":(1)2, "c":(2)2}, {}]>')),
        "merge",
    ),
    Constraint(
        "#sdy.dim_mapping",
        "It has at least one factor.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (rule("([i, ], [i, j])->([i, j]) {i=8, j=8}"),),
        "no factor",
    ),
    Constraint(
        "#sdy.dim_mapping",
        "An empty one is written as '*'.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (rule("([i, *], [i, j])->([i, j]) {i=8, j=8}"),),
        # At least one factor is enforced, so that there is nothing to write.
        "expected",
    ),
    Constraint(
        "#sdy.dim_mapping",
        "Its factors have sizes.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (rule("([i, k], [i, j])->([i, j]) {i=8, j=8}"),),
        "no size",
    ),
    Constraint(
        "#sdy.dim_mapping",
        "Among several factors, none has size 1.",
        (rule("([ij, k], [ij, k])->([ij, k]) {i=2, j=4, k=8}"),),
        (rule("([ij, k], [ij, k])->([ij, k]) {i=8, j=1, k=8}"),),
        "size 1",
    ),
    Constraint(
        "#sdy.dim_mapping",
        "No factor is repeated.",
        (rule("([ij, k], [ij, k])->([ij, k]) {i=2, j=4, k=8}"),),
        (rule("([ii, j], [ii, j])->([ii, j]) {i=2, j=8}"),),
        "more than once",
    ),
    Constraint(
        "#sdy.dimension_sharding",
        "Its axes keep to the constraints of a list of axes.",
        (sharded('<@m, [{"a", "c"}, {}]>'),),
        (sharded('<@m, [{"a", "c", "a"}, {}]>'),),
        "duplicate",
    ),
    Constraint(
        "#sdy.dimension_sharding",
        "Its priority is not negative.",
        (sharded('<@m, [{"a"}p0, {?}p3]>'),),
        (sharded('<@m, [{"a"}p-1, {}]>'),),
        "priority",
    ),
    Constraint(
        "#sdy.dimension_sharding",
        "With a priority, a closed dimension has an axis.",
        (sharded('<@m, [{"a"}p1, {?}p1]>'),),
        (sharded('<@m, [{"a"}, {}p1]>'),),
        "priority",
    ),
    Constraint(
        "#sdy.manual_axes",
        "They are axes of the mesh.",
        (manual(A, A, '"a"', X4),),
        (manual(A, A, '"a", "x"', X4),),
        "unknown manual axis",
    ),
    Constraint(
        "#sdy.mesh",
        "Device ids are not negative.",
        (mesh("<[], device_ids=[0]>"),),
        (mesh("<[], device_ids=[-1]>"), mesh('<["a"=2], device_ids=[-1, 0]>')),
        "negative",
    ),
    Constraint(
        "#sdy.mesh",
        "Without axes, it has no device id (an empty mesh) or one (a maximal mesh).",
        (mesh("<[]>"), mesh("<[], device_ids=[3]>")),
        (mesh("<[], device_ids=[0, 1]>"),),
        "device",
    ),
    Constraint(
        "#sdy.mesh",
        "No two axes have the same name.",
        (mesh('<["a"=2, "b"=3]>'),),
        (mesh('<["a"=2, "a"=3]>'),),
        "duplicate",
    ),
    Constraint(
        "#sdy.mesh",
        "There are as many device ids as the product of the sizes of the axes.",
        (mesh('<["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>'),),
        (mesh('<["a"=3, "b"=2], device_ids=[0, 2, 1]>'),),
        "device",
    ),
    Constraint(
        "#sdy.mesh",
        "Device ids are a permutation of 0, 1, and so on.",
        (mesh('<["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>'),),
        (mesh('<["a"=2], device_ids=[1, 1]>'), mesh('<["a"=2], device_ids=[2, 1]>')),
        "device",
    ),
    Constraint(
        "#sdy.mesh",
        "Device ids are not 0, 1, and so on: they are left out then.",
        (mesh('<["a"=2, "b"=2], device_ids=[0, 1, 2, 3]>'),),
        unless="They are dropped when the attribute is built.",
    ),
    Constraint(
        "#sdy.mesh",
        "With axes it is no maximal mesh, even if their product is 1.",
        (mesh('<["a"=1]>') + sharded("<@new, [{}, {}]>"),),
        (sharded("<@one, [{}, {}]>"),),
        "maximal|rank|single",
    ),
    Constraint(
        "#sdy.mesh_axis",
        "Its size is at least 1.",
        (mesh('<["a"=1]>'),),
        (mesh('<["a"=0]>'), mesh('<["a"=-2]>')),
        "size",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "There is a mapping for each operand and each result.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (
            rule("([i, j])->([i, j]) {i=8, j=8}"),
            rule("([i, j], [i, j])->([i, j], [i, j]) {i=8, j=8}"),
        ),
        "number|mappings",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "There is at least one mapping: no rule for what has no operands or results.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (
            function(
                "%0 = stablehlo.iota dim = 0 {sdy.sharding_rule = "
                "#sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>"
            ),
            rule("()->([i, j]) {i=8, j=8}"),
        ),
        "mapping|operand|expected|at least one",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "The rank of each mapping is that of the tensor.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (rule("([i], [i])->([i]) {i=8}"),),
        "rank",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "Reduction, need_replication and permutation factors have sizes.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i} permutation={j}"),),
        tuple(
            rule(f"([i, j], [i, j])->([i, j]) {{i=8, j=8}} {group}={{k}}")
            for group in ("reduction", "need_replication", "permutation", "blocked_propagation")
        ),
        "no size",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "No factor is repeated within or among these groups.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i} permutation={j}"),),
        (
            rule("([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i, i}"),
            rule("([i, j], [i, j])->([i, j]) {i=8, j=8} need_replication={i} permutation={i}"),
        ),
        "once|both",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "Factors that block propagation may be of any kind.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8} permutation={j} blocked_propagation={i, j}"),),
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8} blocked_propagation={j, i}"),),
        "order",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "Reduction factors are not in results.",
        (
            function(
                "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] "
                "{sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) "
                f"{{i=8, j=8, k=8}} reduction={{k}}>}} : ({T}, {T}) -> {T}"
            ),
        ),
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8} reduction={j}"),),
        "reduction",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "Factors of size 1 are allowed.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=1}", type_="tensor<8x1xf32>"),),
        unless="This allows something.",
    ),
    Constraint(
        "#sdy.op_sharding_rule",
        "is_custom_rule marks rules of stablehlo.custom_call.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}, custom"),),
        unless="Users can set it on any operation.",
    ),
    Constraint(
        "#sdy.sub_axis_info",
        "The pre-size is at least 1.",
        (sharded('<@m, [{"c":(1)2}, {}]>'),),
        (sharded('<@m, [{"c":(0)2}, {}]>'), sharded('<@m, [{"c":(-1)2}, {}]>')),
        "pre-size",
    ),
    Constraint(
        "#sdy.sub_axis_info",
        "The size is above 1.",
        (sharded('<@m, [{"c":(2)2}, {}]>'),),
        (sharded('<@m, [{"c":(2)1}, {}]>'), sharded('<@m, [{"c":(1)-2}, {}]>')),
        "size",
    ),
    Constraint(
        "#sdy.sub_axis_info",
        "Pre-size and size divide the full axis, and it does not go beyond it.",
        (sharded('<@m, [{"e":(2)6}, {}]>'),),
        (
            sharded('<@m, [{"e":(5)2}, {}]>'),
            sharded('<@m, [{"e":(2)5}, {}]>'),
            sharded('<@m, [{"e":(12)4}, {}]>'),
        ),
        "divide",
    ),
    Constraint(
        "#sdy.sub_axis_info",
        "It is not the full axis.",
        (sharded('<@m, [{"c"}, {}]>'),),
        (sharded('<@m, [{"c":(1)4}, {}]>'),),
        "full",
    ),
    Constraint(
        "#sdy.tensor_mapping",
        "Its elements keep to the constraints of mappings of dimensions.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (rule("([i, jj], [i, j])->([i, j]) {i=8, j=8}"),),
        "more than once",
    ),
    Constraint(
        "#sdy.tensor_mapping",
        "No factor is in two dimensions.",
        (rule("([i, j], [i, j])->([i, j]) {i=8, j=8}"),),
        (rule("([i, i], [i, j])->([i, j]) {i=8, j=8}"),),
        "more than once",
    ),
    Constraint(
        "#sdy.sharding",
        "A tensor without a sharding is not equivalent to one that is fully open.",
        (function(f"%0 = sdy.all_slice [{{}}, {{}}] %a out_sharding=<@m, [{{?}}, {{?}}]> : {T}"),),
        unless="The original says the opposite: it is equivalent.",
    ),
    Constraint(
        "#sdy.sharding",
        "Its mesh is given by a name or inlined.",
        (sharded(A), sharded('<mesh<["a"=2]>, [{"a"}, {}]>')),
        (sharded("<@unknown, [{}, {}]>"), sharded("<@m::@m, [{}, {}]>")),
        "unknown mesh|flat symbol",
    ),
    Constraint(
        "#sdy.sharding",
        "Dimension shardings, replicated and unreduced axes keep to their constraints.",
        (sharded('<@m, [{"a"}p1, {}], replicated={"b"}, unreduced={"d"}>'),),
        (
            sharded('<@m, [{"x"}, {}]>'),
            sharded('<@m, [{}, {}], replicated={"x"}>'),
            sharded('<@m, [{}, {}], unreduced={"x"}>'),
            sharded('<@m, [{}, {}], replicated={"c":(1)2, "c":(2)2}>'),
            sharded('<@m, [{}, {}], unreduced={"c":(1)2, "c":(2)2}>'),
        ),
        "unknown axis name|merge",
    ),
    Constraint(
        "#sdy.sharding",
        "On what is not shaped, it has rank 0 and no replicated axes.",
        (sharded("<@m, []>", "!stablehlo.token"),),
        (
            sharded("<@m, [{}]>", "!stablehlo.token"),
            sharded('<@m, [], replicated={"a"}>', "!stablehlo.token"),
        ),
        "shape|rank 0|replicated",
    ),
    Constraint(
        "#sdy.sharding",
        "What is shaped has a rank.",
        (sharded("<@m, []>", "tensor<f32>"),),
        (sharded("<@m, []>", "tensor<*xf32>"),),
        "rank",
    ),
    Constraint(
        "#sdy.sharding",
        "There are as many dimension shardings as the tensor has dimensions.",
        (sharded(PLAIN),),
        (sharded("<@m, [{}]>"), sharded("<@m, [{}, {}, {}]>"), sharded("<@m, []>")),
        "rank|dimension",
    ),
    Constraint(
        "#sdy.sharding",
        "Dimensions of size 0 are not sharded.",
        (sharded('<@m, [{"a"}]>', "tensor<0xf32>"),),
        unless="Shardy does not enforce it: a size can become 0 where a program is specialized.",
    ),
    Constraint(
        "#sdy.sharding",
        "No axis is repeated, and no sub-axes overlap, among dimensions, replicated and "
        "unreduced axes.",
        (sharded('<@m, [{"e":(1)2}, {"a"}], replicated={"e":(2)3}, unreduced={"e":(6)4}>'),),
        (
            sharded('<@m, [{"a"}, {"a"}]>'),
            sharded('<@m, [{"a"}, {}], replicated={"a"}>'),
            sharded('<@m, [{"a"}, {}], unreduced={"a"}>'),
            sharded('<@m, [{}, {}], replicated={"a"}, unreduced={"a"}>'),
            sharded('<@m, [{"e":(1)4}, {"e":(2)6}]>'),
            sharded('<@m, [{"e":(1)4}, {}], replicated={"e":(2)6}>'),
            sharded('<@m, [{"e":(1)4}, {}], unreduced={"e"}>'),
        ),
        "duplicate|overlap|both sub-axis and full-axis",
    ),
    Constraint(
        "#sdy.sharding",
        "Replicated and unreduced axes are sorted by the mesh.",
        (sharded('<@m, [{}, {}], replicated={"a", "c"}, unreduced={"b", "d"}>'),),
        (
            sharded('<@m, [{}, {}], replicated={"c", "a"}>'),
            sharded('<@m, [{}, {}], unreduced={"d", "b"}>'),
        ),
        "order",
    ),
    Constraint(
        "#sdy.sharding_per_value",
        "Its elements keep to the constraints of shardings, one for each value.",
        (on_result(f"#sdy.sharding_per_value<[{A}]>"),),
        (
            on_result('#sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>'),
            on_result(f"#sdy.sharding_per_value<[{A}, {A}]>"),
            on_result(f"#sdy.sharding{A}"),
        ),
        "axis name|number|sharding_per_value",
    ),
]

REPRESENTATION = [
    Constraint(
        "Basic structure",
        "There are as many dimension shardings as the tensor has dimensions.",
        (sharded('<@m, [{"a"}, {"e", "c"}]>'),),
        (sharded('<@m, [{"a"}]>'),),
        "rank|dimension",
    ),
    Constraint(
        "Basic structure",
        "All axes are those of the mesh that the sharding names.",
        (sharded('<@renamed, [{"x"}, {}]>'),),
        (sharded('<@m, [{"x"}, {}]>'),),
        "unknown axis name",
    ),
    Constraint(
        "Basic structure",
        "An axis or sub-axis is used once: for a dimension, or as explicitly replicated.",
        (sharded('<@m, [{"a"}, {}], replicated={"b"}>'),),
        (sharded('<@m, [{"a"}, {"a"}]>'), sharded('<@m, [{"a"}, {}], replicated={"a"}>')),
        "duplicate",
    ),
    Constraint(
        "Open and closed dimensions",
        "An open dimension has a '?' behind its axes.",
        (sharded('<@m, [{"a"}, {"e", ?}]>'), sharded("<@m, [{?}, {}]>")),
        (sharded('<@m, [{?, "a"}, {}]>'), sharded('<@m, [{"a" ?}, {}]>')),
        "expected",
    ),
    Constraint(
        "Explicitly replicated axes",
        "They are in the order of the mesh.",
        (sharded('<@m, [{}, {}], replicated={"a", "c"}>'),),
        (sharded('<@m, [{}, {}], replicated={"c", "a"}>'),),
        "order",
    ),
    Constraint(
        "Sub-axes",
        "The pre-size is at least 1 and divides the axis.",
        (sharded('<@m, [{"e":(3)2}, {}]>'),),
        (sharded('<@m, [{"e":(0)2}, {}]>'), sharded('<@m, [{"e":(5)2}, {}]>')),
        "pre-size",
    ),
    Constraint(
        "Sub-axes",
        "The size is above 1 and divides the axis.",
        (sharded('<@m, [{"e":(2)4}, {}]>'),),
        (sharded('<@m, [{"e":(2)1}, {}]>'), sharded('<@m, [{"e":(1)5}, {}]>')),
        "size",
    ),
    Constraint(
        "Sub-axes",
        "They need not be used all.",
        (sharded('<@m, [{"a"}, {"e":(2)2}]>'),),
        unless="This allows something.",
    ),
    Constraint(
        "Explicitly replicated sub-axes",
        "Those of one axis are in the order of their pre-sizes.",
        (sharded('<@m, [{}, {}], replicated={"a", "e":(1)2, "e":(4)2}>'),),
        (
            sharded('<@m, [{}, {}], replicated={"a", "e":(4)2, "e":(1)2}>'),
            sharded('<@m, [{}, {}], replicated={"e":(4)2, "a", "e":(1)2}>'),
        ),
        "order",
    ),
    Constraint(
        "Explicitly replicated sub-axes",
        "Sub-axes of a sharding do not overlap.",
        (sharded('<@m, [{"a"}, {"e":(2)2}], replicated={"e":(1)2}>'),),
        (sharded('<@m, [{"e":(1)4}, {"e":(2)4}]>'),),
        "overlap",
    ),
    Constraint(
        "Explicitly replicated sub-axes",
        "Sub-axes are as large as they can be: neighbours could not be merged.",
        (sharded('<@m, [{"e":(1)2}, {"e":(2)4}]>'),),
        (
            sharded('<@m, [{"e":(1)2, "e":(2)4}, {}]>'),
            sharded('<@m, [{}, {}], replicated={"e":(1)2, "e":(2)4}>'),
        ),
        "merge",
    ),
    Constraint(
        "Several meshes",
        "Each sharding uses the axes of its own mesh only.",
        (sharded(A).replace("@f", "@g") + sharded("<@renamed, [{}, {}]>"),),
        (sharded('<@renamed, [{"b"}, {}]>'),),
        "unknown axis name",
    ),
    Constraint(
        "Several meshes",
        "A mesh names each device once, in any order.",
        (mesh('<["a"=2, "b"=2], device_ids=[3, 1, 2, 0]>'),),
        (mesh('<["a"=2, "b"=2], device_ids=[3, 1, 1, 0]>'),),
        "device",
    ),
    Constraint(
        "Several meshes",
        "All meshes have the same devices.",
        (mesh('<["a"=5]>'),),
        unless="Shardy does not enforce it: programs with such meshes exist.",
    ),
    Constraint(
        "Several meshes",
        "A mesh may state the device ids that it has anyway.",
        (mesh('<["x"=2, "y"=2, "z"=2], device_ids=[0, 1, 2, 3, 4, 5, 6, 7]>'),),
        unless="This allows something.",
    ),
    Constraint(
        "Priorities",
        "They start from 0, the highest; there may be gaps.",
        (sharded('<@m, [{"a"}p0, {"e", ?}p7]>'),),
        (sharded('<@m, [{"a"}p-1, {}]>'),),
        "priority",
    ),
    Constraint(
        "Priorities",
        "A closed dimension without axes has none.",
        (sharded("<@m, [{?}p1, {}]>"),),
        (sharded("<@m, [{?}, {}p1]>"),),
        "priority",
    ),
    Constraint(
        "Division",
        "Axes need not divide the size of their dimension.",
        (sharded('<@m, [{"e"}, {"c"}, {"a"}]>', "tensor<7x3x8xf32>"),),
        unless="This allows something.",
    ),
    Constraint(
        "Grammar",
        "A mesh is a list of axes with sizes.",
        (mesh('<["x"=2, "y"=4]>'),),
        (mesh('<["x"]>'), mesh("<[x=2]>"), mesh('<["x"="y"]>')),
        "expected",
    ),
    Constraint(
        "Grammar",
        "The list of axes of a mesh has no brackets.",
        (mesh('<["d"=8]>'),),
        (mesh('<"d"=8>'),),
        # An abbreviation of the prose.
        "expected",
    ),
]


def cases(of):
    """The texts of one kind, with where they come from."""
    for document, constraints in (("dialect", DIALECT), ("representation", REPRESENTATION)):
        for index, constraint in enumerate(constraints):
            for number, text in enumerate(getattr(constraint, of)):
                name = f"{document}-{index}-{constraint.about}-{number}"
                yield pytest.param(constraint, text, id=name)


@pytest.fixture(scope="module")
def context():
    return Context()


@pytest.mark.parametrize(("constraint", "text"), list(cases("accepted")))
def test_accepted(constraint, text, context):
    try:
        parse(MESHES + text, context)
    except SdyError as error:
        pytest.fail(f"{constraint.says}\n{error}")


@pytest.mark.parametrize(("constraint", "text"), list(cases("refused")))
def test_refused(constraint, text, context):
    with pytest.raises(SdyError, match=constraint.because):
        parse(MESHES + text, context)


@pytest.mark.parametrize("constraint", [*DIALECT, *REPRESENTATION], ids=lambda of: of.about)
def test_constraints_are_enforced_or_explained(constraint):
    assert constraint.accepted
    assert bool(constraint.refused) == bool(constraint.because) != bool(constraint.unless)


def test_there_are_constraints_of_all_operations_and_attributes():
    about = {constraint.about for constraint in DIALECT}
    # sdy.return takes any values anywhere; edges between functions are not in the reference.
    without = {"sdy.return", "sdy.func_data_flow_edge"}
    assert set(OPERATIONS) - about == without
    # Records of propagation and lists without constraints of their own.
    assert {f"#sdy.{name}" for name in ATTRIBUTES} - about == {
        "#sdy.all_to_all_param",
        "#sdy.all_to_all_param_list",
        "#sdy.axis_to_propagation_details",
        "#sdy.edge_value_ref",
        "#sdy.list_of_axis_ref_lists",
        "#sdy.propagation_edges",
        "#sdy.propagation_one_step",
    }
