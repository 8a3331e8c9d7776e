# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans: questions about them, constraints, output, and bad input."""

import dataclasses
import importlib
import math
import xml.etree.ElementTree

import pytest

import pyshardy as sdy
from pyshardy.auto.strategies.costs import HardwareCosts, PricedBytes, read_measured
from pyshardy.cli.auto import main
from pyshardy.cost.measured import Curve
from pyshardy.cost.op_work import Work
from pyshardy.explain.estimate import estimate

MLP = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<1024x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<4096x16384xbf16> loc("up"), %down: tensor<16384x4096xbf16> loc("down"))
    -> (tensor<1024x4096xbf16> {jax.result_info = "y"}) {
  %h = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<1024x4096xbf16>, tensor<4096x16384xbf16>) -> tensor<1024x16384xbf16>
  %a = stablehlo.tanh %h : tensor<1024x16384xbf16>
  %y = stablehlo.dot_general %a, %down, contracting_dims = [1] x [0]
    : (tensor<1024x16384xbf16>, tensor<16384x4096xbf16>) -> tensor<1024x4096xbf16>
  return %y : tensor<1024x4096xbf16>
}"""


@pytest.fixture(scope="module")
def plan():
    """Columns of the first weight, and rows of the second one, as in Megatron-LM."""
    return sdy.auto_shard(sdy.parse(MLP), hardware="h100", memory="100MB")


def test_certificate(plan):
    assert plan.gap <= 0.01
    assert plan.bound <= plan.cost
    assert plan.memory <= 100e6
    assert {name: str(each) for name, each in plan.shardings.items()} == {
        "x": '<@mesh, [{"data"}, {}]>',
        "up": '<@mesh, [{}, {"model"}]>',
        "down": '<@mesh, [{"model"}, {}]>',
        "y": str(plan.shardings["y"]),
    }
    check = plan.check()
    assert check.difference == 0
    assert plan.bytes == sum(check.counted.values())
    assert plan.estimate.seconds == pytest.approx(plan.cost, rel=0.01)
    assert plan.estimate.peak_bytes == pytest.approx(plan.memory, rel=0.01)
    assert "P(None, 'model')" in str([table.rows for table in plan.tables()])


def test_the_same_program_has_the_same_plan(plan):
    again = sdy.auto_shard(sdy.parse(MLP), hardware="h100", memory="100MB")
    assert again.choice.tolist() == plan.choice.tolist()
    assert sdy.asm(again.module) == sdy.asm(plan.module)


def test_a_plan_without_communication_has_no_table_of_its_costs(plan):
    assert [each.title for each in plan.tables()][1] == "Largest costs of communication"
    alone = sdy.auto_shard(
        """sdy.mesh @mesh = <["data"=2]>
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.tanh %x : tensor<4xf32>
          return %0 : tensor<4xf32>
        }"""
    )
    assert [each.title for each in alone.tables()] == ["Shardings", "Certificate"]
    assert not any("0 points" in note or "memory at" in note for note in alone.notes)


def test_alternatives_of_arguments(plan):
    """Here local search finds the best plan with each sharding."""
    found = plan.alternatives()
    assert found.keys() == {"x", "up", "down"}
    assert found["x"] == (), "its sharding is fixed"
    for name in ("up", "down"):
        best = found[name][0]
        assert best.cost - plan.cost == pytest.approx(plan.explain(name).difference)
        assert plan.search.as_sharding(best.axes) != plan.shardings[name]
        for each in found[name]:
            fixed = plan.fix(name, plan.search.as_sharding(each.axes))
            assert math.isinf(each.cost) or each.cost >= fixed.solve().bound
    assert plan.alternatives(seconds=0.0) == {}


def test_report(plan, tmp_path):
    pareto = plan.pareto([400e6, 79e6, 70e6, 1e6])
    plan.to_html(tmp_path / "plan.html", title="mlp", pareto=pareto)
    text = (tmp_path / "plan.html").read_text()
    for part in (
        "Certificate",
        "proven lower bound",
        "Solved by HiGHS",
        "P(None, &#39;model&#39;)",
    ):
        assert part in text
    assert "no plan fits" in text, "100 MB don't hold both weights"
    picture = xml.etree.ElementTree.fromstring(pareto.svg())
    names = [each.tag for each in picture]
    assert names[:2] == ["title", "desc"]
    points = {(one.memory, one.cost) for one in pareto.points if math.isfinite(one.cost)}
    assert names.count("circle") == len(points) > 1
    assert pareto.tables()[0].rows[-1][1:] == ("no plan", "", "")
    assert dataclasses.replace(pareto, points=pareto.points[-1:]).svg() == ""
    with pytest.raises(sdy.UsageError, match="cannot write output file"):
        plan.to_html(tmp_path)


def test_explain_names_the_second_best(plan):
    answer = plan.explain("up")
    assert answer.difference > 0
    assert answer.chosen == plan.shardings["up"] != answer.other
    assert str(answer).startswith("up is sharded by P(None, 'model')\n  the second best is P(")


def test_explain_offers_a_better_plan(plan):
    """A plan is within its gap of the optimum, so that another sharding may be cheaper."""
    worse = plan.fix("up", ("model", None)).solve()
    loose = sdy.ShardingPlan(plan.constraints, worse.solution)
    answer = loose.explain("up")
    assert answer.difference < 0
    assert answer.difference == pytest.approx(plan.cost - worse.cost)
    assert answer.plan.cost == pytest.approx(plan.cost)
    assert answer.plan.shardings["up"] == answer.other == plan.shardings["up"]
    assert f"only proven to be within {loose.gap:.2%} of the optimum" in str(answer)


def test_constraints_and_differences(plan):
    fixed = plan.fix("up", ("model", None)).solve()
    assert str(fixed.shardings["up"]) == '<@mesh, [{"model"}, {}]>'
    difference = plan.diff(fixed)
    assert difference.difference == fixed.cost - plan.cost > 0
    assert "up" in difference.shardings
    assert "value" in difference.summary()
    forbidden = plan.forbid("up", (None, "model")).forbid("down", ("model", None)).solve()
    assert forbidden.shardings["up"] != plan.shardings["up"]
    assert forbidden.shardings["down"] != plan.shardings["down"]
    expert = plan.compare({"up": (None, "model"), "down": ("model", None)})
    assert expert.difference == pytest.approx(0)


def test_memory_against_time(plan):
    first, second = plan.pareto([100e6, 400e6]).points
    assert (first.limit, second.limit) == (400e6, 100e6)
    assert first.cost <= second.cost == pytest.approx(plan.cost)
    (table,) = plan.pareto([1e6]).tables()
    assert table.rows[0][1] == "no plan"


def test_saved_plans(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    saved = sdy.ShardingPlan.load(tmp_path / "plan.json")
    assert saved.specs() == dict(plan.shardings)
    assert plan.compare(saved.specs()).difference == 0, "of results without annotations, too"
    assert (saved.cost, saved.bytes) == (plan.cost, plan.bytes)
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(sdy.UsageError, match=r"cannot read the plan .* has no entry 'shardings'"):
        sdy.ShardingPlan.load(tmp_path / "plan.json")
    with pytest.raises(sdy.UsageError, match=r"cannot write output file .*: No such file"):
        plan.save(tmp_path / "nowhere" / "plan.json")
    code = plan.to_jax()
    assert 'mesh = jax.make_mesh((2, 4), ("data", "model"))' in code
    assert "'up': NamedSharding(mesh, P(None, 'model'))," in code
    assert "with_sharding_constraint" not in code, "propagation finds all other shardings"
    compile(code, "plan", "exec")


def test_constraints_for_jax():
    """A plan names the constraints without which propagation would choose otherwise."""
    given = ' {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}'
    text = MLP.replace(given, "")
    plan = sdy.auto_shard(sdy.parse(text), hardware="h100").fix("up", ("model", None)).solve()
    code = plan.to_jax()
    compile(code, "plan", "exec")
    assert ": value = jax.lax.with_sharding_constraint(value, NamedSharding(mesh, P(" in code


def test_text_has_tables(plan):
    for value, wanted in (
        (plan, "Largest costs of communication"),
        (plan.table(), "sharding"),
        (plan.check(), "predicted bytes"),
        (plan.pareto([200e6]), "peak memory"),
    ):
        assert wanted in str(value)


def test_a_plan_whose_partitioned_program_fits(monkeypatch, tmp_path, capsys):
    """Here partitioned programs take a third more than the model predicts."""

    def with_more_memory(program, hardware):
        found = estimate(program, hardware)
        return dataclasses.replace(found, peak_bytes=found.peak_bytes * 4 // 3)

    module = importlib.import_module("pyshardy.auto.plans.plan")
    monkeypatch.setattr(module, "estimate", with_more_memory)
    plan = sdy.auto_shard(sdy.parse(MLP), hardware="h100", memory="100MB")
    check = plan.check()
    assert check.predicted_memory <= 100e6 < check.counted_memory
    assert "100 MB limit the predicted peak" in " ".join(plan.notes)
    fitted = plan.fitted()
    assert fitted.estimate.peak_bytes <= 100e6
    assert fitted.memory < plan.memory
    assert fitted.fitted() is fitted
    with pytest.raises(sdy.UsageError, match=r"takes .* bytes .* above the limit of 100,000,000"):
        plan.fitted(attempts=1)
    path = tmp_path / "mlp.mlir"
    path.write_text(MLP)
    flags = [str(path), "--no-guard", "--memory=100MB", "--check"]
    for more, is_exceeded in ([], True), (["--fit"], False):
        assert main([*flags, *more]) == 0
        said = "the limit of 100,000,000 bytes is exceeded" in capsys.readouterr().out
        assert said == is_exceeded


def test_measured_collectives(tmp_path):
    path = tmp_path / "cluster.csv"
    path.write_text("kind,axis,bytes,seconds\nall_reduce,model,1000,1\nall_reduce,model,3000,2\n")
    hardware = sdy.load_hardware("h100")
    costs = read_measured(path, hardware)
    curve = costs.hardware.curve("all_reduce", ["model"])
    assert [curve.at(each) for each in (500, 2000, 6000)] == [1, 1.5, 4]
    slow = sdy.auto_shard(sdy.parse(MLP), hardware=hardware, memory="100MB", costs=costs)
    assert ("all_reduce", "model") not in slow.prediction.bytes_by_kind
    path.write_text("kind,axis,bytes,seconds\nall_reduced,model,1000,1\n")
    with pytest.raises(
        sdy.UsageError,
        match=r"cluster.csv:2:1: error: no collective or operation 'all_reduced'; did you mean",
    ):
        read_measured(path, hardware)
    path.write_text("kind,axis,bytes\n")
    with pytest.raises(sdy.UsageError, match="the column 'seconds' is missing"):
        read_measured(path, hardware)
    path.write_text("kind,axis,bytes,seconds\nall_reduce,modl,10,1\n")
    with pytest.raises(sdy.UsageError, match="2:1: error: the mesh has no axis 'modl'; did you"):
        read_measured(path, hardware, sdy.Mesh({"data": 2, "model": 4}))
    program = tmp_path / "mlp.mlir"
    program.write_text(MLP)
    assert main([str(program), f"--measured={path}"]) == 1
    path.write_text("kind,axis,bytes,seconds\nall_reduce,model,10,1\nall_reduce,model,10,2\n")
    with pytest.raises(sdy.UsageError, match="3:1: error: 'all_reduce' has two times for 10"):
        read_measured(path, hardware)


def test_a_plan_without_shardings_by_name(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text('{"shardings": []}')
    with pytest.raises(sdy.UsageError, match="it isn't a JSON file of a plan"):
        sdy.ShardingPlan.load(path)


def test_measured_operations(tmp_path):
    """The longer of the times by bytes and by arithmetic counts."""
    path, header = tmp_path / "cluster.csv", "kind,axis,bytes,flops,seconds\n"
    lines = ["stablehlo.tanh,,1000,,1", "stablehlo.tanh,,3000,,2", "stablehlo.tanh,,,10,5"]
    path.write_text(header + "\n".join(lines))
    hardware = sdy.load_hardware("h100")
    costs = read_measured(path, hardware)
    assert costs.operation("stablehlo.tanh", Work(1, 2000)) == 5
    assert costs.operation("stablehlo.tanh", Work(20, 2000)) == 10
    path.write_text(header + lines[0])
    costs = read_measured(path, hardware)
    assert costs.operation("stablehlo.tanh", Work(1e9, 10)) == 1
    fused = Work(1e9, 0)
    expected = HardwareCosts(hardware).operation("stablehlo.tanh", fused)
    assert costs.operation("stablehlo.tanh", fused) == expected < 1
    work = Work(1e12, 10)
    expected = HardwareCosts(hardware).operation("stablehlo.add", work)
    assert costs.operation("stablehlo.add", work) == expected
    path.write_text(header + "stablehlo.dot_general,,,1,1\nstablehlo.dot_general,,,1e18,1\n")
    costs = read_measured(path, hardware)
    plan = sdy.auto_shard(sdy.parse(MLP), hardware=hardware, costs=costs)
    assert 2 <= plan.cost < 2.001


CONVOLUTION = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%image: IMAGE {IMAGE_AXES}, %kernel: KERNEL {KERNEL_AXES}) -> RESULT {
  %y = stablehlo.convolution(%image, %kernel)
    dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (IMAGE, KERNEL) -> RESULT
  return %y : RESULT
}"""
"""The gradient of the kernel of a convolution."""


