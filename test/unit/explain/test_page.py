# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a program, in a browser."""

import json
import shutil
from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.explain.model_explorer import model_explorer
from pyshardy.explain.page.data import page_data
from pyshardy.explain.page.render import render_page
from pyshardy.explain.page.scopes import Group, group_operations, scopes_of
from pyshardy.explain.program import explain_program

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "</script><b id='injected'>"


@pytest.fixture(scope="module")
def explained():
    path = ROOT / "test" / "corpus" / "mlir" / "conflicting_products.mlir"
    return explain_program(parse(path.read_text(), Context(), path.name))


def shown_dims(data, value):
    return data.shardings[value.sharding].dims


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


# --- The data -------------------------------------------------------------------------------


def test_data(explained):
    data = page_data(explained, "conflicting_products.mlir")
    assert data.axes == (("data", 4), ("model", 2))
    names = {node.name for node in data.nodes.values()}
    assert {"stablehlo.dot_general", "stablehlo.add"} <= names
    kinds = [value.kind for value in data.values.values()]
    assert (kinds.count("input"), kinds.count("output")) == (3, 1)
    assert len(data.collectives) == len(explained.program.collectives)
    assert all(each.node is not None for each in data.collectives)
    # The last step leaves every value with its final sharding.
    current = {value.slot: value.given for value in data.values.values()}
    for step in data.steps:
        current.update(step.changes)
    for value in data.values.values():
        assert data.shardings[current[value.slot]] == data.shardings[value.sharding]


def test_collectives_at_operations_that_share_lines():
    """JAX's backward pass, and the layers of a loop, have the source lines of the forward pass."""
    module = traced_gradient()
    text = asm(module)  # without locations: each operation has a line of its own
    explained = explain_program(module)
    data = page_data(explained, "traced")
    reparsed = page_data(explain_program(parse(text, Context(), "by_line.mlir")), "by_line.mlir")
    by_line = {node.place: number for number, node in reparsed.nodes.items()}
    expected = [by_line[each.place] for each in reparsed.collectives]
    assert len(set(expected)) == len(expected) == 7
    assert [each.node for each in data.collectives] == expected
    assert len({data.nodes[number].place for number in expected}) < len(expected)
    for number, reason in zip(expected, explained.collectives, strict=True):
        result = data.values[data.nodes[number].results[0]]
        axes = tuple(tuple(map(str, dim)) for dim in reason.made.sharding.dim_axes)
        named = tuple(tuple(f'"{axis}"' for axis in dim) for dim in shown_dims(data, result))
        assert (reason.made.what, axes) == (result.name, named)


def test_every_sharding_on_the_way_is_there():
    """Some values have shardings for a while that none has in the end."""
    path = ROOT / "test" / "corpus" / "mlir" / "transformer_train_adam_fsdp.mlir"
    data = page_data(explain_program(parse(path.read_text(), Context(), path.name)), path.name)
    passed_through = {sharding for step in data.steps for _, sharding in step.changes}
    assert max(passed_through) < len(data.shardings)


def test_scopes_are_groups():
    context = Context()
    module = parse(
        """
        func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = stablehlo.sine %a : tensor<8xf32> loc("jit(f)/layer_0/mlp/sin")
          %1 = stablehlo.sine %0 : tensor<8xf32> loc("jit(f)/layer_1/sin")
          return %1 : tensor<8xf32>
        }""",
        context,
    )
    block = module.body.operations[0].regions[0].blocks[0]
    scopes = {number: scopes_of(block.operations[number].location) for number in range(2)}
    assert scopes == {0: ("layer_0", "mlp"), 1: ("layer_1",)}
    top = group_operations("main", [0, 1], {0: "x.sine", 1: "x.sine"}, scopes, {})
    assert [group.label for group in top.members] == ["layer_0", "layer_1"]
    assert top.members[0].members[0].members == [0]


def test_no_group_has_many_members():
    numbers = range(5000)
    names = dict.fromkeys(numbers, "stablehlo.dot_general")
    top = group_operations("main", numbers, names, {}, {})

    def check(group):
        assert len(group.members) <= 36
        for member in group.members:
            if isinstance(member, Group):
                check(member)

    check(top)
    assert list(top.operations()) == list(numbers)
    assert "dot_general" in top.members[0].label


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


