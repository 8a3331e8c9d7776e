# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constraints of the dialect's collectives: those of all, then those of each."""

from constraint_texts import PLAIN, A, Constraint, T, collective, function

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


COLLECTIVE_CONSTRAINTS = [
    *collective_constraints(),
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
        "not equivalent",
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
        "must not be empty",
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
        "out_unreduced_axes",
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
        "expected|out_unreduced_axes",
    ),
]
