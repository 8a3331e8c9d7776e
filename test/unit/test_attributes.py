# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes are typed: their parameters, their plain values, their builders."""

import gc
import weakref

import pytest

from mlir_sdy import model, sdy
from mlir_sdy.assembly import parse
from mlir_sdy.attributes import AttributeCache, attribute_of, value_of
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir

TEXT = """
sdy.mesh @m = <["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @f(%a: tensor<8x8xf32> {
    sdy.sharding = #sdy.sharding<@m, [{"x":(1)2, ?}p1, {}], replicated={"y"}, unreduced=max{"x":(2)2}>}) {
  %0 = stablehlo.negate %a {
    sdy.sharding = #sdy.sharding_per_value<[<mesh<["w"=2]>, [{"w"}, {?}]>]>,
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, jk]) {i=8, j=2, k=4} need_replication={i} permutation={j} blocked_propagation={k}, custom>
  } : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %a <@m, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@m, [{}, {"x"}]> : tensor<8x8xf32>
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"y", "x"} () {
    sdy.return
  } : () -> ()
  return
}
"""  # noqa: E501


@pytest.fixture
def context():
    return Context()


@pytest.fixture
def module(context):
    """The module of `operations`, which don't keep it alive."""
    return parse(TEXT, context)


@pytest.fixture
def operations(module):
    """The operations of `TEXT`: mesh, function, negation, all-to-all, manual computation."""
    mesh, function = module.body.operations
    negation, _, all_to_all, manual, _ = function.regions[0].blocks[0].operations
    return mesh, function, negation, all_to_all, manual


def test_mesh(operations):
    mesh = operations[0].attributes["mesh"]
    assert type(mesh) is sdy.MeshAttr
    assert [(type(axis), axis.name, axis.size) for axis in mesh.axes] == [
        (sdy.MeshAxisAttr, "x", 4),
        (sdy.MeshAxisAttr, "y", 2),
    ]
    assert mesh.device_ids == (7, 6, 5, 4, 3, 2, 1, 0)


def test_sharding(operations):
    sharding = operations[1].attributes["arg_attrs"][0]["sdy.sharding"]
    assert type(sharding) is sdy.TensorShardingAttr
    assert sharding.mesh_or_ref == "m"
    first, second = sharding.dim_shardings
    assert type(first) is sdy.DimensionShardingAttr
    assert (first.is_closed, first.priority) == (False, 1)
    (axis,) = first.axes
    assert (type(axis), axis.name) == (sdy.AxisRefAttr, "x")
    assert (axis.sub_axis_info.pre_size, axis.sub_axis_info.size) == (1, 2)
    assert (second.axes, second.is_closed, second.priority) == ((), True, None)
    assert [axis.name for axis in sharding.replicated_axes] == ["y"]
    assert sharding.replicated_axes[0].sub_axis_info is None
    assert [str(axis.value) for axis in sharding.unreduced_axes] == ['"x":(2)2']
    assert sharding.reduction_kind is sdy.ReductionOp.MAX


def test_sharding_per_value_with_an_inlined_mesh(operations):
    (sharding,) = operations[2].attributes["sdy.sharding"].shardings
    assert type(sharding.mesh_or_ref) is sdy.MeshAttr
    assert sharding.mesh_or_ref.value == model.Mesh((model.MeshAxis("w", 2),))


def test_sharding_rule(operations):
    rule = operations[2].attributes["sdy.sharding_rule"]
    assert type(rule) is sdy.OpShardingRuleAttr
    assert rule.factor_sizes == (8, 2, 4)
    (mapping,) = rule.operand_mappings
    assert type(mapping) is sdy.TensorMappingAttr
    assert [dim.factor_indices for dim in mapping.dim_mappings] == [(0,), (1, 2)]
    assert rule.result_mappings == rule.operand_mappings
    assert rule.reduction_factors == ()
    assert rule.need_replication_factors == (0,)
    assert rule.permutation_factors == (1,)
    assert rule.blocked_propagation_factors == (2,)
    assert rule.is_custom_rule is True


def test_attributes_of_operations(operations):
    _, _, _, all_to_all, manual = operations
    assert type(all_to_all) is sdy.AllToAllOp
    (param,) = all_to_all.params.value.value
    assert (param.src_dim, param.tgt_dim) == (0, 1)
    assert type(all_to_all.out_sharding) is sdy.TensorShardingAttr
    assert type(manual) is sdy.ManualComputationOp
    assert manual.manual_axes.value == model.ManualAxes(("y", "x"))


def test_repr_shows_the_text(operations):
    assert repr(operations[2].attributes["sdy.sharding"]) == (
        'TensorShardingPerValueAttr(<[<mesh<["w"=2]>, [{"w"}, {?}]>]>)'
    )


# --- Builders -----------------------------------------------------------------------------------


def test_get_builds_what_the_text_says(operations, context):
    with context:
        axis = sdy.AxisRefAttr.get("x", sdy.SubAxisInfoAttr.get(1, 2))
        built = sdy.TensorShardingAttr.get(
            "m",
            [
                sdy.DimensionShardingAttr.get([axis], is_closed=False, priority=1),
                sdy.DimensionShardingAttr.get([], is_closed=True),
            ],
            [sdy.AxisRefAttr.get("y")],
            [sdy.AxisRefAttr.get("x", sdy.SubAxisInfoAttr.get(2, 2))],
            sdy.ReductionOp.MAX,
        )
    assert built == operations[1].attributes["arg_attrs"][0]["sdy.sharding"]
    assert hash(built) == hash(operations[1].attributes["arg_attrs"][0]["sdy.sharding"])


def test_context_of_get():
    one, other = Context(), Context()
    with one:
        assert sdy.MeshAxisAttr.get("x", 2).context == one
        assert sdy.MeshAxisAttr.get("x", 2, context=other).context == other
    with pytest.raises(ValueError, match="no current context"):
        sdy.MeshAxisAttr.get("x", 2)


# --- Values -------------------------------------------------------------------------------------


def test_values_and_attributes(context):
    value = model.TensorSharding("m", (model.DimensionSharding((model.AxisRef("x"),)),))
    attribute = attribute_of(value, context)
    assert type(attribute) is sdy.TensorShardingAttr
    assert attribute.value == value
    assert value_of(attribute) is attribute.value, "converted once"
    cache = AttributeCache(context)
    assert cache[value] == attribute
    assert cache[value] is cache[value]


def test_contexts_have_their_own_attributes():
    value = model.MeshAxis("x", 2)
    one, other = Context(), Context()
    here, there = attribute_of(value, one), attribute_of(value, other)
    assert here != there
    assert type(here) is type(there) is sdy.MeshAxisAttr
    assert here.value == there.value


def test_values_die_with_their_context():
    context = Context()
    value = attribute_of(model.MeshAxis("one of a kind", 2), context).value
    remembered, alive = weakref.ref(context), weakref.WeakSet([context])
    assert value.name == "one of a kind"
    del context
    gc.collect()
    assert remembered() is None
    assert not alive


def test_addresses_of_a_dead_context_mean_nothing():
    """A new context may get the memory of a dead one: its attributes must not get its values."""
    for size in range(1, 12):
        attribute = attribute_of(model.MeshAxis("x", size), Context())
        assert (attribute.size, attribute.value.size) == (size, size)


def test_attributes_keep_their_class_outside_of_operations(context):
    attribute = ir.Attribute.parse('[#sdy.manual_axes<["x"]>]', context)[0]
    assert type(attribute) is sdy.ManualAxesAttr