@pytest.mark.parametrize("axes", ['[{"x"}, {}, {}, {}]', '[{}, {"x"}, {}, {}]'])
def test_products_have_the_rate_of_their_shards(axes):
    """The rate of a product depends on its smallest dimension, and on the window of a gradient."""
    curves = [
        Curve("convolution", (1, 1000), (1e6, 1e9), element="f32"),
        Curve("gradient", (1, 1000), (1e5, 1e7), element="f32"),
    ]
    hardware = dataclasses.replace(sdy.load_hardware("cpu"), measured=tuple(curves))
    text = CONVOLUTION
    for name, shape in (("IMAGE", "8x4x4x2"), ("KERNEL", "8x4x4x3"), ("RESULT", "3x3x2x3")):
        text = text.replace(f"{{{name}_AXES}}", f"{{sdy.sharding = #sdy.sharding<@mesh, {axes}>}}")
        text = text.replace(name, f"tensor<{shape}xf32>")
    plan = sdy.auto_shard(sdy.parse(text), hardware=hardware)
    assert plan.prediction.costs["computation"] == pytest.approx(
        plan.estimate.compute_seconds, rel=0.01
    )
    assert plan.check().difference == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("stablehlo.tan_h,,1,,1", "no collective or operation 'stablehlo.tan_h'; did you mean"),
        ("stablehlo.tanh,model,1,,1", "the operation 'stablehlo.tanh' has no axis"),
        ("stablehlo.tanh,,1,1,1", "'stablehlo.tanh' needs a number of either 'bytes' or 'flops'"),
        ("stablehlo.tanh,,,,1", "'stablehlo.tanh' needs a number of either 'bytes' or 'flops'"),
        ("stablehlo.tanh,,,many,1", "'flops' must be a positive number, got: 'many'"),
    ],
)
def test_bad_measurements(tmp_path, line, message):
    path = tmp_path / "cluster.csv"
    path.write_text(f"kind,axis,bytes,flops,seconds\n{line}\n")
    with pytest.raises(sdy.UsageError, match=f"cluster.csv:2:1: error: {message}"):
        read_measured(path, sdy.load_hardware("h100"))


