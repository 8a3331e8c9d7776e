# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of operations, searches and long lists of the report, in a browser."""

from pages import LAYERS, in_view

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import explain_program


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
