# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons of schedules, explanations of transfers and fragments, advice, and report pages."""

import os
import shutil

import jax.numpy as jnp
import numpy as np
import pytest
from mpmd_models import SHAPES, products

import pyshardy as sdy
from mlir_sdy.diagnostics import collect, emit, warning
from pyshardy.cli.mpmd import main
from pyshardy.mpmd import comparing
from pyshardy.mpmd.program import MpmdProgram

CHROMIUM = shutil.which("chromium")
SCHEDULES = ["gpipe", "1f1b", "zb-h1"]


def module_of(microbatches):
    return products(2, microbatches).trace(SHAPES["small"], layers=2)


@pytest.fixture(scope="module")
def comparison():
    return sdy.mpmd.compare(
        module_of, schedules=SCHEDULES, microbatches=[2, 4], hardware="h100", memory="1MB"
    )


def test_comparison_has_the_timelines_of_single_plans(comparison):
    totals = [row.timeline.total for row in comparison.rows]
    assert totals == sorted(totals)
    assert {(row.program.schedule, row.microbatches) for row in comparison.rows} == {
        (name, count) for name in SCHEDULES for count in (2, 4)
    }
    for row in comparison.rows:
        alone = sdy.mpmd.partition(
            module_of(row.microbatches), schedule=row.program.schedule, hardware="h100"
        )
        assert alone.orders == row.program.orders
        assert alone.timeline("h100").to_json() == row.timeline.to_json()
    (table,) = comparison.tables()
    assert table.headings[:2] == ("schedule", "microbatches")
    assert {row[6] for row in table.rows} == {"yes"}


def test_compared_programs_share_fragments(comparison):
    gpipe, other = (
        next(
            row.program
            for row in comparison.rows
            if row.program.schedule == name and row.microbatches == 4
        )
        for name in ("gpipe", "1f1b")
    )
    assert {id(each) for each in gpipe.programs} == {id(each) for each in other.programs}


def test_programs_are_compared_side_by_side(monkeypatch):
    """The smaller program is partitioned by a forked process, whose warnings come first."""
    timeline = MpmdProgram.timeline

    def told(self, hardware):
        emit(warning(f"{len(self.plan.calls)} calls in process {os.getpid()}"))
        return timeline(self, hardware)

    monkeypatch.setattr(comparing, "processors", lambda: 2)
    monkeypatch.setattr(MpmdProgram, "timeline", told)
    with collect() as said:
        found = sdy.mpmd.compare(
            module_of, schedules=["gpipe"], microbatches=[2, 4], hardware="h100"
        )
    counts = {row.microbatches: len(row.program.plan.calls) for row in found.rows}
    words = [each.message.split() for each in said]
    assert [int(each[0]) for each in words] == [counts[2], counts[4]]
    assert words[0][-1] != str(os.getpid()) == words[1][-1]


def test_comparison_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "pipeline.py"
    file.write_text(
        "from mpmd_models import SHAPES, products\n"
        "def module_of(count):\n"
        "    return products(2, count).trace(SHAPES['small'], layers=2)\n"
    )
    flags = ["--schedules=1f1b,zb-h2{latency=1}", "--microbatches=2,4", "--hardware=h100"]
    assert main([f"{file}:module_of", *flags, f"--html={tmp_path / 'page.html'}"]) == 0
    said = capsys.readouterr().out
    assert said.count("zb-h2{latency=1}") == said.count("1f1b") == 2
    assert "zb-h2{latency=1}, M = 4" in (tmp_path / "page.html").read_text()
    assert main([f"{file}:module", *flags]) == 1
    assert "no function 'module' for '--microbatches'; did you mean" in capsys.readouterr().err


def _never_called(_):
    raise AssertionError


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        (lambda _: None, {}, "the program is a function: pass 'microbatches'"),
        ("text", {"microbatches": [4]}, "'microbatches' needs a function"),
        (lambda _: None, {"microbatches": []}, "at least one number"),
        ("text", {"transfer": "auto"}, "has no option 'transfer'; did you mean 'transfers'?"),
        (_never_called, {"microbatches": [4], "schedules": ["gpipe", "1fb1"]}, "mean '1f1b'"),
    ],
)
def test_wrong_comparisons(module, options, message):
    options = {"schedules": ["gpipe"], **options}
    with pytest.raises(sdy.UsageError, match=message):
        sdy.mpmd.compare(module, hardware="h100", **options)


# --- Explanations ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program():
    def layer(index):
        function = lambda weights, x: jnp.tanh(x @ weights)  # noqa: E731
        return sdy.mpmd.named_computation(function, name=f"layer{index}")

    def step(weights, other, x):
        first, last = layer(0)(weights, x), layer(1)(other, x)
        return layer(1)(other, first), layer(0)(other, weights) + last

    inputs = [np.ones((8, 8), np.float32)] * 3
    module = sdy.mpmd.trace(
        step,
        *inputs,
        topology={"m0": {"data": 2}, "m1": {"data": 4}},
        assignment={"layer0": "m0", "layer1": "m1"},
        in_meshes=(None, None, "m0"),
    )
    return sdy.mpmd.partition(module, hardware="h100")


