# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.explain` takes programs in any form, and answers questions by names."""

import contextlib
import re

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import collect

TEXT = """
sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %up: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
    %down: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<8x16xf32> {
  %hidden = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %active = stablehlo.tanh %hidden : tensor<8x32xf32>
  %result = stablehlo.dot_general %active, %down, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %result : tensor<8x16xf32>
}
"""


@pytest.fixture(scope="module")
def explained():
    return sdy.explain(TEXT)


def kinds(explained):
    return [each.collective.kind for each in explained.collectives]


def test_a_module_is_not_changed(explained, tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(TEXT)
    module = sdy.parse(path)
    before = sdy.asm(module, debug_info=True)
    found = sdy.explain(module)
    assert sdy.asm(module, debug_info=True) == before
    assert str(found.value("%active").explanation.sharding) == ('<@mesh, [{?}, {"data", ?}]>')
    assert kinds(found) == kinds(sdy.explain(path)) == kinds(explained)


def test_a_partitioned_program_is_explained_by_its_origin():
    module = sdy.parse(TEXT)
    sdy.propagate(module)
    program = sdy.partition(module, hardware="tpu-v5e", combine_collectives=True)
    found = sdy.explain(program)
    assert found.program.collectives == program.collectives
    assert found.program.origin.options == program.origin.options
    sdy.set_sharding(sdy.values(module)["%x"], sdy.sharding("<@mesh, [{}, {}]>"))
    with pytest.raises(sdy.UsageError, match="has changed"):
        sdy.explain(program)


def test_reports_are_for_the_hardware_of_the_plan_unless_they_name_another():
    def named(**hardware):
        found = sdy.explain(TEXT, **hardware)
        return found.program.origin.options.get("hardware"), found.report_hardware.name

    tpu = sdy.load_hardware("tpu-v5e").name
    assert named() == (None, sdy.load_hardware("h100").name)
    assert named(hardware="tpu-v5e") == ("tpu-v5e", tpu)
    assert named(report_hardware="tpu-v5e") == (None, tpu)
    module = sdy.parse(TEXT)
    sdy.propagate(module)
    program = sdy.partition(module, hardware="tpu-v5e")
    assert sdy.explain(program).report_hardware.name == tpu
    assert sdy.explain(program, report_hardware="cpu").report_hardware.name != tpu
    with pytest.raises(sdy.UsageError, match="partitioned for its hardware already"):
        sdy.explain(program, hardware="cpu")


def test_what_is_no_program():
    with pytest.raises(sdy.UsageError, match=r"'sdy.explain' takes a function.*, got 3: mod"):
        sdy.explain(3)


# --- Collectives, costs, reports --------------------------------------------------------------


def test_groups_of_collectives(explained):
    found = explained.collectives
    assert sum(map(len, found.by_kind().values())) == len(found) > 1
    assert set(found.by_axes()) == {"data", "data, model", "model"}
    sizes = [group.nbytes_sent for group in found.by_axes().values()]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == found.nbytes_sent == explained.cost.nbytes_sent
    assert found[0].reason in found.by_reason()
    assert list(found[:1]) == [found[0]]
    assert repr(found) == (
        "CollectiveList(3 collectives, 1,280 bytes sent: 1 collective_permute, 1 all_reduce, "
        "1 all_gather)"
    )
    assert "all_gather" in found._repr_html_()


def test_representations(explained):
    assert repr(explained).startswith('ProgramExplanation(mesh <["data"=2, "model"=2]>, 3 collecti')
    html = explained._repr_html_()
    assert all(text in html for text in ("%arg1", "all_gather", "peak memory"))
    assert repr(explained.value("%active")) == str(explained.value("%active"))
    assert len(repr(explained.collectives[0])) < 300
    assert "<pre>" in explained.collectives[0]._repr_html_()


def test_report(explained, tmp_path):
    explained.to_html(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()
    with pytest.raises(sdy.UsageError, match="cannot write output file"):
        explained.to_html(tmp_path / "missing" / "report.html")


# --- Contracts --------------------------------------------------------------------------------


KEPT = [
    "no all_to_all",
    "no all_reduce along data",
    "at most 3 collectives",
    'at most 1 all_gather along "data"; at most 1.5 kB',
    "at most 512 bytes of all_gather along data",
    "at most 0.6 kB of all_reduce  # at the end",
    "at most 1GiB of memory",
    "no collectives in model.py*",
]


@pytest.mark.parametrize("text", KEPT)
def test_contracts_that_hold(explained, text):
    explained.check(text)
    contract = sdy.Contract.parse(text)
    assert sdy.Contract.parse(str(contract)) == contract


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no collectives in model.py*", "no scope, source line or value matches 'model.py*'"),
        ("no collectives in %inner", "a value inside is found by its scope or its line"),
        ("no all_gather in %dwn", "matches '%dwn'; did you mean '%down'?"),
        ("no all_reduce in -:110", "matches '-:110'"),
        ("no all_reduce in %x", None),
        ("no all_reduce in argument 1 of @main", None),
        ("no all_reduce in -:1*", None),
        ("no all_reduce in operand 0 of *", None),
    ],
)
def test_patterns_that_match_nothing_are_told(explained, text, message):
    with collect() as found, contextlib.suppress(sdy.ContractViolation):
        explained.check(text)
    assert (message is None) == (not found)
    assert all(message in str(each) for each in found)


