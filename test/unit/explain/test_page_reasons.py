# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reasons in the report, and pages around reports, in a browser."""

import json

import pytest
from pages import HOSTILE, flat_plan

import pyshardy as sdy
from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.page import reasons
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import explain_program


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
