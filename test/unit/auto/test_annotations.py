# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that only annotate shardings: they cost nothing."""

import pytest

import pyshardy as sdy

PROGRAM = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x8xf32>) -> tensor<16x8xf32> {{
  %0 = {annotation} %arg0 {sharding} : tensor<16x32xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0]
      : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %2 = {annotation} %1 {sharding} : tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}}
"""


@pytest.mark.parametrize(
    ("annotation", "sharding"),
    [
        ("sdy.sharding_constraint", "<@mesh, [{?}, {?}]>"),
        ("sdy.propagation_barrier", "allowed_direction=NONE"),
    ],
)
def test_annotations_cost_nothing(annotation, sharding):
    """On CPU devices, 4x2 shards of the product access the fewest bytes."""
    module = sdy.parse(PROGRAM.format(annotation=annotation, sharding=sharding))
    plan = sdy.auto_shard(module, hardware="cpu", gap=0.0)
    accessed = 4 * (4 * 32 + 32 * 4 + 4 * 4)
    assert plan.cost == pytest.approx(accessed / 5e9)
    assert plan.estimate.seconds == pytest.approx(plan.cost)


def product(mesh, given, returned):
    """Return a product of matrices with shardings of its first operand and its result."""
    return sdy.parse(f"""
    sdy.mesh @mesh = <[{mesh}]>
    func.func @main(
        %arg0: tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, {given}>}},
        %arg1: tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}})
        -> (tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, {returned}>}}) {{
      %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
          : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      return %0 : tensor<4096x4096xf32>
    }}""")


def test_results_may_have_axes_in_another_order_than_the_mesh():
    module = product('"x"=2, "y"=2', "[{}, {}]", '[{}, {"y", "x"}]')
    plan = sdy.auto_shard(module, hardware="h100")
    assert plan.estimate.nbytes_sent == 0
    assert plan.program.collectives == ()


def test_axes_of_a_single_device_are_no_choice():
    module = product('"x"=4, "one"=1', '[{"one", "x"}, {}]', '[{"x"}, {"one"}]')
    plan = sdy.auto_shard(module, hardware="h100")
    assert plan.program.collectives == ()
    assert str(plan.shardings["%arg0"]) == '<@mesh, [{"x"}, {}]>'
    assert plan.fix("%arg0", (("one", "x"), None)).solve().cost == plan.cost
    alone = sdy.auto_shard(product('"one"=1', '[{"one"}, {}]', "[{}, {}]"), hardware="h100")
    assert alone.gap == 0


def with_ports(argument, result):
    """Return the hyperbolic tangent of a matrix with attributes of its argument and result."""
    return sdy.parse(f"""
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func @entry(%a: tensor<8x8xf32> {{{argument}}}) -> (tensor<8x8xf32> {{{result}}}) {{
      %0 = stablehlo.tanh %a : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }}""")


def test_a_donated_argument_keeps_its_sharding_if_the_result_has_another_one():
    rows, columns = (f"sdy.sharding = #sdy.sharding<@mesh, [{each}]>" for each in ROWS_AND_COLUMNS)
    plan = sdy.auto_shard(with_ports(f"{rows}, tf.aliasing_output = 0 : i32", columns))
    assert str(plan.shardings["%a"]) == '<@mesh, [{"x"}, {}]>'
    assert str(plan.shardings["result[0]"]) == '<@mesh, [{}, {"x"}]>'


ROWS_AND_COLUMNS = '{"x"}, {}', '{}, {"x"}'


def test_unreduced_arguments_and_results_are_refused():
    """The caller would give, or get, a part of a sum where the plan has the sum."""
    given = 'sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>'
    for ports, name in (((given, ""), "argument 0"), (("", given), "result 0")):
        with pytest.raises(sdy.UsageError, match=f"no unreduced values, but {name} is: <@mesh"):
            sdy.auto_shard(with_ports(*ports))


def test_a_mesh_does_not_replace_that_of_the_program():
    with pytest.raises(sdy.UsageError, match="has another mesh than"):
        sdy.auto_shard(with_ports("", ""), mesh=sdy.Mesh({"z": 2}))


@pytest.mark.parametrize("option", ["gap", "timeout", "memory"])
def test_options_that_are_no_numbers_are_refused(option):
    with pytest.raises(sdy.UsageError, match="must be"):
        sdy.auto_shard(with_ports("", ""), **{option: float("nan")})


def test_members_of_a_sharding_group_are_sharded_equally():
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
      sdy.sharding_group %a group_id=0 : tensor<8x8xf32>
      sdy.sharding_group %b group_id=0 : tensor<8x8xf32>
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    plan = sdy.auto_shard(sdy.parse(text))
    assert plan.shardings["%a"] == plan.shardings["%b"]
    rows = plan.fix("%a", ("x", None)).solve()
    assert str(rows.shardings["%b"]) == '<@mesh, [{"x"}, {}]>'


def test_elements_of_tuples_are_sharded():
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tuple<tensor<8x8xf32>>) -> tensor<8x8xf32> {
      %0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<8x8xf32>>) -> tensor<8x8xf32>
      %1 = stablehlo.tanh %0 : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }"""
    plan = sdy.auto_shard(sdy.parse(text))
    assert [str(each) for each in plan.shardings.values()] == ['<@mesh, [{"x"}, {}]>'] * 2
    assert plan.check().difference == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            """
            sdy.mesh @mesh = <["x"=2, "y"=4]>
            sdy.mesh @other = <["z"=8]>
            func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                            %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}]>})
                -> tensor<8xf32> {
              %0 = stablehlo.add %a, %b : tensor<8xf32>
              return %0 : tensor<8xf32>
            }""",
            "takes one mesh, but shardings of the program aren't on",
        ),
        (
            """
            sdy.mesh @mesh = <["x"=2]>
            func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
              cf.br ^bb1(%a : tensor<4xf32>)
            ^bb1(%b: tensor<4xf32>):
              return %b : tensor<4xf32>
            }""",
            "takes no function with several blocks",
        ),
    ],
)
def test_programs_that_are_refused(text, problem):
    with pytest.raises(sdy.UsageError, match=problem):
        sdy.auto_shard(sdy.parse(text))