def test_transfers_are_explained(program):
    line = program.timeline("h100")
    found = [program.explain(each.name) for each in program.transfers]
    for each, span in zip(found, line.transfers, strict=True):
        assert each.transfer is span.step
        assert each.nbytes == program.bytes_of(each.transfer) == span.nbytes > 0
        assert each.seconds == span.end - span.start
        assert each.consumers
        assert str(each.transfer.number) in str(each.tables()[0])
    reasons = [each.reason for each in found]
    assert "assignment: layer0 is on m0, and layer1 is on m1" in reasons
    assert any("the argument is on m0, and layer1 is on m1" in each for each in reasons)
    made = next(each for each in found if each.reason.startswith("assignment: layer0"))
    assert made.producer.step.startswith("layer0")
    lines = [made.producer.location, *(each.location for each in made.consumers)]
    assert {each.filename for each in lines} == {__file__}


def test_fragments_are_explained(program):
    call = program.plan.calls[0]
    by_name, by_unit = program.explain(call.name), program.explain(f"{call.mesh} {call.unit}")
    assert by_name.summary() == by_unit.summary()
    assert by_name.calls == tuple(each for each in program.plan.calls if each.name == call.name)
    assert by_name.program.collectives.by_axes() is not None
    with pytest.raises(sdy.UsageError, match="no 'transfr 0'; did you mean 'transfer 0'"):
        program.explain("transfr 0")


def test_reductions_are_explained():
    def step(x, y):
        first = sdy.mpmd.named_computation(jnp.tanh, name="a")(x)
        return first + sdy.mpmd.named_computation(jnp.exp, name="b")(y)

    module = sdy.mpmd.trace(
        step,
        *[np.ones((8, 8), np.float32)] * 2,
        topology={"m0": {"x": 2}, "m1": {"x": 2}},
        assignment={"a": "m0", "b": "m1"},
        out_meshes="m0",
    )
    program = sdy.mpmd.partition(module)
    reasons = [program.explain(each.name).reason for each in program.transfers]
    assert reasons == ["a reduction of values of several meshes is on m0"]


def test_advice_is_tried():
    model = products(4)

    def advice(assignment):
        module = sdy.mpmd.trace(
            model.step,
            *model.arguments,
            topology={"a": {"data": 2, "model": 1}, "b": {"data": 2, "model": 1}},
            assignment=assignment,
            **model.options,
        )
        return sdy.mpmd.advise(module, hardware="h100"), module

    uneven = {"embed": "a", "layer[012]": "a", "layer3": "b", "loss": "b"}
    (text,), module = advice(uneven)
    assert "a takes 1." in text
    assert "moving layer2 to b saves" in text
    before = sdy.mpmd.partition(module, hardware="h100").timeline("h100").total
    moved = {"embed": "a", "layer[01]": "a", "layer[23]": "b", "loss": "b"}
    after = sdy.mpmd.partition(advice(moved)[1], hardware="h100").timeline("h100").total
    assert f"saves {1 - after / before:.1%}" in text


# --- Pages ----------------------------------------------------------------------------------------


def test_page_in_a_browser(comparison, tmp_path):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (may be missing)

    path = tmp_path / "page.html"
    path.write_text(comparison.to_html(reports=True))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        problems = []
        page.on("pageerror", lambda failure: problems.append(str(failure)))
        page.goto(path.as_uri())
        first = comparison.rows[0]
        calls = len(first.program.plan.calls)
        assert page.locator("figure:visible .fragment").count() == calls
        page.locator("#schedule").press("ArrowRight")
        assert comparison.rows[1].program.schedule in page.locator("#chosen").inner_text()
        assert page.locator("figure:visible").count() == 1
        page.locator("figure:visible .fragment").first.press("Enter")
        page.frame_locator("#report").locator("html[data-ready=yes]").wait_for()
        assert "layer0" in page.locator("#details").inner_text()
        assert not problems
        browser.close()


def test_page_of_a_program(program):
    text = program.to_html(advice=["moving <b> helps"])
    assert "moving &lt;b&gt; helps" in text
    assert text.count('class="page"') == len(program.programs)
    line = program.timeline("h100")
    assert line.memory_limit == 80e9
    limited = line.chart("t").svg
    assert "of 80 GB" in limited


def test_tool_says_where_a_function_of_the_user_fails(tmp_path, capsys):
    path = tmp_path / "steps.py"
    path.write_text("def steps(number):\n    raise ValueError('no batch')\n")
    assert main([f"{path}:steps", "--microbatches=4"]) != 0
    errors = capsys.readouterr().err
    assert f"'{path}:steps' failed for 4 microbatches: ValueError: no batch" in errors
    assert f"{path}:2: note: it was raised here" in errors
