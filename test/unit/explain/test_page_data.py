# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data of the report: values, collectives, groups, costs, texts."""

import base64
import gzip
import itertools
import json
from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.explain.page.gather import page_data
from pyshardy.explain.page.groups import Group, Repeat, group_operations, repeats_in
from pyshardy.explain.page.render import packed
from pyshardy.explain.program import explain_program
from pyshardy.explain.viewers import chrome_trace, model_explorer
from pyshardy.irtools.locations import scopes_of_path

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "test" / "corpus" / "mlir"


def explained_file(name):
    path = CORPUS / f"{name}.mlir"
    return explain_program(parse(path.read_text(), Context(), path.name))


@pytest.fixture(scope="module")
def explained():
    return explained_file("conflicting_products")


@pytest.fixture(scope="module")
def loop():
    return explained_file("transformer_scan_train")


def shown_dims(data, value):
    return data.program.shardings[value.sharding].dims


def traced_gradient():
    """Trace a step of training of two layers, on 4 x 2 devices."""
    import jax  # noqa: PLC0415 (slow)
    from jax.sharding import PartitionSpec  # noqa: PLC0415

    def loss(weights, x):
        for number, layer in enumerate(weights):
            with jax.named_scope(f"layer_{number}"):
                x = x + jax.numpy.tanh(x @ layer["up"]) @ layer["down"]
        return jax.numpy.sum(x * x)

    def step(weights, x):
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x))

    def shape(*sizes):
        return jax.ShapeDtypeStruct(sizes, "float32")

    weights = [{"up": shape(16, 64), "down": shape(64, 16)}] * 2
    sharded = [{"up": PartitionSpec(None, "model"), "down": PartitionSpec("model")}] * 2
    return sdy.jax.trace(
        step,
        weights,
        shape(32, 16),
        mesh=sdy.Mesh.of({"data": 4, "model": 2}),
        in_shardings=(sharded, PartitionSpec("data")),
        out_shardings=sharded,
    )


def test_data(explained):
    data = page_data(explained, "conflicting_products.mlir")
    assert data.plan.axes == (("data", 4), ("model", 2))
    names = {node.name for node in data.program.nodes}
    assert {"stablehlo.dot_general", "stablehlo.add"} <= names
    kinds = [value.kind for value in data.program.values]
    assert (kinds.count("input"), kinds.count("output")) == (3, 1)
    assert [output.name for output in data.program.outputs] == ["result"]
    assert len(data.plan.collectives) == len(explained.program.collectives)
    assert all(each.node is not None for each in data.plan.collectives)


@pytest.mark.parametrize("name", ["conflicting_products", "transformer_train_adam_fsdp"])
def test_steps_lead_to_the_final_shardings(name):
    data = page_data(explained_file(name), name)
    current = {value.slot: value.given for value in data.program.values}
    for step in data.program.steps:
        for position, sharding in data.program.patterns[step.pattern].changes:
            current[step.slots[position]] = sharding
    for value in data.program.values:
        assert data.program.shardings[current[value.slot]] == data.program.shardings[value.sharding]
    assert len(data.program.patterns) <= len(data.program.steps)


def test_collectives_at_operations_that_share_lines():
    """JAX's backward pass, and the layers of a loop, have the source lines of the forward pass."""
    module = traced_gradient()
    text = asm(module)  # without locations: each operation has a line of its own
    explained = explain_program(module)
    data = page_data(explained, "traced")
    reparsed = page_data(explain_program(parse(text, Context(), "by_line.mlir")), "by_line.mlir")
    by_line = {node.place: node.number for node in reparsed.program.nodes}
    expected = [by_line[each.place] for each in reparsed.plan.collectives]
    assert len(set(expected)) == len(expected) == 7
    assert [each.node for each in data.plan.collectives] == expected
    nodes = {node.number: node for node in data.program.nodes}
    values = {value.number: value for value in data.program.values}
    assert len({nodes[number].place for number in expected}) < len(expected)
    for number, reason in zip(expected, explained.collectives, strict=True):
        result = values[nodes[number].results[0]]
        axes = tuple(tuple(map(str, dim)) for dim in reason.made.sharding.dim_axes)
        named = tuple(tuple(f'"{axis}"' for axis in dim) for dim in shown_dims(data, result))
        assert (reason.made.what, axes) == (result.name, named)


