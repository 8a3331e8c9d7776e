# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The statements of the description of the sharding representation."""

from constraint_texts import A, Constraint, mesh, sharded

REPRESENTATION_CONSTRAINTS = [
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