VIOLATED = {
    "no all_gather along data": "no all_gather along data: found 1 collective, 256 bytes sent",
    "at most 1 collectives": "found 3 collectives, 1,280 bytes sent",
    "at most 100 bytes of all_reduce": "at most 100 bytes of all_reduce: found 1 collective, 512",
    "no all_reduce in -:11": "no all_reduce in -:11: found 1",
    "no collectives in argument 0*": "found 1 collective, 256",
    "at most 1kB of memory": "at most 1,000 bytes of memory: found",
}


@pytest.mark.parametrize("text", VIOLATED)
def test_violations(explained, text):
    with pytest.raises(sdy.ContractViolation, match=re.escape(VIOLATED[text])) as failure:
        explained.check(text)
    (violation,) = failure.value.violations
    for each in violation.collectives:
        assert each.text.splitlines()[1] in str(failure.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no all_gathr", "did you mean 'all_gather'"),
        ("no all_gather along dta", "did you mean 'data'"),
        ("at most 3", "expected a limit such as"),
        ("at most 1.5 all_gather", "expected a limit such as"),
        ("at most 3 all_gather during lunch", "expected a limit such as"),
        ("at most 3 XB of memory", "expected a limit such as"),
        ("# nothing", "the contract has no limits"),
    ],
)
def test_invalid_contracts(explained, text, message):
    with pytest.raises(sdy.UsageError, match=message):
        explained.check(text)


def test_contracts_from_values():
    contract = sdy.Contract.of(
        at_most={"all_reduce": 2},
        no_axes={"data": ["all_gather"]},
        max_bytes="8MB",
        max_memory=1024,
    )
    assert str(contract).splitlines() == [
        "at most 2 all_reduce",
        "no all_gather along data",
        "at most 8,000,000 bytes",
        "at most 1,024 bytes of memory",
    ]
    assert sdy.Contract.parse(str(contract)) == contract
    with pytest.raises(sdy.UsageError, match="expected a size such as"):
        sdy.Contract.of(max_bytes="much")


def test_reshards_on_a_shape_between_those_of_a_reshape():
    """They are of another rank than the result of the reshape."""
    explained = sdy.explain("""
sdy.mesh @mesh = <["x"=5]>
func.func @main(
    %a: tensor<3x2x50x2x5x40xf32>
      {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}, {}, {}]>})
    -> (tensor<300x400xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.reshape %a : (tensor<3x2x50x2x5x40xf32>) -> tensor<300x400xf32>
  return %0 : tensor<300x400xf32>
}
""")
    (collective,) = explained.collectives
    definition, use = str(collective).split("use:")
    assert collective.collective.kind == "all_to_all"
    assert "%a (-:4:5), given in the program" in definition
    assert 'result 0 of @main (-:3:1), given in the program: <@mesh, [{}, {"x"}]>' in use
    assert explained.tables()