# --- The page -------------------------------------------------------------------------------

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (may be missing)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(browser, explained, tmp_path_factory):
    """The page of the program; whatever it says or asks for is noted."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_page(explained, f"conflicting_products.mlir {HOSTILE}"))
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.problems, page.requests = [], []
    page.on("console", lambda said: said.type == "error" and page.problems.append(said.text))
    page.on("pageerror", lambda failure: page.problems.append(str(failure)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    return page


@needs_chromium
def test_it_loads_by_itself(page):
    assert page.problems == []
    assert len(page.requests) == 1  # the file
    assert page.locator("#injected").count() == 0
    assert HOSTILE in page.locator("h1").get_attribute("title")
    assert page.locator("#mesh").inner_text().split() == ["data", "4", "model", "2"]
    assert page.locator("#canvas .node").count() == 3
    assert page.locator("#values tbody tr[data-row]").count() >= 4


@needs_chromium
def test_search_finds_a_value(page):
    page.fill("#search", "dot_general 16x16 :5:")
    page.wait_for_selector("#found li")
    page.keyboard.press("Enter")
    assert page.locator("#details h2").inner_text() == "result 0 of stablehlo.dot_general"
    assert "conflicting_products.mlir:5:10" in page.locator("#details").inner_text()
    assert "given in the program" in page.locator("#details ol.chain").first.inner_text()
    assert page.locator("#details .picture svg").count() == 1
    assert page.locator("#canvas .chosen").count() == 1
    page.fill("#search", "nothing like that")
    assert page.locator("#found").inner_text() == "Nothing found"
    page.keyboard.press("Escape")


@needs_chromium
def test_the_slider_changes_the_graph(page):
    def colours():
        return page.evaluate(
            "[...document.querySelectorAll('#canvas .edge.sharded')].map(e => e.style.stroke)"
        )

    after = colours()
    page.locator("#step").fill("0")
    before = colours()
    assert len(before) < len(after)
    assert "Before propagation" in page.locator("#told").inner_text()
    page.click("#next")
    assert page.locator("#told").inner_text().startswith("1 of ")
    assert "got" in page.locator("#told").inner_text()
    page.click("#next")  # the first step was from the function to what it returns
    assert page.locator("#canvas .stepped").count() == 1
    page.click("#last")
    assert colours() == after


@needs_chromium
def test_a_collective_tells_its_reason(page, explained):
    page.click("#tab-collectives")
    largest = max(explained.collectives, key=lambda each: each.nbytes_total)
    page.locator("#collectives tbody tr").first.click()
    shown = page.locator("#details").inner_text()
    assert largest.reason in shown
    assert "use: operand 1 of stablehlo.dot_general" in shown
    assert page.locator("#canvas .chosen").count() == 1
    page.click("#tab-values")


@needs_chromium
def test_groups_open_and_close(page):
    page.click("#close-all")
    group = page.locator("#canvas .group", has_text="inputs")
    assert group.count() == 1
    nodes = page.locator("#canvas .node").count()
    group.focus()
    page.keyboard.press("Enter")
    assert page.locator("#canvas .node").count() == nodes + 3
    assert page.problems == []


@needs_chromium
def test_five_thousand_operations(browser, tmp_path):
    """They open as a handful of groups, and what is asked for is soon there."""
    lines = "\n".join(f"%v{n + 1} = stablehlo.sine %v{n} : tensor<8xf32>" for n in range(5000))
    text = (
        'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%v0: tensor<8xf32> '
        '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {\n'
        f"{lines}\nreturn %v5000 : tensor<8xf32>\n}}"
    )
    path = tmp_path / "report.html"
    path.write_text(render_page(explain_program(parse(text, Context())), "long"))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("#canvas .node, #canvas .group").count() < 50
    page.fill("#search", ":2500:")
    page.keyboard.press("Enter")
    assert page.locator("#canvas .chosen").count() == 1
    assert page.locator("#canvas .node").count() < 500
    page.close()
