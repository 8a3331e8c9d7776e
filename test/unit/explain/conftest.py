# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of explanations share."""

import shutil

import pytest
from pages import HOSTILE, LAYERS, explained_file

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import explain_program

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


@pytest.fixture(scope="session")
def context():
    return Context()


# --- Reports in a browser -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def explained():
    return explained_file("conflicting_products")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
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
