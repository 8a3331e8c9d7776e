# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a program, in a browser."""

import json
import shutil
from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.page import reasons
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import explain_program

CORPUS = Path(__file__).parents[2] / "corpus" / "mlir"
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
EXAMPLES = CORPUS.parents[2] / "examples"
HOSTILE = "</script><b id='injected'>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def explained_file(name, title="program"):
    path = CORPUS / f"{name}.mlir"
    return explain_program(parse(path.read_text(), Context(), path.name), title=title)


@pytest.fixture(scope="module")
def explained():
    return explained_file("conflicting_products")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (may be missing)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def open_page(browser, tmp_path_factory):
    """Open a report; whatever it says or asks for is noted."""
    folder = tmp_path_factory.mktemp("report")

    def opened(text, *, fragment="", **options):
        path = folder / f"{len(list(folder.iterdir()))}.html"
        path.write_text(text)
        page = browser.new_page(**{"viewport": {"width": 1400, "height": 900}, **options})
        page.problems, page.requests = [], []
        page.on("console", lambda said: said.type == "error" and page.problems.append(said.text))
        page.on("pageerror", lambda failure: page.problems.append(str(failure)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready=yes]")
        return page

    return opened


@pytest.fixture(scope="module")
def page(explained, open_page):
    return open_page(render_page(explained, f"conflicting_products.mlir {HOSTILE}"))


@pytest.fixture(scope="module")
def training(open_page):
    """The report of a training step, beside one without sharded weights."""
    plan = explained_file("transformer_train_sgd")
    other = explained_file("transformer_train_sgd", title="other.mlir")
    return open_page(render_page(plan, "transformer_train_sgd.mlir", other))


def test_two_plans_side_by_side(open_page):
    """Both graphs show the same operations at the same places, each with its plan's shardings."""
    plan, other = (
        explain_program(parse((EXAMPLES / f"{name}.mlir").read_text(), Context()), title=name)
        for name in ("transformer_block", "transformer_block_fsdp")
    )
    page = open_page(render_page(plan, "transformer_block", other))
    first, second = (page.locator("svg.canvas").nth(index) for index in range(2))
    assert page.locator("figcaption").all_inner_texts() == [plan.title, other.title]
    page.click("#open-all")
    assert first.locator(".node").count() == second.locator(".node").count() > 50
    weight = 'g[aria-label^="%arg1 "]'
    assert "sharded: whole, model" in first.locator(weight).get_attribute("aria-label")
    assert "sharded: data, model" in second.locator(weight).get_attribute("aria-label")
    assert first.locator(".moves").count() == 2
    assert second.locator(".moves").count() > 2
    second.locator(weight).press("Enter")
    assert first.locator(".chosen").count() == second.locator(".chosen").count() == 1
    assert "other plan" in page.locator("#details").inner_text()
    width = first.bounding_box()["width"]
    page.click("#beside")
    assert not second.is_visible()
    assert first.bounding_box()["width"] > 1.9 * width
    assert page.problems == []


# --- The first view -------------------------------------------------------------------------------


def flat_plan(name="transformer_block"):
    """A program without scopes, whose operations have a line each."""
    return explain_program(parse((EXAMPLES / f"{name}.mlir").read_text(), Context()), title=name)


LAYERS = 24


@pytest.fixture(scope="module")
def layers_plan():
    """Layers of two products, with scopes and numbered weights, each with an all-reduce."""
    lines, weights, value = [], [], "%x"
    for layer in range(LAYERS):
        for part, dims in enumerate(('[{}, {"x"}]', '[{"x"}, {}]')):
            weights.append(
                f"%w{layer}_{part}: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {dims}>}}"
            )
            place = f'loc("jit(f)/layer{layer}/mlp{part}/dot_general"("model.py":{part + 7}:1))'
            used, value = value, f"%v{layer}_{part}"
            lines.append(
                f"{value}h = stablehlo.dot_general {used}, %w{layer}_{part}, contracting_dims = [1]"
                f" x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {place}"
            )
            lines.append(f"{value} = stablehlo.tanh {value}h : tensor<8x8xf32> {place}")
    body = "\n".join(lines)
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8x8xf32>, {", ".join(weights)}) -> tensor<8x8xf32> {{
      {body}
      return {value} : tensor<8x8xf32>
    }}"""
    return explain_program(parse(text, Context()), title="layers")


@pytest.fixture(scope="module")
def layers(open_page, layers_plan):
    return open_page(render_page(layers_plan, "layers"))


def in_view(page, pane, selector):
    """The heights on the screen of the texts that match in a pane and can be seen."""
    return page.evaluate(
        """([pane, selector]) => {
          const frame = document.querySelectorAll("svg.canvas")[pane].getBoundingClientRect();
          return [...document.querySelectorAll("svg.canvas")[pane].querySelectorAll(selector)]
            .map((each) => each.getBoundingClientRect())
            .filter(({ left, right, top, bottom }) => left >= frame.left && right <= frame.right
              && top >= frame.top && bottom <= frame.bottom)
            .map(({ height }) => height);
        }""",
        [pane, selector],
    )


@pytest.mark.parametrize(("width", "height"), [(1400, 1000), (600, 900)])
def test_the_report_opens_at_the_first_collective(open_page, width, height):
    """Both halves of a comparison do: the operation is in view, with its badge, and readable."""
    page = open_page(
        render_page(flat_plan(), "flat", flat_plan("transformer_block_fsdp")),
        viewport={"width": width, "height": height},
    )
    for pane in range(2):
        assert in_view(page, pane, ".node .marked")
        texts = in_view(page, pane, ".node text:not(.sub, .marked, .letter)")
        assert len(texts) > 2
        assert min(texts) > 9
    page.close()


def test_a_small_program_opens_as_a_whole(page):
    assert len(in_view(page, 0, ".node .box, .group .box")) == 4


def test_badges_have_room(layers):
    """Each number is inside of its badge, and badges neither overlap nor leave their box."""
    layers.click("#close-all")
    outside = layers.evaluate(
        """() => [...document.querySelectorAll("#canvas .group, #canvas .node")].filter((place) => {
          const boxes = (selector) => [...place.querySelectorAll(`:scope > ${selector}`)]
            .map((each) => each.getBoundingClientRect());
          const [[box], marks, texts] = [boxes(".box"), boxes(".mark"), boxes(".marked")];
          return marks.some(({ left, right }, n) => left < box.left || right > box.right + 4
            || texts[n].left < left || texts[n].right > right || (n && right > marks[n - 1].left));
        }).length"""
    )
    assert outside == 0
    assert str(LAYERS) in layers.locator("#canvas .marked").all_text_contents()


# --- Groups -------------------------------------------------------------------------------------


def test_a_group_shows_what_is_in_it(layers):
    layers.click("#close-all")
    group = layers.locator("#canvas .group", has_text="layer0")
    before = layers.locator("#canvas .group").count()
    group.click()
    assert layers.locator("#canvas .group").count() == before  # it stays closed
    assert layers.locator("#canvas .group.chosen").count() == 1
    assert "#group=" in layers.url
    details = layers.locator("#details")
    assert details.locator("h2").inner_text() == "layer0 \u2026 layer23 \u00d724"
    facts = dict(
        zip(
            details.locator("dt").all_inner_texts(),
            details.locator("dd").all_inner_texts(),
            strict=True,
        )
    )
    assert facts["operations"] == "96, 4 operations each"
    assert facts["lines"] == "model.py:7 to 8"
    assert facts["collectives"].startswith(f"{LAYERS} send ")
    assert facts["collectives"].endswith("100% of all")
    assert facts["computation"].endswith("100% of all")
    assert facts["results"] == "18 KiB on each device"
    collectives, kinds = (each.locator("tbody tr").all() for each in details.locator("table").all())
    assert collectives[0].inner_text().split()[0] == "all-reduce"
    assert {row.inner_text().split()[0] for row in kinds} == {"dot_general", "tanh"}
    assert "(5 of 49)" in details.inner_text().lower()  # values that enter
    collectives[0].click()
    assert "#collective=" in layers.url


def test_a_group_of_a_line_shows_its_source(open_page, tmp_path):
    """The operations of each line are a group, whose label is the line."""
    source = tmp_path / "model.py"
    source.write_text("".join(f"y = sines_{line}(x)\n" for line in range(4)))
    body = "\n".join(
        f"%v{n + 1} = stablehlo.{'sine' if n.bit_count() % 2 else 'tanh'} %v{n} : tensor<8xf32>"
        f' loc("{source}":{n // 10 + 1}:1)'
        for n in range(40)  # no part of this sequence occurs three times in a row
    )
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%v0: tensor<8xf32>) -> tensor<8xf32> {{
      {body}
      return %v40 : tensor<8xf32>
    }}"""
    page = open_page(render_page(explain_program(parse(text, Context())), "lines"))
    group = page.locator("#canvas .group", has_text="sines_2(x)")
    assert "10 operations, model.py:3" in group.text_content()
    page.fill("#search", "model.py:3")
    page.keyboard.press("Enter")
    assert page.locator("#details h2").inner_text() == "y = sines_2(x)"
    page.close()