def test_a_price_of_bytes():
    """With a price, a plan sends less and takes longer; the first plan is too expensive then."""
    hardware = sdy.load_hardware("h100")
    time = HardwareCosts(hardware)
    plans = [
        sdy.auto_shard(sdy.parse(MLP), hardware=hardware, costs=PricedBytes(time, price), gap=0.0)
        for price in (0.0, 1e-9)
    ]
    assert plans[0].cost == pytest.approx(sdy.auto_shard(sdy.parse(MLP), hardware="h100").cost)
    assert plans[1].bytes < plans[0].bytes
    assert plans[1].cost - 1e-9 * plans[1].bytes > plans[0].cost
    assert plans[1].cost < plans[0].cost + 1e-9 * plans[0].bytes


def test_a_price_of_bytes_of_the_tool(tmp_path, capsys):
    path = tmp_path / "mlp.mlir"
    path.write_text(MLP)
    flags = [str(path), "--no-guard"]
    assert main([*flags, "--byte-price=1e-9"]) == 0
    assert " 0 bytes sent" in capsys.readouterr().out
    assert main([*flags, "--byte-price=-1"]) == 1
    assert "'--byte-price' is '-1': expected a number of at least 0" in capsys.readouterr().err


WITHOUT_MESH = MLP.replace('sdy.mesh @mesh = <["data"=2, "model"=4]>', "").replace(
    '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} ', ""
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hardware": "h10"}, "unknown hardware 'h10'.*did you mean"),
        ({"timeout": 0}, "the time limit must be positive, got: 0"),
        ({"gap": -1}, "the gap must be a fraction of at least 0"),
        ({"memory": "12 parsecs"}, "expected a size such as"),
        ({"memory": 0}, "the memory must be positive"),
        ({"memory": "1MB"}, "no plan fits into 1,000,000 bytes .* need .* its largest values: "),
        ({"objective": "joy"}, "expected the objective 'time' or 'bytes', got: 'joy'"),
        ({"axes": ["modle"]}, "the mesh has no axis 'modle'; did you mean 'model'"),
        ({"solver": "highz"}, "unknown solver 'highz'.*did you mean 'highs'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(sdy.UsageError, match=message):
        sdy.auto_shard(sdy.parse(MLP), **{"hardware": "h100", **options})


def test_bad_programs_and_names(plan):
    module = sdy.parse(WITHOUT_MESH)
    with pytest.raises(sdy.UsageError, match=r"-: error: .* a program with a mesh: pass 'mesh'"):
        sdy.auto_shard(module, hardware="h100")
    found = sdy.auto_shard(module, hardware="h100", mesh=sdy.Mesh({"x": 8}), axes=["x"])
    assert found.search.mesh.axis_names == ("x",)
    with pytest.raises(sdy.UsageError, match="no argument or result 'ups'; did you mean 'up'"):
        plan.explain("ups")
    with pytest.raises(sdy.UsageError, match="no argument or result matches 'ups'"):
        plan.fix("ups", (None, None)).solve()
    with pytest.raises(sdy.UsageError, match=r"'up' has 2 dimensions, the sharding .* has 1"):
        plan.fix("up", (None,)).solve()
    with pytest.raises(sdy.UsageError, match="no sharding is left for 'x'"):
        plan.fix("x", ("model", None)).solve()
    with pytest.raises(sdy.UsageError, match="the mesh has no axis 'modle'; did you mean 'model'"):
        plan.fix("up", ("modle", None)).solve()


def test_names_of_a_text():
    text = """
    func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = stablehlo.tanh %x : tensor<8x16xf32>
      return %0 : tensor<8x16xf32>
    }"""
    plan = sdy.auto_shard(sdy.parse(text), hardware="h100", mesh=sdy.Mesh({"x": 8}))
    name = next(iter(plan.shardings))
    assert name == "%x"
    for pattern in ("%x", "x", "arg0", "%arg0"):
        assert plan.shardings[pattern] == plan.shardings["%x"]
        assert plan.explain(pattern).name == "%x"
        fixed = plan.fix(pattern, "P('x')").solve()  # as in JAX, further dimensions are unsharded
        assert str(fixed.shardings["%x"].dim_axes) == str(sdy.sharding(("x", None)).dim_axes)


def test_an_operation_without_a_rule_is_replicated_with_a_warning(capsys):
    text = MLP.replace(
        "%a = stablehlo.tanh %h : tensor<1024x16384xbf16>",
        "%a = stablehlo.custom_call @mystery(%h)"
        " : (tensor<1024x16384xbf16>) -> tensor<1024x16384xbf16>",
    )
    plan = sdy.auto_shard(sdy.parse(text), hardware="h100")
    assert "stablehlo.custom_call at -:9:8 can't be computed on shards" in capsys.readouterr().err
    assert any("can't be computed on shards" in note for note in plan.notes)


def test_the_tool(tmp_path, capsys, monkeypatch):
    source, annotated = tmp_path / "mlp.mlir", tmp_path / "annotated.mlir"
    source.write_text(MLP)
    flags = ["--memory=100MB", "--fix=up=[{}, {'model'}]", "--forbid=down=[{'data'}, {?}]"]
    flags += ["--check", "--explain=down", "--pareto=400MB", f"-o{annotated}", "--no-guard"]
    assert main([str(source), *flags, f"--save={tmp_path / 'plan.json'}"]) == 0
    output = capsys.readouterr().out
    assert "within 0." in output
    assert "bytes beyond the prediction: +0.00%" in output
    assert "down is sharded by" in output
    module = sdy.parse(annotated)
    sdy.propagate(module)
    assert [each.kind for each in sdy.partition(module).collectives] == ["reduce_scatter"]
    assert main([str(source), "--fix=up", "--no-guard"]) == 1
    assert "expected '--fix' with a value and a sharding" in capsys.readouterr().err
    monkeypatch.setattr(importlib.import_module("pyshardy.auto.entry"), "auto_shard", None)
    assert main([str(source), "--explain=ups", "--no-guard"]) == 1
    assert "no value 'ups'" in capsys.readouterr().err, "before the search"
    assert main([str(source), "--explain=%h", "--no-guard"]) == 1
    assert "but '%h' is a value inside" in capsys.readouterr().err, "before the search"


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--fit"], "'--fit' needs the memory of a device: --memory"),
        (["--objective=bytes", "--byte-price=1e-9"], "are for '--objective=time'"),
        (["--timeout=0", "-o", "/nowhere/plan.mlir"], "file '/nowhere/plan.mlir': No such file"),
        (["--timeout=0", "--save=/"], "cannot write output file '/': Is a directory"),
    ],
)
def test_flags_that_fail_before_the_search(flags, problem, tmp_path, capsys):
    path = tmp_path / "mlp.mlir"
    path.write_text(MLP)
    assert main([str(path), *flags]) == 1
    assert problem in capsys.readouterr().err


def test_costs_do_not_replace_the_objective_bytes():
    """The plan would tell seconds as bytes."""
    costs = HardwareCosts(sdy.load_hardware("h100"))
    with pytest.raises(sdy.UsageError, match="has costs of its own"):
        sdy.auto_shard(sdy.parse(MLP), objective="bytes", costs=costs)