# --- Groups -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "scopes"),
    [
        ("jit(step)/layer_0/mlp/sin", ("layer_0", "mlp")),
        ("jit(step)/jvp(layer_0)/mlp/sin", ("forward", "layer_0", "mlp")),
        ("jit(step)/transpose(jvp(layer_0))/mlp/mul", ("backward", "layer_0", "mlp")),
        ("jit(step)/jvp()/mul", ("forward",)),
        ("jit(step)/jit(relu)/max", ("relu",)),
        ("jit(step)/transpose(jvp(a/b))/vmap(c)/mul", ("backward", "a", "b", "c")),
        ("jit(step)/jvp(jit(norm))", ("forward",)),
        ("jit(step)/mul", ()),
    ],
)
def test_scopes(path, scopes):
    assert scopes_of_path(path) == scopes


def test_repeats():
    assert repeats_in([7, 1, 2, 1, 2, 1, 2, 9], 2) == [Repeat(1, 2, 3)]
    assert repeats_in([1, 2, 3, 1, 2, 3], 2) == []  # two are no repeat
    units = [1, 2, 3, 4] * 5 + [9] + [5, 6, 7, 8] * 3
    assert repeats_in(units, 4) == [Repeat(0, 4, 5), Repeat(21, 4, 3)]


def layers(count, scope):
    operations = range(10 * count)
    kinds = {
        number: f"stablehlo.{'dot_general' if number % 10 else 'add'} 1" for number in operations
    }
    scopes = {number: (f"layer_{number // 10}",) for number in operations} if scope else {}
    return group_operations("main", operations, kinds, scopes, {}, {}, {})


def test_equal_layers_are_one_group():
    for scope, label in ((True, "layer_0 … layer_11"), (False, "9 dot_general")):
        top = layers(12, scope)
        (fold,) = top.members
        assert (fold.label, fold.copies, len(fold.members)) == (label, 12, 12)
        assert list(top.operations()) == list(range(120))
        assert fold.members[1].members == list(range(10, 20))


def test_no_group_has_many_members():
    operations = range(5000)  # without a repeat
    kinds = {number: f"stablehlo.dot_general {number}" for number in operations}
    top = group_operations("main", operations, kinds, {}, {}, {}, {})

    def check(group):
        assert len(group.members) <= 32
        for member in group.members:
            if isinstance(member, Group):
                check(member)

    check(top)
    assert list(top.operations()) == list(operations)
    assert "dot_general" in top.members[0].label


def test_operations_of_a_line_are_a_group():
    operations = range(60)
    kinds = {number: f"stablehlo.add {number}" for number in operations}
    lines = {number: f"model.py:{number // 20}" for number in operations if number}
    top = group_operations("main", operations, kinds, {}, {}, lines, {})
    assert [member if isinstance(member, int) else member.label for member in top.members] == [
        0,
        "model.py:0",
        "model.py:1",
        "model.py:2",
    ]
    assert list(top.operations()) == list(operations)


