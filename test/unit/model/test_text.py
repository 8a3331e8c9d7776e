# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
r"""The text of each value: the body of the attribute of the same name."""

import copy

import pytest
from model_helpers import dim, mesh_of_sizes, refs, sharding

from mlir_sdy.model import (
    AllToAllParam,
    AllToAllParamList,
    AxisRef,
    AxisRefList,
    AxisToPropagationDetails,
    DimensionSharding,
    DimMapping,
    EdgeNodeType,
    EdgeValueRef,
    ListOfAxisRefLists,
    ManualAxes,
    Mesh,
    MeshAxis,
    OpShardingRule,
    PropagationDirection,
    PropagationEdges,
    PropagationOneStep,
    ReductionOp,
    SubAxisInfo,
    TensorMapping,
    TensorSharding,
    TensorShardingPerValue,
)

OPERAND_0, OPERAND_1 = (EdgeValueRef(EdgeNodeType.OPERAND, index) for index in (0, 1))
RESULT_0 = EdgeValueRef(EdgeNodeType.RESULT, 0)


def mapping(*dims: tuple[int, ...]) -> TensorMapping:
    return TensorMapping(tuple(map(DimMapping, dims)))


MATMUL = OpShardingRule(
    (2, 3, 5), (mapping((0,), (1,)), mapping((1,), (2,))), (mapping((0,), (2,)),), (1,)
)
MOVES = AllToAllParamList((AllToAllParam(refs("u v"), 0, 2), AllToAllParam(refs("w"), 1, 3)))
STEP = PropagationOneStep(
    2, (AxisToPropagationDetails(AxisRef("u"), OPERAND_1, (OPERAND_0, RESULT_0)),)
)

TEXTS = [
    (SubAxisInfo(2, 3), "(2)3"),
    (AxisRef("u"), '"u"'),
    (AxisRef.sub("u", 2, 3), '"u":(2)3'),
    (AxisRef('a"b'), r'"a\22b"'),
    (AxisRef("a\\b\n"), r'"a\\b\0A"'),
    (AxisRef("é"), r'"\C3\A9"'),
    (AxisRef("it's {?}"), '"it\'s {?}"'),
    (AxisRef(""), '""'),
    (AxisRefList(refs("u, v:(1)2")), '{"u", "v":(1)2}'),
    (AxisRefList(), "{}"),
    (ListOfAxisRefLists((AxisRefList(refs("u")), AxisRefList())), '[{"u"}, {}]'),
    (MeshAxis("u", 24), '"u"=24'),
    (Mesh((MeshAxis("u", 24), MeshAxis("v", 2))), '<["u"=24, "v"=2]>'),
    (Mesh((MeshAxis("u", 2),), (1, 0)), '<["u"=2], device_ids=[1, 0]>'),
    (Mesh(), "<[]>"),
    (Mesh((), (7,)), "<[], device_ids=[7]>"),
    (dim(""), "{}"),
    (dim("?"), "{?}"),
    (dim("u"), '{"u"}'),
    (dim("u v ?", 1), '{"u", "v", ?}p1'),
    (dim("u", 0), '{"u"}p0'),
    (DimensionSharding(), "{?}"),
    (sharding(), "<@m, []>"),
    (sharding("u", "?"), '<@m, [{"u"}, {?}]>'),
    (
        sharding("u", "?", replicated_axes=refs("v"), unreduced_axes=refs("w x")),
        '<@m, [{"u"}, {?}], replicated={"v"}, unreduced={"w", "x"}>',
    ),
    (
        sharding("u", unreduced_axes=refs("w"), reduction_kind=ReductionOp.MAX),
        '<@m, [{"u"}], unreduced=max{"w"}>',
    ),
    (sharding("u", mesh=mesh_of_sizes(u=4)), '<mesh<["u"=4]>, [{"u"}]>'),
    (TensorSharding("a.b$c_1", ()), "<@a.b$c_1, []>"),
    (TensorSharding("any name", ()), '<@"any name", []>'),
    (TensorSharding("1a", ()), '<@"1a", []>'),
    (TensorSharding('a"b', ()), r'<@"a\22b", []>'),
    (TensorShardingPerValue(), "<[]>"),
    (
        TensorShardingPerValue((sharding("u"), sharding("?", mesh=mesh_of_sizes(w=2)))),
        '<[<@m, [{"u"}]>, <mesh<["w"=2]>, [{?}]>]>',
    ),
    (DimMapping((17, 18)), "zz_1"),
    (mapping((0,), (1, 2)), "[i, jk]"),
    (MATMUL, "<([i, j], [j, k])->([i, k]) {i=2, j=3, k=5} reduction={j}>"),
    (
        OpShardingRule((2,), (mapping((0,)),), (mapping((0,)),), is_custom_rule=True),
        "<([i])->([i]) {i=2}, custom>",
    ),
    (
        OpShardingRule((2, 3, 4, 5), (mapping((0, 1)),), (mapping(),), (0,), (1,), (2,), (0, 3)),
        "<([ij])->([]) {i=2, j=3, k=4, l=5} reduction={i} need_replication={j} permutation={k}"
        " blocked_propagation={i, l}>",
    ),
    (OpShardingRule((), (mapping(), mapping()), (mapping(),)), "<([], [])->([])>"),
    (MOVES, '[{"u", "v"}: 0->2, {"w"}: 1->3]'),
    (MOVES.value[1], '{"w"}: 1->3'),
    (ManualAxes(("u", "v")), '{"u", "v"}'),
    (ManualAxes(), "{}"),
    (OPERAND_0, "operand-0"),
    (PropagationEdges((STEP,)), '<[{step-2 = [{"u" = operand-1 -> [operand-0, result-0]}]}]>'),
    (PropagationOneStep(-3, ()), "{step--3 = []}"),
    (PropagationDirection.BACKWARD, "BACKWARD"),
    (ReductionOp.MIN, "min"),
    (EdgeNodeType.RESULT, "result"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text(value: object, text: str):
    assert str(value) == text
    assert f"{value}" == text


def test_the_hash_of_a_nested_value_is_computed_once():
    class Counted(str):
        count = 0

        def __hash__(self) -> int:
            Counted.count += 1
            return super().__hash__()

    value = TensorSharding(Counted("m"), ())
    assert hash(value) == hash(value) == hash(TensorSharding("m", ()))
    assert Counted.count == 1


def test_values_are_hashable_and_equal_to_their_copies():
    distinct = {value: text for value, text in TEXTS if not isinstance(value, int)}
    for value, text in distinct.items():
        twin = copy.deepcopy(value)
        assert twin == value
        assert distinct[twin] == text
    kinds_and_texts = {(type(value), text) for value, text in distinct.items()}
    assert len(kinds_and_texts) == len(distinct)
