# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules on a small program: assignments, what they can't do, and their text form."""

import pytest
import rich

import pyshardy as sdy
from pyshardy.schedules.tactics import make_tactic

MLP = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> loc("x"), %up: tensor<16x32xf32> loc("p['up']"),
    %down: tensor<32x16xf32> loc("p['down']"), %scale: tensor<6xf32> loc("scale"))
    -> (tensor<8x16xf32> {jax.result_info = "y"}, tensor<6xf32>) {
  %hidden = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %active = stablehlo.tanh %hidden : tensor<8x32xf32>
  %y = stablehlo.dot_general %active, %down, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %y, %scale : tensor<8x16xf32>, tensor<6xf32>
}"""


def apply(*tactics):
    return sdy.Schedule(tactics).apply(sdy.parse(MLP))


def arguments(plan):
    return [str(port.sharding) if port.sharding else "" for port in plan.program.inputs]


def test_tactics_add_to_each_other():
    plan = apply(
        sdy.batch("x", axis="data", name="BP"),
        sdy.megatron("*['up']", axis="model", name="MP"),
        sdy.zero(parameters="p[*", axis="data", name="Z3"),
    )
    assert [step.name for step in plan] == ["annotations", "BP", "MP", "Z3"]
    assert arguments(plan)[:3] == [
        '<@mesh, [{"data"}, {}]>',
        '<@mesh, [{"data"}, {"model"}]>',
        '<@mesh, [{"model"}, {"data"}]>',
    ]
    kinds = [[each.collective.kind for each in step.explain().collectives] for step in plan]
    assert kinds[:3] == [[], [], ["all_reduce"]]
    assert plan.diff(2).collectives[0].counts == (0, 1)
    # x, hidden, active and y; then up, down, hidden and active; then up and down
    assert [step.num_sharded for step in plan] == [0, 4, 4, 2]
    assert len(plan[3].conflicts) >= 2
    assert "uses the axis along another dimension" in str(plan[3].conflicts)
    (kept,) = plan[3].explained.value("p['up']").explanation.axes[1:]
    assert "given in the program or by a tactic so far" in str(kept)


def test_the_program_equals_one_that_is_annotated_by_hand():
    """The axes of the tactic i have priority i."""
    schedule = sdy.Schedule(
        [sdy.batch("x", axis="data"), sdy.manual({"*['up']": 1, "p['down']": -1}, axis="model")]
    )
    module = sdy.parse(MLP)
    before = sdy.asm(module)
    annotated = MLP
    for name, dims in (
        ("x", '{"data", ?}p1, {?}'),
        ("up", '{?}, {"model", ?}p2'),
        ("down", '{?}, {"model", ?}p2'),
    ):
        argument = annotated[annotated.index(f"%{name}: ") :].split(" loc")[0]
        sharding = f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
        annotated = annotated.replace(argument, f"{argument} {sharding}", 1)
    by_hand = sdy.parse(annotated)
    sdy.propagate(by_hand)
    expected = sdy.asm(by_hand, debug_info=False)
    assert sdy.asm(schedule.apply(module).module, debug_info=False) == expected
    propagated = schedule.propagated(module)
    assert sdy.asm(propagated, debug_info=False) == expected
    assert "pyshardy" not in sdy.asm(propagated), "no mark is left"
    assert sdy.asm(module) == before


def test_annotations_come_first():
    annotated = MLP.replace(
        ' loc("x")', ' {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}]>} loc("x")'
    )
    plan = sdy.Schedule([sdy.batch("x", axis="data")]).apply(sdy.parse(annotated))
    (skipped,) = plan[1].skipped
    assert str(skipped) == "x: dimension 0 is closed by an annotation"
    assert plan[1].assigned == ()


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ({"x": 0}, {"x": 1}, "'data' already shards dimension 0"),
        ({"x": None}, {"x": 1}, "it is kept replicated along 'data'"),
        ({"x": 0}, {"scale": 0}, None),
    ],
)
def test_an_axis_is_not_moved(first, second, reason):
    step = apply(sdy.manual(first, axis="data"), sdy.manual(second, axis="data"))[2]
    assert [each.reason for each in step.skipped] == ([reason] if reason else [])


def test_sizes_that_do_not_divide():
    (skipped,) = apply(sdy.manual({"scale": 0}, axis="model"))[1].skipped
    assert skipped.reason == "4 shards don't divide dimension 0 of size 6 evenly"


def test_zero_takes_the_largest_free_dimension():
    plan = apply(
        sdy.manual({"p['up']": 1}, axis="model"), sdy.zero(parameters=["p*", "scale"], axis="data")
    )
    assert arguments(plan)[1:] == [
        '<@mesh, [{"data"}, {"model"}]>',
        '<@mesh, [{"model"}, {"data"}]>',
        '<@mesh, [{"data"}]>',
    ]


def test_a_weight_that_is_resharded_for_each_use():
    """Conversions belong to the use; elementwise operations are none."""
    text = """
sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<8x16xf32> loc("x"), %w: tensor<16x16xf32> loc("w"))
    -> (tensor<8x16xf32>, tensor<16x16xf32>) {
  %c = stablehlo.convert %w : (tensor<16x16xf32>) -> tensor<16x16xbf16>
  %0 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x16xbf16>) -> tensor<8x16xf32>
  %1 = stablehlo.dot_general %0, %c, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x16xbf16>) -> tensor<8x16xf32>
  %2 = stablehlo.add %w, %w : tensor<16x16xf32>
  return %1, %2 : tensor<8x16xf32>, tensor<16x16xf32>
}"""
    tactics = [
        sdy.batch("x", axis="data"),
        sdy.zero(parameters="w", axis="data", reshard_after_forward=True),
    ]
    plan = sdy.Schedule(tactics).apply(sdy.parse(text))
    assert sdy.asm(plan.module).count("optimization_barrier") == 1
    collectives = plan[2].explain().collectives
    assert [each.collective.kind for each in collectives] == ["all_gather"] * 2
    roots = {str(root.tensor.description) for each in collectives for root in each.made.roots}
    assert roots == {"w"}, "through the barrier"


def test_values_and_results():
    plan = apply(sdy.manual({"%hidden": 1, "y": 0}, axis="data"))
    assert str(plan.program.outputs[0].sharding) == '<@mesh, [{"data"}, {}]>'
    assert '[{}, {"data"}]' in arguments(plan)[1]


def test_sharding_groups():
    """The import numbers groups anew; a tactic takes the numbers of the program."""
    group = "sdy.sharding_group %{} group_id=7 : tensor<8x{}xf32>"
    text = MLP.replace("  return", f"{group.format('x', 16)}\n{group.format('y', 16)}\n  return")
    made = sdy.manual({"sharding_group 7": 1}, axis="model")
    plan = sdy.Schedule([made]).apply(sdy.parse(text))
    assert arguments(plan)[0] == '<@mesh, [{}, {"model"}]>'
    assert str(plan.program.outputs[0].sharding) == '<@mesh, [{}, {"model"}]>'
    with pytest.raises(sdy.UsageError, match="no value 'sharding_group 6'"):
        sdy.Schedule([sdy.manual({"sharding_group 6": 1}, axis="model")]).apply(sdy.parse(text))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: sdy.batch("scal", axis="data"), "matches 'scal'; did you mean 'scale'"),
        (lambda: sdy.batch("x", axis="dat"), "no axis 'dat'; did you mean 'data'"),
        (lambda: sdy.batch("x", axs="data"), "no option 'axs'; did you mean 'axis'"),
        (lambda: sdy.batch("x"), "tactic 'batch': missing a required .*argument: 'axis'"),
        (lambda: sdy.batch("x", axis="data", dim=2), "'x' has 2 dimensions, so no dimension 2"),
        (lambda: sdy.manual({"x": "0"}, axis="data"), "expected a dimension, None or 'replicated'"),
        (lambda: sdy.manual({"%hiden": 0}, axis="data"), "no value '%hiden'.*did you mean"),
        (lambda: sdy.megatron("scale", axis="model"), "no matrix product uses 'scale'"),
        (lambda: sdy.zero(axis="data"), "give 'parameters'"),
        (lambda: sdy.zero(axis="data", stage=1), "give 'state'"),
        (
            lambda: sdy.zero(axis="data", stage=1, state="x", reshard_after_forward=True),
            "stage 1 of ZeRO doesn't shard parameters",
        ),
        (lambda: sdy.zero(axis="data", stage=4), "the stages 1, 2 and 3, got: 4"),
        (lambda: make_tactic("btch", {}), "there is no tactic 'btch'; did you mean 'batch'"),
        (lambda: "batch", "a schedule has tactics"),
    ],
)
def test_mistakes(made, message):
    with pytest.raises(sdy.UsageError, match=message):
        apply(made())


def test_a_program_without_a_mesh():
    with pytest.raises(sdy.UsageError, match="needs a program with a mesh"):
        sdy.Schedule([]).apply(
            sdy.parse(MLP.replace('sdy.mesh @mesh = <["data"=2, "model"=4]>', ""))
        )


def test_tactics_of_users():
    @sdy.tactic
    def rows(program, *, of, axis):
        """Shard the rows of matrices."""
        for value in program.arguments_of(of):
            yield sdy.Assignment(value.name, 0, axis)

    plan = apply(rows(of="p*", axis="model", name="R"))
    assert plan[1].name == "R"
    assert [each.dim for each in plan[1].assigned] == [0, 0]


def test_tables(capsys):
    plan = apply(sdy.batch("x", axis="data", name="BP"), sdy.manual({"x": 1}, axis="data"))
    rich.print(plan)
    shown = capsys.readouterr().out
    for text in ("Schedule, estimated for NVIDIA H100 SXM", "BP", "without effect"):
        assert text in shown
    assert repr(plan[1]).startswith("PlanStep(BP: 4 values sharded, 0 collectives")
    assert "BP, manual" in repr(plan)


# --- Files ------------------------------------------------------------------------------------

FILE = """
[[tactic]]
kind = "batch"
name = "BP"
inputs = "x"
axis = "data"

[[tactic]]
kind = "manual"
dims = { "p['up']" = 1, "*['down']" = "replicated" }
axis = "model"
"""


def test_files(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(FILE)
    assert sdy.load_schedule(path) == sdy.Schedule(
        [
            sdy.batch(inputs="x", axis="data", name="BP"),
            sdy.manual({"p['up']": 1, "*['down']": "replicated"}, axis="model"),
        ]
    )
    down = arguments(sdy.load_schedule(path).apply(sdy.parse(MLP)))[2]
    assert down == "<@mesh, [{}, {}]>", "else propagation would shard its rows"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no '"),
        ("[[tactics]]", "has other entries than"),
        ("[[tactic]]\nname = 'BP'", "needs a text 'kind'"),
        ("[[tactic]]\nkind = 'batch'\ninputs = 'x'\naxes = 'data'", "did you mean 'axis'"),
        ("[[tactic]", "is not valid TOML"),
    ],
)
def test_invalid_files(tmp_path, text, message):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(sdy.UsageError, match=message):
        sdy.load_schedule(path)
    with pytest.raises(sdy.UsageError, match="cannot read the schedule"):
        sdy.load_schedule(tmp_path / "missing.toml")