def test_runs_end_where_few_values_are_in_use():
    """Blocks of ten operations, each of which uses the first one of its block."""
    operations = range(50)
    kinds = {number: f"stablehlo.add {number}" for number in operations}
    sources = {number: [number // 10 * 10, number - 1] for number in operations if number}
    top = group_operations("main", operations, kinds, {}, {}, {}, sources)
    starts = [next(member.operations()) for member in top.members]
    assert [number for number in starts if number % 10] == []
    assert len(starts) == 5


def test_calls_are_named_and_placed():
    """A call in a forward pass is a part of it, and has the name of the function."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @norm(%a) : (tensor<8xf32>) -> tensor<8xf32> loc("jit(f)/jvp(jit(norm))")
      return %0 : tensor<8xf32>
    }
    func.func private @norm(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.tanh %a : tensor<8xf32>
      %1 = stablehlo.sine %0 : tensor<8xf32>
      %2 = stablehlo.cosine %1 : tensor<8xf32>
      return %2 : tensor<8xf32>
    }"""
    data = page_data(explain_program(parse(text, Context())), "call")
    (main,) = (group for group in data.program.groups if group.label == "@main")
    (forward,) = main.members
    (norm,) = forward.members
    assert (forward.label, norm.label, len(norm.members)) == ("forward", "norm", 3)


def test_scopes_of_a_gradient():
    data = page_data(explain_program(traced_gradient()), "traced")
    (main,) = data.program.groups
    labels = [member.label for member in main.members if isinstance(member, Group)]
    assert labels == ["forward", "backward"]
    shown = set(main.operations())
    constants = [node for node in data.program.nodes if node.name == "sdy.constant"]
    assert constants
    assert not shown & {node.number for node in constants}


def test_contracts_of_scopes_with_and_without_the_pass():
    explanation = sdy.explain(traced_gradient())
    for pattern in ("backward/layer_1", "layer_1"):
        with pytest.raises(sdy.ContractViolation):
            explanation.check(f"no collectives in {pattern}")
    explanation.check("no collectives in layer_7")


# --- Costs and texts --------------------------------------------------------------------------


def test_the_timeline_adds_up_to_the_estimate(loop):
    timeline = loop.timeline
    assert timeline.seconds == loop.cost.predicted
    assert timeline.seconds == pytest.approx(loop.cost.compute_seconds + loop.cost.exposed)
    inner = [event for event in timeline.events if not event.is_loop]
    assert sum(event.seconds for event in inner) == pytest.approx(loop.cost.seconds)
    assert sum(event.flops for event in inner) == pytest.approx(loop.cost.operations)
    assert max(nbytes for _, nbytes in timeline.memory) == timeline.peak_bytes


def test_chrome_trace(loop):
    trace = json.loads(json.dumps(chrome_trace(loop)))
    named = [event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"]
    assert named == ["each device (estimate)", "computation", "link"]
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    collectives = [event for event in events if event["tid"] == 1]
    assert len(collectives) == len(loop.collectives)
    sent = sum(event["args"]["bytes sent"] for event in collectives)
    assert sent == loop.collectives.nbytes_sent
    for before, after in itertools.pairwise(collectives):
        assert before["ts"] + before["dur"] <= after["ts"] * (1 + 1e-9)


IDLE = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


def test_idle_axes_and_texts():
    data = page_data(explain_program(parse(IDLE, Context(), "idle.mlir")), "idle.mlir")
    (idle,) = data.costs.idle
    assert (idle.axis, idle.size, idle.share) == ("y", 4, 1.0)
    (tanh,) = [node.number for node in data.program.nodes if node.name == "stablehlo.tanh"]
    assert [each.node for each in idle.operations] == [tanh]
    texts = (*data.program.texts, data.plan.partitioned)
    assert [text.name for text in texts] == ["Program", "Partitioned"]
    for text in texts:
        (line,) = [each.line for each in text.lines if each.node == tanh]
        assert "stablehlo.tanh" in text.text.splitlines()[line - 1]


def test_lines_of_all_operations():
    data = page_data(explained_file("transformer_train_sgd"), "train")
    names = {node.number: node.name for node in data.program.nodes}
    program = data.program.texts[0]
    lines = program.text.splitlines()
    kept = [each for each in program.lines if names[each.node].startswith("stablehlo.")]
    assert len(kept) > 100
    assert [each for each in kept if names[each.node] not in lines[each.line - 1]] == []


def test_texts_with_many_replica_groups():
    """Groups of 256 devices are elided, so that the text that is shown can't be read."""
    text = """
    sdy.mesh @mesh = <["x"=32, "y"=8]>
    func.func @main(%a: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
        -> (tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
      %0 = stablehlo.tanh %a : tensor<32x8xf32>
      return %0 : tensor<32x8xf32>
    }"""
    data = page_data(explain_program(parse(text, Context())), "large mesh")
    partitioned = data.plan.partitioned
    lines = partitioned.text.splitlines()
    assert "__elided__" in partitioned.text
    assert any("stablehlo.tanh" in lines[each.line - 1] for each in partitioned.lines)


def test_another_plan():
    first = explain_program(parse(IDLE, Context()))
    other = explain_program(parse(IDLE.replace('[{"x"}, {}]', '[{"x"}, {"y"}]'), Context()))
    plan = page_data(first, "first", other).plan.other
    assert plan.is_aligned
    assert [port.name for port in plan.ports] == ["%arg0", "result 0"]
    assert len(plan.shardings) == 2  # the argument and the result


def test_collectives_of_another_plan():
    """The graph shows each of them at an operation, as it does those of this plan."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x4xf32>, %w: tensor<4x4xf32> {SHARDED}) -> tensor<8x4xf32> {
      %0 = stablehlo.tanh %a : tensor<8x4xf32>
      %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
        : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %2 = stablehlo.negate %1 : tensor<8x4xf32>
      return %2 : tensor<8x4xf32>
    }"""
    replicated, contracted = "[{}, {}]", '[{"x"}, {}]'
    first, other = (
        explain_program(
            parse(
                text.replace("SHARDED", f"sdy.sharding = #sdy.sharding<@mesh, {each}>"), Context()
            )
        )
        for each in (replicated, contracted)
    )
    data = page_data(first, "first", other)
    (dot,) = [node.number for node in data.program.nodes if node.name == "stablehlo.dot_general"]
    assert data.plan.collectives == ()
    assert data.plan.other.collectives_at == {dot: len(other.collectives)} == {dot: 1}


def test_packed():
    def unpacked(value):
        if isinstance(value, list):
            return list(map(unpacked, value))
        if not isinstance(value, dict):
            return value
        if "columns" not in value:
            return {name: unpacked(entry) for name, entry in value.items()}
        columns = {
            name: column if isinstance(column, list) else [column["of"][at] for at in column["at"]]
            for name, column in value["columns"].items()
        }
        return [
            {name: column[row] for name, column in columns.items()} for row in range(value["count"])
        ]

    data = page_data(explained_file("transformer_forward"), "forward")
    text = gzip.decompress(base64.b64decode(packed(data.program)))
    found = unpacked(json.loads(text))
    assert [node["name"] for node in found["nodes"]] == [node.name for node in data.program.nodes]
    assert [tuple(node["operands"]) for node in found["nodes"]] == [
        node.operands for node in data.program.nodes
    ]
    assert [value["place"] for value in found["values"]] == [
        None if value.place is None else str(value.place) for value in data.program.values
    ]
    assert len(text) > 4 * len(packed(data.program))


def test_model_explorer(explained):
    data = page_data(explained, "conflicting_products.mlir")
    (graph,) = json.loads(json.dumps(model_explorer(data)))["graphs"]
    identities = {node["id"] for node in graph["nodes"]}
    assert len(identities) == len(graph["nodes"])
    for node in graph["nodes"]:
        assert all(edge["sourceNodeId"] in identities for edge in node["incomingEdges"])
    product = next(node for node in graph["nodes"] if node["label"] == "stablehlo.dot_general")
    assert len(product["incomingEdges"]) == 2
    assert {"sharding", "location", "collectives"} <= {each["key"] for each in product["attrs"]}