def test_levels_open(layers):
    layers.click("#close-all")
    groups = layers.locator("#canvas .group, #canvas .open")
    assert groups.count() == 2  # the inputs, and the layers
    layers.click("#open-level")
    assert layers.locator("#canvas .node").count() == 1 + LAYERS * 2  # the inputs
    assert groups.count() == 2 + LAYERS
    layers.locator("#canvas .open .group .opener").first.dispatch_event("click")
    assert groups.count() == 2 + LAYERS + 2
    layers.locator("#canvas .open .open > .opener").dispatch_event("click")
    assert groups.count() == 2 + LAYERS
    layers.locator("#canvas .open .group").first.dispatch_event("dblclick")
    assert groups.count() == 2 + LAYERS + 2
    layers.click("#close-all")
    layers.click("#open-all")
    assert layers.locator("#canvas .node").count() == 1 + LAYERS * 6
    assert in_view(layers, 0, ".node text")
    layers.click("#open-level")
    assert layers.locator("#announcer").inner_text() == "All is open"
    layers.click("#close-all")
    assert layers.problems == []


def test_search_finds_scopes_and_several_words(layers):
    layers.click("#close-all")
    options = layers.locator("#found [role=option]")

    def found(words):
        layers.fill("#search", words)
        return options.all_inner_texts()

    assert found("layer2")[0].startswith("layer2 ")
    assert not any("layer20" in each.split("\n")[0] for each in found("layer2"))
    products = found("layer21 dot_general")
    assert len([each for each in products if each.startswith("dot_general in layer21")]) == 2
    assert all("layer21 \u203a mlp" in each for each in products)
    named = [each for each in found("model.py:8 tanh") if each.startswith("tanh in ")]
    assert len(named) == LAYERS - 1  # and the result
    assert found("layer24") == []
    layers.fill("#search", "layer21")
    layers.keyboard.press("Enter")
    assert layers.locator("#details h2").inner_text() == "layer21"
    assert layers.locator("#canvas .hit").count() == 1
    assert in_view(layers, 0, ".chosen > .box")
    layers.fill("#search", "")
    assert layers.locator("#canvas .hit").count() == 0


