# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a program, in a browser."""

from pathlib import Path

import pytest
from pages import EXAMPLES, HOSTILE, LAYERS, explained_file, flat_plan, in_view

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import explain_program


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