def test_many_inputs_fold(open_page, layers_plan):
    """Lists have a row for equal values."""
    page = open_page(render_page(layers_plan, "x"), viewport={"width": 600, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") < 5000
    rows = page.locator("#values tbody tr:not(.title)")
    before = rows.count()
    row = page.locator("#values tr", has_text="%arg1 \u2026 47")
    assert f"{LAYERS} values" in row.inner_text()
    assert "3 KiB" in row.inner_text()
    row.click()
    assert rows.count() == before + LAYERS
    page.locator("#values tr.inner").last.click()
    assert page.locator("#details h2").inner_text() == "%arg47"
    page.close()


def test_long_lists_are_cut(open_page):
    """Inputs that differ in their types have a row each; buttons show the rest."""
    arguments = ", ".join(f"%a{size}: tensor<{size}xf32>" for size in range(2, 302))
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main({arguments}) -> tensor<2xf32> {{
      return %a2 : tensor<2xf32>
    }}"""
    page = open_page(render_page(explain_program(parse(text, Context())), "inputs"))
    rows = page.locator("#values tr[data-row]")
    assert rows.count() == 40 + 1  # and the output
    page.locator("#values button.more", has_text="200 more").click()
    assert rows.count() == 240 + 1
    page.locator("#values button.more", has_text="All 300").click()
    assert rows.count() == 300 + 1
    page.close()


def test_the_minimap_shows_and_moves_the_view(open_page):
    page = open_page(render_page(explained_file("transformer_train_sgd"), "training"))
    minimap = page.locator("#minimap")
    page.click("#fit")
    assert not minimap.is_visible()
    page.click("#open-all")
    for _ in range(12):
        page.click("#zoom-in")
    assert minimap.is_visible()
    frame = page.locator("#minimap .frame")
    before = frame.get_attribute("y")
    minimap.click(position={"x": 80, "y": 110})
    assert float(frame.get_attribute("y")) > float(before)
    assert page.problems == []


def test_it_loads_by_itself(page):
    assert page.problems == []
    assert len([url for url in page.requests if not url.startswith("blob:")]) == 1  # the file
    assert page.locator("#injected").count() == 0
    assert HOSTILE in page.locator("h1").get_attribute("title")
    assert page.locator("#mesh").inner_text().split() == ["d", "data", "4", "m", "model", "2"]
    assert page.locator("#canvas .node").count() == 3
    assert page.locator("#values tbody tr[data-row]").count() >= 4
    assert "those of pyshardy's partitioner" in page.locator("#details").inner_text()


def test_many_groups_in_many_groups(open_page):
    """Layers of 22 scopes each: tables of groups in tables of groups."""
    lines = []
    for layer in range(22):
        for part in "abcdefghijklmnopqrstuv":
            place = f'loc("jit(f)/layer{layer}/{part}/tanh"("a.py":2:1))'
            for _ in range(2):
                used, made = f"%v{len(lines)}", f"%v{len(lines) + 1}"
                lines.append(f"{made} = stablehlo.tanh {used} : tensor<8xf32> {place}")
    body = "\n".join(lines)
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%v0: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
        -> tensor<8xf32> {{
      {body}
      return %v{len(lines)} : tensor<8xf32>
    }}"""
    page = open_page(render_page(explain_program(parse(text, Context())), "layers"))
    assert page.problems == []
    assert "\u00d722" in page.locator("#canvas").text_content()


def test_search_finds_a_value(page):
    page.fill("#search", "dot_general 16x16")
    assert page.locator("#search").get_attribute("aria-activedescendant") == "found-0"
    page.keyboard.press("ArrowDown")
    assert page.locator("#found-1").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowUp")
    assert page.locator("#found-0").get_attribute("aria-selected") == "true"
    page.fill("#search", "dot_general 16x16 :5:")
    page.keyboard.press("Enter")
    details = page.locator("#details")
    assert details.locator("h2").inner_text() == "result 0 of dot_general"
    assert "conflicting_products.mlir:5:10" in details.inner_text()
    assert "given in the program" in details.locator("ol.chain").first.inner_text()
    assert details.locator(".picture svg").count() == 1
    assert page.locator("#canvas .chosen").count() == 1
    page.fill("#search", "nothing like that")
    assert page.locator("#found").inner_text() == "Nothing found"
    page.keyboard.press("Escape")


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


def test_a_collective_tells_its_reason(page, explained):
    page.click("#tab-collectives")
    largest = max(explained.collectives, key=lambda each: each.nbytes_total)
    page.locator("#collectives tbody tr").first.click()  # two alike
    page.locator("#collectives tr.inner", has_text="%arg1").click()
    shown = page.locator("#details").inner_text()
    reason = largest.reason.replace("stablehlo.", "")
    assert reason.replace("argument 1 of @main", "%arg1") in shown
    assert "operand 1 of dot_general" in shown
    assert page.locator("#canvas .chosen").count() == 1
    # From the collective to its value, and back.
    details = page.locator("#details")
    details.locator("dl button.link").last.click()
    assert details.locator("h2").inner_text() == "%arg1"
    details.locator(".reason button.link").first.click()
    assert "#collective=" in page.url
    page.click("#tab-values")


def test_groups_open_and_close(page):
    page.click("#close-all")
    group = page.locator("#canvas .group", has_text="inputs")
    assert group.get_attribute("aria-label") == "group inputs, 3 values"
    nodes = page.locator("#canvas .node").count()
    group.focus()
    page.keyboard.press("Enter")
    assert page.locator("#canvas .node").count() == nodes + 3
    page.click("#close-all")
    page.click("#open-all")
    assert page.locator("#canvas .node").count() == nodes + 3
    label = page.locator("#canvas .node", has_text="add").get_attribute("aria-label")
    assert label.startswith("add 16x16xf32, sharded: model, data, 2 collectives")
    assert page.problems == []


def test_collectives_are_grouped_and_filtered(training):
    training.click("#tab-collectives")
    rows = training.locator("#collectives tbody tr")
    count = rows.count()
    total = len(explained_file("transformer_train_sgd").collectives)
    assert 1 < count < total
    assert training.locator("#collectives .total").inner_text().startswith(f"{total} collectives")
    assert "(100%)" in training.locator("#collectives .total").inner_text()
    training.locator("#collectives button.filter", has_text="model").click()
    assert rows.count() < count
    training.locator("#collectives button.filter", has_text="model").click()
    training.locator("#collectives th button", has_text="time").click()
    head = training.locator("#collectives th", has_text="time")
    assert head.get_attribute("aria-sort") == "descending"
    training.locator("#collectives tr[aria-expanded]").first.click()
    assert training.locator("#collectives tr.inner").count() > 1


def test_costs_timeline_and_texts(training):
    training.click("#tab-costs")
    shown = training.locator("#costs").inner_text()
    for what in ("NVIDIA H100", "peak memory", "of 75 GiB", "repeat the work"):
        assert what in shown
    assert training.locator(".timeline canvas").count() == 1
    training.locator("#costs tbody tr[tabindex]").last.click()
    for name in ("Program", "Partitioned"):
        training.locator("#dock [role=tab]", has_text=name).click()
        assert training.locator("#dock .line.marked").count() >= 1
    training.locator("#dock [role=tab]", has_text="Partitioned").click()  # closes it
    assert training.locator("#dock .line").count() == 0
    assert training.problems == []


def test_two_plans(training):
    training.click("#tab-compare")
    head = training.locator("#compare thead").first.inner_text()
    assert "transformer_train_sgd.mlir" in head
    assert "other.mlir" in head


def test_files_to_keep(training):
    with training.expect_download() as svg:
        training.click("#save-svg")
    assert svg.value.suggested_filename == "graph.svg"
    assert "<path" in Path(svg.value.path()).read_text()
    training.click("#tab-collectives")
    with training.expect_download() as table:
        training.click("#collectives .csv")
    lines = Path(table.value.path()).read_text().splitlines()
    assert lines[0].startswith("kind,axes,bytes sent")
    assert len(lines) > 10


def test_links_into_the_report(open_page, explained):
    page = open_page(render_page(explained, "linked"), fragment="#group=1")
    assert page.locator("#details h2").inner_text() == "inputs"
    page.close()
    page = open_page(render_page(explained, "linked"), fragment="#value=%25arg1")
    assert page.locator("#details h2").inner_text() == "%arg1"
    page.locator("#details button.link", has_text="dot_general").first.click()
    assert "#operation=" in page.url
    page.go_back()
    assert page.locator("#details h2").inner_text() == "%arg1"
    page.close()


@pytest.mark.parametrize("width", [400, 600])
def test_narrow_screens(open_page, explained, width):
    page = open_page(render_page(explained, "narrow"), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#canvas").bounding_box()["width"] > width - 20
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the graph"
    page.close()


def test_paper(open_page):
    """Printing has the graph, all lists, and no more pages than that takes."""
    page = open_page(render_page(explained_file("transformer_train_sgd"), "printed"))
    page.emulate_media(media="print")
    for panel in ("values", "collectives", "costs"):
        assert page.locator(f"#{panel}").is_visible()
    assert not page.locator("footer").is_visible()
    pdf = page.pdf()
    assert 1 <= pdf.count(b"/Type /Page\n") <= 6
    page.close()


def test_motion_is_reduced_on_request(open_page, explained):
    page = open_page(render_page(explained, "still"), reduced_motion="reduce")
    page.click("#first")
    page.click("#play")
    count = page.locator("#step").get_attribute("max")
    assert page.locator("#told").inner_text().startswith(f"{count} of {count}")
    page.close()


def test_five_thousand_operations(open_page):
    """They open as a handful of groups, and what is asked for is soon there."""
    lines = "\n".join(f"%v{n + 1} = stablehlo.sine %v{n} : tensor<8xf32>" for n in range(5000))
    text = (
        'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%v0: tensor<8xf32> '
        '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {\n'
        f"{lines}\nreturn %v5000 : tensor<8xf32>\n}}"
    )
    report = render_page(explain_program(parse(text, Context())), "long")
    assert len(report) < 1_000_000
    page = open_page(report)
    assert page.locator("#canvas .node, #canvas .group").count() < 100
    page.fill("#search", ":2500:")
    page.keyboard.press("Enter")
    assert page.locator("#canvas .chosen").count() == 1
    assert page.locator("#canvas .node").count() < 500
    before = page.locator("#canvas .node").count()
    page.click("#open-all")
    assert page.locator("#announcer").inner_text().startswith("Too many to open: 5,001 operations")
    assert page.locator("#canvas .node").count() == before
    page.close()


# --- Reasons ------------------------------------------------------------------------------------


def test_reasons_of_values_collectives_and_groups(open_page):
    page = open_page(render_page(flat_plan(), "flat"), fragment="#value=%25arg4")
    details = page.locator("#details")
    assert "given in the program: <@mesh, [{}]>" in details.inner_text()
    assert 'To change it: shard dimension 0 of %arg4 by "data"' in details.inner_text()
    assert details.locator(".reason .axis").all_inner_texts() == ["d\ndata", "m\nmodel"]
    assert details.locator("button", has_text="Copy what-if").count() == 1
    page.evaluate("location.hash = '#value=%arg8'")
    page.wait_for_function("document.querySelector('#details h2').innerText === '%arg8'")
    assert details.locator(".reason .axis").all_inner_texts() == ["m\nmodel"]
    page.evaluate("location.hash = '#collective=0'")
    page.wait_for_function("document.querySelector('#details h2').innerText === 'all-reduce'")
    assert "sums over the dimension in which" in details.inner_text()
    page.locator("#canvas .open > .bar").first.dispatch_event("click")
    assert "not sharded further" in details.inner_text().lower()
    assert page.problems == []
    page.close()


def test_reasons_of_large_programs(monkeypatch, open_page):
    """Arguments that differ in numbers have the reason of the first; inner values, a command."""
    monkeypatch.setattr(reasons, "MOST_TENSORS", 2)
    arguments = ", ".join(
        f"%a{n}: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}" for n in range(4)
    )
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main({arguments}) -> tensor<8xf32> {{
      %0 = stablehlo.add %a0, %a1 : tensor<8xf32>
      %1 = stablehlo.add %0, %a2 : tensor<8xf32>
      return %1 : tensor<8xf32>
    }}"""
    explained = explain_program(parse(text, Context(), "large.mlir"))
    assert len(reasons.reasons_of(explained).tensors) == 2
    page = open_page(render_page(explained, "large.mlir"), fragment="#value=%25arg3")
    said = page.locator("#details").inner_text()
    assert "As %arg0:" in said
    assert "given in the program" in said
    page.locator("#canvas .node", has_text="add").first.dispatch_event("click")
    assert "Copy command" in page.locator("#details").inner_text()
    page.close()


# --- Schedules ------------------------------------------------------------------------------------


def test_steps_of_a_schedule(browser, tmp_path):
    module = parse(
        """
        sdy.mesh @mesh = <["data"=2, "model"=2]>
        func.func @main(%x: tensor<4x8xf32>, %up: tensor<8x8xf32>) -> tensor<4x8xf32> {
          %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
            : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
          return %0 : tensor<4x8xf32>
        }""",
        Context(),
    )
    tactics = [
        sdy.manual({"arg0": 0}, axis="data", name=HOSTILE),
        sdy.megatron("arg1", axis="model", name="MP"),
    ]
    path = tmp_path / "plan.html"
    sdy.Schedule(tactics).apply(module).to_html(path, "a plan")
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda failure: problems.append(str(failure)))
    page.goto(path.as_uri())
    for title, button in (("MP", "#previous"), (HOSTILE, "#previous"), ("annotations", "#next")):
        frame = page.frame_locator("#report")
        frame.locator(f"h1[title={json.dumps(title)}]").wait_for()
        assert page.inner_text("tr[aria-current=step] button") == title
        assert frame.locator("#tab-compare").count() == (title != "annotations")
        page.click(button)
    assert page.inner_text("tr[aria-current=step] button") == HOSTILE
    page.get_by_role("button", name="MP", exact=True).click()
    assert page.is_disabled("#next")
    assert page.query_selector("#injected") is None
    assert problems == []


# --- Plans of automatic sharding ------------------------------------------------------------------


@pytest.mark.parametrize("width", [1400, 600])
def test_the_page_of_a_plan(browser, tmp_path, width):
    pytest.importorskip("highspy")
    text = """
        sdy.mesh @mesh = <["data"=2, "model"=2]>
        func.func @main(
            %x: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
            %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
          %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
            : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
          return %0 : tensor<1024x1024xf32>
        }"""
    plan = sdy.auto_shard(parse(text, Context()), hardware="h100")
    path = tmp_path / "plan.html"
    plan.to_html(path, title=HOSTILE, pareto=plan.pareto([100e6, 9e6]))
    page = browser.new_page(viewport={"width": width, "height": 900})
    problems = []
    page.on("pageerror", lambda failure: problems.append(str(failure)))
    page.goto(path.as_uri())
    assert page.is_visible("#certificate")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("summary").first.click()
    assert page.locator("details[open] tbody tr").count() > 1
    assert page.get_by_role("img", name="Time by peak memory").is_visible()
    page.focus("#tab-plan")
    page.keyboard.press("ArrowRight")
    page.frame_locator("#report").locator("h1").wait_for()
    assert not page.is_visible("#certificate")
    page.click("#tab-plan")
    assert page.is_visible("#certificate")
    assert page.query_selector("#injected") is None
    assert problems == []
